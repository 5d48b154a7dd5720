//! Resetting the value at a path to that of another property map, which implements ignoreChanges.
//!
//! The rules are those of `engine.md` 4.5, with the behaviour of the reference where the two sides have different shapes:
//!
//! 1. The last segment copies: a property of the old side is copied to the new side; one that the old side lacks is removed.
//! 2. **Arrays are never resized.** An index as the last segment fails if only one side has it; an index further up fails if
//!    either side lacks it.
//! 3. A key further up that only the new side has is entered, with nothing on the old side: for `tags.y.z`, `y` may be new,
//!    and its `z` is removed. A key that only the old side has is a failure, because nothing is created on the way.
//! 4. A container on one side and a value without elements on the other are a failure. Two values without elements are not,
//!    because there is nothing to ignore.
//! 5. A wildcard as the last segment stands for every key or index of a container. Further up it stands for those of the old
//!    side, and both sides must be containers of the same kind.
//! 6. **Nothing stops being secret:** a value copied out of a secret is marked as secret, unless its new place is inside
//!    one.

use std::sync::Arc;

use ecow::EcoString;

use super::{PathSegment, PropertyPath};
use crate::{PropertyKey, PropertyMap, Value};

/// Error for a path through elements that only one of the two sides has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot ignore changes in added or removed elements of the path `{path}`")]
pub struct ResetError {
    /// The path.
    pub path: PropertyPath,
}

impl PropertyPath {
    /// Resets the value of `new` at this path to that of `old`.
    ///
    /// On failure nothing is changed. A path with wildcards is the exception: it is applied to every match that can be
    /// reset.
    pub fn reset(&self, new: &mut PropertyMap, old: &PropertyMap) -> Result<(), ResetError> {
        let old = Entered {
            shape: Shape::Object(old),
            make_secret: false,
        };
        let done = self
            .segments()
            .split_first()
            .is_some_and(|(first, rest)| reset_map(first, rest, new, old));
        if done {
            Ok(())
        } else {
            Err(ResetError { path: self.clone() })
        }
    }
}

/// Applies [`PropertyPath::reset`] for each path and returns the paths that failed. Texts that are not paths are skipped.
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

/// Old side of a segment: its container, and whether values copied from it must be marked as secret.
#[derive(Clone, Copy)]
struct Entered<'a> {
    shape: Shape<'a>,
    make_secret: bool,
}

#[derive(Clone, Copy)]
enum Shape<'a> {
    Object(&'a PropertyMap),
    Array(&'a [Value]),
    /// A value without elements, or no value at all.
    Leaf,
}

impl<'a> Entered<'a> {
    /// The old side for the next segment.
    fn of(value: Option<&'a Value>, make_secret: bool) -> Self {
        let shape = match value {
            Some(Value::Secret(inner)) => return Entered::of(Some(inner), true),
            Some(Value::Output(output)) => {
                return Entered::of(output.value.as_ref(), make_secret || output.secret);
            }
            Some(Value::Object(map)) => Shape::Object(map),
            Some(Value::Array(values)) => Shape::Array(values),
            _ => Shape::Leaf,
        };
        Entered { shape, make_secret }
    }

    fn copied(self, value: &Value) -> Value {
        if self.make_secret && !value.is_secret() {
            Value::secret(value.clone())
        } else {
            value.clone()
        }
    }
}

fn reset_value(
    segment: &PathSegment,
    rest: &[PathSegment],
    new: &mut Value,
    old: Entered<'_>,
) -> bool {
    match new {
        Value::Secret(inner) => {
            let old = Entered {
                make_secret: false,
                ..old
            };
            reset_value(segment, rest, Arc::make_mut(inner), old)
        }
        Value::Output(output) if output.value.is_some() => {
            let make_secret = old.make_secret && !output.secret;
            let known = Arc::make_mut(output)
                .value
                .as_mut()
                .expect("the guard saw a value");
            reset_value(segment, rest, known, Entered { make_secret, ..old })
        }
        Value::Object(map) => reset_map(segment, rest, Arc::make_mut(map), old),
        Value::Array(values) => {
            reset_array(segment, rest, Arc::make_mut(values).as_mut_slice(), old)
        }
        _ => reset_leaf(segment, rest, old),
    }
}

/// Resets below a new value that is not a container.
fn reset_leaf(segment: &PathSegment, rest: &[PathSegment], old: Entered<'_>) -> bool {
    match (segment, old.shape) {
        (PathSegment::Wildcard, _) => false,
        (PathSegment::Key(key), Shape::Object(old)) => {
            rest.is_empty() && !old.contains_key(key.as_str())
        }
        (PathSegment::Index(_), Shape::Array(_)) => false,
        (PathSegment::Key(_) | PathSegment::Index(_), _) => true,
    }
}

fn reset_map(
    segment: &PathSegment,
    rest: &[PathSegment],
    new: &mut PropertyMap,
    old: Entered<'_>,
) -> bool {
    match segment {
        PathSegment::Key(key) if rest.is_empty() => {
            let value = match old.shape {
                Shape::Object(map) => map.get(key),
                Shape::Array(_) | Shape::Leaf => None,
            };
            match value {
                Some(value) => drop(new.insert(key.as_str(), old.copied(value))),
                None => drop(new.remove(key)),
            }
            true
        }
        PathSegment::Key(key) => match old.shape {
            Shape::Object(map) => reset_below(key, rest, new, map, old.make_secret),
            Shape::Array(_) | Shape::Leaf => false,
        },
        PathSegment::Wildcard => reset_all(rest, new, old),
        PathSegment::Index(_) => !matches!(old.shape, Shape::Array(_)),
    }
}

/// Resets below the property `key`; `rest` are the segments after it.
fn reset_below(
    key: &str,
    rest: &[PathSegment],
    new: &mut PropertyMap,
    old: &PropertyMap,
    make_secret: bool,
) -> bool {
    match (new.get_mut(key), old.get(key), rest.split_first()) {
        (Some(new), old, Some((next, after))) => {
            reset_value(next, after, new, Entered::of(old, make_secret))
        }
        (None, Some(_), _) => false,
        (None, None, _) | (_, _, None) => true,
    }
}

fn reset_all(rest: &[PathSegment], new: &mut PropertyMap, old: Entered<'_>) -> bool {
    let Shape::Object(old_map) = old.shape else {
        return rest.is_empty();
    };
    if rest.is_empty() {
        let added: Vec<PropertyKey> = new
            .keys()
            .filter(|key| !old_map.contains_key(key.as_str()))
            .cloned()
            .collect();
        for key in &added {
            new.remove(key.as_str());
        }
        for (key, value) in old_map {
            new.insert(key.clone(), old.copied(value));
        }
        return true;
    }
    let mut done = true;
    for key in old_map.keys() {
        done &= reset_below(key.as_str(), rest, new, old_map, old.make_secret);
    }
    done
}

fn reset_array(
    segment: &PathSegment,
    rest: &[PathSegment],
    new: &mut [Value],
    old: Entered<'_>,
) -> bool {
    let Shape::Array(old_values) = old.shape else {
        return match segment {
            PathSegment::Wildcard => rest.is_empty(),
            PathSegment::Index(_) => false,
            PathSegment::Key(key) => match old.shape {
                Shape::Object(map) => rest.is_empty() && !map.contains_key(key.as_str()),
                Shape::Array(_) | Shape::Leaf => true,
            },
        };
    };
    match segment {
        PathSegment::Index(idx) => reset_element(*idx, rest, new, old_values, old),
        PathSegment::Wildcard => {
            let mut done = true;
            for idx in 0..new.len().max(old_values.len()) {
                done &= reset_element(idx, rest, new, old_values, old);
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
    old_values: &[Value],
    old: Entered<'_>,
) -> bool {
    match (new.get_mut(idx), old_values.get(idx), rest.split_first()) {
        (Some(new), Some(value), None) => {
            *new = old.copied(value);
            true
        }
        (Some(new), Some(value), Some((next, after))) => {
            reset_value(next, after, new, Entered::of(Some(value), old.make_secret))
        }
        (None, None, None) => true,
        _ => false,
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
        check("a[0]", r#"{"a": [1]}"#, "{}", Err(()));
        check("a[1]", r#"{"a": [1]}"#, r#"{"a": [1, 2]}"#, Err(()));
        check("a[1]", r#"{"a": [1, 2]}"#, r#"{"a": [1]}"#, Err(()));
        check("a.x", r#"{"a": {"x": 1}}"#, r#"{"a": "text"}"#, Err(()));
        check("a.x", r#"{"a": 1}"#, "{}", Err(()));
        check("a[0]", "{}", r#"{"a": [1]}"#, Err(()));
        check("a.x.y", "{}", r#"{"a": {"x": {"y": 1}}}"#, Err(()));
        check(
            "a[5].x",
            r#"{"a": [{"x": 1}]}"#,
            r#"{"a": [{"x": 2}]}"#,
            Err(()),
        );
        check("a.*.x", r#"{"a": 1}"#, r#"{"a": 2}"#, Err(()));
        check("a.*", r#"{"a": 1}"#, r#"{"a": 2}"#, Err(()));
        check(
            "a.x",
            r#"{"a": [1]}"#,
            r#"{"a": {"x": 1}}"#,
            Ok(r#"{"a": {}}"#),
        );
    }

    #[test]
    fn a_key_on_the_way_may_be_new() {
        check(
            "a.x",
            "{}",
            r#"{"a": {"x": 1, "y": 1}}"#,
            Ok(r#"{"a": {"y": 1}}"#),
        );
        check(
            "tags.y.z",
            r#"{"tags": {"x": 2}}"#,
            r#"{"tags": {"y": {"z": 5, "w": 6}}}"#,
            Ok(r#"{"tags": {"y": {"w": 6}}}"#),
        );
        check("a.*", "{}", r#"{"a": {"x": 1}}"#, Ok(r#"{"a": {"x": 1}}"#));
        check("a[*]", r#"{"a": 1}"#, r#"{"a": [1]}"#, Ok(r#"{"a": [1]}"#));
    }

    #[test]
    fn there_is_nothing_to_ignore_where_neither_side_can_be_entered() {
        for (path, old, new) in [
            ("a.x", "{}", "{}"),
            ("a.x", r#"{"a": 1}"#, r#"{"a": 2}"#),
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
            let _ = path.reset(&mut new, &root);
            prop_assert_eq!(new, root);
        }
    }

    fn first_failed(path: &PropertyPath, new: &PropertyMap, old: &PropertyMap) -> bool {
        path.reset(&mut new.clone(), old).is_err()
    }
}
