//! Conversion between evaluator values and the values of requests and replies.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_resource::{ResourceId, Urn};
use plumb_value::{PropertyKey, PropertyMap, ReferenceId, ResourceReference, Value};

use crate::lift;
use crate::value::{Deps, Output, Val};

/// The evaluator value of a value in a reply. Secrets and unknowns inside keep their position.
pub fn from_value(value: &Value) -> Val {
    let output = |value, secret| {
        Val::Output(Arc::new(Output {
            value,
            secret,
            deps: Deps::default(),
        }))
    };
    match value {
        Value::Null => Val::Null,
        Value::Bool(value) => Val::Bool(*value),
        Value::Number(value) => Val::Number(*value),
        Value::String(text) => Val::String(text.clone()),
        Value::Bytes(bytes) => Val::Bytes(bytes.clone()),
        Value::Array(items) => Val::list(items.iter().map(from_value).collect()),
        Value::Object(map) => from_map(map),
        Value::Asset(asset) => Val::Asset(asset.clone()),
        Value::Archive(archive) => Val::Archive(archive.clone()),
        Value::Secret(inner) => match from_value(inner) {
            Val::Output(inner) => output(inner.value.clone(), true),
            inner => output(Some(inner), true),
        },
        Value::Computed(_) => output(None, false),
        Value::Output(inner) => Val::Output(Arc::new(Output {
            value: inner.value.as_ref().map(from_value),
            secret: inner.secret,
            deps: known_dependencies(inner),
        })),
        Value::Resource(reference) => Val::Reference(reference.clone()),
    }
}

/// Dependencies of an output.
fn known_dependencies(output: &plumb_value::Output) -> Deps {
    let urns = output.dependencies.iter();
    urns.filter_map(|urn| Urn::parse(urn).ok()).collect()
}

/// The evaluator object of a map in a reply.
pub fn from_map(map: &PropertyMap) -> Val {
    Val::Object(Arc::new(
        map.iter()
            .map(|(key, value)| (key.to_text(), from_value(value)))
            .collect(),
    ))
}

/// The evaluator value of a JSON document.
pub fn from_json(json: &serde_json::Value) -> Val {
    match json {
        serde_json::Value::Null => Val::Null,
        serde_json::Value::Bool(value) => Val::Bool(*value),
        serde_json::Value::Number(number) => Val::Number(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(text) => Val::String(text.as_str().into()),
        serde_json::Value::Array(items) => Val::list(items.iter().map(from_json).collect()),
        serde_json::Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| (key.as_str().into(), from_json(value)));
            Val::Object(Arc::new(entries.collect::<BTreeMap<_, _>>()))
        }
    }
}

/// Form of outputs in requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Secrets and unknowns are kept; dependencies are sent separately.
    Plain,
    /// Outputs that are unknown or secret, or have dependencies, are sent as output values, for remote components.
    Outputs,
}

/// The value in the form of requests.
pub fn to_value(value: &Val, form: Form) -> Value {
    match value {
        Val::Null | Val::Poison => Value::Null,
        Val::Bool(value) => Value::Bool(*value),
        Val::Number(value) => Value::Number(*value),
        Val::String(text) => Value::String(text.clone()),
        Val::Bytes(bytes) => Value::Bytes(bytes.clone()),
        Val::List(items) => Value::array(items.iter().map(|item| to_value(item, form))),
        Val::Object(entries) => Value::Object(Arc::new(to_map(entries, form))),
        Val::Asset(asset) => Value::Asset(asset.clone()),
        Val::Archive(archive) => Value::Archive(archive.clone()),
        Val::Reference(reference) => Value::Resource(reference.clone()),
        Val::Resource(resource) => {
            let id = match &resource.id {
                _ if !resource.custom => ReferenceId::None,
                ResourceId::Known(id) => ReferenceId::Known(id.clone()),
                ResourceId::Unknown | ResourceId::None => ReferenceId::Unknown,
            };
            Value::Resource(Arc::new(ResourceReference {
                urn: resource.urn.as_str().into(),
                id,
                name: None,
                type_token: None,
                package_version: ecow::EcoString::new(),
            }))
        }
        Val::Output(output) => match form {
            Form::Plain => {
                let plain = output
                    .value
                    .as_ref()
                    .map_or(Value::UNKNOWN, |inner| to_value(inner, form));
                if output.secret && !plain.is_secret() {
                    Value::secret(plain)
                } else {
                    plain
                }
            }
            Form::Outputs => {
                let mut deps = Deps::default();
                lift::dependencies(value, &mut deps);
                let plain = output
                    .value
                    .as_ref()
                    .map(|inner| to_value(inner, Form::Plain));
                match plain {
                    Some(plain) if !output.secret && deps.is_empty() => plain,
                    value => Value::Output(Arc::new(plumb_value::Output {
                        value,
                        secret: output.secret,
                        dependencies: deps.iter().map(|urn| urn.as_str().into()).collect(),
                    })),
                }
            }
        },
    }
}

/// Entries without null values, which SDKs omit. A null computed from a resource is kept, so that the dependency on the
/// resource is kept, unless the null is secret.
pub fn to_map(entries: &BTreeMap<ecow::EcoString, Val>, form: Form) -> PropertyMap {
    entries
        .iter()
        .map(|(key, val)| (key, val, to_value(val, form)))
        .filter(|(_, val, value)| !value.is_null() || is_computed(val))
        .filter(|(_, _, value)| !is_secret_null(value))
        .map(|(key, _, value)| (PropertyKey::from(key.clone()), value))
        .collect()
}

/// Whether a value was computed from resources.
fn is_computed(val: &Val) -> bool {
    matches!(val, Val::Output(output) if !output.deps.is_empty())
}

fn is_secret_null(value: &Value) -> bool {
    match value {
        Value::Secret(inner) => inner.is_null(),
        Value::Output(output) => output.secret && output.value.as_ref().is_some_and(Value::is_null),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_assets_and_bytes_inside_survive_the_round_trip() {
        let asset = plumb_value::Asset {
            hash: "".into(),
            source: plumb_value::AssetSource::Text("x".into()),
        };
        let map = PropertyMap::new()
            .with(
                "list",
                Value::array([Value::secret("hush".into()), Value::Number(1.0)]),
            )
            .with("asset", Value::Asset(Arc::new(asset)))
            .with("bytes", Value::Bytes([0x80, b'x'].as_slice().into()))
            .with("unknown", Value::secret(Value::UNKNOWN));
        let value = Value::from(map);
        assert_eq!(to_value(&from_value(&value), Form::Plain), value);
    }

    #[test]
    fn an_output_that_says_nothing_more_is_its_value() {
        let output = |secret| {
            Val::Output(Arc::new(Output {
                value: Some(Val::Bool(true)),
                secret,
                deps: Deps::default(),
            }))
        };
        assert_eq!(to_value(&output(false), Form::Outputs), Value::Bool(true));
        assert!(matches!(
            to_value(&output(true), Form::Outputs),
            Value::Output(_)
        ));
    }

    #[test]
    fn null_entries_are_left_out_of_maps_but_not_of_lists() {
        let value = from_json(&serde_json::json!({"a": null, "b": [null]}));
        let expected = Value::from(PropertyMap::new().with("b", Value::array([Value::Null])));
        assert_eq!(to_value(&value, Form::Plain), expected);
    }
}
