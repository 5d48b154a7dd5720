//! Numbers and strings in upstream's form.

use plumb_resource::{ResourceKind, ResourceState, Urn};
use plumb_state::file::Layout;
use plumb_state::{CiphertextCache, RawJson, Snapshot};
use plumb_value::{PropertyMap, Value};

use crate::support::{NoCodec, list, vector};

/// Text of a value in a deployment.
fn written(value: Value, layout: Layout) -> String {
    let urn = Urn::parse("urn:pulumi:s::p::a:b:C::x").unwrap();
    let inputs = PropertyMap::new().with("v", value);
    let state = ResourceState {
        inputs: inputs.into(),
        ..ResourceState::new(urn, ResourceKind::Component)
    };
    let snapshot = Snapshot {
        resources: vec![state.into()],
        ..Snapshot::default()
    };
    let text = snapshot
        .encrypt(&NoCodec, &mut CiphertextCache::new())
        .unwrap()
        .deployment(layout);
    let start = text.find("\"v\":").unwrap() + 4;
    text[start..text.find("}}],\"metadata").unwrap()].to_owned()
}

#[test]
fn numbers_are_written_like_upstream() {
    for case in list(&vector("go-json.json"), "numbers") {
        let bits = u64::from_str_radix(case["bits"].as_str().unwrap(), 16).unwrap();
        assert_eq!(
            written(Value::Number(f64::from_bits(bits)), Layout::Compact),
            case["json"].as_str().unwrap()
        );
    }
}

#[test]
fn strings_are_escaped_like_upstream() {
    for case in list(&vector("go-json.json"), "strings") {
        let bytes = hex::decode(case["utf8Hex"].as_str().unwrap()).unwrap();
        let value = Value::from(String::from_utf8(bytes).unwrap());
        assert_eq!(
            written(value.clone(), Layout::Compact),
            case["raw"].as_str().unwrap()
        );
        assert_eq!(
            written(value, Layout::CompactHtml),
            case["html"].as_str().unwrap()
        );
    }
}

#[test]
fn raw_json_is_compacted_and_otherwise_kept() {
    let raw = RawJson::parse(" { \"b\" : [ 1 , 2.50, {} ],\n\"a\" : \" \\\" { \" } ").unwrap();
    assert_eq!(raw.as_str(), r#"{"b":[1,2.50,{}],"a":" \" { "}"#);
}
