//! Settings that stand for the secrets of a program.

use std::collections::{BTreeMap, BTreeSet};

use plumb_project::yaml::Node;
use plumb_value::Value;
use serde_json::Value as Json;

use super::put;
use crate::config::stack_value;
use crate::eval::value::Val;

/// A setting for a secret of the state.
pub struct Setting {
    /// Name, without the project.
    pub name: String,
    /// Value, in plain text.
    pub value: String,
}

/// Type of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SettingType {
    String,
    Number,
    Boolean,
}

impl SettingType {
    fn name(self) -> &'static str {
        match self {
            SettingType::String => "string",
            SettingType::Number => "number",
            SettingType::Boolean => "boolean",
        }
    }
}

/// The settings of a program.
pub(super) struct Settings {
    /// Names by values.
    names: BTreeMap<(SettingType, String), String>,
    /// Names of settings that the program uses.
    used: BTreeMap<String, SettingType>,
    /// Names that mean something else, or settings with other values.
    taken: BTreeSet<String>,
    added: Vec<Setting>,
    /// Whether the program is in YAML.
    is_yaml: bool,
}

impl Settings {
    /// `known` are settings that exist, by their values; `taken` are names of something else.
    pub(super) fn new(
        known: BTreeMap<String, String>,
        taken: BTreeSet<String>,
        is_yaml: bool,
    ) -> Self {
        let is_read = |text: &str| !is_yaml || is_read_as_itself(text);
        let known = known
            .into_iter()
            .filter(|(text, name)| !taken.contains(name) && is_read(text));
        let names: BTreeMap<_, _> = known
            .map(|(value, name)| ((SettingType::String, value), name))
            .collect();
        let taken = names.values().cloned().chain(taken).collect();
        Settings {
            names,
            used: BTreeMap::new(),
            taken,
            added: Vec::new(),
            is_yaml,
        }
    }

    /// The setting with a value; a new one is called like `label`.
    pub(super) fn name_of(&mut self, ty: SettingType, value: String, label: &str) -> String {
        if let Some(name) = self.names.get(&(ty, value.clone())) {
            self.used.insert(name.clone(), ty);
            return name.clone();
        }
        let wanted = camel(label);
        let numbered = (2..).map(|number| format!("{wanted}{number}"));
        let mut candidates = std::iter::once(wanted.clone()).chain(numbered);
        let name = candidates
            .find(|name| self.taken.insert(name.clone()))
            .unwrap_or(wanted);
        self.names.insert((ty, value.clone()), name.clone());
        self.used.insert(name.clone(), ty);
        let is_quoted = self.is_yaml && ty == SettingType::String && !is_read_as_itself(&value);
        let value = if is_quoted {
            Json::String(value).to_string()
        } else {
            value
        };
        self.added.push(Setting {
            name: name.clone(),
            value,
        });
        name
    }

    /// The declarations of those that are used.
    pub(super) fn declarations(&self) -> Node {
        let mut all = Node::empty_mapping();
        for (name, ty) in &self.used {
            let mut one = Node::empty_mapping();
            let ty = match ty {
                // Project files have no type for numbers. Programs in YAML take the value as it is.
                SettingType::Number if self.is_yaml => SettingType::String,
                ty => *ty,
            };
            put(&mut one, "type", Node::string(ty.name()));
            put(&mut one, "secret", Node::plain("true"));
            put(&mut all, name, one);
        }
        all
    }

    /// Those that did not exist.
    pub(super) fn into_added(self) -> Vec<Setting> {
        self.added
    }
}

/// Whether a program in YAML reads the text of a setting as that text, although it looks for numbers and JSON in it.
fn is_read_as_itself(text: &str) -> bool {
    matches!(stack_value(text), Val::String(read) if read == text)
}

/// Words of a label in one, as names of settings are written.
fn camel(label: &str) -> String {
    let words = label.split(|it: char| !it.is_alphanumeric());
    let mut name = String::new();
    for word in words.filter(|word| !word.is_empty()) {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if !name.is_empty() => name.extend(first.to_uppercase()),
            first => name.extend(first),
        }
        name.push_str(letters.as_str());
    }
    name
}

/// Plain data of JSON.
pub(super) fn of_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(it) => Value::Bool(*it),
        Json::Number(number) => Value::Number(number.as_f64().unwrap_or_default()),
        Json::String(text) => Value::String(text.as_str().into()),
        Json::Array(items) => Value::array(items.iter().map(of_json)),
        Json::Object(entries) => {
            let mut map = plumb_value::PropertyMap::new();
            for (key, it) in entries {
                map.insert(key.as_str(), of_json(it));
            }
            Value::Object(map.into())
        }
    }
}
