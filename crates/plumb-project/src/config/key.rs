//! Configuration keys.

use std::fmt;

/// A configuration key, `namespace:name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    namespace: Box<str>,
    name: Box<str>,
}

/// Error for an invalid key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "could not parse {text} as a configuration key (configuration keys should be of the form `<namespace>:<name>`)"
)]
pub struct KeyError {
    /// The invalid text.
    pub text: String,
}

impl Key {
    /// A key with the given namespace and name.
    pub fn new(namespace: &str, name: &str) -> Self {
        Key {
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// Parses `namespace:name` or the old form `namespace:config:name`.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            [namespace, name] | [namespace, "config", name] => Ok(Key::new(namespace, name)),
            _ => Err(KeyError {
                text: text.to_owned(),
            }),
        }
    }

    /// Parses like [`Key::parse`]; a name without a namespace gets the namespace `project`.
    pub fn parse_in(text: &str, project: &str) -> Result<Self, KeyError> {
        if text.contains(':') {
            Key::parse(text)
        } else {
            Ok(Key::new(project, text))
        }
    }

    /// Namespace: a project or a package.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Name in the namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Displayed form: without the namespace if it is `project`.
    pub fn display_in(&self, project: &str) -> String {
        if self.namespace() == project {
            self.name.to_string()
        } else {
            self.to_string()
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.namespace, self.name)
    }
}
