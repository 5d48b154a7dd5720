//! Differences as a list of paths.

use std::collections::BTreeMap;

use super::{ArrayDiff, DiffParts, ObjectDiff, ValueDiff, Wrappers, diff_maps};
use crate::{PropertyMap, PropertyPath};

/// Kind of a difference at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiffKind {
    /// The value was added.
    Add,
    /// The value was removed.
    Delete,
    /// The value was changed.
    Update,
}

/// Kinds of differences by the text of the path.
pub type DetailedDiff = BTreeMap<String, DiffKind>;

/// The smallest parts that differ between `old` and `new`.
pub fn detailed(old: &PropertyMap, new: &PropertyMap, wrappers: Wrappers) -> DetailedDiff {
    diff_maps(old, new, wrappers)
        .map(|diff| diff.to_detailed())
        .unwrap_or_default()
}

impl ObjectDiff {
    /// The smallest parts that differ.
    pub fn to_detailed(&self) -> DetailedDiff {
        let mut found = DetailedDiff::new();
        add_object(&mut found, &PropertyPath::default(), self);
        found
    }
}

fn add_object(found: &mut DetailedDiff, at: &PropertyPath, diff: &ObjectDiff) {
    let text = |key: &crate::PropertyKey| at.join_key(key.to_text()).to_string();
    found.extend(diff.adds.keys().map(|key| (text(key), DiffKind::Add)));
    found.extend(diff.deletes.keys().map(|key| (text(key), DiffKind::Delete)));
    for (key, update) in &diff.updates {
        add_value(found, &at.join_key(key.to_text()), update);
    }
}

fn add_array(found: &mut DetailedDiff, at: &PropertyPath, diff: &ArrayDiff) {
    let text = |idx: &usize| at.join_index(*idx).to_string();
    found.extend(diff.adds.keys().map(|idx| (text(idx), DiffKind::Add)));
    found.extend(diff.deletes.keys().map(|idx| (text(idx), DiffKind::Delete)));
    for (idx, update) in &diff.updates {
        add_value(found, &at.join_index(*idx), update);
    }
}

fn add_value(found: &mut DetailedDiff, at: &PropertyPath, diff: &ValueDiff) {
    match &diff.parts {
        DiffParts::Object(parts) => add_object(found, at, parts),
        DiffParts::Array(parts) => add_array(found, at, parts),
        DiffParts::Whole => drop(found.insert(at.to_string(), DiffKind::Update)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_values::{map, property_map};

    #[test]
    fn the_smallest_parts_are_named() {
        let old = map(
            r#"{"a": {"b.c": 1, "d": {"e": 1}}, "list": [1, {"x": 1}], "kind": 1, "gone": {"x": 1}}"#,
        );
        let new = map(r#"{"a": {"b.c": 2, "d": {"f": 1}}, "list": [1, {"x": 2}, 3], "kind": [1]}"#);
        let found = detailed(&old, &new, Wrappers::Honour);
        let expected = [
            ("a[\"b.c\"]", DiffKind::Update),
            ("a.d.e", DiffKind::Delete),
            ("a.d.f", DiffKind::Add),
            ("list[1].x", DiffKind::Update),
            ("list[2]", DiffKind::Add),
            ("kind", DiffKind::Update),
            ("gone", DiffKind::Delete),
        ];
        assert_eq!(
            found,
            expected.map(|(path, kind)| (path.to_owned(), kind)).into()
        );
    }

    proptest! {
        #[test]
        fn every_path_leads_to_what_differs(old in property_map(), new in property_map()) {
            for (text, kind) in detailed(&old, &new, Wrappers::Ignore) {
                let path = PropertyPath::parse(&text).unwrap();
                let (has_old, has_new) = (path.get(&old).is_some(), path.get(&new).is_some());
                prop_assert!(has_old || kind == DiffKind::Add, "{}", text);
                prop_assert!(has_new || kind == DiffKind::Delete, "{}", text);
            }
        }
    }
}
