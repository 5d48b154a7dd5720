//! Documents inside texts: JSON and YAML that properties hold, such as policies and manifests.

use ecow::EcoString;
use granit_parser::{Event, Options, Parser, ScalarStyle, StrInput};
use plumb_value::{PropertyMap, Value};

/// How deep documents may be.
const DEPTH_LIMIT: usize = 100;
/// Longer texts are shown as texts: reading them would hold up the display.
const LENGTH_LIMIT: usize = 1 << 20;

/// What language a document is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Json,
    Yaml,
}

impl Language {
    /// What stands before a document.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Language::Json => "(json) ",
            Language::Yaml => "(yaml) ",
        }
    }
}

/// The object or list that a text holds.
pub(crate) fn parse(text: &str) -> Option<(Language, Value)> {
    if text.len() > LENGTH_LIMIT {
        return None;
    }
    if let Some(value) = parse_json(text) {
        return Some((Language::Json, value));
    }
    Some((Language::Yaml, parse_yaml(text)?))
}

fn parse_json(text: &str) -> Option<Value> {
    let start = text.trim_start();
    if !start.starts_with(['{', '[']) {
        return None;
    }
    let json = serde_json::from_str::<serde_json::Value>(text).ok()?;
    Some(from_json(&json))
}

fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => Value::String(EcoString::from(text.as_str())),
        serde_json::Value::Array(values) => Value::array(values.iter().map(from_json)),
        serde_json::Value::Object(map) => Value::from(
            map.iter()
                .map(|(key, value)| (key.as_str().into(), from_json(value)))
                .collect::<PropertyMap>(),
        ),
    }
}

/// A text of one line is taken as it is: nearly every sentence with a colon would be YAML.
fn parse_yaml(text: &str) -> Option<Value> {
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))?;
    let is_likely = first.starts_with("- ")
        || first == "---"
        || first.ends_with(':')
        || first
            .split_once(": ")
            .is_some_and(|(key, _)| !key.contains(' '));
    if !is_likely || !text.trim_end().contains('\n') {
        return None;
    }
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut reader = YamlReader(Parser::new_from_str_with_options(text, options));
    let value = loop {
        match reader.next()? {
            Event::StreamStart | Event::DocumentStart(..) => {}
            event => break reader.node(event, 0)?,
        }
    };
    // A second document would be lost.
    let is_whole =
        matches!(reader.next()?, Event::DocumentEnd) && matches!(reader.next()?, Event::StreamEnd);
    let is_structure = matches!(value, Value::Object(_) | Value::Array(_));
    (is_whole && is_structure).then_some(value)
}

struct YamlReader<'t>(Parser<'t, StrInput<'t>>);

impl<'t> YamlReader<'t> {
    fn next(&mut self) -> Option<Event<'t>> {
        self.0.next_event()?.ok().map(|(event, _)| event)
    }

    fn node(&mut self, event: Event<'t>, depth: usize) -> Option<Value> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        match event {
            Event::Scalar(text, ScalarStyle::Plain, _, None) => Some(plain_scalar(&text)),
            Event::Scalar(text, ..) => Some(Value::from(text.as_ref())),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => return Some(Value::array(items)),
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut map = PropertyMap::new();
                loop {
                    match self.next()? {
                        Event::MappingEnd => return Some(Value::from(map)),
                        Event::Scalar(key, ..) => {
                            let event = self.next()?;
                            let value = self.node(event, depth + 1)?;
                            map.insert(key.as_ref(), value);
                        }
                        _ => return None,
                    }
                }
            }
            // With anchors and aliases the text says more than its values.
            _ => None,
        }
    }
}

fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        word => {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
                && word.bytes().any(|byte| byte.is_ascii_digit());
            match word.parse::<f64>() {
                Ok(number) if is_number => Value::Number(number),
                _ => Value::from(word),
            }
        }
    }
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
        for text in [
            "plain",
            "note: one line",
            "Dear user: read\nthis text",
            "#!/bin/sh\necho a: b\n",
            "a: &x 1\nb: *x\n",
            "a: 1\n---\nb: 2\n",
            "- [",
            "12",
            "\"x\"",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
