//! Mappings with a fixed set of keys (`yaml-runtime.md` 1.2).

use ecow::EcoString;

use super::expression::{ExprKind, Scope};
use super::interpolation;
use super::node::{Key, Node, NodeKind};
use super::source::Span;
use crate::diagnostic::{self, Diagnostic};

/// Second part of the warning about a keyword in the wrong case.
pub(super) const CASE_MATTERS: &str = "A future version of Pulumi YAML will enforce camelCase fields. \
    See https://github.com/pulumi/pulumi-yaml/issues/355 for details.";

/// A mapping with keywords as keys. Matches without regard to case; reports wrong case and unknown keys.
pub(crate) struct Record<'a> {
    fields: Vec<(&'static str, &'a Key, &'a Node)>,
    unknown: Vec<(&'a Key, &'a Node)>,
}

/// Treatment of keys that are not keywords.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownKeys {
    /// Ignored, because they belong to another reader.
    Ignored,
    /// Reported as a warning.
    Reported,
}

impl<'a> Record<'a> {
    /// Opens `node`, which must be a mapping; otherwise reports an error and returns `None`. Unknown keys are
    /// reported.
    pub(crate) fn open(
        scope: &mut Scope,
        node: &'a Node,
        name: &str,
        known: &[&'static str],
    ) -> Option<Record<'a>> {
        let NodeKind::Map(entries) = &node.kind else {
            if node.kind != NodeKind::Null {
                scope.diagnostics.push(Diagnostic::error(
                    node.span,
                    format!("{name} must be an object"),
                ));
                return None;
            }
            return Some(Record {
                fields: Vec::new(),
                unknown: Vec::new(),
            });
        };
        Some(Record::of_entries(
            scope,
            entries,
            name,
            known,
            UnknownKeys::Reported,
        ))
    }

    /// Assigns `entries` to keywords.
    pub(crate) fn of_entries(
        scope: &mut Scope,
        entries: &'a [(Key, Node)],
        name: &str,
        known: &[&'static str],
        unknown_keys: UnknownKeys,
    ) -> Record<'a> {
        let mut fields: Vec<(&'static str, &Key, &Node)> = Vec::with_capacity(entries.len());
        let mut unknown = Vec::new();
        for (key, node) in entries {
            match known
                .iter()
                .find(|field| field.eq_ignore_ascii_case(&key.text))
            {
                Some(field) if fields.iter().any(|(seen, ..)| seen == field) => {
                    scope.diagnostics.push(Diagnostic::error(
                        key.span,
                        format!("found duplicate field {field}"),
                    ));
                }
                Some(field) => {
                    if *field != key.text {
                        let summary =
                            format!("'{}' looks like a miscapitalization of '{field}'", key.text);
                        let warning = Diagnostic::warning(key.span, summary);
                        scope.diagnostics.push(warning.with_detail(CASE_MATTERS));
                    }
                    fields.push((field, key, node));
                }
                None => {
                    if unknown_keys == UnknownKeys::Reported {
                        scope.diagnostics.push(unknown_key(key, name, known));
                    }
                    unknown.push((key, node));
                }
            }
        }
        Record { fields, unknown }
    }

    /// Keys that are not keywords, with their values.
    pub(crate) fn unknown(&self) -> &[(&'a Key, &'a Node)] {
        &self.unknown
    }

    /// Takes the field `field`.
    pub(crate) fn take(&mut self, field: &str) -> Option<(&'a Key, &'a Node)> {
        let at = self.fields.iter().position(|(name, ..)| *name == field)?;
        let (_, key, node) = self.fields.swap_remove(at);
        Some((key, node))
    }

    /// Takes a field that must be a literal string.
    pub(crate) fn literal(&mut self, scope: &mut Scope, field: &str) -> Option<(EcoString, Span)> {
        let (_, node) = self.take(field)?;
        match &node.kind {
            NodeKind::Null => None,
            NodeKind::String(text) if literal(text).is_some() => {
                literal(text).map(|text| (text, node.span))
            }
            _ => {
                scope.diagnostics.push(Diagnostic::error(
                    node.span,
                    format!("{field} must be a string"),
                ));
                None
            }
        }
    }

    /// Takes a field that must be a literal boolean.
    pub(crate) fn boolean(&mut self, scope: &mut Scope, field: &str) -> Option<bool> {
        let (_, node) = self.take(field)?;
        match &node.kind {
            NodeKind::Null => None,
            NodeKind::Bool(value) => Some(*value),
            _ => {
                scope.diagnostics.push(Diagnostic::error(
                    node.span,
                    format!("{field} must be a boolean value"),
                ));
                None
            }
        }
    }

    /// Takes a field that must be a list of literal strings.
    pub(crate) fn literals(&mut self, scope: &mut Scope, field: &str) -> Vec<EcoString> {
        let Some((_, node)) = self.take(field) else {
            return Vec::new();
        };
        let NodeKind::List(items) = &node.kind else {
            if node.kind != NodeKind::Null {
                scope.diagnostics.push(Diagnostic::error(
                    node.span,
                    format!("{field} must be a list"),
                ));
            }
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            if let Some(text) = item.as_str().and_then(literal) {
                texts.push(text);
            } else {
                let summary = format!("{field}[{at}] must be a string");
                scope
                    .diagnostics
                    .push(Diagnostic::error(item.span, summary));
            }
        }
        texts
    }
}

/// Warning about an unknown key of the object `name`.
fn unknown_key(key: &Key, name: &str, known: &[&str]) -> Diagnostic {
    let quoted: Vec<String> = known.iter().map(|field| format!("'{field}'")).collect();
    let existing = diagnostic::by_distance(&key.text, quoted.iter().map(String::as_str));
    let summary = format!("Field '{}' does not exist on Object '{name}'", key.text);
    let detail = format!("Existing fields are: {}", existing.join(", "));
    Diagnostic::warning(key.span, summary).with_detail(detail)
}

/// Text of a string without interpolation; `None` for other strings.
fn literal(text: &EcoString) -> Option<EcoString> {
    match interpolation::parse(text) {
        Ok(ExprKind::String(text)) => Some(text),
        _ => None,
    }
}
