//! Configuration values.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value as Json};

const SECURE: &str = "secure";

/// A configuration value. This crate keeps ciphertexts; callers decrypt and encrypt.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text. Numbers and booleans in files are read as text.
    Text(String),
    /// A ciphertext.
    Secure(String),
    /// A list or a map, which may contain ciphertexts.
    Object(Tree),
}

/// A value inside a [`Value::Object`].
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// Null.
    Null,
    /// Boolean.
    Bool(bool),
    /// Number.
    Number(Number),
    /// Text.
    Text(String),
    /// A ciphertext.
    Secure(String),
    /// A list.
    List(Vec<Tree>),
    /// A map.
    Map(BTreeMap<String, Tree>),
}

/// Wire form for language hosts, also used in old files: a text and two flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireValue {
    /// Text, ciphertext, or compact JSON.
    pub string: String,
    /// Whether the value contains a ciphertext.
    pub secret: bool,
    /// Whether the text is JSON.
    pub object: bool,
}

/// Error for an invalid stored value.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// The text of an object is not valid JSON.
    #[error("the value is marked as an object but is not JSON")]
    NotJson(#[from] serde_json::Error),
}

impl Value {
    /// Value of a JSON form: text, `{"secure": …}`, or an object. Other scalars are converted to text.
    pub fn from_json(json: &Json) -> Self {
        Tree::from_json(json).into_value()
    }

    /// JSON form, as in history files.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Text(text) => Json::from(text.clone()),
            Value::Secure(ciphertext) => secure_json(ciphertext),
            Value::Object(tree) => tree.to_json(),
        }
    }

    /// Value of a wire form.
    pub fn from_wire(wire: &WireValue) -> Result<Self, ValueError> {
        Ok(match (wire.object, wire.secret) {
            (true, _) => Value::Object(Tree::from_json(&serde_json::from_str(&wire.string)?)),
            (false, true) => Value::Secure(wire.string.clone()),
            (false, false) => Value::Text(wire.string.clone()),
        })
    }

    /// Wire form of the value.
    pub fn to_wire(&self) -> WireValue {
        match self {
            Value::Text(text) => WireValue {
                string: text.clone(),
                secret: false,
                object: false,
            },
            Value::Secure(text) => WireValue {
                string: text.clone(),
                secret: true,
                object: false,
            },
            Value::Object(tree) => WireValue {
                string: tree.to_json().to_string(),
                secret: self.is_secret(),
                object: true,
            },
        }
    }

    /// Whether the value contains a ciphertext.
    pub fn is_secret(&self) -> bool {
        match self {
            Value::Text(_) => false,
            Value::Secure(_) => true,
            Value::Object(tree) => tree.has_secret(),
        }
    }

    /// Ciphertexts in the value, in order.
    pub fn ciphertexts(&self) -> Vec<&str> {
        let mut found = Vec::new();
        match self {
            Value::Text(_) => {}
            Value::Secure(ciphertext) => found.push(ciphertext.as_str()),
            Value::Object(tree) => tree.collect(&mut found),
        }
        found
    }

    /// The value with each ciphertext replaced by the result of `change`, another ciphertext.
    pub fn try_map_ciphertexts<E>(
        &self,
        change: &mut dyn FnMut(&str) -> Result<String, E>,
    ) -> Result<Self, E> {
        Ok(match self {
            Value::Text(text) => Value::Text(text.clone()),
            Value::Secure(ciphertext) => Value::Secure(change(ciphertext)?),
            Value::Object(tree) => {
                Value::Object(tree.try_map(&mut |c| Ok(Tree::Secure(change(c)?)))?)
            }
        })
    }

    /// Text for programs: ciphertexts are replaced by the result of `reveal`, and objects are compact
    /// JSON.
    pub fn try_reveal<E>(
        &self,
        reveal: &mut dyn FnMut(&str) -> Result<String, E>,
    ) -> Result<String, E> {
        Ok(match self {
            Value::Text(text) => text.clone(),
            Value::Secure(ciphertext) => reveal(ciphertext)?,
            Value::Object(tree) => tree.try_reveal(reveal)?.to_json().to_string(),
        })
    }
}

impl Tree {
    /// Tree of a JSON value; `{"secure": "…"}` is a ciphertext.
    pub fn from_json(json: &Json) -> Self {
        match json {
            Json::Null => Tree::Null,
            Json::Bool(value) => Tree::Bool(*value),
            Json::Number(value) => Tree::Number(value.clone()),
            Json::String(text) => Tree::Text(text.clone()),
            Json::Array(items) => Tree::List(items.iter().map(Tree::from_json).collect()),
            Json::Object(entries) => match entries.get(SECURE) {
                Some(Json::String(ciphertext)) if entries.len() == 1 => {
                    Tree::Secure(ciphertext.clone())
                }
                _ => Tree::Map(
                    entries
                        .iter()
                        .map(|(key, value)| (key.clone(), Tree::from_json(value)))
                        .collect(),
                ),
            },
        }
    }

    /// JSON form of the tree.
    pub fn to_json(&self) -> Json {
        match self {
            Tree::Null => Json::Null,
            Tree::Bool(value) => Json::Bool(*value),
            Tree::Number(value) => Json::Number(value.clone()),
            Tree::Text(text) => Json::String(text.clone()),
            Tree::Secure(ciphertext) => secure_json(ciphertext),
            Tree::List(items) => Json::Array(items.iter().map(Tree::to_json).collect()),
            Tree::Map(entries) => Json::Object(
                entries
                    .iter()
                    .map(|(k, v)| (k.clone(), v.to_json()))
                    .collect(),
            ),
        }
    }

    /// Converts the tree to a value; scalars become text.
    pub fn into_value(self) -> Value {
        match self {
            Tree::Null => Value::Text(String::new()),
            Tree::Bool(value) => Value::Text(value.to_string()),
            Tree::Number(value) => Value::Text(value.to_string()),
            Tree::Text(text) => Value::Text(text),
            Tree::Secure(ciphertext) => Value::Secure(ciphertext),
            Tree::List(_) | Tree::Map(_) => Value::Object(self),
        }
    }

    /// Whether this is a map that could not be distinguished from a ciphertext.
    pub fn is_reserved(&self) -> bool {
        match self {
            Tree::Map(entries) => {
                entries.len() == 1 && matches!(entries.get(SECURE), Some(Tree::Text(_)))
            }
            _ => false,
        }
    }

    fn has_secret(&self) -> bool {
        match self {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => false,
            Tree::Secure(_) => true,
            Tree::List(items) => items.iter().any(Tree::has_secret),
            Tree::Map(entries) => entries.values().any(Tree::has_secret),
        }
    }

    fn collect<'t>(&'t self, found: &mut Vec<&'t str>) {
        match self {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => {}
            Tree::Secure(ciphertext) => found.push(ciphertext),
            Tree::List(items) => items.iter().for_each(|item| item.collect(found)),
            Tree::Map(entries) => entries.values().for_each(|item| item.collect(found)),
        }
    }

    /// The tree with ciphertexts replaced by plaintext.
    pub fn try_reveal<E>(
        &self,
        reveal: &mut dyn FnMut(&str) -> Result<String, E>,
    ) -> Result<Self, E> {
        self.try_map(&mut |ciphertext| Ok(Tree::Text(reveal(ciphertext)?)))
    }

    fn try_map<E>(&self, change: &mut dyn FnMut(&str) -> Result<Tree, E>) -> Result<Self, E> {
        Ok(match self {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => self.clone(),
            Tree::Secure(ciphertext) => change(ciphertext)?,
            Tree::List(items) => Tree::List(
                items
                    .iter()
                    .map(|item| item.try_map(change))
                    .collect::<Result<_, _>>()?,
            ),
            Tree::Map(entries) => {
                let mapped = entries
                    .iter()
                    .map(|(key, item)| Ok((key.clone(), item.try_map(change)?)));
                Tree::Map(mapped.collect::<Result<_, E>>()?)
            }
        })
    }
}

fn secure_json(ciphertext: &str) -> Json {
    Json::Object(Map::from_iter([(
        SECURE.to_owned(),
        Json::from(ciphertext),
    )]))
}
