//! Values: their text, their JSON, and whether two are the same.

use std::fmt::Write as _;

use plumb_value::Value;
use serde_json::Value as Json;

use super::args::{Answer, Args};

/// A number as text: integers with all digits, others with as few as tell them apart.
pub(super) fn number_text(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e21 {
        return format!("{number:.0}");
    }
    if number.abs() >= 1e21 {
        return format!("{number:e}").replace('e', "e+");
    }
    number.to_string()
}

/// A primitive value as text; `None` for all others.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Number(number) => Some(number_text(*number)),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

pub(super) fn json_of(value: &Value) -> Result<Json, String> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            (*number as i64).into()
        }
        Value::Number(number) => (*number).into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            let items: Result<Vec<Json>, String> = items.iter().map(json_of).collect();
            items?.into()
        }
        Value::Object(entries) => {
            let mut object = serde_json::Map::new();
            for (key, value) in entries.iter() {
                object.insert(key.as_str().to_owned(), json_of(value)?);
            }
            object.into()
        }
        Value::Secret(inner) => json_of(inner)?,
        _ => return Err("assets, resources and unknown values have no JSON".to_owned()),
    })
}

/// JSON on one line, with keys in order, and with the characters escaped that mean something in HTML.
pub(super) fn json_text(value: &Value) -> Result<String, String> {
    let text = json_of(value)?.to_string();
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    Ok(out)
}

pub(super) fn jsonencode(args: &Args<'_>) -> Answer {
    json_text(args.any("input")).map(Value::from)
}

/// A text that is no JSON is the result itself.
pub(super) fn jsondecode(args: &Args<'_>) -> Answer {
    let text = args.text("input")?;
    Ok(match serde_json::from_str::<Json>(text) {
        Ok(json) => Value::from(&json),
        Err(_) => text.into(),
    })
}

pub(super) fn tostring(args: &Args<'_>) -> Answer {
    match args.any("input") {
        Value::Null => Ok(Value::Null),
        value => match text_of(value) {
            Some(text) => Ok(text.into()),
            None => Err("only a string, number, boolean or null becomes a string".to_owned()),
        },
    }
}

pub(super) fn tonumber(args: &Args<'_>) -> Answer {
    match args.any("input") {
        Value::Null => Ok(Value::Null),
        Value::Number(number) => Ok((*number).into()),
        Value::String(text) => match text.parse::<f64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => Err(format!("{text} is not a number value")),
        },
        _ => Err("only a string, number or null becomes a number".to_owned()),
    }
}

pub(super) fn tobool(args: &Args<'_>) -> Answer {
    match args.any("input") {
        Value::Null => Ok(Value::Null),
        Value::Bool(value) => Ok((*value).into()),
        Value::String(text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true.into()),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false.into()),
            _ => Err(format!("{text} is not a boolean value")),
        },
        _ => Err("only a string, boolean or null becomes a boolean".to_owned()),
    }
}

/// The first value that is there; of texts, the first that is not empty.
pub(super) fn coalesce(args: &Args<'_>) -> Answer {
    let items = args.list("input")?;
    let has_text = items.iter().any(|it| it.as_str().is_some());
    let has_number = items.iter().any(|it| it.as_number().is_some());
    if !has_text && has_number && items.iter().any(|it| it.as_bool().is_some()) {
        return Err("all arguments must be convertible to the same type".to_owned());
    }
    for item in items.iter().filter(|it| !it.is_null()) {
        if !has_text {
            return Ok(item.clone());
        }
        let text = text_of(item).ok_or("all arguments must be of the same type")?;
        if !text.is_empty() {
            return Ok(text.into());
        }
    }
    Err("no non-empty values found".to_owned())
}
