//! Property values as JSON, as `stack output` and the Automation APIs have them.

use std::sync::Arc;

use plumb_value::{ArchiveSource, AssetSource, PropertyMap, ReferenceId, Value};
use serde_json::{Map, Number, Value as Json, json};

/// Placeholder for a hidden secret.
pub const BLINDED: &str = "[secret]";
const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
const RESOURCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";

/// Treatment of secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// Replaced by a placeholder.
    Hidden,
    /// Decrypted.
    Shown,
}

/// A property map as JSON, keys sorted.
pub fn map_json(map: &PropertyMap, secrets: Secrets) -> Json {
    Json::Object(
        map.iter()
            .map(|(key, value)| (key.to_string(), value_json(value, secrets)))
            .collect(),
    )
}

/// A property value as JSON.
pub fn value_json(value: &Value, secrets: Secrets) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => number_json(*number),
        Value::String(text) => Json::from(text.as_str()),
        Value::Bytes(bytes) => Json::from(String::from_utf8_lossy(bytes)),
        Value::Array(values) => Json::Array(
            values
                .iter()
                .map(|value| value_json(value, secrets))
                .collect(),
        ),
        Value::Object(map) => map_json(map, secrets),
        Value::Secret(inner) if secrets == Secrets::Shown => value_json(inner, secrets),
        Value::Secret(_) => Json::from(BLINDED),
        Value::Computed(_) => Json::from(plumb_resource::UNKNOWN_SENTINEL),
        Value::Output(output) => match &output.value {
            _ if output.secret && secrets == Secrets::Hidden => Json::from(BLINDED),
            Some(value) => value_json(value, secrets),
            None => Json::from(plumb_resource::UNKNOWN_SENTINEL),
        },
        Value::Asset(asset) => {
            let (key, content) = match &asset.source {
                AssetSource::Text(text) => ("text", text.as_str()),
                AssetSource::Path(path) => ("path", path.as_str()),
                AssetSource::Uri(uri) => ("uri", uri.as_str()),
                AssetSource::Elided => ("", ""),
            };
            signed(ASSET, &asset.hash, key, Json::from(content))
        }
        Value::Archive(archive) => {
            let (key, content) = match &archive.source {
                ArchiveSource::Assets(members) => {
                    let members = members
                        .iter()
                        .map(|(name, value)| (name.to_string(), value_json(value, secrets)));
                    ("assets", Json::Object(members.collect()))
                }
                ArchiveSource::Path(path) => ("path", Json::from(path.as_str())),
                ArchiveSource::Uri(uri) => ("uri", Json::from(uri.as_str())),
                ArchiveSource::Elided => ("", Json::Null),
            };
            signed(ARCHIVE, &archive.hash, key, content)
        }
        Value::Resource(reference) => reference_json(reference),
    }
}

fn reference_json(reference: &Arc<plumb_value::ResourceReference>) -> Json {
    let mut object = json!({
        SIGNATURE: RESOURCE,
        "urn": reference.urn.as_str(),
        "packageVersion": reference.package_version.as_str(),
    });
    match &reference.id {
        ReferenceId::Known(id) => object["id"] = Json::from(id.as_str()),
        ReferenceId::Unknown => object["id"] = Json::from(""),
        ReferenceId::None => {}
    }
    object
}

fn signed(signature: &str, hash: &str, key: &str, content: Json) -> Json {
    let mut object = Map::new();
    object.insert(SIGNATURE.to_owned(), Json::from(signature));
    if !key.is_empty() {
        object.insert(key.to_owned(), content);
    }
    object.insert("hash".to_owned(), Json::from(hash));
    Json::Object(object)
}

/// Largest integer up to which doubles represent all integers exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn number_json(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Json::from(number as i64);
    }
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}

/// Text of a value: strings as text, others as compact JSON.
pub fn value_text(value: &Value, secrets: Secrets) -> String {
    match value_json(value, secrets) {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_unless_asked_for() {
        let value = Value::from(
            PropertyMap::new()
                .with("a", Value::secret(Value::from(1.0)))
                .with("b", 1.5),
        );
        assert_eq!(
            value_text(&value, Secrets::Hidden),
            r#"{"a":"[secret]","b":1.5}"#
        );
        assert_eq!(value_text(&value, Secrets::Shown), r#"{"a":1,"b":1.5}"#);
        assert_eq!(value_text(&Value::from("x y"), Secrets::Hidden), "x y");
    }
}
