//! Typed decoding of JSON documents, with the error messages of the reference.
//!
//! Names of members match without regard to case; `null` counts as absent everywhere; text after the first value is
//! ignored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, error::Category};

/// Type of a value, with the type names for error messages.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// String.
    Text(&'static str),
    /// Boolean.
    Bool,
    /// Bytes, as base64.
    Bytes,
    /// List: name of its type, and type of its elements.
    List(&'static str, &'static Form),
    /// Object with arbitrary members: name of its type, and type of its values.
    Map(&'static str, &'static Form),
    /// Object with fixed members: package and name of its type, and the members.
    Struct(&'static str, &'static str, &'static [(&'static str, Form)]),
    /// Any value.
    Any,
}

impl Form {
    fn name(self) -> String {
        match self {
            Form::Text(name) | Form::List(name, _) | Form::Map(name, _) => name.to_owned(),
            Form::Bool => "bool".to_owned(),
            Form::Bytes => "[]uint8".to_owned(),
            Form::Struct(package, name, _) => format!("{package}.{name}"),
            Form::Any => "interface {}".to_owned(),
        }
    }
}

/// Decodes the first value of a text; members get the names in `form`, and `null` is removed.
pub fn decode(text: &str, form: Form) -> Result<Value, String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = match values.next() {
        None => return Err("EOF".to_owned()),
        Some(Err(error)) => return Err(syntax(text, &error)),
        Some(Ok(value)) => value,
    };
    let read = read(value, form, &Place::default())?;
    Ok(read.unwrap_or(Value::Null))
}

/// Decodes a text with a single value.
pub fn unmarshal(text: &str, form: Form) -> Result<Value, String> {
    if let Err(error) = serde_json::from_str::<Value>(text) {
        return Err(match error.classify() {
            Category::Eof => "unexpected end of JSON input".to_owned(),
            _ => syntax(text, &error),
        });
    }
    decode(text, form)
}

/// Path of a value: the surrounding type, and the names of members.
#[derive(Clone, Default)]
struct Place {
    within: &'static str,
    path: Vec<&'static str>,
}

fn read(value: Value, form: Form, place: &Place) -> Result<Option<Value>, String> {
    let mismatch = |found: &str| Err(mismatch(found, form, place));
    Ok(Some(match (value, form) {
        (Value::Null, _) => return Ok(None),
        (value, Form::Any)
        | (value @ Value::String(_), Form::Text(_))
        | (value @ Value::Bool(_), Form::Bool) => value,
        (Value::String(text), Form::Bytes) => {
            if STANDARD.decode(&text).is_err() {
                let wrong = text.find(|c: char| !c.is_ascii_alphanumeric() && !"+/=".contains(c));
                let at = wrong.unwrap_or(text.len());
                return Err(format!("illegal base64 data at input byte {at}"));
            }
            Value::String(text)
        }
        (Value::Array(elements), Form::List(_, of)) => {
            let elements = elements.into_iter();
            let read = elements.map(|element| {
                let element = read(element, *of, place)?;
                Ok(element.unwrap_or_else(|| nothing(*of)))
            });
            Value::Array(read.collect::<Result<_, String>>()?)
        }
        (Value::Object(members), Form::Map(_, of)) => {
            let mut all = Map::new();
            for (name, value) in members {
                let value = read(value, *of, place)?;
                all.insert(name, value.unwrap_or_else(|| nothing(*of)));
            }
            Value::Object(all)
        }
        (Value::Object(members), Form::Struct(_, within, known)) => {
            Value::Object(read_members(members, within, known, place)?)
        }
        (Value::String(_), _) => return mismatch("string"),
        (Value::Number(_), _) => return mismatch("number"),
        (Value::Bool(_), _) => return mismatch("bool"),
        (Value::Array(_), _) => return mismatch("array"),
        (Value::Object(_), _) => return mismatch("object"),
    }))
}

fn read_members(
    members: Map<String, Value>,
    within: &'static str,
    known: &'static [(&'static str, Form)],
    place: &Place,
) -> Result<Map<String, Value>, String> {
    let mut all = Map::new();
    for (name, value) in members {
        let exact = known.iter().find(|(known, _)| *known == name);
        let alike = || known.iter().find(|it| it.0.eq_ignore_ascii_case(&name));
        let Some((name, form)) = exact.or_else(alike) else {
            continue;
        };
        let mut path = place.path.clone();
        path.push(name);
        if let Some(value) = read(value, *form, &Place { within, path })? {
            all.insert((*name).to_owned(), value);
        }
    }
    Ok(all)
}

/// Zero value for `null` elements of lists and objects.
fn nothing(form: Form) -> Value {
    match form {
        Form::Text(_) | Form::Bytes => Value::String(String::new()),
        Form::Bool => Value::Bool(false),
        Form::List(..) => Value::Array(Vec::new()),
        Form::Map(..) | Form::Struct(..) => Value::Object(Map::new()),
        Form::Any => Value::Null,
    }
}

fn mismatch(found: &str, form: Form, place: &Place) -> String {
    let name = form.name();
    if place.path.is_empty() {
        return format!("json: cannot unmarshal {found} into Go value of type {name}");
    }
    let (within, path) = (place.within, place.path.join("."));
    format!("json: cannot unmarshal {found} into Go struct field {within}.{path} of type {name}")
}

/// Error for invalid JSON.
fn syntax(text: &str, error: &serde_json::Error) -> String {
    if error.classify() == Category::Eof {
        let is_empty = text.trim_matches([' ', '\t', '\r', '\n']).is_empty();
        return if is_empty { "EOF" } else { "unexpected EOF" }.to_owned();
    }
    let line = text.lines().nth(error.line().saturating_sub(1));
    let bytes = line.unwrap_or_default().as_bytes();
    let found = bytes.get(error.column().saturating_sub(1)).copied();
    let character = char::from(found.unwrap_or(b'\n'));
    let said = error.to_string();
    let expected = [
        ("expected value", "looking for beginning of value"),
        (
            "key must be a string",
            "looking for beginning of object key string",
        ),
        (
            "trailing comma",
            "looking for beginning of object key string",
        ),
        ("trailing characters", "after top-level value"),
        ("expected `:`", "after object key"),
        ("expected `,` or `}`", "after object key:value pair"),
        ("expected `,` or `]`", "after array element"),
    ];
    let place = expected.iter().find(|(ours, _)| said.starts_with(ours));
    match place {
        Some(_) if character == ']' && said.starts_with("trailing comma") => {
            "invalid character ']' looking for beginning of value".to_owned()
        }
        Some((_, place)) => format!("invalid character {character:?} {place}"),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const INNER: Form = Form::Struct(
        "shop",
        "item",
        &[
            ("name", Form::Text("shop.Name")),
            ("sold", Form::Bool),
            ("seal", Form::Bytes),
            ("words", Form::List("[]string", &Form::Text("string"))),
        ],
    );
    const OUTER: Form = Form::Struct(
        "shop",
        "list",
        &[
            ("items", Form::List("[]shop.item", &INNER)),
            (
                "table",
                Form::Map("map[string]string", &Form::Text("string")),
            ),
        ],
    );

    #[test]
    fn values_of_another_form_are_named_with_their_place() {
        for (text, expected) in [
            (
                "[]",
                "json: cannot unmarshal array into Go value of type shop.list",
            ),
            (
                "3",
                "json: cannot unmarshal number into Go value of type shop.list",
            ),
            (
                r#"{"items": {}}"#,
                "json: cannot unmarshal object into Go struct field list.items of type []shop.item",
            ),
            (
                r#"{"items": [1]}"#,
                "json: cannot unmarshal number into Go struct field list.items of type shop.item",
            ),
            (
                r#"{"items": [{"name": true}]}"#,
                "json: cannot unmarshal bool into Go struct field item.items.name of type shop.Name",
            ),
            (
                r#"{"items": [{"words": "w"}]}"#,
                "json: cannot unmarshal string into Go struct field item.items.words of type []string",
            ),
            (
                r#"{"table": {"a": 1}}"#,
                "json: cannot unmarshal number into Go struct field list.table of type string",
            ),
            (
                r#"{"items": [{"seal": "a#"}]}"#,
                "illegal base64 data at input byte 1",
            ),
        ] {
            assert_eq!(decode(text, OUTER).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_named_by_its_first_wrong_character() {
        for (text, expected) in [
            ("", "EOF"),
            (" \n", "EOF"),
            ("{", "unexpected EOF"),
            (
                "items: []",
                "invalid character 'i' looking for beginning of value",
            ),
            (
                "{\n  \"a\": 1,\n}",
                "invalid character '}' looking for beginning of object key string",
            ),
            (
                "{a: 1}",
                "invalid character 'a' looking for beginning of object key string",
            ),
            (
                "[1,]",
                "invalid character ']' looking for beginning of value",
            ),
            ("[1 2]", "invalid character '2' after array element"),
            (r#"{"a" 1}"#, "invalid character '1' after object key"),
            (
                r#"{"a": 1 "b"}"#,
                "invalid character '\"' after object key:value pair",
            ),
        ] {
            assert_eq!(decode(text, OUTER).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn names_have_no_case_and_null_is_nothing() {
        let text = r#"{"ITEMS": [{"Name": "a", "sold": null}, null], "other": 1} rest"#;
        let expected = json!({"items": [{"name": "a"}, {}]});
        assert_eq!(decode(text, OUTER).unwrap(), expected);
        assert_eq!(decode("null", OUTER).unwrap(), json!(null));
    }

    #[test]
    fn nothing_may_follow_the_one_value_of_a_text() {
        for (text, expected) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("x", "invalid character 'x' looking for beginning of value"),
            (
                "[]",
                "json: cannot unmarshal array into Go value of type shop.list",
            ),
        ] {
            assert_eq!(unmarshal(text, OUTER).unwrap_err(), expected, "{text}");
        }
    }
}
