//! Conversion of construct requests from the wire format.

use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::RegisterRequest;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::construct_request::{CustomTimeouts, ResourceHooksBinding};
use plumb_proto::pulumirpc::register_resource_request as register;
use plumb_resource::{PropertyDependencies, Urn};
use plumb_value::{PropertyKey, Value};
use plumb_wire::MarshalOptions;
use plumb_wire::{property, registration};
use tonic::Status;

/// Inputs of components include output values with their dependencies.
const INPUTS: MarshalOptions = MarshalOptions::RICH.outputs(true);

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::invalid_argument(error.to_string())
}

fn urns(texts: &[String]) -> Result<Vec<Urn>, Status> {
    let urns = texts.iter().map(|text| Urn::parse(text));
    urns.collect::<Result<_, _>>().map_err(invalid)
}

fn optional_urn(text: &str) -> Result<Option<Urn>, Status> {
    (!text.is_empty())
        .then(|| Urn::parse(text))
        .transpose()
        .map_err(invalid)
}

fn texts(texts: Vec<String>) -> Vec<EcoString> {
    texts.into_iter().map(Into::into).collect()
}

/// Registration of the component. The providers in it are for its children.
pub(super) fn component(request: &pb::ConstructRequest) -> Result<RegisterRequest, Status> {
    let request = request.clone();
    let aliases = request.aliases.iter().map(registration::alias_from_wire);
    let aliases = aliases
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()
        .map_err(invalid)?;
    let properties = property::decode_map(request.inputs.as_ref(), INPUTS).map_err(invalid)?;
    Ok(RegisterRequest {
        parent: optional_urn(&request.parent)?,
        properties: Arc::new(properties),
        dependencies: urns(&request.dependencies)?.into(),
        property_dependencies: dependencies(&request)?,
        providers: request
            .providers
            .iter()
            .map(|(package, provider)| (package.into(), provider.into()))
            .collect(),
        protect: request.protect,
        delete_before_replace: request.delete_before_replace,
        ignore_changes: texts(request.ignore_changes).into(),
        replace_on_changes: texts(request.replace_on_changes).into(),
        additional_secret_outputs: request
            .additional_secret_outputs
            .into_iter()
            .map(PropertyKey::from)
            .collect(),
        aliases,
        custom_timeouts: registration::timeouts_from_wire(
            request.custom_timeouts.map(timeouts).as_ref(),
        )
        .map_err(invalid)?,
        retain_on_delete: request.retain_on_delete,
        deleted_with: optional_urn(&request.deleted_with)?,
        replace_with: urns(&request.replace_with)?.into(),
        replacement_trigger: trigger(request.replacement_trigger.as_ref())?,
        hooks: registration::hooks_from_wire(request.resource_hooks.map(hooks).as_ref()),
        ..RegisterRequest::new(&request.r#type, &request.name, false)
    })
}

fn dependencies(request: &pb::ConstructRequest) -> Result<PropertyDependencies, Status> {
    let declared = request.input_dependencies.iter();
    declared
        .map(|(key, of)| Ok((PropertyKey::from(key.as_str()), urns(&of.urns)?.into())))
        .collect()
}

fn trigger(value: Option<&plumb_proto::prost_types::Value>) -> Result<Value, Status> {
    let Some(value) = value else {
        return Ok(Value::Null);
    };
    let decoded = property::decode_value("replacementTrigger", value, INPUTS).map_err(invalid)?;
    Ok(decoded.unwrap_or(Value::Null))
}

fn timeouts(timeouts: CustomTimeouts) -> register::CustomTimeouts {
    register::CustomTimeouts {
        create: timeouts.create,
        update: timeouts.update,
        delete: timeouts.delete,
        read: timeouts.read,
    }
}

fn hooks(binding: ResourceHooksBinding) -> register::ResourceHooksBinding {
    register::ResourceHooksBinding {
        before_create: binding.before_create,
        after_create: binding.after_create,
        before_update: binding.before_update,
        after_update: binding.after_update,
        before_delete: binding.before_delete,
        after_delete: binding.after_delete,
        on_error: binding.on_error,
    }
}
