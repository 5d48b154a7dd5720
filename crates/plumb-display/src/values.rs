//! Values and differences as text (`cli.md` 18.7).
//!
//! Text consists of pieces: a colour tag for the operation, text, and a reset. The first piece of a line is indented,
//! optionally with a sign in the last two columns of the indentation. The pieces are the same as in the reference, because
//! programs also parse the coloured form.

mod blobs;
mod texts;

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ecow::EcoString;
use plumb_resource::StepOp;
use plumb_value::diff::{Wrappers, equal};
use plumb_value::{PropertyMap, ReferenceId, ResourceReference, Value};

use crate::color::RESET;
use crate::diff::{Change, Comparison, Element, ObjectDiff, ValueDiff, is_internal};
use crate::text::cut_lines;
use crate::{embedded, ops, quoted};

/// Options for displayed values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ValueStyle<'a> {
    /// Whether long texts are shown in full.
    pub(crate) full: bool,
    /// Whether unchanged properties are omitted.
    pub(crate) only_changes: bool,
    /// Whether the contents of secrets are shown.
    pub(crate) show_secrets: bool,
    /// Whether unknown outputs are shown even if they do not change.
    pub(crate) planning: bool,
    /// Properties that require a replacement, which are marked by words, for people only.
    pub(crate) replaced: &'a [EcoString],
    /// Whether list elements are matched by value, so that they can move.
    pub(crate) aligns_lists: bool,
}

/// Printer for values, with one property per line.
#[derive(Debug, Default)]
pub(crate) struct ValuePrinter<'a> {
    style: ValueStyle<'a>,
    out: String,
    /// Path of the current property.
    path: String,
}

/// Text of all properties of `map`, indented by one level, with colour tags.
pub fn object_text(map: &PropertyMap, show_secrets: bool) -> String {
    let mut printer = ValuePrinter::new(ValueStyle {
        full: true,
        show_secrets,
        ..ValueStyle::default()
    });
    printer.object(map, 1, StepOp::Same, false);
    printer.finish()
}

/// Indentation of a line, and the operation on its value.
#[derive(Clone, Copy)]
pub(super) struct At {
    indent: usize,
    op: StepOp,
    /// Whether lines have the sign of `op`.
    signed: bool,
}

impl At {
    fn deeper(self, by: usize) -> At {
        At {
            indent: self.indent + by,
            ..self
        }
    }

    fn colored(self, op: StepOp) -> At {
        At { op, ..self }
    }

    /// This indentation with the sign of `op`.
    fn signed(self, op: StepOp) -> At {
        At {
            op,
            signed: true,
            ..self
        }
    }

    /// This indentation without a sign.
    fn plain(self, op: StepOp) -> At {
        At {
            op,
            signed: false,
            ..self
        }
    }
}

/// Title before a value.
#[derive(Clone, Copy)]
pub(super) enum Title<'t> {
    /// A key, padded to this width.
    Key {
        key: &'t str,
        width: usize,
        /// Whether its change requires a replacement.
        forces: bool,
    },
    /// Index of an element, indented one level less, and its old index if it was moved.
    Index {
        index: usize,
        moved_from: Option<usize>,
    },
    /// No title: the value continues the current line.
    None,
}

impl<'a> ValuePrinter<'a> {
    /// A printer without text.
    pub(crate) fn new(style: ValueStyle<'a>) -> Self {
        ValuePrinter {
            style,
            out: String::new(),
            path: String::new(),
        }
    }

    /// The printed text.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Prints all properties in the colour of `op`, with signs if `signed` is set.
    pub(crate) fn object(&mut self, map: &PropertyMap, indent: usize, op: StepOp, signed: bool) {
        self.members(map, At { indent, op, signed });
    }

    /// Prints a property in the colour of `op`, its key padded to `width`.
    pub(crate) fn property(
        &mut self,
        key: &str,
        value: &Value,
        indent: usize,
        op: StepOp,
        width: usize,
    ) {
        let at = At {
            indent,
            op,
            signed: false,
        };
        self.titled(Title::key(key, width), value, at);
    }

    /// Prints the change of each property.
    pub(crate) fn object_diff(&mut self, difference: &ObjectDiff, indent: usize) {
        let width = longest(difference.0.keys().map(plumb_value::PropertyKey::as_str));
        for (key, change) in &difference.0 {
            self.property_diff(key.as_str(), change, indent, StepOp::Same, width);
        }
    }

    /// Prints the change of a property, its key padded to `width`.
    pub(crate) fn property_diff(
        &mut self,
        key: &str,
        change: &Change,
        indent: usize,
        op: StepOp,
        width: usize,
    ) {
        let at = At {
            indent,
            op,
            signed: true,
        };
        self.member_diff(key, change, at, width);
    }

    /// Prints hidden paths that differ, without their values.
    pub(crate) fn hidden<'p>(
        &mut self,
        paths: impl IntoIterator<Item = &'p String>,
        indent: usize,
    ) {
        let at = At {
            indent,
            op: StepOp::Update,
            signed: true,
        };
        for path in paths {
            self.line(at, &format!("{path} (hidden)\n"));
        }
    }

    /// Prints a piece in the current line.
    fn piece(&mut self, op: StepOp, text: &str) {
        let _ = write!(self.out, "{}{text}{RESET}", ops::line_color(op));
    }

    fn color_start(&mut self, op: StepOp) {
        self.out.push_str(ops::line_color(op));
    }

    /// Prints the first piece of a line, with the sign if lines have one.
    fn line(&mut self, at: At, text: &str) {
        self.color_start(at.op);
        let columns = at.indent * 4;
        if at.signed && columns >= 2 {
            let _ = write!(self.out, "{:1$}{2}", "", columns - 2, ops::sign(at.op));
        } else {
            let _ = write!(self.out, "{:columns$}", "");
        }
        self.out.push_str(text);
        self.out.push_str(RESET);
    }

    /// Prints the first piece of a line, without a sign.
    fn plain_line(&mut self, at: At, text: &str) {
        self.line(at.plain(at.op), text);
    }

    fn title(&mut self, title: Title<'_>, at: At) {
        match title {
            Title::Key {
                key,
                width,
                forces: false,
            } => {
                let key = self.cut(key);
                self.line(at, &format!("{key:width$}: "));
            }
            Title::Key { key, .. } => {
                let color = ops::line_color(StepOp::Replace);
                let key = self.cut(key);
                self.line(at, &format!("{color}{key} (forces replacement): "));
            }
            Title::Index {
                index,
                moved_from: None,
            } => self.line(above(at), &format!("[{index}]: ")),
            Title::Index {
                index,
                moved_from: Some(from),
            } => self.line(above(at), &format!("[{from}] => [{index}]: ")),
            Title::None => {}
        }
    }

    fn titled(&mut self, title: Title<'_>, value: &Value, at: At) {
        self.title(title, at);
        self.value(value, at);
    }

    fn added(&mut self, title: Title<'_>, value: &Value, at: At) {
        self.titled(title, value, at.signed(StepOp::Create));
    }

    fn deleted(&mut self, title: Title<'_>, value: &Value, at: At) {
        self.titled(title, value, at.signed(StepOp::Delete));
    }

    fn members(&mut self, map: &PropertyMap, at: At) {
        let width = longest(map.keys().map(plumb_value::PropertyKey::as_str));
        for (key, value) in map.iter().filter(|(key, _)| !is_internal(key)) {
            self.titled(Title::key(key.as_str(), width), value, at);
        }
    }

    fn member_diff(&mut self, key: &str, change: &Change, at: At, width: usize) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        let forces = !change.is_same() && self.style.replaced.iter().any(|it| *it == self.path);
        let title = Title::Key { key, width, forces };
        match change {
            Change::Add(value) => self.added(title, value, at),
            Change::Delete(value) => self.deleted(title, value, at),
            Change::Update(difference) => self.update(title, difference, at),
            Change::Same(value) => {
                if !self.style.only_changes && is_worth_showing(value, self.style.planning) {
                    self.titled(title, value, at.plain(StepOp::Same));
                }
            }
        }
        self.path.truncate(length);
    }

    fn update(&mut self, title: Title<'_>, difference: &ValueDiff, at: At) {
        let at = at.signed(StepOp::Update);
        match difference {
            ValueDiff::Object(object) => {
                self.title(title, at);
                self.piece(at.op, "{\n");
                let width = longest(object.0.keys().map(plumb_value::PropertyKey::as_str));
                for (key, change) in &object.0 {
                    self.member_diff(key.as_str(), change, at.deeper(1), width);
                }
                self.plain_line(at, "}\n");
            }
            ValueDiff::Array(elements) => {
                self.title(title, at);
                self.piece(at.op, "[\n");
                for element in elements {
                    self.element(element, at.deeper(2));
                }
                self.plain_line(at, "]\n");
            }
            ValueDiff::Plain { old, new } => self.plain_update(title, old, new, at),
        }
    }

    fn element(&mut self, element: &Element, at: At) {
        let length = self.path.len();
        let _ = write!(self.path, "[{}]", element.index);
        let title = Title::Index {
            index: element.index,
            moved_from: element.moved_from,
        };
        match &element.change {
            Change::Add(value) => self.added(title, value, at),
            Change::Delete(value) => self.deleted(title, value, at),
            Change::Update(difference) => self.update(title, difference, at),
            Change::Same(value) if element.moved_from.is_some() => {
                self.titled(title, value, at.signed(StepOp::Update));
            }
            Change::Same(value) if !self.style.only_changes => {
                self.titled(title, value, at.plain(StepOp::Same));
            }
            Change::Same(_) => {}
        }
        self.path.truncate(length);
    }

    /// Prints two values that are compared as a whole.
    fn plain_update(&mut self, title: Title<'_>, old: &Value, new: &Value, at: At) {
        if self.style.show_secrets && (is_secret(old) || is_secret(new)) {
            let (old, new) = (content(old), content(new));
            if let Change::Update(difference) = self.compare(old, new) {
                self.update(title, &difference, at);
                return;
            }
        }
        let (shows_old, shows_new) = (is_worth_showing(old, false), is_worth_showing(new, false));
        if shows_old && shows_new {
            match (old, new) {
                (Value::Archive(old), Value::Archive(new)) => {
                    self.archive_update(title, old, new, at);
                    return;
                }
                (Value::String(old), Value::String(new)) => {
                    self.title(title, at);
                    self.text_update(old, new, at);
                    return;
                }
                _ if is_primitive(old) && is_primitive(new) => {
                    self.title(title, at);
                    self.primitive(old, at.colored(StepOp::Delete));
                    self.piece(at.op, " => ");
                    self.primitive(new, at.colored(StepOp::Create));
                    self.piece(at.op, "\n");
                    return;
                }
                _ => {}
            }
        }
        if shows_old {
            self.deleted(title, old, at);
        }
        if shows_new {
            self.added(title, new, at);
        }
    }

    fn compare(&self, old: &Value, new: &Value) -> Change {
        let comparison = Comparison {
            aligns_lists: self.style.aligns_lists,
            ..Comparison::default()
        };
        comparison.values(old, new)
    }

    /// Prints the value in the current line, and ends the line.
    fn value(&mut self, value: &Value, at: At) {
        match value {
            Value::Secret(inner) if self.style.show_secrets => {
                self.value(inner, at);
                return;
            }
            Value::Array(values) if values.is_empty() => self.piece(at.op, "[]"),
            Value::Array(values) => {
                self.piece(at.op, "[\n");
                for (idx, element) in values.iter().enumerate() {
                    self.line(at, &format!("    [{idx}]: "));
                    self.value(element, at.deeper(1));
                }
                self.plain_line(at, "]");
            }
            Value::Object(map) if map.is_empty() => self.piece(at.op, "{}"),
            Value::Object(map) => {
                self.piece(at.op, "{\n");
                self.members(map, at.deeper(1));
                self.plain_line(at, "}");
            }
            Value::Asset(asset) => self.asset(asset, at),
            Value::Archive(archive) => self.archive(archive, at),
            Value::Resource(reference) => {
                self.piece(at.op, "{\n");
                self.reference(reference, at.deeper(1));
                self.plain_line(at, "}");
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Secret(_)
            | Value::Computed(_)
            | Value::Output(_) => self.primitive(value, at),
        }
        self.piece(at.op, "\n");
    }

    fn reference(&mut self, reference: &ResourceReference, at: At) {
        let text = |text: &str| format!("{}\n", quoted::quoted(text.as_bytes()));
        self.title(Title::key("URN", 3), at);
        self.piece(at.op, &text(&reference.urn));
        self.title(Title::key("ID", 3), at);
        let id = match &reference.id {
            ReferenceId::None => Value::Null,
            ReferenceId::Unknown => Value::UNKNOWN,
            ReferenceId::Known(id) => Value::String(id.clone()),
        };
        self.value(&id, at);
        self.title(Title::key("PackageVersion", 3), at);
        self.piece(at.op, &text(&reference.package_version));
    }

    /// Prints a scalar; a string may contain a document.
    fn primitive(&mut self, value: &Value, at: At) {
        let text = match value {
            Value::String(text) => {
                self.text(text, at);
                return;
            }
            Value::Null => "<null>".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => quoted::number(*value),
            Value::Bytes(bytes) => format!("b\"{}\"", STANDARD.encode(bytes)),
            Value::Secret(_) => "[secret]".to_owned(),
            Value::Output(output) => match &output.value {
                Some(value) => {
                    self.primitive(value, at);
                    return;
                }
                None => "[unknown]".to_owned(),
            },
            Value::Computed(_) => "[unknown]".to_owned(),
            Value::Array(_)
            | Value::Object(_)
            | Value::Asset(_)
            | Value::Archive(_)
            | Value::Resource(_) => return,
        };
        self.piece(at.op, &text);
    }

    fn text(&mut self, text: &str, at: At) {
        if let Some((language, document)) = embedded::parse(text) {
            self.piece(at.op, &format!("({}) ", language.name()));
            self.value(&document, at);
        } else if self.style.full {
            self.piece(at.op, &quoted::quoted(text.as_bytes()));
        } else {
            self.piece(at.op, &quoted::quoted(&cut_lines(text)));
        }
    }

    /// A name or a line, cut unless values are shown in full.
    fn cut(&self, text: &str) -> String {
        if self.style.full {
            text.to_owned()
        } else {
            String::from_utf8_lossy(&cut_lines(text)).into_owned()
        }
    }
}

impl<'t> Title<'t> {
    fn key(key: &'t str, width: usize) -> Self {
        Title::Key {
            key,
            width,
            forces: false,
        }
    }
}

fn above(at: At) -> At {
    At {
        indent: at.indent.saturating_sub(1),
        ..at
    }
}

/// Width of the key column, in bytes, as in the reference.
pub(crate) fn longest<'k>(keys: impl Iterator<Item = &'k str>) -> usize {
    keys.map(str::len).max().unwrap_or(0)
}

/// Whether a value is not empty. Output values count only if `outputs` is set.
pub(crate) fn is_worth_showing(value: &Value, outputs: bool) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Output(_) => outputs,
        _ => true,
    }
}

fn is_primitive(value: &Value) -> bool {
    match value {
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Secret(_)
        | Value::Computed(_)
        | Value::Output(_) => true,
        Value::Array(_)
        | Value::Object(_)
        | Value::Asset(_)
        | Value::Archive(_)
        | Value::Resource(_) => false,
    }
}

fn is_secret(value: &Value) -> bool {
    matches!(value, Value::Secret(_))
}

fn content(value: &Value) -> &Value {
    match value {
        Value::Secret(inner) => inner,
        other => other,
    }
}

/// Whether two documents have the same value.
fn is_same_document(old: &Value, new: &Value) -> bool {
    equal(old, new, Wrappers::Honour)
}

#[cfg(test)]
mod tests;
