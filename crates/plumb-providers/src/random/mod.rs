//! The package `random`: random values that are generated once and kept in state.
//!
//! Inputs, outputs, defaults, ids, secrets, reasons for replacement and import ids are those of version 4.21 of the
//! plugin `random`. Not written: `__pulumi_raw_state_delta`, an internal record that the plugin recreates if it is
//! missing. Such keys in old state are accepted, and Read returns them. `__meta` is written, because the plugin
//! interprets state without it as that of an old version.

mod diff;
mod generate;
mod import;
mod pet;
mod plan;
mod seeded;
mod spec;
mod text;

use std::sync::Arc;

use async_trait::async_trait;
use plumb_plugin::Provider;
use plumb_resource::provider::{
    CheckFailure, CheckRequest, CheckResponse, CreateRequest, CreateResponse, DeleteRequest,
    DiffRequest, DiffResult, InvokeRequest, InvokeResponse, ProviderError, ReadRequest,
    ReadResponse, UpdateRequest, UpdateResponse,
};
use plumb_resource::{ResourceId, Urn};
use plumb_value::{PropertyMap, Value};

use self::spec::Spec;
use crate::adapter::{Adapter, Package, require_known};
use crate::{Builtin, BuiltinContext};

/// Internal record of the real plugin's bridge, outdated after a change.
const RAW_STATE_DELTA: &str = "__pulumi_raw_state_delta";

struct Random;

pub(crate) fn start(builtin: &Builtin, _: &BuiltinContext) -> Arc<dyn Provider> {
    Adapter::start(builtin, Random)
}

#[async_trait]
impl Package for Random {
    /// Returns the inputs unchanged; defaults appear only in the outputs.
    async fn check(&self, request: CheckRequest) -> Result<CheckResponse, ProviderError> {
        let spec = spec_of(&request.urn)?;
        let failures = plan::plan(spec, &request.new_inputs)
            .err()
            .unwrap_or_default();
        Ok(CheckResponse {
            inputs: Some(request.new_inputs),
            failures,
            ignored_autonaming: false,
        })
    }

    async fn diff(&self, request: DiffRequest) -> Result<DiffResult, ProviderError> {
        let spec = spec_of(&request.urn)?;
        let planned = planned(spec, &request.new_inputs)?;
        Ok(diff::diff(
            spec,
            &request.old_outputs,
            &planned,
            &request.ignore_changes,
        ))
    }

    async fn create(&self, request: CreateRequest) -> Result<CreateResponse, ProviderError> {
        let spec = spec_of(&request.urn)?;
        let planned = planned(spec, &request.inputs)?;
        let (id, made) = if request.preview {
            (ResourceId::Unknown, unknown_outputs(spec))
        } else {
            require_known(&planned)?;
            let made = generate(spec, planned.clone()).await?;
            (ResourceId::Known(made.id), made.outputs)
        };
        let mut outputs = planned;
        outputs.extend(made);
        Ok(CreateResponse {
            id,
            outputs: Arc::new(outputs),
            refresh_before_update: false,
        })
    }

    /// Returns the state unchanged, because nothing outside can change. Without state, the id is an import id.
    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, ProviderError> {
        let spec = spec_of(&request.urn)?;
        let is_told = |map: &PropertyMap| !map.is_empty();
        if !is_told(&request.outputs) && !request.inputs.as_deref().is_some_and(is_told) {
            // An import, or a program that reads with only an id.
            return import::import(spec, request.id.as_str());
        }
        let outputs = mark_secrets(spec, &request.outputs);
        let inputs = request
            .inputs
            .unwrap_or_else(|| Arc::new(spec.inputs_in(&outputs)));
        Ok(ReadResponse {
            id: request.id,
            inputs: Some(inputs),
            outputs: Some(Arc::new(outputs)),
            refresh_before_update: false,
        })
    }

    /// Updates inputs that do not affect the value; all others require a replacement.
    async fn update(&self, request: UpdateRequest) -> Result<UpdateResponse, ProviderError> {
        let spec = spec_of(&request.urn)?;
        let planned = planned(spec, &request.new_inputs)?;
        let mut outputs = mark_secrets(spec, &request.old_outputs);
        outputs.remove(RAW_STATE_DELTA);
        outputs.retain(|key, _| spec.input(key.as_str()).is_none());
        outputs.extend(planned);
        Ok(UpdateResponse {
            outputs: Arc::new(outputs),
            refresh_before_update: false,
        })
    }

    async fn delete(&self, request: DeleteRequest) -> Result<(), ProviderError> {
        spec_of(&request.urn).map(|_| ())
    }

    fn has_secret_outputs(&self, type_token: &str) -> bool {
        spec::find(type_token).is_some_and(|spec| spec.computed.iter().any(|output| output.secret))
    }

    async fn invoke(&self, request: InvokeRequest) -> Result<InvokeResponse, ProviderError> {
        Err(ProviderError::clean(format!(
            "unrecognized function name: {}",
            request.token
        )))
    }
}

fn spec_of(urn: &Urn) -> Result<&'static Spec, ProviderError> {
    let token = urn.type_text();
    spec::find(token)
        .ok_or_else(|| ProviderError::clean(format!("unrecognized resource type: {token}")))
}

/// Planned inputs, for inputs that Check has already accepted.
fn planned(spec: &'static Spec, inputs: &PropertyMap) -> Result<PropertyMap, ProviderError> {
    plan::plan(spec, inputs).map_err(|failures| failed(&failures))
}

fn failed(failures: &[CheckFailure]) -> ProviderError {
    let reasons: Vec<&str> = failures
        .iter()
        .map(|failure| failure.reason.as_str())
        .collect();
    ProviderError::clean(reasons.join("; "))
}

/// Generates the value on a blocking thread, because hashing a password takes long.
async fn generate(
    spec: &'static Spec,
    plan: PropertyMap,
) -> Result<generate::Generated, ProviderError> {
    if spec.kind != spec::Resource::Password {
        return generate::generate(spec, &plan);
    }
    tokio::task::spawn_blocking(move || generate::generate(spec, &plan))
        .await
        .unwrap_or_else(|error| {
            Err(ProviderError::clean(format!(
                "the password could not be made: {error}"
            )))
        })
}

/// Outputs of a preview. `__meta` is part of real state only.
fn unknown_outputs(spec: &Spec) -> PropertyMap {
    let id = spec.id_output.then_some("id");
    spec.computed
        .iter()
        .map(|output| output.name)
        .chain(id)
        .map(|name| (name.into(), Value::UNKNOWN))
        .collect()
}

/// Restores secret marks, which state may have lost.
fn mark_secrets(spec: &Spec, outputs: &PropertyMap) -> PropertyMap {
    let mut marked = outputs.clone();
    for output in spec.computed.iter().filter(|output| output.secret) {
        if let Some(value) = marked.get_mut(output.name)
            && !value.is_secret()
        {
            *value = Value::secret(value.clone());
        }
    }
    marked
}
