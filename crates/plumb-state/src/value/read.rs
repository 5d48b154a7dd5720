//! Parsing of property values from JSON.
//!
//! Secrets remain sealed: [`Value::Secret`] with a [`Value::String`] that holds the ciphertext, or with
//! [`Value::Bytes`] that hold plaintext JSON, if the file contains plaintext.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ecow::EcoString;
use plumb_resource::UNKNOWN_SENTINEL;
use plumb_value::{
    Archive, ArchiveSource, Asset, AssetSource, EMPTY_TEXT_HASH, PropertyKey, PropertyMap,
    ReferenceId, ResourceReference, Value,
};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::signature;

/// A property value in a file.
pub(crate) struct WireValue(pub(crate) Value);

/// An object of property values; null means the empty object.
#[derive(Default)]
pub(crate) struct WireProperties(pub(crate) Arc<PropertyMap>);

/// Error in an object with a signature whose other members do not match it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum EnvelopeError {
    #[error("the signature of a property value is not a string")]
    SignatureIsNotText,
    #[error("unrecognized signature '{signature}' in property map")]
    UnknownSignature { signature: EcoString },
    #[error("a secret value must have one of ciphertext and plaintext, as a string")]
    Secret,
    #[error("the member '{member}' of a {kind} is not a string")]
    MemberIsNotText {
        kind: &'static str,
        member: &'static str,
    },
    #[error("the assets of an archive are not an object of assets and archives")]
    ArchiveMembers,
    #[error("a resource reference has no urn")]
    ReferenceWithoutUrn,
    #[error("the id of a resource reference is neither text nor an object")]
    ReferenceId,
    #[error("a number without decimal form is not written as 64 bits in hexadecimal")]
    NumberBits,
    #[error("a byte string is not written in base64")]
    Base64,
}

impl<'de> Deserialize<'de> for WireValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(WireValue)
    }
}

impl<'de> Deserialize<'de> for WireProperties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PropertiesVisitor)
    }
}

struct PropertiesVisitor;

impl<'de> Visitor<'de> for PropertiesVisitor {
    type Value = WireProperties;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of property values")
    }

    fn visit_unit<E: Error>(self) -> Result<WireProperties, E> {
        Ok(WireProperties::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WireProperties, A::Error> {
        Ok(WireProperties(Arc::new(read_map(map)?)))
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a property value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(if text == UNKNOWN_SENTINEL {
            Value::UNKNOWN
        } else {
            Value::from(text)
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(WireValue(value)) = elements.next_element()? {
            values.push(value);
        }
        Ok(Value::from(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        let map = read_map(map)?;
        match map.get(signature::KEY) {
            None => Ok(Value::from(map)),
            Some(_) => read_envelope(&map).map_err(Error::custom),
        }
    }
}

fn read_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<PropertyMap, A::Error> {
    let mut entries: Vec<(PropertyKey, Value)> = Vec::new();
    while let Some(key) = map.next_key::<EcoString>()? {
        entries.push((key.into(), map.next_value::<WireValue>()?.0));
    }
    Ok(entries.into_iter().collect())
}

fn read_envelope(map: &PropertyMap) -> Result<Value, EnvelopeError> {
    let kind = map
        .get(signature::KEY)
        .and_then(text_of)
        .ok_or(EnvelopeError::SignatureIsNotText)?;
    match kind.as_str() {
        signature::SECRET => read_secret(map),
        signature::ASSET => read_asset(map),
        signature::ARCHIVE => read_archive(map),
        signature::RESOURCE => read_reference(map),
        signature::NUMBER => read_number(map),
        signature::BYTES => read_bytes(map),
        _ => Err(EnvelopeError::UnknownSignature { signature: kind }),
    }
}

/// Text of a string, also if the string was parsed as an unknown value.
fn text_of(value: &Value) -> Option<EcoString> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Computed(_) => Some(UNKNOWN_SENTINEL.into()),
        _ => None,
    }
}

fn optional_text(
    map: &PropertyMap,
    kind: &'static str,
    member: &'static str,
) -> Result<Option<EcoString>, EnvelopeError> {
    match map.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => text_of(value)
            .map(Some)
            .ok_or(EnvelopeError::MemberIsNotText { kind, member }),
    }
}

fn read_secret(map: &PropertyMap) -> Result<Value, EnvelopeError> {
    let sealed = match (map.get("ciphertext"), map.get("plaintext")) {
        (Some(ciphertext), None) => {
            Value::String(text_of(ciphertext).ok_or(EnvelopeError::Secret)?)
        }
        (None, Some(plaintext)) => Value::Bytes(
            text_of(plaintext)
                .ok_or(EnvelopeError::Secret)?
                .as_bytes()
                .into(),
        ),
        _ => return Err(EnvelopeError::Secret),
    };
    Ok(Value::secret(sealed))
}

fn read_asset(map: &PropertyMap) -> Result<Value, EnvelopeError> {
    let member = |name| optional_text(map, "asset", name);
    let hash = member("hash")?.unwrap_or_default();
    let is_there = |text: &EcoString| !text.is_empty();
    let source = if let Some(text) = member("text")?.filter(is_there) {
        AssetSource::Text(text)
    } else if let Some(path) = member("path")?.filter(is_there) {
        AssetSource::Path(path)
    } else if let Some(uri) = member("uri")?.filter(is_there) {
        AssetSource::Uri(uri)
    } else if hash.is_empty() || hash == EMPTY_TEXT_HASH {
        // An empty text is not written. With another hash, the content is not known.
        AssetSource::Text(EcoString::new())
    } else {
        AssetSource::Elided
    };
    Ok(Value::Asset(Arc::new(Asset { hash, source })))
}

fn read_archive(map: &PropertyMap) -> Result<Value, EnvelopeError> {
    let member = |name| optional_text(map, "archive", name);
    let hash = member("hash")?.unwrap_or_default();
    let is_there = |text: &EcoString| !text.is_empty();
    let source = match map.get("assets") {
        Some(Value::Object(members)) => {
            let is_legal = |value: &Value| matches!(value, Value::Asset(_) | Value::Archive(_));
            if !members.values().all(is_legal) {
                return Err(EnvelopeError::ArchiveMembers);
            }
            ArchiveSource::Assets(
                members
                    .iter()
                    .map(|(key, value)| (key.to_text(), value.clone()))
                    .collect(),
            )
        }
        Some(Value::Null) | None => {
            if let Some(path) = member("path")?.filter(is_there) {
                ArchiveSource::Path(path)
            } else if let Some(uri) = member("uri")?.filter(is_there) {
                ArchiveSource::Uri(uri)
            } else {
                ArchiveSource::Elided
            }
        }
        Some(_) => return Err(EnvelopeError::ArchiveMembers),
    };
    Ok(Value::Archive(Arc::new(Archive { hash, source })))
}

fn read_reference(map: &PropertyMap) -> Result<Value, EnvelopeError> {
    let urn = optional_text(map, "resource reference", "urn")?
        .ok_or(EnvelopeError::ReferenceWithoutUrn)?;
    let package_version =
        optional_text(map, "resource reference", "packageVersion")?.unwrap_or_default();
    let id = match map.get("id") {
        // In old files, the id is inside an object.
        Some(Value::Object(wrapped)) => match wrapped.get("V") {
            None | Some(Value::Null) => ReferenceId::None,
            Some(value) => text_of(value).map_or(ReferenceId::Unknown, reference_id),
        },
        None | Some(Value::Null) => ReferenceId::None,
        Some(value) => reference_id(text_of(value).ok_or(EnvelopeError::ReferenceId)?),
    };
    let (name, type_token) = (None, None);
    Ok(Value::Resource(Arc::new(ResourceReference {
        urn,
        id,
        name,
        type_token,
        package_version,
    })))
}

fn reference_id(text: EcoString) -> ReferenceId {
    if text.is_empty() || text == UNKNOWN_SENTINEL {
        ReferenceId::Unknown
    } else {
        ReferenceId::Known(text)
    }
}

fn read_number(map: &PropertyMap) -> Result<Value, EnvelopeError> {
    let text = map
        .get("value")
        .and_then(text_of)
        .ok_or(EnvelopeError::NumberBits)?;
    let bits = u64::from_str_radix(&text, 16).map_err(|_| EnvelopeError::NumberBits)?;
    Ok(Value::Number(f64::from_bits(bits)))
}

fn read_bytes(map: &PropertyMap) -> Result<Value, EnvelopeError> {
    let text = map
        .get("value")
        .and_then(text_of)
        .ok_or(EnvelopeError::Base64)?;
    let bytes = STANDARD
        .decode(text.as_bytes())
        .map_err(|_| EnvelopeError::Base64)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Value::from(text),
        Err(error) => Value::Bytes(error.into_bytes().into()),
    })
}
