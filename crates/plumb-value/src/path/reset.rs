//! Making one property map as another is at a path, which is how ignoreChanges works.
//!
//! The rules are those of `engine.md` 4.5:
//!
//! 1. The last step copies: what the old side has comes to the new side, what it has not goes.
//! 2. **Arrays are never resized.** An index that only one side has is a failure.
//! 3. A step that finds something to enter on one side only is a failure; one that finds it on neither side is fine,
//!    since there is nothing to ignore.
//! 4. A wildcard takes every key or index that either side has.
//! 5. **Nothing stops being secret:** what was inside a secret and comes to a place outside one is made secret.

use std::collections::BTreeSet;
use std::sync::Arc;

use ecow::EcoString;

use super::{PathSegment, PropertyPath};
use crate::{PropertyKey, PropertyMap, Value};

/// The path crosses elements that only one of the two sides has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot ignore changes in added or removed elements of the path `{path}`")]
pub struct ResetError {
    /// The path.
    pub path: PropertyPath,
}

impl PropertyPath {
    /// Makes `new` at this path as `old` is there.
    ///
    /// On failure nothing has changed, save for paths with wildcards, which are applied wherever they can be.
    pub fn reset(&self, new: &mut PropertyMap, old: &PropertyMap) -> Result<(), ResetError> {
        let done = match self.segments().split_first() {
            None => true,
            Some((first, rest)) => reset_map(first, rest, new, old, false),
        };
        if done {
            Ok(())
        } else {
            Err(ResetError { path: self.clone() })
        }
    }
}

/// Applies [`PropertyPath::reset`] for each path and returns the paths that failed. Text that is no path is passed over.
pub fn reset_paths(
    paths: &[EcoString],
    new: &mut PropertyMap,
    old: &PropertyMap,
) -> Vec<EcoString> {
    let fails = |text: &&EcoString| {
        PropertyPath::parse(text).is_ok_and(|path| path.reset(new, old).is_err())
    };
    paths.iter().filter(fails).cloned().collect()
}

fn reset_map(
    segment: &PathSegment,
    rest: &[PathSegment],
    new: &mut PropertyMap,
    old: &PropertyMap,
    make_secret: bool,
) -> bool {
    match segment {
        PathSegment::Key(key) => reset_key(key, rest, new, old, make_secret),
        PathSegment::Wildcard => {
            let keys: BTreeSet<PropertyKey> = new.keys().chain(old.keys()).cloned().collect();
            let mut done = true;
            for key in &keys {
                done &= reset_key(key.as_str(), rest, new, old, make_secret);
            }
            done
        }
        PathSegment::Index(_) => true,
    }
}

fn reset_key(
    key: &str,
    rest: &[PathSegment],
    new: &mut PropertyMap,
    old: &PropertyMap,
    make_secret: bool,
) -> bool {
    let Some((next, after)) = rest.split_first() else {
        match old.get(key) {
            Some(value) => drop(new.insert(key, copied(value, make_secret))),
            None => drop(new.remove(key)),
        }
        return true;
    };
    match (new.get_mut(key), old.get(key)) {
        (Some(new), Some(old)) => reset_value(next, after, new, Side::of(old, make_secret)),
        (Some(one), None) => !can_enter(next, one),
        (None, Some(one)) => !can_enter(next, one),
        (None, None) => true,
    }
}

fn reset_array(
    segment: &PathSegment,
    rest: &[PathSegment],
    new: &mut [Value],
    old: &[Value],
    make_secret: bool,
) -> bool {
    match segment {
        PathSegment::Index(idx) => reset_element(*idx, rest, new, old, make_secret),
        PathSegment::Wildcard => {
            let mut done = true;
            for idx in 0..new.len().max(old.len()) {
                done &= reset_element(idx, rest, new, old, make_secret);
            }
            done
        }
        PathSegment::Key(_) => true,
    }
}

fn reset_element(
    idx: usize,
    rest: &[PathSegment],
    new: &mut [Value],
    old: &[Value],
    make_secret: bool,
) -> bool {
    let (new, old) = match (new.get_mut(idx), old.get(idx)) {
        (Some(new), Some(old)) => (new, old),
        (None, None) => return true,
        _ => return false,
    };
    match rest.split_first() {
        None => {
            *new = copied(old, make_secret);
            true
        }
        Some((next, after)) => reset_value(next, after, new, Side::of(old, make_secret)),
    }
}

/// The old side of a step: its value without wrappers, and whether what is copied from it has to be made secret.
#[derive(Clone, Copy)]
struct Side<'a> {
    value: Option<&'a Value>,
    make_secret: bool,
}

impl<'a> Side<'a> {
    fn of(value: &'a Value, make_secret: bool) -> Self {
        match value {
            Value::Secret(inner) => Side::of(inner, true),
            Value::Output(output) => match &output.value {
                Some(known) => Side::of(known, make_secret || output.secret),
                None => Side {
                    value: None,
                    make_secret,
                },
            },
            plain => Side {
                value: Some(plain),
                make_secret,
            },
        }
    }
}

fn reset_value(
    segment: &PathSegment,
    rest: &[PathSegment],
    new: &mut Value,
    old: Side<'_>,
) -> bool {
    match (new, old.value) {
        (Value::Secret(inner), _) => reset_value(
            segment,
            rest,
            Arc::make_mut(inner),
            Side {
                make_secret: false,
                ..old
            },
        ),
        (Value::Output(output), _) if output.value.is_some() => {
            let make_secret = old.make_secret && !output.secret;
            let known = Arc::make_mut(output)
                .value
                .as_mut()
                .expect("the guard saw a value");
            reset_value(segment, rest, known, Side { make_secret, ..old })
        }
        (Value::Object(new), Some(Value::Object(old_map))) => {
            reset_map(segment, rest, Arc::make_mut(new), old_map, old.make_secret)
        }
        (Value::Array(new), Some(Value::Array(old_values))) => reset_array(
            segment,
            rest,
            Arc::make_mut(new).as_mut_slice(),
            old_values,
            old.make_secret,
        ),
        (new, old_value) => {
            !can_enter(segment, new) && !old_value.is_some_and(|old| can_enter(segment, old))
        }
    }
}

/// Whether the step leads into this value.
fn can_enter(segment: &PathSegment, value: &Value) -> bool {
    match value {
        Value::Secret(inner) => can_enter(segment, inner),
        Value::Output(output) => output
            .value
            .as_ref()
            .is_some_and(|known| can_enter(segment, known)),
        Value::Object(_) => matches!(segment, PathSegment::Key(_) | PathSegment::Wildcard),
        Value::Array(_) => matches!(segment, PathSegment::Index(_) | PathSegment::Wildcard),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Asset(_)
        | Value::Archive(_)
        | Value::Computed(_)
        | Value::Resource(_) => false,
    }
}

fn copied(old: &Value, make_secret: bool) -> Value {
    if make_secret && !old.is_secret() {
        Value::secret(old.clone())
    } else {
        old.clone()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_values::{map, property_map};

    #[track_caller]
    fn check(path: &str, old: &str, new: &str, expected: Result<&str, ()>) {
        let mut result = map(new);
        let outcome = PropertyPath::parse(path)
            .unwrap()
            .reset(&mut result, &map(old));
        assert_eq!(outcome.is_ok(), expected.is_ok(), "{path}");
        assert_eq!(result, map(expected.unwrap_or(new)), "{path}");
    }

    /// PULUMI-19.
    #[test]
    fn changes_at_the_path_are_undone_and_others_stay() {
        check(
            "a",
            r#"{"a": 1, "b": 1}"#,
            r#"{"a": 2, "b": 2}"#,
            Ok(r#"{"a": 1, "b": 2}"#),
        );
        check("a", r#"{"a": 1}"#, "{}", Ok(r#"{"a": 1}"#));
        check("a", "{}", r#"{"a": 1}"#, Ok("{}"));
        check(
            "a.b",
            r#"{"a": {"b": 1}}"#,
            r#"{"a": {"b": 2, "c": 2}}"#,
            Ok(r#"{"a": {"b": 1, "c": 2}}"#),
        );
        check(
            "a.b",
            r#"{"a": {"b": 1}}"#,
            r#"{"a": {}}"#,
            Ok(r#"{"a": {"b": 1}}"#),
        );
        check(
            "a.b",
            r#"{"a": {}}"#,
            r#"{"a": {"b": 1}}"#,
            Ok(r#"{"a": {}}"#),
        );
        check(
            "a[0]",
            r#"{"a": [1, 2]}"#,
            r#"{"a": [9, 3]}"#,
            Ok(r#"{"a": [1, 3]}"#),
        );
        check(
            r#"a["b.c"]"#,
            r#"{"a": {"b.c": 1}}"#,
            r#"{"a": {"b.c": 2}}"#,
            Ok(r#"{"a": {"b.c": 1}}"#),
        );
        check(
            "a[*].k",
            r#"{"a": [{"k": 1, "l": 1}, {"k": 2}]}"#,
            r#"{"a": [{"k": 8, "l": 5}, {}]}"#,
            Ok(r#"{"a": [{"k": 1, "l": 5}, {"k": 2}]}"#),
        );
    }

    #[test]
    fn wildcards_take_every_key() {
        check(
            "*",
            r#"{"a": 1, "b": 2}"#,
            r#"{"b": 3, "c": 4}"#,
            Ok(r#"{"a": 1, "b": 2}"#),
        );
        check(
            "a.*",
            r#"{"a": {"x": 1}}"#,
            r#"{"a": {"y": 1}}"#,
            Ok(r#"{"a": {"x": 1}}"#),
        );
        check(
            "a.*.k",
            r#"{"a": {"x": {"k": 1}}}"#,
            r#"{"a": {"x": {"k": 2}}}"#,
            Ok(r#"{"a": {"x": {"k": 1}}}"#),
        );
        check(
            "a[*]",
            r#"{"a": [1, 2]}"#,
            r#"{"a": [3, 4]}"#,
            Ok(r#"{"a": [1, 2]}"#),
        );
    }

    /// PULUMI-20.
    #[test]
    fn added_and_removed_elements_on_the_way_are_left_alone() {
        check("a.x", r#"{"a": {"x": 1}}"#, "{}", Err(()));
        check("a.x", "{}", r#"{"a": {"x": 1, "y": 1}}"#, Err(()));
        check("a[0]", r#"{"a": [1]}"#, "{}", Err(()));
        check("a[1]", r#"{"a": [1]}"#, r#"{"a": [1, 2]}"#, Err(()));
        check("a[1]", r#"{"a": [1, 2]}"#, r#"{"a": [1]}"#, Err(()));
        check("a.x", r#"{"a": {"x": 1}}"#, r#"{"a": "text"}"#, Err(()));
        check(
            "a.x.y",
            r#"{"a": {}}"#,
            r#"{"a": {"x": {"y": 1}}}"#,
            Err(()),
        );
    }

    #[test]
    fn there_is_nothing_to_ignore_where_neither_side_can_be_entered() {
        for (path, old, new) in [
            ("a.x", "{}", "{}"),
            ("a.x", r#"{"a": 1}"#, r#"{"a": 2}"#),
            ("a.x", r#"{"a": 1}"#, "{}"),
            ("a.x", r#"{"a": [1]}"#, r#"{"a": [2]}"#),
            ("a[5]", r#"{"a": [1]}"#, r#"{"a": [2]}"#),
            ("[0]", r#"{"a": 1}"#, r#"{"a": 2}"#),
            ("a[0]", r#"{"a": {"x": 1}}"#, r#"{"a": {"x": 2}}"#),
        ] {
            check(path, old, new, Ok(new));
        }
    }

    #[test]
    fn a_wildcard_is_applied_where_it_can_be_and_the_array_keeps_its_length() {
        let mut new = map(r#"{"a": [9, 9, 9]}"#);
        let outcome = PropertyPath::parse("a[*]")
            .unwrap()
            .reset(&mut new, &map(r#"{"a": [1, 2]}"#));
        assert!(outcome.is_err());
        assert_eq!(new, map(r#"{"a": [1, 2, 9]}"#));
    }

    #[test]
    fn failures_are_named_and_bad_paths_are_passed_over() {
        let paths: Vec<EcoString> = ["value", "tags.x", "oops[", "items[0]"]
            .map(EcoString::from)
            .into();
        let mut new = map(r#"{"other": "new"}"#);
        let failed = reset_paths(
            &paths,
            &mut new,
            &map(r#"{"value": "one", "tags": {"x": 1}, "items": [1]}"#),
        );
        assert_eq!(failed, ["tags.x", "items[0]"]);
        assert_eq!(new, map(r#"{"other": "new", "value": "one"}"#));
    }

    fn at(path: &str, new: &PropertyMap, old: &PropertyMap) -> PropertyMap {
        let mut result = new.clone();
        PropertyPath::parse(path)
            .unwrap()
            .reset(&mut result, old)
            .unwrap();
        result
    }

    /// PULUMI-19, IMPORT-05.
    #[test]
    fn the_old_value_decides_whether_the_property_is_secret() {
        let plain = map(r#"{"a": "v"}"#);
        let secret = PropertyMap::new().with("a", Value::secret("w".into()));
        assert_eq!(at("a", &secret, &plain), plain);
        assert_eq!(at("a", &plain, &secret), secret);
    }

    #[test]
    fn elements_inside_secrets_are_reached_and_stay_secret() {
        let list = |values: &[f64]| Value::array(values.iter().copied().map(Value::Number));
        let with = |value: Value| PropertyMap::new().with("a", value);
        let (old, new) = (list(&[1.0, 2.0]), list(&[8.0, 9.0]));
        let secret = Value::secret;
        assert_eq!(
            at(
                "a[0]",
                &with(secret(new.clone())),
                &with(secret(old.clone()))
            ),
            with(secret(list(&[1.0, 9.0])))
        );
        assert_eq!(
            at("a[0]", &with(secret(new.clone())), &with(old.clone())),
            with(secret(list(&[1.0, 9.0])))
        );
        let wrapped = Value::array([secret(1.0.into()), 9.0.into()]);
        assert_eq!(at("a[0]", &with(new), &with(secret(old))), with(wrapped));
    }

    proptest! {
        #[test]
        fn resetting_again_changes_nothing(
            old in property_map(),
            new in property_map(),
            path in r"[ab*](\.[ab*]|\[[01*]\]){0,3}",
        ) {
            let path = PropertyPath::parse(&path).unwrap();
            let mut once = new.clone();
            let first = path.reset(&mut once, &old);
            let mut twice = once.clone();
            let second = path.reset(&mut twice, &old);
            prop_assert_eq!(first, second);
            prop_assert_eq!(&once, &twice);
            if !path.has_wildcards() && first_failed(&path, &new, &old) {
                prop_assert_eq!(once, new);
            }
        }

        #[test]
        fn resetting_to_itself_changes_nothing(root in property_map(), path in r"[ab*](\.[ab*]|\[[01*]\]){0,3}") {
            let path = PropertyPath::parse(&path).unwrap();
            let mut new = root.clone();
            prop_assert_eq!(path.reset(&mut new, &root), Ok(()));
            prop_assert_eq!(new, root);
        }
    }

    fn first_failed(path: &PropertyPath, new: &PropertyMap, old: &PropertyMap) -> bool {
        path.reset(&mut new.clone(), old).is_err()
    }
}
