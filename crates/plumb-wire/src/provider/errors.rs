//! Errors of provider calls (`protocol.md` 6).

use std::fmt::Write as _;
use std::sync::Arc;

use plumb_proto::pulumirpc::{
    ConfigureErrorMissingKeys, ErrorCause, ErrorResourceAwaitFailed, ErrorResourceInitFailed,
    InputPropertiesError,
};
use plumb_proto::status::detail;
use plumb_proto::tonic::{Code, Status};
use plumb_resource::ResourceId;
use plumb_resource::provider::{
    CheckFailure, CreateRequest, PartialFailure, ProviderError, ReadRequest, ResourceStatus,
    UpdateRequest,
};
use plumb_value::{PropertyMap, ReferenceId, Value};

use super::response::{decode_changed, decode_read};
use crate::{Error, ProviderFeatures};

/// Error of encoding or decoding before the provider could change anything.
impl From<Error> for ProviderError {
    fn from(error: Error) -> Self {
        ProviderError::clean(error.to_string())
    }
}

/// Error of a call that changes nothing: Check, Diff, Invoke and so on.
pub fn call_error(status: &Status) -> ProviderError {
    ProviderError::clean(message(status))
}

/// Error of Configure. Missing keys are listed with instructions, in the usual form of an error list.
pub fn configure_error(status: &Status) -> ProviderError {
    let Some(missing) =
        detail::<ConfigureErrorMissingKeys>(status).filter(|d| !d.missing_keys.is_empty())
    else {
        return call_error(status);
    };
    let lines = missing.missing_keys.iter().map(|key| {
        format!(
            "missing required configuration key \"{0}\": {1}\n\
             Set a value using the command `pulumi config set {0} <value>`.",
            key.name, key.description
        )
    });
    ProviderError::clean(error_list(&lines.collect::<Vec<_>>()))
}

/// Error of Construct or Call; `inputs` are those of the request, so that values can be shown with the problems.
pub fn construct_error(status: &Status, inputs: &PropertyMap) -> ProviderError {
    let problems = detail::<InputPropertiesError>(status)
        .map(|detail| detail.errors)
        .unwrap_or_default();
    let mut error = if problems.is_empty() {
        ProviderError::clean(message(status))
    } else {
        ProviderError::clean(own_message(status).unwrap_or_default())
    };
    let mut text = error.message.to_string();
    for problem in problems {
        let _ = write!(text, "\n\t\t- property {}", problem.property_path);
        if let Some(value) = find(inputs, &problem.property_path) {
            let _ = write!(text, " with value '{}'", show(value));
        }
        let _ = write!(text, " has a problem: {}", problem.reason);
        error.properties.push(CheckFailure {
            property: problem.property_path.into(),
            reason: problem.reason.into(),
        });
    }
    error.message = text.into();
    error
}

/// Error of Create.
pub fn create_error(
    status: &Status,
    request: &CreateRequest,
    features: &ProviderFeatures,
) -> ProviderError {
    let Some(failed) = detail::<ErrorResourceInitFailed>(status) else {
        return operation_error(status);
    };
    let outputs = decode_changed(
        failed.properties.as_ref(),
        &request.inputs,
        request.preview,
        *features,
    );
    let inputs = decode_changed(
        failed.inputs.as_ref(),
        &request.inputs,
        request.preview,
        *features,
    );
    partial_failure(failed, outputs.and_then(|outputs| Ok((inputs?, outputs))))
}

/// Error of Update.
pub fn update_error(
    status: &Status,
    request: &UpdateRequest,
    features: &ProviderFeatures,
) -> ProviderError {
    let Some(failed) = detail::<ErrorResourceInitFailed>(status) else {
        return operation_error(status);
    };
    let outputs = decode_changed(
        failed.properties.as_ref(),
        &request.new_inputs,
        request.preview,
        *features,
    );
    let inputs = decode_changed(
        failed.inputs.as_ref(),
        &request.new_inputs,
        request.preview,
        *features,
    );
    partial_failure(failed, outputs.and_then(|outputs| Ok((inputs?, outputs))))
}

/// Error of Read.
pub fn read_error(
    status: &Status,
    request: &ReadRequest,
    features: &ProviderFeatures,
) -> ProviderError {
    let Some(failed) = detail::<ErrorResourceInitFailed>(status) else {
        return operation_error(status);
    };
    let decoded = decode_read(
        failed.inputs.as_ref(),
        failed.properties.as_ref(),
        request,
        *features,
    );
    partial_failure(failed, decoded)
}

/// Error of Delete.
pub fn delete_error(status: &Status) -> ProviderError {
    operation_error(status)
}

/// Whether the provider stopped waiting for the resource: Create records no state, Update keeps the prior one.
pub fn is_await_failure(status: &Status) -> bool {
    detail::<ErrorResourceAwaitFailed>(status).is_some()
}

/// Message for a resource that exists but did not become ready.
pub fn init_error_message<T: AsRef<str>>(reasons: &[T]) -> String {
    if reasons.is_empty() {
        return "resource init failed".to_owned();
    }
    error_list(reasons)
}

/// Message for several errors.
fn error_list<T: AsRef<str>>(errors: &[T]) -> String {
    let mut text = match errors.len() {
        1 => "1 error occurred:".to_owned(),
        count => format!("{count} errors occurred:"),
    };
    for error in errors {
        let _ = write!(text, "\n\t* {}", error.as_ref());
    }
    text
}

/// Error of an operation. The code of the status determines whether the resource may have changed.
fn operation_error(status: &Status) -> ProviderError {
    let applied = matches!(
        status.code(),
        Code::Internal | Code::DataLoss | Code::Unknown
    );
    let message = message(status);
    if applied && !is_await_failure(status) {
        ProviderError::unknown(message)
    } else {
        ProviderError::clean(message)
    }
}

/// Partial failure with the `decoded` inputs and outputs. If they cannot be decoded, the state of the resource is unknown.
fn partial_failure(
    failed: ErrorResourceInitFailed,
    decoded: Result<(Option<PropertyMap>, Option<PropertyMap>), Error>,
) -> ProviderError {
    let (inputs, outputs) = match decoded {
        Ok(decoded) => decoded,
        Err(error) => return ProviderError::unknown(error.to_string()),
    };
    let message = init_error_message(&failed.reasons);
    let failure = PartialFailure {
        id: ResourceId::from_text(&failed.id),
        outputs: outputs.map(Arc::new),
        inputs: inputs.map(Arc::new),
        reasons: failed.reasons.into_iter().map(Into::into).collect(),
        refresh_before_update: failed.refresh_before_update,
    };
    ProviderError {
        message: message.into(),
        status: ResourceStatus::Partial(Box::new(failure)),
        properties: Vec::new(),
    }
}

/// Message and cause of a status. If the provider has sent neither, the description of the status code.
fn message(status: &Status) -> String {
    own_message(status).unwrap_or_else(|| status.code().description().to_owned())
}

/// Message and cause that the provider has sent; `None` if it has sent neither.
fn own_message(status: &Status) -> Option<String> {
    let cause = detail::<ErrorCause>(status).map(|cause| cause.message);
    let parts = [Some(status.message()), cause.as_deref()];
    let parts: Vec<&str> = parts
        .into_iter()
        .flatten()
        .filter(|it| !it.is_empty())
        .collect();
    (!parts.is_empty()).then(|| parts.join(": "))
}

/// The value at a path such as `a.b[0]["c"]`.
fn find<'a>(inputs: &'a PropertyMap, path: &str) -> Option<&'a Value> {
    let mut steps = split_path(path)?.into_iter();
    let mut value = inputs.get(&steps.next()?)?;
    for step in steps {
        value = match unwrapped(value) {
            Value::Object(map) => map.get(&step)?,
            Value::Array(values) => values.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// The value inside outputs. Secrets are not opened.
fn unwrapped(value: &Value) -> &Value {
    match value {
        Value::Output(output) if !output.secret => output.value.as_ref().map_or(value, unwrapped),
        other => other,
    }
}

fn split_path(path: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let (step, after) = quoted.split_once("\"]")?;
            steps.push(step.to_owned());
            rest = after;
        } else if let Some(index) = rest.strip_prefix('[') {
            let (step, after) = index.split_once(']')?;
            steps.push(step.to_owned());
            rest = after;
        } else {
            let named = rest.strip_prefix('.').unwrap_or(rest);
            let end = named.find(['.', '[']).unwrap_or(named.len());
            if end == 0 {
                return None;
            }
            steps.push(named[..end].to_owned());
            rest = &named[end..];
        }
    }
    Some(steps)
}

/// A value for a message, with placeholders for secrets, assets, archives and bytes.
///
/// upstream: values are in braces, as Go prints them: `{text}`, `{[{1} {2}]}`, `{map[key:{true}]}`.
fn show(value: &Value) -> String {
    match unwrapped(value) {
        Value::Null => "{<nil>}".to_owned(),
        Value::Bool(value) => format!("{{{value}}}"),
        Value::Number(value) => format!("{{{value}}}"),
        Value::String(text) => format!("{{{text}}}"),
        Value::Bytes(_) => "[bytes]".to_owned(),
        Value::Array(values) => format!(
            "{{[{}]}}",
            values.iter().map(show).collect::<Vec<_>>().join(" ")
        ),
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| format!("{key}:{}", show(value)));
            format!("{{map[{}]}}", entries.collect::<Vec<_>>().join(" "))
        }
        Value::Asset(_) => "[asset]".to_owned(),
        Value::Archive(_) => "[archive]".to_owned(),
        Value::Secret(_) => "[secret]".to_owned(),
        Value::Output(output) if output.secret => "[secret]".to_owned(),
        Value::Output(_) | Value::Computed(_) => "[unknown]".to_owned(),
        Value::Resource(reference) => match &reference.id {
            ReferenceId::Known(id) => id.to_string(),
            ReferenceId::None | ReferenceId::Unknown => reference.urn.to_string(),
        },
    }
}
