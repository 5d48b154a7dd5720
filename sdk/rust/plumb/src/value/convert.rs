//! Conversions between values and Rust types.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::{Archive, Asset, AssetOrArchive, Secret, Value};
use crate::output::Output;

/// A type that values become: the type of an output, or of a variable of the configuration.
///
/// ```
/// use plumb::{FromValue, Mismatch, Value, value};
///
/// struct Percent(f64);
///
/// impl FromValue for Percent {
///     fn from_value(value: Value) -> Result<Self, Mismatch> {
///         let number = f64::from_value(value)?;
///         if number > 100.0 {
///             return Err(Mismatch::because("expected at most 100"));
///         }
///         Ok(Percent(number))
///     }
/// }
/// assert!(Percent::from_value(value!(120)).is_err());
/// ```
pub trait FromValue: Sized {
    /// Converts; the error says where in the value something else was expected.
    fn from_value(value: Value) -> Result<Self, Mismatch>;

    /// The value for a property that is missing.
    fn from_missing() -> Result<Self, Mismatch> {
        Self::from_value(Value::Null)
    }
}

/// A type that becomes a value: the type of an input or of an export.
///
/// ```
/// use plumb::{IntoValue, Value, value};
///
/// struct Percent(f64);
///
/// impl IntoValue for Percent {
///     fn into_value(self) -> Value {
///         self.0.into_value()
///     }
/// }
/// assert_eq!(value!({ "share": Percent(12.5) }), value!({ "share": 12.5 }));
/// ```
pub trait IntoValue {
    /// Converts.
    fn into_value(self) -> Value;
}

/// A value of another type than expected.
///
/// ```
/// use plumb::{FromValue, value};
/// let mismatch = Vec::<i64>::from_value(value!([1, "two"])).unwrap_err();
/// assert_eq!(mismatch.path(), "[1]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    path: String,
    problem: String,
}

impl Mismatch {
    /// `expected` with its article, as in "a string", and what there is instead.
    pub fn new(expected: &str, found: &Value) -> Self {
        Mismatch::because(format!("expected {expected}, found {}", found.kind()))
    }

    /// Any other problem.
    pub fn because(problem: impl Into<String>) -> Self {
        Mismatch {
            path: String::new(),
            problem: problem.into(),
        }
    }

    /// Where in the value the problem is; empty for the value itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// This problem as seen from the object around the value.
    #[must_use]
    pub fn in_key(mut self, key: &str) -> Self {
        self.path = match self.path.as_str() {
            "" => key.to_owned(),
            path if path.starts_with('[') => format!("{key}{path}"),
            path => format!("{key}.{path}"),
        };
        self
    }

    /// This problem as seen from the list around the value.
    #[must_use]
    pub fn in_item(mut self, index: usize) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("[{index}]{dot}{}", self.path);
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Mismatch {}

macro_rules! simple {
    ($($type:ty: $expected:literal = $variant:ident),+ $(,)?) => {$(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, Mismatch> {
                match value {
                    Value::$variant(value) => Ok(value),
                    other => Err(Mismatch::new($expected, &other)),
                }
            }
        }

        impl IntoValue for $type {
            fn into_value(self) -> Value {
                Value::$variant(self)
            }
        }
    )+};
}

simple! {
    bool: "a boolean" = Bool,
    f64: "a number" = Number,
    String: "a string" = String,
    Asset: "an asset" = Asset,
    Archive: "an archive" = Archive,
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let Value::Number(number) = value else {
                    return Err(Mismatch::new("an integer", &value));
                };
                // A cast saturates, so a number that changes does not fit.
                let integer = number as $type;
                if (integer as f64).total_cmp(&(number + 0.0)).is_eq() {
                    Ok(integer)
                } else {
                    Err(Mismatch::because(format!(
                        concat!("expected an integer of type ", stringify!($type), ", found {}"),
                        number
                    )))
                }
            }
        }

        impl IntoValue for $type {
            fn into_value(self) -> Value {
                Value::Number(self as f64)
            }
        }
    )+};
}

#[allow(
    clippy::cast_sign_loss,
    clippy::cast_lossless,
    reason = "the check is the comparison"
)]
mod integers {
    use super::{FromValue, IntoValue, Mismatch, Value};

    integers!(i8, i16, i32, i64, u8, u16, u32, u64, usize);
}

impl FromValue for f32 {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        f64::from_value(value).map(|number| number as f32)
    }
}

impl IntoValue for f32 {
    fn into_value(self) -> Value {
        Value::Number(f64::from(self))
    }
}

impl FromValue for Value {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        Ok(value)
    }
}

impl IntoValue for Value {
    fn into_value(self) -> Value {
        self
    }
}

impl IntoValue for &Value {
    fn into_value(self) -> Value {
        self.clone()
    }
}

impl IntoValue for &str {
    fn into_value(self) -> Value {
        Value::String(self.to_owned())
    }
}

impl IntoValue for &String {
    fn into_value(self) -> Value {
        Value::String(self.clone())
    }
}

impl FromValue for () {
    fn from_value(_: Value) -> Result<Self, Mismatch> {
        Ok(())
    }
}

impl IntoValue for () {
    fn into_value(self) -> Value {
        Value::Null
    }
}

impl FromValue for AssetOrArchive {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Asset(asset) => Ok(asset.into()),
            Value::Archive(archive) => Ok(archive.into()),
            other => Err(Mismatch::new("an asset or an archive", &other)),
        }
    }
}

impl IntoValue for AssetOrArchive {
    fn into_value(self) -> Value {
        match self {
            AssetOrArchive::Asset(asset) => Value::Asset(asset),
            AssetOrArchive::Archive(archive) => Value::Archive(archive),
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, IntoValue::into_value)
    }
}

impl<T: FromValue> FromValue for Box<T> {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        T::from_value(value).map(Box::new)
    }
}

impl<T: IntoValue> IntoValue for Box<T> {
    fn into_value(self) -> Value {
        (*self).into_value()
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        let Value::List(values) = value else {
            return Err(Mismatch::new("a list", &value));
        };
        let values = values.into_iter().enumerate();
        values
            .map(|(index, it)| T::from_value(it).map_err(|mismatch| mismatch.in_item(index)))
            .collect()
    }
}

impl<T: IntoValue> IntoValue for Vec<T> {
    fn into_value(self) -> Value {
        Value::List(self.into_iter().map(IntoValue::into_value).collect())
    }
}

impl<T: IntoValue, const N: usize> IntoValue for [T; N] {
    fn into_value(self) -> Value {
        Value::List(self.into_iter().map(IntoValue::into_value).collect())
    }
}

macro_rules! maps {
    ($($type:ident),+) => {$(
        impl<T: FromValue> FromValue for $type<String, T> {
            fn from_value(value: Value) -> Result<Self, Mismatch> {
                let Value::Map(values) = value else {
                    return Err(Mismatch::new("an object", &value));
                };
                let members = values.into_iter().map(|(key, value)| {
                    let value = T::from_value(value).map_err(|it| it.in_key(&key))?;
                    Ok((key, value))
                });
                members.collect()
            }
        }

        impl<T: IntoValue> IntoValue for $type<String, T> {
            fn into_value(self) -> Value {
                let members = self.into_iter();
                Value::Map(members.map(|(key, it)| (key, it.into_value())).collect())
            }
        }
    )+};
}

#[allow(
    clippy::implicit_hasher,
    reason = "values come back with the hasher of std"
)]
mod maps {
    use super::{BTreeMap, FromValue, HashMap, IntoValue, Mismatch, Value};

    maps!(BTreeMap, HashMap);
}

impl<T: FromValue> FromValue for Secret<T> {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Secret(inner) => T::from_value(*inner).map(Secret::new),
            value => T::from_value(value).map(Secret::new),
        }
    }
}

impl<T: IntoValue + Clone + Send + Sync + 'static> IntoValue for Output<T> {
    fn into_value(self) -> Value {
        Value::Output(self.untyped())
    }
}

impl<T: IntoValue + Clone + Send + Sync + 'static> IntoValue for &Output<T> {
    fn into_value(self) -> Value {
        Value::Output(self.untyped())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_do_not_fit_are_mismatches() {
        assert_eq!(u8::from_value(Value::Number(255.0)), Ok(255));
        assert_eq!(i64::from_value(Value::Number(-0.0)), Ok(0));
        for number in [256.0, -1.0, 0.5, f64::NAN, f64::INFINITY] {
            assert!(u8::from_value(Value::Number(number)).is_err(), "{number}");
        }
    }

    #[test]
    fn a_mismatch_says_where() {
        let value = crate::value!({ "a": [{ "b": [1, "x"] }] });
        let error = BTreeMap::<String, Vec<BTreeMap<String, Vec<f64>>>>::from_value(value);
        assert_eq!(
            error.unwrap_err().to_string(),
            "a[0].b[1]: expected a number, found a string"
        );
    }

    #[test]
    fn json_round_trips() {
        let text = r#"{"a":[1,2.5,null,true,"x"],"b":{}}"#;
        assert_eq!(Value::from_json(text).unwrap().to_json().unwrap(), text);
        assert!(Value::Unknown.to_json().is_err());
    }
}
