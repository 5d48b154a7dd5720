//! Programs and plugins that wait for a debugger (`languages.md` 3.2 and 4.2).
//!
//! The interpreter is started with options to listen and to wait. When it listens, the engine gets the address and shows
//! it to the user. The program continues when a debugger attaches.

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

/// Polling interval for the port.
const LOOK: Duration = Duration::from_millis(50);

/// A program or plugin that is going to wait for a debugger.
pub(crate) struct Waiting {
    /// Configuration for debuggers, except for the process id.
    pub(crate) config: Map<String, Value>,
    /// Port for debuggers.
    pub(crate) port: u16,
    /// Completes when debuggers can attach.
    pub(crate) ready: BoxFuture<'static, ()>,
}

impl Waiting {
    /// Waits until a debugger can attach, and informs the engine. `process` is the id of the waiting process, if known.
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

/// Pending announcements for plugins, whose processes the caller starts; aborted when this is dropped.
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

/// The port `preferred` if it is free, or else any free port.
pub(crate) fn free_port(preferred: u16) -> io::Result<u16> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, preferred))
        .or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    Ok(bound.local_addr()?.port())
}

/// Completes when a process listens on `port`. Reads the system's port tables where they exist instead of connecting,
/// because some debuggers serve only their first connection.
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

/// Whether a line of the system's port table describes a listener on `port`.
fn listens_on(line: &str, port: u16) -> bool {
    const LISTENING: &str = "0A";
    let mut words = line.split_whitespace().skip(1);
    let is_port = words
        .next()
        .and_then(|address| address.rsplit_once(':'))
        .is_some_and(|(_, found)| u16::from_str_radix(found, 16) == Ok(port));
    is_port && words.nth(1) == Some(LISTENING)
}

/// Completes when a file in `folder` contains `text`.
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
