//! Writing of property values as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plumb_resource::UNKNOWN_SENTINEL;
use plumb_value::{
    Archive, ArchiveSource, Asset, AssetSource, PropertyMap, ReferenceId, ResourceReference, Value,
};

use super::{signature, with_stack};
use crate::json::{Escape, JsonWriter};

/// Form of secrets in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// Ciphertexts of sealed secrets.
    Sealed,
    /// Plaintext inside a text that will be encrypted; inner secrets are not encrypted again.
    Inner,
    /// Plaintext, because the user asked for it.
    Exposed,
}

pub(crate) fn write_properties(json: &mut JsonWriter, map: &PropertyMap, secrets: Secrets) {
    json.object(|json| {
        for (key, value) in map {
            json.key(key.as_str());
            write_value(json, value, secrets);
        }
    });
}

pub(crate) fn write_value(json: &mut JsonWriter, value: &Value, secrets: Secrets) {
    match value {
        Value::Null => json.null(),
        Value::Bool(value) => json.bool(*value),
        Value::Number(value) if value.is_finite() => json.number(*value),
        Value::Number(value) => {
            let bits = format!("{:016x}", value.to_bits());
            envelope(json, signature::NUMBER, |json| {
                json.key("value").string(&bits);
            });
        }
        Value::String(text) => json.string(text),
        Value::Bytes(bytes) => {
            envelope(json, signature::BYTES, |json| {
                json.key("value").string(&STANDARD.encode(bytes));
            });
        }
        Value::Array(values) => with_stack(|| {
            json.array(|json| {
                for value in values.iter() {
                    write_value(json.element(), value, secrets);
                }
            });
        }),
        Value::Object(map) => with_stack(|| write_properties(json, map, secrets)),
        Value::Asset(asset) => write_asset(json, asset),
        Value::Archive(archive) => with_stack(|| write_archive(json, archive)),
        Value::Secret(inner) => with_stack(|| write_secret(json, inner, secrets)),
        Value::Computed(_) => json.string(UNKNOWN_SENTINEL),
        Value::Output(output) => {
            let value = output.value.as_ref().unwrap_or(&Value::UNKNOWN);
            with_stack(|| {
                if output.secret {
                    write_secret(json, value, secrets);
                } else {
                    write_value(json, value, secrets);
                }
            });
        }
        Value::Resource(reference) => write_reference(json, reference),
    }
}

fn envelope(json: &mut JsonWriter, mark: &str, fill: impl FnOnce(&mut JsonWriter)) {
    json.object(|json| {
        json.key(signature::KEY).string(mark);
        fill(json);
    });
}

fn write_secret(json: &mut JsonWriter, inner: &Value, secrets: Secrets) {
    let (member, text) = match (secrets, inner) {
        (Secrets::Sealed, Value::String(ciphertext)) => ("ciphertext", ciphertext.to_string()),
        (Secrets::Sealed, _) => {
            unreachable!("the types of snapshots let only ciphertexts come here")
        }
        (Secrets::Inner, _) => ("ciphertext", plain_text(inner, Secrets::Inner)),
        (Secrets::Exposed, _) => ("plaintext", plain_text(inner, Secrets::Exposed)),
    };
    envelope(json, signature::SECRET, |json| {
        json.key(member).string(&text);
    });
}

/// JSON of a secret's content.
pub(super) fn plain_text(inner: &Value, secrets: Secrets) -> String {
    let mut json = JsonWriter::new(Escape::Html);
    write_value(&mut json, inner, secrets);
    json.finish()
}

fn write_asset(json: &mut JsonWriter, asset: &Asset) {
    envelope(json, signature::ASSET, |json| {
        json.text_member("hash", &asset.hash);
        match &asset.source {
            AssetSource::Text(text) => json.text_member("text", text),
            AssetSource::Path(path) => json.text_member("path", path),
            AssetSource::Uri(uri) => json.text_member("uri", uri),
            AssetSource::Elided => {}
        }
    });
}

fn write_archive(json: &mut JsonWriter, archive: &Archive) {
    envelope(json, signature::ARCHIVE, |json| {
        if let ArchiveSource::Assets(members) = &archive.source {
            json.key("assets").object(|json| {
                for (name, member) in members {
                    write_value(json.key(name), member, Secrets::Inner);
                }
            });
        }
        json.text_member("hash", &archive.hash);
        match &archive.source {
            ArchiveSource::Path(path) => json.text_member("path", path),
            ArchiveSource::Uri(uri) => json.text_member("uri", uri),
            ArchiveSource::Assets(_) | ArchiveSource::Elided => {}
        }
    });
}

fn write_reference(json: &mut JsonWriter, reference: &ResourceReference) {
    envelope(json, signature::RESOURCE, |json| {
        match &reference.id {
            ReferenceId::None => {}
            ReferenceId::Unknown => json.key("id").string(""),
            ReferenceId::Known(id) => json.key("id").string(id),
        }
        json.key("packageVersion")
            .string(&reference.package_version);
        json.key("urn").string(&reference.urn);
    });
}
