//! `Pulumi.<stack>.yaml` (`cli.md` 14.3, `state.md` 5.5).
//!
//! The parsed document is kept. [`StackFile::set_config`] changes only entries with a different value, so that comments,
//! order, styles and unknown members are preserved.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::config::{ConfigMap, Key, Value};
use crate::diagnostic::FileError;
use crate::reader::{self, Format, Problems, Reader};
use crate::yaml::{
    Data, Document, Item, Mapping, Node, Resolved, ScalarStyle, compare_keys, from_json,
};

/// Settings file of a stack.
#[derive(Debug, Clone, PartialEq)]
pub struct StackFile {
    document: Document,
    format: Format,
    project: String,
    config: ConfigMap,
    null_keys: Vec<String>,
}

/// Encryption settings in the file of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecretsSettings {
    /// `secretsprovider`: a URL, `passphrase` or `default`.
    pub provider: Option<String>,
    /// `encryptedkey`: the data key, encrypted by a cloud provider, in base64.
    pub encrypted_key: Option<String>,
    /// `encryptionsalt`: salt and check value of a passphrase.
    pub salt: Option<String>,
}

/// Keys that are numbers or booleans, which do not get the project's namespace as names do.
fn bare_keys(document: &Document) -> BTreeSet<String> {
    let root = document.root.as_ref().and_then(Node::as_mapping);
    let config = root.and_then(|root| root.get("config")?.as_mapping());
    let keys = config.into_iter().flat_map(|config| &config.entries);
    let bare = keys.filter(|(key, _)| {
        matches!(
            key.as_scalar(),
            Some(Resolved::Bool(_) | Resolved::Integer(_) | Resolved::Float(_))
        )
    });
    bare.filter_map(|(key, _)| key.key_text()).collect()
}

impl StackFile {
    /// Contents for a file that does not exist yet.
    pub fn empty(file: &str, project: &str) -> Self {
        StackFile {
            document: Document {
                head: Vec::new(),
                root: None,
                foot: Vec::new(),
            },
            format: Format::of(file),
            project: project.to_owned(),
            config: ConfigMap::default(),
            null_keys: Vec::new(),
        }
    }

    /// Parses a file; `file` is its name in errors, and its extension determines the format. `project` is the namespace of
    /// keys without one.
    pub fn parse(file: &str, text: &str, project: &str) -> Result<Self, FileError> {
        let document = reader::read(file, text)?;
        let mut stack_file = StackFile {
            document,
            ..StackFile::empty(file, project)
        };
        let mut problems = Problems::default();
        stack_file.decode(&mut problems);
        if problems.0.is_empty() {
            Ok(stack_file)
        } else {
            Err(FileError::Invalid {
                file: file.to_owned(),
                problems: problems.0,
            })
        }
    }

    /// Text of the edited file.
    pub fn to_text(&self) -> String {
        let empty = Document {
            root: Some(Node::empty_mapping()),
            ..self.document.clone()
        };
        self.format.print(if self.document.root.is_some() {
            &self.document
        } else {
            &empty
        })
    }

    /// Settings.
    pub fn config(&self) -> &ConfigMap {
        &self.config
    }

    /// Keys with a null value, which is read as an empty string; sorted.
    pub fn null_keys(&self) -> &[String] {
        &self.null_keys
    }

    /// Encryption settings.
    pub fn secrets(&self) -> SecretsSettings {
        let text = |key| {
            self.mapping()
                .and_then(|root| root.get(key))
                .and_then(Node::key_text)
        };
        let text = |key| text(key).filter(|text| !text.is_empty());
        SecretsSettings {
            provider: text("secretsprovider"),
            encrypted_key: text("encryptedkey"),
            salt: text("encryptionsalt"),
        }
    }

    /// Changes the encryption settings.
    pub fn set_secrets(&mut self, settings: &SecretsSettings) {
        let SecretsSettings {
            provider,
            encrypted_key,
            salt,
        } = settings;
        let members = [
            ("secretsprovider", provider),
            ("encryptedkey", encrypted_key),
            ("encryptionsalt", salt),
        ];
        for (key, value) in members {
            match value {
                Some(text) => self.set_member(key, &Json::from(text.clone())),
                None => {
                    self.root().remove(key);
                }
            }
        }
    }

    /// JSON form of the member `environment`.
    pub fn environment(&self) -> Option<Json> {
        let node = self.mapping()?.get("environment")?;
        crate::yaml::to_json(node)
            .ok()
            .filter(|json| !json.is_null())
    }

    /// Changes or removes the member `environment`.
    pub fn set_environment(&mut self, environment: Option<&Json>) {
        match environment {
            Some(json) => self.set_member("environment", json),
            None => {
                self.root().remove("environment");
            }
        }
    }

    /// Converts numbers, booleans and nulls among the settings to strings. upstream: saving the file does so. Values in
    /// lists and maps are kept.
    pub fn quote_scalars(&mut self) {
        if self.config.is_empty() {
            return;
        }
        let (values, project) = (self.config.clone(), self.project.clone());
        let config = self.root().get_mut("config");
        let Some(Data::Mapping(entries)) = config.map(|node| &mut node.data) else {
            return;
        };
        for (key, item) in &mut entries.entries {
            let key = key.key_text();
            let key = key.and_then(|text| Key::parse_in(&text, &project).ok());
            // A value that was set with an explicit type keeps it.
            if matches!(key.and_then(|key| values.get(&key)), Some(Value::Object(_))) {
                continue;
            }
            let text = node_value(&item.value).filter(|_| is_bare(&item.value));
            if let Some(Value::Text(text)) = text {
                merge(&mut item.value, &Json::String(text));
            }
        }
    }

    /// Changes the settings. Unchanged entries keep their text and their place; new ones come last, sorted by key.
    pub fn set_config(&mut self, config: &ConfigMap) {
        self.config = config.clone();
        if config.is_empty() {
            self.root().remove("config");
            return;
        }
        let project = self.project.clone();
        let root = self.root();
        if root
            .get("config")
            .is_none_or(|node| !matches!(node.data, Data::Mapping(_)))
        {
            root.set("config", Node::empty_mapping());
        }
        let Some(Data::Mapping(entries)) = root.get_mut("config").map(|node| &mut node.data) else {
            return;
        };
        let key_of = |node: &Node| {
            node.key_text()
                .and_then(|text| Key::parse_in(&text, &project).ok())
        };
        entries
            .entries
            .retain(|(key, _)| key_of(key).is_some_and(|key| config.get(&key).is_some()));
        let settings = config.iter();
        let mut settings: Vec<_> = settings.map(|it| (it.0.to_string(), it)).collect();
        settings.sort_by(|(left, _), (right, _)| compare_keys(left, right));
        for (_, (key, value)) in settings {
            let entry = entries
                .entries
                .iter_mut()
                .find(|(node, _)| key_of(node).as_ref() == Some(key));
            match entry {
                Some((_, item)) if node_value(&item.value).as_ref() == Some(value) => {}
                Some((_, item)) => merge(&mut item.value, &value.to_json()),
                None => {
                    let node = from_json(&value.to_json());
                    entries
                        .entries
                        .push((Node::key(key.to_string()), Item::new(node)));
                }
            }
        }
    }

    fn decode(&mut self, problems: &mut Problems) {
        if self.document.root.as_ref().is_none_or(Node::is_null) {
            self.document.root = None;
            return;
        }
        let mut config = ConfigMap::default();
        let mut null_keys = Vec::new();
        if let Some(root) = Reader::root(&self.document, problems) {
            for key in ["secretsprovider", "encryptedkey", "encryptionsalt"] {
                root.scalar_text(key, problems);
            }
            if let Some(block) = root.map("config", problems) {
                let bare = bare_keys(&self.document);
                for (text, node) in block.entries() {
                    let pointer = block.pointer_to(&text);
                    let key = if bare.contains(&text) {
                        Key::parse(&text)
                    } else {
                        Key::parse_in(&text, &self.project)
                    };
                    let Ok(key) = key.map_err(|error| {
                        problems.add(node.position, &*pointer, error.to_string());
                    }) else {
                        continue;
                    };
                    if node.is_null() {
                        null_keys.push(text.clone());
                    }
                    if let Some(value) = read_value(node, &pointer, problems) {
                        config.insert(key, value);
                    }
                }
            }
        }
        self.config = config;
        null_keys.sort_unstable();
        self.null_keys = null_keys;
    }

    fn mapping(&self) -> Option<&Mapping> {
        self.document.root.as_ref()?.as_mapping()
    }

    fn set_member(&mut self, key: &str, json: &Json) {
        let root = self.root();
        match root.get_mut(key) {
            Some(node) => merge(node, json),
            None => root.set(key, from_json(json)),
        }
    }

    fn root(&mut self) -> &mut Mapping {
        let root = self.document.root.get_or_insert_with(Node::empty_mapping);
        match &mut root.data {
            Data::Mapping(mapping) => mapping,
            Data::Scalar(_) | Data::Sequence(_) | Data::Alias(_) => {
                unreachable!("checked while reading")
            }
        }
    }
}

fn read_value(node: &Node, pointer: &str, problems: &mut Problems) -> Option<Value> {
    match node.as_scalar() {
        Some(scalar) => Some(Value::Text(scalar.to_text())),
        None => reader::json(node, pointer, problems).map(|json| Value::from_json(&json)),
    }
}

/// Whether YAML reads the node as a number, a boolean or null.
fn is_bare(node: &Node) -> bool {
    matches!(
        crate::yaml::to_json(node),
        Ok(Json::Number(_) | Json::Bool(_) | Json::Null)
    )
}

fn node_value(node: &Node) -> Option<Value> {
    read_value(node, "", &mut Problems::default())
}

/// Sets the value of `node` to `json`; changes only the parts that differ.
fn merge(node: &mut Node, json: &Json) {
    if crate::yaml::to_json(node).ok().as_ref() == Some(json) {
        return;
    }
    match (&mut node.data, json) {
        (Data::Mapping(mapping), Json::Object(entries)) if !has_merge_key(mapping) => {
            mapping
                .entries
                .retain(|(key, _)| key.key_text().is_some_and(|key| entries.contains_key(&key)));
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|(left, _), (right, _)| compare_keys(left, right));
            for (key, value) in entries {
                match mapping.get_mut(key) {
                    Some(node) => merge(node, value),
                    None => mapping.set(key, from_json(value)),
                }
            }
        }
        (Data::Sequence(sequence), Json::Array(values)) => {
            sequence.items.truncate(values.len());
            for (index, value) in values.iter().enumerate() {
                match sequence.items.get_mut(index) {
                    Some(item) => merge(&mut item.value, value),
                    None => sequence.items.push(Item::new(from_json(value))),
                }
            }
        }
        (Data::Scalar(scalar), Json::String(text))
            if !matches!(scalar.style, ScalarStyle::Plain) && node.tag.is_none() =>
        {
            // The existing quotes are kept unless they cannot represent the text.
            scalar.text.clone_from(text);
        }
        _ => {
            *node = Node {
                anchor: node.anchor.take(),
                ..from_json(json)
            }
        }
    }
}

fn has_merge_key(mapping: &Mapping) -> bool {
    mapping.get("<<").is_some()
}
