//! How two values differ, as displays show it.

use std::collections::BTreeMap;

use plumb_value::{PropertyKey, PropertyMap, Value};

use crate::embedded::{self, Language};
use crate::lists;

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
    Array(Vec<Element>),
    Object(ObjectDiff),
    /// Both are texts that hold a document of this language, which differs like this.
    Document(Language, Box<ValueDiff>),
    Plain {
        old: Value,
        new: Value,
    },
}

/// What became of an element of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Element {
    /// Where it is, or was if it is gone.
    pub(crate) index: usize,
    /// Where it was, if it is the same and has changed places with others.
    pub(crate) moved_from: Option<usize>,
    pub(crate) change: Change,
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
            Change::Update(ValueDiff::Array(lists::diff_lists(old, new)))
        }
        (Value::String(old_text), Value::String(new_text)) => {
            Change::Update(diff_documents(old_text, new_text).unwrap_or_else(|| plain(old, new)))
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

/// How two texts differ that hold documents of the same language.
fn diff_documents(old: &str, new: &str) -> Option<ValueDiff> {
    let (old_language, old) = embedded::parse(old)?;
    let (language, new) = embedded::parse(new)?;
    match diff_values(&old, &new) {
        Change::Update(difference) if language == old_language => {
            Some(ValueDiff::Document(language, Box::new(difference)))
        }
        _ => None,
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
