//! Diff of a script's inputs.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use plumb_resource::{DiffChanges, DiffKind, DiffResult, PropertyDiff};
use plumb_value::PropertyMap;
use plumb_value::diff::{DiffKind as ValueDiffKind, Wrappers, diff_maps};

/// Compares inputs path by path. No change requires a replacement; programs request that with `replaceOnChanges`, as
/// SDKs do for `triggers`.
pub(super) fn diff(old: &PropertyMap, new: &PropertyMap) -> DiffResult {
    let Some(found) = diff_maps(old, new, Wrappers::Ignore) else {
        return DiffResult {
            detailed_diff: Some(BTreeMap::new()),
            ..DiffResult::of(DiffChanges::None)
        };
    };
    let describe = |(path, kind): (String, ValueDiffKind)| (EcoString::from(path), describe(kind));
    let changed: BTreeSet<EcoString> = found
        .changed_keys()
        .iter()
        .map(plumb_value::PropertyKey::to_text)
        .collect();
    DiffResult {
        changed_keys: changed.into_iter().collect(),
        detailed_diff: Some(found.to_detailed().into_iter().map(describe).collect()),
        ..DiffResult::of(DiffChanges::Some)
    }
}

fn describe(kind: ValueDiffKind) -> PropertyDiff {
    let kind = match kind {
        ValueDiffKind::Add => DiffKind::Add,
        ValueDiffKind::Delete => DiffKind::Delete,
        ValueDiffKind::Update => DiffKind::Update,
    };
    PropertyDiff {
        kind,
        input_diff: false,
    }
}

#[cfg(test)]
mod tests {
    use plumb_value::Value;

    use super::*;

    fn kinds(old: &PropertyMap, new: &PropertyMap) -> Vec<(String, &'static str)> {
        let detailed = diff(old, new).detailed_diff.unwrap();
        detailed
            .into_iter()
            .map(|(path, diff)| (path.to_string(), diff.kind.as_str()))
            .collect()
    }

    #[test]
    fn paths_go_as_deep_as_the_difference() {
        let list = |items: &[&str]| Value::array(items.iter().map(|item| Value::from(*item)));
        let old = PropertyMap::new()
            .with(
                "environment",
                PropertyMap::new().with("A", "1").with("B.C", "2"),
            )
            .with("triggers", list(&["a", "b"]))
            .with("stdin", "x");
        let new = PropertyMap::new()
            .with(
                "environment",
                PropertyMap::new().with("A", "2").with("D", "3"),
            )
            .with("triggers", list(&["a", "c", "d"]))
            .with("dir", "y");
        let expected = [
            ("dir", "add"),
            ("environment.A", "update"),
            ("environment.D", "add"),
            ("environment[\"B.C\"]", "delete"),
            ("stdin", "delete"),
            ("triggers[1]", "update"),
            ("triggers[2]", "add"),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(path, kind)| ((*path).to_owned(), *kind))
            .collect();
        assert_eq!(kinds(&old, &new), expected);
        assert_eq!(
            diff(&old, &new).changed_keys,
            ["dir", "environment", "stdin", "triggers"]
        );
    }

    #[test]
    fn secrets_compare_by_content_and_null_is_absent() {
        let old = PropertyMap::new()
            .with("create", Value::secret(Value::from("x")))
            .with("dir", Value::Null);
        let result = diff(&old, &PropertyMap::new().with("create", "x"));
        assert_eq!(
            (result.changes, result.detailed_diff),
            (DiffChanges::None, Some(BTreeMap::new()))
        );
    }
}
