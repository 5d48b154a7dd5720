//! Values for tests.

use std::sync::Arc;

use proptest::prelude::*;

use crate::{Asset, AssetSource, Output, PropertyMap, Value};

/// The value of JSON text.
pub(crate) fn json(text: &str) -> Value {
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    Value::from(&json)
}

/// The property map of JSON text.
pub(crate) fn map(text: &str) -> PropertyMap {
    json(text).as_object().unwrap().clone()
}

/// Any value. There are few distinct keys, so that two such values overlap.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![Just(f64::INFINITY), Just(0.0), Just(-0.0), 0.0..3.0].prop_map(Value::Number),
        "[a-b]{0,2}".prop_map(Value::from),
        Just(Value::UNKNOWN),
        Just(Value::Bytes(Arc::from([0xff_u8, 0]))),
        "[a-b]".prop_map(|hash| {
            let source = AssetSource::Text("x".into());
            Value::Asset(Arc::new(Asset {
                hash: hash.into(),
                source,
            }))
        }),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            3 => proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            3 => proptest::collection::vec(("[ab]", inner.clone()), 0..3).prop_map(|entries| {
                Value::from(entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<PropertyMap>())
            }),
            1 => inner.clone().prop_map(Value::secret),
            1 => (proptest::option::of(inner), any::<bool>()).prop_map(|(value, secret)| {
                Value::Output(Arc::new(Output { value, secret, dependencies: vec!["urn".into()] }))
            }),
        ]
    })
}

/// Any property map, with few distinct keys.
pub(crate) fn property_map() -> impl Strategy<Value = PropertyMap> {
    proptest::collection::vec(("[ab]", value()), 0..3).prop_map(|entries| {
        entries
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect()
    })
}
