//! The resource monitor service.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ecow::EcoVec;
use plumb_deploy::request::{
    InvokeReply, Outcome, RegisterOutputsRequest, RegisterReply, Reply, Request as MonitorRequest,
    RequestError, RequestErrorKind,
};
use plumb_proto::pulumirpc::resource_monitor_server::ResourceMonitor as ResourceMonitorService;
use plumb_proto::pulumirpc::{
    self, CallResponse, DeploymentInfo, ReadResourceResponse, RegisterPackageResponse,
    RegisterResourceResponse, ResourceInvokeResponse, ResourceMonitorFeature,
    SupportsFeatureRequest, SupportsFeatureResponse,
};
use plumb_resource::{PropertyDependencies, ResourceId, UNKNOWN_SENTINEL, Urn};
use plumb_value::PropertyMap;
use plumb_wire::property::{self, monitor};
use tonic::{Request, Response, Status};

use super::decode;
use crate::monitor::{MonitorHandle, ResourceMonitor};
use crate::position::Positions;
use crate::program::ProgramContext;

/// Features by their frozen names. SDKs do not use features that are missing here.
const FEATURES: [(&str, ResourceMonitorFeature); 14] = [
    ("secrets", ResourceMonitorFeature::Secrets),
    (
        "resourceReferences",
        ResourceMonitorFeature::ResourceReferences,
    ),
    ("outputValues", ResourceMonitorFeature::OutputValues),
    ("aliasSpecs", ResourceMonitorFeature::AliasSpecs),
    (
        "replacementTrigger",
        ResourceMonitorFeature::ReplacementTrigger,
    ),
    ("deletedWith", ResourceMonitorFeature::DeletedWith),
    ("replaceWith", ResourceMonitorFeature::ReplaceWith),
    ("transforms", ResourceMonitorFeature::Transforms),
    ("invokeTransforms", ResourceMonitorFeature::InvokeTransforms),
    ("parameterization", ResourceMonitorFeature::Parameterization),
    ("resourceHooks", ResourceMonitorFeature::ResourceHooks),
    ("errorHooks", ResourceMonitorFeature::ErrorHooks),
    (
        "sendsOptionsToHooks",
        ResourceMonitorFeature::SendsOptionsToHooks,
    ),
    ("byteString", ResourceMonitorFeature::ByteString),
];

/// The resource monitor of one deployment.
pub(crate) struct MonitorService {
    handle: MonitorHandle,
    info: ProgramContext,
    positions: Positions,
}

impl MonitorService {
    /// A monitor service; `root` is the folder of the project file.
    pub(crate) fn new(handle: MonitorHandle, info: ProgramContext, root: PathBuf) -> Self {
        MonitorService {
            handle,
            info,
            positions: Positions::new(root),
        }
    }

    /// Features that programs may use in this deployment.
    fn features(&self) -> impl Iterator<Item = (&'static str, ResourceMonitorFeature)> {
        let references = self.info.resource_references;
        let is_on =
            move |feature| references || feature != ResourceMonitorFeature::ResourceReferences;
        FEATURES
            .into_iter()
            .filter(move |(_, feature)| is_on(*feature))
    }

    async fn ask(&self, request: MonitorRequest) -> Result<Reply, Status> {
        ask(&self.handle, request).await
    }
}

/// Sends a request to the deployment; a failure becomes a status.
pub(super) async fn ask(handle: &MonitorHandle, request: MonitorRequest) -> Result<Reply, Status> {
    match handle.request(request).await {
        Reply::Failed(error) => Err(status(&error)),
        reply => Ok(reply),
    }
}

fn status(error: &RequestError) -> Status {
    let message = error.message.as_str();
    match error.kind {
        RequestErrorKind::InvalidArgument => Status::invalid_argument(message),
        RequestErrorKind::Unavailable => Status::unavailable(message),
        RequestErrorKind::FailedPrecondition => Status::failed_precondition(message),
        RequestErrorKind::Unimplemented => Status::unimplemented(message),
        RequestErrorKind::Unknown => Status::unknown(message),
    }
}

fn mismatched() -> Status {
    Status::internal("the engine answered something else than was asked")
}

fn encode(
    map: &PropertyMap,
    options: plumb_wire::MarshalOptions,
) -> Result<plumb_proto::prost_types::Struct, Status> {
    property::encode_map(map, options).map_err(|error| Status::internal(error.to_string()))
}

fn id_text(id: &ResourceId) -> String {
    id.as_str().to_owned()
}

fn urn_texts(urns: EcoVec<Urn>) -> Vec<String> {
    urns.iter().map(ToString::to_string).collect()
}

#[tonic::async_trait]
impl ResourceMonitorService for MonitorService {
    async fn get_deployment_info(
        &self,
        _: Request<()>,
    ) -> Result<Response<DeploymentInfo>, Status> {
        let always = [
            ResourceMonitorFeature::InvokeDependsOn,
            ResourceMonitorFeature::InvokeParent,
        ];
        let features = self.features().map(|(_, feature)| feature).chain(always);
        Ok(Response::new(DeploymentInfo {
            project: self.info.project.clone(),
            stack: self.info.stack.clone(),
            organization: self.info.organization.clone(),
            config: BTreeMap::clone(&self.info.config),
            config_secret_keys: self.info.config_secret_keys.as_ref().clone(),
            dry_run: self.info.dry_run,
            parallel: self.info.parallel,
            supported_features: features.map(i32::from).collect(),
        }))
    }

    async fn supports_feature(
        &self,
        request: Request<SupportsFeatureRequest>,
    ) -> Result<Response<SupportsFeatureResponse>, Status> {
        let id = request.into_inner().id;
        let has_support = id != "byteString" && self.features().any(|(name, _)| name == id);
        Ok(Response::new(SupportsFeatureResponse { has_support }))
    }

    async fn register_resource(
        &self,
        request: Request<pulumirpc::RegisterResourceRequest>,
    ) -> Result<Response<RegisterResourceResponse>, Status> {
        let is_node = is_node(&request);
        let request = request.into_inner();
        let options = monitor::state(
            request.accept_secrets,
            request.accept_resources,
            request.accepts_byte_string,
        );
        let partial = request.supports_partial_values;
        let reports_results = request.supports_result_reporting;
        let remote = request.remote;
        if !request.state_migrations.is_empty() {
            return Err(Status::failed_precondition(
                "the engine does not support state migrations",
            ));
        }
        let request = decode::register(request, &self.positions, is_node)?;
        let Reply::Registered(reply) = self
            .ask(MonitorRequest::Register(Box::new(request)))
            .await?
        else {
            return Err(mismatched());
        };
        if reply.outcome != Outcome::Success && !reports_results {
            return Err(Status::internal("resource registration failed"));
        }
        registered(reply, options, partial, remote).map(Response::new)
    }

    async fn read_resource(
        &self,
        request: Request<pulumirpc::ReadResourceRequest>,
    ) -> Result<Response<ReadResourceResponse>, Status> {
        let request = request.into_inner();
        let options = monitor::state(
            request.accept_secrets,
            request.accept_resources,
            request.accepts_byte_string,
        );
        let request = decode::read(request, &self.positions)?;
        let Reply::Read(reply) = self.ask(MonitorRequest::Read(Box::new(request))).await? else {
            return Err(mismatched());
        };
        Ok(Response::new(ReadResourceResponse {
            urn: reply.urn.to_string(),
            properties: Some(encode(&reply.outputs, options)?),
            result: result_of(reply.outcome).into(),
            unknown: false,
            id: id_text(&reply.id),
        }))
    }

    async fn register_resource_outputs(
        &self,
        request: Request<pulumirpc::RegisterResourceOutputsRequest>,
    ) -> Result<Response<()>, Status> {
        let request = request.into_inner();
        let urn = Urn::parse(&request.urn)
            .map_err(|error| Status::invalid_argument(format!("invalid resource URN: {error}")))?;
        let outputs = property::decode_map(request.outputs.as_ref(), monitor::REGISTER_OUTPUTS)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let request = RegisterOutputsRequest {
            urn,
            outputs: outputs.into(),
        };
        self.ask(MonitorRequest::RegisterOutputs(request)).await?;
        Ok(Response::new(()))
    }

    async fn invoke(
        &self,
        request: Request<pulumirpc::ResourceInvokeRequest>,
    ) -> Result<Response<ResourceInvokeResponse>, Status> {
        let request = request.into_inner();
        let accept_resources =
            request.accept_resources || request.tok == "pulumi:pulumi:getResource";
        let request = decode::invoke(request)?;
        let Reply::Invoked(reply) = self.ask(MonitorRequest::Invoke(Box::new(request))).await?
        else {
            return Err(mismatched());
        };
        Ok(Response::new(ResourceInvokeResponse {
            r#return: Some(encode(
                &reply.result,
                monitor::invoke_return(accept_resources),
            )?),
            failures: failures(&reply),
            unknown: reply.unknown,
        }))
    }

    async fn call(
        &self,
        request: Request<pulumirpc::ResourceCallRequest>,
    ) -> Result<Response<CallResponse>, Status> {
        let request = decode::call(request.into_inner())?;
        let Reply::Invoked(reply) = self.ask(MonitorRequest::Call(Box::new(request))).await? else {
            return Err(mismatched());
        };
        let failures = failures(&reply);
        let return_dependencies = reply
            .dependencies
            .into_iter()
            .map(|(key, urns)| {
                (
                    key.to_string(),
                    pulumirpc::call_response::ReturnDependencies {
                        urns: urn_texts(urns),
                    },
                )
            })
            .collect();
        Ok(Response::new(CallResponse {
            r#return: Some(encode(&reply.result, monitor::CALL_RETURN)?),
            failures,
            return_dependencies,
        }))
    }

    async fn register_package(
        &self,
        request: Request<pulumirpc::RegisterPackageRequest>,
    ) -> Result<Response<RegisterPackageResponse>, Status> {
        let request = decode::register_package(request.into_inner());
        let Reply::Package(reference) = self
            .ask(MonitorRequest::RegisterPackage(Box::new(request)))
            .await?
        else {
            return Err(mismatched());
        };
        Ok(Response::new(RegisterPackageResponse {
            r#ref: reference.to_string(),
        }))
    }

    async fn signal_and_wait_for_shutdown(&self, _: Request<()>) -> Result<Response<()>, Status> {
        self.ask(MonitorRequest::SignalAndWaitForShutdown).await?;
        Ok(Response::new(()))
    }

    async fn register_stack_transform(
        &self,
        request: Request<pulumirpc::Callback>,
    ) -> Result<Response<()>, Status> {
        let callback = decode::callback(request.into_inner());
        self.ask(MonitorRequest::RegisterStackTransform(callback))
            .await?;
        Ok(Response::new(()))
    }

    async fn register_stack_invoke_transform(
        &self,
        request: Request<pulumirpc::Callback>,
    ) -> Result<Response<()>, Status> {
        let callback = decode::callback(request.into_inner());
        self.ask(MonitorRequest::RegisterStackInvokeTransform(callback))
            .await?;
        Ok(Response::new(()))
    }

    async fn register_resource_hook(
        &self,
        request: Request<pulumirpc::RegisterResourceHookRequest>,
    ) -> Result<Response<()>, Status> {
        let request = decode::resource_hook(request.into_inner());
        self.ask(MonitorRequest::RegisterHook(request)).await?;
        Ok(Response::new(()))
    }

    async fn register_error_hook(
        &self,
        request: Request<pulumirpc::RegisterErrorHookRequest>,
    ) -> Result<Response<()>, Status> {
        let request = decode::error_hook(request.into_inner());
        self.ask(MonitorRequest::RegisterHook(request)).await?;
        Ok(Response::new(()))
    }
}

/// Whether the caller is a Node.js SDK (`engine.md` 2.3, step 7).
fn is_node<T>(request: &Request<T>) -> bool {
    let text = |key: &str| {
        request
            .metadata()
            .get(key)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    match text("pulumi-runtime") {
        "" => text("user-agent").starts_with("grpc-node-js/"),
        runtime => runtime == "nodejs",
    }
}

fn result_of(outcome: Outcome) -> pulumirpc::Result {
    match outcome {
        Outcome::Success => pulumirpc::Result::Success,
        Outcome::Failed => pulumirpc::Result::Fail,
        Outcome::Skipped => pulumirpc::Result::Skip,
    }
}

fn failures(reply: &InvokeReply) -> Vec<pulumirpc::CheckFailure> {
    reply
        .failures
        .iter()
        .map(|failure| pulumirpc::CheckFailure {
            property: failure.property.to_string(),
            reason: failure.reason.to_string(),
        })
        .collect()
}

fn registered(
    reply: RegisterReply,
    options: plumb_wire::MarshalOptions,
    partial: bool,
    remote: bool,
) -> Result<RegisterResourceResponse, Status> {
    let mut outputs = reply.outputs;
    if !partial && outputs.contains_unknowns() {
        std::sync::Arc::make_mut(&mut outputs).retain(|_, value| !value.contains_unknowns());
    }
    let dependencies = if remote {
        reply.property_dependencies
    } else {
        PropertyDependencies::new()
    };
    // Programs build references to providers from their ids, so the unknown id of a provider is sent as the sentinel, in
    // previews too.
    let id = match &reply.id {
        ResourceId::Unknown if reply.urn.type_token().is_provider() => UNKNOWN_SENTINEL.to_owned(),
        id => id_text(id),
    };
    Ok(RegisterResourceResponse {
        urn: reply.urn.to_string(),
        id,
        object: Some(encode(&outputs, options)?),
        stable: false,
        stables: Vec::new(),
        property_dependencies: dependencies
            .into_iter()
            .map(|(key, urns)| {
                let urns = urn_texts(urns);
                (
                    key.to_string(),
                    pulumirpc::register_resource_response::PropertyDependencies { urns },
                )
            })
            .collect(),
        result: result_of(reply.outcome).into(),
        unknown: reply.unknown,
    })
}
