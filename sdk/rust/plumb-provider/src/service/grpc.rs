//! The service on a socket.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{self, Stream};
use tonic::{Request, Response, Status, async_trait};

use super::Service;
use crate::protocol as pb;
use crate::protocol::provider_service::resource_provider_server::ResourceProvider;

/// A service that several connections share.
#[derive(Clone, Debug)]
pub(crate) struct Shared(pub(crate) Arc<Service>);

type Reply<T> = Result<Response<T>, Status>;

#[async_trait]
impl ResourceProvider for Shared {
    type ListStream = Pin<Box<dyn Stream<Item = Result<pb::ListResponse, Status>> + Send>>;

    async fn handshake(
        &self,
        request: Request<pb::ProviderHandshakeRequest>,
    ) -> Reply<pb::ProviderHandshakeResponse> {
        self.0.handshake(request.get_ref()).map(Response::new)
    }

    async fn parameterize(
        &self,
        request: Request<pb::ParameterizeRequest>,
    ) -> Reply<pb::ParameterizeResponse> {
        let request = request.into_inner();
        self.0.parameterize(request).await.map(Response::new)
    }

    async fn get_schema(
        &self,
        request: Request<pb::GetSchemaRequest>,
    ) -> Reply<pb::GetSchemaResponse> {
        self.0.schema(request.get_ref()).map(Response::new)
    }

    async fn check_config(&self, request: Request<pb::CheckRequest>) -> Reply<pb::CheckResponse> {
        self.0.check_config(request.into_inner()).map(Response::new)
    }

    async fn diff_config(&self, request: Request<pb::DiffRequest>) -> Reply<pb::DiffResponse> {
        self.0.diff_config(request.into_inner()).map(Response::new)
    }

    async fn configure(
        &self,
        request: Request<pb::ConfigureRequest>,
    ) -> Reply<pb::ConfigureResponse> {
        self.0.configure(request.into_inner()).map(Response::new)
    }

    async fn invoke(&self, request: Request<pb::InvokeRequest>) -> Reply<pb::InvokeResponse> {
        self.0.invoke(request.into_inner()).await.map(Response::new)
    }

    async fn call(&self, request: Request<pb::CallRequest>) -> Reply<pb::CallResponse> {
        self.0.call(request.into_inner()).await.map(Response::new)
    }

    async fn check(&self, request: Request<pb::CheckRequest>) -> Reply<pb::CheckResponse> {
        self.0.check(request.into_inner()).await.map(Response::new)
    }

    async fn diff(&self, request: Request<pb::DiffRequest>) -> Reply<pb::DiffResponse> {
        self.0.diff(request.into_inner()).await.map(Response::new)
    }

    async fn create(&self, request: Request<pb::CreateRequest>) -> Reply<pb::CreateResponse> {
        self.0.create(request.into_inner()).await.map(Response::new)
    }

    async fn read(&self, request: Request<pb::ReadRequest>) -> Reply<pb::ReadResponse> {
        self.0.read(request.into_inner()).await.map(Response::new)
    }

    async fn list(&self, request: Request<pb::ListRequest>) -> Reply<Self::ListStream> {
        let responses = self.0.list(request.into_inner()).await?;
        let responses = stream::iter(responses.into_iter().map(Ok));
        Ok(Response::new(Box::pin(responses)))
    }

    async fn update(&self, request: Request<pb::UpdateRequest>) -> Reply<pb::UpdateResponse> {
        self.0.update(request.into_inner()).await.map(Response::new)
    }

    async fn delete(&self, request: Request<pb::DeleteRequest>) -> Reply<()> {
        self.0.delete(request.into_inner()).await.map(Response::new)
    }

    async fn construct(
        &self,
        request: Request<pb::ConstructRequest>,
    ) -> Reply<pb::ConstructResponse> {
        self.0
            .construct(request.into_inner())
            .await
            .map(Response::new)
    }

    async fn cancel(&self, _: Request<()>) -> Reply<()> {
        self.0.cancel();
        Ok(Response::new(()))
    }

    async fn get_plugin_info(&self, _: Request<()>) -> Reply<pb::PluginInfo> {
        Ok(Response::new(self.0.info()))
    }

    async fn attach(&self, request: Request<pb::PluginAttach>) -> Reply<()> {
        self.0.attach(&request.get_ref().address).map(Response::new)
    }

    async fn get_mapping(
        &self,
        request: Request<pb::GetMappingRequest>,
    ) -> Reply<pb::GetMappingResponse> {
        Ok(Response::new(self.0.mapping(request.get_ref())))
    }

    async fn get_mappings(
        &self,
        request: Request<pb::GetMappingsRequest>,
    ) -> Reply<pb::GetMappingsResponse> {
        Ok(Response::new(self.0.mappings(request.get_ref())))
    }
}
