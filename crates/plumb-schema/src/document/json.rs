//! JSON parser that records offsets.
//!
//! `serde_json` reports offsets only for raw members, and parsing each level of a deep document separately would be slow.
//! This parser makes one pass, borrows strings where possible, and keeps the offset of every node.

use std::borrow::Cow;

use super::{DEPTH_LIMIT, Flaw, Key, Node, Value};

pub(super) fn read(text: &str) -> Result<Node<'_>, Flaw> {
    let mut reader = Reader { text, at: 0 };
    reader.space();
    let root = reader.value(0)?;
    reader.space();
    if reader.at < text.len() {
        return Err(reader.flaw("there is more text behind the document"));
    }
    Ok(root)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn flaw(&self, message: impl Into<Cow<'static, str>>) -> Flaw {
        Flaw::new(self.at, message)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
            .unwrap_or(rest.len());
    }

    fn value(&mut self, depth: usize) -> Result<Node<'t>, Flaw> {
        if depth > DEPTH_LIMIT {
            return Err(Flaw::too_deep(self.at));
        }
        let offset = self.at as u32;
        let value = match self.peek() {
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(Cow::Borrowed(self.number()?)),
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(_) => return Err(self.flaw("expected a value")),
            None => return Err(self.flaw("the text ends where a value is expected")),
        };
        Ok(Node { offset, value })
    }

    fn word(&mut self, word: &str, value: Value<'t>) -> Result<Value<'t>, Flaw> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.flaw("expected a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<Value<'t>, Flaw> {
        let mut items = Vec::new();
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::List(items));
        }
        loop {
            self.space();
            items.push(self.value(depth + 1)?);
            if self.ends(b']')? {
                return Ok(Value::List(items));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value<'t>, Flaw> {
        let mut entries = Vec::new();
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Map(entries));
        }
        loop {
            self.space();
            let offset = self.at as u32;
            if self.peek() != Some(b'"') {
                return Err(self.flaw("expected a key in double quotes"));
            }
            let name = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.flaw("expected `:` behind the key"));
            }
            self.at += 1;
            self.space();
            let node = self.value(depth + 1)?;
            entries.push((Key { name, offset }, node));
            if self.ends(b'}')? {
                entries.shrink_to_fit();
                return Ok(Value::Map(entries));
            }
        }
    }

    /// Consumes the separator after a member; returns whether it was the last member.
    fn ends(&mut self, close: u8) -> Result<bool, Flaw> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Err(self.flaw(format!("expected `,` or `{}`", close as char))),
            None => Err(self.flaw(format!("the text ends before `{}`", close as char))),
        }
    }

    fn number(&mut self) -> Result<&'t str, Flaw> {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        self.at += rest
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .unwrap_or(rest.len());
        let number = &self.text[start..self.at];
        // `serde_json` checks the grammar of numbers.
        match serde_json::from_str::<serde_json::Number>(number) {
            Ok(_) => Ok(number),
            Err(_) => Err(Flaw::new(start, "this is not a number")),
        }
    }

    /// Parses a string; without escapes the result is a slice of the text.
    fn string(&mut self) -> Result<Cow<'t, str>, Flaw> {
        self.at += 1;
        let start = self.at;
        match self.plain_run()? {
            b'"' => {
                let text = &self.text[start..self.at];
                self.at += 1;
                Ok(Cow::Borrowed(text))
            }
            _ => self.escaped(start).map(Cow::Owned),
        }
    }

    /// Advances to the next quote or backslash.
    fn plain_run(&mut self) -> Result<u8, Flaw> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
        let Some(length) = length else {
            self.at = self.text.len();
            return Err(self.flaw("the text ends within a string"));
        };
        self.at += length;
        match rest[length] {
            byte @ (b'"' | b'\\') => Ok(byte),
            _ => Err(self.flaw("control characters in strings must be escaped")),
        }
    }

    fn escaped(&mut self, start: usize) -> Result<String, Flaw> {
        let mut value = self.text[start..self.at].to_owned();
        loop {
            self.escape(&mut value)?;
            let run = self.at;
            let end = self.plain_run()?;
            value.push_str(&self.text[run..self.at]);
            if end == b'"' {
                self.at += 1;
                value.shrink_to_fit();
                return Ok(value);
            }
        }
    }

    /// Parses one escape; `at` is on its backslash.
    fn escape(&mut self, value: &mut String) -> Result<(), Flaw> {
        let start = self.at;
        self.at += 1;
        let char = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start, value),
            _ => return Err(Flaw::new(start, "there is no such escape")),
        };
        self.at += 1;
        value.push(char);
        Ok(())
    }

    /// Parses `\uXXXX`, or a pair of them for a character beyond the first plane. An unpaired surrogate becomes a
    /// replacement character.
    fn unicode(&mut self, start: usize, value: &mut String) -> Result<(), Flaw> {
        let first = self.unit(start)?;
        let followed = self.text.as_bytes()[self.at..].starts_with(b"\\u");
        if (0xd800..0xdc00).contains(&first) && followed {
            let retreat = self.at;
            self.at += 1;
            let second = self.unit(retreat)?;
            if (0xdc00..0xe000).contains(&second) {
                let point = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                value.push(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
                return Ok(());
            }
            self.at = retreat;
        }
        value.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    /// Parses the four digits; `at` is on the `u`.
    fn unit(&mut self, start: usize) -> Result<u32, Flaw> {
        let digits = self.text.as_bytes().get(self.at + 1..self.at + 5);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            return Err(Flaw::new(start, "expected four hexadecimal digits"));
        };
        self.at += 5;
        Ok(digits.iter().fold(0, |unit, digit| {
            unit * 16 + (*digit as char).to_digit(16).unwrap_or_default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(text: &str) -> (usize, String) {
        let flaw = read(text).unwrap_err();
        (flaw.offset, flaw.message.into_owned())
    }

    #[test]
    fn values_are_what_the_usual_reader_makes_of_them() {
        let text = r#" {"a": [1, -2.5e3, true, false, null], "b\n": "x\u00e9\ud83d\ude00\/\ud800y", "": {}, "c": []} "#;
        let node = read(text).unwrap();
        assert_eq!(node.offset, 1);
        assert_eq!(node.entries()[1].0.name, "b\n");
        assert_eq!(node.get("b\n").unwrap().as_str(), Some("xé😀/\u{fffd}y"));
        assert_eq!(node.get("a").unwrap().items().len(), 5);
        assert!(node.get("").is_some());
    }

    #[test]
    fn flaws_are_told_where_they_stand() {
        assert_eq!(flaw("{\"a\" 1}").0, 5);
        assert_eq!(flaw("{\"a\": 1,}").0, 8);
        assert_eq!(flaw("[1 2]").0, 3);
        assert_eq!(flaw("[01]").0, 1);
        assert_eq!(flaw("\"a\\x\"").0, 2);
        assert_eq!(flaw("\"a").0, 2);
        assert_eq!(flaw("{} {}").0, 3);
        assert_eq!(flaw("").0, 0);
        assert_eq!(flaw("nul").0, 0);
        assert_eq!(flaw("\"\\u12\"").0, 1);
    }

    #[test]
    fn deep_nesting_is_refused() {
        let (offset, message) = flaw(&"[".repeat(1_000_000));
        assert_eq!(offset, DEPTH_LIMIT + 1);
        assert!(message.contains("nested deeper"), "{message}");
    }
}
