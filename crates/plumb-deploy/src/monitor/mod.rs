//! The resource monitor: requests of programs, made ready for decisions (`engine.md` 2).
//!
//! [`transforms`] may change a request; [`inheritance`] adds what its parent gives; [`packages`](crate::facts::packages) and
//! [`default_providers`] find its provider. Then a registration goes on in `decide`. [`functions`] has invokes, methods and
//! remote components, [`outputs`] what components register at their end.

pub(crate) mod default_providers;
pub(crate) mod functions;
pub(crate) mod inheritance;
pub(crate) mod outputs;
pub(crate) mod transforms;

use std::sync::Arc;

use ecow::EcoVec;
use plumb_resource::{Goal, PropertyDependencies, ProviderRef, ResourceKind, TypeToken, Urn};
use plumb_value::{PropertyMap, Value};
use rustc_hash::FxHashSet;

use crate::decide::registration::Requester;
use crate::deployment::Deployment;
use crate::ids::{Fence, RequestId};
use crate::monitor::default_providers::Resolved;
use crate::request::{
    Parked, ReadResourceRequest, RegisterRequest, Reply, Request, RequestError, RequestErrorKind,
};
use crate::steps::provider_inputs;
use crate::steps::providers::denied;

impl Deployment {
    /// RegisterResource: steps 2-22 of `engine.md` 2.3.
    pub(crate) fn take_registration(&mut self, id: RequestId, mut request: Box<RegisterRequest>) {
        if let Err(error) = Self::check_registration(&request) {
            return self.reply(id, Reply::Failed(error), Fence::NONE);
        }
        self.lineage.open(id, request.parent.as_ref());
        self.inherit_from_parent(&mut request);
        self.inherit_provider_before_transforms(&mut request);
        let package = self.package_of(&request.type_token, &request.package);
        if request.provider.is_empty() && (request.custom || request.remote) {
            request.provider =
                self.provider_from_maps(&package, &request.providers, request.parent.as_ref());
        }
        depend_on_everything(&mut request);
        self.transform_registration(id, request);
    }

    /// The rest of RegisterResource, once transforms have had their say.
    pub(crate) fn register_transformed(
        &mut self,
        id: RequestId,
        mut request: Box<RegisterRequest>,
    ) {
        self.inherit_provider_after_transforms(&mut request);
        if !request.custom {
            self.inherit_providers(&mut request);
        }
        let package = self.package_of(&request.type_token, &request.package);
        let type_token = TypeToken::new(request.type_token.clone());
        let needs_provider = (request.custom && !type_token.is_provider()) || request.remote;
        let provider = if needs_provider {
            match self.resolve_provider(&package, &request.provider, &request.package) {
                Ok(Resolved::Provider(reference)) => Some(reference),
                Ok(Resolved::Later(spec)) => {
                    return self.wait_for_default(spec, id, Parked::Register(request));
                }
                Err(error) => return self.refuse_request(id, error),
            }
        } else {
            None
        };
        let mut properties = self.ctx.for_provider(&request.properties);
        if type_token.is_provider() {
            match self.provider_resource_inputs(&type_token, &request) {
                Ok(inputs) => properties = inputs,
                Err(error) => return self.reply(id, Reply::Failed(error), Fence::NONE),
            }
        }
        let urn = self.urn_below(request.parent.as_ref(), &type_token, &request.name);
        let urn = self.urns.shared(urn);
        request.snippet_id = self.snippet_of(&request, &urn);
        self.remember_goal(&urn, &request, provider.as_ref());
        if request.remote {
            let goal = self.goal_of(request.as_ref().clone(), type_token, provider, properties);
            return self.construct(id, *request, goal);
        }
        let goal = self.goal_of(*request, type_token, provider, properties);
        self.register_as(Requester::Program(id), urn, goal);
    }

    fn check_registration(request: &RegisterRequest) -> Result<(), RequestError> {
        let invalid =
            |message: String| RequestError::new(RequestErrorKind::InvalidArgument, message);
        if (request.custom || request.remote) && !TypeToken::is_managed(&request.type_token) {
            return Err(invalid(format!(
                "Type '{}' is not a valid type token",
                request.type_token
            )));
        }
        let is_provider = TypeToken::new(request.type_token.clone()).is_provider();
        if !request.env_var_mappings.is_empty() && !is_provider {
            return Err(invalid(
                "envVarMappings can only be used with provider resources".to_owned(),
            ));
        }
        Ok(())
    }

    /// Step 19: what the engine must remember of the plugin goes into the inputs of a provider resource.
    fn provider_resource_inputs(
        &self,
        type_token: &TypeToken,
        request: &RegisterRequest,
    ) -> Result<Arc<PropertyMap>, RequestError> {
        let package = type_token.provided_package().unwrap_or_default();
        let mut spec = self.packages.resolve(package, &request.package)?;
        spec.env_var_mappings.clone_from(&request.env_var_mappings);
        let mut inputs = request.properties.as_ref().clone();
        if request.package.package_ref.is_empty()
            && spec.version.is_none()
            && spec.download_url.is_none()
        {
            let given = inputs.get("version").map(Value::without_secrets);
            if let Some(default) = self.ctx.default_versions.get(package) {
                if given.is_none() {
                    spec.version.clone_from(&default.version);
                }
                spec.download_url.clone_from(&default.download_url);
            }
        }
        provider_inputs::write(&mut inputs, &spec);
        Ok(Arc::new(inputs))
    }

    fn goal_of(
        &self,
        mut request: RegisterRequest,
        type_token: TypeToken,
        provider: Option<ProviderRef>,
        properties: Arc<PropertyMap>,
    ) -> Goal {
        let kind = ResourceKind::from_custom(request.custom, &type_token);
        let (properties, property_dependencies) = if request.remote {
            (properties, request.property_dependencies)
        } else {
            let told = std::mem::take(&mut request.property_dependencies);
            property_dependencies(&properties, &request.properties, told)
        };
        let mut dependencies = request.dependencies;
        let told_by_outputs = !request.remote && has_outputs(&request.properties);
        if request.dependencies_from_properties || told_by_outputs {
            for urn in property_dependencies.values().flatten() {
                if !dependencies.contains(urn) {
                    dependencies.push(urn.clone());
                }
            }
        }
        Goal {
            kind,
            properties,
            type_token,
            name: request.name,
            parent: request.parent,
            protect: request.protect,
            dependencies: deduplicated(dependencies),
            provider,
            property_dependencies,
            delete_before_replace: request.delete_before_replace,
            ignore_changes: request.ignore_changes,
            hide_diff: request.hide_diff,
            additional_secret_outputs: request.additional_secret_outputs,
            aliases: request.aliases,
            import_id: Some(request.import_id).filter(|id| !id.is_empty()),
            custom_timeouts: request.custom_timeouts,
            replace_on_changes: request.replace_on_changes,
            replacement_trigger: request.replacement_trigger.without_outputs(),
            retain_on_delete: request.retain_on_delete,
            deleted_with: request.deleted_with,
            replace_with: request.replace_with,
            source_position: request.source_position,
            stack_trace: request.stack_trace,
            hooks: request.hooks,
            extension_ref: self.extension_of(&request.package),
            snippet_id: request.snippet_id,
        }
    }

    /// Fails a request whose provider cannot be told.
    pub(crate) fn refuse_request(&mut self, id: RequestId, error: RequestError) {
        self.reply(id, Reply::Failed(error), Fence::NONE);
    }

    /// ReadResource (`engine.md` 2.8).
    pub(crate) fn take_read(&mut self, id: RequestId, request: Box<ReadResourceRequest>) {
        if !TypeToken::is_managed(&request.type_token) {
            let message = format!("Type '{}' is not a valid type token", request.type_token);
            return self.reply(
                id,
                Reply::Failed(RequestError::new(
                    RequestErrorKind::InvalidArgument,
                    message,
                )),
                Fence::NONE,
            );
        }
        let package = self.package_of(&request.type_token, &request.package);
        if TypeToken::new(request.type_token.clone()).is_provider() {
            let error = RequestError::new(
                RequestErrorKind::InvalidArgument,
                "provider resources may not be read",
            );
            return self.reply(id, Reply::Failed(error), Fence::NONE);
        }
        match self.resolve_provider(&package, &request.provider, &request.package) {
            Ok(Resolved::Provider(reference)) if reference.is_denied() => {
                let token = &request.type_token;
                let message = denied(token, token);
                self.refuse_request(id, RequestError::new(RequestErrorKind::Unknown, message));
            }
            Ok(Resolved::Provider(reference)) => self.read(id, *request, reference),
            Ok(Resolved::Later(spec)) => {
                self.wait_for_default(spec, id, Parked::Other(Request::Read(request)));
            }
            Err(error) => self.refuse_request(id, error),
        }
    }
}

/// Step 10: when a program does not say what each property depends on, each depends on everything.
fn depend_on_everything(request: &mut RegisterRequest) {
    if !request.property_dependencies.is_empty() || request.remote {
        return;
    }
    let mut told = PropertyDependencies::new();
    add_output_dependencies(&request.properties, &mut told);
    let everything: EcoVec<Urn> = request
        .dependencies
        .iter()
        .chain(told.values().flatten())
        .cloned()
        .collect();
    let everything = deduplicated(everything);
    request.property_dependencies = request
        .properties
        .keys()
        .map(|key| (key.clone(), everything.clone()))
        .collect();
}

/// Steps 18 and 21: which resources each property depends on, and the properties without output wrappers.
///
/// A property that a transform added has an entry too, which may be empty; a property that the engine adds to the inputs of
/// a provider has none.
fn property_dependencies(
    properties: &Arc<PropertyMap>,
    given: &PropertyMap,
    mut dependencies: PropertyDependencies,
) -> (Arc<PropertyMap>, PropertyDependencies) {
    for key in given.keys() {
        dependencies.get_or_default(key.clone());
    }
    add_output_dependencies(properties, &mut dependencies);
    let plain = if has_outputs(properties) {
        Arc::new(properties.without_outputs())
    } else {
        properties.clone()
    };
    (plain, dependencies)
}

fn has_outputs(properties: &PropertyMap) -> bool {
    properties
        .values()
        .any(|value| value.any(&mut |value| matches!(value, Value::Output(_))))
}

/// Adds the dependencies that output values carry.
pub(crate) fn add_output_dependencies(
    properties: &PropertyMap,
    dependencies: &mut PropertyDependencies,
) {
    for (key, value) in properties {
        let mut found = Vec::new();
        value.any(&mut |value| {
            if let Value::Output(output) = value {
                found.extend(
                    output
                        .dependencies
                        .iter()
                        .filter_map(|text| Urn::parse(text).ok()),
                );
            }
            false
        });
        if !found.is_empty() {
            let known = dependencies.get_or_default(key.clone());
            for urn in found {
                if !known.contains(&urn) {
                    known.push(urn);
                }
            }
        }
    }
}

/// Each once, in the order in which they come.
fn deduplicated(mut urns: EcoVec<Urn>) -> EcoVec<Urn> {
    if has_repetition(&urns) {
        let mut seen = FxHashSet::default();
        urns.retain(|urn| seen.insert(urn.clone()));
    }
    urns
}

/// Whether some URN comes twice; perhaps also if there are many.
fn has_repetition(urns: &[Urn]) -> bool {
    urns.len() > 8 || (1..urns.len()).any(|at| urns[..at].contains(&urns[at]))
}

/// An answer of another kind than the call: a fault of the shell.
pub(crate) fn mismatched() -> Reply {
    Reply::Failed(RequestError::new(
        RequestErrorKind::Unknown,
        "the provider answered something else than was asked",
    ))
}
