//! Declared types of settings.

use std::fmt;

use serde_json::Value as Json;

/// Type of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigType {
    /// String.
    String,
    /// Integer.
    Integer,
    /// Boolean.
    Boolean,
    /// Map.
    Object,
    /// List of elements of a type.
    Array(Box<ConfigType>),
}

/// Error for an unknown type name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown type {text:?}: expected one of string, integer, boolean, array, object")]
pub struct TypeError {
    /// The unknown name.
    pub text: String,
}

impl ConfigType {
    /// Type names for declarations.
    pub const NAMES: [&'static str; 5] = ["string", "integer", "boolean", "array", "object"];

    /// Type with this name; `None` for `array`, which also needs an element type.
    pub fn scalar(name: &str) -> Result<Option<Self>, TypeError> {
        Ok(match name {
            "string" => Some(ConfigType::String),
            "integer" => Some(ConfigType::Integer),
            "boolean" => Some(ConfigType::Boolean),
            "object" => Some(ConfigType::Object),
            "array" => None,
            _ => {
                return Err(TypeError {
                    text: name.to_owned(),
                });
            }
        })
    }

    /// Whether `value` has this type. Strings that contain an integer or a boolean count as such.
    pub fn accepts(&self, value: &Json) -> bool {
        match (self, value) {
            (ConfigType::String, Json::String(_)) => true,
            (ConfigType::Integer, Json::Number(number)) => {
                number.is_i64()
                    || number.is_u64()
                    || number.as_f64().is_some_and(|n| n.fract() == 0.0)
            }
            (ConfigType::Integer, Json::String(text)) => text.parse::<i64>().is_ok(),
            (ConfigType::Boolean, Json::Bool(_)) => true,
            (ConfigType::Boolean, Json::String(text)) => text == "true" || text == "false",
            (ConfigType::Object, Json::Object(_)) => true,
            (ConfigType::Array(items), Json::Array(values)) => {
                values.iter().all(|value| items.accepts(value))
            }
            _ => false,
        }
    }
}

impl fmt::Display for ConfigType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigType::String => f.write_str("string"),
            ConfigType::Integer => f.write_str("integer"),
            ConfigType::Boolean => f.write_str("boolean"),
            ConfigType::Object => f.write_str("object"),
            ConfigType::Array(items) => write!(f, "array<{items}>"),
        }
    }
}
