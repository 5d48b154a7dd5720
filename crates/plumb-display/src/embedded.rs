//! JSON and YAML documents inside strings, such as policies and manifests in properties.

use std::collections::HashMap;

use ecow::EcoString;
use granit_parser::{Event, Options, Parser, ScalarStyle, StrInput};
use plumb_value::{PropertyMap, Value};

/// Maximum nesting depth of documents.
const DEPTH_LIMIT: usize = 100;
/// Maximum length; longer strings are shown as text, because parsing them would delay the display.
const LENGTH_LIMIT: usize = 1 << 20;
/// Maximum number of values added by aliases, because nested aliases grow exponentially.
const ALIAS_LIMIT: usize = 10_000;

/// Language of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Json,
    Yaml,
}

impl Language {
    /// Name shown before a document.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Language::Json => "json",
            Language::Yaml => "yaml",
        }
    }
}

/// Object or list contained in a string.
pub(crate) fn parse(text: &str) -> Option<(Language, Value)> {
    let text = text.trim();
    if text.len() > LENGTH_LIMIT {
        return None;
    }
    let (language, value) = match parse_json(text) {
        Some(value) => (Language::Json, value),
        // YAML only with several lines, because every sentence with a colon is valid YAML.
        None if text.contains(['\n', '\r']) => (Language::Yaml, parse_yaml(text)?),
        None => return None,
    };
    matches!(value, Value::Object(_) | Value::Array(_)).then_some((language, value))
}

/// Parses one JSON value, which only closing brackets may follow.
fn parse_json(text: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    let json = values.next()?.ok()?;
    let rest = text[values.byte_offset()..].trim_start();
    (rest.is_empty() || rest.starts_with([']', '}'])).then(|| Value::from(&json))
}

fn parse_yaml(text: &str) -> Option<Value> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut reader = YamlReader {
        parser: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        expanded: 0,
        length: text.chars().count(),
        is_at_end: false,
    };
    let value = loop {
        match reader.next()? {
            Event::StreamStart | Event::DocumentStart(..) => {}
            event => break reader.node(event, 0)?,
        }
    };
    // Not if there is a second document, which would be lost.
    let is_whole =
        matches!(reader.next()?, Event::DocumentEnd) && matches!(reader.next()?, Event::StreamEnd);
    is_whole.then_some(value)
}

struct YamlReader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, Value>,
    /// Number of values added by aliases.
    expanded: usize,
    /// Length of the text, in characters.
    length: usize,
    /// Whether the last event ends at the end of the text.
    is_at_end: bool,
}

impl<'t> YamlReader<'t> {
    fn next(&mut self) -> Option<Event<'t>> {
        let (event, span) = self.parser.next_event()?.ok()?;
        self.is_at_end = span.end.index() >= self.length;
        Some(event)
    }

    fn node(&mut self, event: Event<'t>, depth: usize) -> Option<Value> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        let (value, anchor) = match event {
            Event::Scalar(text, ScalarStyle::Plain, anchor, None) => (plain_scalar(&text), anchor),
            Event::Scalar(text, style, anchor, None) => {
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                // The last line of a block scalar at the end of the text gets no line break, because
                // `parse` has trimmed the text.
                let unbroken = text
                    .strip_suffix('\n')
                    .filter(|_| is_block && self.is_at_end);
                (Value::from(unbroken.unwrap_or(&text)), anchor)
            }
            Event::SequenceStart(_, anchor, None) => (self.items(depth)?, anchor),
            Event::MappingStart(_, anchor, None) => (self.members(depth)?, anchor),
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor)?;
                self.expanded += count(value);
                return (self.expanded <= ALIAS_LIMIT).then(|| value.clone());
            }
            // Tags, because they contain information that plain values lack.
            _ => return None,
        };
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Some(value)
    }

    fn items(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Some(Value::array(items)),
                event => items.push(self.node(event, depth + 1)?),
            }
        }
    }

    fn members(&mut self, depth: usize) -> Option<Value> {
        let mut map = PropertyMap::new();
        let mut merged = PropertyMap::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => break,
                event => event,
            };
            let is_merge =
                matches!(&key, Event::Scalar(text, ScalarStyle::Plain, ..) if text == "<<");
            let key = key_text(&self.node(key, depth + 1)?)?;
            let event = self.next()?;
            let value = self.node(event, depth + 1)?;
            if is_merge {
                merge_into(&mut merged, &value)?;
            } else if map.insert(key, value).is_some() {
                return None;
            }
        }
        for (key, value) in merged {
            if !map.contains_key(key.as_str()) {
                map.insert(key, value);
            }
        }
        Some(Value::from(map))
    }
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(count).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// Members that `<<` merges into a map, from a map or from a list of maps; the first one with a name takes
/// precedence.
fn merge_into(merged: &mut PropertyMap, value: &Value) -> Option<()> {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter() {
                if !merged.contains_key(key.as_str()) {
                    merged.insert(key.clone(), value.clone());
                }
            }
            Some(())
        }
        Value::Array(maps) => maps.iter().try_for_each(|map| match map {
            Value::Object(_) => merge_into(merged, map),
            _ => None,
        }),
        _ => None,
    }
}

/// Text of a key, which must be a string or a number.
fn key_text(key: &Value) -> Option<EcoString> {
    match key {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(plumb_value::go_number::format(*number)),
        _ => None,
    }
}

fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Value::Number(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Value::Number(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => Value::Number(f64::NAN),
        word => plain_number(word).map_or_else(|| Value::from(word), Value::Number),
    }
}

/// Number: an integer in any base, with underscores, or a decimal fraction.
fn plain_number(word: &str) -> Option<f64> {
    if !word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return None;
    }
    let digits = word.replace('_', "");
    let (sign, size) = match digits.strip_prefix('-') {
        Some(size) => (-1.0, size),
        None => (1.0, digits.strip_prefix('+').unwrap_or(&digits)),
    };
    let lower = size.to_ascii_lowercase();
    let radix = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, radix)| Some((lower.strip_prefix(prefix)?, radix)));
    let octal = lower
        .strip_prefix('0')
        .filter(|rest| !rest.is_empty())
        .map(|rest| (rest, 8));
    if let Some((digits, radix)) = radix.or(octal)
        && let Ok(number) = u64::from_str_radix(digits, radix)
    {
        #[expect(clippy::cast_precision_loss, reason = "property values are doubles")]
        return Some(sign * number as f64);
    }
    let is_decimal = size.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && size
            .chars()
            .all(|c| c.is_ascii_digit() || ".eE+-".contains(c))
        && size.contains(|c: char| c.is_ascii_digit());
    is_decimal
        .then(|| size.parse::<f64>().ok())?
        .map(|number| sign * number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_structures_are_documents() {
        assert_eq!(parse(r#"{"a": [1]}"#).map(|it| it.0), Some(Language::Json));
        let (language, value) = parse("a: 1\nb:\n  - x\n  - 'true'\n").unwrap();
        assert_eq!(language, Language::Yaml);
        assert_eq!(
            value,
            Value::from(
                PropertyMap::new()
                    .with("a", 1.0)
                    .with("b", Value::array([Value::from("x"), Value::from("true")]))
            )
        );
        let aliased = parse("a: &x {k: 0x10}\nb: *x\nc: {<<: *x, l: 010}\n")
            .unwrap()
            .1;
        assert_eq!(
            aliased,
            parse(r#"{"a":{"k":16},"b":{"k":16},"c":{"k":16,"l":8}}"#)
                .unwrap()
                .1
        );
        assert_eq!(
            parse("Dear user: read\n  this text").unwrap().0,
            Language::Yaml
        );
        assert_eq!(
            parse("1: a\n2: b").unwrap().1,
            parse(r#"{"1":"a","2":"b"}"#).unwrap().1
        );
        assert_eq!(
            parse("a: |\n  x\nb: >\n  y\n").unwrap().1,
            parse(r#"{"a":"x\n","b":"y"}"#).unwrap().1
        );
        for text in [
            "plain",
            "note: one line",
            "#!/bin/sh\necho a: b: c\n",
            "a: 1\na: 2\n",
            "a: 1\n---\nb: 2\n",
            "- [",
            "12",
            "\"x\"",
            "{\"a\": 1} x",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
