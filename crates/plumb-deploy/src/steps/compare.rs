//! How states differ, as far as the engine tells it itself (`engine.md` 4.6).

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_resource::provider::{DiffChanges, DiffResult};
use plumb_resource::{DiffKind, PropertyDiff};
use plumb_value::diff::{self, Wrappers};
use plumb_value::path::{PropertyPath, reset_paths};
use plumb_value::{PropertyMap, Value};

/// Key that stands for the initialization errors of a resource in replaceOnChanges.
const INIT_ERROR: &str = "#initerror";

/// A difference that demands a replacement because of `key`.
pub(crate) fn must_replace(key: &str) -> DiffResult {
    DiffResult {
        replace_keys: vec![key.into()],
        ..DiffResult::of(DiffChanges::Some)
    }
}

/// Whether a change of the replacement trigger demands a replacement (RTRIG-01 to RTRIG-06).
pub(crate) fn trigger_fires(old: &Value, new: &Value) -> bool {
    let (old, new) = (old.without_secrets(), new.without_secrets());
    if old.contains_unknowns() || new.contains_unknowns() {
        return true;
    }
    !old.is_null() && !new.is_null() && old != new
}

/// Whether no property has changed, by the rules of [`diff`]: a null property is an absent one, assets are equal when their
/// hashes are, and references when they name the same resource.
///
/// For example, a component that gets a function as an input stays the same when the SDK of the function is upgraded, although
/// the version of its package in the reference changes.
pub(crate) fn are_equal(old: &PropertyMap, new: &PropertyMap) -> bool {
    old == new || diff::equal_maps(old, new, Wrappers::Honour)
}

/// `inputs` with the properties behind `ignored` as they are in `known`, and a message about those that cannot be.
pub(crate) fn without_ignored_changes(
    inputs: &PropertyMap,
    known: &PropertyMap,
    ignored: &[EcoString],
) -> (PropertyMap, Option<String>) {
    let mut inputs = inputs.clone();
    let failed = reset_paths(ignored, &mut inputs, known);
    let paths: Vec<&str> = failed.iter().map(AsRef::as_ref).collect();
    let path = paths.join(", ");
    let note = (!failed.is_empty()).then(|| {
        format!("cannot ignore changes in added or removed elements of the path: {path:?}")
    });
    (inputs, note)
}

/// The engine's own comparison of inputs, for providers that cannot tell (PULUMI-49).
pub(crate) fn fallback_diff(old: &PropertyMap, new: &PropertyMap, told: DiffResult) -> DiffResult {
    let details = diff::detailed(old, new, Wrappers::Ignore);
    if details.is_empty() {
        return DiffResult {
            changes: DiffChanges::None,
            ..told
        };
    }
    let mut changed_keys: Vec<EcoString> = Vec::new();
    for path in details.keys() {
        if let Some(key) = top_level_key(path)
            && !changed_keys.contains(&key)
        {
            changed_keys.push(key);
        }
    }
    let detailed_diff = details
        .into_iter()
        .map(|(path, kind)| {
            let kind = match kind {
                diff::DiffKind::Add => DiffKind::Add,
                diff::DiffKind::Delete => DiffKind::Delete,
                diff::DiffKind::Update => DiffKind::Update,
            };
            (
                path.into(),
                PropertyDiff {
                    kind,
                    input_diff: true,
                },
            )
        })
        .collect();
    DiffResult {
        changes: DiffChanges::Some,
        changed_keys,
        detailed_diff: Some(detailed_diff),
        ..told
    }
}

fn top_level_key(path: &str) -> Option<EcoString> {
    match PropertyPath::parse(path).ok()?.segments().first()? {
        plumb_value::path::PathSegment::Key(key) => Some(key.clone()),
        _ => None,
    }
}

/// Turns changes at the given paths into replacements (PULUMI-21).
pub(crate) fn apply_replace_on_changes(
    diff: &mut DiffResult,
    paths: &[EcoString],
    init_errors: &[EcoString],
) {
    if diff.changes != DiffChanges::Some && init_errors.is_empty() {
        return;
    }
    let paths: Vec<PropertyPath> = paths
        .iter()
        .filter_map(|text| PropertyPath::parse(text).ok())
        .collect();
    if paths.is_empty() {
        return;
    }
    let is_contained = |text: &str| {
        PropertyPath::parse(text)
            .is_ok_and(|changed| paths.iter().any(|path| path.contains(&changed)))
    };
    if diff.changes == DiffChanges::Some {
        for (path, difference) in diff.detailed_diff.iter_mut().flatten() {
            if is_contained(path) {
                difference.kind = difference.kind.as_replace();
            }
        }
        for key in diff.changed_keys.clone() {
            let quoted = PropertyPath::default().join_key(key.clone()).to_string();
            if is_contained(&quoted) && !diff.replace_keys.contains(&key) {
                diff.replace_keys.push(key);
            }
        }
    }
    if !init_errors.is_empty() && is_contained(INIT_ERROR) {
        diff.replace_keys.push(INIT_ERROR.into());
        let difference = PropertyDiff {
            kind: DiffKind::UpdateReplace,
            input_diff: false,
        };
        diff.detailed_diff
            .get_or_insert_with(BTreeMap::new)
            .insert(INIT_ERROR.into(), difference);
        diff.changes = DiffChanges::Some;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RTRIG-02, RTRIG-05
    #[test]
    fn a_trigger_fires_on_another_value_or_an_unknown_one() {
        let (a, b) = (Value::from("a"), Value::from("b"));
        assert!(trigger_fires(&a, &b));
        assert!(!trigger_fires(&a, &Value::secret(a.clone())));
        assert!(!trigger_fires(&Value::Null, &a));
        assert!(!trigger_fires(&a, &Value::Null));
        assert!(trigger_fires(&a, &Value::UNKNOWN));
    }

    /// PULUMI-49
    #[test]
    fn inputs_are_compared_without_secrets() {
        let old = PropertyMap::new()
            .with("foo", "1")
            .with("same", Value::secret("x".into()));
        let new = PropertyMap::new().with("foo", "2").with("same", "x");
        let diff = fallback_diff(&old, &new, DiffResult::of(DiffChanges::Unknown));
        assert_eq!(
            (diff.changes, diff.changed_keys),
            (DiffChanges::Some, vec![EcoString::from("foo")])
        );
        let expected = PropertyDiff {
            kind: DiffKind::Update,
            input_diff: true,
        };
        assert_eq!(
            diff.detailed_diff,
            Some(BTreeMap::from([("foo".into(), expected)]))
        );
    }

    /// PULUMI-21
    #[test]
    fn a_change_that_is_listed_forces_a_replacement() {
        let told = DiffResult {
            changed_keys: vec!["a".into()],
            ..DiffResult::of(DiffChanges::Some)
        };
        for (path, replaces) in [("a", true), ("*", true), ("b", false), ("a.b", false)] {
            let mut diff = told.clone();
            apply_replace_on_changes(&mut diff, &[path.into()], &[]);
            assert_eq!(diff.is_replace(), replaces, "{path}");
        }
        let mut none = DiffResult::of(DiffChanges::None);
        apply_replace_on_changes(&mut none, &["*".into()], &[]);
        assert!(!none.is_replace());
        apply_replace_on_changes(&mut none, &["*".into()], &["not ready".into()]);
        assert!(none.is_replace());
    }
}
