//! Model of a TypeScript file, in which everything but the layout is decided.

use crate::FilePath;

/// A file.
pub(super) struct SourceFile {
    pub(super) path: FilePath,
    /// Import lines, in order.
    pub(super) imports: Vec<String>,
    pub(super) items: Vec<Item>,
}

/// A declaration in a file or a namespace.
pub(super) enum Item {
    Interface(Interface),
    Class(Class),
    Function(Callable),
    Enum(Enum),
    Namespace {
        name: String,
        items: Vec<Item>,
    },
    /// Other lines.
    Lines(Vec<Line>),
}

/// A documentation comment; empty for none.
#[derive(Clone, Default)]
pub(super) struct Doc {
    pub(super) lines: Vec<String>,
}

/// A line of a body.
pub(super) struct Line {
    pub(super) indent: usize,
    pub(super) text: String,
}

pub(super) struct Interface {
    pub(super) doc: Doc,
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
}

pub(super) struct Field {
    pub(super) doc: Doc,
    /// Modifiers before the name.
    pub(super) modifiers: &'static str,
    /// Name with its optional mark, such as `name?`.
    pub(super) name: String,
    pub(super) ty: String,
}

pub(super) struct Class {
    pub(super) doc: Doc,
    pub(super) name: String,
    pub(super) base: &'static str,
    /// Members before the fields.
    pub(super) before: Vec<Callable>,
    pub(super) fields: Vec<Field>,
    pub(super) after: Vec<Callable>,
}

/// A function, a method or a constructor.
pub(super) struct Callable {
    pub(super) doc: Doc,
    /// Overload signatures.
    pub(super) overloads: Vec<String>,
    /// Text up to the body.
    pub(super) signature: String,
    /// `None` for a field with a value, which consists of the signature only.
    pub(super) body: Option<Vec<Line>>,
}

pub(super) struct Enum {
    pub(super) doc: Doc,
    pub(super) name: String,
    pub(super) members: Vec<EnumMember>,
}

pub(super) struct EnumMember {
    pub(super) doc: Doc,
    pub(super) name: String,
    pub(super) value: String,
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

    pub(super) fn block(
        &mut self,
        open: impl Into<String>,
        close: &str,
        body: impl FnOnce(&mut Self),
    ) {
        self.line(open);
        self.indent += 1;
        body(self);
        self.indent -= 1;
        self.line(close);
    }
}
