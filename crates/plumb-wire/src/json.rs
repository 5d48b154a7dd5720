//! Plain JSON in messages: options of language hosts, settings of policies.

use plumb_proto::prost_types::{ListValue, Struct, Value as Wire, value::Kind};
use serde_json::{Map, Number, Value};

/// Encodes an object.
pub fn json_to_wire(map: &Map<String, Value>) -> Struct {
    let fields = map.iter();
    Struct {
        fields: fields
            .map(|(key, value)| (key.clone(), value_to_wire(value)))
            .collect(),
    }
}

fn value_to_wire(value: &Value) -> Wire {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(flag) => Kind::BoolValue(*flag),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(values) => Kind::ListValue(ListValue {
            values: values.iter().map(value_to_wire).collect(),
        }),
        Value::Object(map) => Kind::StructValue(json_to_wire(map)),
    };
    Wire { kind: Some(kind) }
}

/// Decodes an object. Whole numbers become integers; numbers that JSON cannot express become null.
pub fn json_from_wire(map: &Struct) -> Map<String, Value> {
    let fields = map.fields.iter();
    fields
        .map(|(key, value)| (key.clone(), value_from_wire(value)))
        .collect()
}

fn value_from_wire(value: &Wire) -> Value {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(flag)) => Value::Bool(*flag),
        Some(Kind::NumberValue(number)) => number_from_wire(*number),
        Some(Kind::StringValue(text)) => Value::String(text.clone()),
        Some(Kind::ListValue(list)) => list.values.iter().map(value_from_wire).collect(),
        Some(Kind::StructValue(map)) => Value::Object(json_from_wire(map)),
    }
}

fn number_from_wire(number: f64) -> Value {
    /// Whole numbers up to this one are exact in a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole and small enough"
        )]
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_comes_back_as_it_was() {
        let json = serde_json::json!({
            "null": null, "flag": true, "whole": 5, "part": 0.5, "text": "t", "list": [1, {"a": []}],
        });
        let Value::Object(map) = json else {
            unreachable!()
        };
        assert_eq!(json_from_wire(&json_to_wire(&map)), map);
    }
}
