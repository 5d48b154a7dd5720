//! Reporting of diagnostics to the user.

use std::sync::atomic::{AtomicUsize, Ordering};

use plumb_engine::monitor::ResourceMonitor;
use plumb_events::Severity as EventSeverity;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::SourceFile;

/// Format of diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiagnosticStyle {
    /// Summary, source line and details, in the format of the reference.
    #[default]
    Excerpt,
    /// Marked in the source lines, with columns and hints, for people.
    Annotated,
}

/// Reports diagnostics and counts errors.
pub struct Reporter<'a> {
    monitor: &'a dyn ResourceMonitor,
    source: &'a SourceFile,
    style: DiagnosticStyle,
    errors: AtomicUsize,
}

impl<'a> Reporter<'a> {
    /// A reporter to `monitor` for problems in `source`.
    pub fn new(
        monitor: &'a dyn ResourceMonitor,
        source: &'a SourceFile,
        style: DiagnosticStyle,
    ) -> Self {
        Reporter {
            monitor,
            source,
            style,
            errors: AtomicUsize::new(0),
        }
    }

    /// Whether there was an error.
    pub fn has_errors(&self) -> bool {
        self.errors.load(Ordering::Relaxed) > 0
    }

    /// Reports a problem found before evaluation: written to the error stream, line by line.
    pub fn found(&self, diagnostic: &Diagnostic) {
        self.count(diagnostic);
        let text = match self.style {
            DiagnosticStyle::Excerpt => diagnostic.titled_excerpt(self.source),
            DiagnosticStyle::Annotated => diagnostic.annotated(self.source),
        };
        for line in text.lines().filter(|line| !line.is_empty()) {
            self.monitor.log(EventSeverity::InfoErr, None, line);
        }
    }

    /// Reports a problem found during evaluation.
    pub fn met(&self, diagnostic: &Diagnostic) {
        self.count(diagnostic);
        let severity = match diagnostic.severity {
            Severity::Error => EventSeverity::Error,
            Severity::Warning => EventSeverity::Warning,
        };
        let text = match self.style {
            DiagnosticStyle::Excerpt => diagnostic.excerpt(self.source),
            DiagnosticStyle::Annotated => diagnostic.annotated(self.source),
        };
        self.monitor.log(severity, None, &text);
    }

    /// Reports that a named entity was not registered, after its problems.
    pub fn not_registered(&self, kind: &str, name: &str) {
        self.errors.fetch_add(1, Ordering::Relaxed);
        let text = format!("Error registering {kind} [{name}]: no diagnostics");
        self.monitor.log(EventSeverity::Error, None, &text);
    }

    fn count(&self, diagnostic: &Diagnostic) {
        self.errors
            .fetch_add(usize::from(diagnostic.is_error()), Ordering::Relaxed);
    }
}
