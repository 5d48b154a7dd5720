//! Differences between two values, for display.
//!
//! Objects are compared by key, lists by index, and other values as a whole; null counts as absent. [`Comparison`] has
//! options for hidden properties, and for comparing lists by the values of their elements ([`crate::lists`]).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_events::Filter;
use plumb_value::diff::{Wrappers, equal};
use plumb_value::path::PropertyPath;
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyKey, PropertyMap, Value};

use crate::lists;

/// Change of a property or an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Add(Value),
    Delete(Value),
    Update(ValueDiff),
    Same(Value),
}

impl Change {
    pub(crate) fn is_same(&self) -> bool {
        matches!(self, Change::Same(_))
    }
}

/// Difference between two values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueDiff {
    Array(Vec<Element>),
    Object(ObjectDiff),
    Plain { old: Value, new: Value },
}

/// Change of a list element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Element {
    /// Index in the new list; in the old one if the element was deleted.
    pub(crate) index: usize,
    /// Old index of an unchanged element that was moved.
    pub(crate) moved_from: Option<usize>,
    pub(crate) change: Change,
}

/// Difference between two objects, by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ObjectDiff(pub(crate) BTreeMap<PropertyKey, Change>);

impl ObjectDiff {
    /// Whether any key differs.
    pub(crate) fn has_changes(&self) -> bool {
        self.0.values().any(|change| !change.is_same())
    }
}

/// Whether the key is internal to the engine.
pub(crate) fn is_internal(key: &PropertyKey) -> bool {
    key.as_str().starts_with("__")
}

/// The properties for display. Contents of secrets that are hidden are removed, so that these secrets look equal. Outputs become
/// their plain values.
pub(crate) fn visible(map: &PropertyMap, filter: Filter) -> PropertyMap {
    map.map_values(&mut |value| match value {
        Value::Secret(_) if !filter.shows_secrets() => Value::secret(Value::Null),
        Value::Output(output) if output.secret && !filter.shows_secrets() => {
            Value::secret(Value::Null)
        }
        Value::Output(output) if output.secret => {
            Value::secret(output.value.clone().unwrap_or(Value::UNKNOWN))
        }
        Value::Output(output) => output.value.clone().unwrap_or(Value::UNKNOWN),
        Value::Computed(_) => Value::UNKNOWN,
        Value::Asset(asset) if !filter.keeps_asset_texts() => Value::Asset(visible_asset(&asset)),
        Value::Archive(archive) if !filter.keeps_asset_texts() => {
            Value::Archive(visible_archive(&archive))
        }
        other => other,
    })
}

fn visible_asset(asset: &Arc<Asset>) -> Arc<Asset> {
    match &asset.source {
        AssetSource::Text(text) => Arc::new(Asset {
            hash: asset.hash.clone(),
            source: AssetSource::Text(plumb_events::asset_text(text).into()),
        }),
        AssetSource::Path(_) | AssetSource::Uri(_) | AssetSource::Elided => asset.clone(),
    }
}

fn visible_archive(archive: &Arc<Archive>) -> Arc<Archive> {
    let ArchiveSource::Assets(members) = &archive.source else {
        return archive.clone();
    };
    let shown = |value: &Value| match value {
        Value::Asset(asset) => Value::Asset(visible_asset(asset)),
        Value::Archive(archive) => Value::Archive(visible_archive(archive)),
        other => other.clone(),
    };
    let members = members.iter().map(|(name, it)| (name.clone(), shown(it)));
    Arc::new(Archive {
        hash: archive.hash.clone(),
        source: ArchiveSource::Assets(members.collect()),
    })
}

/// Options of a comparison, and the hidden paths that it found.
#[derive(Debug, Default)]
pub(crate) struct Comparison<'a> {
    /// Paths whose differences are not shown.
    pub(crate) hidden: &'a [PropertyPath],
    /// Whether internal keys are compared.
    pub(crate) with_internals: bool,
    /// Whether list elements are matched by value, so that they can move.
    pub(crate) aligns_lists: bool,
    /// Hidden paths that exist in the values.
    pub(crate) met: RefCell<BTreeSet<String>>,
}

impl Comparison<'_> {
    /// Difference between `old` and `new`.
    pub(crate) fn objects(&self, old: &PropertyMap, new: &PropertyMap) -> ObjectDiff {
        self.objects_at(old, new, &PropertyPath::default())
    }

    /// Change from `old` to `new`.
    pub(crate) fn values(&self, old: &Value, new: &Value) -> Change {
        self.values_at(old, new, &PropertyPath::default())
    }

    /// Change of the property `key`.
    pub(crate) fn property(&self, key: &str, old: &Value, new: &Value) -> Change {
        self.values_at(old, new, &PropertyPath::default().join_key(key))
    }

    /// Whether differences at the path are hidden.
    pub(crate) fn hides(&self, path: &PropertyPath) -> bool {
        let hidden = self.hidden.iter().find(|hidden| hidden.contains(path));
        if let Some(hidden) = hidden {
            self.met.borrow_mut().insert(hidden.to_string());
        }
        hidden.is_some()
    }

    fn objects_at(&self, old: &PropertyMap, new: &PropertyMap, at: &PropertyPath) -> ObjectDiff {
        let is_left_out = |key: &PropertyKey| {
            (!self.with_internals && is_internal(key))
                || (!self.hidden.is_empty() && self.hides(&at.join_key(key.as_str())))
        };
        let mut changes = BTreeMap::new();
        for (key, old_value) in old.iter().filter(|(key, _)| !is_left_out(key)) {
            let change = match new.get(key.as_str()) {
                Some(new_value) => self.values_at(old_value, new_value, &at.join_key(key.as_str())),
                None if old_value.is_null() => continue,
                None => Change::Delete(old_value.clone()),
            };
            changes.insert(key.clone(), change);
        }
        for (key, new_value) in new.iter().filter(|(key, _)| !is_left_out(key)) {
            if !new_value.is_null() && !old.contains_key(key.as_str()) {
                changes.insert(key.clone(), Change::Add(new_value.clone()));
            }
        }
        ObjectDiff(changes)
    }

    pub(crate) fn values_at(&self, old: &Value, new: &Value, at: &PropertyPath) -> Change {
        match (old, new) {
            (Value::Object(olds), Value::Object(news)) => {
                let difference = self.objects_at(olds, news, at);
                if difference.has_changes() {
                    Change::Update(ValueDiff::Object(difference))
                } else {
                    Change::Same(old.clone())
                }
            }
            (Value::Array(olds), Value::Array(news)) => {
                let elements = lists::diff_lists(self, olds, news, at);
                let is_same = elements
                    .iter()
                    .all(|it| it.moved_from.is_none() && it.change.is_same());
                if is_same {
                    Change::Same(old.clone())
                } else {
                    Change::Update(ValueDiff::Array(elements))
                }
            }
            _ if equal(old, new, Wrappers::Honour) => Change::Same(old.clone()),
            (Value::Null, added) if !at.is_empty() => Change::Add(added.clone()),
            (removed, Value::Null) if !at.is_empty() => Change::Delete(removed.clone()),
            _ => Change::Update(ValueDiff::Plain {
                old: old.clone(),
                new: new.clone(),
            }),
        }
    }
}

/// Difference between `old` and `new`, without internal keys.
pub(crate) fn diff_objects(old: &PropertyMap, new: &PropertyMap) -> ObjectDiff {
    Comparison::default().objects(old, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_secrets_never_differ() {
        let old = visible(
            &PropertyMap::new().with("a", Value::secret("x".into())),
            Filter::default(),
        );
        let new = visible(
            &PropertyMap::new().with("a", Value::secret("y".into())),
            Filter::default(),
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

    #[test]
    fn hidden_paths_are_left_out_and_noted() {
        let object = |value: &str| PropertyMap::new().with("b", value);
        let hidden = [PropertyPath::parse("a.b").unwrap()];
        let comparison = Comparison {
            hidden: &hidden,
            ..Comparison::default()
        };
        let difference = comparison.objects(
            &PropertyMap::new().with("a", object("1")),
            &PropertyMap::new().with("a", object("2")),
        );
        assert!(!difference.has_changes());
        assert_eq!(comparison.met.into_inner(), ["a.b".to_owned()].into());
    }
}
