use std::sync::Arc;

use plumb_value::{
    Archive, ArchiveSource, Asset, AssetSource, Output, PropertyMap, ReferenceId,
    ResourceReference, UnknownKind, Value,
};
use prost_types::Value as WireValue;
use prost_types::value::Kind;
use serde_json::{Value as Json, json};

use super::*;

mod official;
mod roundtrip;
mod vectors;

const EVERYTHING: MarshalOptions = MarshalOptions::RICH.outputs(true).byte_strings(true);
const UPGRADED: MarshalOptions = EVERYTHING.upgraded(true);

/// The protobuf form of JSON. Texts for special numbers become numbers.
fn to_wire(json: &Json) -> WireValue {
    let kind = match json {
        Json::Null => Kind::NullValue(0),
        Json::Bool(value) => Kind::BoolValue(*value),
        Json::Number(value) => Kind::NumberValue(value.as_f64().unwrap()),
        Json::String(text) => match text.as_str() {
            "NaN" => Kind::NumberValue(f64::NAN),
            "Infinity" => Kind::NumberValue(f64::INFINITY),
            "-Infinity" => Kind::NumberValue(f64::NEG_INFINITY),
            _ => Kind::StringValue(text.clone()),
        },
        Json::Array(values) => Kind::ListValue(prost_types::ListValue {
            values: values.iter().map(to_wire).collect(),
        }),
        Json::Object(map) => Kind::StructValue(prost_types::Struct {
            fields: map
                .iter()
                .map(|(key, value)| (key.clone(), to_wire(value)))
                .collect(),
        }),
    };
    WireValue { kind: Some(kind) }
}

fn encode(value: &Value, options: MarshalOptions) -> Result<Option<WireValue>, Error> {
    encode_value("p", value, options)
}

fn decode(json: &Json, options: MarshalOptions) -> Result<Option<Value>, Error> {
    decode_value("p", &to_wire(json), options)
}

fn output(value: Option<Value>, secret: bool) -> Value {
    Value::Output(Arc::new(Output {
        value,
        secret,
        dependencies: Vec::new(),
    }))
}

fn signed(mark: &str, members: Json) -> Json {
    let mut signed = members;
    signed[signature::KEY] = json!(mark);
    signed
}

fn reference(id: ReferenceId) -> Value {
    Value::Resource(Arc::new(ResourceReference {
        urn: "urn:pulumi:s::p::a:b:C::n".into(),
        id,
        name: Some("n".into()),
        type_token: Some("a:b:C".into()),
        package_version: "1.2.3".into(),
    }))
}

/// COMP-04: inputs of components are decoded as outputs, arguments of methods as they were sent.
#[test]
fn inputs_of_components_are_outputs_and_arguments_of_methods_are_not() {
    let secret = signed(signature::SECRET, json!({"value": "x"}));
    let unknown = json!(signature::sentinel(UnknownKind::String));
    for (wire, as_input, as_argument) in [
        (
            secret,
            output(Some("x".into()), true),
            Value::secret("x".into()),
        ),
        (unknown, output(None, false), Value::UNKNOWN),
    ] {
        let input = decode(&wire, crate::property::monitor::REGISTER_OBJECT);
        assert_eq!(input, Ok(Some(as_input)));
        let argument = decode(&wire, crate::property::monitor::CALL_ARGS);
        assert_eq!(argument, Ok(Some(as_argument)));
    }
}

#[test]
fn upgraded_secrets_and_unknowns_are_outputs() {
    let secret = signed(signature::SECRET, json!({"value": "x"}));
    assert_eq!(
        decode(&secret, UPGRADED),
        Ok(Some(output(Some("x".into()), true)))
    );
    let unknown = json!(signature::sentinel(UnknownKind::Number));
    assert_eq!(decode(&unknown, UPGRADED), Ok(Some(output(None, false))));
    let both = signed(signature::SECRET, json!({"value": unknown}));
    assert_eq!(
        decode(&both, UPGRADED),
        Ok(Some(output(Some(output(None, false)), true)))
    );
    let encoded = encode(&Value::secret("x".into()), UPGRADED)
        .unwrap()
        .unwrap();
    assert_eq!(
        encoded,
        to_wire(&signed(
            signature::OUTPUT,
            json!({"value": "x", "secret": true})
        ))
    );
    let encoded = encode(&Value::UNKNOWN, UPGRADED).unwrap().unwrap();
    assert_eq!(encoded, to_wire(&signed(signature::OUTPUT, json!({}))));
}

#[test]
fn a_null_output_is_known() {
    let null = signed(signature::OUTPUT, json!({"value": null}));
    assert_eq!(
        decode(&null, EVERYTHING),
        Ok(Some(output(Some(Value::Null), false)))
    );
    assert_eq!(
        decode(&null, EVERYTHING.without_nulls(true)),
        Ok(Some(output(Some(Value::Null), false)))
    );
    assert_eq!(
        encode(&output(Some(Value::Null), false), EVERYTHING),
        Ok(Some(to_wire(&null)))
    );
}

#[test]
fn without_unknowns_entries_vanish_and_elements_become_null() {
    let unknown = json!(signature::sentinel(UnknownKind::String));
    let wire = json!({"a": unknown, "b": [1, unknown, 2], "c": {"d": unknown}});
    let options = MarshalOptions::PLAIN;
    let empty = Value::from(PropertyMap::new());
    let expected = PropertyMap::new()
        .with("b", Value::array([1.0.into(), Value::Null, 2.0.into()]))
        .with("c", empty);
    assert_eq!(decode(&wire, options), Ok(Some(expected.into())));
    let value = Value::array([1.0.into(), Value::UNKNOWN, 2.0.into()]);
    assert_eq!(
        encode(&value, options),
        Ok(Some(to_wire(&json!([1, 2])))),
        "written arrays shrink"
    );
}

#[test]
fn unknowns_inside_wrappers_without_unknowns() {
    let unknown = json!(signature::sentinel(UnknownKind::String));
    let secret = signed(signature::SECRET, json!({"value": unknown}));
    let error = decode(&secret, MarshalOptions::PLAIN).unwrap_err();
    assert_eq!(
        error.to_string(),
        "malformed RPC secret: missing value for \"p\""
    );
    let wrapped = signed(signature::OUTPUT, json!({"value": unknown}));
    let options = EVERYTHING.unknowns(false);
    assert_eq!(decode(&wrapped, options), Ok(Some(output(None, false))));
    assert_eq!(decode(&wrapped, MarshalOptions::PLAIN), Ok(None));
}

#[test]
fn unknowns_can_be_refused() {
    let options = EVERYTHING.unknowns_or_reject(false);
    let expected = Err(Error::UnexpectedUnknown {
        key: "p".to_owned(),
    });
    assert_eq!(encode(&Value::UNKNOWN, options.unknowns(true)), expected);
    assert_eq!(
        decode(&json!(signature::sentinel(UnknownKind::Bool)), options),
        expected.map(|_: Option<_>| None)
    );
    let nested = json!({"inner": [signature::sentinel(UnknownKind::Object)]});
    assert_eq!(
        decode(&nested, options),
        Err(Error::UnexpectedUnknown {
            key: "inner".to_owned()
        })
    );
}

#[test]
fn outputs_reduce_to_what_the_peer_takes() {
    let secret = output(Some("x".into()), true);
    let options = EVERYTHING.outputs(false);
    let expected = to_wire(&signed(signature::SECRET, json!({"value": "x"})));
    assert_eq!(encode(&secret, options), Ok(Some(expected.clone())));
    assert_eq!(
        encode(&secret, options.secrets(false)),
        Ok(Some(to_wire(&json!("x"))))
    );
    let unknown = json!(signature::sentinel(UnknownKind::String));
    let expected = to_wire(&signed(signature::SECRET, json!({"value": unknown})));
    assert_eq!(encode(&output(None, true), options), Ok(Some(expected)));
    let wire = signed(
        signature::OUTPUT,
        json!({"value": "x", "secret": true, "dependencies": ["u"]}),
    );
    assert_eq!(decode(&wire, options), Ok(Some(Value::secret("x".into()))));
    let wire = signed(signature::OUTPUT, json!({"secret": true}));
    assert_eq!(
        decode(&wire, options),
        Ok(Some(Value::secret(Value::UNKNOWN)))
    );
}

#[test]
fn ids_of_references_may_be_unknown_in_several_ways() {
    let wire = |id: &str| {
        let members =
            json!({"urn": "urn:pulumi:s::p::a:b:C::n", "id": id, "packageVersion": "1.2.3"});
        signed(signature::RESOURCE, members)
    };
    let sentinel = signature::sentinel(UnknownKind::String);
    for options in [EVERYTHING, UPGRADED] {
        assert_eq!(
            decode(&wire(""), options),
            Ok(Some(reference(ReferenceId::Unknown)))
        );
        assert_eq!(
            decode(&wire(sentinel), options),
            Ok(Some(reference(ReferenceId::Unknown)))
        );
    }
    let no_unknowns = EVERYTHING.unknowns(false);
    assert_eq!(
        decode(&wire(sentinel), no_unknowns),
        Ok(Some(reference(ReferenceId::None)))
    );
    let reduced = EVERYTHING.resources(false);
    assert_eq!(decode(&wire("i"), reduced), Ok(Some("i".into())));
    assert_eq!(decode(&wire(""), reduced), Ok(Some(Value::UNKNOWN)));
    assert_eq!(
        decode(&wire(""), reduced.unknowns(false)),
        Ok(Some("".into()))
    );
    let component = signed(signature::RESOURCE, json!({"urn": "urn:x"}));
    assert_eq!(decode(&component, reduced), Ok(Some("urn:x".into())));
}

#[test]
fn members_that_a_signature_does_not_know_are_ignored() {
    let wire = signed(
        signature::ASSET,
        json!({"__pulumiAsset": true, "path": "p"}),
    );
    let expected = Asset {
        hash: "".into(),
        source: AssetSource::Path("p".into()),
    };
    assert_eq!(
        decode(&wire, EVERYTHING),
        Ok(Some(Value::Asset(Arc::new(expected))))
    );
}

#[test]
fn assets_without_contents_keep_their_hash() {
    let text = Value::Asset(Arc::new(Asset {
        hash: "h".into(),
        source: AssetSource::Text("x".into()),
    }));
    let members = [("m".into(), text.clone())].into();
    let archive = Value::Archive(Arc::new(Archive {
        hash: "g".into(),
        source: ArchiveSource::Assets(members),
    }));
    let options = EVERYTHING.elided(true);
    assert_eq!(
        encode(&text, options),
        Ok(Some(to_wire(&signed(
            signature::ASSET,
            json!({"hash": "h"})
        ))))
    );
    let wire = signed(signature::ARCHIVE, json!({"hash": "g"}));
    assert_eq!(encode(&archive, options), Ok(Some(to_wire(&wire))));
    let elided = Value::Archive(Arc::new(Archive {
        hash: "g".into(),
        source: ArchiveSource::Elided,
    }));
    assert_eq!(decode(&wire, EVERYTHING), Ok(Some(elided)));
    let refused = EVERYTHING.no_assets(true);
    assert_eq!(
        encode(&text, refused),
        Err(Error::UnexpectedAsset {
            kind: "asset",
            key: "p".to_owned()
        })
    );
    assert_eq!(
        decode(&wire, refused),
        Err(Error::UnexpectedAsset {
            kind: "archive",
            key: "p".to_owned()
        })
    );
}

#[test]
fn empty_contents_are_not_missing_contents() {
    let text = Value::Asset(Arc::new(Asset {
        hash: "".into(),
        source: AssetSource::Text("".into()),
    }));
    let wire = encode(&text, EVERYTHING).unwrap().unwrap();
    let Some(Value::Asset(asset)) = decode_value("p", &wire, EVERYTHING).unwrap() else {
        panic!()
    };
    assert_eq!(asset.source, AssetSource::Text("".into()));
    let explicit = signed(signature::ASSET, json!({"text": ""}));
    assert_eq!(decode(&explicit, EVERYTHING), Ok(Some(text)));
}

#[test]
fn malformed_values_are_errors() {
    let urn = "urn:pulumi:s::p::a:b:C::n";
    let cases = [
        (
            signed("0000", json!({})),
            "unrecognized signature '0000' in property map for \"p\"",
        ),
        (
            json!({signature::KEY: 3}),
            "unrecognized signature 'a number' in property map for \"p\"",
        ),
        (
            signed(signature::SECRET, json!({})),
            "malformed RPC secret: missing value for \"p\"",
        ),
        (
            signed(signature::OUTPUT, json!({"dependencies": "x"})),
            "malformed RPC output value: \"dependencies\" is not an array of strings in \"p\"",
        ),
        (
            signed(signature::OUTPUT, json!({"dependencies": [1]})),
            "malformed RPC output value: \"dependencies\" is not an array of strings in \"p\"",
        ),
        (
            signed(signature::OUTPUT, json!({"secret": 1})),
            "malformed RPC output value: \"secret\" is not a boolean in \"p\"",
        ),
        (
            signed(signature::RESOURCE, json!({"id": "i"})),
            "malformed RPC resource reference: \"urn\" is not a string in \"p\"",
        ),
        (
            signed(signature::RESOURCE, json!({"urn": urn, "id": 7})),
            "malformed RPC resource reference: \"id\" is not a string in \"p\"",
        ),
        (
            signed(signature::ASSET, json!({"hash": 1})),
            "malformed RPC asset: \"hash\" is not a string in \"p\"",
        ),
        (
            signed(signature::ARCHIVE, json!({"assets": {"m": 1}})),
            "member \"m\" of the archive at \"p\" is neither an asset nor an archive",
        ),
        (
            signed(signature::BYTE_STRING, json!({"value": "***"})),
            "malformed RPC byte string: \"value\" is not standard base64 in \"p\"",
        ),
    ];
    for (wire, text) in cases {
        assert_eq!(decode(&wire, EVERYTHING).unwrap_err().to_string(), text);
    }
}

#[test]
fn maps_can_be_thinned_out() {
    let inner = PropertyMap::new().with("__in", 1.0).with("n", Value::Null);
    let map = PropertyMap::new()
        .with("__own", 1.0)
        .with("n", Value::Null)
        .with("o", inner);
    let wire = encode_map(
        &map,
        EVERYTHING.without_internal_keys(true).without_nulls(true),
    )
    .unwrap();
    assert_eq!(
        WireValue {
            kind: Some(Kind::StructValue(wire))
        },
        to_wire(&json!({"o": {"__in": 1}}))
    );
    let wire = encode_map(&map, EVERYTHING).unwrap();
    let read = decode_map(
        Some(&wire),
        EVERYTHING.without_internal_keys(true).without_nulls(true),
    )
    .unwrap();
    assert_eq!(
        read,
        PropertyMap::new().with("o", PropertyMap::new().with("__in", 1.0))
    );
}

#[test]
fn no_map_is_kept_apart_only_when_asked() {
    assert_eq!(encode_optional_map(None, EVERYTHING.nil(true)), Ok(None));
    assert_eq!(
        encode_optional_map(None, EVERYTHING),
        Ok(Some(prost_types::Struct::default()))
    );
    assert_eq!(decode_optional_map(None, EVERYTHING.nil(true)), Ok(None));
    assert_eq!(
        decode_optional_map(None, EVERYTHING),
        Ok(Some(PropertyMap::new()))
    );
}

#[test]
fn values_may_nest_deeply() {
    use prost::Message as _;

    let mut value = Value::from("deep");
    for _ in 0..200 {
        value = PropertyMap::new().with("k", value).into();
    }
    let bytes = encode(&value, EVERYTHING).unwrap().unwrap().encode_to_vec();
    let wire = WireValue::decode(bytes.as_slice()).unwrap();
    assert_eq!(decode_value("p", &wire, EVERYTHING), Ok(Some(value)));
}
