//! Calls of a provider over gRPC.

use async_trait::async_trait;
use plumb_proto::pulumirpc as pb;
use plumb_resource::ResourceId;
use plumb_resource::provider::{
    CallRequest, CheckConfigRequest, CheckRequest, CheckResponse, ConfigureRequest,
    ConstructRequest, ConstructResponse, CreateRequest, CreateResponse, DeleteRequest, DiffChanges,
    DiffRequest, DiffResult, InvokeRequest, InvokeResponse, ListRequest, ListResponse,
    Parameterization, ProviderError, ReadRequest, ReadResponse, UpdateRequest, UpdateResponse,
};
use plumb_wire::provider as wire;
use tonic::{Code, Response, Status};

use super::GrpcProvider;
use crate::discovery::parse_tolerant;
use crate::provider::{CallContext, ConstructContext, Mapping, Provider, ProviderInfo};

impl GrpcProvider {
    /// The message of an answer; a failure is explained by the exit of the process, if it ended.
    async fn unwrap<M>(&self, answer: Result<Response<M>, Status>) -> Result<M, Status> {
        match answer {
            Ok(response) => Ok(response.into_inner()),
            Err(status) => Err(self.explain(status).await),
        }
    }

    /// Applies a parameter; returns the name and version of the resulting package.
    async fn parameterized(
        &self,
        request: pb::ParameterizeRequest,
    ) -> Result<(String, String), ProviderError> {
        let answer = self.client()?.parameterize(request).await;
        let response = self
            .unwrap(answer)
            .await
            .map_err(|status| wire::call_error(&status))?;
        if let Err(error) = semver::Version::parse(&response.version) {
            let text = &response.version;
            let message = format!(
                "the provider {} answered an invalid package version {text:?}: {error}",
                self.name
            );
            return Err(ProviderError::clean(message));
        }
        Ok((response.name, response.version))
    }
}

/// Whether the status means that the provider does not check its configuration. Some old providers use codes of their own.
fn is_config_unsupported(status: &Status, type_text: &str) -> bool {
    match status.code() {
        Code::Unimplemented => true,
        Code::Internal => type_text == "pulumi:providers:pulumi-nodejs",
        Code::Unknown => {
            type_text == "pulumi:providers:kubernetes" && status.message().contains("Unimplemented")
        }
        _ => false,
    }
}

fn is_ignored_diff_failure(status: &Status, type_text: &str) -> bool {
    type_text == "pulumi:providers:kubernetes"
        && status
            .message()
            .contains("cannot unmarshal string into Go value of type struct")
}

#[async_trait]
impl Provider for GrpcProvider {
    async fn info(&self) -> Result<ProviderInfo, ProviderError> {
        let answer = self.client()?.get_plugin_info(()).await;
        let version = match self.unwrap(answer).await {
            Ok(info) => parse_tolerant(&info.version),
            Err(status) if status.code() == Code::Unimplemented => None,
            Err(status) => return Err(wire::call_error(&status)),
        };
        Ok(ProviderInfo {
            name: self.name.clone(),
            version,
        })
    }

    async fn get_schema(
        &self,
        subpackage: Option<(&str, &str)>,
    ) -> Result<Option<String>, ProviderError> {
        let (name, version) = subpackage.unwrap_or_default();
        let request = pb::GetSchemaRequest {
            version: 0,
            subpackage_name: name.to_owned(),
            subpackage_version: version.to_owned(),
        };
        let answer = self.client()?.get_schema(request).await;
        match self.unwrap(answer).await {
            Ok(response) => Ok(Some(response.schema).filter(|schema| !schema.is_empty())),
            Err(status) if status.code() == Code::Unimplemented => Ok(None),
            Err(status) => Err(wire::call_error(&status)),
        }
    }

    async fn parameterize(
        &self,
        parameter: &Parameterization,
    ) -> Result<(String, String), ProviderError> {
        self.parameterized(wire::parameterize_request(parameter))
            .await
    }

    async fn parameterize_with_args(
        &self,
        args: &[String],
    ) -> Result<(String, String), ProviderError> {
        self.parameterized(wire::parameterize_args_request(args))
            .await
    }

    async fn check_config(
        &self,
        request: CheckConfigRequest,
    ) -> Result<CheckResponse, ProviderError> {
        let answer = self
            .client()?
            .check_config(wire::check_config_request(&request)?)
            .await;
        match self.unwrap(answer).await {
            Ok(response) => wire::check_config_response(&response, &request),
            Err(status) if is_config_unsupported(&status, request.urn.type_text()) => {
                Ok(CheckResponse {
                    inputs: Some(request.new_inputs),
                    ..CheckResponse::default()
                })
            }
            Err(status) => Err(wire::call_error(&status)),
        }
    }

    async fn diff_config(&self, request: DiffRequest) -> Result<DiffResult, ProviderError> {
        let answer = self
            .client()?
            .diff_config(wire::diff_config_request(&request)?)
            .await;
        match self.unwrap(answer).await {
            Ok(response) => Ok(wire::diff_response(&response)),
            Err(status)
                if is_config_unsupported(&status, request.urn.type_text())
                    || is_ignored_diff_failure(&status, request.urn.type_text()) =>
            {
                Ok(DiffResult::of(DiffChanges::Unknown))
            }
            Err(status) => Err(wire::call_error(&status)),
        }
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<(), ProviderError> {
        let answer = self
            .client()?
            .configure(wire::configure_request(&request)?)
            .await;
        let response = self
            .unwrap(answer)
            .await
            .map_err(|status| wire::configure_error(&status))?;
        self.set_features(self.features().after_configure(&response));
        Ok(())
    }

    async fn check(&self, request: CheckRequest) -> Result<CheckResponse, ProviderError> {
        let features = self.features();
        let answer = self
            .client()?
            .check(wire::check_request(&request, &features)?)
            .await;
        let response = self
            .unwrap(answer)
            .await
            .map_err(|status| wire::call_error(&status))?;
        wire::check_response(&response, &request, &features)
    }

    async fn diff(&self, request: DiffRequest) -> Result<DiffResult, ProviderError> {
        let answer = self
            .client()?
            .diff(wire::diff_request(&request, &self.features())?)
            .await;
        let response = self
            .unwrap(answer)
            .await
            .map_err(|status| wire::call_error(&status))?;
        Ok(wire::diff_response(&response))
    }

    async fn create(&self, request: CreateRequest) -> Result<CreateResponse, ProviderError> {
        if request.preview && !self.previews() {
            return Ok(CreateResponse {
                id: ResourceId::Unknown,
                outputs: request.inputs,
                refresh_before_update: false,
            });
        }
        let features = self.features();
        let answer = self
            .client()?
            .create(wire::create_request(&request, &features)?)
            .await;
        match self.unwrap(answer).await {
            Ok(response) => wire::create_response(&response, &request, &features),
            Err(status) => Err(wire::create_error(&status, &request, &features)),
        }
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, ProviderError> {
        let features = self.features();
        let answer = self
            .client()?
            .read(wire::read_request(&request, &features)?)
            .await;
        match self.unwrap(answer).await {
            Ok(response) => wire::read_response(&response, &request, &features),
            Err(status) => Err(wire::read_error(&status, &request, &features)),
        }
    }

    async fn update(&self, request: UpdateRequest) -> Result<UpdateResponse, ProviderError> {
        if request.preview && !self.previews() {
            return Ok(UpdateResponse {
                outputs: request.new_inputs,
                refresh_before_update: false,
            });
        }
        let features = self.features();
        let answer = self
            .client()?
            .update(wire::update_request(&request, &features)?)
            .await;
        match self.unwrap(answer).await {
            Ok(response) => wire::update_response(&response, &request, &features),
            Err(status) => Err(wire::update_error(&status, &request, &features)),
        }
    }

    async fn delete(&self, request: DeleteRequest) -> Result<(), ProviderError> {
        let answer = self
            .client()?
            .delete(wire::delete_request(&request, &self.features())?)
            .await;
        self.unwrap(answer)
            .await
            .map_err(|status| wire::delete_error(&status))
    }

    async fn invoke(&self, request: InvokeRequest) -> Result<InvokeResponse, ProviderError> {
        let features = self.features();
        let answer = self
            .client()?
            .invoke(wire::invoke_request(&request, &features)?)
            .await;
        let response = self
            .unwrap(answer)
            .await
            .map_err(|status| wire::call_error(&status))?;
        wire::invoke_response(&response, &request, &features)
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, ProviderError> {
        let message = wire::list_request(&request, &self.features())?;
        let answer = self.client()?.list(message).await;
        let failed = |status: Status| wire::call_error(&status);
        let mut parts = self.unwrap(answer).await.map_err(failed)?;
        let mut page = ListResponse::default();
        while let Some(part) = parts.message().await.map_err(failed)? {
            wire::add_list_response(&mut page, part);
        }
        Ok(page)
    }

    async fn construct(
        &self,
        request: ConstructRequest,
        context: &ConstructContext,
    ) -> Result<ConstructResponse, ProviderError> {
        let message = pb::ConstructRequest {
            project: context.project.clone(),
            stack: context.stack.clone(),
            organization: context.organization.clone(),
            config: context.config.as_ref().clone(),
            config_secret_keys: context.config_secret_keys.as_ref().clone(),
            parallel: context.parallel,
            monitor_endpoint: context.monitor_endpoint.clone(),
            ..wire::construct_request(&request, &self.features(), context.dry_run)?
        };
        let answer = self.client()?.construct(message).await;
        match self.unwrap(answer).await {
            Ok(response) => wire::construct_response(&response, context.dry_run),
            Err(status) => Err(wire::construct_error(&status, &request.inputs)),
        }
    }

    async fn call(
        &self,
        request: CallRequest,
        context: &CallContext,
    ) -> Result<InvokeResponse, ProviderError> {
        // upstream: the organization and the keys of secret configuration are left empty in calls of methods.
        let message = pb::CallRequest {
            project: context.project.clone(),
            stack: context.stack.clone(),
            config: context.config.as_ref().clone(),
            parallel: context.parallel,
            monitor_endpoint: context.monitor_endpoint.clone(),
            ..wire::call_request(&request, &self.features(), context.dry_run)?
        };
        let answer = self.client()?.call(message).await;
        match self.unwrap(answer).await {
            Ok(response) => wire::call_response(&response, context.dry_run),
            Err(status) => Err(wire::construct_error(&status, &request.args)),
        }
    }

    async fn get_mappings(&self, ecosystem: &str) -> Result<Option<Vec<String>>, ProviderError> {
        let request = pb::GetMappingsRequest {
            key: ecosystem.to_owned(),
        };
        let answer = self.client()?.get_mappings(request).await;
        match self.unwrap(answer).await {
            Ok(response) => Ok(Some(response.providers)),
            Err(status) if status.code() == Code::Unimplemented => Ok(None),
            Err(status) => Err(wire::call_error(&status)),
        }
    }

    async fn get_mapping(
        &self,
        ecosystem: &str,
        package: &str,
    ) -> Result<Option<Mapping>, ProviderError> {
        let request = pb::GetMappingRequest {
            key: ecosystem.to_owned(),
            provider: package.to_owned(),
        };
        let answer = self.client()?.get_mapping(request).await;
        match self.unwrap(answer).await {
            Ok(response) => Ok((!response.provider.is_empty()).then_some(Mapping {
                provider: response.provider,
                data: response.data,
            })),
            Err(status) if status.code() == Code::Unimplemented => Ok(None),
            Err(status) => Err(wire::call_error(&status)),
        }
    }

    fn publishes_views(&self) -> bool {
        true
    }

    async fn cancel(&self) {
        self.send_cancel().await;
    }

    async fn shutdown(&self) {
        self.end().await;
    }
}
