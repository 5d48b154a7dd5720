//! From text to a tree of HCL.

use std::sync::Arc;

use hcl_edit::structure::Body;
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::source::{SourceFile, Span};

/// A text that is HCL.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub(crate) source: Arc<SourceFile>,
    pub(crate) body: Body,
}

impl Parsed {
    /// The text.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    /// Reads the text of `source`.
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

/// Where something stands that was read.
pub(crate) fn span_of(node: &impl hcl_edit::Span) -> Span {
    let range = node.span().unwrap_or_default();
    Span::new(range.start, range.end)
}
