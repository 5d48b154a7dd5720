//! Values, and failed checks of them, as the messages of the reference show them.

use plumb_resource::provider::CheckFailure;
use plumb_resource::{TypeToken, Urn};
use plumb_value::path::PropertyPath;
use plumb_value::{PropertyMap, UnknownKind, Value};

/// The message about a failed check of `inputs`.
pub(crate) fn check_failure(
    urn: &Urn,
    type_token: &TypeToken,
    inputs: &PropertyMap,
    failure: &CheckFailure,
    show_secrets: bool,
) -> String {
    let (name, reason) = (urn.name(), &failure.reason);
    if failure.property.is_empty() {
        return format!("{type_token} resource '{name}' has a problem: {reason}");
    }
    let property = &failure.property;
    let path = PropertyPath::parse(property).ok();
    let value = path.and_then(|path| path.get(inputs).cloned());
    let shown = shown_value(value.as_ref(), show_secrets);
    format!(
        "{type_token} resource '{name}': property {property} value {shown} has a problem: {reason}"
    )
}

/// A value as messages about failed checks show it.
pub(crate) fn shown_value(value: Option<&Value>, show_secrets: bool) -> String {
    let Some(value) = value else {
        return "{<nil>}".to_owned();
    };
    if value.contains_secrets() && !show_secrets {
        return "{[secret]}".to_owned();
    }
    in_braces(&value.without_secrets())
}

/// A value in braces; one that is not known yet by its type.
fn in_braces(value: &Value) -> String {
    match value {
        Value::Computed(kind) => format!("output<{}>{{}}", kind_name(*kind)),
        Value::Output(output) => in_braces(output.value.as_ref().unwrap_or(&Value::UNKNOWN)),
        known => format!("{{{}}}", plain_text(known)),
    }
}

fn kind_name(kind: UnknownKind) -> &'static str {
    match kind {
        UnknownKind::String => "string",
        UnknownKind::Bool => "bool",
        UnknownKind::Number => "number",
        UnknownKind::Array => "[]",
        UnknownKind::Asset => "asset",
        UnknownKind::Archive => "archive",
        UnknownKind::Object => "object",
    }
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => plumb_value::go_number::format(*number).to_string(),
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Array(values) => {
            let items: Vec<String> = values.iter().map(in_braces).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let items: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}:{}", in_braces(value)))
                .collect();
            format!("map[{}]", items.join(" "))
        }
        Value::Asset(asset) => format!("asset:{}", asset.hash),
        Value::Archive(archive) => format!("archive:{}", archive.hash),
        Value::Secret(inner) => plain_text(inner),
        Value::Computed(_) | Value::Output(_) => in_braces(value),
        Value::Resource(reference) => reference.urn.to_string(),
    }
}
