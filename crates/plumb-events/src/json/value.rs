//! Property values as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use plumb_resource::UNKNOWN_SENTINEL;
use plumb_value::{
    Archive, ArchiveSource, Asset, AssetSource, PropertyMap, ReferenceId, ResourceReference, Value,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::to_json_line;
use crate::Filter;
use crate::filter::SECRET_MARK;

/// Signatures of values that JSON cannot express.
pub(crate) mod signature {
    /// Key of the member that holds the signature.
    pub(crate) const KEY: &str = "4dabf18193072939515e22adb298388d";
    pub(crate) const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
    pub(crate) const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
    pub(crate) const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
    pub(crate) const REFERENCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
}

/// Properties in the JSON form of events.
#[derive(Clone, Copy, Debug)]
pub struct JsonProperties<'a>(pub &'a PropertyMap, pub Filter);

impl Serialize for JsonProperties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.0
                .iter()
                .map(|(key, value)| (key.as_str(), JsonValue(value, self.1))),
        )
    }
}

/// A value in the JSON form of events.
#[derive(Clone, Copy, Debug)]
pub struct JsonValue<'a>(pub &'a Value, pub Filter);

impl Serialize for JsonValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let JsonValue(value, filter) = *self;
        match value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(value) => serializer.serialize_f64(*value),
            Value::String(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => serializer.serialize_str(&String::from_utf8_lossy(bytes)),
            Value::Array(values) => {
                serializer.collect_seq(values.iter().map(|value| JsonValue(value, filter)))
            }
            Value::Object(map) => JsonProperties(map, filter).serialize(serializer),
            Value::Asset(asset) => serialize_asset(asset, filter, serializer),
            Value::Archive(archive) => serialize_archive(archive, filter, serializer),
            Value::Secret(inner) => serialize_secret(inner, filter, serializer),
            Value::Computed(_) | Value::Output(_) => serializer.serialize_str(UNKNOWN_SENTINEL),
            Value::Resource(reference) => serialize_reference(reference, serializer),
        }
    }
}

fn serialize_secret<S: Serializer>(
    inner: &Value,
    filter: Filter,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry(signature::KEY, signature::SECRET)?;
    if filter.shows_secrets() {
        map.serialize_entry("plaintext", &to_json_line(&JsonValue(inner, filter)))?;
    } else {
        map.serialize_entry("ciphertext", SECRET_MARK)?;
    }
    map.end()
}

fn serialize_asset<S: Serializer>(
    asset: &Asset,
    filter: Filter,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry(signature::KEY, signature::ASSET)?;
    if !asset.hash.is_empty() {
        map.serialize_entry("hash", &asset.hash)?;
    }
    match &asset.source {
        AssetSource::Text(text) => map.serialize_entry("text", &filter.asset_text(text))?,
        AssetSource::Path(path) => map.serialize_entry("path", path)?,
        AssetSource::Uri(uri) => map.serialize_entry("uri", uri)?,
        AssetSource::Elided => {}
    }
    map.end()
}

fn serialize_archive<S: Serializer>(
    archive: &Archive,
    filter: Filter,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry(signature::KEY, signature::ARCHIVE)?;
    if let ArchiveSource::Assets(members) = &archive.source {
        let members: BTreeMap<&str, JsonValue<'_>> = members
            .iter()
            .map(|(name, member)| (name.as_str(), JsonValue(member, filter)))
            .collect();
        map.serialize_entry("assets", &members)?;
    }
    if !archive.hash.is_empty() {
        map.serialize_entry("hash", &archive.hash)?;
    }
    match &archive.source {
        ArchiveSource::Path(path) => map.serialize_entry("path", path)?,
        ArchiveSource::Uri(uri) => map.serialize_entry("uri", uri)?,
        ArchiveSource::Assets(_) | ArchiveSource::Elided => {}
    }
    map.end()
}

fn serialize_reference<S: Serializer>(
    reference: &ResourceReference,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let id: Option<Cow<'_, str>> = match &reference.id {
        ReferenceId::None => None,
        ReferenceId::Unknown => Some(Cow::Borrowed("")),
        ReferenceId::Known(id) => Some(Cow::Borrowed(id)),
    };
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry(signature::KEY, signature::REFERENCE)?;
    if let Some(id) = id {
        map.serialize_entry("id", id.as_ref())?;
    }
    map.serialize_entry("packageVersion", &reference.package_version)?;
    map.serialize_entry("urn", &reference.urn)?;
    map.end()
}
