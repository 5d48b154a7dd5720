//! How two values differ, as displays show it.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_value::{PropertyKey, PropertyMap, Value};

/// What became of one property or element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Add(Value),
    Delete(Value),
    Update(ValueDiff),
    Same(Value),
}

/// How one value differs from another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueDiff {
    Array(BTreeMap<usize, Change>),
    Object(ObjectDiff),
    /// Both are texts that hold JSON, which differs like this.
    Json(Box<ValueDiff>),
    Plain {
        old: Value,
        new: Value,
    },
}

/// How one object differs from another, key by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ObjectDiff(pub(crate) BTreeMap<PropertyKey, Change>);

impl ObjectDiff {
    /// Whether any key differs.
    pub(crate) fn has_changes(&self) -> bool {
        self.0
            .values()
            .any(|change| !matches!(change, Change::Same(_)))
    }
}

/// Whether the key is the engine's own business.
pub(crate) fn is_internal(key: &PropertyKey) -> bool {
    key.as_str().starts_with("__")
}

/// The map as it may be shown: secrets are opened, or emptied so that any two look the same, and outputs are plain.
pub(crate) fn visible(map: &PropertyMap, show_secrets: bool) -> PropertyMap {
    map.map_values(&mut |value| match value {
        Value::Secret(inner) if show_secrets => inner.as_ref().clone(),
        Value::Secret(_) => Value::secret(Value::Null),
        Value::Output(output) if output.secret && !show_secrets => Value::secret(Value::Null),
        Value::Output(output) => output.value.clone().unwrap_or(Value::UNKNOWN),
        other => other,
    })
}

/// How `new` differs from `old`; keys of the engine are left out.
pub(crate) fn diff_objects(old: &PropertyMap, new: &PropertyMap) -> ObjectDiff {
    let mut changes = BTreeMap::new();
    for (key, old_value) in old.iter().filter(|(key, _)| !is_internal(key)) {
        let change = match new.get(key.as_str()) {
            Some(new_value) => diff_values(old_value, new_value),
            None if old_value.is_null() => continue,
            None => Change::Delete(old_value.clone()),
        };
        changes.insert(key.clone(), change);
    }
    for (key, new_value) in new
        .iter()
        .filter(|(key, value)| !is_internal(key) && !value.is_null())
    {
        if !old.contains_key(key.as_str()) {
            changes.insert(key.clone(), Change::Add(new_value.clone()));
        }
    }
    ObjectDiff(changes)
}

/// How `new` differs from `old`.
pub(crate) fn diff_values(old: &Value, new: &Value) -> Change {
    if old == new {
        return Change::Same(new.clone());
    }
    match (old, new) {
        (Value::Null, added) => Change::Add(added.clone()),
        (removed, Value::Null) => Change::Delete(removed.clone()),
        (Value::Object(old), Value::Object(new)) => {
            let difference = diff_objects(old, new);
            if difference.has_changes() {
                Change::Update(ValueDiff::Object(difference))
            } else {
                Change::Same(Value::Object(new.clone()))
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            Change::Update(ValueDiff::Array(diff_arrays(old, new)))
        }
        (Value::String(old_text), Value::String(new_text)) => {
            match (parse_json(old_text), parse_json(new_text)) {
                (Some(old_json), Some(new_json)) => match diff_values(&old_json, &new_json) {
                    Change::Update(difference) => {
                        Change::Update(ValueDiff::Json(Box::new(difference)))
                    }
                    _ => Change::Update(plain(old, new)),
                },
                _ => Change::Update(plain(old, new)),
            }
        }
        _ => Change::Update(plain(old, new)),
    }
}

fn plain(old: &Value, new: &Value) -> ValueDiff {
    ValueDiff::Plain {
        old: old.clone(),
        new: new.clone(),
    }
}

fn diff_arrays(old: &[Value], new: &[Value]) -> BTreeMap<usize, Change> {
    (0..old.len().max(new.len()))
        .filter_map(|idx| {
            let change = match (old.get(idx), new.get(idx)) {
                (Some(old), Some(new)) => diff_values(old, new),
                (Some(old), None) => Change::Delete(old.clone()),
                (None, Some(new)) => Change::Add(new.clone()),
                (None, None) => return None,
            };
            Some((idx, change))
        })
        .collect()
}

/// The value of a text that holds a JSON object or list.
pub(crate) fn parse_json(text: &str) -> Option<Value> {
    let start = text.trim_start();
    if !start.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str::<serde_json::Value>(text)
        .ok()
        .map(|json| from_json(&json))
}

fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => Value::String(EcoString::from(text.as_str())),
        serde_json::Value::Array(values) => Value::array(values.iter().map(from_json)),
        serde_json::Value::Object(map) => Value::from(
            map.iter()
                .map(|(key, value)| (key.as_str().into(), from_json(value)))
                .collect::<PropertyMap>(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_secrets_never_differ() {
        let old = visible(
            &PropertyMap::new().with("a", Value::secret("x".into())),
            false,
        );
        let new = visible(
            &PropertyMap::new().with("a", Value::secret("y".into())),
            false,
        );
        assert!(!diff_objects(&old, &new).has_changes());
    }

    #[test]
    fn internal_keys_are_left_out_at_every_depth() {
        let inner =
            |meta: &str| Value::from(PropertyMap::new().with("__meta", meta).with("a", "1"));
        let old = PropertyMap::new().with("o", inner("x")).with("__x", "1");
        let new = PropertyMap::new().with("o", inner("y")).with("__x", "2");
        assert!(!diff_objects(&old, &new).has_changes());
    }
}
