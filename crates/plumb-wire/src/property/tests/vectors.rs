//! The cases of `tests/data/vectors/property-values.json` that concern encoding and decoding.

use std::path::Path;

use super::*;

fn document() -> Json {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/vectors/property-values.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The value of a description.
fn model(json: &Json) -> Value {
    let (kind, content) = json.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "null" => Value::Null,
        "bool" => Value::Bool(content.as_bool().unwrap()),
        "number" => Value::Number(match content {
            Json::String(bits) => f64::from_bits(u64::from_str_radix(bits, 16).unwrap()),
            number => number.as_f64().unwrap(),
        }),
        "string" => content.as_str().unwrap().into(),
        "array" => Value::array(content.as_array().unwrap().iter().map(model)),
        "object" => {
            let entries = content.as_object().unwrap().iter();
            entries
                .map(|(key, value)| (key.as_str().into(), model(value)))
                .collect::<PropertyMap>()
                .into()
        }
        "computed" => Value::Computed(match content.as_str().unwrap() {
            "string" => UnknownKind::String,
            "bool" => UnknownKind::Bool,
            "number" => UnknownKind::Number,
            "array" => UnknownKind::Array,
            "asset" => UnknownKind::Asset,
            "archive" => UnknownKind::Archive,
            "object" => UnknownKind::Object,
            other => panic!("{other}"),
        }),
        "secret" => Value::secret(model(content)),
        "output" => Value::Output(Arc::new(Output {
            value: content["known"]
                .as_bool()
                .unwrap()
                .then(|| model(&content["element"])),
            secret: content["secret"].as_bool().unwrap_or(false),
            dependencies: content["deps"]
                .as_array()
                .into_iter()
                .flatten()
                .map(text)
                .collect(),
        })),
        "asset" => Value::Asset(Arc::new(Asset {
            hash: text(&content["hash"]),
            source: match content {
                _ if content["text"].is_string() => AssetSource::Text(text(&content["text"])),
                _ if content["path"].is_string() => AssetSource::Path(text(&content["path"])),
                _ if content["uri"].is_string() => AssetSource::Uri(text(&content["uri"])),
                _ => AssetSource::Elided,
            },
        })),
        "archive" => Value::Archive(Arc::new(Archive {
            hash: text(&content["hash"]),
            source: match content {
                _ if content["path"].is_string() => ArchiveSource::Path(text(&content["path"])),
                _ if content["uri"].is_string() => ArchiveSource::Uri(text(&content["uri"])),
                _ => {
                    let members = content["assets"].as_object().unwrap().iter();
                    ArchiveSource::Assets(
                        members
                            .map(|(name, member)| (name.into(), model(member)))
                            .collect(),
                    )
                }
            },
        })),
        "ref" => Value::Resource(Arc::new(ResourceReference {
            urn: text(&content["urn"]),
            id: match content["id"].as_str() {
                None => ReferenceId::None,
                Some("") => ReferenceId::Unknown,
                Some(id) => ReferenceId::Known(id.into()),
            },
            name: None,
            type_token: None,
            package_version: content["packageVersion"]
                .as_str()
                .unwrap_or_default()
                .into(),
        })),
        "bytesHex" => Value::Bytes(hex::decode(content.as_str().unwrap()).unwrap().into()),
        other => panic!("{other}"),
    }
}

fn text(json: &Json) -> ecow::EcoString {
    json.as_str().unwrap_or_default().into()
}

/// Equality by content; NaN equals itself.
fn same(left: &impl std::fmt::Debug, right: &impl std::fmt::Debug) -> bool {
    format!("{left:?}") == format!("{right:?}")
}

#[test]
fn every_value_is_written_as_expected() {
    let variants = [
        ("wireAllFeatures", EVERYTHING),
        ("wireWithoutOutputValues", MarshalOptions::RICH),
        ("wireNoFeatures", MarshalOptions::PLAIN),
    ];
    let document = document();
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 40);
    for case in cases {
        let value = model(&case["model"]);
        for (name, options) in variants {
            let encoded = encode(&value, options);
            let expected = &case[name];
            let as_expected = match encoded.as_ref() {
                Err(_) => expected["error"] == json!(true),
                Ok(None) => expected["omitted"] == json!(true),
                Ok(Some(wire)) => expected
                    .get("value")
                    .is_some_and(|value| same(wire, &to_wire(value))),
            };
            assert!(
                as_expected,
                "{} {name}: {encoded:?} is not {expected}",
                case["name"]
            );
        }
    }
}

#[test]
fn every_value_is_read_as_expected() {
    for case in document()["cases"].as_array().unwrap() {
        let expected = with_derived_names(&model(&case["model"]));
        let wire = to_wire(&case["wireAllFeatures"]["value"]);
        let decoded = decode_value("p", &wire, EVERYTHING).unwrap().unwrap();
        assert!(
            same(&decoded, &expected),
            "{}: {decoded:?} is not {expected:?}",
            case["name"]
        );
    }
}

/// The value after decoding: references have the name and type of their URN.
fn with_derived_names(value: &Value) -> Value {
    value.map(&mut |value| match value {
        Value::Resource(reference) => {
            let urn = plumb_resource::Urn::parse(&reference.urn).unwrap();
            let (name, type_token) = (Some(urn.name().into()), Some(urn.type_text().into()));
            Value::Resource(Arc::new(ResourceReference {
                name,
                type_token,
                ..reference.as_ref().clone()
            }))
        }
        other => other,
    })
}
