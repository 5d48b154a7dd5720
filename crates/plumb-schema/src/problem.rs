//! Problems of a schema, collected in one list.

use std::fmt;

use crate::document::{Document, Positions};

/// Maximum number of problems in the list; only the number of further ones is reported.
const LIMIT: usize = 1_000;

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The schema cannot be used.
    Error,
    /// The schema can be used, but part of it is doubtful.
    Warning,
}

/// A problem of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Severity.
    pub severity: Severity,
    /// Path of the problem: `#/resources/pkg:mod:Name/properties/p`.
    pub pointer: String,
    /// Line in the text, from one.
    pub line: u32,
    /// Column in the text, from one, in characters.
    pub column: u32,
    /// Description of the problem.
    pub message: String,
    /// Correct form, if the message does not make it clear.
    pub expected: Option<String>,
}

impl Problem {
    /// Whether the problem makes the schema unusable.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.message)?;
        if let Some(expected) = &self.expected {
            write!(f, "; expected {expected}")?;
        }
        Ok(())
    }
}

/// A position in a schema: the path to it, kept on the stack, and its offset in the text.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    parent: Option<&'a At<'a>>,
    step: Step<'a>,
    offset: u32,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    pub(crate) const ROOT: At<'static> = At {
        parent: None,
        step: Step::Root,
        offset: 0,
    };

    /// The root as a static reference.
    pub(crate) const ROOT_REF: &'static At<'static> = &At::ROOT;

    /// The member `key` at `offset`.
    pub(crate) fn key(&'a self, key: &'a str, offset: u32) -> At<'a> {
        At {
            parent: Some(self),
            step: Step::Key(key),
            offset,
        }
    }

    /// An absent member, which has the offset of its owner.
    pub(crate) fn absent(&'a self, key: &'a str) -> At<'a> {
        self.key(key, self.offset)
    }

    /// The item `index` at `offset`.
    pub(crate) fn index(&'a self, index: usize, offset: u32) -> At<'a> {
        At {
            parent: Some(self),
            step: Step::Index(index),
            offset,
        }
    }

    fn pointer(&self) -> String {
        let mut steps = Vec::new();
        let mut at = Some(self);
        while let Some(here) = at {
            match here.step {
                Step::Root => {}
                Step::Key(key) => steps.push(percent_escape(key)),
                Step::Index(index) => steps.push(index.to_string()),
            }
            at = here.parent;
        }
        steps.push("#".to_owned());
        steps.reverse();
        steps.join("/")
    }
}

/// Escapes characters that are not allowed in a step of a pointer.
pub(crate) fn percent_escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+=:@".contains(&byte) {
            escaped.push(byte as char);
        } else {
            use fmt::Write as _;
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Collector of problems.
#[derive(Default)]
pub(crate) struct Problems {
    found: Vec<(u32, Problem)>,
    left_out: usize,
}

impl Problems {
    pub(crate) fn error(&mut self, at: &At<'_>, message: impl Into<String>) {
        self.add(Severity::Error, at, message.into(), None);
    }

    pub(crate) fn expected(
        &mut self,
        at: &At<'_>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.add(Severity::Error, at, message.into(), Some(expected.into()));
    }

    pub(crate) fn warning(&mut self, at: &At<'_>, message: impl Into<String>) {
        self.add(Severity::Warning, at, message.into(), None);
    }

    fn add(&mut self, severity: Severity, at: &At<'_>, message: String, expected: Option<String>) {
        if self.found.len() >= LIMIT {
            self.left_out += 1;
            return;
        }
        let problem = Problem {
            severity,
            pointer: at.pointer(),
            line: 0,
            column: 0,
            message,
            expected,
        };
        self.found.push((at.offset, problem));
    }

    /// All problems in the order of the text.
    pub(crate) fn finish(mut self, document: &Document<'_>) -> Vec<Problem> {
        self.found.sort_by_key(|(offset, _)| *offset);
        let mut positions = Positions::new(document.text);
        let mut problems: Vec<Problem> = self
            .found
            .into_iter()
            .map(|(offset, problem)| {
                let (line, column) = positions.of(offset as usize);
                Problem {
                    line,
                    column,
                    ..problem
                }
            })
            .collect();
        problems.dedup();
        if self.left_out > 0 {
            problems.push(Problem {
                severity: Severity::Error,
                pointer: "#".to_owned(),
                line: 1,
                column: 1,
                message: format!("there are {} more problems", self.left_out),
                expected: None,
            });
        }
        problems
    }
}
