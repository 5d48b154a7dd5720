//! What to do about the errors of a run.
//!
//! The display shows what programs, providers and the engine say, which has only its text by then; the catalogue knows the errors
//! that people meet by words of it. Each kind is explained once, below everything else, as errors of commands are.

use plumb_events::{Event, Severity, strip_color};

use crate::Printer;
use crate::catalogue::{self, Entry};

/// How many kinds of error are explained at most.
const MOST: usize = 3;

/// The kinds of error that a run has told of.
#[derive(Default)]
pub(super) struct Advice {
    entries: Vec<&'static Entry>,
}

impl Advice {
    /// Takes an event in.
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

    /// Says what to do.
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
