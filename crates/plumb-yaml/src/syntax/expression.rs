//! Expressions in properties, variables and outputs.

use ecow::EcoString;
pub(crate) use plumb_eval::access::Accessor;

use super::functions::{self, Function};
use super::interpolation;
use super::node::{Key, Node, NodeKind};
use super::program::Calls;
use super::source::Span;
use crate::diagnostic::Diagnostic;

/// An expression with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    Null,
    Bool(bool),
    Number(f64),
    String(EcoString),
    /// A string with `${…}` in it.
    Interpolate(Vec<Part>),
    /// A string that consists of a single `${…}`, which keeps the type of the value.
    Symbol(Access),
    List(Vec<Expr>),
    Object(Vec<(Expr, Expr)>),
    /// A function without calls to the engine.
    Function(Function, Box<Expr>),
    /// A function of a provider: its index in [`Calls::invokes`].
    Invoke(usize),
    /// An output of another stack: index in [`Calls::stacks`], and the output's name.
    StackOutput(usize, Box<Expr>),
}

/// A part of an interpolated string.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Text(EcoString),
    Access(Access),
}

/// `root.name["key"][0]`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Access {
    pub(crate) root: EcoString,
    pub(crate) path: Vec<Accessor>,
}

impl Access {
    /// Source text of the access.
    pub(crate) fn text(&self) -> String {
        let accessors = self.path.iter().map(|accessor| match accessor {
            Accessor::Name(name) if is_plain_name(name) => format!(".{name}"),
            Accessor::Name(name) => format!("[{name:?}]"),
            Accessor::Index(index) => format!("[{index}]"),
        });
        std::iter::once(self.root.to_string())
            .chain(accessors)
            .collect()
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|char| char.is_alphanumeric() || matches!(char, '_' | '$' | '-'))
}

/// Calls and diagnostics collected while parsing expressions.
#[derive(Default)]
pub(crate) struct Scope {
    pub(crate) calls: Calls,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Scope {
    /// Parses `node` as an expression. Errors are added to the diagnostics, and the result is null.
    pub(crate) fn expression(&mut self, node: &Node) -> Expr {
        let kind = match &node.kind {
            NodeKind::Null => ExprKind::Null,
            NodeKind::Bool(value) => ExprKind::Bool(*value),
            NodeKind::Number(value) => ExprKind::Number(*value),
            NodeKind::String(text) => self.text(text, node.span),
            NodeKind::List(items) => {
                ExprKind::List(items.iter().map(|item| self.expression(item)).collect())
            }
            NodeKind::Map(entries) => return self.map(entries, node.span),
        };
        Expr {
            kind,
            span: node.span,
        }
    }

    /// Parses a mapping as an object, even if its keys look like functions.
    pub(crate) fn object(&mut self, entries: &[(Key, Node)]) -> ExprKind {
        let entries = entries
            .iter()
            .map(|(key, value)| (self.key(key), self.expression(value)))
            .collect();
        ExprKind::Object(entries)
    }

    fn map(&mut self, entries: &[(Key, Node)], span: Span) -> Expr {
        if let Some(expr) = functions::parse(self, entries, span) {
            return expr;
        }
        Expr {
            kind: self.object(entries),
            span,
        }
    }

    fn key(&mut self, key: &Key) -> Expr {
        Expr {
            kind: self.text(&key.text, key.span),
            span: key.span,
        }
    }

    fn text(&mut self, text: &EcoString, span: Span) -> ExprKind {
        match interpolation::parse(text) {
            Ok(kind) => kind,
            Err(problem) => {
                self.diagnostics
                    .push(Diagnostic::error(span, problem.to_string()));
                ExprKind::Null
            }
        }
    }
}

impl Expr {
    /// Visits all accesses, invokes and stack references in the expression, in order.
    pub(crate) fn visit(&self, visitor: &mut impl FnMut(Mention<'_>, Span)) {
        match &self.kind {
            ExprKind::Null | ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::String(_) => {}
            ExprKind::Interpolate(parts) => {
                for part in parts {
                    if let Part::Access(access) = part {
                        visitor(Mention::Access(access), self.span);
                    }
                }
            }
            ExprKind::Symbol(access) => visitor(Mention::Access(access), self.span),
            ExprKind::List(items) => items.iter().for_each(|item| item.visit(visitor)),
            ExprKind::Object(entries) => {
                for (key, value) in entries {
                    key.visit(visitor);
                    value.visit(visitor);
                }
            }
            ExprKind::Function(_, argument) => argument.visit(visitor),
            ExprKind::Invoke(index) => visitor(Mention::Invoke(*index), self.span),
            ExprKind::StackOutput(index, name) => {
                visitor(Mention::Stack(*index), self.span);
                name.visit(visitor);
            }
        }
    }
}

/// A reference in an expression.
pub(crate) enum Mention<'a> {
    Access(&'a Access),
    Invoke(usize),
    Stack(usize),
}
