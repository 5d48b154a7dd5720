//! Functions, methods and remote components: calls to providers that are not steps (`engine.md` 2.6, 2.7, 2.9).

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{
    CallRequest, ConstructRequest, InvokeRequest, InvokeResponse, ProviderCall, ProviderError,
    ProviderReply,
};
use plumb_resource::{Goal, PropertyDependencies, ProviderRef, ResourceId, TypeToken, Urn};
use plumb_value::{PropertyMap, ReferenceId, Value};

use crate::decide::registration::Requester;
use crate::deployment::Deployment;
use crate::facts::lineage::Existence;
use crate::ids::{Fence, InstanceId, RequestId};
use crate::monitor::default_providers::Resolved;
use crate::monitor::{add_output_dependencies, mismatched};
use crate::request::{
    CallMethodRequest, InvokeFunctionRequest, InvokeReply, Outcome, Parked, RegisterReply,
    RegisterRequest, Reply, Request, RequestError, RequestErrorKind,
};
use crate::status::Failure;
use crate::steps::calls::Waiter;
use crate::steps::providers::denied;

/// Token of the built-in function that finds a resource of the run.
const GET_RESOURCE: &str = "pulumi:pulumi:getResource";

impl Deployment {
    /// Invoke (`engine.md` 2.6).
    pub(crate) fn take_invoke(&mut self, id: RequestId, mut request: Box<InvokeFunctionRequest>) {
        let package = self.package_of(&request.token, &request.package);
        if request.provider.is_empty() {
            request.provider =
                self.provider_from_maps(&package, &BTreeMap::new(), request.parent.as_ref());
        }
        self.transform_invoke(id, request);
    }

    /// The rest of Invoke, once transforms have had their say.
    pub(crate) fn invoke_transformed(
        &mut self,
        id: RequestId,
        request: Box<InvokeFunctionRequest>,
    ) {
        let package = self.package_of(&request.token, &request.package);
        let reference = match self.resolve_provider(&package, &request.provider, &request.package) {
            Ok(Resolved::Provider(reference)) => reference,
            Ok(Resolved::Later(spec)) => {
                return self.wait_for_default(spec, id, Parked::Invoke(request));
            }
            Err(error) => return self.refuse_request(id, error),
        };
        match self.existence(&request.depends_on) {
            Existence::Complete => {}
            Existence::Missing => {
                return self.reply(id, Reply::Invoked(unknown_result()), Fence::NONE);
            }
            Existence::Open => return self.wait_for_children(id, request),
        }
        let instance =
            self.instance_for_function(&reference, &request.package.package_ref, &request.token);
        match instance {
            // Only the engine knows the resources of the run, so it answers in place of the provider `pulumi`.
            Ok(_) if request.token == GET_RESOURCE => self.get_resource(id, &request),
            Ok(instance) => {
                let call = ProviderCall::Invoke(InvokeRequest {
                    token: TypeToken::new(request.token.clone()),
                    args: self.ctx.for_provider(&request.args),
                    preview: self.ctx.options.is_preview(),
                });
                self.call(
                    Waiter::Invoke(id, request.token),
                    instance,
                    call,
                    Fence::NONE,
                );
            }
            Err(error) => {
                let message = format!("Invoke: {}", error.message);
                let error = RequestError::new(error.kind, message);
                self.reply(id, Reply::Failed(error), Fence::NONE);
            }
        }
    }

    fn instance_for_function(
        &mut self,
        reference: &ProviderRef,
        package_ref: &EcoString,
        what: &str,
    ) -> Result<InstanceId, RequestError> {
        if reference.is_denied() {
            let message = denied(reference.package(), what);
            return Err(RequestError::new(RequestErrorKind::Unknown, message));
        }
        let instance = self.ensure_provider(reference).map_err(|_| {
            RequestError::new(
                RequestErrorKind::Unknown,
                format!("unknown provider '{reference}' -> '{reference}'"),
            )
        })?;
        if !package_ref.is_empty() {
            self.apply_extension(instance, package_ref)
                .map_err(|message| RequestError::new(RequestErrorKind::Unknown, message))?;
        }
        Ok(instance)
    }

    pub(crate) fn invoke_answered(
        &mut self,
        id: RequestId,
        token: &str,
        result: Result<ProviderReply, ProviderError>,
    ) {
        let reply = match result {
            Ok(ProviderReply::Invoked(response)) => Reply::Invoked(known_result(response)),
            Ok(_) => mismatched(),
            Err(error) => Reply::Failed(RequestError::new(
                RequestErrorKind::Unknown,
                format!("invocation of {token} returned an error: {}", error.message),
            )),
        };
        self.reply(id, reply, Fence::NONE);
    }

    /// The built-in function that finds a resource of this run (`engine.md` 8.6).
    fn get_resource(&mut self, id: RequestId, request: &InvokeFunctionRequest) {
        let text = request.args.get("urn").map(Value::without_secrets);
        let text = text.as_ref().and_then(Value::as_str).unwrap_or_default();
        let found = Urn::parse(text).ok().and_then(|urn| self.urns.of_run(&urn));
        let Some(idx) = found else {
            let error = RequestError::new(
                RequestErrorKind::Unknown,
                format!("invocation of {GET_RESOURCE} returned an error: unknown resource {text}"),
            );
            return self.reply(id, Reply::Failed(error), Fence::NONE);
        };
        let state = self.arena.state(idx);
        let id_value = match &state.id {
            ResourceId::Unknown => Value::UNKNOWN,
            known => Value::from(known.as_str()),
        };
        let result = PropertyMap::new()
            .with("urn", state.urn.as_str())
            .with("id", id_value)
            .with(
                "provider",
                state
                    .provider
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            )
            .with("state", Value::Object(state.outputs.clone()));
        let reply = InvokeReply {
            result: Arc::new(result),
            failures: Vec::new(),
            dependencies: PropertyDependencies::new(),
            unknown: false,
        };
        self.reply(id, Reply::Invoked(reply), Fence::NONE);
    }

    /// Call (`engine.md` 2.7).
    pub(crate) fn take_call(&mut self, id: RequestId, mut request: Box<CallMethodRequest>) {
        let package = self.package_of(&request.token, &request.package);
        let is_of_provider = request.token.starts_with("pulumi:providers:");
        if request.provider.is_empty() || is_of_provider {
            match self.provider_of_self(&request) {
                Ok(reference) => request.provider = reference,
                Err(error) => return self.reply(id, Reply::Failed(error), Fence::NONE),
            }
        }
        let reference = match self.resolve_provider(&package, &request.provider, &request.package) {
            Ok(Resolved::Provider(reference)) => reference,
            Ok(Resolved::Later(spec)) => {
                return self.wait_for_default(spec, id, Parked::Other(Request::Call(request)));
            }
            Err(error) => return self.refuse_request(id, error),
        };
        let mut dependencies = request.dependencies.clone();
        add_output_dependencies(&request.args, &mut dependencies);
        match self.instance_for_function(&reference, &request.package.package_ref, &request.token) {
            Ok(instance) => {
                let call = ProviderCall::Call(CallRequest {
                    token: TypeToken::new(request.token.clone()),
                    args: request.args.clone(),
                    dependencies,
                });
                self.call(Waiter::Call(id, request.token), instance, call, Fence::NONE);
            }
            Err(error) => self.reply(id, Reply::Failed(error), Fence::NONE),
        }
    }

    /// The provider of the resource that a method belongs to. Components have none of their own: a provider in their options
    /// is for their children, so a method of theirs has the default provider of its package.
    fn provider_of_self(&self, request: &CallMethodRequest) -> Result<EcoString, RequestError> {
        let Some(Value::Resource(own)) = request.args.get("__self__").map(Value::without_secrets)
        else {
            return Ok(request.provider.clone());
        };
        let urn = Urn::parse(&own.urn).ok();
        if let (true, Some(urn)) = (request.token.starts_with("pulumi:providers:"), &urn) {
            // A provider that is yet to be made in a preview has no id.
            let id = match &own.id {
                ReferenceId::Known(id) => id,
                ReferenceId::Unknown | ReferenceId::None => "",
            };
            return Ok(ProviderRef::new(urn.clone(), id).to_string().into());
        }
        let known = urn.and_then(|urn| self.urns.goal(self.registered_as(&urn)));
        let known = known.ok_or_else(|| {
            RequestError::new(
                RequestErrorKind::Unknown,
                format!("unknown resource {}", own.urn),
            )
        })?;
        let provider = known.provider.as_ref().filter(|_| !known.is_component);
        Ok(provider.map_or_else(EcoString::new, |it| it.to_string().into()))
    }

    pub(crate) fn call_answered(
        &mut self,
        id: RequestId,
        token: &str,
        result: Result<ProviderReply, ProviderError>,
    ) {
        match result {
            Ok(ProviderReply::Invoked(response)) => {
                self.reply(id, Reply::Invoked(known_result(response)), Fence::NONE);
            }
            Ok(_) => self.reply(id, mismatched(), Fence::NONE),
            Err(error) => {
                self.error(
                    None,
                    &format!("call to function '{token}' failed: {}", error.message),
                );
                self.fail(Failure::Program);
            }
        }
    }

    /// Constructs a remote component (`engine.md` 2.9).
    pub(crate) fn construct(&mut self, id: RequestId, request: RegisterRequest, goal: Goal) {
        let Some(reference) = goal.provider.clone() else {
            return self.reply(id, mismatched(), Fence::NONE);
        };
        let instance = match self.instance_for_function(
            &reference,
            &request.package.package_ref,
            &request.type_token,
        ) {
            Ok(instance) => instance,
            Err(error) => return self.reply(id, Reply::Failed(error), Fence::NONE),
        };
        if self.providers.is_config_unknown(instance) {
            let stand_in = Goal {
                parent: goal.parent,
                ..Goal::bare(goal.type_token, goal.name)
            };
            return self.register(Requester::Program(id), stand_in);
        }
        let mut goal = goal;
        add_output_dependencies(&request.properties, &mut goal.property_dependencies);
        let call = ProviderCall::Construct(Box::new(ConstructRequest {
            goal: goal.clone(),
            inputs: request.properties.clone(),
            providers: request.providers,
        }));
        self.call(
            Waiter::Construct(id, Box::new(goal)),
            instance,
            call,
            Fence::NONE,
        );
    }

    pub(crate) fn construct_answered(
        &mut self,
        id: RequestId,
        goal: &Goal,
        result: Result<ProviderReply, ProviderError>,
    ) {
        match result {
            Ok(ProviderReply::Constructed(response)) => {
                let mut dependencies = response.dependencies;
                add_output_dependencies(&response.outputs, &mut dependencies);
                let reply = RegisterReply {
                    urn: response.urn,
                    id: ResourceId::None,
                    outputs: Arc::new(response.outputs.without_outputs()),
                    property_dependencies: dependencies,
                    outcome: Outcome::Success,
                    unknown: false,
                };
                self.reply(id, Reply::Registered(reply), Fence::NONE);
            }
            Ok(_) => self.reply(id, mismatched(), Fence::NONE),
            Err(error) => {
                let message = format!(
                    "{} resource '{}' has a problem: {}",
                    goal.type_token, goal.name, error.message
                );
                // The resource that a failed construction has not registered has no URN.
                self.error(None, &message);
                self.fail(Failure::Program);
            }
        }
    }
}

fn known_result(response: InvokeResponse) -> InvokeReply {
    let mut dependencies = response.dependencies;
    add_output_dependencies(&response.result, &mut dependencies);
    InvokeReply {
        result: Arc::new(response.result.without_outputs()),
        failures: response.failures,
        dependencies,
        unknown: false,
    }
}

fn unknown_result() -> InvokeReply {
    InvokeReply {
        result: Arc::default(),
        failures: Vec::new(),
        dependencies: PropertyDependencies::new(),
        unknown: true,
    }
}
