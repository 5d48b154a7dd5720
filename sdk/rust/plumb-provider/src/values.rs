//! Values without their markers, and paths inside them.

use std::fmt;

pub(crate) use plumb::provider::{contains_secret, describe, exposed, exposed_members};

use plumb::provider::Members;
use plumb::{Error, FromValue, Result, Value};

/// The value as a secret, unless it is one.
pub(crate) fn secret(value: Value) -> Value {
    match value {
        Value::Secret(_) => value,
        other => Value::Secret(Box::new(other)),
    }
}

/// A value that is there and known.
pub(crate) fn read_known<T: FromValue>(members: &Members, name: &str) -> Result<Option<T>> {
    let Some(marked) = members.get(name) else {
        return Ok(None);
    };
    match exposed(marked) {
        Value::Null => Ok(None),
        value if value.contains_unknown() => Ok(None),
        value => T::from_value(value).map(Some).map_err(|mismatch| {
            let mismatch = mismatch.in_key(name);
            Error::new(describe(&mismatch, contains_secret(marked)))
        }),
    }
}

/// The path of a property: `rules[0].port`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(String);

impl Path {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The property of the object at the top.
    pub(crate) fn root(&self) -> &str {
        let end = self.0.find(['.', '[']).filter(|end| *end > 0);
        &self.0[..end.unwrap_or(self.0.len())]
    }

    /// The member `key` of the object here.
    pub(crate) fn key(&self, key: &str) -> Path {
        let is_plain = !key.is_empty() && !key.contains(['.', '[', ']', '"']);
        Path(match (is_plain, self.0.is_empty()) {
            (true, true) => key.to_owned(),
            (true, false) => format!("{}.{key}", self.0),
            (false, _) => format!("{}[\"{}\"]", self.0, key.replace('"', "\\\"")),
        })
    }

    /// The item `index` of the list here.
    pub(crate) fn item(&self, index: usize) -> Path {
        Path(format!("{}[{index}]", self.0))
    }

    /// Whether `other` is this path or leads to something above it.
    pub(crate) fn is_inside(&self, other: &str) -> bool {
        self.0
            .strip_prefix(other)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
