//! The closed set of property values.

use std::fmt;
use std::sync::Arc;

use ecow::EcoString;

use crate::{Archive, Asset, PropertyMap, ReferenceId, ResourceReference};

/// A property value.
///
/// Equality compares content. Secrets and outputs are part of it: `Secret(1) != 1`. Use [`Value::without_secrets`] first to
/// compare the content inside them.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// JSON null. Not the same as an absent property.
    Null,
    /// A boolean.
    Bool(bool),
    /// An IEEE double; NaN and infinities are legal.
    Number(f64),
    /// Text.
    String(EcoString),
    /// A string that is not valid UTF-8.
    Bytes(Arc<[u8]>),
    /// An ordered list.
    Array(Arc<Vec<Value>>),
    /// A map from keys to values.
    Object(Arc<PropertyMap>),
    /// A file-like blob.
    Asset(Arc<Asset>),
    /// A collection of assets.
    Archive(Arc<Archive>),
    /// A value that must never be shown or stored in the clear.
    Secret(Arc<Value>),
    /// A value that is not known yet, as during a preview.
    Computed(UnknownKind),
    /// A value with its dependencies. SDKs send this form to peers that accept it.
    Output(Arc<Output>),
    /// A reference to a resource.
    Resource(Arc<ResourceReference>),
}

/// Expected type of an unknown value; it selects the sentinel on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownKind {
    /// The default, and the only kind that SDKs understand.
    String,
    /// A boolean is expected.
    Bool,
    /// A number is expected.
    Number,
    /// An array is expected.
    Array,
    /// An asset is expected.
    Asset,
    /// An archive is expected.
    Archive,
    /// An object is expected.
    Object,
}

/// A value as an SDK tracks it: possibly unknown, possibly secret, with the URNs of the resources that it was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The value; `None` while unknown.
    pub value: Option<Value>,
    /// Whether the value is secret.
    pub secret: bool,
    /// URNs of the resources that the value depends on, as text.
    pub dependencies: Vec<EcoString>,
}

impl Value {
    /// The unknown value that every SDK understands.
    pub const UNKNOWN: Value = Value::Computed(UnknownKind::String);

    /// An array of the given values.
    pub fn array(values: impl IntoIterator<Item = Value>) -> Value {
        Value::Array(Arc::new(values.into_iter().collect()))
    }

    /// A secret around `value`.
    pub fn secret(value: Value) -> Value {
        Value::Secret(Arc::new(value))
    }

    /// The text of a plain string; `None` for other values.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean of a plain boolean; `None` for other values.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number of a plain number; `None` for other values.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of a plain array; `None` for other values.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(values) => Some(values),
            _ => None,
        }
    }

    /// The properties of a plain object; `None` for other values.
    pub fn as_object(&self) -> Option<&PropertyMap> {
        match self {
            Value::Object(map) => Some(map),
            _ => None,
        }
    }

    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether the value is a secret, or an output marked as secret.
    pub fn is_secret(&self) -> bool {
        match self {
            Value::Secret(_) => true,
            Value::Output(output) => output.secret,
            _ => false,
        }
    }

    /// Whether `test` holds for this value or any value inside it.
    pub fn any(&self, test: &mut impl FnMut(&Value) -> bool) -> bool {
        if test(self) {
            return true;
        }
        match self {
            Value::Array(values) => values.iter().any(|value| value.any(test)),
            Value::Object(map) => map.values().any(|value| value.any(test)),
            Value::Secret(inner) => inner.any(test),
            Value::Output(output) => output.value.as_ref().is_some_and(|value| value.any(test)),
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

    /// Whether any part of the value is not known yet.
    pub fn contains_unknowns(&self) -> bool {
        self.any(&mut |value| match value {
            Value::Computed(_) => true,
            Value::Output(output) => output.value.is_none(),
            _ => false,
        })
    }

    /// Whether any part of the value is secret.
    pub fn contains_secrets(&self) -> bool {
        self.any(&mut Value::is_secret)
    }

    /// Rebuilds the value bottom-up: children first, then `change` is applied to the node.
    #[must_use]
    pub fn map(&self, change: &mut impl FnMut(Value) -> Value) -> Value {
        let rebuilt = match self {
            Value::Array(values) => Value::array(values.iter().map(|value| value.map(change))),
            Value::Object(map) => Value::Object(Arc::new(map.map_values(change))),
            Value::Secret(inner) => Value::secret(inner.map(change)),
            Value::Output(output) => Value::Output(Arc::new(Output {
                value: output.value.as_ref().map(|value| value.map(change)),
                secret: output.secret,
                dependencies: output.dependencies.clone(),
            })),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Asset(_)
            | Value::Archive(_)
            | Value::Computed(_)
            | Value::Resource(_) => self.clone(),
        };
        change(rebuilt)
    }

    /// The value with every secret and output wrapper removed; unknown outputs become unknowns.
    #[must_use]
    pub fn without_secrets(&self) -> Value {
        if !self.any(&mut |value| matches!(value, Value::Secret(_) | Value::Output(_))) {
            return self.clone();
        }
        self.map(&mut |value| match value {
            Value::Secret(inner) => inner.as_ref().clone(),
            Value::Output(output) => output.value.clone().unwrap_or(Value::UNKNOWN),
            other => other,
        })
    }

    /// The value with output wrappers turned into plain, secret or unknown values.
    #[must_use]
    pub fn without_outputs(&self) -> Value {
        if !self.any(&mut |value| matches!(value, Value::Output(_))) {
            return self.clone();
        }
        self.map(&mut |value| match value {
            Value::Output(output) => {
                let plain = output.value.clone().unwrap_or(Value::UNKNOWN);
                if output.secret {
                    Value::secret(plain)
                } else {
                    plain
                }
            }
            other => other,
        })
    }

    /// The value with each resource reference replaced by the resource's id; for components, which have no id, by the URN.
    #[must_use]
    pub fn without_references(&self) -> Value {
        if !self.any(&mut |value| matches!(value, Value::Resource(_))) {
            return self.clone();
        }
        self.map(&mut |value| match value {
            Value::Resource(reference) => match &reference.id {
                ReferenceId::None => Value::String(reference.urn.clone()),
                ReferenceId::Known(id) => Value::String(id.clone()),
                ReferenceId::Unknown => Value::UNKNOWN,
            },
            other => other,
        })
    }
}

/// Prints the value, with secrets hidden.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("Null"),
            Value::Bool(value) => f.debug_tuple("Bool").field(value).finish(),
            Value::Number(value) => f.debug_tuple("Number").field(value).finish(),
            Value::String(text) => f.debug_tuple("String").field(text).finish(),
            Value::Bytes(bytes) => f.debug_tuple("Bytes").field(bytes).finish(),
            Value::Array(values) => f.debug_tuple("Array").field(values).finish(),
            Value::Object(map) => f.debug_tuple("Object").field(map).finish(),
            Value::Asset(asset) => f.debug_tuple("Asset").field(asset).finish(),
            Value::Archive(archive) => f.debug_tuple("Archive").field(archive).finish(),
            Value::Secret(_) => f.write_str("Secret([secret])"),
            Value::Computed(kind) => f.debug_tuple("Computed").field(kind).finish(),
            Value::Output(output) if output.secret => f.write_str("Output([secret])"),
            Value::Output(output) => f.debug_tuple("Output").field(output).finish(),
            Value::Resource(reference) => f.debug_tuple("Resource").field(reference).finish(),
        }
    }
}

/// A value without secrets, unknowns or assets. The names of members have no meaning.
impl From<&serde_json::Value> for Value {
    fn from(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap_or_default()),
            serde_json::Value::String(text) => text.as_str().into(),
            serde_json::Value::Array(values) => Value::array(values.iter().map(Value::from)),
            serde_json::Value::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, value)| (key.as_str().into(), value.into()));
                Value::from(members.collect::<PropertyMap>())
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text.into())
    }
}

impl From<EcoString> for Value {
    fn from(text: EcoString) -> Self {
        Value::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Number(value)
    }
}

impl From<PropertyMap> for Value {
    fn from(map: PropertyMap) -> Self {
        Value::Object(Arc::new(map))
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Value::Array(Arc::new(values))
    }
}
