//! Access to the value at a path.

use std::sync::Arc;

use super::{PathSegment, PropertyPath};
use crate::{PropertyMap, Value};

/// Errors for a path at which no value can be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// A name is applied to a value other than an object.
    #[error("expected a map at `{path}`")]
    NotAnObject {
        /// Path of that value.
        path: PropertyPath,
    },
    /// An index is applied to a value other than an array.
    #[error("expected an array at `{path}`")]
    NotAnArray {
        /// Path of that value.
        path: PropertyPath,
    },
    /// The index is more than one past the end.
    #[error("array index out of range at `{path}`")]
    OutOfRange {
        /// Path of the element.
        path: PropertyPath,
    },
    /// The path has a wildcard, so that it names several places.
    #[error("property path `{path}` has a wildcard")]
    Wildcard {
        /// The path.
        path: PropertyPath,
    },
}

impl PropertyPath {
    /// The value at the path; `None` if there is none, and for paths with wildcards.
    pub fn get<'a>(&self, root: &'a PropertyMap) -> Option<&'a Value> {
        let (first, rest) = self.segments().split_first()?;
        let PathSegment::Key(key) = first else {
            return None;
        };
        get_in(rest, root.get(key)?)
    }

    /// The value at the path, starting from `root`.
    pub fn get_in<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        get_in(self.segments(), root)
    }

    /// Stores `value` at the path. Missing objects and arrays on the way are created; an array grows by one element at most.
    pub fn set(&self, root: &mut PropertyMap, value: impl Into<Value>) -> Result<(), AccessError> {
        if self.has_wildcards() {
            return Err(AccessError::Wildcard { path: self.clone() });
        }
        let Some((PathSegment::Key(key), rest)) = self.segments().split_first() else {
            return Err(AccessError::NotAnArray {
                path: PropertyPath::default(),
            });
        };
        let new = value.into();
        if let Some(present) = root.get_mut(key) {
            return self.set_in(rest, present, new);
        }
        let mut created = Value::Null;
        self.set_in(rest, &mut created, new)?;
        root.insert(key.clone(), created);
        Ok(())
    }

    /// Removes the value at the path and returns it. The elements after it move up.
    pub fn delete(&self, root: &mut PropertyMap) -> Option<Value> {
        let (first, rest) = self.segments().split_first()?;
        let PathSegment::Key(key) = first else {
            return None;
        };
        if rest.is_empty() {
            return root.remove(key);
        }
        // A missing value is detected first, because mutable access would copy shared values for nothing.
        self.get(root)?;
        delete_in(rest, root.get_mut(key)?)
    }

    fn set_in(&self, rest: &[PathSegment], at: &mut Value, new: Value) -> Result<(), AccessError> {
        let Some((segment, after)) = rest.split_first() else {
            *at = new;
            return Ok(());
        };
        let here = || {
            PropertyPath::new(
                self.segments()[..self.segments().len() - rest.len()]
                    .iter()
                    .cloned(),
            )
        };
        let at = unwrapped_mut(at);
        match (segment, &mut *at) {
            (PathSegment::Key(key), Value::Object(map)) => {
                let map = Arc::make_mut(map);
                if let Some(present) = map.get_mut(key) {
                    return self.set_in(after, present, new);
                }
                map.insert(key.clone(), self.created(after, new)?);
                Ok(())
            }
            (PathSegment::Key(key), Value::Null) => {
                *at = PropertyMap::new()
                    .with(key.clone(), self.created(after, new)?)
                    .into();
                Ok(())
            }
            (PathSegment::Index(idx), Value::Array(values)) if *idx < values.len() => {
                self.set_in(after, &mut Arc::make_mut(values)[*idx], new)
            }
            (PathSegment::Index(idx), Value::Array(values)) if *idx == values.len() => {
                let created = self.created(after, new)?;
                Arc::make_mut(values).push(created);
                Ok(())
            }
            (PathSegment::Index(0), Value::Null) => {
                *at = vec![self.created(after, new)?].into();
                Ok(())
            }
            (PathSegment::Index(idx), Value::Array(_) | Value::Null) => {
                Err(AccessError::OutOfRange {
                    path: here().join_index(*idx),
                })
            }
            (PathSegment::Index(_), _) => Err(AccessError::NotAnArray { path: here() }),
            (PathSegment::Key(_), _) => Err(AccessError::NotAnObject { path: here() }),
            (PathSegment::Wildcard, _) => Err(AccessError::Wildcard { path: self.clone() }),
        }
    }

    fn created(&self, rest: &[PathSegment], new: Value) -> Result<Value, AccessError> {
        let mut created = Value::Null;
        self.set_in(rest, &mut created, new)?;
        Ok(created)
    }
}

fn get_in<'a>(segments: &[PathSegment], mut at: &'a Value) -> Option<&'a Value> {
    for segment in segments {
        at = match (segment, unwrapped(at)?) {
            (PathSegment::Key(key), Value::Object(map)) => map.get(key)?,
            (PathSegment::Index(idx), Value::Array(values)) => values.get(*idx)?,
            _ => return None,
        };
    }
    Some(at)
}

fn delete_in(rest: &[PathSegment], at: &mut Value) -> Option<Value> {
    let (segment, after) = rest.split_first()?;
    match (segment, unwrapped_mut(at)) {
        (PathSegment::Key(key), Value::Object(map)) => {
            let map = Arc::make_mut(map);
            if after.is_empty() {
                map.remove(key)
            } else {
                delete_in(after, map.get_mut(key)?)
            }
        }
        (PathSegment::Index(idx), Value::Array(values)) if *idx < values.len() => {
            let values = Arc::make_mut(values);
            if after.is_empty() {
                Some(values.remove(*idx))
            } else {
                delete_in(after, &mut values[*idx])
            }
        }
        _ => None,
    }
}

/// The value inside secrets and outputs; `None` if an output is unknown.
fn unwrapped(mut value: &Value) -> Option<&Value> {
    loop {
        value = match value {
            Value::Secret(inner) => inner,
            Value::Output(output) => output.value.as_ref()?,
            plain => return Some(plain),
        };
    }
}

/// The value inside secrets and known outputs, mutable.
fn unwrapped_mut(value: &mut Value) -> &mut Value {
    if matches!(value, Value::Output(output) if output.value.is_none()) {
        return value;
    }
    match value {
        Value::Secret(inner) => unwrapped_mut(Arc::make_mut(inner)),
        Value::Output(output) => {
            let known = Arc::make_mut(output)
                .value
                .as_mut()
                .expect("unknown outputs were seen to above");
            unwrapped_mut(known)
        }
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_values::{json, map, property_map};

    fn path(text: &str) -> PropertyPath {
        PropertyPath::parse(text).unwrap()
    }

    #[test]
    fn values_are_found_through_secrets() {
        let mut root = map(r#"{"a": {"b": [1, {"c.d": "x"}]}}"#);
        assert_eq!(path("a.b[1][\"c.d\"]").get(&root), Some(&Value::from("x")));
        for absent in ["a.x", "a.b[2]", "a[0]", "a.b.c", "x", "[0]", "a.*", "*"] {
            assert_eq!(path(absent).get(&root), None, "{absent}");
        }
        let secret = Value::secret(root.get("a").unwrap().clone());
        root.insert("a", secret);
        assert_eq!(path("a.b[0]").get(&root), Some(&Value::from(1.0)));
        path("a.b[0]").set(&mut root, 2.0).unwrap();
        assert!(root.get("a").unwrap().is_secret());
        assert_eq!(path("a.b[0]").get(&root), Some(&Value::from(2.0)));
    }

    #[test]
    fn setting_creates_what_is_missing() {
        let mut root = PropertyMap::new();
        path("a.b[0].c").set(&mut root, true).unwrap();
        path("a.b[1]").set(&mut root, "end").unwrap();
        assert_eq!(root, map(r#"{"a": {"b": [{"c": true}, "end"]}}"#));
    }

    #[test]
    fn setting_where_nothing_can_be_is_an_error() {
        let mut root = map(r#"{"a": {"b": [1]}, "s": "text"}"#);
        let before = root.clone();
        for (text, expected) in [
            (
                "a.b[2]",
                AccessError::OutOfRange {
                    path: path("a.b[2]"),
                },
            ),
            ("n[1]", AccessError::OutOfRange { path: path("n[1]") }),
            ("a.b.c", AccessError::NotAnObject { path: path("a.b") }),
            (
                "a.b[1][1]",
                AccessError::OutOfRange {
                    path: path("a.b[1][1]"),
                },
            ),
            ("s[0]", AccessError::NotAnArray { path: path("s") }),
            (
                "[0]",
                AccessError::NotAnArray {
                    path: PropertyPath::default(),
                },
            ),
            ("a.*", AccessError::Wildcard { path: path("a.*") }),
        ] {
            assert_eq!(path(text).set(&mut root, 1.0), Err(expected), "{text}");
        }
        assert_eq!(root, before);
    }

    #[test]
    fn deleting_shifts_arrays_and_leaves_empty_containers() {
        let mut root = map(r#"{"a": {"b": [1, 2, 3]}, "c": {"d": 1}}"#);
        assert_eq!(path("a.b[0]").delete(&mut root), Some(Value::from(1.0)));
        assert_eq!(path("c.d").delete(&mut root), Some(Value::from(1.0)));
        assert_eq!(path("c.d").delete(&mut root), None);
        assert_eq!(path("a.b[5]").delete(&mut root), None);
        assert_eq!(root, map(r#"{"a": {"b": [2, 3]}, "c": {}}"#));
    }

    fn segment() -> impl Strategy<Value = PathSegment> {
        prop_oneof![
            2 => "[a-c]".prop_map(PathSegment::from_name),
            1 => (0usize..3).prop_map(PathSegment::Index),
        ]
    }

    proptest! {
        #[test]
        fn what_is_set_is_found_and_can_be_deleted(
            mut root in property_map(),
            segments in proptest::collection::vec(segment(), 1..4),
        ) {
            let path = PropertyPath::new(segments);
            let new = json(r#"{"new": [1]}"#);
            let before = root.clone();
            if path.set(&mut root, new.clone()).is_ok() {
                prop_assert_eq!(path.get(&root), Some(&new));
                prop_assert_eq!(path.delete(&mut root), Some(new));
            } else {
                prop_assert_eq!(root, before);
            }
        }
    }
}
