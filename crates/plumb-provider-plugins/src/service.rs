//! The protocol of providers, answered by a provider of this process.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use plumb_plugin::Provider;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::resource_provider_server::ResourceProvider;
use plumb_resource::provider::ProviderError;
use plumb_wire::Error;
use plumb_wire::provider::server::{self as wire, EngineFeatures};
use tonic::{Request, Response, Status};

use crate::log::EngineLog;

type Reply<T> = Result<Response<T>, Status>;

/// A provider for an engine.
pub(crate) struct Service {
    provider: Arc<dyn Provider>,
    log: EngineLog,
    engine: Mutex<EngineFeatures>,
}

impl Service {
    pub(crate) fn new(provider: Arc<dyn Provider>, log: EngineLog) -> Self {
        Service {
            provider,
            log,
            engine: Mutex::default(),
        }
    }

    fn engine(&self) -> EngineFeatures {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_engine(&self, features: EngineFeatures) {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = features;
    }

    /// Converts a failure of the provider to a status with details for the engine.
    fn answered<T>(&self, answer: Result<T, ProviderError>) -> Result<T, Status> {
        answer.map_err(|error| wire::error_status(&error, self.engine()))
    }
}

fn reply<T>(written: Result<T, Error>) -> Reply<T> {
    let unwritable = |error: Error| Status::internal(error.to_string());
    written.map(Response::new).map_err(unwritable)
}

#[async_trait]
impl ResourceProvider for Service {
    async fn handshake(
        &self,
        request: Request<pb::ProviderHandshakeRequest>,
    ) -> Reply<pb::ProviderHandshakeResponse> {
        let request = request.get_ref();
        self.set_engine(EngineFeatures::from_handshake(request));
        self.log.attach(&request.engine_address);
        Ok(Response::new(pb::ProviderHandshakeResponse {
            accept_secrets: true,
            accept_resources: true,
            ..pb::ProviderHandshakeResponse::default()
        }))
    }

    async fn attach(&self, request: Request<pb::PluginAttach>) -> Reply<()> {
        self.log.attach(&request.get_ref().address);
        Ok(Response::new(()))
    }

    async fn get_plugin_info(&self, _: Request<()>) -> Reply<pb::PluginInfo> {
        let info = self.answered(self.provider.info().await)?;
        let version = info.version.map(|it| it.to_string()).unwrap_or_default();
        Ok(Response::new(pb::PluginInfo { version }))
    }

    async fn get_schema(&self, _: Request<pb::GetSchemaRequest>) -> Reply<pb::GetSchemaResponse> {
        let schema = self.answered(self.provider.get_schema(None).await)?;
        Ok(Response::new(pb::GetSchemaResponse {
            schema: schema.unwrap_or_default(),
        }))
    }

    async fn check_config(&self, request: Request<pb::CheckRequest>) -> Reply<pb::CheckResponse> {
        let request = wire::check_config_request(request.get_ref())?;
        let response = self.answered(self.provider.check_config(request).await)?;
        reply(wire::check_response(&response, self.engine()))
    }

    async fn diff_config(&self, request: Request<pb::DiffRequest>) -> Reply<pb::DiffResponse> {
        let request = wire::diff_request(request.get_ref())?;
        let result = self.answered(self.provider.diff_config(request).await)?;
        Ok(Response::new(wire::diff_response(&result)))
    }

    /// The providers have no settings: only what the engine can take counts.
    async fn configure(
        &self,
        request: Request<pb::ConfigureRequest>,
    ) -> Reply<pb::ConfigureResponse> {
        self.set_engine(self.engine().after_configure(request.get_ref()));
        Ok(Response::new(pb::ConfigureResponse {
            accept_secrets: true,
            supports_preview: true,
            accept_resources: true,
            ..pb::ConfigureResponse::default()
        }))
    }

    async fn check(&self, request: Request<pb::CheckRequest>) -> Reply<pb::CheckResponse> {
        let request = wire::check_request(request.get_ref())?;
        let response = self.answered(self.provider.check(request).await)?;
        reply(wire::check_response(&response, self.engine()))
    }

    async fn diff(&self, request: Request<pb::DiffRequest>) -> Reply<pb::DiffResponse> {
        let request = wire::diff_request(request.get_ref())?;
        let result = self.answered(self.provider.diff(request).await)?;
        Ok(Response::new(wire::diff_response(&result)))
    }

    async fn create(&self, request: Request<pb::CreateRequest>) -> Reply<pb::CreateResponse> {
        let request = wire::create_request(request.get_ref())?;
        let response = self.answered(self.provider.create(request).await)?;
        reply(wire::create_response(&response, self.engine()))
    }

    async fn read(&self, request: Request<pb::ReadRequest>) -> Reply<pb::ReadResponse> {
        let request = wire::read_request(request.get_ref())?;
        let response = self.answered(self.provider.read(request).await)?;
        reply(wire::read_response(&response, self.engine()))
    }

    async fn update(&self, request: Request<pb::UpdateRequest>) -> Reply<pb::UpdateResponse> {
        let request = wire::update_request(request.get_ref())?;
        let response = self.answered(self.provider.update(request).await)?;
        reply(wire::update_response(&response, self.engine()))
    }

    async fn delete(&self, request: Request<pb::DeleteRequest>) -> Reply<()> {
        let request = wire::delete_request(request.get_ref())?;
        self.answered(self.provider.delete(request).await)?;
        Ok(Response::new(()))
    }

    async fn invoke(&self, request: Request<pb::InvokeRequest>) -> Reply<pb::InvokeResponse> {
        let request = wire::invoke_request(request.get_ref())?;
        let response = self.answered(self.provider.invoke(request).await)?;
        reply(wire::invoke_response(&response, self.engine()))
    }

    async fn cancel(&self, _: Request<()>) -> Reply<()> {
        self.provider.cancel().await;
        Ok(Response::new(()))
    }
}
