//! Reports of constructs that a language has no form for.

use std::sync::Arc;

use plumb_pcl::{Definition, Diagnostic, Problem, SourceFile, Span};

/// Collects problems at their places in the source of the current definition.
pub(crate) struct Report<'g> {
    /// Name of the language, for people.
    language: &'static str,
    source: Option<Arc<SourceFile>>,
    problems: &'g mut Vec<Problem>,
}

impl<'g> Report<'g> {
    pub(crate) fn new(language: &'static str, problems: &'g mut Vec<Problem>) -> Self {
        Report {
            language,
            source: None,
            problems,
        }
    }

    /// The following problems are in the source of `definition`.
    pub(crate) fn enter(&mut self, definition: &Definition) {
        self.source = Some(definition.source.clone());
    }

    pub(crate) fn problem(&mut self, span: Span, summary: &str) {
        if let Some(source) = &self.source {
            self.problems.push(Problem {
                source: source.clone(),
                diagnostic: Diagnostic::error(span, summary),
            });
        }
    }

    /// Reports constructs that have no form.
    pub(crate) fn formless(&mut self, constructs: impl IntoIterator<Item = (Span, String)>) {
        for (span, construct) in constructs {
            let summary = without_form(self.language, &construct);
            self.problem(span, &summary);
        }
    }
}

/// Problem with a construct that has no form. The program fails with it where the construct would be.
pub(crate) fn without_form(language: &str, construct: &str) -> String {
    format!("programs in {language} have no form for {construct} yet")
}
