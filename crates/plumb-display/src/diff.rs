//! How two values differ, as displays show it.
//!
//! Objects are compared key by key, lists place by place, everything else as a whole; null is the same as absent.
//! [`Comparison`] says what is left out, and whether lists may be compared by what their elements are
//! ([`crate::lists`]).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_value::diff::{Wrappers, equal};
use plumb_value::path::PropertyPath;
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyKey, PropertyMap, Value};

use crate::lists;

/// What became of one property or element.
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

/// How one value differs from another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueDiff {
    Array(Vec<Element>),
    Object(ObjectDiff),
    Plain { old: Value, new: Value },
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
        self.0.values().any(|change| !change.is_same())
    }
}

/// Whether the key is the engine's own business.
pub(crate) fn is_internal(key: &PropertyKey) -> bool {
    key.as_str().starts_with("__")
}

/// The map as people may see it: secrets are opened on demand only, and any two that are not look the same. Outputs are
/// plain, and texts of assets are left out.
pub(crate) fn visible(map: &PropertyMap, show_secrets: bool) -> PropertyMap {
    map.map_values(&mut |value| match value {
        Value::Secret(_) if !show_secrets => Value::secret(Value::Null),
        Value::Output(output) if output.secret && !show_secrets => Value::secret(Value::Null),
        Value::Output(output) if output.secret => {
            Value::secret(output.value.clone().unwrap_or(Value::UNKNOWN))
        }
        Value::Output(output) => output.value.clone().unwrap_or(Value::UNKNOWN),
        Value::Computed(_) => Value::UNKNOWN,
        Value::Asset(asset) => Value::Asset(visible_asset(&asset)),
        Value::Archive(archive) => Value::Archive(visible_archive(&archive)),
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

/// Options of a comparison, and the hidden paths that it met.
#[derive(Debug, Default)]
pub(crate) struct Comparison<'a> {
    /// Paths whose differences are not shown.
    pub(crate) hidden: &'a [PropertyPath],
    /// Whether keys of the engine count like any other.
    pub(crate) with_internals: bool,
    /// Whether elements of lists may be found again at other places.
    pub(crate) aligns_lists: bool,
    /// The hidden paths that cover something that is there.
    pub(crate) met: RefCell<BTreeSet<String>>,
}

impl Comparison<'_> {
    /// How `new` differs from `old`.
    pub(crate) fn objects(&self, old: &PropertyMap, new: &PropertyMap) -> ObjectDiff {
        self.objects_at(old, new, &PropertyPath::default())
    }

    /// How `new` differs from `old`.
    pub(crate) fn values(&self, old: &Value, new: &Value) -> Change {
        self.values_at(old, new, &PropertyPath::default())
    }

    /// How the property `key` differs.
    pub(crate) fn property(&self, key: &str, old: &Value, new: &Value) -> Change {
        self.values_at(old, new, &PropertyPath::default().join_key(key))
    }

    /// Whether differences at the path are left out.
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

/// How `new` differs from `old`; keys of the engine are left out.
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
