//! YAML parser that records offsets.

use std::borrow::Cow;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span, StrInput};

use super::{DEPTH_LIMIT, Flaw, Key, Node, Value};

pub(super) fn read(text: &str) -> Result<Node<'_>, Flaw> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        length: text.len(),
    };
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(..), _) => {}
            (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(Node::new(Value::Null)),
            (event, offset) => return reader.node(event, offset, 0),
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    length: usize,
}

impl<'t> Reader<'t> {
    /// The next event and its offset.
    fn next(&mut self) -> Result<(Event<'t>, usize), Flaw> {
        match self.events.next_event() {
            None => Err(Flaw::new(self.length, "the text ends too early")),
            Some(Ok((event, span))) => Ok((event, self.offset(&span))),
            Some(Err(error)) => {
                let offset = error.marker().byte_offset().unwrap_or(0);
                Err(Flaw::new(offset.min(self.length), error.info().clone()))
            }
        }
    }

    fn offset(&self, span: &Span) -> usize {
        span.start.byte_offset().unwrap_or(0).min(self.length)
    }

    fn node(&mut self, event: Event<'t>, offset: usize, depth: usize) -> Result<Node<'t>, Flaw> {
        if depth > DEPTH_LIMIT {
            return Err(Flaw::too_deep(offset));
        }
        let value = match event {
            Event::Scalar(text, style, _, tag) => {
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                let text = Cow::Owned(text.into_owned());
                if is_plain {
                    plain(text)
                } else {
                    Value::String(text)
                }
            }
            Event::SequenceStart(..) => self.list(depth)?,
            Event::MappingStart(..) => self.map(depth)?,
            // Aliases are rejected, because nested ones can grow without bound and no known schema has any.
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                return Err(Flaw::new(offset, "aliases are not supported in schemas"));
            }
            _ => return Err(Flaw::new(offset, "the document ends too early")),
        };
        Ok(Node {
            offset: offset as u32,
            value,
        })
    }

    fn list(&mut self, depth: usize) -> Result<Value<'t>, Flaw> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(items)),
                (event, offset) => items.push(self.node(event, offset, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value<'t>, Flaw> {
        let mut entries = Vec::new();
        loop {
            let (event, offset) = self.next()?;
            let name = match event {
                Event::MappingEnd => return Ok(Value::Map(entries)),
                Event::Scalar(text, ..) => Cow::Owned(text.into_owned()),
                _ => return Err(Flaw::new(offset, "keys must be strings")),
            };
            let key = Key {
                name,
                offset: offset as u32,
            };
            let (event, offset) = self.next()?;
            entries.push((key, self.node(event, offset, depth + 1)?));
        }
    }
}

/// The value of a scalar without quotes.
fn plain(text: Cow<'_, str>) -> Value<'_> {
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        word => match number(word) {
            Some(number) if serde_json::from_str::<serde_json::Number>(word).is_err() => {
                Value::Number(Cow::Owned(number.to_string()))
            }
            Some(_) => Value::Number(text),
            None => Value::String(text),
        },
    }
}

/// A number in a form that JSON may not have, such as `+1` and `.5`; those beyond the range of a double are texts.
fn number(word: &str) -> Option<f64> {
    let begins = word.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    let is_likely = begins && word.bytes().any(|byte| byte.is_ascii_digit());
    let number = is_likely.then(|| word.parse().ok()).flatten();
    number.filter(|it: &f64| it.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_what_they_look_like() {
        let node =
            read("a: 1.5\nb: '1'\nc: true\nd:\ne: 0.0.1\nf: [x, -3]\ng: +.5\nh: 1e999\n").unwrap();
        let value = |key: &str| node.get(key).unwrap().value.clone();
        assert_eq!(value("g"), Value::Number(Cow::Borrowed("0.5")));
        assert_eq!(value("h"), Value::String(Cow::Borrowed("1e999")));
        assert_eq!(
            node.get("a").unwrap().value,
            Value::Number(Cow::Borrowed("1.5"))
        );
        assert_eq!(
            node.get("b").unwrap().value,
            Value::String(Cow::Borrowed("1"))
        );
        assert_eq!(node.get("c").unwrap().as_bool(), Some(true));
        assert!(node.get("d").is_none());
        assert_eq!(node.get("e").unwrap().kind(), "a string");
        assert_eq!(node.get("f").unwrap().items()[1].kind(), "a number");
        assert_eq!(node.get("c").unwrap().offset, 17);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        assert!(read("a: &x [1]\nb: *x\n").is_err());
        assert!(read("? [a]\n: b\n").is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
        assert!(read("a: [").is_err());
    }
}
