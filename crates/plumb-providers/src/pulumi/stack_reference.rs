//! References to other stacks.

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{CheckFailure, ProviderError, ReadRequest, ReadResponse};
use plumb_resource::{DiffChanges, DiffResult, Urn};
use plumb_value::{PropertyMap, Value};

use super::check_only;
use super::reader::{StackReadError, StackReader};
use crate::adapter::with_causes;
use crate::{LogRecord, LogSeverity, LogSink};

const DEPRECATED: &str = "The \"pulumi:pulumi:StackReference\" resource type is deprecated. Update your SDK: stack \
                          references are read, not registered";

/// Implementation of stack references.
pub(super) struct StackReferences {
    pub(super) stacks: Option<Arc<dyn StackReader>>,
    pub(super) log: Arc<dyn LogSink>,
}

/// Checks that the only input is `name`, a string.
pub(super) fn check(inputs: &PropertyMap) -> Vec<CheckFailure> {
    let mut failures = check_only(inputs, "name");
    if let Some(name) = inputs.get("name").map(Value::without_secrets)
        && !matches!(name, Value::String(_) | Value::Computed(_))
    {
        failures.push(CheckFailure {
            property: "name".into(),
            reason: "property \"name\" must be a string".into(),
        });
    }
    failures
}

/// Diff of the inputs; another name requires a replacement.
pub(super) fn diff(old: &PropertyMap, new: &PropertyMap) -> DiffResult {
    let name = |inputs: &PropertyMap| inputs.get("name").map(Value::without_secrets);
    if name(old) == name(new) {
        return DiffResult::of(DiffChanges::None);
    }
    DiffResult {
        replace_keys: vec!["name".into()],
        ..DiffResult::of(DiffChanges::Some)
    }
}

impl StackReferences {
    pub(super) fn warn_deprecated(&self, urn: &Urn) {
        let severity = LogSeverity::Warning;
        self.log.log(LogRecord {
            severity,
            urn: Some(urn),
            message: DEPRECATED,
            ephemeral: false,
        });
    }

    /// Outputs of the stack in `inputs`; unknown outputs for an unknown name.
    pub(super) async fn outputs(
        &self,
        urn: Option<&Urn>,
        inputs: &PropertyMap,
    ) -> Result<PropertyMap, ProviderError> {
        let given = inputs.get("name").cloned().unwrap_or(Value::Null);
        let Some(name) = name_in(inputs, "name")? else {
            let unknown = PropertyMap::new().with("outputs", Value::UNKNOWN);
            return Ok(unknown
                .with("name", given)
                .with("secretOutputNames", Value::UNKNOWN));
        };
        let read = self.stacks()?.stack_outputs(&name).await.map_err(failed)?;
        if !read.undecryptable.is_empty() {
            let names = read.undecryptable.join(", ");
            let message = format!(
                "secret outputs of stack `{name}` that cannot be decrypted are left out: {names}"
            );
            self.log.log(LogRecord {
                severity: LogSeverity::Info,
                urn,
                message: &message,
                ephemeral: false,
            });
        }
        let secret = read
            .outputs
            .iter()
            .filter(|(_, value)| value.contains_secrets());
        let secret_names = Value::array(secret.map(|(key, _)| Value::String(key.to_text())));
        let outputs = PropertyMap::new()
            .with("name", given)
            .with("outputs", read.outputs);
        Ok(outputs.with("secretOutputNames", secret_names))
    }

    /// Resources of the stack in `args`.
    pub(super) async fn resource_outputs(
        &self,
        args: &PropertyMap,
    ) -> Result<PropertyMap, ProviderError> {
        let given = args.get("stackName").cloned().unwrap_or(Value::Null);
        let Some(name) = name_in(args, "stackName")? else {
            return Ok(PropertyMap::new()
                .with("name", given)
                .with("outputs", Value::UNKNOWN));
        };
        let read = self
            .stacks()?
            .stack_resource_outputs(&name)
            .await
            .map_err(failed)?;
        let describe = |resource: super::ResourceOutputs| {
            Value::from(
                PropertyMap::new()
                    .with("type", resource.type_token)
                    .with("outputs", resource.outputs),
            )
        };
        let outputs: PropertyMap = read
            .into_iter()
            .map(|(urn, resource)| (urn.into(), describe(resource)))
            .collect();
        Ok(PropertyMap::new()
            .with("name", given)
            .with("outputs", outputs))
    }

    /// Reads a stack reference again. Import is an error, because an import has only an id and no name.
    pub(super) async fn read(&self, request: ReadRequest) -> Result<ReadResponse, ProviderError> {
        if request.inputs.is_none() && request.outputs.is_empty() {
            return Err(ProviderError::clean("stack reference can not be imported"));
        }
        let asked = request
            .inputs
            .clone()
            .unwrap_or_else(|| Arc::clone(&request.outputs));
        let failures = check(&asked);
        if let Some(failure) = failures.first() {
            return Err(ProviderError::clean(failure.reason.clone()));
        }
        let outputs = self.outputs(Some(&request.urn), &asked).await?;
        Ok(ReadResponse {
            id: request.id,
            inputs: Some(asked),
            outputs: Some(Arc::new(outputs)),
            refresh_before_update: false,
        })
    }

    fn stacks(&self) -> Result<&dyn StackReader, ProviderError> {
        self.stacks
            .as_deref()
            .ok_or_else(|| ProviderError::clean("no backend client is available"))
    }
}

/// Name in the property `key`; `None` if it is unknown.
fn name_in(properties: &PropertyMap, key: &str) -> Result<Option<EcoString>, ProviderError> {
    match properties.get(key).map(Value::without_secrets) {
        Some(Value::String(name)) => Ok(Some(name)),
        Some(Value::Computed(_)) => Ok(None),
        Some(_) => Err(ProviderError::clean(format!(
            "property \"{key}\" must be a string"
        ))),
        None => Err(ProviderError::clean(format!(
            "missing required property \"{key}\""
        ))),
    }
}

/// Error of a failed read. upstream: errors outside of the provider leave the resource in an uncertain state, for
/// reads too (`stack-reference` in the recorded cases).
fn failed(error: StackReadError) -> ProviderError {
    ProviderError::unknown(with_causes(&error))
}
