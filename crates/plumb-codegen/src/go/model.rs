//! Model of a Go file, in which everything but the layout is decided.

use std::sync::Arc;

use crate::FilePath;

/// A file.
pub(super) struct SourceFile {
    pub(super) path: FilePath,
    /// Documentation of the package, which only one of its files has.
    pub(super) doc: Doc,
    pub(super) package: String,
    /// Import lines in groups, sorted.
    pub(super) imports: [Vec<String>; 2],
    pub(super) items: Vec<Item>,
}

/// A top-level declaration.
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

/// Comment lines without `//`; empty for no comment.
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
    /// Embedded type.
    pub(super) base: Option<&'static str>,
    pub(super) fields: Vec<Field>,
}

pub(super) struct Field {
    pub(super) doc: Doc,
    pub(super) name: String,
    pub(super) ty: String,
    /// Tag with its quotes; empty for none.
    pub(super) tag: String,
}

pub(super) struct Interface {
    pub(super) doc: Doc,
    pub(super) name: String,
    /// Method signatures.
    pub(super) methods: Vec<String>,
}

pub(super) struct Function {
    pub(super) doc: Doc,
    /// Lines before the body; more than one if the parameters have their own line.
    pub(super) signature: Vec<String>,
    pub(super) body: Vec<Line>,
}

pub(super) struct Constant {
    pub(super) doc: Doc,
    pub(super) name: String,
    pub(super) value: String,
}

/// A line of a body.
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

    /// A statement with a function literal, on one line if it is short enough.
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

    /// An `if err != nil` block that returns.
    pub(super) fn return_error(&mut self, result: &str) {
        self.block("if err != nil {", "}", |body| {
            body.line(format!("return {result}"));
        });
    }
}
