//! The block of a schema for one language.

use indexmap::IndexMap;
use plumb_schema::Node;

use crate::GenerateError;

/// Conventions of older generators that a package keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compatibility {
    None,
    Tfbridge20,
    Kubernetes20,
}

impl Compatibility {
    pub(crate) fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("tfbridge20") => Compatibility::Tfbridge20,
            Some("kubernetes20") => Compatibility::Kubernetes20,
            _ => Compatibility::None,
        }
    }

    /// Whether the package keeps any.
    pub(crate) fn is_older(self) -> bool {
        self != Compatibility::None
    }
}

/// Typed access to a block; keys with a wrong type are errors.
#[derive(Clone, Copy)]
pub(crate) struct Block<'d> {
    pub(crate) language: &'static str,
    pub(crate) node: Option<&'d Node<'d>>,
}

impl<'d> Block<'d> {
    fn wrong(&self, key: &str, expected: &'static str) -> GenerateError {
        GenerateError::Setting {
            language: self.language,
            key: key.to_owned(),
            expected,
        }
    }

    fn get(&self, key: &str) -> Option<&'d Node<'d>> {
        self.node.and_then(|node| node.get(key))
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<&'d str>, GenerateError> {
        let Some(node) = self.get(key) else {
            return Ok(None);
        };
        let text = node.as_str().ok_or_else(|| self.wrong(key, "a string"))?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    pub(crate) fn flag(&self, key: &str) -> Result<bool, GenerateError> {
        let Some(node) = self.get(key) else {
            return Ok(false);
        };
        node.as_bool()
            .ok_or_else(|| self.wrong(key, "`true` or `false`"))
    }

    pub(crate) fn texts(&self, key: &str) -> Result<Option<Vec<&'d str>>, GenerateError> {
        let Some(node) = self.get(key) else {
            return Ok(None);
        };
        if !node.is_list() {
            return Err(self.wrong(key, "a list of strings"));
        }
        let texts: Option<Vec<&str>> = node.items().iter().map(Node::as_str).collect();
        let texts = texts.ok_or_else(|| self.wrong(key, "a list of strings"))?;
        Ok(Some(texts))
    }

    /// A map from strings to strings, in document order.
    pub(crate) fn map(&self, key: &str) -> Result<IndexMap<&'d str, &'d str>, GenerateError> {
        let Some(node) = self.get(key) else {
            return Ok(IndexMap::new());
        };
        if !node.is_map() {
            return Err(self.wrong(key, "a map of strings"));
        }
        let entries: Option<IndexMap<&str, &str>> = node
            .members()
            .map(|(name, value)| Some((name, value.as_str()?)))
            .collect();
        entries.ok_or_else(|| self.wrong(key, "a map of strings"))
    }
}
