//! Plugins whose components are written in YAML, served as providers (`yaml-runtime.md` 11).
//!
//! The caller gets a stream of events. The first one contains the port, and the plugin is served while the stream is
//! polled. There is no separate process.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use plumb_engine::program::ProgramContext;
use plumb_plugin::language::PluginEvent;
use plumb_plugin::own_connections;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::construct_response::PropertyDependencies;
use plumb_proto::pulumirpc::resource_provider_server::{ResourceProvider, ResourceProviderServer};
use plumb_proto::{MAX_MESSAGE_SIZE, MAX_SENT_MESSAGE_SIZE};
use plumb_wire::MarshalOptions;
use plumb_wire::property;
use plumb_yaml::component::{ComponentPackage, Construct, Constructed};
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use super::monitor::RemoteMonitor;
use super::schemas::RemoteSchemas;
use super::{connect, decode};

/// Encoding of component outputs: without output values, because dependencies are in a separate field.
const OUTPUTS: MarshalOptions = MarshalOptions::RICH;

/// A plugin with components.
pub(super) struct Components {
    pub(super) package: ComponentPackage,
    pub(super) directory: PathBuf,
    pub(super) engine_address: String,
    /// `host:port` of the schema loader; empty if there is none.
    pub(super) loader_target: String,
    /// Plumb's version, which components can require.
    pub(super) version: semver::Version,
}

/// Serves `components` while the returned stream is polled.
pub(super) async fn serve(
    components: Components,
) -> std::io::Result<BoxStream<'static, PluginEvent>> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = TcpListener::bind(address).await?;
    let port = format!("{}\n", listener.local_addr()?.port());
    let provider = ResourceProviderServer::new(components)
        .max_decoding_message_size(MAX_MESSAGE_SIZE)
        .max_encoding_message_size(MAX_SENT_MESSAGE_SIZE);
    let serving = Server::builder()
        .add_service(provider)
        .serve_with_incoming(own_connections(listener));
    let end = async {
        match serving.await {
            Ok(()) => PluginEvent::Exited(0),
            Err(error) => PluginEvent::Failed(error.to_string()),
        }
    };
    let port = stream::iter([PluginEvent::Stdout(port.into_bytes())]);
    Ok(port.chain(stream::once(end)).boxed())
}

impl Components {
    async fn constructed(&self, request: pb::ConstructRequest) -> Result<Constructed, Status> {
        let unreachable = |error: super::YamlError| Status::unavailable(crate::serve::text(&error));
        let schemas = match self.loader_target.as_str() {
            "" => RemoteSchemas::none(),
            address => RemoteSchemas::new(connect(address).await.map_err(unreachable)?),
        };
        let address = &request.monitor_endpoint;
        let monitor = connect(address).await.map_err(unreachable)?;
        let engine = match self.engine_address.as_str() {
            "" => monitor.clone(),
            address => connect(address).await.map_err(unreachable)?,
        };
        let monitor = RemoteMonitor::connect(monitor, engine, &self.directory).await;
        let component = decode::component(&request)?;
        let info = ProgramContext {
            resource_references: monitor.has_resource_references(),
            ..self.program_info(request)
        };
        let construct = Construct {
            request: component,
            info: &info,
            monitor: &monitor,
            schemas: &schemas,
            engine_version: &self.version,
        };
        let constructed = self.package.construct(construct).await;
        // Messages must reach the engine before the reply.
        monitor.flush().await;
        constructed.map_err(|error| Status::unknown(error.to_string()))
    }

    /// Context of a component; its folder takes the place of the program's.
    fn program_info(&self, request: pb::ConstructRequest) -> ProgramContext {
        ProgramContext {
            project: request.project,
            stack: request.stack,
            organization: request.organization,
            config: Arc::new(request.config),
            config_secret_keys: Arc::new(request.config_secret_keys),
            dry_run: request.dry_run,
            parallel: request.parallel,
            resource_references: true,
            root_directory: self.directory.clone(),
            program_directory: self.directory.clone(),
            monitor_address: request.monitor_endpoint,
            engine_address: self.engine_address.clone(),
        }
    }
}

fn response(constructed: &Constructed) -> Result<pb::ConstructResponse, Status> {
    let state = property::encode_map(&constructed.outputs, OUTPUTS)
        .map_err(|error| Status::internal(error.to_string()))?;
    let dependencies = constructed.dependencies.iter().map(|(key, urns)| {
        let urns = urns.iter().map(ToString::to_string).collect();
        (key.to_string(), PropertyDependencies { urns })
    });
    Ok(pb::ConstructResponse {
        urn: constructed.urn.to_string(),
        state: Some(state),
        state_dependencies: dependencies.collect::<BTreeMap<_, _>>(),
    })
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl ResourceProvider for Components {
    async fn handshake(
        &self,
        _: Request<pb::ProviderHandshakeRequest>,
    ) -> Answer<pb::ProviderHandshakeResponse> {
        Ok(Response::new(pb::ProviderHandshakeResponse {
            accept_secrets: true,
            accept_resources: true,
            accept_outputs: true,
            ..pb::ProviderHandshakeResponse::default()
        }))
    }

    async fn get_schema(&self, _: Request<pb::GetSchemaRequest>) -> Answer<pb::GetSchemaResponse> {
        Ok(Response::new(pb::GetSchemaResponse {
            schema: self.package.schema().to_string(),
        }))
    }

    async fn get_plugin_info(&self, _: Request<()>) -> Answer<pb::PluginInfo> {
        Ok(Response::new(pb::PluginInfo {
            version: self.package.version().unwrap_or_default().to_owned(),
        }))
    }

    async fn check_config(&self, request: Request<pb::CheckRequest>) -> Answer<pb::CheckResponse> {
        Ok(Response::new(pb::CheckResponse {
            inputs: request.into_inner().news,
            ..pb::CheckResponse::default()
        }))
    }

    async fn diff_config(&self, _: Request<pb::DiffRequest>) -> Answer<pb::DiffResponse> {
        Ok(Response::new(pb::DiffResponse::default()))
    }

    async fn configure(&self, _: Request<pb::ConfigureRequest>) -> Answer<pb::ConfigureResponse> {
        Ok(Response::new(pb::ConfigureResponse {
            accept_secrets: true,
            supports_preview: true,
            accept_resources: true,
            accept_outputs: true,
            ..pb::ConfigureResponse::default()
        }))
    }

    async fn construct(
        &self,
        request: Request<pb::ConstructRequest>,
    ) -> Answer<pb::ConstructResponse> {
        let constructed = self.constructed(request.into_inner()).await?;
        Ok(Response::new(response(&constructed)?))
    }

    async fn get_mapping(
        &self,
        _: Request<pb::GetMappingRequest>,
    ) -> Answer<pb::GetMappingResponse> {
        Ok(Response::new(pb::GetMappingResponse::default()))
    }

    async fn cancel(&self, _: Request<()>) -> Answer<()> {
        Ok(Response::new(()))
    }
}
