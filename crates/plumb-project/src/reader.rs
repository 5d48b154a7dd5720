//! Typed access to the members of a YAML map; collects errors.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::diagnostic::{Diagnostic, FileError, suggestion};
use crate::yaml::{self, Data, Document, Mapping, Node, Position};

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}

impl Format {
    /// Format of a file, according to its extension.
    pub fn of(file: &str) -> Self {
        if file.to_ascii_lowercase().ends_with(".json") {
            Format::Json
        } else {
            Format::Yaml
        }
    }

    /// Text of the document in this format.
    pub fn print(self, document: &Document) -> String {
        match self {
            Format::Yaml => yaml::emit(document),
            Format::Json => yaml::emit_json(document),
        }
    }
}

/// Parses a file in either format.
pub(crate) fn read(file: &str, text: &str) -> Result<Document, FileError> {
    let syntax = |position, message| FileError::Syntax {
        file: file.to_owned(),
        position,
        message,
    };
    if Format::of(file) == Format::Json {
        // JSON is mostly valid YAML, and the YAML parser reports positions. The JSON parser handles the
        // exceptions.
        let json: Json =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
                syntax(
                    Position {
                        line: error.line(),
                        column: error.column(),
                    },
                    error.to_string(),
                )
            })?;
        let same = yaml::parse(text).ok().filter(|document| {
            document
                .root
                .as_ref()
                .and_then(|root| yaml::to_json(root).ok())
                .as_ref()
                == Some(&json)
        });
        return Ok(same.unwrap_or_else(|| Document {
            head: Vec::new(),
            root: Some(yaml::from_json(&json)),
            foot: Vec::new(),
        }));
    }
    let document = yaml::parse(text).map_err(|error| syntax(error.position, error.message))?;
    match document.root.as_ref().and_then(duplicate) {
        Some((position, key, first)) => Err(FileError::Duplicate {
            file: file.to_owned(),
            position,
            key,
            first,
        }),
        None => Ok(document),
    }
}

/// First duplicate key of a map, and the line of the earlier one. Duplicates are errors, because one of the
/// values would be lost.
fn duplicate(node: &Node) -> Option<(Position, String, usize)> {
    match &node.data {
        Data::Mapping(mapping) => {
            let mut lines: BTreeMap<String, usize> = BTreeMap::new();
            for (key, _) in &mapping.entries {
                let (Some(text), line) = (key.key_text(), key.position.line) else {
                    continue;
                };
                if let Some(first) = lines.insert(text.clone(), line) {
                    return Some((key.position, text, first));
                }
            }
            mapping
                .entries
                .iter()
                .find_map(|(_, item)| duplicate(&item.value))
        }
        Data::Sequence(sequence) => sequence
            .items
            .iter()
            .find_map(|item| duplicate(&item.value)),
        Data::Scalar(_) | Data::Alias(_) => None,
    }
}

/// Reader of a map, with its position.
pub(crate) struct Reader<'n> {
    pub(crate) mapping: &'n Mapping,
    pub(crate) position: Position,
    pub(crate) pointer: String,
}

/// Errors found so far.
#[derive(Default)]
pub(crate) struct Problems(pub(crate) Vec<Diagnostic>);

impl Problems {
    pub(crate) fn add(
        &mut self,
        position: Position,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.0.push(Diagnostic {
            position,
            pointer: pointer.into(),
            message: message.into(),
            hint: None,
        });
    }

    pub(crate) fn expected(&mut self, node: &Node, pointer: &str, what: &str) {
        self.add(
            node.position,
            pointer,
            format!("expected {what}, but got {}", node.kind_name()),
        );
    }
}

impl<'n> Reader<'n> {
    /// Reader of the map at the root of `document`.
    pub(crate) fn root(document: &'n Document, problems: &mut Problems) -> Option<Self> {
        let Some(root) = &document.root else {
            problems.add(
                Position { line: 1, column: 1 },
                "#",
                "expected a map, but the file is empty",
            );
            return None;
        };
        Reader::of(root, "#".to_owned(), problems)
    }

    /// Reader of the map in `node`.
    pub(crate) fn of(node: &'n Node, pointer: String, problems: &mut Problems) -> Option<Self> {
        match &node.resolved().data {
            Data::Mapping(mapping) => Some(Reader {
                mapping,
                position: node.position,
                pointer,
            }),
            Data::Scalar(_) | Data::Sequence(_) | Data::Alias(_) => {
                problems.expected(node, &pointer, "a map");
                None
            }
        }
    }

    pub(crate) fn pointer_to(&self, key: &str) -> String {
        format!(
            "{}/{}",
            self.pointer,
            key.replace('~', "~0").replace('/', "~1")
        )
    }

    /// Value of `key`; null counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        self.mapping.get(key).filter(|node| !node.is_null())
    }

    pub(crate) fn text(&self, key: &str, problems: &mut Problems) -> Option<String> {
        let node = self.get(key)?;
        let text = node.as_str();
        if text.is_none() {
            problems.expected(node, &self.pointer_to(key), "a text");
        }
        text
    }

    /// String, number or boolean, as text.
    pub(crate) fn scalar_text(&self, key: &str, problems: &mut Problems) -> Option<String> {
        let node = self.get(key)?;
        let text = node.key_text();
        if text.is_none() {
            problems.expected(node, &self.pointer_to(key), "a text");
        }
        text
    }

    pub(crate) fn required_text(&self, key: &str, problems: &mut Problems) -> String {
        if self.get(key).is_some() {
            self.text(key, problems).unwrap_or_default()
        } else {
            problems.add(self.position, &*self.pointer, format!("`{key}` is missing"));
            String::new()
        }
    }

    pub(crate) fn boolean(&self, key: &str, problems: &mut Problems) -> Option<bool> {
        let node = self.get(key)?;
        let Some(yaml::Resolved::Bool(value)) = node.as_scalar() else {
            problems.expected(node, &self.pointer_to(key), "true or false");
            return None;
        };
        Some(value)
    }

    pub(crate) fn map(&self, key: &str, problems: &mut Problems) -> Option<Reader<'n>> {
        Reader::of(self.get(key)?, self.pointer_to(key), problems)
    }

    pub(crate) fn list(&self, key: &str, problems: &mut Problems) -> Vec<(String, &'n Node)> {
        let Some(node) = self.get(key) else {
            return Vec::new();
        };
        let pointer = self.pointer_to(key);
        let Some(sequence) = node.as_sequence() else {
            problems.expected(node, &pointer, "a list");
            return Vec::new();
        };
        sequence
            .items
            .iter()
            .enumerate()
            .map(|(index, item)| (format!("{pointer}/{index}"), &item.value))
            .collect()
    }

    pub(crate) fn texts(&self, key: &str, problems: &mut Problems) -> Vec<String> {
        let mut texts = Vec::new();
        for (pointer, node) in self.list(key, problems) {
            match node.as_str() {
                Some(text) => texts.push(text),
                None => problems.expected(node, &pointer, "a text"),
            }
        }
        texts
    }

    pub(crate) fn json(&self, key: &str, problems: &mut Problems) -> Option<Json> {
        let node = self.get(key)?;
        json(node, &self.pointer_to(key), problems)
    }

    /// Entries with scalar keys, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (String, &'n Node)> + use<'n> {
        self.mapping
            .entries
            .iter()
            .filter_map(|(key, item)| Some((key.key_text()?, &item.value)))
    }

    /// Reports all members that are not in `known`.
    pub(crate) fn only(&self, known: &[&str], problems: &mut Problems) {
        for (key, _) in &self.mapping.entries {
            let text = key.key_text().unwrap_or_default();
            if !known.contains(&text.as_str()) {
                problems.0.push(Diagnostic {
                    position: key.position,
                    pointer: self.pointer_to(&text),
                    message: format!(
                        "unknown member `{text}`, expected one of {}",
                        known.join(", ")
                    ),
                    hint: suggestion(&text, known).map(str::to_owned),
                });
            }
        }
    }
}

/// JSON form of `node`.
pub(crate) fn json(node: &Node, pointer: &str, problems: &mut Problems) -> Option<Json> {
    match yaml::to_json(node) {
        Ok(json) => Some(json),
        Err(error) => {
            problems.add(node.position, pointer, error.to_string());
            None
        }
    }
}
