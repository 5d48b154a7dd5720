//! Differences between two values.
//!
//! 1. Objects are compared key by key and arrays index by index, recursively; everything else is equal or not.
//! 2. A property that is null counts as absent, so neither adding nor removing it is a difference.
//! 3. Assets and archives are equal when their hashes are; resource references when URN and id are.
//! 4. Unknown values are equal to each other, and so are NaNs: neither may cause a difference in every run.
//! 5. Secrets and outputs are either looked through or compared as wrappers; the caller chooses with [`Wrappers`].
//!
//! **A difference may contain secrets in plain form** when wrappers are looked through, because the content of a secret is
//! then compared without its wrapper.

mod detailed;
mod equal;

use std::collections::{BTreeMap, BTreeSet};

use crate::{PropertyKey, PropertyMap, Value};

pub use detailed::{DetailedDiff, DiffKind, detailed};
pub use equal::{equal, equal_maps};

/// Role of secrets and outputs in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrappers {
    /// Wrappers are looked through: a secret equals its content.
    Ignore,
    /// Wrappers are compared: a secret equals only secrets, and a change inside a secret is a change of the whole secret.
    Honour,
}

/// Differences between two property maps. Each key of either side is in one of the four maps, except keys that are null on
/// both sides, or null on one side and absent on the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectDiff {
    /// Properties that only the new side has.
    pub adds: BTreeMap<PropertyKey, Value>,
    /// Properties that only the old side has.
    pub deletes: BTreeMap<PropertyKey, Value>,
    /// Properties that are equal on both sides, with the new value.
    pub sames: BTreeMap<PropertyKey, Value>,
    /// Properties that differ.
    pub updates: BTreeMap<PropertyKey, ValueDiff>,
}

/// Differences between two arrays, by index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayDiff {
    /// Elements past the end of the old side.
    pub adds: BTreeMap<usize, Value>,
    /// Elements past the end of the new side.
    pub deletes: BTreeMap<usize, Value>,
    /// Elements that are equal, with the new value.
    pub sames: BTreeMap<usize, Value>,
    /// Elements that differ.
    pub updates: BTreeMap<usize, ValueDiff>,
}

/// Difference between two values.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueDiff {
    /// Value on the old side.
    pub old: Value,
    /// Value on the new side.
    pub new: Value,
    /// Differences inside the value.
    pub parts: DiffParts,
}

/// Differences inside a value.
#[derive(Clone, Debug, PartialEq)]
pub enum DiffParts {
    /// The whole value differs.
    Whole,
    /// Both sides are arrays.
    Array(ArrayDiff),
    /// Both sides are objects.
    Object(ObjectDiff),
}

impl ObjectDiff {
    /// Whether there is a difference.
    pub fn any_changes(&self) -> bool {
        !(self.adds.is_empty() && self.deletes.is_empty() && self.updates.is_empty())
    }

    /// Keys that differ, in order.
    pub fn changed_keys(&self) -> Vec<PropertyKey> {
        let keys: BTreeSet<&PropertyKey> = self
            .adds
            .keys()
            .chain(self.deletes.keys())
            .chain(self.updates.keys())
            .collect();
        keys.into_iter().cloned().collect()
    }

    /// All keys, changed or not, in order.
    pub fn keys(&self) -> Vec<PropertyKey> {
        let keys: BTreeSet<&PropertyKey> = self
            .adds
            .keys()
            .chain(self.deletes.keys())
            .chain(self.updates.keys())
            .chain(self.sames.keys())
            .collect();
        keys.into_iter().cloned().collect()
    }
}

impl ArrayDiff {
    /// Whether there is a difference.
    pub fn any_changes(&self) -> bool {
        !(self.adds.is_empty() && self.deletes.is_empty() && self.updates.is_empty())
    }

    /// Number of indexes of the longer side.
    pub fn len(&self) -> usize {
        self.adds.len() + self.deletes.len() + self.sames.len() + self.updates.len()
    }

    /// Whether both sides are empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Differences between `old` and `new`; `None` if there are none.
pub fn diff_maps(old: &PropertyMap, new: &PropertyMap, wrappers: Wrappers) -> Option<ObjectDiff> {
    diff_maps_except(old, new, wrappers, &|_| false)
}

/// [`diff_maps`] without the keys for which `ignored` holds, at every depth.
pub fn diff_maps_except(
    old: &PropertyMap,
    new: &PropertyMap,
    wrappers: Wrappers,
    ignored: &dyn Fn(&str) -> bool,
) -> Option<ObjectDiff> {
    let diff = Differ { wrappers, ignored }.objects(old, new);
    diff.any_changes().then_some(diff)
}

/// Difference between `old` and `new`; `None` if there is none.
pub fn diff_values(old: &Value, new: &Value, wrappers: Wrappers) -> Option<ValueDiff> {
    Differ {
        wrappers,
        ignored: &|_| false,
    }
    .values(old, new)
}

struct Differ<'a> {
    wrappers: Wrappers,
    ignored: &'a dyn Fn(&str) -> bool,
}

impl Differ<'_> {
    fn objects(&self, old: &PropertyMap, new: &PropertyMap) -> ObjectDiff {
        let mut diff = ObjectDiff::default();
        for (key, old_value) in old.iter().filter(|(key, _)| !(self.ignored)(key.as_str())) {
            let new_value = new.get(key.as_str()).filter(|value| self.has_value(value));
            match (self.has_value(old_value), new_value) {
                (true, None) => drop(diff.deletes.insert(key.clone(), old_value.clone())),
                (false, Some(new_value)) => drop(diff.adds.insert(key.clone(), new_value.clone())),
                (false, None) => {}
                (true, Some(new_value)) => match self.values(old_value, new_value) {
                    Some(update) => drop(diff.updates.insert(key.clone(), update)),
                    None => drop(diff.sames.insert(key.clone(), new_value.clone())),
                },
            }
        }
        for (key, new_value) in new.iter().filter(|(key, _)| !(self.ignored)(key.as_str())) {
            if !old.contains_key(key.as_str()) && self.has_value(new_value) {
                diff.adds.insert(key.clone(), new_value.clone());
            }
        }
        diff
    }

    fn arrays(&self, old: &[Value], new: &[Value]) -> ArrayDiff {
        let mut diff = ArrayDiff::default();
        for idx in 0..old.len().max(new.len()) {
            match (old.get(idx), new.get(idx)) {
                (Some(old), Some(new)) => match self.values(old, new) {
                    Some(update) => drop(diff.updates.insert(idx, update)),
                    None => drop(diff.sames.insert(idx, new.clone())),
                },
                (Some(old), None) => drop(diff.deletes.insert(idx, old.clone())),
                (None, Some(new)) => drop(diff.adds.insert(idx, new.clone())),
                (None, None) => {}
            }
        }
        diff
    }

    fn values(&self, old: &Value, new: &Value) -> Option<ValueDiff> {
        let (plain_old, plain_new) = (self.wrappers.peel(old), self.wrappers.peel(new));
        let parts = match (plain_old, plain_new) {
            (Value::Object(old), Value::Object(new)) => {
                let diff = self.objects(old, new);
                diff.any_changes().then_some(DiffParts::Object(diff))?
            }
            (Value::Array(old), Value::Array(new)) => {
                let diff = self.arrays(old, new);
                diff.any_changes().then_some(DiffParts::Array(diff))?
            }
            (old, new) => (!equal(old, new, self.wrappers)).then_some(DiffParts::Whole)?,
        };
        Some(ValueDiff {
            old: old.clone(),
            new: new.clone(),
            parts,
        })
    }

    fn has_value(&self, value: &Value) -> bool {
        !self.wrappers.peel(value).is_null()
    }
}

impl Wrappers {
    /// The value to compare: without wrappers if they are ignored.
    fn peel(self, value: &Value) -> &Value {
        match (self, value) {
            (Wrappers::Honour, value) => value,
            (Wrappers::Ignore, Value::Secret(inner)) => self.peel(inner),
            (Wrappers::Ignore, Value::Output(output)) => match &output.value {
                Some(known) => self.peel(known),
                None => &Value::UNKNOWN,
            },
            (Wrappers::Ignore, plain) => plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_values::{map, property_map};

    fn names<T>(part: &BTreeMap<PropertyKey, T>) -> Vec<&str> {
        part.keys().map(PropertyKey::as_str).collect()
    }

    #[test]
    fn every_key_is_in_its_place() {
        let old = map(
            r#"{"gone": 1, "same": [1], "changed": {"x": 1, "y": 1}, "list": [1, 2], "null": null}"#,
        );
        let new = map(
            r#"{"added": 1, "same": [1], "changed": {"x": 2, "y": 1}, "list": [1, 3, 4], "other": null}"#,
        );
        let diff = diff_maps(&old, &new, Wrappers::Honour).unwrap();
        assert_eq!(
            (names(&diff.adds), names(&diff.deletes)),
            (vec!["added"], vec!["gone"])
        );
        assert_eq!(
            (names(&diff.sames), names(&diff.updates)),
            (vec!["same"], vec!["changed", "list"])
        );
        assert_eq!(diff.changed_keys().len(), 4);
        let DiffParts::Array(list) = &diff.updates["list"].parts else {
            panic!("not an array")
        };
        assert_eq!(
            (
                list.sames.len(),
                list.updates.len(),
                list.adds.len(),
                list.deletes.len()
            ),
            (1, 1, 1, 0)
        );
        let DiffParts::Object(changed) = &diff.updates["changed"].parts else {
            panic!("not an object")
        };
        assert_eq!(
            (names(&changed.updates), names(&changed.sames)),
            (vec!["x"], vec!["y"])
        );
        assert_eq!(changed.updates["x"].parts, DiffParts::Whole);
    }

    #[test]
    fn null_is_as_good_as_absent() {
        assert_eq!(
            diff_maps(&map(r#"{"a": null}"#), &map("{}"), Wrappers::Honour),
            None
        );
        assert_eq!(
            diff_maps(&map("{}"), &map(r#"{"a": null}"#), Wrappers::Honour),
            None
        );
        let diff = diff_maps(
            &map(r#"{"a": null, "b": 1}"#),
            &map(r#"{"a": 1, "b": null}"#),
            Wrappers::Honour,
        )
        .unwrap();
        assert_eq!(
            (names(&diff.adds), names(&diff.deletes)),
            (vec!["a"], vec!["b"])
        );
    }

    #[test]
    fn ignored_keys_are_ignored_at_every_depth() {
        let (old, new) = (
            map(r#"{"a": {"__x": 1}, "__y": 1}"#),
            map(r#"{"a": {"__x": 2}}"#),
        );
        assert_eq!(
            diff_maps_except(&old, &new, Wrappers::Honour, &|key| key.starts_with("__")),
            None
        );
    }

    #[test]
    fn secrets_count_or_do_not() {
        let plain = map(r#"{"a": [1]}"#);
        let secret = PropertyMap::new().with("a", Value::secret(Value::array([1.0.into()])));
        assert_eq!(diff_maps(&plain, &secret, Wrappers::Ignore), None);
        let diff = diff_maps(&plain, &secret, Wrappers::Honour).unwrap();
        assert_eq!(diff.updates["a"].parts, DiffParts::Whole);
        let other = PropertyMap::new().with("a", Value::secret(Value::array([2.0.into()])));
        let diff = diff_maps(&secret, &other, Wrappers::Honour).unwrap();
        assert_eq!(diff.updates["a"].parts, DiffParts::Whole);
        assert!(diff.updates["a"].new.is_secret());
    }

    #[test]
    fn nan_is_no_difference() {
        let nan = PropertyMap::new().with("a", f64::NAN);
        assert_eq!(diff_maps(&nan, &nan, Wrappers::Honour), None);
    }

    proptest! {
        #[test]
        fn nothing_differs_from_itself(root in property_map()) {
            for wrappers in [Wrappers::Honour, Wrappers::Ignore] {
                prop_assert_eq!(diff_maps(&root, &root, wrappers), None);
            }
            prop_assert_eq!(diff_maps(&root, &root.without_secrets(), Wrappers::Ignore), None);
        }

        #[test]
        fn there_is_a_difference_exactly_when_values_are_not_equal(old in property_map(), new in property_map()) {
            for wrappers in [Wrappers::Honour, Wrappers::Ignore] {
                let there = diff_maps(&old, &new, wrappers);
                let back = diff_maps(&new, &old, wrappers);
                prop_assert_eq!(there.is_none(), equal_maps(&old, &new, wrappers));
                prop_assert_eq!(there.is_none(), back.is_none());
                if let (Some(there), Some(back)) = (there, back) {
                    prop_assert_eq!(there.adds, back.deletes);
                    prop_assert_eq!(there.deletes, back.adds);
                }
            }
        }
    }
}
