//! Model and printer of Java and C# source files. Generators fill the model with finished text;
//! [`print`] adds the layout.

use std::rc::Rc;

use crate::FilePath;
use crate::writer::Writer;

/// Language of a file, which decides where braces are placed and how comments are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Java,
    CSharp,
}

/// A source file with its types.
pub(crate) struct SourceFile {
    pub(crate) path: FilePath,
    /// Lines before the types: package declaration, imports, directives.
    pub(crate) head: Vec<String>,
    /// The namespace around the types, in languages that have one.
    pub(crate) namespace: Option<String>,
    pub(crate) types: Vec<Class>,
}

/// A documentation comment, already escaped; members may share one.
pub(crate) type Doc = Rc<Vec<String>>;

/// A class, an enum or an interface.
pub(crate) struct Class {
    pub(crate) doc: Doc,
    pub(crate) attributes: Vec<String>,
    /// Declaration up to the opening brace.
    pub(crate) header: String,
    pub(crate) members: Vec<Member>,
}

/// A member of a class.
pub(crate) struct Member {
    pub(crate) doc: Doc,
    pub(crate) attributes: Vec<String>,
    pub(crate) kind: MemberKind,
}

pub(crate) enum MemberKind {
    /// A field, a property or a constant, on one line.
    Line(String),
    /// A method, a constructor, or a property with accessors.
    Method { signature: String, body: Body },
    /// A nested class.
    Class(Class),
}

impl Member {
    /// A one-line member without documentation.
    pub(crate) fn line(text: impl Into<String>) -> Self {
        Member::of(MemberKind::Line(text.into()))
    }

    /// A method without documentation.
    pub(crate) fn method(signature: impl Into<String>, body: Body) -> Self {
        Member::of(MemberKind::Method {
            signature: signature.into(),
            body,
        })
    }

    /// A nested class.
    pub(crate) fn class(class: Class) -> Self {
        Member::of(MemberKind::Class(class))
    }

    fn of(kind: MemberKind) -> Self {
        Member {
            doc: Doc::default(),
            attributes: Vec::new(),
            kind,
        }
    }

    pub(crate) fn with_doc(mut self, doc: &Doc) -> Self {
        self.doc = Rc::clone(doc);
        self
    }

    pub(crate) fn with_attributes(mut self, attributes: Vec<String>) -> Self {
        self.attributes = attributes;
        self
    }
}

/// Lines of a method body, with their indentation.
#[derive(Default)]
pub(crate) struct Body {
    lines: Vec<(usize, String)>,
    indent: usize,
}

impl Body {
    /// A body of one line.
    pub(crate) fn of(text: impl Into<String>) -> Self {
        let mut body = Body::default();
        body.line(text);
        body
    }

    pub(crate) fn line(&mut self, text: impl Into<String>) {
        self.lines.push((self.indent, text.into()));
    }

    /// A block in braces. Short ones look the same in both languages.
    pub(crate) fn block(&mut self, open: impl Into<String>, body: impl FnOnce(&mut Self)) {
        self.line(format!("{} {{", open.into()));
        self.deeper(body);
        self.line("}");
    }

    /// Appends the lines of another body.
    pub(crate) fn append(&mut self, other: Body) {
        let indent = self.indent;
        let lines = other.lines.into_iter();
        self.lines
            .extend(lines.map(|(deeper, text)| (indent + deeper, text)));
    }

    /// Lines added by `body`, one level deeper.
    pub(crate) fn deeper(&mut self, body: impl FnOnce(&mut Self)) {
        self.indent += 1;
        body(self);
        self.indent -= 1;
    }
}

/// Source text of a file.
pub(crate) fn print(file: &SourceFile, style: Style) -> String {
    let mut printer = Printer {
        writer: Writer::new(),
        style,
    };
    printer.writer.line(&[
        "// Generated from a package schema. Changes by hand are lost when it is generated again.",
    ]);
    printer.writer.blank();
    for line in &file.head {
        printer.writer.line(&[line]);
    }
    if !file.head.is_empty() {
        printer.writer.blank();
    }
    match &file.namespace {
        Some(namespace) => {
            let open = ["namespace ", namespace];
            printer.block(&open, |printer| printer.classes(&file.types));
        }
        None => printer.classes(&file.types),
    }
    printer.writer.finish()
}

struct Printer {
    writer: Writer,
    style: Style,
}

impl Printer {
    fn block(&mut self, open: &[&str], body: impl FnOnce(&mut Self)) {
        match self.style {
            Style::Java => {
                let mut parts = open.to_vec();
                parts.push(" {");
                self.writer.line(&parts);
            }
            Style::CSharp => {
                self.writer.line(open);
                self.writer.line(&["{"]);
            }
        }
        self.writer.indent();
        body(self);
        self.writer.dedent();
        self.writer.line(&["}"]);
    }

    fn doc(&mut self, doc: &Doc) {
        if doc.is_empty() {
            return;
        }
        let (open, prefix, close) = match self.style {
            Style::Java => (Some("/**"), " *", Some(" */")),
            Style::CSharp => (None, "///", None),
        };
        if let Some(open) = open {
            self.writer.line(&[open]);
        }
        for line in doc.iter() {
            if line.is_empty() {
                self.writer.line(&[prefix]);
            } else {
                self.writer.line(&[prefix, " ", line]);
            }
        }
        if let Some(close) = close {
            self.writer.line(&[close]);
        }
    }

    fn classes(&mut self, list: &[Class]) {
        for (index, class) in list.iter().enumerate() {
            if index > 0 {
                self.writer.blank();
            }
            self.class(class);
        }
    }

    fn class(&mut self, class: &Class) {
        self.doc(&class.doc);
        for attribute in &class.attributes {
            self.writer.line(&[attribute]);
        }
        self.block(&[&class.header], |printer| printer.members(&class.members));
    }

    /// Members of a class. A blank line separates them, except between one-line members without
    /// documentation or attributes.
    fn members(&mut self, members: &[Member]) {
        let is_bare = |member: &Member| {
            matches!(member.kind, MemberKind::Line(_))
                && member.doc.is_empty()
                && member.attributes.is_empty()
        };
        for (index, member) in members.iter().enumerate() {
            if index > 0 && !(is_bare(member) && is_bare(&members[index - 1])) {
                self.writer.blank();
            }
            self.doc(&member.doc);
            for attribute in &member.attributes {
                self.writer.line(&[attribute]);
            }
            match &member.kind {
                MemberKind::Line(text) => self.writer.line(&[text]),
                MemberKind::Class(class) => self.class(class),
                MemberKind::Method { signature, body } => {
                    self.block(&[signature], |printer| printer.body(body));
                }
            }
        }
    }

    fn body(&mut self, body: &Body) {
        const INDENT: &str = "                                ";
        for (indent, text) in &body.lines {
            let indent = &INDENT[..(indent * 4).min(INDENT.len())];
            self.writer.line(&[indent, text]);
        }
    }
}
