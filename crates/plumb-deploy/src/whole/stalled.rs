//! Stalled runs: nothing is under way outside, and yet the run has not ended.
//!
//! The shell notices that no call, program, callback or journal entry is outstanding, so that no event can come any more. The
//! core then waits for something that cannot happen, which is a defect. The run ends with an error that names what waits; the
//! state has everything that was done.

use plumb_resource::ResourceKind;

use crate::decide::registration::{RegStage, Registration, Turn};
use crate::deployment::Deployment;
use crate::status::Stage;

/// How many waiting things the error names.
const SHOWN: usize = 5;

impl Deployment {
    /// Ends a run that nothing can happen to any more.
    pub(crate) fn stalled(&mut self) {
        if self.stage == Stage::Finished {
            return;
        }
        let what = self.waiting().join("; ");
        self.internal_error(&format!(
            "nothing is under way, but the run has not ended ({what})"
        ));
        self.finish();
    }

    /// Registrations, chains and requests that wait, each with the event that it waits for.
    fn waiting(&self) -> Vec<String> {
        let registrations = self.registrations.iter().flatten();
        let registrations = registrations.map(|it| format!("{} {}", it.urn, awaited(it)));
        let chains = self.chains.unfinished();
        let chains = chains.map(|urn| format!("a step of {urn} has not been taken"));
        let mut waiting: Vec<String> = registrations.chain(chains).take(SHOWN).collect();
        let requests = self.unanswered.len();
        if requests > 0 {
            waiting.push(format!("{requests} requests are not answered"));
        }
        if waiting.is_empty() {
            waiting.push("everything that was registered is done".to_owned());
        }
        waiting
    }
}

fn awaited(registration: &Registration) -> &'static str {
    match &registration.stage {
        RegStage::Refreshing => "is read first",
        RegStage::Importing => "is imported first",
        RegStage::Checking if registration.goal.kind == ResourceKind::Provider => {
            "waits for CheckConfig"
        }
        RegStage::Checking => "waits for Check",
        RegStage::Consulting(_) => "waits for policy packs",
        RegStage::Waiting(Turn::Decide) => "waits to be decided",
        RegStage::Waiting(Turn::Diffed(_)) => "waits to be decided after Diff",
        RegStage::Waiting(Turn::Replace(_)) => "waits to be replaced",
        RegStage::DiffingProvider => "waits for DiffConfig",
        RegStage::Diffing => "waits for Diff",
        RegStage::Rechecking(_) | RegStage::RecheckingDeleted => {
            "waits for Check of its replacement"
        }
        RegStage::Collecting(_) => "waits for the comparison of its dependents",
        RegStage::Stepping => "waits for its steps",
        RegStage::Done => "is decided, but not answered",
    }
}
