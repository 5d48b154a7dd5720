//! Property values: the dynamic layer under every typed one.
//!
//! A [`Value`] is anything that can be an input or an output of a resource. Markers may stand at any depth: a list can hold
//! a secret beside an output beside a plain number. Typed code rarely sees one: [`FromValue`] and [`IntoValue`] convert.

mod asset;
mod convert;
mod json;

use std::collections::BTreeMap;
use std::fmt;

pub use asset::{Archive, Asset, AssetOrArchive};
pub use convert::{FromValue, IntoValue, Mismatch};

use crate::output::Output;
use crate::resource::Handle;

/// A property value.
///
/// The macro [`value!`](crate::value!) writes one as JSON would, with outputs and variables inside.
///
/// ```
/// use plumb::{Value, value};
/// let document = Value::from_json(r#"{"names": ["db", "web"]}"#)?;
/// assert_eq!(document, value!({ "names": ["db", "web"] }));
/// let names = document.get("names").and_then(|it| it.as_list());
/// assert_eq!(names.map(<[_]>::len), Some(2));
/// # Ok::<_, plumb::Error>(())
/// ```
#[derive(Clone, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number; integers are exact up to 2^53.
    Number(f64),
    /// Text.
    String(String),
    /// Several values.
    List(Vec<Value>),
    /// Values by name.
    Map(BTreeMap<String, Value>),
    /// A file or text.
    Asset(Asset),
    /// A folder of files.
    Archive(Archive),
    /// A resource, passed by value.
    Resource(Handle),
    /// A value that is encrypted in the state and hidden in output.
    Secret(Box<Value>),
    /// A value that is not known before the deployment.
    Unknown,
    /// A value that is there later.
    Output(Output<Value>),
}

impl Value {
    /// The kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
            Value::Asset(_) => "an asset",
            Value::Archive(_) => "an archive",
            Value::Resource(_) => "a resource",
            Value::Secret(_) => "a secret",
            Value::Unknown => "an unknown value",
            Value::Output(_) => "an output",
        }
    }

    /// The text, if this is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The values of a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(values) => Some(values),
            _ => None,
        }
    }

    /// The values of an object.
    pub fn as_map(&self) -> Option<&BTreeMap<String, Value>> {
        match self {
            Value::Map(values) => Some(values),
            _ => None,
        }
    }

    /// The value called `key` of an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.get(key)
    }

    /// Whether there is something unknown at any depth.
    pub fn contains_unknown(&self) -> bool {
        match self {
            Value::Unknown => true,
            Value::Secret(inner) => inner.contains_unknown(),
            Value::List(values) => values.iter().any(Value::contains_unknown),
            Value::Map(values) => values.values().any(Value::contains_unknown),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Asset(_)
            | Value::Archive(_)
            | Value::Resource(_)
            | Value::Output(_) => false,
        }
    }

    /// Reads JSON.
    #[track_caller]
    pub fn from_json(text: &str) -> crate::Result<Value> {
        json::parse(text)
    }

    /// The value as JSON; an error if something in it has none.
    #[track_caller]
    pub fn to_json(&self) -> crate::Result<String> {
        json::print(self)
    }
}

impl PartialEq for Value {
    /// Values that are not there yet are equal only to themselves.
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) | (Value::Unknown, Value::Unknown) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Number(left), Value::Number(right)) => left == right,
            (Value::String(left), Value::String(right)) => left == right,
            (Value::List(left), Value::List(right)) => left == right,
            (Value::Map(left), Value::Map(right)) => left == right,
            (Value::Asset(left), Value::Asset(right)) => left == right,
            (Value::Archive(left), Value::Archive(right)) => left == right,
            (Value::Resource(left), Value::Resource(right)) => left == right,
            (Value::Secret(left), Value::Secret(right)) => left == right,
            (Value::Output(left), Value::Output(right)) => left.is_same(right),
            _ => false,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::String(text) => text.fmt(f),
            Value::List(values) => f.debug_list().entries(values).finish(),
            Value::Map(values) => f.debug_map().entries(values).finish(),
            Value::Asset(asset) => asset.fmt(f),
            Value::Archive(archive) => archive.fmt(f),
            Value::Resource(handle) => handle.fmt(f),
            Value::Secret(_) => f.write_str("[secret]"),
            Value::Unknown => f.write_str("[unknown]"),
            Value::Output(output) => output.fmt(f),
        }
    }
}

/// A value that is encrypted in the state and hidden in output.
///
/// Its text appears in no debug output; [`expose`](Secret::expose) reads it.
///
/// ```
/// use plumb::Secret;
/// let token = Secret::new("t0p s3cret");
/// assert_eq!(format!("{token:?}"), "[secret]");
/// assert_eq!(token.expose(), &"t0p s3cret");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Marks `value` as a secret.
    pub fn new(value: T) -> Self {
        Secret(value)
    }

    /// The value itself; take care where it goes.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: IntoValue> IntoValue for Secret<T> {
    fn into_value(self) -> Value {
        Value::Secret(Box::new(self.0.into_value()))
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// A [`Value`] as JSON would write it, with expressions inside: numbers, text, outputs, resources' outputs, lists.
///
/// ```
/// use plumb::{Output, value};
/// let name = Output::of("web".to_owned());
/// let document = value!({
///     "version": 1,
///     "names": ["db", name],
///     "nested": { "on": true, "off": null },
/// });
/// assert_eq!(document.get("version").and_then(|it| it.as_f64()), Some(1.0));
/// ```
#[macro_export]
macro_rules! value {
    (null) => { $crate::Value::Null };
    ([ $($items:tt)* ]) => { $crate::__value_list!([] $($items)*) };
    ({ $($fields:tt)* }) => {{
        #[allow(unused_mut)]
        let mut map = ::std::collections::BTreeMap::<::std::string::String, $crate::Value>::new();
        $crate::__value_map!(map $($fields)*);
        $crate::Value::Map(map)
    }};
    ($value:expr) => { $crate::IntoValue::into_value($value) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __value_list {
    ([$($done:expr),*]) => { $crate::Value::List(::std::vec![$($done),*]) };
    ([$($done:expr),*] null $(, $($rest:tt)*)?) => {
        $crate::__value_list!([$($done,)* $crate::value!(null)] $($($rest)*)?)
    };
    ([$($done:expr),*] [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__value_list!([$($done,)* $crate::value!([$($inner)*])] $($($rest)*)?)
    };
    ([$($done:expr),*] {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::__value_list!([$($done,)* $crate::value!({$($inner)*})] $($($rest)*)?)
    };
    ([$($done:expr),*] $next:expr $(, $($rest:tt)*)?) => {
        $crate::__value_list!([$($done,)* $crate::value!($next)] $($($rest)*)?)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __value_map {
    ($map:ident) => {};
    ($map:ident $key:literal : null $(, $($rest:tt)*)?) => {
        $map.insert($key.to_string(), $crate::Value::Null);
        $crate::__value_map!($map $($($rest)*)?);
    };
    ($map:ident $key:literal : [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $map.insert($key.to_string(), $crate::value!([$($inner)*]));
        $crate::__value_map!($map $($($rest)*)?);
    };
    ($map:ident $key:literal : {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $map.insert($key.to_string(), $crate::value!({$($inner)*}));
        $crate::__value_map!($map $($($rest)*)?);
    };
    ($map:ident $key:literal : $value:expr $(, $($rest:tt)*)?) => {
        $map.insert($key.to_string(), $crate::value!($value));
        $crate::__value_map!($map $($($rest)*)?);
    };
    ($map:ident ($key:expr) : $value:expr $(, $($rest:tt)*)?) => {
        $map.insert($key.to_string(), $crate::value!($value));
        $crate::__value_map!($map $($($rest)*)?);
    };
}
