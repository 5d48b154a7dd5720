//! Printed expressions with their kinds, for languages of classes with static types.

use crate::kinds::Kind;
use crate::layout::Doc;

/// Precedence of an expression, from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Callbacks and `?:`
    Loose,
    Or,
    And,
    Equality,
    Relation,
    Add,
    Multiply,
    /// Signs and casts.
    Sign,
    Atom,
}

/// Form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    /// A list or a map that contains outputs.
    Nested,
    /// An output.
    Output,
}

/// A printed expression.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) code: Doc,
    pub(crate) level: Level,
    pub(crate) kind: Kind,
    pub(crate) form: Form,
}

impl Value {
    pub(crate) fn plain(code: impl Into<Doc>, kind: Kind) -> Self {
        Value::new(code, kind, Form::Plain)
    }

    pub(crate) fn output(code: impl Into<Doc>, kind: Kind) -> Self {
        Value::new(code, kind, Form::Output)
    }

    pub(crate) fn new(code: impl Into<Doc>, kind: Kind, form: Form) -> Self {
        Value {
            code: code.into(),
            level: Level::Atom,
            kind,
            form,
        }
    }

    pub(crate) fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    pub(crate) fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.form == Form::Plain
    }

    /// The code, with parentheses if its precedence is lower than `level`.
    pub(crate) fn at(&self, level: Level) -> Doc {
        if self.level < level {
            Doc::hugged("(", self.code.clone(), ")")
        } else {
            self.code.clone()
        }
    }

    /// Call of a method of the value.
    pub(crate) fn method(&self, name: &str, args: Vec<Doc>) -> Doc {
        let call = Doc::call(&format!(".{name}("), args);
        Doc::Row(vec![self.at(Level::Atom), call])
    }
}

impl From<&str> for Doc {
    fn from(text: &str) -> Doc {
        Doc::text(text)
    }
}

impl From<String> for Doc {
    fn from(text: String) -> Doc {
        Doc::text(text)
    }
}

/// What a place accepts.
#[derive(Clone, Debug)]
pub(crate) enum Want {
    /// Any value.
    Free,
    /// A plain value of a kind.
    Plain(Kind),
    /// A value of a kind, or its output.
    Input(Kind),
}

impl Want {
    pub(crate) fn element(&self) -> Want {
        let inner = |kind: &Kind| match kind {
            Kind::List(element) | Kind::Map(element) => (**element).clone(),
            _ => Kind::Any,
        };
        match self {
            Want::Free => Want::Free,
            Want::Plain(kind) => Want::Plain(inner(kind.present())),
            Want::Input(kind) => Want::Input(inner(kind.present())),
        }
    }
}

/// Common kind of values.
pub(crate) fn common(values: &[Value]) -> Kind {
    let mut kinds = values.iter().map(|it| it.kind.clone());
    let Some(first) = kinds.next() else {
        return Kind::Any;
    };
    let kind = kinds.fold(first, |a, b| if a.is(&b) { a } else { a.or(&b) });
    match kind {
        // Elements that may be missing have no common form.
        Kind::Null | Kind::Pointer(_) => Kind::Any,
        kind => kind,
    }
}
