//! Printing of documents as JSON, with keys in the order of the grammar.

use std::fmt::Write as _;

use crate::document::{Document, Node, Value};
use crate::shape::{self, Field, Shape};

/// Characters that are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// `<`, `>` and `&` too, as Go does by default.
    Html,
    /// Only those that must be.
    Needed,
}

impl Document<'_> {
    /// The document as JSON with an indent of two: known keys only, in their order, without empty ones; maps are sorted.
    pub fn to_json(&self, escapes: Escapes) -> String {
        let mut printer = Printer {
            text: String::with_capacity(self.text.len()),
            indent: 0,
            escapes,
        };
        printer.node(&self.root, &shape::DOCUMENT);
        printer.text.push('\n');
        printer.text
    }
}

struct Printer {
    text: String,
    indent: usize,
    escapes: Escapes,
}

impl Printer {
    fn node(&mut self, node: &Node<'_>, shape: &Shape) {
        match (shape, &node.value) {
            (Shape::Record(fields), Value::Map(_)) => self.record(node, fields),
            (Shape::Kept(shape), _) => self.node(node, shape),
            (Shape::Outputs, Value::Map(_)) => self.record(node, shape::outputs_record(node)),
            (Shape::Map(member), Value::Map(_)) => {
                let entries = sorted(node);
                self.members(entries.into_iter().map(|(key, node)| (key, node, *member)));
            }
            (Shape::List(item), Value::List(items)) => self.items(items, item),
            (Shape::Text, Value::Number(text)) => self.string(text),
            (Shape::Text, Value::Bool(flag)) => self.string(if *flag { "true" } else { "false" }),
            (Shape::Scalar, Value::Number(text)) => self.number(text),
            (_, Value::Map(_)) => {
                let entries = node.members();
                self.members(entries.map(|(key, node)| (key, node, &Shape::Raw)));
            }
            (_, Value::List(items)) => self.items(items, &Shape::Raw),
            (_, Value::Null) => self.text.push_str("null"),
            (_, Value::Bool(flag)) => {
                let _ = write!(self.text, "{flag}");
            }
            (_, Value::Number(text)) => self.text.push_str(text),
            (_, Value::String(text)) => self.string(text),
        }
    }

    fn record(&mut self, node: &Node<'_>, fields: &'static [Field]) {
        let members = fields.iter().filter_map(|field| {
            let value = node.get(field.key)?;
            (!is_empty(value, &field.shape)).then_some((field.key, value, &field.shape))
        });
        self.members(members);
    }

    fn members<'n, 't: 'n>(
        &mut self,
        members: impl Iterator<Item = (&'n str, &'n Node<'t>, &'n Shape)>,
    ) {
        self.text.push('{');
        self.indent += 1;
        let mut is_first = true;
        for (key, node, shape) in members {
            self.separate(&mut is_first);
            self.string(key);
            self.text.push_str(": ");
            self.node(node, shape);
        }
        self.indent -= 1;
        self.close(is_first, '}');
    }

    fn items(&mut self, items: &[Node<'_>], shape: &Shape) {
        self.text.push('[');
        self.indent += 1;
        let mut is_first = true;
        for node in items {
            self.separate(&mut is_first);
            self.node(node, shape);
        }
        self.indent -= 1;
        self.close(is_first, ']');
    }

    fn separate(&mut self, is_first: &mut bool) {
        if !*is_first {
            self.text.push(',');
        }
        *is_first = false;
        self.new_line();
    }

    fn close(&mut self, is_empty: bool, bracket: char) {
        if !is_empty {
            self.new_line();
        }
        self.text.push(bracket);
    }

    fn new_line(&mut self) {
        self.text.push('\n');
        for _ in 0..self.indent {
            self.text.push_str("  ");
        }
    }

    /// Prints a number in the form of a double, however it was written.
    fn number(&mut self, text: &str) {
        match text.parse::<f64>() {
            Ok(value) if value.fract() == 0.0 && value.abs() < 1e15 => {
                let _ = write!(self.text, "{}", value as i64);
            }
            Ok(value) if value.is_finite() => {
                let _ = write!(self.text, "{value}");
            }
            _ => self.text.push_str(text),
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        let mut written = 0;
        for (index, char) in text.char_indices() {
            let is_special = match char {
                '"' | '\\' | '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => true,
                '<' | '>' | '&' => self.escapes == Escapes::Html,
                _ => false,
            };
            if !is_special {
                continue;
            }
            self.text.push_str(&text[written..index]);
            written = index + char.len_utf8();
            match char {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                other => {
                    let _ = write!(self.text, "\\u{:04x}", other as u32);
                }
            }
        }
        self.text.push_str(&text[written..]);
        self.text.push('"');
    }
}

/// Whether a member can be omitted.
fn is_empty(node: &Node<'_>, shape: &Shape) -> bool {
    match (shape, &node.value) {
        (Shape::Record(_) | Shape::Scalar | Shape::Kept(_), _) => false,
        (Shape::Flag | Shape::PlainMark, Value::Bool(flag)) => !flag,
        (Shape::Denial, Value::Bool(flag)) => *flag,
        (_, Value::String(text)) => text.is_empty(),
        (_, Value::List(items)) => items.is_empty(),
        (_, Value::Map(entries)) => entries.is_empty(),
        _ => false,
    }
}

/// Members sorted by name; of several with one name, the last.
pub(crate) fn sorted<'n, 't>(node: &'n Node<'t>) -> Vec<(&'n str, &'n Node<'t>)> {
    let mut entries: Vec<(&str, &Node<'t>)> = node.members().collect();
    if !entries.is_sorted_by(|one, other| one.0 < other.0) {
        entries.sort_by(|one, other| one.0.cmp(other.0));
        entries.reverse();
        entries.dedup_by(|one, other| one.0 == other.0);
        entries.reverse();
    }
    entries
}
