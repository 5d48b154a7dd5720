//! Decoding of property values.
//!
//! Maps are decoded bottom-up: first the members, with the same options; then the signature, if there is one, determines the
//! meaning of the members (`protocol.md` 2.1). Members that a signature does not define are ignored.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ecow::EcoString;
use plumb_resource::Urn;
use plumb_value::{
    Archive, ArchiveSource, Asset, AssetSource, EMPTY_ARCHIVE_HASH, EMPTY_TEXT_HASH, Output,
    PropertyKey, PropertyMap, ReferenceId, ResourceReference, UnknownKind, Value,
};
use prost_types::value::Kind;
use prost_types::{Struct, Value as WireValue};

use super::{Error, MarshalOptions, signature};

/// Decodes a map; an absent one is empty.
pub fn decode_map(map: Option<&Struct>, options: MarshalOptions) -> Result<PropertyMap, Error> {
    let Some(map) = map else {
        return Ok(PropertyMap::new());
    };
    if !options.skip_internal_keys {
        return decode_members(map, options);
    }
    let shown = map.fields.iter().filter(|(key, _)| !key.starts_with("__"));
    decode_entries(shown, options)
}

/// Decodes an optional map. If absent, the result is `None` with [`MarshalOptions::propagate_nil`], and empty otherwise.
pub fn decode_optional_map(
    map: Option<&Struct>,
    options: MarshalOptions,
) -> Result<Option<PropertyMap>, Error> {
    if map.is_none() && options.propagate_nil {
        return Ok(None);
    }
    decode_map(map, options).map(Some)
}

/// Decodes the value of the property `key`; `None` if the options omit it.
pub fn decode_value(
    key: &str,
    value: &WireValue,
    options: MarshalOptions,
) -> Result<Option<Value>, Error> {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => Ok(Some(Value::Null)),
        Some(Kind::BoolValue(value)) => Ok(Some(Value::Bool(*value))),
        Some(Kind::NumberValue(value)) => Ok(Some(Value::Number(*value))),
        Some(Kind::StringValue(text)) => match signature::unknown_kind(text) {
            Some(kind) => decode_unknown(key, kind, options),
            None => Ok(Some(Value::from(text.as_str()))),
        },
        Some(Kind::ListValue(list)) => {
            let elements = list.values.iter().map(|element| {
                decode_value(key, element, options).map(|element| element.unwrap_or(Value::Null))
            });
            Ok(Some(Value::Array(Arc::new(
                elements.collect::<Result<_, _>>()?,
            ))))
        }
        Some(Kind::StructValue(map)) if map.fields.contains_key(signature::KEY) => {
            decode_signed(key, map, options)
        }
        Some(Kind::StructValue(map)) => Ok(Some(Value::from(decode_members(map, options)?))),
    }
}

fn decode_members(map: &Struct, options: MarshalOptions) -> Result<PropertyMap, Error> {
    decode_entries(map.fields.iter(), options)
}

fn decode_entries<'a>(
    entries: impl Iterator<Item = (&'a String, &'a WireValue)>,
    options: MarshalOptions,
) -> Result<PropertyMap, Error> {
    let mut decoded = Vec::new();
    for (key, value) in entries {
        match decode_value(key, value, options)? {
            Some(Value::Null) if options.skip_nulls => {}
            Some(value) => decoded.push((PropertyKey::from(key.as_str()), value)),
            None => {}
        }
    }
    Ok(decoded.into_iter().collect())
}

fn decode_unknown(
    key: &str,
    kind: UnknownKind,
    options: MarshalOptions,
) -> Result<Option<Value>, Error> {
    if options.reject_unknowns {
        return Err(Error::UnexpectedUnknown {
            key: key.to_owned(),
        });
    }
    if !options.keep_unknowns {
        return Ok(None);
    }
    if options.upgrades() {
        return Ok(Some(known_output(None, false)));
    }
    Ok(Some(Value::Computed(kind)))
}

/// Decodes a map with a signature.
fn decode_signed(key: &str, map: &Struct, options: MarshalOptions) -> Result<Option<Value>, Error> {
    // A null wrapped by a signature is a value, not an absent entry.
    let members = decode_members(map, options.without_nulls(false))?;
    let signed = Signed { key, members };
    match signed.members.get(signature::KEY) {
        Some(Value::String(mark)) => match mark.as_str() {
            signature::SECRET => signed.secret(options).map(Some),
            signature::OUTPUT => signed.output(options),
            signature::RESOURCE => signed.resource(options),
            signature::ASSET => signed.asset(options).map(Some),
            signature::ARCHIVE => signed.archive(options).map(Some),
            signature::BYTE_STRING => signed.byte_string().map(Some),
            other => Err(Error::UnrecognizedSignature {
                signature: other.to_owned(),
                key: key.to_owned(),
            }),
        },
        other => {
            let signature = describe(other);
            Err(Error::UnrecognizedSignature {
                signature: signature.to_owned(),
                key: key.to_owned(),
            })
        }
    }
}

/// Decoded members of a map with a signature, and the key of its property.
struct Signed<'a> {
    key: &'a str,
    members: PropertyMap,
}

impl Signed<'_> {
    fn secret(mut self, options: MarshalOptions) -> Result<Value, Error> {
        let Some(element) = self.members.remove("value") else {
            return Err(Error::MissingValue {
                kind: "secret",
                key: self.key.to_owned(),
            });
        };
        Ok(match options {
            _ if !options.keep_secrets => element,
            _ if options.upgrades() => known_output(Some(element), true),
            _ => Value::secret(element),
        })
    }

    fn output(mut self, options: MarshalOptions) -> Result<Option<Value>, Error> {
        let secret = match self.members.get("secret") {
            None => false,
            Some(Value::Bool(secret)) => *secret,
            Some(_) => return Err(self.malformed("output value", "secret", "a boolean")),
        };
        let dependencies = self.dependencies()?;
        let value = self.members.remove("value");
        if options.keep_output_values {
            return Ok(Some(Value::Output(Arc::new(Output {
                value,
                secret,
                dependencies,
            }))));
        }
        let plain = match value {
            Some(value) => Some(value),
            None => decode_unknown(self.key, UnknownKind::String, options)?,
        };
        Ok(plain.map(|plain| {
            if secret && options.keep_secrets {
                Value::secret(plain)
            } else {
                plain
            }
        }))
    }

    fn dependencies(&self) -> Result<Vec<EcoString>, Error> {
        let malformed = || self.malformed("output value", "dependencies", "an array of strings");
        match self.members.get("dependencies") {
            None => Ok(Vec::new()),
            Some(Value::Array(urns)) => urns
                .iter()
                .map(|urn| match urn {
                    Value::String(urn) => Ok(urn.clone()),
                    _ => Err(malformed()),
                })
                .collect(),
            Some(_) => Err(malformed()),
        }
    }

    fn resource(self, options: MarshalOptions) -> Result<Option<Value>, Error> {
        const KIND: &str = "resource reference";
        let urn = self
            .text(KIND, "urn")?
            .ok_or_else(|| self.malformed(KIND, "urn", "a string"))?;
        let id = self.reference_id()?;
        if !options.keep_resources {
            return match id {
                ReferenceId::None => Ok(Some(Value::String(urn))),
                ReferenceId::Known(id) => Ok(Some(Value::String(id))),
                ReferenceId::Unknown if options.keep_unknowns || options.reject_unknowns => {
                    decode_unknown(self.key, UnknownKind::String, options)
                }
                ReferenceId::Unknown => Ok(Some(Value::from(""))),
            };
        }
        let parsed = Urn::parse(&urn).ok();
        let name = self
            .text(KIND, "name")?
            .or_else(|| parsed.as_ref().map(|urn| urn.name().into()));
        let type_token = self
            .text(KIND, "type")?
            .or_else(|| parsed.as_ref().map(|urn| urn.type_text().into()));
        let package_version = self.text(KIND, "packageVersion")?.unwrap_or_default();
        Ok(Some(Value::Resource(Arc::new(ResourceReference {
            urn,
            id,
            name,
            type_token,
            package_version,
        }))))
    }

    /// Decodes the id of a reference. An empty id, and the unknown sentinel that some SDKs send, mean an id that is not
    /// known yet.
    fn reference_id(&self) -> Result<ReferenceId, Error> {
        match self.members.get("id") {
            None | Some(Value::Null) => Ok(ReferenceId::None),
            Some(Value::String(id)) if id.is_empty() => Ok(ReferenceId::Unknown),
            Some(Value::String(id)) => Ok(ReferenceId::Known(id.clone())),
            Some(Value::Computed(_)) => Ok(ReferenceId::Unknown),
            Some(Value::Output(output)) if output.value.is_none() => Ok(ReferenceId::Unknown),
            Some(_) => Err(self.malformed("resource reference", "id", "a string")),
        }
    }

    fn asset(self, options: MarshalOptions) -> Result<Value, Error> {
        if options.reject_assets {
            return Err(Error::UnexpectedAsset {
                kind: "asset",
                key: self.key.to_owned(),
            });
        }
        let hash = self.text("asset", "hash")?.unwrap_or_default();
        let text = self.text("asset", "text")?;
        let path = self.text("asset", "path")?.filter(|path| !path.is_empty());
        let uri = self.text("asset", "uri")?.filter(|uri| !uri.is_empty());
        let source = match (text, path, uri) {
            (Some(text), _, _) if !text.is_empty() => AssetSource::Text(text),
            (_, Some(path), _) => AssetSource::Path(path),
            (_, None, Some(uri)) => AssetSource::Uri(uri),
            (Some(text), None, None) if hash.is_empty() => AssetSource::Text(text),
            _ if hash == EMPTY_TEXT_HASH => AssetSource::Text(EcoString::new()),
            _ => AssetSource::Elided,
        };
        Ok(Value::Asset(Arc::new(Asset { hash, source })))
    }

    fn archive(mut self, options: MarshalOptions) -> Result<Value, Error> {
        if options.reject_assets {
            return Err(Error::UnexpectedAsset {
                kind: "archive",
                key: self.key.to_owned(),
            });
        }
        let hash = self.text("archive", "hash")?.unwrap_or_default();
        let path = self
            .text("archive", "path")?
            .filter(|path| !path.is_empty());
        let uri = self.text("archive", "uri")?.filter(|uri| !uri.is_empty());
        let members = self.archive_members()?;
        let source = match (path, uri) {
            (Some(path), _) => ArchiveSource::Path(path),
            (None, Some(uri)) => ArchiveSource::Uri(uri),
            (None, None)
                if !members.is_empty() || hash.is_empty() || hash == EMPTY_ARCHIVE_HASH =>
            {
                ArchiveSource::Assets(members)
            }
            (None, None) => ArchiveSource::Elided,
        };
        Ok(Value::Archive(Arc::new(Archive { hash, source })))
    }

    fn archive_members(&mut self) -> Result<BTreeMap<EcoString, Value>, Error> {
        let members = match self.members.remove("assets") {
            None | Some(Value::Null) => return Ok(BTreeMap::new()),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(self.malformed("archive", "assets", "a map")),
        };
        let checked = members.iter().map(|(name, member)| match member {
            Value::Asset(_) | Value::Archive(_) => Ok((name.to_text(), member.clone())),
            _ => Err(Error::ArchiveMember {
                member: name.to_string(),
                key: self.key.to_owned(),
            }),
        });
        checked.collect()
    }

    fn byte_string(self) -> Result<Value, Error> {
        const KIND: &str = "byte string";
        let Some(encoded) = self.text(KIND, "value")? else {
            return Err(Error::MissingValue {
                kind: KIND,
                key: self.key.to_owned(),
            });
        };
        let bytes = STANDARD
            .decode(encoded.as_bytes())
            .map_err(|_| self.malformed(KIND, "value", "standard base64"))?;
        Ok(match String::from_utf8(bytes) {
            Ok(text) => Value::from(text),
            Err(invalid) => Value::Bytes(invalid.into_bytes().into()),
        })
    }

    /// The member `name`, which must be text if present.
    fn text(&self, kind: &'static str, name: &'static str) -> Result<Option<EcoString>, Error> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.malformed(kind, name, "a string")),
        }
    }

    fn malformed(&self, kind: &'static str, member: &'static str, expected: &'static str) -> Error {
        Error::Malformed {
            kind,
            member,
            expected,
            key: self.key.to_owned(),
        }
    }
}

fn known_output(value: Option<Value>, secret: bool) -> Value {
    Value::Output(Arc::new(Output {
        value,
        secret,
        dependencies: Vec::new(),
    }))
}

/// Name of a value's kind for errors about an invalid signature.
fn describe(value: Option<&Value>) -> &'static str {
    match value {
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
        Some(Value::Null) => "null",
        _ => "an unknown value",
    }
}
