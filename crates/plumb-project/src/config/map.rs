//! All settings of a stack.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Number, Value as Json};

use super::{Key, KeyError, KeyPath, Segment, Tree, Value};

/// Values by key, in insertion order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigMap(IndexMap<Key, Value>);

/// New value for a path.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue {
    /// Text as given by the user. Below a key, booleans and integers are recognized.
    Untyped(String),
    /// A ciphertext.
    Secure(String),
    /// A value with an explicit type.
    Typed(Tree),
}

/// Error while setting a value at a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// The index is beyond the end of the list.
    #[error("{path}: array index out of range")]
    OutOfRange {
        /// Path of the element.
        path: String,
    },
    /// A key is applied to a list.
    #[error("{path}: key for an array must be an int")]
    KeyOfList {
        /// Path, including the key.
        path: String,
    },
    /// An index is applied to a map.
    #[error("{path}: key for a map must be a string")]
    IndexOfMap {
        /// Path, including the index.
        path: String,
    },
    /// An index is applied to a scalar.
    #[error("{path}: expected an array")]
    NotAList {
        /// Path of the scalar.
        path: String,
    },
    /// A key is applied to a scalar.
    #[error("{path}: expected a map")]
    NotAMap {
        /// Path of the scalar.
        path: String,
    },
    /// The resulting map could not be distinguished from a ciphertext.
    #[error("maps with the single key \"secure\" are reserved")]
    Reserved,
}

impl ConfigMap {
    /// JSON form, as in history files.
    pub fn to_json(&self) -> Json {
        Json::Object(
            self.0
                .iter()
                .map(|(key, value)| (key.to_string(), value.to_json()))
                .collect(),
        )
    }

    /// Parses the JSON form.
    pub fn from_json(json: &Map<String, Json>) -> Result<Self, KeyError> {
        json.iter()
            .map(|(key, value)| Ok((Key::parse(key)?, Value::from_json(value))))
            .collect()
    }

    /// Whether there are no settings.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Settings, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Value)> {
        self.0.iter()
    }

    /// Value of `key`.
    pub fn get(&self, key: &Key) -> Option<&Value> {
        self.0.get(key)
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: Key, value: Value) {
        self.0.insert(key, value);
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &Key) -> Option<Value> {
        self.0.shift_remove(key)
    }

    /// Value at `path`; `None` if there is none.
    pub fn get_path(&self, path: &KeyPath) -> Option<Value> {
        let value = self.0.get(&path.key)?;
        if path.rest.is_empty() {
            return Some(value.clone());
        }
        let Value::Object(tree) = value else {
            return None;
        };
        path.rest
            .iter()
            .try_fold(tree, step)
            .cloned()
            .map(Tree::into_value)
    }

    /// Sets the value at `path`, creating the lists and maps that it needs (`cli.md` 15). After an error, the map is
    /// unchanged.
    pub fn set_path(&mut self, path: &KeyPath, value: NewValue) -> Result<(), SetError> {
        if path.rest.is_empty() {
            let value = match value {
                NewValue::Untyped(text) => Value::Text(text),
                NewValue::Secure(ciphertext) => Value::Secure(ciphertext),
                // Written with its type this time; when the file is read again, the value is text.
                NewValue::Typed(tree @ (Tree::Bool(_) | Tree::Number(_))) => Value::Object(tree),
                NewValue::Typed(tree) => tree.into_value(),
            };
            if matches!(&value, Value::Object(tree) if tree.is_reserved()) {
                return Err(SetError::Reserved);
            }
            self.insert(path.key.clone(), value);
            return Ok(());
        }
        let leaf = match value {
            NewValue::Untyped(text) => coerce(text),
            NewValue::Secure(ciphertext) => Tree::Secure(ciphertext),
            NewValue::Typed(tree) => tree,
        };
        let mut tree = match self.0.get(&path.key) {
            Some(Value::Object(tree)) => tree.clone(),
            Some(Value::Text(_) | Value::Secure(_)) | None => Tree::Null,
        };
        put(&mut tree, path, 0, leaf)?;
        self.insert(path.key.clone(), Value::Object(tree));
        Ok(())
    }

    /// Removes the value at `path`; returns whether there was one.
    pub fn remove_path(&mut self, path: &KeyPath) -> Result<bool, SetError> {
        let Some((last, way)) = path.rest.split_last() else {
            return Ok(self.remove(&path.key).is_some());
        };
        let Some(Value::Object(tree)) = self.0.get_mut(&path.key) else {
            return Ok(false);
        };
        let mut changed = tree.clone();
        let Some(container) = way.iter().try_fold(&mut changed, step_mut) else {
            return Ok(false);
        };
        let removed = match (container, last) {
            (Tree::Map(entries), Segment::Key(key)) => {
                let removed = entries.remove(key).is_some();
                if removed
                    && entries.len() == 1
                    && matches!(entries.get("secure"), Some(Tree::Text(_)))
                {
                    return Err(SetError::Reserved);
                }
                removed
            }
            (Tree::List(items), Segment::Index(index)) => match place(*index) {
                Some(index) if index < items.len() => {
                    items.remove(index);
                    true
                }
                _ => false,
            },
            _ => false,
        };
        *tree = changed;
        Ok(removed)
    }
}

impl FromIterator<(Key, Value)> for ConfigMap {
    fn from_iter<I: IntoIterator<Item = (Key, Value)>>(entries: I) -> Self {
        ConfigMap(entries.into_iter().collect())
    }
}

fn step<'t>(tree: &'t Tree, segment: &Segment) -> Option<&'t Tree> {
    match (tree, segment) {
        (Tree::Map(entries), Segment::Key(key)) => entries.get(key),
        (Tree::List(items), Segment::Index(index)) => items.get(place(*index)?),
        _ => None,
    }
}

fn step_mut<'t>(tree: &'t mut Tree, segment: &Segment) -> Option<&'t mut Tree> {
    match (tree, segment) {
        (Tree::Map(entries), Segment::Key(key)) => entries.get_mut(key),
        (Tree::List(items), Segment::Index(index)) => items.get_mut(place(*index)?),
        _ => None,
    }
}

fn place(index: i64) -> Option<usize> {
    usize::try_from(index).ok()
}

/// Maximum length of a list that is created by setting one of its elements.
const LONGEST: usize = 1 << 20;

/// Sets the value at the end of `path`; `tree` is the value at its first `depth` segments.
fn put(tree: &mut Tree, path: &KeyPath, depth: usize, leaf: Tree) -> Result<(), SetError> {
    let Some(segment) = path.rest.get(depth) else {
        *tree = leaf;
        return Ok(());
    };
    let (here, there) = (|| path.shown(depth), || path.shown(depth + 1));
    if matches!(tree, Tree::Null) {
        *tree = match segment {
            Segment::Key(_) => Tree::Map(BTreeMap::new()),
            Segment::Index(index) => {
                let length = place(*index).filter(|index| *index < LONGEST);
                let length = length.ok_or_else(|| SetError::OutOfRange { path: there() })?;
                Tree::List(vec![Tree::Null; length + 1])
            }
        };
    }
    match (&mut *tree, segment) {
        (Tree::Map(entries), Segment::Key(key)) => {
            let entry = entries.entry(key.clone()).or_insert(Tree::Null);
            put(entry, path, depth + 1, leaf)?;
        }
        (Tree::List(items), Segment::Index(index)) => {
            let index = place(*index).filter(|index| *index <= items.len());
            let index = index.ok_or_else(|| SetError::OutOfRange { path: there() })?;
            if index == items.len() {
                items.push(Tree::Null);
            }
            put(&mut items[index], path, depth + 1, leaf)?;
        }
        (Tree::List(_), Segment::Key(_)) => return Err(SetError::KeyOfList { path: there() }),
        (Tree::Map(_), Segment::Index(_)) => return Err(SetError::IndexOfMap { path: there() }),
        (_, Segment::Key(_)) => return Err(SetError::NotAMap { path: here() }),
        (_, Segment::Index(_)) => return Err(SetError::NotAList { path: here() }),
    }
    if tree.is_reserved() {
        Err(SetError::Reserved)
    } else {
        Ok(())
    }
}

/// Converts booleans, and integers in their shortest form, to typed values; other texts stay text.
fn coerce(text: String) -> Tree {
    match text.as_str() {
        "true" => return Tree::Bool(true),
        "false" => return Tree::Bool(false),
        _ => {}
    }
    let signed = text
        .parse::<i64>()
        .ok()
        .filter(|n| n.to_string() == text)
        .map(Number::from);
    let number = signed.or_else(|| {
        text.parse::<u64>()
            .ok()
            .filter(|n| n.to_string() == text)
            .map(Number::from)
    });
    number.map_or(Tree::Text(text), Tree::Number)
}
