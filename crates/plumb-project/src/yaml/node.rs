//! Nodes of the tree.

use std::sync::Arc;

/// Position in the source: line and column, both starting at 1. Created nodes have line 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Position {
    /// Line, starting at 1.
    pub line: usize,
    /// Column in characters, starting at 1.
    pub column: usize,
}

/// A YAML document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Comment lines before the first entry, separated from it by a blank line. An empty string is a blank line.
    pub head: Vec<String>,
    /// Root node; `None` for an empty document.
    pub root: Option<Node>,
    /// Comment lines at the end.
    pub foot: Vec<String>,
}

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Contents.
    pub data: Data,
    /// Explicit tag in its short form (`!!str`, `!local`).
    pub tag: Option<String>,
    /// Name of its anchor, without `&`.
    pub anchor: Option<String>,
    /// Start position.
    pub position: Position,
}

/// Contents of nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// String, number, boolean or null.
    Scalar(Scalar),
    /// A list.
    Sequence(Sequence),
    /// A map.
    Mapping(Mapping),
    /// A reference to an anchored node.
    Alias(Alias),
}

/// A scalar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// Text without quotes and escapes.
    pub text: String,
    /// Notation.
    pub style: ScalarStyle,
}

/// Notation of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarStyle {
    /// Without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// Notation of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One line per entry.
    Block,
    /// Brackets or braces.
    Flow,
}

/// A list.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    /// Notation.
    pub layout: Layout,
    /// Elements.
    pub items: Vec<Item>,
}

/// A map.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    /// Notation.
    pub layout: Layout,
    /// Entries, in text order.
    pub entries: Vec<(Node, Item)>,
}

/// An element of a list, or the value of a map entry, with its comments.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Value.
    pub value: Node,
    /// Comments of the entry.
    pub comments: Comments,
}

/// Comments of an entry; each line includes its `#`, and an empty string is a blank line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comments {
    /// Lines above the entry.
    pub head: Vec<String>,
    /// Comment on the same line.
    pub line: Option<String>,
    /// Lines below the entry.
    pub foot: Vec<String>,
}

/// A reference to an anchored node.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    /// Name of the anchor, without `*`.
    pub name: String,
    /// The anchored node.
    pub target: Arc<Node>,
}

impl Node {
    /// A created node.
    pub fn new(data: Data) -> Self {
        Node {
            data,
            tag: None,
            anchor: None,
            position: Position::default(),
        }
    }

    /// A string, in the style that go-yaml chooses.
    pub fn string(text: impl Into<String>) -> Self {
        let text = text.into();
        let style = super::scalar::style_for_string(&text);
        Node::new(Data::Scalar(Scalar { text, style }))
    }

    /// A key, in go-yaml's style, with quotes around `<<`, which would otherwise merge maps.
    pub fn key(text: impl Into<String>) -> Self {
        let text = text.into();
        let style = match &*text {
            super::scalar::MERGE_KEY => ScalarStyle::DoubleQuoted,
            text => super::scalar::style_for_string(text),
        };
        Node::new(Data::Scalar(Scalar { text, style }))
    }

    /// A plain scalar with this text.
    pub fn plain(text: impl Into<String>) -> Self {
        Node::new(Data::Scalar(Scalar {
            text: text.into(),
            style: ScalarStyle::Plain,
        }))
    }

    /// An empty map in block layout.
    pub fn empty_mapping() -> Self {
        Node::new(Data::Mapping(Mapping {
            layout: Layout::Block,
            entries: Vec::new(),
        }))
    }

    /// The node itself, or the target of an alias.
    pub fn resolved(&self) -> &Node {
        let mut node = self;
        while let Data::Alias(alias) = &node.data {
            node = &alias.target;
        }
        node
    }

    /// The map, if the node or its alias target is one.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.resolved().data {
            Data::Mapping(mapping) => Some(mapping),
            Data::Scalar(_) | Data::Sequence(_) | Data::Alias(_) => None,
        }
    }

    /// The list, if the node or its alias target is one.
    pub fn as_sequence(&self) -> Option<&Sequence> {
        match &self.resolved().data {
            Data::Sequence(sequence) => Some(sequence),
            Data::Scalar(_) | Data::Mapping(_) | Data::Alias(_) => None,
        }
    }

    /// The value of the scalar, if the node or its alias target is one.
    pub fn as_scalar(&self) -> Option<super::Resolved> {
        let node = self.resolved();
        match &node.data {
            Data::Scalar(scalar) => Some(super::scalar::resolve(scalar, node.tag.as_deref())),
            Data::Sequence(_) | Data::Mapping(_) | Data::Alias(_) => None,
        }
    }

    /// The text, if the node is a string scalar.
    pub fn as_str(&self) -> Option<String> {
        match self.as_scalar() {
            Some(super::Resolved::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether the node is a null scalar.
    pub fn is_null(&self) -> bool {
        matches!(self.as_scalar(), Some(super::Resolved::Null))
    }

    /// Text of a scalar key of any type.
    pub fn key_text(&self) -> Option<String> {
        self.as_scalar().map(|scalar| scalar.to_text())
    }

    /// Name of the node's kind, for messages.
    pub fn kind_name(&self) -> &'static str {
        match &self.resolved().data {
            Data::Sequence(_) => "a list",
            Data::Mapping(_) => "a map",
            Data::Scalar(_) | Data::Alias(_) => match self.as_scalar() {
                Some(super::Resolved::Null) | None => "nothing",
                Some(super::Resolved::Bool(_)) => "a boolean",
                Some(super::Resolved::Integer(_) | super::Resolved::Float(_)) => "a number",
                Some(super::Resolved::String(_) | super::Resolved::Timestamp(_)) => "a text",
            },
        }
    }
}

impl Item {
    /// An item without comments.
    pub fn new(value: Node) -> Self {
        Item {
            value,
            comments: Comments::default(),
        }
    }
}

impl Mapping {
    /// Value of `key`, the first one if there are duplicates. Does not search merged maps (`<<`).
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries
            .iter()
            .find(|(k, _)| k.key_text().as_deref() == Some(key))
            .map(|(_, item)| &item.value)
    }

    /// Mutable value of `key`.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries
            .iter_mut()
            .find(|(k, _)| k.key_text().as_deref() == Some(key))
            .map(|(_, item)| &mut item.value)
    }

    /// Sets the value of `key`; a new key is added at the end.
    pub fn set(&mut self, key: &str, value: Node) {
        match self.get_mut(key) {
            Some(slot) => *slot = value,
            None => self.entries.push((Node::key(key), Item::new(value))),
        }
    }

    /// Removes `key` and its comments; returns whether it existed.
    pub fn remove(&mut self, key: &str) -> bool {
        let before = self.entries.len();
        self.entries
            .retain(|(k, _)| k.key_text().as_deref() != Some(key));
        self.entries.len() != before
    }
}
