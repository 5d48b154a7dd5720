//! The process of a provider.
//!
//! The engine starts it with its own address as the argument, and reads the port from the first line that the process
//! prints. The process ends when the engine stops it, or when the engine is gone.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use plumb::{Context as _, Result};
use tokio::net::{TcpListener, TcpStream};
use tonic::transport::Server;

use crate::Provider;
use crate::protocol::MAX_MESSAGE_SIZE;
use crate::protocol::provider_service::resource_provider_server::ResourceProviderServer;
use crate::service::{Service, Shared};

/// How often the process looks whether the engine is still there.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

impl Provider {
    /// Serves the provider until the engine ends: the whole work of `main`.
    pub fn serve(self) -> ExitCode {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        let outcome = match runtime {
            Ok(runtime) => {
                let outcome = runtime.block_on(serve(self, std::env::args().nth(1)));
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
}

#[allow(clippy::print_stderr, reason = "there is nobody else to tell")]
fn complain(error: &plumb::Error) -> ExitCode {
    eprintln!("error: {}", error.report());
    ExitCode::FAILURE
}

async fn serve(provider: Provider, engine: Option<String>) -> Result<()> {
    // A schema that is wrong is a mistake in the provider: better now than when somebody asks for it.
    provider.schema()?;
    let service = Service::new(provider, |name| std::env::var(name).ok());
    if let Some(address) = &engine
        && service.attach(address).is_err()
    {
        plumb::bail!(
            "`{address}` is no address: a provider is started by the command line, which says where it is"
        );
    }
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
    let service = ResourceProviderServer::new(Shared(Arc::new(service)))
        .max_decoding_message_size(MAX_MESSAGE_SIZE)
        .max_encoding_message_size(usize::MAX);
    announce(port)?;
    Server::builder()
        .add_service(service)
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
