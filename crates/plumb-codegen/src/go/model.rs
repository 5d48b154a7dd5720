//! Go, with everything decided: what is printed stands here as it will be read.

use std::sync::Arc;

use crate::FilePath;

/// A file.
pub(super) struct SourceFile {
    pub(super) path: FilePath,
    /// What the package is for; only one file of a package says so.
    pub(super) doc: Doc,
    pub(super) package: String,
    /// Groups of lines, sorted.
    pub(super) imports: [Vec<String>; 2],
    pub(super) items: Vec<Item>,
}

/// Something at the top of a file.
pub(super) enum Item {
    Struct(Struct),
    Interface(Interface),
    Function(Function),
    Constants(Vec<Constant>),
    /// Whole lines, such as a type without fields.
    Lines {
        doc: Doc,
        lines: Vec<String>,
    },
}

/// Lines of a comment, without their marks; empty for none.
#[derive(Clone, Default)]
pub(super) struct Doc {
    pub(super) lines: Arc<Vec<String>>,
}

impl Doc {
    pub(super) fn of<const N: usize>(lines: [String; N]) -> Self {
        Doc {
            lines: Arc::new(lines.into()),
        }
    }
}

pub(super) struct Struct {
    pub(super) doc: Doc,
    pub(super) name: String,
    /// The type that it is built on, if any.
    pub(super) base: Option<&'static str>,
    pub(super) fields: Vec<Field>,
}

pub(super) struct Field {
    pub(super) doc: Doc,
    pub(super) name: String,
    pub(super) ty: String,
    /// With its quotes; empty for none.
    pub(super) tag: String,
}

pub(super) struct Interface {
    pub(super) doc: Doc,
    pub(super) name: String,
    /// Signatures.
    pub(super) methods: Vec<String>,
}

pub(super) struct Function {
    pub(super) doc: Doc,
    /// Lines up to the body; more than one where the parameters stand on a line of their own.
    pub(super) signature: Vec<String>,
    pub(super) body: Vec<Line>,
}

pub(super) struct Constant {
    pub(super) doc: Doc,
    pub(super) name: String,
    pub(super) value: String,
}

/// A line within a body.
pub(super) struct Line {
    pub(super) indent: usize,
    pub(super) text: String,
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

    pub(super) fn blank(&mut self) {
        self.line("");
    }

    pub(super) fn block(
        &mut self,
        open: impl Into<String>,
        close: &str,
        body: impl FnOnce(&mut Self),
    ) {
        self.line(open);
        self.indented(body);
        self.line(close);
    }

    pub(super) fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.indent += 1;
        body(self);
        self.indent -= 1;
    }

    /// A statement with a function in it, on one line if the formatter of the language would leave it there.
    pub(super) fn closure(&mut self, before: &str, header: &str, statement: &str, after: &str) {
        const LONGEST: usize = 100;
        if header.len() + statement.len() <= LONGEST {
            self.line(format!("{before}{header} {{ {statement} }}{after}"));
        } else {
            self.block(
                format!("{before}{header} {{"),
                &format!("}}{after}"),
                |body| {
                    body.line(statement);
                },
            );
        }
    }

    /// A test for an error that ends the function.
    pub(super) fn return_error(&mut self, result: &str) {
        self.block("if err != nil {", "}", |body| {
            body.line(format!("return {result}"));
        });
    }
}
