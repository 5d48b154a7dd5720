//! Services for the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plumb_proto::MAX_MESSAGE_SIZE;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::ResourceMonitorFeature as Feature;
use plumb_proto::pulumirpc::engine_server::{Engine, EngineServer};
use plumb_proto::pulumirpc::resource_monitor_server::{ResourceMonitor, ResourceMonitorServer};
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

pub(crate) const PROJECT: &str = "bench";
pub(crate) const STACK: &str = "dev";
pub(crate) const ORGANIZATION: &str = "organization";

/// Features of Plumb's monitor, by the names that SDKs query, so that SDKs take the same code paths.
const FEATURES: [(&str, Feature); 14] = [
    ("secrets", Feature::Secrets),
    ("resourceReferences", Feature::ResourceReferences),
    ("outputValues", Feature::OutputValues),
    ("aliasSpecs", Feature::AliasSpecs),
    ("replacementTrigger", Feature::ReplacementTrigger),
    ("deletedWith", Feature::DeletedWith),
    ("replaceWith", Feature::ReplaceWith),
    ("transforms", Feature::Transforms),
    ("invokeTransforms", Feature::InvokeTransforms),
    ("parameterization", Feature::Parameterization),
    ("resourceHooks", Feature::ResourceHooks),
    ("errorHooks", Feature::ErrorHooks),
    ("sendsOptionsToHooks", Feature::SendsOptionsToHooks),
    ("byteString", Feature::ByteString),
];

/// Engine and resource monitor without any implementation.
#[derive(Clone)]
pub(crate) struct NullEngine {
    registered: Arc<AtomicU64>,
    parallel: usize,
}

impl NullEngine {
    pub(crate) fn new(parallel: usize) -> Self {
        NullEngine {
            registered: Arc::default(),
            parallel,
        }
    }

    pub(crate) fn parallel(&self) -> usize {
        self.parallel
    }

    /// Number of resources registered by the program.
    pub(crate) fn registered(&self) -> u64 {
        self.registered.load(Ordering::Relaxed)
    }

    /// Serves both services until the runtime ends; returns `host:port`.
    pub(crate) async fn serve(&self) -> std::io::Result<String> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let monitor = ResourceMonitorServer::new(self.clone())
            .max_decoding_message_size(MAX_MESSAGE_SIZE)
            .max_encoding_message_size(usize::MAX);
        let engine = EngineServer::new(self.clone()).max_decoding_message_size(MAX_MESSAGE_SIZE);
        let server = tonic::transport::Server::builder()
            .add_service(monitor)
            .add_service(engine)
            .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)));
        // The task ends with the runtime. An error of the server makes the program fail, which is reported.
        tokio::spawn(server);
        Ok(address)
    }
}

#[tonic::async_trait]
impl ResourceMonitor for NullEngine {
    async fn get_deployment_info(
        &self,
        _: Request<()>,
    ) -> Result<Response<pb::DeploymentInfo>, Status> {
        Ok(Response::new(pb::DeploymentInfo {
            project: PROJECT.to_owned(),
            stack: STACK.to_owned(),
            organization: ORGANIZATION.to_owned(),
            parallel: i32::try_from(self.parallel).unwrap_or(i32::MAX),
            supported_features: FEATURES
                .map(|(_, feature)| feature)
                .into_iter()
                .chain([Feature::InvokeDependsOn, Feature::InvokeParent])
                .map(i32::from)
                .collect(),
            ..pb::DeploymentInfo::default()
        }))
    }

    async fn supports_feature(
        &self,
        request: Request<pb::SupportsFeatureRequest>,
    ) -> Result<Response<pb::SupportsFeatureResponse>, Status> {
        let id = request.into_inner().id;
        let has_support = id != "byteString" && FEATURES.iter().any(|(name, _)| *name == id);
        Ok(Response::new(pb::SupportsFeatureResponse { has_support }))
    }

    async fn register_resource(
        &self,
        request: Request<pb::RegisterResourceRequest>,
    ) -> Result<Response<pb::RegisterResourceResponse>, Status> {
        let request = request.into_inner();
        self.registered.fetch_add(1, Ordering::Relaxed);
        let id = if request.custom { "id" } else { "" };
        Ok(Response::new(pb::RegisterResourceResponse {
            urn: format!(
                "urn:pulumi:{STACK}::{PROJECT}::{}::{}",
                request.r#type, request.name
            ),
            id: id.to_owned(),
            object: request.object,
            ..pb::RegisterResourceResponse::default()
        }))
    }

    async fn register_resource_outputs(
        &self,
        _: Request<pb::RegisterResourceOutputsRequest>,
    ) -> Result<Response<()>, Status> {
        Ok(Response::new(()))
    }

    async fn invoke(
        &self,
        request: Request<pb::ResourceInvokeRequest>,
    ) -> Result<Response<pb::ResourceInvokeResponse>, Status> {
        Ok(Response::new(pb::ResourceInvokeResponse {
            r#return: request.into_inner().args,
            ..pb::ResourceInvokeResponse::default()
        }))
    }

    async fn register_package(
        &self,
        request: Request<pb::RegisterPackageRequest>,
    ) -> Result<Response<pb::RegisterPackageResponse>, Status> {
        let reference = request.into_inner().name;
        Ok(Response::new(pb::RegisterPackageResponse {
            r#ref: reference,
        }))
    }

    async fn signal_and_wait_for_shutdown(&self, _: Request<()>) -> Result<Response<()>, Status> {
        Ok(Response::new(()))
    }
}

#[tonic::async_trait]
impl Engine for NullEngine {
    async fn log(&self, request: Request<pb::LogRequest>) -> Result<Response<()>, Status> {
        use std::io::Write;
        let request = request.into_inner();
        if request.severity == pb::LogSeverity::Error as i32 {
            // Ignore errors, because there is no other place to report them.
            let _ = writeln!(std::io::stderr(), "{}", request.message);
        }
        Ok(Response::new(()))
    }
}
