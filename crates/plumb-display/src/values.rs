//! Values and differences as text (`cli.md` 18.7).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ecow::EcoString;
use plumb_resource::StepOp;
use plumb_value::path::PropertyPath;
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, Value};

use crate::color::paint;
use crate::diff::{Change, Element, ObjectDiff, ValueDiff, diff_values, is_internal, visible};
use crate::embedded;
use crate::ops;
use crate::text::{cut_text, line_diff, pad, width};

/// What of values is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ValueStyle<'a> {
    /// Whether long texts are shown in full.
    pub(crate) full: bool,
    /// Whether properties that do not differ are left out.
    pub(crate) only_changes: bool,
    /// Paths whose differences are not shown.
    pub(crate) hidden: &'a [EcoString],
    /// Properties that force a replacement.
    pub(crate) replaced: &'a [EcoString],
    /// Whether that is said in words too, and not by colour alone.
    pub(crate) says_replaced: bool,
    /// Whether properties that are null are shown.
    pub(crate) shows_null: bool,
}

/// Writes values, one property per line.
#[derive(Debug, Default)]
pub(crate) struct ValuePrinter<'a> {
    style: ValueStyle<'a>,
    out: String,
    /// Path of the property that is being written.
    path: String,
}

/// Every property of `map`, one level deep, with colour tags.
pub fn object_text(map: &PropertyMap, show_secrets: bool) -> String {
    let mut printer = ValuePrinter::new(ValueStyle {
        full: true,
        shows_null: true,
        ..ValueStyle::default()
    });
    printer.object(&visible(map, show_secrets), 1);
    printer.finish()
}

/// Where a line stands and which sign it carries.
#[derive(Clone, Copy)]
struct At {
    indent: usize,
    op: StepOp,
    /// Whether the sign is shown.
    signed: bool,
}

impl At {
    fn deeper(self) -> At {
        At {
            indent: self.indent + 1,
            ..self
        }
    }

    fn with(self, op: StepOp) -> At {
        At {
            op,
            signed: op != StepOp::Same,
            ..self
        }
    }
}

impl<'a> ValuePrinter<'a> {
    /// A printer that has written nothing.
    pub(crate) fn new(style: ValueStyle<'a>) -> Self {
        ValuePrinter {
            style,
            out: String::new(),
            path: String::new(),
        }
    }

    /// The text so far.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Writes every property, without signs.
    pub(crate) fn object(&mut self, map: &PropertyMap, indent: usize) {
        self.members(
            map,
            At {
                indent,
                op: StepOp::Same,
                signed: false,
            },
        );
    }

    /// Writes what became of each property.
    pub(crate) fn object_diff(&mut self, difference: &ObjectDiff, indent: usize) {
        self.changes(
            difference,
            At {
                indent,
                op: StepOp::Same,
                signed: false,
            },
        );
    }

    fn members(&mut self, map: &PropertyMap, at: At) {
        let nulls = self.style.shows_null;
        let shown = || {
            map.iter()
                .filter(|(key, value)| !is_internal(key) && (nulls || !value.is_null()))
        };
        let widest = shown()
            .map(|(key, _)| width(key.as_str()))
            .max()
            .unwrap_or(0);
        for (key, value) in shown() {
            self.title(key.as_str(), widest, at);
            self.value(value, at);
        }
    }

    fn changes(&mut self, difference: &ObjectDiff, at: At) {
        let widest = difference
            .0
            .keys()
            .map(|key| width(key.as_str()))
            .max()
            .unwrap_or(0);
        for (key, change) in &difference.0 {
            let length = self.enter_key(key.as_str());
            let forces = self.style.replaced.iter().any(|path| *path == self.path);
            self.change(&pad(key.as_str(), widest), change, at, forces);
            self.path.truncate(length);
        }
    }

    fn enter_key(&mut self, key: &str) -> usize {
        let length = self.path.len();
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
        length
    }

    /// Whether the user does not want to see how the present path differs.
    fn is_hidden(&self) -> bool {
        if self.style.hidden.is_empty() {
            return false;
        }
        let parse = |text: &str| PropertyPath::parse(text).ok();
        let path = parse(&self.path);
        let is_it = |hidden: &EcoString| {
            *hidden == self.path
                || parse(hidden)
                    .zip(path.as_ref())
                    .is_some_and(|(hidden, path)| hidden.contains(path))
        };
        self.style.hidden.iter().any(is_it)
    }

    fn change(&mut self, title: &str, change: &Change, at: At, forces: bool) {
        let op = match change {
            Change::Same(_) => StepOp::Same,
            Change::Add(_) => StepOp::Create,
            Change::Delete(_) => StepOp::Delete,
            Change::Update(_) => StepOp::Update,
        };
        if op == StepOp::Same && self.style.only_changes {
            return;
        }
        let at = at.with(op);
        if self.is_hidden() {
            if op != StepOp::Same {
                self.line_start(at);
                let _ = writeln!(self.out, "{} (hidden)", title.trim_end());
            }
            return;
        }
        let title = if forces && self.style.says_replaced {
            let mark = format!("{} (forces replacement)", title.trim_end());
            paint(ops::color(StepOp::Replace), mark)
        } else if forces {
            paint(ops::color(StepOp::Replace), title)
        } else {
            title.to_owned()
        };
        match change {
            Change::Same(value) if value.is_null() => {}
            Change::Same(value) | Change::Add(value) | Change::Delete(value) => {
                self.titled(&title, value, at);
            }
            Change::Update(difference) => self.update(&title, difference, at),
        }
    }

    fn titled(&mut self, title: &str, value: &Value, at: At) {
        self.line_start(at);
        let _ = write!(self.out, "{title}: ");
        self.value(value, at);
    }

    fn update(&mut self, title: &str, difference: &ValueDiff, at: At) {
        if let ValueDiff::Plain { old, new } = difference {
            self.plain_update(title, old, new, at);
        } else {
            self.line_start(at);
            let _ = write!(self.out, "{title}: ");
            self.nested_update(difference, at);
        }
    }

    fn nested_update(&mut self, difference: &ValueDiff, at: At) {
        match difference {
            ValueDiff::Document(language, inner) => {
                self.out.push_str(language.mark());
                self.nested_update(inner, at);
            }
            ValueDiff::Object(object) => {
                self.out.push_str("{\n");
                self.changes(object, at.deeper());
                self.closing("}", at);
            }
            ValueDiff::Array(elements) => {
                self.out.push_str("[\n");
                for element in elements {
                    self.element(element, at.deeper());
                }
                self.closing("]", at);
            }
            ValueDiff::Plain { old, new } => {
                let _ = writeln!(self.out, "{} => {}", self.short(old), self.short(new));
            }
        }
    }

    fn element(&mut self, element: &Element, at: At) {
        let length = self.path.len();
        let _ = write!(self.path, "[{}]", element.index);
        let title = format!("[{}]", element.index);
        match (element.moved_from, &element.change) {
            (Some(from), Change::Same(value)) if !self.is_hidden() => {
                let title = format!("[{from}] => {title}");
                self.titled(&title, value, at.with(StepOp::Update));
            }
            (_, change) => {
                let forces = self.style.replaced.iter().any(|path| *path == self.path);
                self.change(&title, change, at, forces);
            }
        }
        self.path.truncate(length);
    }

    fn plain_update(&mut self, title: &str, old: &Value, new: &Value, at: At) {
        match (old, new) {
            (Value::Asset(old), Value::Asset(new)) => {
                self.line_start(at);
                let _ = write!(self.out, "{title}: ");
                self.asset(new, Some(old), at);
            }
            (Value::Archive(old), Value::Archive(new)) => {
                self.line_start(at);
                let _ = write!(self.out, "{title}: ");
                self.archive(new, Some(old), at);
            }
            (Value::String(old), Value::String(new))
                if old.contains('\n') || new.contains('\n') =>
            {
                self.line_start(at);
                let _ = writeln!(self.out, "{title}: ");
                self.text_diff(old, new, at);
            }
            _ if is_short(old) && is_short(new) => {
                self.line_start(at);
                let (old, new) = highlighted(&self.short(old), &self.short(new));
                let _ = writeln!(self.out, "{title}: {old} => {new}");
            }
            _ => {
                self.titled(title, old, at.with(StepOp::Delete));
                self.titled(title, new, at.with(StepOp::Create));
            }
        }
    }

    /// Lines of both texts: kept, removed, added.
    fn text_diff(&mut self, old: &str, new: &str, at: At) {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        for (op, line) in line_diff(&old, &new) {
            if op == StepOp::Same && self.style.only_changes && !self.style.full {
                continue;
            }
            self.line_start(At {
                indent: at.indent + 1,
                op,
                signed: op != StepOp::Same,
            });
            let _ = writeln!(self.out, "{line}");
        }
    }

    /// Writes the value where the line stands, and ends the line.
    fn value(&mut self, value: &Value, at: At) {
        match value {
            Value::Array(values) if values.is_empty() => self.out.push_str("[]\n"),
            Value::Array(values) => {
                self.out.push_str("[\n");
                for (idx, element) in values.iter().enumerate() {
                    self.line_start(at);
                    let _ = write!(self.out, "    [{idx}]: ");
                    self.value(element, at.deeper());
                }
                self.closing("]", at);
            }
            Value::Object(map) if map.is_empty() => self.out.push_str("{}\n"),
            Value::Object(map) => {
                self.out.push_str("{\n");
                self.members(map, at.deeper());
                self.closing("}", at);
            }
            Value::Asset(asset) => self.asset(asset, None, at),
            Value::Archive(archive) => self.archive(archive, None, at),
            Value::String(text) => match embedded::parse(text) {
                Some((language, document)) => {
                    self.out.push_str(language.mark());
                    self.value(&document, at);
                }
                None => self.short_line(value),
            },
            _ => self.short_line(value),
        }
    }

    fn short_line(&mut self, value: &Value) {
        let text = self.short(value);
        let _ = writeln!(self.out, "{text}");
    }

    /// A value that fits on a line.
    fn short(&self, value: &Value) -> String {
        match value {
            Value::Null => "<null>".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::String(text) => self.quoted(text),
            Value::Bytes(bytes) => self.quoted(&String::from_utf8_lossy(bytes)),
            Value::Secret(_) => "[secret]".to_owned(),
            Value::Computed(_) | Value::Output(_) => "[unknown]".to_owned(),
            Value::Resource(reference) => self.quoted(&reference.urn),
            Value::Array(values) if values.is_empty() => "[]".to_owned(),
            Value::Object(map) if map.is_empty() => "{}".to_owned(),
            Value::Array(_) => "[...]".to_owned(),
            Value::Object(_) => "{...}".to_owned(),
            Value::Asset(_) => "asset".to_owned(),
            Value::Archive(_) => "archive".to_owned(),
        }
    }

    fn quoted(&self, text: &str) -> String {
        let cut = if self.style.full {
            text.to_owned()
        } else {
            cut_text(text)
        };
        serde_json::to_string(&cut).expect("text is always valid JSON")
    }

    fn asset(&mut self, asset: &Asset, old: Option<&Asset>, at: At) {
        let hash = hash_text(&asset.hash, old.map(|old| old.hash.as_str()));
        match &asset.source {
            AssetSource::Text(text) => {
                let _ = writeln!(self.out, "asset(text:{hash}) {{");
                for line in text.lines() {
                    self.line_start(At {
                        indent: at.indent + 1,
                        op: StepOp::Same,
                        signed: false,
                    });
                    let _ = writeln!(self.out, "{line}");
                }
                self.closing("}", at);
            }
            AssetSource::Path(path) => {
                let _ = writeln!(self.out, "asset(file:{hash}) {{ {path} }}");
            }
            AssetSource::Uri(uri) => {
                let _ = writeln!(self.out, "asset(uri:{hash}) {{ {uri} }}");
            }
            AssetSource::Elided => {
                let _ = writeln!(self.out, "asset(unknown:{hash}) {{ }}");
            }
        }
    }

    fn archive(&mut self, archive: &Archive, old: Option<&Archive>, at: At) {
        let hash = hash_text(&archive.hash, old.map(|old| old.hash.as_str()));
        match &archive.source {
            ArchiveSource::Assets(members) => {
                let _ = writeln!(self.out, "archive(assets:{hash}) {{");
                self.archive_members(members, old, at.deeper());
                self.closing("}", at);
            }
            ArchiveSource::Path(path) => {
                let _ = writeln!(self.out, "archive(file:{hash}) {{ {path} }}");
            }
            ArchiveSource::Uri(uri) => {
                let _ = writeln!(self.out, "archive(uri:{hash}) {{ {uri} }}");
            }
            ArchiveSource::Elided => {
                let _ = writeln!(self.out, "archive(unknown:{hash}) {{ }}");
            }
        }
    }

    fn archive_members(
        &mut self,
        members: &BTreeMap<EcoString, Value>,
        old: Option<&Archive>,
        at: At,
    ) {
        let old_members = match old.map(|old| &old.source) {
            Some(ArchiveSource::Assets(members)) => Some(members),
            _ => None,
        };
        for (name, member) in members {
            let title = format!("{name:?}");
            match old_members.map(|old| old.get(name)) {
                None => self.titled(&title, member, at),
                Some(None) => self.titled(&title, member, at.with(StepOp::Create)),
                Some(Some(old)) => self.change(&title, &diff_values(old, member), at, false),
            }
        }
        for (name, member) in old_members
            .into_iter()
            .flatten()
            .filter(|(name, _)| !members.contains_key(*name))
        {
            self.titled(&format!("{name:?}"), member, at.with(StepOp::Delete));
        }
    }

    fn title(&mut self, key: &str, widest: usize, at: At) {
        self.line_start(at);
        let _ = write!(self.out, "{}: ", pad(key, widest));
    }

    /// Indentation, with the sign in its last two columns; the colour lasts until the next line.
    fn line_start(&mut self, at: At) {
        let columns = at.indent * 4;
        if at.signed {
            let _ = write!(
                self.out,
                "{:1$}{2}",
                "",
                columns.saturating_sub(2),
                ops::colored_sign(at.op)
            );
        } else {
            let _ = write!(self.out, "{:1$}", "", columns);
        }
    }

    fn closing(&mut self, bracket: &str, at: At) {
        let _ = writeln!(self.out, "{:2$}{}", "", bracket, at.indent * 4);
    }
}

/// Both texts, with what differs in colour if most of them is the same.
fn highlighted(old: &str, new: &str) -> (String, String) {
    let shared = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs
            .take_while(|(old, new)| old == new)
            .map(|(letter, _)| letter.len_utf8())
            .sum()
    };
    let before = shared(&mut old.chars().zip(new.chars()));
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = shared(&mut old_rest.chars().rev().zip(new_rest.chars().rev()));
    let is_text = old.starts_with('"') && new.starts_with('"');
    if !is_text || 2 * (before + after) < old.len().min(new.len()) {
        return (old.to_owned(), new.to_owned());
    }
    let mark = |text: &str, op: StepOp| {
        let changed = before..text.len() - after;
        format!(
            "{}{}{}",
            &text[..changed.start],
            paint(ops::color(op), &text[changed.clone()]),
            &text[changed.end..]
        )
    };
    (mark(old, StepOp::Delete), mark(new, StepOp::Create))
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Asset(_) | Value::Archive(_) => false,
        Value::String(text) => embedded::parse(text).is_none(),
        _ => true,
    }
}

fn hash_text(new: &str, old: Option<&str>) -> String {
    let short = |hash: &str| hash.chars().take(7).collect::<String>();
    match old {
        Some(old) if old != new => format!("{}->{}", short(old), short(new)),
        _ => short(new),
    }
}

#[cfg(test)]
fn plain(text: &str) -> String {
    plumb_events::strip_color(text).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::diff::{diff_objects, visible};

    fn diff_text(old: PropertyMap, new: PropertyMap) -> String {
        let mut printer = ValuePrinter::default();
        printer.object_diff(
            &diff_objects(&visible(&old, false), &visible(&new, false)),
            1,
        );
        plain(&printer.finish())
    }

    #[test]
    fn nested_values_differ_member_by_member() {
        let tags = |value: &str| PropertyMap::new().with("a", value).with("b", "same");
        let old = PropertyMap::new()
            .with("tags", tags("1"))
            .with("gone", true)
            .with("list", vec![1.0.into()]);
        let new = PropertyMap::new()
            .with("tags", tags("2"))
            .with("added", 2.5)
            .with("list", vec![1.0.into(), Value::secret("x".into())]);
        insta::assert_snapshot!(diff_text(old, new), @r#"
  + added: 2.5
  - gone : true
  ~ list : [
        [0]: 1
      + [1]: [secret]
    ]
  ~ tags : {
      ~ a: "1" => "2"
        b: "same"
    }
"#);
    }

    #[test]
    fn texts_of_many_lines_differ_line_by_line() {
        let old = PropertyMap::new().with("t", "a\nb\nc");
        let new = PropertyMap::new().with("t", "a\nx\nc");
        insta::assert_snapshot!(diff_text(old, new), @r"
  ~ t: 
        a
      - b
      + x
        c
");
    }

    #[test]
    fn json_texts_are_opened() {
        let old = PropertyMap::new().with("policy", r#"{"a":1,"b":[true]}"#);
        let new = PropertyMap::new()
            .with("policy", r#"{"a":2,"b":[true]}"#)
            .with("more", "[1]");
        insta::assert_snapshot!(diff_text(old, new), @r"
  + more  : (json) [
  +     [0]: 1
    ]
  ~ policy: (json) {
      ~ a: 1 => 2
        b: [
            [0]: true
        ]
    }
");
    }

    #[test]
    fn assets_show_what_became_of_their_hash() {
        let asset = |hash: &str| {
            Value::Asset(Arc::new(Asset {
                hash: hash.into(),
                source: AssetSource::Path("a.txt".into()),
            }))
        };
        let text = diff_text(
            PropertyMap::new().with("f", asset("0123456789")),
            PropertyMap::new().with("f", asset("abcdefghij")),
        );
        assert_eq!(text, "  ~ f: asset(file:0123456->abcdefg) { a.txt }\n");
    }

    #[test]
    fn hidden_paths_only_say_that_they_differ() {
        let object = |value: &str| PropertyMap::new().with("b", value);
        let difference = diff_objects(
            &PropertyMap::new().with("a", object("1")),
            &PropertyMap::new().with("a", object("2")),
        );
        let hidden = ["a.b".into()];
        let mut printer = ValuePrinter::new(ValueStyle {
            hidden: &hidden,
            ..ValueStyle::default()
        });
        printer.object_diff(&difference, 1);
        assert_eq!(
            plain(&printer.finish()),
            "  ~ a: {\n      ~ b (hidden)\n    }\n"
        );
    }
}
