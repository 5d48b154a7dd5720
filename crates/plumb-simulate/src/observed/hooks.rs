//! Hooks before and after steps, and after errors.

use std::collections::BTreeSet;

use plumb_resource::{HookType, StepOp};

use super::Observed;
use crate::story::Verb;
use crate::world::{Moment, StepRecord};

/// Ids of a family for creations, updates and deletions.
type Three = [&'static str; 3];

const FAILS_ALONE: Three = ["ERRHOOK-06", "ERRHOOK-08", "ERRHOOK-10"];
const WORKS_AGAIN: Three = ["ERRHOOK-05", "ERRHOOK-07", "ERRHOOK-09"];
const STANDS: Three = ["ERRHOOK-11", "ERRHOOK-12", "ERRHOOK-13"];
const IN_VAIN: Three = ["ERRHOOK-19", "ERRHOOK-20", "ERRHOOK-21"];
const BY_ITSELF: Three = ["ERRHOOK-22", "ERRHOOK-23", "ERRHOOK-24"];

/// Index of an operation in [`Three`].
fn place(op: StepOp) -> Option<usize> {
    match op {
        StepOp::Create | StepOp::CreateReplacement => Some(0),
        StepOp::Update => Some(1),
        StepOp::Delete | StepOp::DeleteReplaced => Some(2),
        _ => None,
    }
}

impl Observed<'_> {
    /// Names of the hooks of a step: those in the program, or for deletions the recorded ones.
    fn hooks_of(&self, step: &StepRecord, at: HookType) -> Vec<String> {
        let hooks = if place(step.op) == Some(2) {
            self.old(&step.urn).map(|old| old.hooks.clone())
        } else {
            self.res(&step.urn).map(crate::story::Res::hooks)
        };
        let names = hooks.as_ref().and_then(|hooks| hooks.get(&at));
        let names = names.into_iter().flatten();
        names.map(ToString::to_string).collect()
    }

    pub(super) fn hooks(&self, when: &mut impl FnMut(&'static str, bool)) {
        if !self.is_real() {
            let has_hooks =
                |step: &StepRecord| !self.hooks_of(step, HookType::BeforeCreate).is_empty();
            when("HOOK-01", self.ended().any(has_hooks));
            return;
        }
        let mut tried: [BTreeSet<usize>; 3] = Default::default();
        for moment in &self.trace.moments {
            match moment {
                Moment::Again(number) => {
                    if let Some(at) = place(self.trace.steps[*number].op) {
                        tried[at].insert(*number);
                        when("ERRHOOK-25", at == 0);
                    }
                }
                Moment::Ended(number) => self.after_success(*number, &tried, when),
                Moment::Failed(number) => self.after_failure(*number, &tried, when),
                _ => {}
            }
        }
        for (at, numbers) in tried.iter().enumerate() {
            when(BY_ITSELF[at], numbers.len() > 1);
        }
    }

    fn after_success(
        &self,
        number: usize,
        tried: &[BTreeSet<usize>; 3],
        when: &mut impl FnMut(&'static str, bool),
    ) {
        let step = &self.trace.steps[number];
        let Some(at) = place(step.op) else { return };
        let was_tried = tried[at].contains(&number);
        when(WORKS_AGAIN[at], was_tried);
        let is_silent = !was_tried && !self.hooks_of(step, HookType::OnError).is_empty();
        when("ERRHOOK-14", at == 1 && is_silent);
        when("ERRHOOK-15", at == 2 && is_silent);
        let has = |hook, name: &str| self.hooks_of(step, hook).iter().any(|it| it == name);
        when("HOOK-02", at == 0 && has(HookType::AfterCreate, "fine"));
        when("HOOK-15", at == 0 && has(HookType::AfterCreate, "bad"));
        when("HOOK-19", at == 0 && has(HookType::AfterCreate, "lenient"));
        when("HOOK-20", at == 0 && has(HookType::BeforeCreate, "lenient"));
        let is_left = self.res(&step.urn).is_none();
        let is_up = self.is(Verb::Up);
        when(
            "HOOK-06",
            at == 2 && is_up && is_left && has(HookType::AfterDelete, "fine"),
        );
        when("HOOK-17", at == 2 && has(HookType::AfterDelete, "bad"));
        let destroys = self.is(Verb::Destroy) && self.flags().run_program;
        let hooks = [HookType::BeforeDelete, HookType::AfterDelete];
        let has_any = hooks.iter().any(|hook| has(*hook, "fine"));
        when("HOOK-11", at == 2 && destroys && has_any);
    }

    fn after_failure(
        &self,
        number: usize,
        tried: &[BTreeSet<usize>; 3],
        when: &mut impl FnMut(&'static str, bool),
    ) {
        let step = &self.trace.steps[number];
        let Some(at) = place(step.op) else { return };
        let names = self.hooks_of(step, HookType::OnError);
        let mut faults = self.operation.faults.iter();
        let is_by_provider = faults.any(|fault| fault.name == step.urn.name());
        when(FAILS_ALONE[at], names.is_empty() && is_by_provider);
        when(IN_VAIN[at], tried[at].contains(&number));
        let says_no = !names.is_empty() && names.iter().all(|name| name == "enough");
        when(STANDS[at], says_no && is_by_provider);
    }
}
