//! Text in the formats of Go's `%v` and `encoding/json`. The exact format matters because the text is stored in users'
//! state.

use std::fmt::Write as _;

use crate::value::Val;

/// `%v` of a value without outputs.
pub fn display(value: &Val, out: &mut String) {
    match value {
        Val::Null => out.push_str("<nil>"),
        Val::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Val::Number(value) => out.push_str(&number(*value)),
        Val::String(text) => out.push_str(text),
        Val::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
        Val::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                display(item, out);
            }
            out.push(']');
        }
        Val::Object(entries) => {
            out.push_str("map[");
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                display(item, out);
            }
            out.push(']');
        }
        Val::Resource(resource) if resource.custom => out.push_str(resource.id.as_str()),
        Val::Resource(resource) => out.push_str(resource.urn.as_str()),
        Val::Reference(reference) => out.push_str(&reference.urn),
        Val::Asset(_) | Val::Archive(_) | Val::Output(_) | Val::Poison => {
            let _ = write!(out, "<{}>", value.kind());
        }
    }
}

/// `%v` of a float: shortest digits, an exponent below 1e-4 and from 1e6.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    format!("{value}")
}

/// A JSON document with sorted keys and escaped HTML characters; an error for values that JSON cannot express.
pub fn json(value: &Val, out: &mut String) -> Result<(), &'static str> {
    match value {
        Val::Null => out.push_str("null"),
        Val::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Val::Number(value) => json_number(*value, out)?,
        Val::String(text) => json_string(text, out),
        Val::Bytes(bytes) => json_string(&String::from_utf8_lossy(bytes), out),
        Val::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json(item, out)?;
            }
            out.push(']');
        }
        Val::Object(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json_string(key, out);
                out.push(':');
                json(item, out)?;
            }
            out.push('}');
        }
        Val::Resource(_) | Val::Reference(_) => return Err("a resource"),
        Val::Asset(_) => return Err("an asset"),
        Val::Archive(_) => return Err("an archive"),
        Val::Output(_) | Val::Poison => return Err("an output"),
    }
    Ok(())
}

fn json_number(value: f64, out: &mut String) -> Result<(), &'static str> {
    if !value.is_finite() {
        return Err("a number that is not finite");
    }
    let magnitude = value.abs();
    if value != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let sign = if exponent.starts_with('-') { "" } else { "+" };
        let _ = write!(out, "{digits}e{sign}{exponent}");
        return Ok(());
    }
    let _ = write!(out, "{value}");
    Ok(())
}

fn json_string(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", char as u32);
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_like_go() {
        for (value, expected) in [
            (1.0, "1"),
            (1.5, "1.5"),
            (0.0, "0"),
            (-3.0, "-3"),
            (100_000.0, "100000"),
            (1_000_000.0, "1e+06"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.234567e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (1_234_567.5, "1.2345675e+06"),
            (123_456.789, "123456.789"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e21, "1e+21"),
            (1e100, "1e+100"),
        ] {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn json_looks_like_go() {
        let value = crate::convert::from_json(&serde_json::json!({
            "b": [1, 1.5, 1e21, 1e-7, 1_000_000.0, true, null], "a": "<&>\u{2028}\u{1}\u{1F600}\""
        }));
        let mut text = String::new();
        json(&value, &mut text).unwrap();
        assert_eq!(
            text,
            "{\"a\":\"\\u003c\\u0026\\u003e\\u2028\\u0001\u{1F600}\\\"\",\"b\":[1,1.5,1e+21,1e-7,1000000,true,null]}"
        );
    }
}
