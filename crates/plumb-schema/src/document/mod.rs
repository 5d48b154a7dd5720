//! Schema documents as trees with offsets.
//!
//! [`Document::read`] parses JSON or YAML text into [`Node`]s. Strings without escapes are slices of the text, so that a
//! document of forty megabytes needs little more memory than its text. The depth is limited, which bounds every recursion
//! over a tree.

mod json;
mod position;
mod yaml;

use std::borrow::Cow;

pub(crate) use position::Positions;

use crate::problem::{Problem, Severity};

/// Maximum nesting of lists and maps; real schemas stay below twenty.
const DEPTH_LIMIT: usize = 200;

/// Format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// YAML with the same keys.
    Yaml,
}

impl Format {
    /// The format for the extension of a file name.
    pub fn of_file(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "json" => Some(Format::Json),
            "yaml" | "yml" => Some(Format::Yaml),
            _ => None,
        }
    }
}

/// A parsed schema document.
#[derive(Debug)]
pub struct Document<'t> {
    pub(crate) text: &'t str,
    pub(crate) format: Format,
    pub(crate) root: Node<'t>,
}

impl<'t> Document<'t> {
    /// Parses `text`; a syntax error is reported as one problem.
    pub fn read(text: &'t str, format: Format) -> Result<Self, Problem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let read = if u32::try_from(text.len()).is_err() {
            Err(Flaw::new(0, "the document is larger than four gigabytes"))
        } else {
            match format {
                Format::Json => json::read(text),
                Format::Yaml => yaml::read(text),
            }
        };
        match read {
            Ok(root) => Ok(Document { text, format, root }),
            Err(flaw) => Err(flaw.problem(text, format)),
        }
    }

    /// Adds a version to a schema without one.
    pub fn fill_version(&mut self, version: &semver::Version) {
        let has_version = self.root.get("version").is_some();
        if let (false, Value::Map(entries)) = (has_version, &mut self.root.value) {
            let key = Key {
                name: Cow::Borrowed("version"),
                offset: 0,
            };
            let text = Value::String(Cow::Owned(version.to_string()));
            entries.push((key, Node::new(text)));
        }
    }

    /// Sets the member `key` of the root to a text.
    pub fn set_text(&mut self, key: &'static str, text: &str) {
        let Value::Map(entries) = &mut self.root.value else {
            return;
        };
        entries.retain(|(known, _)| known.name != key);
        let name = Key {
            name: Cow::Borrowed(key),
            offset: 0,
        };
        let text = Value::String(Cow::Owned(text.to_owned()));
        entries.push((name, Node::new(text)));
    }

    /// The root of the schema.
    pub fn root(&self) -> &Node<'t> {
        &self.root
    }

    /// Whether the document is empty, which is the answer of providers without a schema.
    pub fn is_empty(&self) -> bool {
        match &self.root.value {
            Value::Null => true,
            Value::Map(entries) => entries.is_empty(),
            _ => false,
        }
    }
}

/// A value in a document.
///
/// Equality compares values and ignores offsets.
#[derive(Clone, Debug)]
pub struct Node<'t> {
    /// Byte offset of its first character.
    pub(crate) offset: u32,
    pub(crate) value: Value<'t>,
}

/// Kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'t> {
    Null,
    Bool(bool),
    /// A number as written.
    Number(Cow<'t, str>),
    String(Cow<'t, str>),
    List(Vec<Node<'t>>),
    /// Members in the order of the document. Of several members with one key the last counts.
    Map(Vec<(Key<'t>, Node<'t>)>),
}

/// A key of a map.
#[derive(Clone, Debug)]
pub(crate) struct Key<'t> {
    pub(crate) name: Cow<'t, str>,
    pub(crate) offset: u32,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<'t> Node<'t> {
    pub(crate) fn new(value: Value<'t>) -> Self {
        Node { offset: 0, value }
    }

    /// The member called `key`; null counts as absent.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.entries()
            .iter()
            .rev()
            .find(|(name, _)| name.name == key)
            .map(|(_, node)| node)
            .filter(|node| node.value != Value::Null)
    }

    /// Members of a map; none for other nodes.
    pub(crate) fn entries(&self) -> &[(Key<'t>, Node<'t>)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Keys and values of a map; none for other nodes.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Node<'t>)> {
        self.entries()
            .iter()
            .map(|(key, node)| (key.name.as_ref(), node))
    }

    /// Items of a list; none for other nodes.
    pub fn items(&self) -> &[Node<'t>] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Whether the node is a map.
    pub fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Whether the node is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.value, Value::List(_))
    }

    /// The text of a string, or of a number, because YAML does not require quotes.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) | Value::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Name of the value's kind for errors.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
        }
    }
}

/// Syntax error of a document.
#[derive(Debug)]
pub(crate) struct Flaw {
    offset: usize,
    message: Cow<'static, str>,
}

impl Flaw {
    fn new(offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Flaw {
            offset,
            message: message.into(),
        }
    }

    fn too_deep(offset: usize) -> Self {
        Flaw::new(
            offset,
            format!("lists and objects are nested deeper than {DEPTH_LIMIT} levels"),
        )
    }

    fn problem(self, text: &str, format: Format) -> Problem {
        let (line, column) = Positions::new(text).of(self.offset);
        let language = match format {
            Format::Json => "JSON",
            Format::Yaml => "YAML",
        };
        Problem {
            severity: Severity::Error,
            pointer: "#".to_owned(),
            line,
            column,
            message: format!("this is not valid {language}: {}", self.message),
            expected: None,
        }
    }
}
