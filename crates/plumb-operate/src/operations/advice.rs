//! Hints for the errors of a run.
//!
//! At this point an error of a program, a provider or the engine is only text. The catalogue recognizes common errors by
//! phrases in it. Each kind of error gets one hint, at the end of the output, as for errors of commands.

use plumb_events::{Event, Severity, strip_color};

use crate::Printer;
use crate::catalogue::{self, Entry};

/// Maximum number of hints.
const MOST: usize = 3;

/// Kinds of error in the diagnostics of a run, without duplicates.
#[derive(Default)]
pub(super) struct Advice {
    entries: Vec<&'static Entry>,
}

impl Advice {
    /// Records the kind of error if `event` is an error diagnostic.
    pub(super) fn handle(&mut self, event: &Event) {
        let Event::Diagnostic(diagnostic) = event else {
            return;
        };
        if diagnostic.severity != Severity::Error || self.entries.len() == MOST {
            return;
        }
        let Some(entry) = catalogue::find(&strip_color(&diagnostic.message)) else {
            return;
        };
        if self.entries.iter().all(|known| known.code != entry.code) {
            self.entries.push(entry);
        }
    }

    /// Prints the hints.
    pub(super) fn give(&self, printer: &Printer) {
        for entry in &self.entries {
            printer.hint(entry.code.name(), entry.hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use plumb_events::Diagnostic;

    use super::*;
    use crate::identity::Code;

    #[test]
    fn each_kind_of_error_is_explained_once() {
        let mut advice = Advice::default();
        let protected = "Unable to delete resource x as it is currently marked for protection.";
        for (severity, message) in [
            (Severity::Warning, protected),
            (Severity::Error, "update failed"),
            (Severity::Error, protected),
            (Severity::Error, protected),
            (
                Severity::Error,
                "update is not allowed by the plan: no steps were expected",
            ),
        ] {
            advice.handle(&Event::Diagnostic(Diagnostic::new(severity, None, message)));
        }
        let codes: Vec<Code> = advice.entries.iter().map(|entry| entry.code).collect();
        assert_eq!(codes, [Code::Protected, Code::NotInPlan]);
    }
}
