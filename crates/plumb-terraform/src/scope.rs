//! Names with a meaning at the place that is being converted.

use crate::shape::Shape;

/// A converted expression.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typed {
    /// PCL.
    pub(crate) text: String,
    pub(crate) shape: Shape,
}

impl Typed {
    pub(crate) fn new(text: impl Into<String>, shape: Shape) -> Self {
        Typed {
            text: text.into(),
            shape,
        }
    }

    pub(crate) fn unknown(text: impl Into<String>) -> Self {
        Typed::new(text, Shape::Unknown)
    }

    pub(crate) fn scalar(text: impl Into<String>) -> Self {
        Typed::new(text, Shape::Scalar)
    }
}

/// Meaning of a name.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    /// A value: the variable of a `for` expression, or one of a template file.
    Value(Typed),
    /// An entry with a key and a value: `each`, and the iterator of a dynamic block.
    Entry { key: String, value: Typed },
    /// The index of `count`.
    Index(String),
    /// The resource that a block belongs to.
    Itself(Typed),
}

/// Names with a meaning here, the innermost last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    names: Vec<(String, Meaning)>,
    /// Whether other names have no meaning, as in a template file.
    pub(crate) is_closed: bool,
}

impl Scope {
    /// The scope of a template file, in which names of the module mean nothing.
    pub(crate) fn closed() -> Self {
        Scope {
            is_closed: true,
            ..Scope::default()
        }
    }

    /// This scope and one more name.
    pub(crate) fn with(&self, name: &str, meaning: Meaning) -> Self {
        let mut scope = self.clone();
        scope.names.push((name.to_owned(), meaning));
        scope
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Meaning> {
        let found = self.names.iter().rev().find(|(it, _)| it == name);
        found.map(|(_, meaning)| meaning)
    }

    /// A name for a variable that hides none of those in use here, and the scope in which it is in use.
    pub(crate) fn with_fresh(&self, wanted: &str) -> (String, Self) {
        let name = self.fresh(wanted);
        let scope = self.with(&name, Meaning::Value(Typed::unknown(name.clone())));
        (name, scope)
    }

    /// A name for a variable that hides none of those that are in use here.
    pub(crate) fn fresh(&self, wanted: &str) -> String {
        let is_used = |name: &str| {
            self.names.iter().any(|(_, meaning)| match meaning {
                Meaning::Value(it) | Meaning::Itself(it) => it.text == name,
                Meaning::Entry { key, value } => key == name || value.text == name,
                Meaning::Index(it) => it == name,
            })
        };
        let more = (2..).map(|number| format!("{wanted}{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(more);
        names
            .find(|name| !is_used(name))
            .unwrap_or_else(|| wanted.to_owned())
    }
}
