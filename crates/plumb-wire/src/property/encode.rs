//! Encoding of property values.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ecow::EcoString;
use plumb_resource::Urn;
use plumb_value::{
    Archive, ArchiveSource, Asset, AssetSource, EMPTY_ARCHIVE_HASH, EMPTY_TEXT_HASH, Output,
    PropertyMap, ReferenceId, ResourceReference, UnknownKind, Value,
};
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as WireValue};

use super::{Error, MarshalOptions, signature};

/// Encodes a map.
pub fn encode_map(map: &PropertyMap, options: MarshalOptions) -> Result<Struct, Error> {
    let mut fields = BTreeMap::new();
    for (key, value) in map {
        if options.skip_internal_keys && key.as_str().starts_with("__") {
            continue;
        }
        insert_entry(&mut fields, key.as_str(), value, options)?;
    }
    Ok(Struct { fields })
}

/// Encodes an optional map. `None` becomes absent with [`MarshalOptions::propagate_nil`], and empty otherwise.
pub fn encode_optional_map(
    map: Option<&PropertyMap>,
    options: MarshalOptions,
) -> Result<Option<Struct>, Error> {
    match map {
        Some(map) => encode_map(map, options).map(Some),
        None if options.propagate_nil => Ok(None),
        None => Ok(Some(Struct::default())),
    }
}

/// Encodes the value of the property `key`; `None` if the options omit it.
pub fn encode_value(
    key: &str,
    value: &Value,
    options: MarshalOptions,
) -> Result<Option<WireValue>, Error> {
    Ok(match value {
        Value::Null => Some(wire(Kind::NullValue(0))),
        Value::Bool(value) => Some(wire(Kind::BoolValue(*value))),
        Value::Number(value) => Some(wire(Kind::NumberValue(*value))),
        Value::String(text) => Some(string(text)),
        Value::Bytes(bytes) => Some(byte_string(key, bytes, options)?),
        Value::Array(values) => Some(array(key, values, options)?),
        Value::Object(map) => Some(object(map, options)?),
        Value::Asset(value) => Some(asset(key, value, options)?),
        Value::Archive(value) => Some(archive(key, value, options)?),
        Value::Secret(inner) => secret(key, inner, options)?,
        Value::Computed(kind) => unknown(key, *kind, options)?,
        Value::Output(value) => output(key, value, options)?,
        Value::Resource(reference) => resource(key, reference, options)?,
    })
}

fn insert_entry(
    fields: &mut BTreeMap<String, WireValue>,
    key: &str,
    value: &Value,
    options: MarshalOptions,
) -> Result<(), Error> {
    if options.skip_nulls && value.is_null() {
        return Ok(());
    }
    if let Some(value) = encode_value(key, value, options)? {
        fields.insert(key.to_owned(), value);
    }
    Ok(())
}

fn byte_string(key: &str, bytes: &[u8], options: MarshalOptions) -> Result<WireValue, Error> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(string(text));
    }
    if !options.keep_byte_strings {
        return Err(Error::ByteString {
            key: key.to_owned(),
        });
    }
    Ok(signed(
        signature::BYTE_STRING,
        [("value", Some(string(&STANDARD.encode(bytes))))],
    ))
}

fn array(key: &str, elements: &[Value], options: MarshalOptions) -> Result<WireValue, Error> {
    let mut values = Vec::with_capacity(elements.len());
    for element in elements {
        values.extend(encode_value(key, element, options)?);
    }
    Ok(wire(Kind::ListValue(ListValue { values })))
}

fn object(map: &PropertyMap, options: MarshalOptions) -> Result<WireValue, Error> {
    let mut fields = BTreeMap::new();
    for (key, value) in map {
        insert_entry(&mut fields, key.as_str(), value, options)?;
    }
    Ok(wire(Kind::StructValue(Struct { fields })))
}

fn asset(key: &str, asset: &Asset, options: MarshalOptions) -> Result<WireValue, Error> {
    if options.reject_assets {
        return Err(Error::UnexpectedAsset {
            kind: "asset",
            key: key.to_owned(),
        });
    }
    let (mut hash, mut content) = (asset.hash.as_str(), None);
    match &asset.source {
        // The hash distinguishes an empty text from elided contents.
        AssetSource::Text(text) if text.is_empty() && hash.is_empty() => hash = EMPTY_TEXT_HASH,
        AssetSource::Text(text) => content = Some(("text", text)),
        AssetSource::Path(path) => content = Some(("path", path)),
        AssetSource::Uri(uri) => content = Some(("uri", uri)),
        AssetSource::Elided => {}
    }
    let mut members = vec![("hash", non_empty(hash))];
    if !options.elide_asset_contents {
        members.extend(content.map(|(name, text)| (name, non_empty(text))));
    }
    Ok(signed(signature::ASSET, members))
}

fn archive(key: &str, archive: &Archive, options: MarshalOptions) -> Result<WireValue, Error> {
    if options.reject_assets {
        return Err(Error::UnexpectedAsset {
            kind: "archive",
            key: key.to_owned(),
        });
    }
    let mut hash = archive.hash.as_str();
    if hash.is_empty()
        && matches!(&archive.source, ArchiveSource::Assets(members) if members.is_empty())
    {
        hash = EMPTY_ARCHIVE_HASH;
    }
    let mut members = vec![("hash", non_empty(hash))];
    if !options.elide_asset_contents {
        match &archive.source {
            ArchiveSource::Assets(assets) => {
                members.push(("assets", Some(archive_members(key, assets, options)?)));
            }
            ArchiveSource::Path(path) => members.push(("path", non_empty(path))),
            ArchiveSource::Uri(uri) => members.push(("uri", non_empty(uri))),
            ArchiveSource::Elided => {}
        }
    }
    Ok(signed(signature::ARCHIVE, members))
}

fn archive_members(
    key: &str,
    members: &BTreeMap<EcoString, Value>,
    options: MarshalOptions,
) -> Result<WireValue, Error> {
    let mut fields = BTreeMap::new();
    for (name, member) in members {
        let encoded = match member {
            Value::Asset(value) => asset(key, value, options)?,
            Value::Archive(value) => archive(key, value, options)?,
            _ => {
                return Err(Error::ArchiveMember {
                    member: name.to_string(),
                    key: key.to_owned(),
                });
            }
        };
        fields.insert(name.to_string(), encoded);
    }
    Ok(wire(Kind::StructValue(Struct { fields })))
}

fn secret(key: &str, inner: &Value, options: MarshalOptions) -> Result<Option<WireValue>, Error> {
    let element = encode_value(key, inner, options)?;
    if !options.keep_secrets {
        return Ok(element);
    }
    if options.upgrades() {
        let members = [
            ("value", element),
            ("secret", Some(wire(Kind::BoolValue(true)))),
        ];
        return Ok(Some(signed(signature::OUTPUT, members)));
    }
    Ok(element.map(|element| signed(signature::SECRET, [("value", Some(element))])))
}

fn unknown(
    key: &str,
    kind: UnknownKind,
    options: MarshalOptions,
) -> Result<Option<WireValue>, Error> {
    if options.reject_unknowns {
        return Err(Error::UnexpectedUnknown {
            key: key.to_owned(),
        });
    }
    if !options.keep_unknowns {
        return Ok(None);
    }
    if options.upgrades() {
        return Ok(Some(signed(signature::OUTPUT, [])));
    }
    Ok(Some(string(signature::sentinel(kind))))
}

fn output(key: &str, output: &Output, options: MarshalOptions) -> Result<Option<WireValue>, Error> {
    if !options.keep_output_values {
        let plain = match &output.value {
            Some(value) => encode_value(key, value, options)?,
            None => unknown(key, UnknownKind::String, options)?,
        };
        let wrap = output.secret && options.keep_secrets;
        return Ok(plain.map(|plain| {
            if wrap {
                signed(signature::SECRET, [("value", Some(plain))])
            } else {
                plain
            }
        }));
    }
    let value = match &output.value {
        Some(value) => encode_value(key, value, options)?,
        None => None,
    };
    let dependencies = output
        .dependencies
        .iter()
        .map(|urn| string(urn))
        .collect::<Vec<_>>();
    let members = [
        ("value", value),
        ("secret", output.secret.then(|| wire(Kind::BoolValue(true)))),
        (
            "dependencies",
            (!dependencies.is_empty()).then(|| {
                wire(Kind::ListValue(ListValue {
                    values: dependencies,
                }))
            }),
        ),
    ];
    Ok(Some(signed(signature::OUTPUT, members)))
}

fn resource(
    key: &str,
    reference: &ResourceReference,
    options: MarshalOptions,
) -> Result<Option<WireValue>, Error> {
    if !options.keep_resources {
        return match &reference.id {
            ReferenceId::None => Ok(Some(string(&reference.urn))),
            ReferenceId::Known(id) => Ok(Some(string(id))),
            ReferenceId::Unknown => unknown(key, UnknownKind::String, options),
        };
    }
    let parsed = Urn::parse(&reference.urn).ok();
    let name = reference
        .name
        .as_deref()
        .or_else(|| parsed.as_ref().map(Urn::name));
    let type_token = reference
        .type_token
        .as_deref()
        .or_else(|| parsed.as_ref().map(Urn::type_text));
    let id = match &reference.id {
        ReferenceId::None => None,
        ReferenceId::Unknown => Some(string("")),
        ReferenceId::Known(id) => Some(string(id)),
    };
    let members = [
        ("urn", Some(string(&reference.urn))),
        ("name", name.and_then(non_empty)),
        ("type", type_token.and_then(non_empty)),
        ("id", id),
        ("packageVersion", non_empty(&reference.package_version)),
    ];
    Ok(Some(signed(signature::RESOURCE, members)))
}

fn signed(
    mark: &str,
    members: impl IntoIterator<Item = (&'static str, Option<WireValue>)>,
) -> WireValue {
    let mut fields = BTreeMap::from([(signature::KEY.to_owned(), string(mark))]);
    let present = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    fields.extend(present);
    wire(Kind::StructValue(Struct { fields }))
}

fn non_empty(text: &str) -> Option<WireValue> {
    (!text.is_empty()).then(|| string(text))
}

fn string(text: &str) -> WireValue {
    wire(Kind::StringValue(text.to_owned()))
}

fn wire(kind: Kind) -> WireValue {
    WireValue { kind: Some(kind) }
}
