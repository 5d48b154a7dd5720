//! Parsing of PCL text to an HCL tree.

use std::sync::Arc;

use hcl_edit::structure::Body;
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::source::{SourceFile, Span};

/// Parsed text.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub(crate) source: Arc<SourceFile>,
    pub(crate) body: Body,
}

impl Parsed {
    /// Source text.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    /// Parses the text of `source`.
    pub fn read(source: Arc<SourceFile>) -> Result<Parsed, Diagnostic> {
        match hcl_edit::parser::parse_body(&source.text) {
            Ok(body) => Ok(Parsed { source, body }),
            Err(error) => {
                let at = error.location().offset().min(source.text.len());
                let end = (at + 1).min(source.text.len());
                let summary = format!("syntax error: {}", error.message());
                Err(Diagnostic::error(Span::new(at, end), summary))
            }
        }
    }
}

/// Position of a node.
pub(crate) fn span_of(node: &impl hcl_edit::Span) -> Span {
    let range = node.span().unwrap_or_default();
    Span::new(range.start, range.end)
}
