//! TypeScript, with everything decided: what is printed stands here as it will be read.

use crate::FilePath;

/// A file.
pub(super) struct SourceFile {
    pub(super) path: FilePath,
    /// Whole lines, in order.
    pub(super) imports: Vec<String>,
    pub(super) items: Vec<Item>,
}

/// Something at the top of a file or a namespace.
pub(super) enum Item {
    Interface(Interface),
    Class(Class),
    Function(Callable),
    Enum(Enum),
    Namespace {
        name: String,
        items: Vec<Item>,
    },
    /// Lines of other kinds.
    Lines(Vec<Line>),
}

/// A comment for readers of the generated code; empty for none.
#[derive(Clone, Default)]
pub(super) struct Doc {
    pub(super) lines: Vec<String>,
}

/// A line within a body.
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
    /// Words before the name.
    pub(super) modifiers: &'static str,
    /// The name with its mark, such as `name?`.
    pub(super) name: String,
    pub(super) ty: String,
}

pub(super) struct Class {
    pub(super) doc: Doc,
    pub(super) name: String,
    pub(super) base: &'static str,
    /// What stands before the fields.
    pub(super) before: Vec<Callable>,
    pub(super) fields: Vec<Field>,
    pub(super) after: Vec<Callable>,
}

/// A function, a method or a constructor.
pub(super) struct Callable {
    pub(super) doc: Doc,
    /// Signatures before the one with the body.
    pub(super) overloads: Vec<String>,
    /// All up to the body.
    pub(super) signature: String,
    /// `None` for a field with a value, which is all signature.
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
