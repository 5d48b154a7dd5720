//! Maps from property keys to values.

use std::fmt;

use ecow::EcoString;

use crate::Value;
use crate::sorted_map::{self, SortedMap};

/// The name of a property. Any text is legal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PropertyKey(EcoString);

impl PropertyKey {
    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key as shared text.
    pub fn to_text(&self) -> EcoString {
        self.0.clone()
    }
}

impl fmt::Debug for PropertyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for PropertyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for PropertyKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for PropertyKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<T: Into<EcoString>> From<T> for PropertyKey {
    fn from(text: T) -> Self {
        PropertyKey(text.into())
    }
}

/// Properties by key, in bytewise key order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropertyMap(SortedMap<PropertyKey, Value>);

impl PropertyMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value at `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The value at `key`, mutable.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.get_mut(key)
    }

    /// Whether `key` is present, with any value, null included.
    pub fn contains_key(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Stores `value` at `key` and returns the previous value.
    pub fn insert(
        &mut self,
        key: impl Into<PropertyKey>,
        value: impl Into<Value>,
    ) -> Option<Value> {
        self.0.insert(key.into(), value.into())
    }

    /// The map with `value` at `key`.
    #[must_use]
    pub fn with(mut self, key: impl Into<PropertyKey>, value: impl Into<Value>) -> Self {
        self.insert(key, value);
        self
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key)
    }

    /// Number of properties.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no property.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Properties in key order.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&PropertyKey, &Value)> + ExactSizeIterator {
        self.0.iter()
    }

    /// Properties in key order, with mutable values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&PropertyKey, &mut Value)> {
        self.0.iter_mut()
    }

    /// Keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &PropertyKey> + ExactSizeIterator {
        self.0.keys()
    }

    /// Values in key order.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.values()
    }

    /// Keeps the properties for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&PropertyKey, &Value) -> bool) {
        self.0.retain(|key, value| keep(key, value));
    }

    /// Whether any part of the map is not known yet.
    pub fn contains_unknowns(&self) -> bool {
        self.values().any(Value::contains_unknowns)
    }

    /// Whether any part of the map is secret.
    pub fn contains_secrets(&self) -> bool {
        self.values().any(Value::contains_secrets)
    }

    /// The map with [`Value::map`] applied to every value.
    #[must_use]
    pub fn map_values(&self, change: &mut impl FnMut(Value) -> Value) -> PropertyMap {
        self.iter()
            .map(|(key, value)| (key.clone(), value.map(change)))
            .collect()
    }

    /// The map with [`Value::without_secrets`] applied to every value.
    #[must_use]
    pub fn without_secrets(&self) -> PropertyMap {
        self.iter()
            .map(|(key, value)| (key.clone(), value.without_secrets()))
            .collect()
    }

    /// The map with [`Value::without_outputs`] applied to every value.
    #[must_use]
    pub fn without_outputs(&self) -> PropertyMap {
        self.iter()
            .map(|(key, value)| (key.clone(), value.without_outputs()))
            .collect()
    }
}

impl FromIterator<(PropertyKey, Value)> for PropertyMap {
    fn from_iter<I: IntoIterator<Item = (PropertyKey, Value)>>(entries: I) -> Self {
        PropertyMap(entries.into_iter().collect())
    }
}

impl Extend<(PropertyKey, Value)> for PropertyMap {
    fn extend<I: IntoIterator<Item = (PropertyKey, Value)>>(&mut self, entries: I) {
        self.0.extend(entries);
    }
}

impl IntoIterator for PropertyMap {
    type Item = (PropertyKey, Value);
    type IntoIter = ecow::vec::IntoIter<(PropertyKey, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a PropertyMap {
    type Item = (&'a PropertyKey, &'a Value);
    type IntoIter = sorted_map::Iter<'a, PropertyKey, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
