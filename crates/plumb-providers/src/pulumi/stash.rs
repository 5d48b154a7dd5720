//! Stashes, which keep the first value that they get (STASH-02).

use plumb_resource::provider::{CheckFailure, ProviderError, ReadRequest, ReadResponse};
use plumb_resource::{DiffChanges, DiffResult};
use plumb_value::{PropertyMap, Value};

use super::check_only;

/// Checks that the only input is `input`.
pub(super) fn check(inputs: &PropertyMap) -> Vec<CheckFailure> {
    check_only(inputs, "input")
}

pub(super) fn diff(old: &PropertyMap, new: &PropertyMap) -> DiffResult {
    if old.get("input") == new.get("input") {
        return DiffResult::of(DiffChanges::None);
    }
    DiffResult {
        changed_keys: vec!["input".into()],
        ..DiffResult::of(DiffChanges::Some)
    }
}

/// Outputs of a new stash: the output is a copy of the input.
pub(super) fn created(inputs: &PropertyMap) -> PropertyMap {
    let input = input_of(inputs);
    PropertyMap::new()
        .with("input", input.clone())
        .with("output", input)
}

/// Outputs after an update: the input changes, the output does not.
pub(super) fn updated(old_outputs: &PropertyMap, inputs: &PropertyMap) -> PropertyMap {
    let output = old_outputs.get("output").cloned().unwrap_or(Value::Null);
    PropertyMap::new()
        .with("input", input_of(inputs))
        .with("output", output)
}

/// Returns the state. Import is an error, because there is no object outside of the state
/// (STASH-01).
pub(super) fn read(request: ReadRequest) -> Result<ReadResponse, ProviderError> {
    if request.inputs.is_none() {
        return Err(ProviderError::clean("stash can not be imported"));
    }
    Ok(ReadResponse {
        id: request.id,
        inputs: request.inputs,
        outputs: Some(request.outputs),
        refresh_before_update: false,
    })
}

fn input_of(inputs: &PropertyMap) -> Value {
    inputs
        .get("input")
        .map_or(Value::Null, Value::without_outputs)
}
