//! A resource monitor that remembers what components register.
//!
//! Every registration succeeds as in a preview: the inputs are the outputs, and there is no id. Calls of functions are
//! refused, because there are no other providers here.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plumb_proto::MAX_MESSAGE_SIZE;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::resource_monitor_server::{ResourceMonitor, ResourceMonitorServer};
use plumb_resource::{TypeToken, Urn};
use prost_types::value::Kind;
use prost_types::{Struct, Value};
use tokio::task::JoinHandle;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

pub(crate) const PROJECT: &str = "conformance";
pub(crate) const STACK: &str = "check";

/// Features of the monitor, by the names that SDKs query.
const FEATURES: [&str; 8] = [
    "secrets",
    "resourceReferences",
    "outputValues",
    "aliasSpecs",
    "replacementTrigger",
    "deletedWith",
    "replaceWith",
    "parameterization",
];

/// Function that SDKs call to look at a resource that a reference names.
const GET_RESOURCE: &str = "pulumi:pulumi:getResource";

/// A running monitor; it ends when this is dropped.
pub(crate) struct Monitor {
    /// `host:port`.
    pub(crate) address: String,
    record: Shared,
    server: JoinHandle<()>,
}

/// Registration of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Registration {
    pub(crate) urn: Urn,
    pub(crate) parent: String,
    pub(crate) is_custom: bool,
    pub(crate) is_protected: bool,
}

#[derive(Default)]
struct Record {
    registrations: Vec<Registration>,
    /// Outputs of components by URN.
    outputs: BTreeMap<String, Struct>,
    /// The first function that was refused.
    refused: Option<String>,
}

type Shared = Arc<Mutex<Record>>;

/// Locks the record. It is valid also after a panic, because every change is a single step.
fn lock(record: &Shared) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Monitor {
    /// Starts a monitor on a port of this machine.
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let record = Shared::default();
        let service = ResourceMonitorServer::new(Service(record.clone()))
            .max_decoding_message_size(MAX_MESSAGE_SIZE)
            .max_encoding_message_size(usize::MAX);
        let server = tonic::transport::Server::builder()
            .add_service(service)
            .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)));
        // A server that ends with an error makes the calls of the component fail, which is what counts.
        let server = tokio::spawn(async move {
            let _ = server.await;
        });
        Ok(Monitor {
            address,
            record,
            server,
        })
    }

    /// Registrations so far, in their order.
    pub(crate) fn registrations(&self) -> Vec<Registration> {
        lock(&self.record).registrations.clone()
    }

    /// A function that a component called and did not get.
    pub(crate) fn refused(&self) -> Option<String> {
        lock(&self.record).refused.clone()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.server.abort();
    }
}

struct Service(Shared);

fn text(text: &str) -> Value {
    Value {
        kind: Some(Kind::StringValue(text.to_owned())),
    }
}

impl Service {
    /// Answer of `getResource`.
    fn resource(&self, args: Option<Struct>) -> Struct {
        let urn = args.and_then(|mut args| args.fields.remove("urn"));
        let urn = urn.unwrap_or_else(|| text(""));
        let outputs = match &urn.kind {
            Some(Kind::StringValue(urn)) => lock(&self.0).outputs.get(urn).cloned(),
            _ => None,
        };
        let state = Value {
            kind: Some(Kind::StructValue(outputs.unwrap_or_default())),
        };
        let fields = [("urn", urn), ("id", text("")), ("state", state)];
        Struct {
            fields: fields.map(|(key, value)| (key.to_owned(), value)).into(),
        }
    }
}

#[tonic::async_trait]
impl ResourceMonitor for Service {
    async fn get_deployment_info(
        &self,
        _: Request<()>,
    ) -> Result<Response<pb::DeploymentInfo>, Status> {
        Err(Status::unimplemented(
            "this monitor is asked for each feature",
        ))
    }

    async fn supports_feature(
        &self,
        request: Request<pb::SupportsFeatureRequest>,
    ) -> Result<Response<pb::SupportsFeatureResponse>, Status> {
        let has_support = FEATURES.contains(&request.get_ref().id.as_str());
        Ok(Response::new(pb::SupportsFeatureResponse { has_support }))
    }

    async fn register_resource(
        &self,
        request: Request<pb::RegisterResourceRequest>,
    ) -> Result<Response<pb::RegisterResourceResponse>, Status> {
        let request = request.into_inner();
        let parent = Urn::parse(&request.parent).ok();
        let parent_types = parent.as_ref().map_or("", Urn::qualified_type);
        let token = TypeToken::new(&request.r#type);
        let urn = Urn::new(STACK, PROJECT, parent_types, token.as_str(), &request.name);
        lock(&self.0).registrations.push(Registration {
            urn: urn.clone(),
            parent: request.parent,
            is_custom: request.custom,
            is_protected: request.protect == Some(true),
        });
        Ok(Response::new(pb::RegisterResourceResponse {
            urn: urn.to_string(),
            object: request.object,
            ..pb::RegisterResourceResponse::default()
        }))
    }

    async fn register_resource_outputs(
        &self,
        request: Request<pb::RegisterResourceOutputsRequest>,
    ) -> Result<Response<()>, Status> {
        let request = request.into_inner();
        let outputs = request.outputs.unwrap_or_default();
        lock(&self.0).outputs.insert(request.urn, outputs);
        Ok(Response::new(()))
    }

    async fn read_resource(
        &self,
        request: Request<pb::ReadResourceRequest>,
    ) -> Result<Response<pb::ReadResourceResponse>, Status> {
        let request = request.into_inner();
        let urn = Urn::new(STACK, PROJECT, "", &request.r#type, &request.name);
        Ok(Response::new(pb::ReadResourceResponse {
            urn: urn.to_string(),
            properties: request.properties,
            ..pb::ReadResourceResponse::default()
        }))
    }

    async fn invoke(
        &self,
        request: Request<pb::ResourceInvokeRequest>,
    ) -> Result<Response<pb::ResourceInvokeResponse>, Status> {
        let request = request.into_inner();
        if request.tok == GET_RESOURCE {
            return Ok(Response::new(pb::ResourceInvokeResponse {
                r#return: Some(self.resource(request.args)),
                ..pb::ResourceInvokeResponse::default()
            }));
        }
        let message = format!("there is no provider for {} in a check", request.tok);
        lock(&self.0).refused.get_or_insert(request.tok);
        Err(Status::unavailable(message))
    }

    async fn call(
        &self,
        request: Request<pb::ResourceCallRequest>,
    ) -> Result<Response<pb::CallResponse>, Status> {
        let token = request.into_inner().tok;
        let message = format!("there is no provider for {token} in a check");
        lock(&self.0).refused.get_or_insert(token);
        Err(Status::unavailable(message))
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
}
