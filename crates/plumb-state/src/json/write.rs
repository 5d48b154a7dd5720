//! A writer of JSON.

use std::fmt::Write;

use super::layout::{indent_at, newline};
use super::number::push_number;

/// Characters of strings to escape beyond those that JSON requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// Line and paragraph separators.
    Plain,
    /// Also angle brackets and ampersands, for HTML.
    Html,
}

/// Writer of JSON, compact or indented. The caller determines the order; commas are added automatically.
pub(crate) struct JsonWriter {
    out: String,
    escape: Escape,
    /// Whether the next member or element is the first of its container.
    is_first: bool,
    /// Number of open containers, if each member and element is on a line of its own.
    depth: Option<usize>,
}

impl JsonWriter {
    /// Writer of compact JSON.
    pub(crate) fn new(escape: Escape) -> Self {
        JsonWriter {
            out: String::new(),
            escape,
            is_first: true,
            depth: None,
        }
    }

    /// Writer that puts every member and element on a line of its own, indented by four more spaces than its container.
    /// Empty containers stay on one line.
    pub(crate) fn indented(escape: Escape) -> Self {
        JsonWriter {
            depth: Some(0),
            ..JsonWriter::new(escape)
        }
    }

    /// Makes room for text of this length, so that it is not moved as it grows.
    pub(crate) fn reserve(&mut self, length: usize) {
        self.out.reserve(length);
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Writes an object whose members `fill` writes.
    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Self)) {
        self.container('{', '}', fill);
    }

    /// Writes an array whose elements `fill` writes.
    pub(crate) fn array(&mut self, fill: impl FnOnce(&mut Self)) {
        self.container('[', ']', fill);
    }

    fn container(&mut self, open: char, close: char, fill: impl FnOnce(&mut Self)) {
        self.out.push(open);
        self.is_first = true;
        self.depth = self.depth.map(|depth| depth + 1);
        fill(self);
        self.depth = self.depth.map(|depth| depth - 1);
        if !self.is_first {
            self.begin_line();
        }
        self.out.push(close);
        self.is_first = false;
    }

    fn begin_line(&mut self) {
        if let Some(depth) = self.depth {
            newline(&mut self.out, depth);
        }
    }

    /// Begins a member; its value must follow.
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.element();
        self.string(name);
        self.out.push_str(match self.depth {
            Some(_) => ": ",
            None => ":",
        });
        self
    }

    /// Begins an element; its value must follow.
    pub(crate) fn element(&mut self) -> &mut Self {
        if !self.is_first {
            self.out.push(',');
        }
        self.is_first = false;
        self.begin_line();
        self
    }

    pub(crate) fn null(&mut self) {
        self.out.push_str("null");
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.out.push_str(if value { "true" } else { "false" });
    }

    pub(crate) fn number(&mut self, value: f64) {
        push_number(&mut self.out, value);
    }

    pub(crate) fn integer(&mut self, value: u64) {
        write!(self.out, "{value}").expect("writing to a string cannot fail");
    }

    /// Writes text that is already compact JSON.
    pub(crate) fn raw(&mut self, json: &str) {
        match self.depth {
            Some(depth) => indent_at(&mut self.out, json, depth),
            None => self.out.push_str(json),
        }
    }

    /// Writes the member `name`, unless `text` is empty.
    pub(crate) fn text_member(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.key(name).string(text);
        }
    }

    /// Writes the member `name` with `true`, unless the flag is false.
    pub(crate) fn flag_member(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.key(name).bool(true);
        }
    }

    /// Writes the member `name` with a list of strings, unless the list is empty.
    pub(crate) fn list_member<'a>(
        &mut self,
        name: &str,
        items: impl ExactSizeIterator<Item = &'a str>,
    ) {
        if items.len() > 0 {
            self.key(name).strings(items);
        }
    }

    /// Writes a list of strings.
    pub(crate) fn strings<'a>(&mut self, items: impl Iterator<Item = &'a str>) {
        self.array(|json| items.for_each(|item| json.element().string(item)));
    }

    /// Writes a string.
    pub(crate) fn string(&mut self, text: &str) {
        self.out.push('"');
        let bytes = text.as_bytes();
        let (mut written, mut at) = (0, 0);
        while let Some(found) = next_to_look_at(&bytes[at..]) {
            at += found;
            let Some((escaped, length)) = self.escape_of(&bytes[at..]) else {
                at += 1;
                continue;
            };
            self.out.push_str(&text[written..at]);
            match escaped {
                Escaped::Short(letter) => self.out.extend(['\\', letter]),
                Escaped::Code(code) => {
                    write!(self.out, "\\u{code:04x}").expect("writing to a string cannot fail");
                }
            }
            at += length;
            written = at;
        }
        self.out.push_str(&text[written..]);
        self.out.push('"');
    }

    /// Escape of the first character of `rest` and the character's length; `None` if it needs none.
    fn escape_of(&self, rest: &[u8]) -> Option<(Escaped, usize)> {
        let escaped = match rest[0] {
            b'"' => Escaped::Short('"'),
            b'\\' => Escaped::Short('\\'),
            b'\n' => Escaped::Short('n'),
            b'\r' => Escaped::Short('r'),
            b'\t' => Escaped::Short('t'),
            0x08 => Escaped::Short('b'),
            0x0c => Escaped::Short('f'),
            control @ 0..0x20 => Escaped::Code(u16::from(control)),
            html @ (b'<' | b'>' | b'&') if self.escape == Escape::Html => {
                Escaped::Code(u16::from(html))
            }
            0xe2 if rest.starts_with("\u{2028}".as_bytes()) => {
                return Some((Escaped::Code(0x2028), 3));
            }
            0xe2 if rest.starts_with("\u{2029}".as_bytes()) => {
                return Some((Escaped::Code(0x2029), 3));
            }
            _ => return None,
        };
        Some((escaped, 1))
    }
}

enum Escaped {
    Short(char),
    Code(u16),
}

/// Position of the next byte that may begin an escaped character. Most texts have none, so whole blocks are checked at
/// a time.
fn next_to_look_at(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 16;
    let clean = bytes
        .chunks_exact(BLOCK)
        .take_while(|block| {
            !block
                .iter()
                .fold(false, |any, byte| any | needs_look(*byte))
        })
        .count();
    let rest = clean * BLOCK;
    let found = bytes[rest..].iter().position(|byte| needs_look(*byte))?;
    Some(rest + found)
}

/// Whether the byte may begin an escaped character.
fn needs_look(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(json: &mut JsonWriter) {
        json.object(|json| {
            json.key("a").object(|_| {});
            json.key("b").array(|json| {
                json.element().array(|_| {});
                json.element().string("a, [b]: {c}");
                json.element().object(|json| json.flag_member("flag", true));
            });
            json.key("c")
                .raw(r#"{"a":[],"b":[1,{"c":null}],"d":"x:\"{"}"#);
            json.key("d").number(1.5);
        });
    }

    #[test]
    fn indented_text_is_that_of_another_writer() {
        let (mut compact, mut indented) = (
            JsonWriter::new(Escape::Plain),
            JsonWriter::indented(Escape::Plain),
        );
        sample(&mut compact);
        sample(&mut indented);
        let value: serde_json::Value = serde_json::from_str(&compact.finish()).unwrap();
        let mut expected = Vec::new();
        let four = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut other = serde_json::Serializer::with_formatter(&mut expected, four);
        serde::Serialize::serialize(&value, &mut other).unwrap();
        assert_eq!(indented.finish(), String::from_utf8(expected).unwrap());
    }

    #[test]
    fn what_needs_escaping_is_found_wherever_it_stands() {
        for length in 0..40 {
            for at in 0..=length {
                let (before, after) = ("e".repeat(at), "\u{e9}".repeat(length - at));
                let mut json = JsonWriter::new(Escape::Plain);
                json.string(&format!("{before}\n<\u{2028}\u{20ac}{after}"));
                let expected = format!("\"{before}\\n<\\u2028\u{20ac}{after}\"");
                assert_eq!(json.finish(), expected);
            }
        }
    }
}
