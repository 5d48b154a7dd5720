//! Printer for the tree.

use std::fmt::Write;

use super::node::{
    Comments, Data, Document, Item, Layout, Mapping, Node, Scalar, ScalarStyle, Sequence,
};
use super::scalar::{self, Resolved};

const INDENT: usize = 2;

/// Prints `document` as YAML: two spaces per level, lists in maps indented, a final line break.
pub fn emit(document: &Document) -> String {
    let mut emitter = Emitter {
        out: String::new(),
        foot_at: None,
    };
    for line in &document.head {
        emitter.raw_line(line);
    }
    if !document.head.is_empty() && document.root.is_some() {
        emitter.out.push('\n');
    }
    if let Some(root) = &document.root {
        emitter.root(root);
    }
    if !document.foot.is_empty() {
        if !emitter.out.is_empty() {
            emitter.out.push('\n');
        }
        for line in &document.foot {
            emitter.raw_line(line);
        }
    }
    emitter.out
}

/// Prints the value as JSON with an indentation of four spaces, in the order of the tree.
pub fn emit_json(document: &Document) -> String {
    let mut out = String::new();
    match &document.root {
        Some(root) => json_value(root, 0, &mut out),
        None => out.push_str("{}"),
    }
    out.push('\n');
    out
}

struct Emitter {
    out: String,
    /// Indentation of the last foot comment, if nothing was printed after it.
    foot_at: Option<usize>,
}

impl Emitter {
    fn raw_line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn indent(&mut self, level: usize) {
        self.out.extend(std::iter::repeat_n(' ', level));
    }

    fn root(&mut self, root: &Node) {
        match &root.data {
            Data::Mapping(_) | Data::Sequence(_) if is_block(root) => {
                if let Some(properties) = properties(root) {
                    self.raw_line(&properties);
                }
                self.block(root, 0, false);
            }
            _ => {
                self.inline(root, 0);
                self.out.push('\n');
            }
        }
    }

    /// Prints the entries of a block collection. With `continued`, the first entry starts on the current line.
    fn block(&mut self, node: &Node, level: usize, continued: bool) {
        match &node.data {
            Data::Mapping(mapping) => {
                for (index, (key, item)) in mapping.entries.iter().enumerate() {
                    self.start(&item.comments, level, continued && index == 0);
                    self.key(key, level);
                    self.value(item, level, false);
                    self.foot(&item.comments, level);
                }
            }
            Data::Sequence(sequence) => {
                for (index, item) in sequence.items.iter().enumerate() {
                    self.start(&item.comments, level, continued && index == 0);
                    self.out.push('-');
                    self.value(item, level, true);
                    self.foot(&item.comments, level);
                }
            }
            Data::Scalar(_) | Data::Alias(_) => {}
        }
    }

    fn start(&mut self, comments: &Comments, level: usize, continued: bool) {
        let after_foot = self.foot_at.take() == Some(level);
        if continued {
            return;
        }
        if after_foot {
            self.out.push('\n');
        }
        self.lines(&comments.head, level);
        self.indent(level);
    }

    fn foot(&mut self, comments: &Comments, level: usize) {
        if !comments.foot.is_empty() {
            self.lines(&comments.foot, level);
            self.foot_at = Some(level);
        }
    }

    fn lines(&mut self, lines: &[String], level: usize) {
        for line in lines {
            if !line.is_empty() {
                self.indent(level);
            }
            self.raw_line(line);
        }
    }

    fn key(&mut self, key: &Node, level: usize) {
        let simple = match &key.data {
            Data::Scalar(scalar) => !scalar.text.contains('\n'),
            Data::Alias(_) => true,
            Data::Sequence(_) | Data::Mapping(_) => false,
        };
        if simple {
            self.flow(key);
            if matches!(key.data, Data::Alias(_)) {
                self.out.push(' ');
            }
        } else {
            self.out.push_str("? ");
            self.flow(key);
            self.out.push('\n');
            self.indent(level);
        }
        self.out.push(':');
    }

    /// Prints the value after `key:` or `-`, including the end of the line.
    fn value(&mut self, item: &Item, level: usize, in_sequence: bool) {
        let node = &item.value;
        if !is_block(node) {
            if !is_silent(node) {
                self.out.push(' ');
            }
            return self.leaf(node, level, item.comments.line.as_deref());
        }
        let properties = properties(node);
        if let Some(properties) = &properties {
            self.out.push(' ');
            self.out.push_str(properties);
        }
        let continued = in_sequence
            && properties.is_none()
            && item.comments.line.is_none()
            && !has_first_head(node);
        if continued {
            self.out.push_str(&" ".repeat(INDENT - 1));
        } else {
            self.end_line(item.comments.line.as_deref());
        }
        self.block(node, level + INDENT, continued);
    }

    fn leaf(&mut self, node: &Node, level: usize, comment: Option<&str>) {
        let Some(scalar) = block_scalar(node) else {
            self.inline(node, level);
            return self.end_line(comment);
        };
        if let Some(properties) = properties(node) {
            self.out.push_str(&properties);
            self.out.push(' ');
        }
        self.out.push(if scalar.style == ScalarStyle::Literal {
            '|'
        } else {
            '>'
        });
        self.out.push_str(chomping(&scalar.text));
        self.end_line(comment);
        let body = if scalar.style == ScalarStyle::Literal {
            scalar.text.clone()
        } else {
            unfold(&scalar.text)
        };
        for line in body.strip_suffix('\n').unwrap_or(&body).split('\n') {
            if !line.is_empty() {
                self.indent(level + INDENT);
            }
            self.raw_line(line);
        }
    }

    fn end_line(&mut self, comment: Option<&str>) {
        if let Some(comment) = comment {
            self.out.push(' ');
            self.out.push_str(comment);
        }
        self.out.push('\n');
    }

    fn inline(&mut self, node: &Node, level: usize) {
        match &node.data {
            Data::Scalar(scalar)
                if scalar.style == ScalarStyle::SingleQuoted
                    && scalar::can_be_quoted_lines(&scalar.text) =>
            {
                if let Some(properties) = properties(node) {
                    self.out.push_str(&properties);
                    self.out.push(' ');
                }
                self.quoted_lines(&scalar.text, level);
            }
            _ => self.flow(node),
        }
    }

    /// Prints a multi-line text in quotes. Adds a line break between lines, because readers fold one of them into
    /// a space.
    fn quoted_lines(&mut self, text: &str, level: usize) {
        self.out.push('\'');
        let mut before = false;
        for line in text.split('\n') {
            if before {
                self.out.push('\n');
            }
            if line.is_empty() {
                continue;
            }
            if before {
                self.out.push('\n');
                self.indent(level + INDENT);
            }
            self.out.push_str(&line.replace('\'', "''"));
            before = true;
        }
        self.out.push('\'');
    }

    /// Prints a node on the current line.
    fn flow(&mut self, node: &Node) {
        if let Some(properties) = properties(node) {
            self.out.push_str(&properties);
            if !is_silent(node) {
                self.out.push(' ');
            }
        }
        match &node.data {
            Data::Scalar(scalar) => self.out.push_str(&scalar_text(scalar)),
            Data::Alias(alias) => {
                self.out.push('*');
                self.out.push_str(&alias.name);
            }
            Data::Sequence(Sequence { items, .. }) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.separator(index);
                    self.flow_scalar_safe(&item.value);
                }
                self.out.push(']');
            }
            Data::Mapping(Mapping { entries, .. }) => {
                self.out.push('{');
                for (index, (key, item)) in entries.iter().enumerate() {
                    self.separator(index);
                    self.flow_scalar_safe(key);
                    self.out.push(':');
                    if !is_silent(&item.value) {
                        self.out.push(' ');
                    }
                    self.flow_scalar_safe(&item.value);
                }
                self.out.push('}');
            }
        }
    }

    fn separator(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }

    /// Prints a node in a flow collection, where plain scalars must not contain some additional characters.
    fn flow_scalar_safe(&mut self, node: &Node) {
        match &node.data {
            Data::Scalar(scalar)
                if scalar.style == ScalarStyle::Plain && !plain_in_flow(&scalar.text) =>
            {
                let quoted = Scalar {
                    text: scalar.text.clone(),
                    style: ScalarStyle::SingleQuoted,
                };
                self.flow(&Node {
                    data: Data::Scalar(quoted),
                    ..node.clone()
                });
            }
            _ => self.flow(node),
        }
    }
}

fn plain_in_flow(text: &str) -> bool {
    !text.contains([',', '?', '[', ']', '{', '}', ':'])
        || !matches!(scalar::resolve_plain(text), Resolved::String(_))
}

/// Whether the node is printed on several lines below its key.
fn is_block(node: &Node) -> bool {
    match &node.data {
        Data::Mapping(mapping) => mapping.layout == Layout::Block && !mapping.entries.is_empty(),
        Data::Sequence(sequence) => sequence.layout == Layout::Block && !sequence.items.is_empty(),
        Data::Scalar(_) | Data::Alias(_) => false,
    }
}

/// Whether the node is an empty null, which is not printed.
fn is_silent(node: &Node) -> bool {
    let Data::Scalar(scalar) = &node.data else {
        return false;
    };
    scalar.text.is_empty()
        && scalar.style == ScalarStyle::Plain
        && node.tag.is_none()
        && node.anchor.is_none()
}

fn has_first_head(node: &Node) -> bool {
    let first = match &node.data {
        Data::Mapping(mapping) => mapping.entries.first().map(|(_, item)| item),
        Data::Sequence(sequence) => sequence.items.first(),
        Data::Scalar(_) | Data::Alias(_) => None,
    };
    first.is_some_and(|item| !item.comments.head.is_empty())
}

fn properties(node: &Node) -> Option<String> {
    let anchor = node.anchor.as_ref().map(|name| format!("&{name}"));
    let tag = node
        .tag
        .as_ref()
        .filter(|tag| tag_matters(node, tag))
        .cloned();
    match (anchor, tag) {
        (Some(anchor), Some(tag)) => Some(format!("{anchor} {tag}")),
        (anchor, tag) => anchor.or(tag),
    }
}

/// Whether the value would change without the tag.
fn tag_matters(node: &Node, tag: &str) -> bool {
    match &node.data {
        Data::Mapping(_) => tag != "!!map",
        Data::Sequence(_) => tag != "!!seq",
        Data::Alias(_) => false,
        Data::Scalar(scalar) => match tag {
            "!!str" => {
                scalar.style == ScalarStyle::Plain
                    && !matches!(scalar::resolve_plain(&scalar.text), Resolved::String(_))
            }
            _ => true,
        },
    }
}

fn block_scalar(node: &Node) -> Option<&Scalar> {
    match &node.data {
        Data::Scalar(scalar)
            if matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded) =>
        {
            scalar::can_be_block(&scalar.text)
                .then_some(scalar)
                .filter(|scalar| !scalar.text.is_empty())
        }
        _ => None,
    }
}

fn chomping(text: &str) -> &'static str {
    match text.strip_suffix('\n') {
        None => "-",
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => "+",
        Some(_) => "",
    }
}

/// Adds a line break between lines that do not start with a space, because readers fold one of them into a space.
fn unfold(text: &str) -> String {
    let end = text.trim_end_matches('\n').len();
    let (body, tail) = text.split_at(end);
    let mut out = String::new();
    let mut previous_folds = false;
    for line in body.split('\n') {
        if !line.is_empty() {
            let folds = !line.starts_with(' ');
            if folds && previous_folds {
                out.push('\n');
            }
            previous_folds = folds;
        }
        out.push_str(line);
        out.push('\n');
    }
    out.truncate(out.len() - 1);
    out + tail
}

fn scalar_text(scalar: &Scalar) -> String {
    let style = match scalar.style {
        // Plain: a number, boolean or null, or the text of an existing plain scalar.
        ScalarStyle::Plain if scalar.text.is_empty() => return String::new(),
        style => scalar::quoting_needed(&scalar.text, style),
    };
    match style {
        ScalarStyle::SingleQuoted => format!("'{}'", scalar.text.replace('\'', "''")),
        ScalarStyle::DoubleQuoted => double_quoted(&scalar.text),
        ScalarStyle::Plain | ScalarStyle::Literal | ScalarStyle::Folded => scalar.text.clone(),
    }
}

fn double_quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\e"),
            '\u{85}' => out.push_str("\\N"),
            '\u{2028}' => out.push_str("\\L"),
            '\u{2029}' => out.push_str("\\P"),
            c if scalar::is_printable(c) => out.push(c),
            c if (c as u32) < 0x100 => escape(&mut out, 'x', 2, c),
            c if (c as u32) < 0x10000 => escape(&mut out, 'u', 4, c),
            c => escape(&mut out, 'U', 8, c),
        }
    }
    out.push('"');
    out
}

fn escape(out: &mut String, kind: char, digits: usize, c: char) {
    let code = c as u32;
    write!(out, "\\{kind}{code:0digits$X}").expect("writing to a string cannot fail");
}

fn json_value(node: &Node, level: usize, out: &mut String) {
    match &node.resolved().data {
        Data::Mapping(mapping) if !mapping.entries.is_empty() => {
            out.push_str("{\n");
            for (index, (key, item)) in mapping.entries.iter().enumerate() {
                json_separator(index, level, out);
                out.push_str(
                    &serde_json::Value::from(key.key_text().unwrap_or_default()).to_string(),
                );
                out.push_str(": ");
                json_value(&item.value, level + 1, out);
            }
            json_close(level, '}', out);
        }
        Data::Sequence(sequence) if !sequence.items.is_empty() => {
            out.push_str("[\n");
            for (index, item) in sequence.items.iter().enumerate() {
                json_separator(index, level, out);
                json_value(&item.value, level + 1, out);
            }
            json_close(level, ']', out);
        }
        Data::Mapping(_) => out.push_str("{}"),
        Data::Sequence(_) => out.push_str("[]"),
        Data::Scalar(_) | Data::Alias(_) => {
            let value = super::convert::scalar_json(node).unwrap_or(serde_json::Value::Null);
            out.push_str(&value.to_string());
        }
    }
}

fn json_separator(index: usize, level: usize, out: &mut String) {
    if index > 0 {
        out.push_str(",\n");
    }
    out.push_str(&" ".repeat(4 * (level + 1)));
}

fn json_close(level: usize, bracket: char, out: &mut String) {
    out.push('\n');
    out.push_str(&" ".repeat(4 * level));
    out.push(bracket);
}
