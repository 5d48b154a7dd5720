//! The engine of a deployment, on the other side of a socket.

use prost::Message as _;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, async_trait};

use super::{Monitor, encoded};
use crate::Error;
use crate::protocol::engine_client::EngineClient;
use crate::protocol::resource_monitor_client::ResourceMonitorClient;
use crate::protocol::{self as pb, MAX_MESSAGE_SIZE};

/// Connections to the monitor and to the engine behind it.
pub(crate) struct Grpc {
    monitor: ResourceMonitorClient<Channel>,
    /// The connection to the monitor.
    channel: Channel,
    engine: Option<EngineClient<Channel>>,
}

impl Grpc {
    /// Connects to both; without an engine, messages go nowhere.
    pub(crate) async fn connect(monitor: &str, engine: &str) -> Result<Self, Error> {
        let channel = channel(monitor).await?;
        let monitor = ResourceMonitorClient::new(channel.clone())
            .max_decoding_message_size(MAX_MESSAGE_SIZE)
            .max_encoding_message_size(usize::MAX);
        let engine = match engine {
            "" => None,
            address => Some(EngineClient::new(channel_lazily(address)?)),
        };
        Ok(Grpc {
            monitor,
            channel,
            engine,
        })
    }
}

async fn channel(address: &str) -> Result<Channel, Error> {
    let endpoint = endpoint(address)?;
    endpoint
        .connect()
        .await
        .map_err(|error| Error::from(error).context(format!("cannot connect to {address}")))
}

fn channel_lazily(address: &str) -> Result<Channel, Error> {
    Ok(endpoint(address)?.connect_lazy())
}

fn endpoint(address: &str) -> Result<Endpoint, Error> {
    let uri = if address.contains("://") {
        address.to_owned()
    } else {
        format!("http://{address}")
    };
    // Hundreds of registrations share the connection: the windows must not be what they wait for.
    Ok(Endpoint::from_shared(uri)?
        .tcp_nodelay(true)
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(8 << 20))
}

/// An engine that has never heard of the call does not need it.
fn optional(result: Result<tonic::Response<()>, Status>) -> Result<(), Status> {
    match result {
        Err(status) if status.code() == Code::Unimplemented => Ok(()),
        result => result.map(tonic::Response::into_inner),
    }
}

#[async_trait]
impl Monitor for Grpc {
    async fn supports(&self, feature: &str) -> Result<bool, Status> {
        let request = pb::SupportsFeatureRequest {
            id: feature.to_owned(),
        };
        let response = self.monitor.clone().supports_feature(request).await?;
        Ok(response.into_inner().has_support)
    }

    async fn features(&self) -> Result<Option<Vec<i32>>, Status> {
        match self.monitor.clone().get_deployment_info(()).await {
            Ok(info) => Ok(Some(info.into_inner().supported_features)),
            Err(status) if status.code() == tonic::Code::Unimplemented => Ok(None),
            Err(status) => Err(status),
        }
    }

    async fn register(
        &self,
        request: Box<pb::RegisterResourceRequest>,
    ) -> Result<pb::RegisterResourceResponse, Status> {
        const PATH: &str = "/pulumirpc.ResourceMonitor/RegisterResource";
        let message = request.encode_to_vec();
        drop(request);
        encoded::unary(self.channel.clone(), PATH, message).await
    }

    async fn read(
        &self,
        request: pb::ReadResourceRequest,
    ) -> Result<pb::ReadResourceResponse, Status> {
        let response = self.monitor.clone().read_resource(request).await;
        response.map(tonic::Response::into_inner)
    }

    async fn register_outputs(
        &self,
        request: pb::RegisterResourceOutputsRequest,
    ) -> Result<(), Status> {
        const PATH: &str = "/pulumirpc.ResourceMonitor/RegisterResourceOutputs";
        let message = request.encode_to_vec();
        drop(request);
        encoded::unary(self.channel.clone(), PATH, message).await
    }

    async fn invoke(
        &self,
        request: pb::ResourceInvokeRequest,
    ) -> Result<pb::ResourceInvokeResponse, Status> {
        let response = self.monitor.clone().invoke(request).await;
        response.map(tonic::Response::into_inner)
    }

    async fn call(&self, request: pb::ResourceCallRequest) -> Result<pb::CallResponse, Status> {
        let response = self.monitor.clone().call(request).await;
        response.map(tonic::Response::into_inner)
    }

    async fn register_package(
        &self,
        request: pb::RegisterPackageRequest,
    ) -> Result<String, Status> {
        let response = self.monitor.clone().register_package(request).await?;
        Ok(response.into_inner().r#ref)
    }

    async fn register_transform(&self, callback: pb::Callback) -> Result<(), Status> {
        let mut monitor = self.monitor.clone();
        monitor.register_stack_transform(callback).await.map(|_| ())
    }

    async fn register_invoke_transform(&self, callback: pb::Callback) -> Result<(), Status> {
        let mut monitor = self.monitor.clone();
        let response = monitor.register_stack_invoke_transform(callback).await;
        response.map(|_| ())
    }

    async fn register_hook(&self, request: pb::RegisterResourceHookRequest) -> Result<(), Status> {
        let mut monitor = self.monitor.clone();
        monitor.register_resource_hook(request).await.map(|_| ())
    }

    async fn register_error_hook(
        &self,
        request: pb::RegisterErrorHookRequest,
    ) -> Result<(), Status> {
        let mut monitor = self.monitor.clone();
        monitor.register_error_hook(request).await.map(|_| ())
    }

    async fn wait_for_shutdown(&self) -> Result<(), Status> {
        let mut monitor = self.monitor.clone();
        match optional(monitor.signal_and_wait_for_shutdown(()).await) {
            Err(status) if status.code() == Code::Unavailable => Ok(()),
            result => result,
        }
    }

    async fn log(&self, request: pb::LogRequest) -> Result<(), Status> {
        match &self.engine {
            Some(engine) => engine.clone().log(request).await.map(|_| ()),
            None => Ok(()),
        }
    }

    async fn require_version(&self, range: String) -> Result<(), Status> {
        let Some(engine) = &self.engine else {
            return Ok(());
        };
        let request = pb::RequirePulumiVersionRequest {
            pulumi_version_range: range,
        };
        engine
            .clone()
            .require_pulumi_version(request)
            .await
            .map(|_| ())
    }
}
