//! Programs and plugins that wait for a debugger (`languages.md` 3.2 and 4.2).
//!
//! The interpreter is told to listen and to wait; once it listens, the engine hears how a debugger can attach, and tells
//! the user. Whoever attaches lets the program go on.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use futures::future::BoxFuture;
use plumb_proto::pulumirpc::StartDebuggingRequest;
use plumb_proto::pulumirpc::engine_client::EngineClient;
use plumb_wire::json::json_to_wire;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tonic::transport::Endpoint;

/// How often to look whether something listens by now.
const LOOK: Duration = Duration::from_millis(50);

/// Something that is about to wait for a debugger.
pub(crate) struct Waiting {
    /// What debuggers are told, beside the process.
    pub(crate) config: Map<String, Value>,
    /// Where they attach.
    pub(crate) port: u16,
    /// Ends when they can.
    pub(crate) ready: BoxFuture<'static, ()>,
}

impl Waiting {
    /// Waits until a debugger can attach, and says so to the engine. `process` is what waits, if that is known.
    pub(crate) async fn announce(mut self, engine_address: &str, process: Option<u32>) {
        self.ready.await;
        let port = self.port;
        let message = match process {
            Some(process) => format!("on process id {process} and port {port}"),
            None => format!("on port {port}"),
        };
        if let Some(process) = process {
            self.config.insert("processId".to_owned(), json!(process));
        }
        let request = StartDebuggingRequest {
            config: Some(json_to_wire(&self.config)),
            message,
        };
        if let Err(reason) = tell(engine_address, request).await {
            tracing::warn!(%reason, "the engine was not told that a program waits for a debugger");
        }
    }
}

async fn tell(address: &str, request: StartDebuggingRequest) -> Result<(), String> {
    let text = |error: tonic::transport::Error| error.to_string();
    let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(text)?;
    let channel = endpoint.connect().await.map_err(text)?;
    let told = EngineClient::new(channel).start_debugging(request).await;
    told.map(drop).map_err(|status| status.message().to_owned())
}

/// Announcements of plugins, whose processes others start; they end with this.
#[derive(Default)]
pub(crate) struct Announcements(std::sync::Mutex<JoinSet<()>>);

impl Announcements {
    /// Announces a plugin as soon as a debugger can attach to it.
    pub(crate) fn add(&self, waiting: Waiting, engine_address: String) {
        let mut all = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        all.spawn(async move { waiting.announce(&engine_address, None).await });
    }
}

/// The port `preferred` if nobody has it, else any.
pub(crate) fn free_port(preferred: u16) -> io::Result<u16> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, preferred))
        .or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    Ok(bound.local_addr()?.port())
}

/// Ends when something takes connections on `port`. Some debuggers serve the first connection that comes and no other, so
/// that none is made where the system tells of its ports.
pub(crate) async fn until_listening(port: u16) {
    while !is_listening(port).await {
        tokio::time::sleep(LOOK).await;
    }
}

async fn is_listening(port: u16) -> bool {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
    if tables.iter().any(Result::is_ok) {
        return tables
            .iter()
            .flatten()
            .flat_map(|table| table.lines())
            .any(|line| listens_on(line, port));
    }
    let address = (Ipv4Addr::LOCALHOST, port);
    tokio::net::TcpStream::connect(address).await.is_ok()
}

/// Whether a line of a table of the system tells of something that listens on `port`.
fn listens_on(line: &str, port: u16) -> bool {
    const LISTENING: &str = "0A";
    let mut words = line.split_whitespace().skip(1);
    let is_port = words
        .next()
        .and_then(|address| address.rsplit_once(':'))
        .is_some_and(|(_, found)| u16::from_str_radix(found, 16) == Ok(port));
    is_port && words.nth(1) == Some(LISTENING)
}

/// Ends when a file of `folder` has `text` in it.
pub(crate) async fn until_logged(folder: &Path, text: &str) {
    loop {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut contents = files.filter_map(|file| std::fs::read(file.path()).ok());
        if contents.any(|content| String::from_utf8_lossy(&content).contains(text)) {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}
