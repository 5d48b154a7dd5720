//! gRPC services for SDKs and plugins: resource monitor, engine, resource status, schema loader, mapper and package
//! resolver, on one loopback port.

mod decode;
mod engine;
mod loader;
mod mapper;
mod monitor;
mod resolver;
mod status;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use plumb_plugin::own_connections;
use plumb_plugin::trace_context::METADATA_KEY;
use plumb_proto::MAX_MESSAGE_SIZE;
use plumb_proto::codegen::loader_server::LoaderServer;
use plumb_proto::codegen::mapper_server::MapperServer;
use plumb_proto::pulumirpc::engine_server::EngineServer;
use plumb_proto::pulumirpc::package_resolver_server::PackageResolverServer;
use plumb_proto::pulumirpc::resource_monitor_server::ResourceMonitorServer;
use plumb_proto::pulumirpc::resource_status_server::ResourceStatusServer;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;

use self::loader::HostSlot;
pub(crate) use self::status::StatusTokens;
use crate::monitor::MonitorHandle;
use crate::program::ProgramContext;
use crate::spans;

/// Base folders of a program's source positions and asset paths.
#[derive(Clone, Debug)]
pub struct SourceContext {
    /// Folder of the project file.
    pub root: PathBuf,
    /// Working directory of the program.
    pub working_directory: PathBuf,
    /// Version of the command line, for programs that require one.
    pub version: semver::Version,
}

/// The running servers.
pub(crate) struct Servers {
    /// `host:port` of all services.
    pub(crate) address: String,
    /// Slot for the host that loader, mapper and resolver use.
    pub(crate) host: HostSlot,
    /// Tokens of the calls that may publish views.
    pub(crate) tokens: StatusTokens,
    stop: CancellationToken,
    task: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Servers {
    /// Stops the servers, without waiting for connections that a dead program left open.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.abort();
        // Aborted on purpose, so the result does not matter.
        let _ = self.task.await;
    }
}

/// Starts the services. Plugins need the engine service even when the program runs in process.
pub(crate) async fn start(
    handle: MonitorHandle,
    info: &ProgramContext,
    source: SourceContext,
) -> io::Result<Servers> {
    let listener = TcpListener::bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0)).await?;
    let address = listener.local_addr()?.to_string();
    let stop = CancellationToken::new();
    let monitor = monitor::MonitorService::new(handle.clone(), info.clone(), source.root);
    let tokens = StatusTokens::default();
    let status = status::StatusService::new(handle.clone(), tokens.clone(), info.dry_run);
    let engine = engine::EngineService::new(handle, source.version);
    let host = HostSlot::default();
    let loader = loader::LoaderService::new(host.clone());
    let mapper = mapper::MapperService::new(host.clone());
    let resolver = resolver::ResolverService::new(host.clone());
    let (health, health_service) = tonic_health::server::health_reporter();
    health
        .set_serving::<ResourceMonitorServer<monitor::MonitorService>>()
        .await;
    health
        .set_serving::<EngineServer<engine::EngineService>>()
        .await;
    let router = Server::builder()
        .trace_fn(|request| {
            let context = request.headers().get(METADATA_KEY);
            let context = context.and_then(|it| it.to_str().ok());
            spans::served(request.uri().path(), context)
        })
        .add_service(health_service)
        .add_service(
            ResourceMonitorServer::new(monitor)
                .max_decoding_message_size(MAX_MESSAGE_SIZE)
                .max_encoding_message_size(usize::MAX),
        )
        .add_service(EngineServer::new(engine).max_decoding_message_size(MAX_MESSAGE_SIZE))
        .add_service(ResourceStatusServer::new(status).max_decoding_message_size(MAX_MESSAGE_SIZE))
        .add_service(LoaderServer::new(loader).max_encoding_message_size(usize::MAX))
        .add_service(MapperServer::new(mapper).max_encoding_message_size(usize::MAX))
        .add_service(PackageResolverServer::new(resolver));
    let stopped = stop.clone().cancelled_owned();
    let connections = own_connections(listener);
    let task = tokio::spawn(router.serve_with_incoming_shutdown(connections, stopped));
    Ok(Servers {
        address,
        host,
        tokens,
        stop,
        task,
    })
}
