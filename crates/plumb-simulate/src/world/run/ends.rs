//! Results of runs, completed or not.

use plumb_resource::ResourceKind;

use super::Run;
use crate::cloud::Faults;
use crate::world::{Trace, Violation, calls};

impl Run<'_> {
    /// Checks that every step has ended; components need not report their end.
    pub(super) fn check_open_steps(&self) -> Result<(), Violation> {
        let mut open = self.open.iter().map(|number| &self.trace.steps[*number]);
        let loose = open.find(|step| step.is_custom);
        match loose {
            None => Ok(()),
            Some(step) => {
                let what = format!("{} of {} never ends", step.op.as_str(), step.urn.name());
                Err(Violation::new("events", what))
            }
        }
    }

    /// Result after the death of the process: calls in progress may still have their effect, and the journal is cut.
    pub(super) fn crashed(mut self) -> Result<Trace, Violation> {
        for (_, call) in std::mem::take(&mut self.calls) {
            let is_mutation = calls::mutation(&call).is_some();
            if is_mutation && self.dice.one_in(2) {
                let faults = Faults(&[]);
                drop(calls::answer(self.cloud, faults, &call)?);
            }
        }
        self.trace.after = if self.operation.preview {
            self.journal.snapshot(self.now)?
        } else {
            self.journal.crash(&mut self.dice, self.now)?
        };
        let known = ids(&self.trace.after);
        self.cloud.reconcile(known.iter().map(String::as_str));
        Ok(self.trace)
    }
}

/// Ids of the objects in a snapshot.
pub(super) fn ids(snapshot: &plumb_state::Snapshot) -> Vec<String> {
    snapshot
        .resources
        .iter()
        .filter(|state| state.kind == ResourceKind::Custom && !state.pending_replacement)
        .map(|state| state.id.as_str().to_owned())
        .collect()
}
