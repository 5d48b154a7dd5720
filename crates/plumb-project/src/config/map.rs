//! All settings of a stack.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Number, Value as Json};

use super::{Key, KeyError, KeyPath, Segment, Tree, Value};

/// Values by key, in the order in which they were set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigMap(IndexMap<Key, Value>);

/// What to store under a path.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue {
    /// Text as typed; below a key it becomes a boolean or a number when it looks like one.
    Untyped(String),
    /// An encrypted text.
    Secure(String),
    /// A value of a chosen type.
    Typed(Tree),
}

/// A value cannot be stored under a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// Beyond the end of a list.
    #[error("{path}: array index out of range")]
    OutOfRange {
        /// The way to the element.
        path: String,
    },
    /// A key into a list.
    #[error("{path}: key for an array must be an int")]
    KeyOfList {
        /// The way, with the key.
        path: String,
    },
    /// An index into a map.
    #[error("{path}: key for a map must be a string")]
    IndexOfMap {
        /// The way, with the index.
        path: String,
    },
    /// An index into something else.
    #[error("{path}: expected an array")]
    NotAList {
        /// The way to what is no list.
        path: String,
    },
    /// A key into something else.
    #[error("{path}: expected a map")]
    NotAMap {
        /// The way to what is no map.
        path: String,
    },
    /// The map would be taken for an encrypted text.
    #[error("maps with the single key \"secure\" are reserved")]
    Reserved,
}

impl ConfigMap {
    /// The JSON form of history files.
    pub fn to_json(&self) -> Json {
        Json::Object(
            self.0
                .iter()
                .map(|(key, value)| (key.to_string(), value.to_json()))
                .collect(),
        )
    }

    /// Reads the JSON form.
    pub fn from_json(json: &Map<String, Json>) -> Result<Self, KeyError> {
        json.iter()
            .map(|(key, value)| Ok((Key::parse(key)?, Value::from_json(value))))
            .collect()
    }

    /// Whether there are no settings.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The settings in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Value)> {
        self.0.iter()
    }

    /// The value of `key`.
    pub fn get(&self, key: &Key) -> Option<&Value> {
        self.0.get(key)
    }

    /// Stores a value under a whole key.
    pub fn insert(&mut self, key: Key, value: Value) {
        self.0.insert(key, value);
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &Key) -> Option<Value> {
        self.0.shift_remove(key)
    }

    /// The value under `path`, if there is one.
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

    /// Stores a value under `path`, making the lists and maps on the way (`cli.md` 15). On an error nothing changes.
    pub fn set_path(&mut self, path: &KeyPath, value: NewValue) -> Result<(), SetError> {
        if path.rest.is_empty() {
            let value = match value {
                NewValue::Untyped(text) => Value::Text(text),
                NewValue::Secure(ciphertext) => Value::Secure(ciphertext),
                // Written as what they are, once: whoever reads the file again takes them for texts.
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

    /// Takes out what is under `path`; tells whether something was there.
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

/// How long a list may become by naming one of its elements.
const LONGEST: usize = 1 << 20;

/// Stores a value at the end of `path`, of which the first `depth` segments led here.
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

/// Booleans, and whole numbers in their shortest form, become what they look like; everything else stays text.
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
