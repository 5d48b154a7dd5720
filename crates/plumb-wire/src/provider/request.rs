//! Requests about resources.

use plumb_proto::pulumirpc::{
    self, check_request::AutonamingOptions, check_request::autonaming_options::Mode,
};
use plumb_resource::provider::{
    Autonaming, CheckRequest, CreateRequest, DeleteRequest, DiffRequest, ReadRequest, UpdateRequest,
};

use super::view::{old_views, status_fields};
use crate::property::{encode_map, encode_optional_map};
use crate::{Error, ProviderFeatures};

/// Encodes a Check request. The rule for the resource's name is sent only to providers that support it.
pub fn check_request(
    request: &CheckRequest,
    features: &ProviderFeatures,
) -> Result<pulumirpc::CheckRequest, Error> {
    let options = features.request_options().unknowns(request.allow_unknowns);
    let autonaming = request
        .autonaming
        .as_ref()
        .filter(|_| features.supports_autonaming);
    Ok(pulumirpc::CheckRequest {
        urn: request.urn.to_string(),
        // Never absent, because providers written in Node.js rely on it.
        olds: encode_optional_map(request.old_inputs.as_deref(), options.nil(false))?,
        news: Some(encode_map(&request.new_inputs, options)?),
        random_seed: request.random_seed.to_vec(),
        name: request.urn.name().to_owned(),
        r#type: request.urn.type_text().to_owned(),
        autonaming: autonaming.map(autonaming_options),
        old_outputs: None,
    })
}

fn autonaming_options(autonaming: &Autonaming) -> AutonamingOptions {
    let (name, mode) = match autonaming {
        Autonaming::Propose(name) => (name.as_str(), Mode::Propose),
        Autonaming::Enforce(name) => (name.as_str(), Mode::Enforce),
        Autonaming::Disabled => ("", Mode::Disable),
    };
    AutonamingOptions {
        proposed_name: name.to_owned(),
        mode: mode as i32,
    }
}

/// Encodes a Diff request.
pub fn diff_request(
    request: &DiffRequest,
    features: &ProviderFeatures,
) -> Result<pulumirpc::DiffRequest, Error> {
    let options = features
        .request_options()
        .elided(true)
        .unknowns(request.allow_unknowns);
    Ok(pulumirpc::DiffRequest {
        id: request.id.as_str().to_owned(),
        urn: request.urn.to_string(),
        olds: Some(encode_map(&request.old_outputs, options)?),
        news: Some(encode_map(&request.new_inputs, options)?),
        ignore_changes: super::component::strings(&request.ignore_changes),
        old_inputs: Some(encode_map(&request.old_inputs, options)?),
        name: request.urn.name().to_owned(),
        r#type: request.urn.type_text().to_owned(),
    })
}

/// Encodes a Create request.
pub fn create_request(
    request: &CreateRequest,
    features: &ProviderFeatures,
) -> Result<pulumirpc::CreateRequest, Error> {
    let options = features.request_options().unknowns(request.preview);
    let (resource_status_address, resource_status_token) = status_fields(request.status.as_ref());
    Ok(pulumirpc::CreateRequest {
        urn: request.urn.to_string(),
        properties: Some(encode_map(&request.inputs, options)?),
        timeout: request.timeout,
        preview: request.preview,
        name: request.urn.name().to_owned(),
        r#type: request.urn.type_text().to_owned(),
        resource_status_address,
        resource_status_token,
    })
}

/// Encodes a Read request.
pub fn read_request(
    request: &ReadRequest,
    features: &ProviderFeatures,
) -> Result<pulumirpc::ReadRequest, Error> {
    let options = features.request_options().elided(true);
    let (resource_status_address, resource_status_token) = status_fields(request.status.as_ref());
    Ok(pulumirpc::ReadRequest {
        id: request.id.as_str().to_owned(),
        urn: request.urn.to_string(),
        // Without state, the id is the only known property.
        properties: match (&request.inputs, request.outputs.is_empty()) {
            (None, true) => None,
            _ => Some(encode_map(&request.outputs, options)?),
        },
        inputs: encode_optional_map(request.inputs.as_deref(), options)?,
        name: request.urn.name().to_owned(),
        r#type: request.urn.type_text().to_owned(),
        timeout: request.timeout,
        resource_status_address,
        resource_status_token,
        old_views: old_views(&request.old_views, options)?,
    })
}

/// Encodes an Update request.
pub fn update_request(
    request: &UpdateRequest,
    features: &ProviderFeatures,
) -> Result<pulumirpc::UpdateRequest, Error> {
    let options = features.request_options();
    let old_options = options.elided(true);
    let (resource_status_address, resource_status_token) = status_fields(request.status.as_ref());
    Ok(pulumirpc::UpdateRequest {
        id: request.id.as_str().to_owned(),
        urn: request.urn.to_string(),
        olds: Some(encode_map(&request.old_outputs, old_options)?),
        news: Some(encode_map(
            &request.new_inputs,
            options.unknowns(request.preview),
        )?),
        timeout: request.timeout,
        ignore_changes: super::component::strings(&request.ignore_changes),
        preview: request.preview,
        old_inputs: Some(encode_map(&request.old_inputs, old_options)?),
        name: request.urn.name().to_owned(),
        r#type: request.urn.type_text().to_owned(),
        resource_status_address,
        resource_status_token,
        old_views: old_views(&request.old_views, old_options)?,
    })
}

/// Encodes a Delete request.
pub fn delete_request(
    request: &DeleteRequest,
    features: &ProviderFeatures,
) -> Result<pulumirpc::DeleteRequest, Error> {
    let options = features.request_options().elided(true);
    let (resource_status_address, resource_status_token) = status_fields(request.status.as_ref());
    Ok(pulumirpc::DeleteRequest {
        id: request.id.as_str().to_owned(),
        urn: request.urn.to_string(),
        properties: Some(encode_map(&request.outputs, options)?),
        timeout: request.timeout,
        old_inputs: Some(encode_map(&request.inputs, options)?),
        name: request.urn.name().to_owned(),
        r#type: request.urn.type_text().to_owned(),
        resource_status_address,
        resource_status_token,
        old_views: old_views(&request.old_views, options)?,
    })
}
