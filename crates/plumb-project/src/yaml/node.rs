//! The tree.

use std::sync::Arc;

/// A place in the source: line and column, both from 1. Nodes made by code have line 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One YAML document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Comment lines before the first entry, parted from it by a blank line. An empty text is a blank line.
    pub head: Vec<String>,
    /// The content; `None` for an empty text.
    pub root: Option<Node>,
    /// Comment lines after everything.
    pub foot: Vec<String>,
}

/// A value in the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub data: Data,
    /// An explicit tag as written in short form (`!!str`, `!local`).
    pub tag: Option<String>,
    /// The anchor's name, without `&`.
    pub anchor: Option<String>,
    /// Where it starts.
    pub position: Position,
}

/// The kinds of nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Text, number, boolean, null.
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
    /// The text after unquoting and unescaping.
    pub text: String,
    /// How it is written.
    pub style: ScalarStyle,
}

/// How a scalar is written.
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

/// How a collection is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One entry per line.
    Block,
    /// In brackets or braces.
    Flow,
}

/// A list.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    /// How it is written.
    pub layout: Layout,
    /// The elements.
    pub items: Vec<Item>,
}

/// A map.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    /// How it is written.
    pub layout: Layout,
    /// The entries in the order of the text.
    pub entries: Vec<(Node, Item)>,
}

/// An element of a list, or the value of a map entry, with the comments around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The value.
    pub value: Node,
    /// Comments around the entry.
    pub comments: Comments,
}

/// Comments around an entry, each line with its `#`; an empty text is a blank line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comments {
    /// Lines above.
    pub head: Vec<String>,
    /// On the same line.
    pub line: Option<String>,
    /// Lines below.
    pub foot: Vec<String>,
}

/// A reference to an anchored node.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    /// The anchor's name, without `*`.
    pub name: String,
    /// What it stands for.
    pub target: Arc<Node>,
}

impl Node {
    /// A node made by code.
    pub fn new(data: Data) -> Self {
        Node {
            data,
            tag: None,
            anchor: None,
            position: Position::default(),
        }
    }

    /// A text that reads back as a string, in the style that go-yaml chooses.
    pub fn string(text: impl Into<String>) -> Self {
        let text = text.into();
        let style = super::scalar::style_for_string(&text);
        Node::new(Data::Scalar(Scalar { text, style }))
    }

    /// A key of a map: a text in go-yaml's style, quoted where plain it would merge other maps instead.
    pub fn key(text: impl Into<String>) -> Self {
        let text = text.into();
        let style = match &*text {
            super::scalar::MERGE_KEY => ScalarStyle::DoubleQuoted,
            text => super::scalar::style_for_string(text),
        };
        Node::new(Data::Scalar(Scalar { text, style }))
    }

    /// A plain scalar, written as given.
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

    /// The node itself, or what it refers to when it is an alias.
    pub fn resolved(&self) -> &Node {
        let mut node = self;
        while let Data::Alias(alias) = &node.data {
            node = &alias.target;
        }
        node
    }

    /// The map, when this is one (aliases are followed).
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.resolved().data {
            Data::Mapping(mapping) => Some(mapping),
            Data::Scalar(_) | Data::Sequence(_) | Data::Alias(_) => None,
        }
    }

    /// The list, when this is one (aliases are followed).
    pub fn as_sequence(&self) -> Option<&Sequence> {
        match &self.resolved().data {
            Data::Sequence(sequence) => Some(sequence),
            Data::Scalar(_) | Data::Mapping(_) | Data::Alias(_) => None,
        }
    }

    /// What the scalar means, when this is one (aliases are followed).
    pub fn as_scalar(&self) -> Option<super::Resolved> {
        let node = self.resolved();
        match &node.data {
            Data::Scalar(scalar) => Some(super::scalar::resolve(scalar, node.tag.as_deref())),
            Data::Sequence(_) | Data::Mapping(_) | Data::Alias(_) => None,
        }
    }

    /// The text, when this is a scalar that reads as a string.
    pub fn as_str(&self) -> Option<String> {
        match self.as_scalar() {
            Some(super::Resolved::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether this is a null scalar.
    pub fn is_null(&self) -> bool {
        matches!(self.as_scalar(), Some(super::Resolved::Null))
    }

    /// The text of a key of any scalar type.
    pub fn key_text(&self) -> Option<String> {
        self.as_scalar().map(|scalar| scalar.to_text())
    }

    /// What people call this kind of node.
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
    /// A value without comments.
    pub fn new(value: Node) -> Self {
        Item {
            value,
            comments: Comments::default(),
        }
    }
}

impl Mapping {
    /// The value under `key`; the first one when the key is there twice. Merged maps (`<<`) are not looked into.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries
            .iter()
            .find(|(k, _)| k.key_text().as_deref() == Some(key))
            .map(|(_, item)| &item.value)
    }

    /// The value under `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries
            .iter_mut()
            .find(|(k, _)| k.key_text().as_deref() == Some(key))
            .map(|(_, item)| &mut item.value)
    }

    /// Puts `value` under `key`: in place when the key is there, else at the end.
    pub fn set(&mut self, key: &str, value: Node) {
        match self.get_mut(key) {
            Some(slot) => *slot = value,
            None => self.entries.push((Node::key(key), Item::new(value))),
        }
    }

    /// Takes `key` out with its comments; tells whether it was there.
    pub fn remove(&mut self, key: &str) -> bool {
        let before = self.entries.len();
        self.entries
            .retain(|(k, _)| k.key_text().as_deref() != Some(key));
        self.entries.len() != before
    }
}
