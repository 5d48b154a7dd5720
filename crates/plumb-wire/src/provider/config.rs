//! Messages about the provider's own configuration (`protocol.md` 5.4).

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_proto::pulumirpc;
use plumb_resource::provider::{
    CheckConfigRequest, CheckResponse, ConfigureRequest, DiffRequest, ProviderError,
};
use plumb_resource::{ResourceId, UNKNOWN_SENTINEL};
use plumb_value::{PropertyMap, ReferenceId, Value};
use serde_json::Value as Json;

use super::response::{ANSWER, failures};
use crate::adjust::annotate_secrets;
use crate::property::{decode_optional_map, encode_map, encode_optional_map};
use crate::{Error, MarshalOptions};

/// Key of the engine in a provider's inputs; never sent to the provider.
const INTERNAL_KEY: &str = "__internal";

/// Secrets and references are reduced to plain values, because the features of the provider are not known yet.
const QUESTION: MarshalOptions = MarshalOptions::PLAIN.nil(true);

/// Encodes a CheckConfig request, without the engine's own key.
pub fn check_config_request(
    request: &CheckConfigRequest,
) -> Result<pulumirpc::CheckRequest, Error> {
    let options = QUESTION.unknowns(request.allow_unknowns);
    let olds = request.old_inputs.as_deref().map(without_internal);
    Ok(pulumirpc::CheckRequest {
        urn: request.urn.to_string(),
        olds: encode_optional_map(olds.as_ref(), options)?,
        news: Some(encode_map(&without_internal(&request.new_inputs), options)?),
        name: request.urn.name().to_owned(),
        r#type: request.urn.type_text().to_owned(),
        ..Default::default()
    })
}

/// Decodes the response of CheckConfig. Secrets of the request are secret again, and the engine's own key is restored.
pub fn check_config_response(
    response: &pulumirpc::CheckResponse,
    request: &CheckConfigRequest,
) -> Result<CheckResponse, ProviderError> {
    let options = ANSWER.unknowns_or_reject(request.allow_unknowns);
    let mut inputs = decode_optional_map(response.inputs.as_ref(), options)?;
    if let Some(inputs) = &mut inputs {
        annotate_secrets(inputs, &request.new_inputs);
        if let Some(internal) = request.new_inputs.get(INTERNAL_KEY) {
            inputs.insert(INTERNAL_KEY, internal.clone());
        }
    }
    Ok(CheckResponse {
        inputs: inputs.map(Arc::new),
        failures: failures(&response.failures),
        ignored_autonaming: false,
    })
}

/// Encodes a DiffConfig request: inputs without the engine's own key, old outputs unchanged.
///
/// [`diff_response`](super::diff_response) decodes the response.
pub fn diff_config_request(request: &DiffRequest) -> Result<pulumirpc::DiffRequest, Error> {
    let options = QUESTION.unknowns(true);
    Ok(pulumirpc::DiffRequest {
        urn: request.urn.to_string(),
        olds: Some(encode_map(&request.old_outputs, options)?),
        news: Some(encode_map(&without_internal(&request.new_inputs), options)?),
        ignore_changes: super::component::strings(&request.ignore_changes),
        old_inputs: Some(encode_map(&without_internal(&request.old_inputs), options)?),
        name: request.urn.name().to_owned(),
        r#type: request.urn.type_text().to_owned(),
        ..Default::default()
    })
}

/// Encodes a Configure request. The inputs must not contain unknowns.
#[allow(deprecated, reason = "older providers read `variables` only")]
pub fn configure_request(request: &ConfigureRequest) -> Result<pulumirpc::ConfigureRequest, Error> {
    let inputs = without_internal(&request.inputs);
    let options = MarshalOptions::RICH.nil(true);
    let type_token = request.urn.type_token();
    let package = type_token.provided_package().unwrap_or_default();
    let id = match &request.id {
        ResourceId::Unknown => UNKNOWN_SENTINEL,
        id => id.as_str(),
    };
    Ok(pulumirpc::ConfigureRequest {
        variables: variables(package, &inputs),
        args: Some(encode_map(&inputs, options)?),
        accept_secrets: true,
        accept_resources: true,
        sends_old_inputs: true,
        sends_old_inputs_to_delete: true,
        id: Some(id.to_owned()),
        urn: Some(request.urn.to_string()),
        name: Some(request.urn.name().to_owned()),
        r#type: Some(request.urn.type_text().to_owned()),
    })
}

/// The older form of the inputs: `<package>:config:<key>` to text, with JSON for all values other than strings.
fn variables(package: &str, inputs: &PropertyMap) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for (key, value) in inputs.iter().filter(|(key, _)| key.as_str() != "version") {
        let text = match value.without_secrets() {
            Value::String(text) => text.to_string(),
            other => escape_html(&to_json(&other).to_string()),
        };
        variables.insert(format!("{package}:config:{key}"), text);
    }
    variables
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(value) => number_to_json(*value),
        Value::String(text) => Json::String(text.to_string()),
        Value::Bytes(bytes) => Json::String(String::from_utf8_lossy(bytes).into_owned()),
        Value::Array(values) => values.iter().map(to_json).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.to_string(), to_json(value)))
            .collect(),
        Value::Asset(asset) => Json::String(asset.hash.to_string()),
        Value::Archive(archive) => Json::String(archive.hash.to_string()),
        Value::Secret(inner) => to_json(inner),
        Value::Computed(kind) => {
            Json::String(crate::property::signature::sentinel(*kind).to_owned())
        }
        Value::Output(output) => output.value.as_ref().map_or(Json::Null, to_json),
        Value::Resource(reference) => match &reference.id {
            ReferenceId::Known(id) => Json::String(id.to_string()),
            ReferenceId::None | ReferenceId::Unknown => Json::String(reference.urn.to_string()),
        },
    }
}

/// Whole numbers have no decimal point, because providers parse the text as an integer.
fn number_to_json(value: f64) -> Json {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        Json::from(value as i64)
    } else {
        Json::from(value)
    }
}

fn escape_html(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn without_internal(map: &PropertyMap) -> PropertyMap {
    let mut shown = map.clone();
    shown.remove(INTERNAL_KEY);
    shown
}
