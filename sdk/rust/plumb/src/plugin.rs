//! The process of a plugin: for the crates `plumb-provider` and `plumb-policy`.
//!
//! The engine starts it with its own address as the argument, and reads the port from the first line that the process
//! prints. The process ends when the engine stops it, or when the engine is gone.

use std::any::Any;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use futures_util::stream;
use tokio::net::{TcpListener, TcpStream};
use tonic::transport::server::Router;

use crate::{Context as _, Error, Result};

/// How often the process looks whether the engine is still there.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// Runs a plugin until the engine ends; `services` gets the address of the engine.
pub fn serve(services: impl FnOnce(Option<&str>) -> Result<Router>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => {
            let engine = std::env::args().nth(1);
            let outcome = runtime.block_on(async {
                // Not every service can be made outside of a runtime.
                let router = services(engine.as_deref())?;
                listen(router, engine).await
            });
            runtime.shutdown_background();
            outcome
        }
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

#[allow(clippy::print_stderr, reason = "there is nobody else to tell")]
fn complain(error: &Error) -> ExitCode {
    eprintln!("error: {}", error.report());
    ExitCode::FAILURE
}

/// The text of a panic.
pub fn said(panic: &(dyn Any + Send)) -> Option<&str> {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
}

async fn listen(router: Router, engine: Option<String>) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .context("cannot listen")?;
    let port = listener.local_addr()?.port();
    let connections = stream::unfold(listener, |listener| async move {
        let connection = listener.accept().await.map(|(connection, _)| {
            // A call must not wait for a full packet.
            let _ = connection.set_nodelay(true);
            connection
        });
        Some((connection, listener))
    });
    announce(port)?;
    router
        .serve_with_incoming_shutdown(connections, gone(engine))
        .await?;
    Ok(())
}

fn announce(port: u16) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{port}")?;
    output.flush()?;
    Ok(())
}

/// Waits until nobody is at the address of the engine any more; for ever if nobody has been there.
///
/// Whoever wants nothing but the schema starts providers without listening to them.
async fn gone(engine: Option<String>) {
    let was_there = match &engine {
        Some(engine) => TcpStream::connect(engine).await.is_ok(),
        None => false,
    };
    let (Some(engine), true) = (engine, was_there) else {
        return std::future::pending().await;
    };
    while TcpStream::connect(&engine).await.is_ok() {
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}
