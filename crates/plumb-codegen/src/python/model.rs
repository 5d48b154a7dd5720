//! Model of a Python file, in which everything but the layout is decided.

use std::rc::Rc;

use crate::FilePath;

/// A file.
pub(super) struct SourceFile {
    pub(super) path: FilePath,
    /// Import lines, in order.
    pub(super) imports: Vec<String>,
    /// Names in `__all__`; `None` for files that are not star-imported.
    pub(super) exports: Option<Vec<String>>,
    pub(super) items: Vec<Item>,
}

/// A declaration in a file or in a class.
pub(super) enum Item {
    Class(Class),
    Function(Callable),
    Property(Property),
    Variable(Variable),
    /// Other lines.
    Lines(Vec<Line>),
}

/// Documentation text; empty for none.
pub(super) type Text = Rc<str>;

/// A docstring; empty for none.
#[derive(Clone, Default)]
pub(super) struct Doc {
    pub(super) text: Text,
    pub(super) parameters: Vec<DocParameter>,
}

impl Doc {
    pub(super) fn of(text: Text) -> Self {
        Doc {
            text,
            parameters: Vec::new(),
        }
    }
}

/// Documentation of a parameter.
#[derive(Clone)]
pub(super) struct DocParameter {
    pub(super) name: String,
    pub(super) ty: String,
    pub(super) text: Text,
}

/// A line of a body.
pub(super) struct Line {
    pub(super) indent: usize,
    pub(super) text: String,
}

pub(super) struct Class {
    /// Decorator lines.
    pub(super) decorators: Vec<String>,
    /// Name and base classes.
    pub(super) head: String,
    pub(super) doc: Doc,
    pub(super) items: Vec<Item>,
}

/// A function or a method.
pub(super) struct Callable {
    /// Decorator lines.
    pub(super) decorators: Vec<String>,
    pub(super) name: String,
    pub(super) parameters: Parameters,
    pub(super) returns: Option<String>,
    pub(super) doc: Doc,
    /// Empty for overloads, which have no body.
    pub(super) body: Vec<Line>,
}

/// Parameters, on one line or with one line each.
pub(super) struct Parameters {
    /// Parameters on the first line.
    pub(super) first: &'static str,
    pub(super) rest: Vec<Parameter>,
}

/// A parameter with its type and default.
pub(super) struct Parameter {
    pub(super) name: String,
    /// Empty for a parameter without a type.
    pub(super) ty: String,
    pub(super) default: &'static str,
}

impl Parameter {
    pub(super) fn required(name: impl Into<String>, ty: impl Into<String>) -> Self {
        Parameter {
            name: name.into(),
            ty: ty.into(),
            default: "",
        }
    }

    pub(super) fn optional(name: impl Into<String>, ty: impl Into<String>) -> Self {
        Parameter {
            name: name.into(),
            ty: ty.into(),
            default: " = None",
        }
    }
}

/// A property with a getter, which tells the core SDK the property's name in the schema.
pub(super) struct Property {
    pub(super) name: String,
    /// Decorator of the getter, with the name in the schema.
    pub(super) getter: String,
    /// Decorator that logs a deprecation warning.
    pub(super) deprecation: Option<String>,
    pub(super) ty: String,
    pub(super) doc: Text,
    pub(super) setter: Setter,
}

/// Whether a property can be set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Setter {
    None,
    Present,
}

/// `name: type` or `name = value`, followed by its documentation.
pub(super) struct Variable {
    pub(super) definition: String,
    pub(super) doc: Text,
}

/// Lines of a body, with their indentation.
#[derive(Default)]
pub(super) struct Body {
    pub(super) lines: Vec<Line>,
    indent: usize,
}

impl Body {
    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.lines.push(Line {
            indent: self.indent,
            text: text.into(),
        });
    }

    pub(super) fn block(&mut self, open: impl Into<String>, body: impl FnOnce(&mut Self)) {
        self.line(open);
        self.indent += 1;
        body(self);
        self.indent -= 1;
    }
}
