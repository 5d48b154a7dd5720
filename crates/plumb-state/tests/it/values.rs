//! Property values in state files.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_resource::{ResourceKind, ResourceState, Urn};
use plumb_state::file::{Layout, parse_body};
use plumb_state::{CiphertextCache, Snapshot};
use plumb_value::{
    Archive, ArchiveSource, Asset, AssetSource, Output, PropertyMap, ReferenceId,
    ResourceReference, UnknownKind, Value,
};
use serde_json::{Value as Json, json};

use crate::support::{KeyCodec, list, vector};

fn text(json: &Json, name: &str) -> ecow::EcoString {
    json[name].as_str().unwrap_or_default().into()
}

fn asset_of(json: &Json) -> Asset {
    let member = |name: &str| json[name].as_str().map(ecow::EcoString::from);
    let source = if let Some(text) = member("text") {
        AssetSource::Text(text)
    } else if let Some(path) = member("path") {
        AssetSource::Path(path)
    } else if let Some(uri) = member("uri") {
        AssetSource::Uri(uri)
    } else {
        AssetSource::Elided
    };
    Asset {
        hash: text(json, "hash"),
        source,
    }
}

fn archive_of(json: &Json) -> Archive {
    let source = match json["assets"].as_object() {
        Some(members) => {
            let members: BTreeMap<_, _> = members
                .iter()
                .map(|(name, model)| (name.as_str().into(), value_of(model)))
                .collect();
            ArchiveSource::Assets(members)
        }
        None => ArchiveSource::Path(text(json, "path")),
    };
    Archive {
        hash: text(json, "hash"),
        source,
    }
}

fn reference_of(json: &Json) -> ResourceReference {
    let id = match json.get("id").and_then(Json::as_str) {
        None => ReferenceId::None,
        Some("") => ReferenceId::Unknown,
        Some(id) => ReferenceId::Known(id.into()),
    };
    ResourceReference {
        urn: text(json, "urn"),
        id,
        name: None,
        type_token: None,
        package_version: text(json, "packageVersion"),
    }
}

fn output_of(json: &Json) -> Output {
    let dependencies = json["deps"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|urn| urn.as_str().unwrap().into())
        .collect();
    let is_known = json["known"].as_bool().unwrap();
    Output {
        value: is_known.then(|| value_of(&json["element"])),
        secret: json["secret"].as_bool().unwrap_or_default(),
        dependencies,
    }
}

fn unknown_of(name: &str) -> UnknownKind {
    match name {
        "string" => UnknownKind::String,
        "bool" => UnknownKind::Bool,
        "number" => UnknownKind::Number,
        "array" => UnknownKind::Array,
        "asset" => UnknownKind::Asset,
        "archive" => UnknownKind::Archive,
        "object" => UnknownKind::Object,
        other => panic!("unknown kind {other}"),
    }
}

/// Value for a model in the vectors.
fn value_of(model: &Json) -> Value {
    let (kind, content) = model.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "null" => Value::Null,
        "bool" => Value::Bool(content.as_bool().unwrap()),
        "number" => Value::Number(match content.as_str() {
            Some(bits) => f64::from_bits(u64::from_str_radix(bits, 16).unwrap()),
            None => content.as_f64().unwrap(),
        }),
        "string" => Value::from(content.as_str().unwrap()),
        "bytesHex" => Value::Bytes(hex::decode(content.as_str().unwrap()).unwrap().into()),
        "array" => Value::array(content.as_array().unwrap().iter().map(value_of)),
        "object" => {
            let members = content.as_object().unwrap().iter();
            Value::from(
                members
                    .map(|(key, model)| (key.as_str().into(), value_of(model)))
                    .collect::<PropertyMap>(),
            )
        }
        "computed" => Value::Computed(unknown_of(content.as_str().unwrap())),
        "secret" => Value::secret(value_of(content)),
        "output" => Value::Output(Arc::new(output_of(content))),
        "asset" => Value::Asset(Arc::new(asset_of(content))),
        "archive" => Value::Archive(Arc::new(archive_of(content))),
        "ref" => Value::Resource(Arc::new(reference_of(content))),
        other => panic!("unknown model {other}"),
    }
}

/// Value after a round trip: outputs are plain values, and all unknown values are equal.
fn as_read_back(value: &Value) -> Value {
    value.without_outputs().map(&mut |value| match value {
        Value::Computed(_) => Value::UNKNOWN,
        other => other,
    })
}

fn snapshot_with(value: Value) -> Snapshot {
    let urn = Urn::parse("urn:pulumi:dev::proj::a:b:C::x").unwrap();
    let inputs = PropertyMap::new().with("v", value);
    let state = ResourceState {
        inputs: inputs.into(),
        ..ResourceState::new(urn, ResourceKind::Component)
    };
    Snapshot {
        resources: vec![state.into()],
        ..Snapshot::default()
    }
}

fn body_with(value: &Json) -> String {
    let resource = json!({"urn": "urn:pulumi:dev::proj::a:b:C::x", "custom": false, "type": "a:b:C", "inputs": {"v": value}});
    json!({"manifest": {"time": "2025-01-02T03:04:05Z", "magic": "", "version": ""}, "resources": [resource]}).to_string()
}

fn read(value: &Json, codec: &KeyCodec) -> Option<Value> {
    let snapshot = parse_body(&body_with(value))
        .ok()?
        .decrypt(codec, &mut CiphertextCache::new())
        .ok()?;
    snapshot.resources[0].inputs.get("v").cloned()
}

fn written(text: &str) -> Json {
    crate::support::json(text)["deployment"]["resources"][0]["inputs"]["v"].clone()
}

/// Compares texts, because NaN is not equal to itself.
fn assert_same(actual: Option<&Value>, expected: &Value, name: &str) {
    match (actual, expected) {
        (Some(Value::Number(actual)), Value::Number(expected)) => {
            assert_eq!(actual.to_bits(), expected.to_bits(), "{name}");
        }
        _ => assert_eq!(actual, Some(expected), "{name}"),
    }
}

#[test]
fn every_value_is_written_and_read_as_the_vectors_say() {
    let vectors = vector("property-values.json");
    let codec = KeyCodec::from_hex(vectors["dataKeyHex"].as_str().unwrap());
    for case in list(&vectors, "cases") {
        let name = case["name"].as_str().unwrap();
        let model = value_of(&case["model"]);
        let expected = as_read_back(&model);

        assert_same(read(&case["state"], &codec).as_ref(), &expected, name);

        let snapshot = snapshot_with(model);
        let sealed = snapshot
            .encrypt(&codec, &mut CiphertextCache::new())
            .unwrap();
        let text = sealed.deployment(Layout::Compact);
        if case.get("stateShowSecrets").is_none() {
            assert_eq!(written(&text), case["state"], "{name}");
        }
        assert_same(read(&written(&text), &codec).as_ref(), &expected, name);

        let shown = case.get("stateShowSecrets").unwrap_or(&case["state"]);
        assert_eq!(
            written(&snapshot.deployment_with_secrets_exposed(Layout::Compact)),
            *shown,
            "{name}"
        );
        assert_same(read(shown, &codec).as_ref(), &expected, name);
    }
}

#[test]
fn old_and_odd_forms_are_read() {
    let vectors = vector("property-values.json");
    let codec = KeyCodec::from_hex(vectors["dataKeyHex"].as_str().unwrap());
    for case in list(&vectors, "alsoAcceptedOnRead") {
        let name = case["name"].as_str().unwrap();
        assert_same(
            read(&case["state"], &codec).as_ref(),
            &value_of(&case["model"]),
            name,
        );
    }
}

#[test]
fn malformed_envelopes_are_refused() {
    let vectors = vector("property-values.json");
    let codec = KeyCodec::from_hex(vectors["dataKeyHex"].as_str().unwrap());
    for case in list(&vectors, "mustRejectOnRead") {
        assert_eq!(read(&case["state"], &codec), None, "{}", case["why"]);
    }
}
