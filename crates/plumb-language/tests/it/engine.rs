//! A resource monitor and an engine that accept and record all requests.

use std::sync::{Arc, Mutex};

use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::engine_server::{Engine, EngineServer};
use plumb_proto::pulumirpc::resource_monitor_server::{ResourceMonitor, ResourceMonitorServer};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

/// Recorded requests of the program.
#[derive(Default)]
pub(crate) struct Heard {
    /// `type name` of every registration, in order.
    pub(crate) registrations: Vec<String>,
    pub(crate) outputs: Vec<(String, prost_types::Struct)>,
    pub(crate) messages: Vec<(pb::LogSeverity, String)>,
}

#[derive(Clone, Default)]
pub(crate) struct FakeEngine {
    pub(crate) heard: Arc<Mutex<Heard>>,
}

impl FakeEngine {
    /// Serves both services; returns `host:port`.
    pub(crate) async fn serve(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = tonic::transport::Server::builder()
            .add_service(ResourceMonitorServer::new(self.clone()))
            .add_service(EngineServer::new(self.clone()))
            .serve_with_incoming(TcpListenerStream::new(listener));
        tokio::spawn(server);
        address
    }

    pub(crate) fn registrations(&self) -> Vec<String> {
        self.heard.lock().unwrap().registrations.clone()
    }

    /// Outputs of the stack.
    pub(crate) fn stack_outputs(&self) -> prost_types::Struct {
        let heard = self.heard.lock().unwrap();
        let mut outputs = heard.outputs.iter();
        let stack = outputs.find(|(urn, _)| urn.contains("pulumi:pulumi:Stack"));
        stack.unwrap().1.clone()
    }

    pub(crate) fn messages(&self, severity: pb::LogSeverity) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        let messages = heard.messages.iter();
        messages
            .filter(|(of, _)| *of == severity)
            .map(|(_, text)| text.clone())
            .collect()
    }

    pub(crate) fn errors(&self) -> Vec<String> {
        self.messages(pb::LogSeverity::Error)
    }
}

#[tonic::async_trait]
impl ResourceMonitor for FakeEngine {
    async fn supports_feature(
        &self,
        _: Request<pb::SupportsFeatureRequest>,
    ) -> Result<Response<pb::SupportsFeatureResponse>, Status> {
        Ok(Response::new(pb::SupportsFeatureResponse {
            has_support: true,
        }))
    }

    async fn register_resource(
        &self,
        request: Request<pb::RegisterResourceRequest>,
    ) -> Result<Response<pb::RegisterResourceResponse>, Status> {
        let request = request.into_inner();
        self.heard
            .lock()
            .unwrap()
            .registrations
            .push(format!("{} {}", request.r#type, request.name));
        Ok(Response::new(pb::RegisterResourceResponse {
            urn: format!("urn:pulumi:dev::proj::{}::{}", request.r#type, request.name),
            id: if request.custom {
                "the-id".to_owned()
            } else {
                String::new()
            },
            object: request.object,
            ..Default::default()
        }))
    }

    async fn register_resource_outputs(
        &self,
        request: Request<pb::RegisterResourceOutputsRequest>,
    ) -> Result<Response<()>, Status> {
        let request = request.into_inner();
        self.heard
            .lock()
            .unwrap()
            .outputs
            .push((request.urn, request.outputs.unwrap_or_default()));
        Ok(Response::new(()))
    }

    async fn signal_and_wait_for_shutdown(&self, _: Request<()>) -> Result<Response<()>, Status> {
        Ok(Response::new(()))
    }
}

#[tonic::async_trait]
impl Engine for FakeEngine {
    async fn log(&self, request: Request<pb::LogRequest>) -> Result<Response<()>, Status> {
        let request = request.into_inner();
        let message = (request.severity(), request.message);
        self.heard.lock().unwrap().messages.push(message);
        Ok(Response::new(()))
    }
}
