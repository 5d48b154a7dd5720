//! Values of CEL from JSON, and back.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value;
use cel::objects::{Key, Map};
use serde_json::Value as Json;

use crate::facts::ResourceFacts;

/// The empty map.
pub(super) fn empty() -> Value {
    Value::Map(Map {
        map: Arc::new(HashMap::new()),
    })
}

/// A map from JSON.
pub(super) fn map(map: &serde_json::Map<String, Json>) -> Value {
    entries(
        map.iter()
            .map(|(key, value)| (key.as_str(), cel_value(value))),
    )
}

fn entries<'a>(entries: impl Iterator<Item = (&'a str, Value)>) -> Value {
    let entries = entries.map(|(key, value)| (Key::from(key), value));
    Value::Map(Map {
        map: Arc::new(entries.collect()),
    })
}

/// A value from JSON. Whole numbers are of type `int`, the others of type `double`.
pub(super) fn cel_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(bool) => Value::Bool(*bool),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(Arc::new(text.clone())),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(cel_value).collect())),
        Json::Object(members) => map(members),
    }
}

/// Facts about a resource.
pub(super) fn resource_value(resource: &ResourceFacts, props: Value) -> Value {
    let text = |text: &str| Value::String(Arc::new(text.to_owned()));
    let own = [
        ("type", text(&resource.token)),
        ("name", text(resource.name())),
        ("urn", text(resource.urn.as_str())),
        ("props", props),
        ("options", cel_value(&resource.options)),
        ("provider", cel_value(&resource.provider)),
    ];
    let links = resource.links.iter();
    let links = links.map(|(key, value)| (key.as_str(), cel_value(value)));
    entries(own.into_iter().chain(links))
}

/// A value as JSON. Bytes, functions and other values that properties cannot hold are refused.
pub(super) fn json_value(value: &Value) -> Result<Json, String> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(bool) => Json::Bool(*bool),
        Value::Int(number) => Json::from(*number),
        Value::UInt(number) => Json::from(*number),
        Value::Float(number) => {
            let number = serde_json::Number::from_f64(*number);
            Json::Number(number.ok_or("a number is not finite")?)
        }
        Value::String(text) => Json::from(text.as_str()),
        Value::List(items) => Json::Array(items.iter().map(json_value).collect::<Result<_, _>>()?),
        Value::Map(map) => {
            let members = map.map.iter().map(|(key, value)| match key {
                Key::String(key) => Ok((key.to_string(), json_value(value)?)),
                _ => Err("a key is not a text".to_owned()),
            });
            Json::Object(members.collect::<Result<_, String>>()?)
        }
        other => {
            return Err(format!(
                "a value of type {} cannot be a property",
                other.type_of()
            ));
        }
    })
}
