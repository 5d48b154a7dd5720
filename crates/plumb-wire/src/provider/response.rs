//! Responses about resources.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_proto::pulumirpc::{self, diff_response, property_diff};
use plumb_resource::provider::{
    CheckFailure, CheckRequest, CheckResponse, CreateRequest, CreateResponse, DiffChanges,
    DiffKind, DiffResult, PropertyDiff, ProviderError, ReadRequest, ReadResponse, UpdateRequest,
    UpdateResponse,
};
use plumb_resource::{ResourceId, UNKNOWN_SENTINEL};
use plumb_value::PropertyMap;
use prost_types::Struct;

use crate::adjust::annotate_secrets;
use crate::assets::restore_contents;
use crate::property::{decode_map, decode_optional_map};
use crate::{Error, MarshalOptions, ProviderFeatures};

/// Common options of all responses: secrets, references and absent maps are kept.
pub(super) const ANSWER: MarshalOptions = MarshalOptions::PLAIN
    .secrets(true)
    .resources(true)
    .nil(true);

/// Decodes the response of Check.
pub fn check_response(
    response: &pulumirpc::CheckResponse,
    request: &CheckRequest,
    features: &ProviderFeatures,
) -> Result<CheckResponse, ProviderError> {
    let options = ANSWER.unknowns_or_reject(request.allow_unknowns);
    let mut inputs = decode_optional_map(response.inputs.as_ref(), options)?;
    if let Some(inputs) = inputs.as_mut().filter(|_| !features.accept_secrets) {
        annotate_secrets(inputs, &request.new_inputs);
    }
    Ok(CheckResponse {
        inputs: inputs.map(Arc::new),
        failures: failures(&response.failures),
        ignored_autonaming: request.autonaming.is_some() && !features.supports_autonaming,
    })
}

pub(super) fn failures(failures: &[pulumirpc::CheckFailure]) -> Vec<CheckFailure> {
    let convert = |failure: &pulumirpc::CheckFailure| CheckFailure {
        property: failure.property.as_str().into(),
        reason: failure.reason.as_str().into(),
    };
    failures.iter().map(convert).collect()
}

/// Decodes the response of Diff and DiffConfig. Unknown kinds of differences count as updates.
pub fn diff_response(response: &pulumirpc::DiffResponse) -> DiffResult {
    let changes = match diff_response::DiffChanges::try_from(response.changes) {
        Ok(diff_response::DiffChanges::DiffNone) => DiffChanges::None,
        Ok(diff_response::DiffChanges::DiffSome) => DiffChanges::Some,
        Ok(diff_response::DiffChanges::DiffUnknown) | Err(_) => DiffChanges::Unknown,
    };
    DiffResult {
        changes,
        replace_keys: response.replaces.iter().map(Into::into).collect(),
        stable_keys: response.stables.iter().map(Into::into).collect(),
        changed_keys: response.diffs.iter().map(Into::into).collect(),
        detailed_diff: response
            .has_detailed_diff
            .then(|| detailed_diff(&response.detailed_diff)),
        delete_before_replace: response.delete_before_replace,
    }
}

/// Decodes differences by path. Unknown kinds count as updates.
pub(super) fn detailed_diff(
    differences: &BTreeMap<String, pulumirpc::PropertyDiff>,
) -> BTreeMap<EcoString, PropertyDiff> {
    let read = |(path, difference): (&String, &pulumirpc::PropertyDiff)| {
        let difference = PropertyDiff {
            kind: diff_kind(difference.kind),
            input_diff: difference.input_diff,
        };
        (path.as_str().into(), difference)
    };
    differences.iter().map(read).collect()
}

fn diff_kind(kind: i32) -> DiffKind {
    match property_diff::Kind::try_from(kind) {
        Ok(property_diff::Kind::Add) => DiffKind::Add,
        Ok(property_diff::Kind::AddReplace) => DiffKind::AddReplace,
        Ok(property_diff::Kind::Delete) => DiffKind::Delete,
        Ok(property_diff::Kind::DeleteReplace) => DiffKind::DeleteReplace,
        Ok(property_diff::Kind::UpdateReplace) => DiffKind::UpdateReplace,
        Ok(property_diff::Kind::Update) | Err(_) => DiffKind::Update,
    }
}

/// Decodes the response of Create. Outside of previews an id is required.
pub fn create_response(
    response: &pulumirpc::CreateResponse,
    request: &CreateRequest,
    features: &ProviderFeatures,
) -> Result<CreateResponse, ProviderError> {
    let id = match response.id.as_str() {
        "" | UNKNOWN_SENTINEL if request.preview => ResourceId::Unknown,
        "" => {
            let message = format!(
                "plugin returned empty resource.ID from create '{}'",
                request.urn
            );
            return Err(ProviderError::unknown(message));
        }
        id => ResourceId::from_text(id),
    };
    let outputs = decode_changed(
        response.properties.as_ref(),
        &request.inputs,
        request.preview,
        *features,
    )
    .map_err(after_change)?;
    let outputs = outputs.unwrap_or_default();
    Ok(CreateResponse {
        id,
        outputs: Arc::new(outputs),
        refresh_before_update: response.refresh_before_update,
    })
}

/// Decodes the response of Update.
pub fn update_response(
    response: &pulumirpc::UpdateResponse,
    request: &UpdateRequest,
    features: &ProviderFeatures,
) -> Result<UpdateResponse, ProviderError> {
    let outputs = decode_changed(
        response.properties.as_ref(),
        &request.new_inputs,
        request.preview,
        *features,
    )
    .map_err(after_change)?;
    let outputs = outputs.unwrap_or_default();
    Ok(UpdateResponse {
        outputs: Arc::new(outputs),
        refresh_before_update: response.refresh_before_update,
    })
}

/// Decodes outputs of Create and Update. If the provider does not accept secrets, outputs of secret inputs become secret.
pub(super) fn decode_changed(
    outputs: Option<&Struct>,
    inputs: &PropertyMap,
    preview: bool,
    features: ProviderFeatures,
) -> Result<Option<PropertyMap>, Error> {
    let mut outputs = decode_optional_map(outputs, ANSWER.unknowns_or_reject(preview))?;
    if let Some(outputs) = outputs.as_mut().filter(|_| !features.accept_secrets) {
        annotate_secrets(outputs, inputs);
    }
    Ok(outputs)
}

/// Decodes the response of Read. An empty id means that the object no longer exists.
pub fn read_response(
    response: &pulumirpc::ReadResponse,
    request: &ReadRequest,
    features: &ProviderFeatures,
) -> Result<ReadResponse, ProviderError> {
    let id = ResourceId::from_text(&response.id);
    if id == ResourceId::None {
        return Ok(ReadResponse {
            id,
            inputs: None,
            outputs: None,
            refresh_before_update: false,
        });
    }
    let (inputs, outputs) = decode_read(
        response.inputs.as_ref(),
        response.properties.as_ref(),
        request,
        *features,
    )
    .map_err(after_change)?;
    Ok(ReadResponse {
        id,
        inputs: inputs.map(Arc::new),
        outputs: outputs.map(Arc::new),
        refresh_before_update: response.refresh_before_update,
    })
}

/// Decodes inputs and outputs of Read; secrets and contents of assets are restored from the request.
pub(super) fn decode_read(
    inputs: Option<&Struct>,
    outputs: Option<&Struct>,
    request: &ReadRequest,
    features: ProviderFeatures,
) -> Result<(Option<PropertyMap>, Option<PropertyMap>), Error> {
    let options = ANSWER.unknowns_or_reject(false);
    let mut inputs = decode_optional_map(inputs, options)?;
    let mut outputs = decode_optional_map(outputs, options)?;
    if !features.accept_secrets {
        if let (Some(inputs), Some(known)) = (&mut inputs, &request.inputs) {
            annotate_secrets(inputs, known);
        }
        if let Some(outputs) = &mut outputs {
            annotate_secrets(outputs, &request.outputs);
        }
    }
    if let Some(known) = &request.inputs {
        for answer in inputs.iter_mut().chain(&mut outputs) {
            restore_contents(answer, known);
        }
    }
    Ok((inputs, outputs))
}

/// Decodes a map; an absent one is empty.
pub(super) fn decode_result(
    map: Option<&Struct>,
    options: MarshalOptions,
) -> Result<Arc<PropertyMap>, Error> {
    decode_map(map, options).map(Arc::new)
}

/// Error of decoding the response to a call that changed or read the resource.
pub(super) fn after_change(error: Error) -> ProviderError {
    ProviderError::unknown(error.to_string())
}
