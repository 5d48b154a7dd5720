//! Telling the user what is wrong.

use std::sync::atomic::{AtomicUsize, Ordering};

use plumb_engine::monitor::ResourceMonitor;
use plumb_events::Severity as EventSeverity;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::SourceFile;

/// How diagnostics are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiagnosticStyle {
    /// Summary, line and detail, as other tools know it.
    #[default]
    Excerpt,
    /// Drawn into the source, with columns and hints: for people.
    Annotated,
}

/// Shows diagnostics and counts errors.
pub struct Reporter<'a> {
    monitor: &'a dyn ResourceMonitor,
    source: &'a SourceFile,
    style: DiagnosticStyle,
    errors: AtomicUsize,
}

impl<'a> Reporter<'a> {
    /// Tells `monitor` about problems in `source`.
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

    /// A problem found before evaluation: goes to the error stream, line by line.
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

    /// A problem met during evaluation.
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

    /// The line that follows the problems of a named thing.
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
