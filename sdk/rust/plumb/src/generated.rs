//! Support for generated packages.
//!
//! Arguments of resources have one type parameter for each required input. It starts as a type that is named after the
//! input, and the setter makes it [`Set`]. Constructors want [`Provided`] for all of them, so a missing input is an error of
//! the compiler that names it.

use crate::input::Inputs;
use crate::output::Output;
use crate::value::{FromValue, IntoValue, Mismatch, Value};

/// A required input that was set.
#[derive(Clone, Copy, Debug)]
pub enum Set {}

/// The mark of a required input that was set.
#[diagnostic::on_unimplemented(
    message = "required input `{Self}` was not set",
    label = "call the setter of this name before using the arguments"
)]
pub trait Provided {}

impl Provided for Set {}

impl Inputs {
    /// Sets the value that an input has without a setter: that of an environment variable, or that of the schema.
    ///
    /// Variables are read when the arguments are made, as SDKs of other languages do.
    pub fn set_default(&mut self, name: &str, variables: &[&str], kind: DefaultKind, value: Value) {
        let found = variables
            .iter()
            .filter_map(|variable| std::env::var(variable).ok())
            .find(|text| !text.is_empty());
        let value = found.and_then(|text| kind.parse(&text)).unwrap_or(value);
        if value != Value::Null {
            self.set_value(name, value);
        }
    }

    /// Sends these inputs as JSON text: providers take their configuration as text.
    pub fn into_json(&mut self, names: &[&str]) {
        for name in names {
            let Some(value) = self.members().get(*name).cloned() else {
                continue;
            };
            if matches!(value, Value::String(_)) {
                continue;
            }
            let text = crate::Output::from_value(value).to_json();
            self.set_value(name, text.into_value());
        }
    }
}

/// Type of an input that an environment variable can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultKind {
    /// Text.
    String,
    /// A number.
    Number,
    /// True or false.
    Bool,
}

impl DefaultKind {
    fn parse(self, text: &str) -> Option<Value> {
        match self {
            DefaultKind::String => Some(Value::String(text.to_owned())),
            DefaultKind::Number => text.parse().ok().map(Value::Number),
            DefaultKind::Bool => match text.to_lowercase().as_str() {
                "true" | "1" => Some(Value::Bool(true)),
                "false" | "0" => Some(Value::Bool(false)),
                _ => None,
            },
        }
    }
}

/// The answer of a function that returns a value instead of an object: an object with one member.
#[derive(Clone, Debug)]
pub struct Single<T>(pub T);

impl<T: FromValue> FromValue for Single<T> {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        T::from_value(only(value)).map(Single)
    }
}

impl Output<Value> {
    /// The only member of an object.
    pub fn single<T: FromValue + Clone + Send + Sync + 'static>(&self) -> Output<T> {
        self.inside(only)
    }
}

/// The only member of an object; null if it has none.
fn only(value: Value) -> Value {
    match value {
        Value::Map(members) => members.into_values().next().unwrap_or_default(),
        Value::Unknown => Value::Unknown,
        _ => Value::Null,
    }
}

/// Makes a type an object: a tuple struct around the values of its members.
#[macro_export]
macro_rules! object {
    ($type:ident) => {
        impl $type {
            /// A member; its name and type are constants of this type.
            pub fn get<T: $crate::FromValue>(
                &self,
                field: $crate::Field<Self, T>,
            ) -> ::std::result::Result<T, $crate::Mismatch> {
                field.read(&self.0)
            }
        }

        impl $crate::FromValue for $type {
            fn from_value(value: $crate::Value) -> ::std::result::Result<Self, $crate::Mismatch> {
                match value {
                    $crate::Value::Map(members) => ::std::result::Result::Ok($type(members)),
                    other => ::std::result::Result::Err($crate::Mismatch::new("an object", &other)),
                }
            }
        }

        impl $crate::IntoValue for $type {
            fn into_value(self) -> $crate::Value {
                $crate::Value::Map(self.0)
            }
        }

        impl ::std::convert::From<$type> for $crate::Input<$type> {
            fn from(value: $type) -> Self {
                $crate::Input::from_value($crate::IntoValue::into_value(value))
            }
        }
    };
}

/// Makes a type an open set of texts: a tuple struct around one. Values that the package does not know yet are values, too.
#[macro_export]
macro_rules! string_enum {
    ($type:ident) => {
        impl $type {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::convert::From<&str> for $type {
            fn from(text: &str) -> Self {
                $type(::std::borrow::Cow::Owned(text.to_owned()))
            }
        }

        impl $crate::FromValue for $type {
            fn from_value(value: $crate::Value) -> ::std::result::Result<Self, $crate::Mismatch> {
                <::std::string::String as $crate::FromValue>::from_value(value)
                    .map(|text| $type(::std::borrow::Cow::Owned(text)))
            }
        }

        impl $crate::IntoValue for $type {
            fn into_value(self) -> $crate::Value {
                $crate::Value::String(self.0.into_owned())
            }
        }

        impl ::std::convert::From<$type> for $crate::Input<$type> {
            fn from(value: $type) -> Self {
                $crate::Input::from_value($crate::IntoValue::into_value(value))
            }
        }

        impl $crate::TextType for $type {}
    };
}
