//! Remote components and their methods.

use std::collections::BTreeMap;

use ecow::{EcoString, EcoVec};
use plumb_proto::pulumirpc::{self, call_request::ArgumentDependencies, construct_request};
use plumb_resource::provider::{
    CallRequest, ConstructRequest, ConstructResponse, InvokeResponse, ProviderError,
};
use plumb_resource::{InvalidUrn, PropertyDependencies, Urn};
use plumb_value::{PropertyKey, PropertyMap, Value};

use super::response::{ANSWER, decode_result, failures};
use crate::property::{encode_map, encode_value};
use crate::registration::{
    alias_to_wire, construct_hooks, construct_timeouts, output_dependencies,
};
use crate::urns::optional_urn;
use crate::{Error, MarshalOptions, ProviderFeatures};

/// Encodes a Construct request. `dry_run` is true in previews.
///
/// The caller adds the settings of the deployment; see the [module documentation](super).
pub fn construct_request(
    request: &ConstructRequest,
    features: &ProviderFeatures,
    dry_run: bool,
) -> Result<pulumirpc::ConstructRequest, ProviderError> {
    if !features.accept_secrets {
        return Err(ProviderError::clean(
            "plugins that can construct components must support secrets",
        ));
    }
    let goal = &request.goal;
    let inputs = encode_map(&request.inputs, component_options(*features))?;
    let trigger = match &goal.replacement_trigger {
        Value::Null => None,
        trigger => encode_value(
            "replacementTrigger",
            trigger,
            MarshalOptions::PLAIN
                .unknowns(dry_run)
                .secrets(true)
                .resources(true)
                .outputs(true),
        )?,
    };
    let dependencies = |urns: &[Urn]| construct_request::PropertyDependencies {
        urns: urns.iter().map(Urn::to_string).collect(),
    };
    Ok(pulumirpc::ConstructRequest {
        dry_run,
        r#type: goal.type_token.as_str().to_owned(),
        name: goal.name.to_string(),
        parent: optional_urn(goal.parent.as_ref()),
        inputs: Some(inputs),
        input_dependencies: map_dependencies(&goal.property_dependencies, dependencies),
        providers: request
            .providers
            .iter()
            .map(|(package, provider)| (package.into(), provider.into()))
            .collect(),
        dependencies: goal.dependencies.iter().map(Urn::to_string).collect(),
        protect: goal.protect,
        additional_secret_outputs: goal
            .additional_secret_outputs
            .iter()
            .map(PropertyKey::to_string)
            .collect(),
        custom_timeouts: goal.custom_timeouts.map(construct_timeouts),
        deleted_with: optional_urn(goal.deleted_with.as_ref()),
        delete_before_replace: goal.delete_before_replace,
        ignore_changes: strings(&goal.ignore_changes),
        replace_on_changes: strings(&goal.replace_on_changes),
        retain_on_delete: goal.retain_on_delete,
        accepts_output_values: true,
        resource_hooks: construct_hooks(&goal.hooks),
        replace_with: goal.replace_with.iter().map(Urn::to_string).collect(),
        aliases: goal.aliases.iter().map(alias_to_wire).collect(),
        replacement_trigger: trigger,
        ..Default::default()
    })
}

/// Decodes the response of Construct. Dependencies include those of output values in the state.
pub fn construct_response(
    response: &pulumirpc::ConstructResponse,
    dry_run: bool,
) -> Result<ConstructResponse, ProviderError> {
    let outputs = decode_result(
        response.state.as_ref(),
        ANSWER.unknowns(dry_run).outputs(true),
    )?;
    let declared = response
        .state_dependencies
        .iter()
        .map(|(key, dependencies)| (key, &dependencies.urns));
    let dependencies = read_dependencies(declared, &outputs)?;
    let urn = parse_urn(&response.urn)?;
    Ok(ConstructResponse {
        urn,
        outputs,
        dependencies,
    })
}

/// Encodes a Call request.
///
/// The caller adds the settings of the deployment; see the [module documentation](super).
pub fn call_request(
    request: &CallRequest,
    features: &ProviderFeatures,
    dry_run: bool,
) -> Result<pulumirpc::CallRequest, Error> {
    let options = component_options(*features)
        .upgraded(false)
        .secrets(true)
        .resources(true);
    let dependencies = |urns: &[Urn]| ArgumentDependencies {
        urns: urns.iter().map(Urn::to_string).collect(),
    };
    Ok(pulumirpc::CallRequest {
        tok: request.token.as_str().to_owned(),
        args: Some(encode_map(&without_bare_outputs(&request.args), options)?),
        arg_dependencies: map_dependencies(&request.dependencies, dependencies),
        dry_run,
        accepts_output_values: true,
        ..Default::default()
    })
}

/// Arguments of a method, with outputs that have no dependencies as plain, secret or unknown values. Methods take outputs
/// only because of their dependencies (COMP-04).
fn without_bare_outputs(args: &PropertyMap) -> PropertyMap {
    args.map_values(&mut |value| match &value {
        Value::Output(output) if output.dependencies.is_empty() => value.without_outputs(),
        _ => value,
    })
}

/// Decodes the response of Call. Dependencies include those of output values in the result.
pub fn call_response(
    response: &pulumirpc::CallResponse,
    dry_run: bool,
) -> Result<InvokeResponse, ProviderError> {
    let result = decode_result(
        response.r#return.as_ref(),
        ANSWER.unknowns(dry_run).outputs(true),
    )?;
    let declared = response
        .return_dependencies
        .iter()
        .map(|(key, dependencies)| (key, &dependencies.urns));
    let dependencies = read_dependencies(declared, &result)?;
    Ok(InvokeResponse {
        result,
        failures: failures(&response.failures),
        dependencies,
    })
}

fn component_options(features: ProviderFeatures) -> MarshalOptions {
    features
        .request_options()
        .unknowns(true)
        .outputs(features.accept_outputs)
}

fn read_dependencies<'a>(
    declared: impl Iterator<Item = (&'a String, &'a Vec<String>)>,
    values: &PropertyMap,
) -> Result<PropertyDependencies, ProviderError> {
    let mut dependencies = PropertyDependencies::new();
    for (key, urns) in declared {
        let urns = urns
            .iter()
            .map(|urn| parse_urn(urn))
            .collect::<Result<Vec<_>, _>>()?;
        dependencies.insert(PropertyKey::from(key.as_str()), urns.into());
    }
    for (key, value) in values {
        let carried = output_dependencies(value).map_err(invalid_urn)?;
        if !carried.is_empty() {
            merge(dependencies.get_or_default(key.clone()), carried);
        }
    }
    Ok(dependencies)
}

fn merge(known: &mut EcoVec<Urn>, more: Vec<Urn>) {
    for urn in more {
        if !known.contains(&urn) {
            known.push(urn);
        }
    }
}

fn map_dependencies<T>(
    dependencies: &PropertyDependencies,
    convert: impl Fn(&[Urn]) -> T,
) -> BTreeMap<String, T> {
    dependencies
        .iter()
        .map(|(key, urns)| (key.to_string(), convert(urns)))
        .collect()
}

fn parse_urn(text: &str) -> Result<Urn, ProviderError> {
    Urn::parse(text).map_err(invalid_urn)
}

fn invalid_urn(error: InvalidUrn) -> ProviderError {
    ProviderError::clean(error.to_string())
}

pub(super) fn strings(texts: &[EcoString]) -> Vec<String> {
    texts.iter().map(EcoString::to_string).collect()
}
