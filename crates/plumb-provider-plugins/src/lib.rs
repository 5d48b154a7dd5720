//! Built-in providers as plugins for other engines: a program each, `pulumi-resource-NAME`.
//!
//! Plumb itself runs them in its process and needs none of this.

mod log;
mod service;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use plumb_plugin::Provider;
use plumb_proto::MAX_MESSAGE_SIZE;
use plumb_proto::pulumirpc::resource_provider_server::ResourceProviderServer;
use plumb_providers::{BuiltinContext, factory};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;

use log::EngineLog;
use service::Service;

/// Serves the built-in provider `name` until the engine ends it: the whole work of `main`.
///
/// The first argument is the address of the engine, which gets messages; the first line of standard output is the port.
pub fn serve(name: &str) -> ExitCode {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return failed(name, &error),
    };
    match runtime.block_on(served(name)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(name, &error),
    }
}

fn failed(name: &str, error: &dyn std::error::Error) -> ExitCode {
    // There is no other place to say it.
    let _ = writeln!(io::stderr(), "the provider {name} cannot run: {error}");
    ExitCode::FAILURE
}

async fn served(name: &str) -> io::Result<()> {
    let builtin =
        factory(name).ok_or_else(|| io::Error::other("there is no such built-in provider"))?;
    let engine = std::env::args().nth(1).filter(|it| !it.starts_with('-'));
    let log = EngineLog::start(engine.as_deref());
    let provider = builtin.start(&BuiltinContext {
        working_dir: std::env::current_dir()?,
        environment: None,
        log: Arc::new(log.clone()),
        stacks: None,
    });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?.port())?;
    let service = ResourceProviderServer::new(Service::new(provider.clone(), log))
        .max_decoding_message_size(MAX_MESSAGE_SIZE)
        .max_encoding_message_size(usize::MAX);
    let served = tonic::transport::Server::builder()
        .tcp_nodelay(true)
        .add_service(service)
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::select! {
        served = served => served.map_err(io::Error::other),
        () = interrupted(provider) => Ok(()),
    }
}

/// Completes at an interrupt, after calls that are running were cancelled.
async fn interrupted(provider: Arc<dyn Provider>) {
    if tokio::signal::ctrl_c().await.is_ok() {
        provider.cancel().await;
    } else {
        std::future::pending::<()>().await;
    }
}
