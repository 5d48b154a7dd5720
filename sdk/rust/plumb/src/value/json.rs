//! Values and JSON.

use serde_json::{Map, Number, Value as Json};

use super::Value;
use crate::Error;

#[track_caller]
pub(super) fn parse(text: &str) -> Result<Value, Error> {
    let json: Json = serde_json::from_str(text)?;
    Ok(from(json))
}

fn from(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => Value::String(text),
        Json::Array(values) => Value::List(values.into_iter().map(from).collect()),
        Json::Object(values) => Value::Map(
            values
                .into_iter()
                .map(|(key, it)| (key, from(it)))
                .collect(),
        ),
    }
}

#[track_caller]
pub(super) fn print(value: &Value) -> Result<String, Error> {
    match to(value) {
        Ok(json) => Ok(json.to_string()),
        Err(kind) => Err(Error::new(format!("{kind} cannot be written as JSON"))),
    }
}

fn to(value: &Value) -> Result<Json, &'static str> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => Json::Number(self::number(*number).ok_or("an infinite number")?),
        Value::String(text) => Json::String(text.clone()),
        Value::List(values) => Json::Array(values.iter().map(to).collect::<Result<_, _>>()?),
        Value::Map(values) => {
            let mut members = Map::new();
            for (key, it) in values {
                members.insert(key.clone(), to(it)?);
            }
            Json::Object(members)
        }
        Value::Asset(_)
        | Value::Archive(_)
        | Value::Resource(_)
        | Value::Secret(_)
        | Value::Unknown
        | Value::Output(_) => return Err(value.kind()),
    })
}

/// Whole numbers are written without a fraction.
fn number(number: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0
        && number.abs() <= EXACT
        && !(number == 0.0 && number.is_sign_negative())
    {
        return Some(Number::from(number as i64));
    }
    Number::from_f64(number)
}
