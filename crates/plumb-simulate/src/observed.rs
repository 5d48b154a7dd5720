//! Behaviours that can be observed from outside: in the states before and after a run, its steps, and its replies.
//!
//! This module only counts behaviours; the model and the checks decide whether a run is correct.

mod hooks;
mod states;

use plumb_events::OperationResult;
use plumb_resource::{OperationType, ResourceKind, ResourceState, StepOp, Urn};

use crate::coverage::Coverage;
use crate::story::{Flags, Operation, Res, Verb};
use crate::world::{Moment, StepRecord, Trace, World};

/// A run, with the worlds before and after it.
struct Observed<'a> {
    before: &'a World,
    after: &'a World,
    operation: &'a Operation,
    trace: &'a Trace,
}

/// Counts the behaviours of a correct run.
pub(crate) fn note(
    before: &World,
    after: &World,
    operation: &Operation,
    trace: &Trace,
    coverage: &mut Coverage,
) {
    let observed = Observed {
        before,
        after,
        operation,
        trace,
    };
    let mut ids: Vec<&'static str> = Vec::new();
    let mut when = |id: &'static str, is_reached: bool| {
        if is_reached {
            ids.push(id);
        }
    };
    observed.operations(&mut when);
    observed.selections(&mut when);
    observed.destroys(&mut when);
    observed.refreshes(&mut when);
    observed.requests(&mut when);
    observed.snippets(&mut when);
    observed.states(&mut when);
    observed.hooks(&mut when);
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        coverage.reach(id);
    }
}

impl Observed<'_> {
    fn flags(&self) -> &Flags {
        &self.operation.flags
    }

    fn is(&self, verb: Verb) -> bool {
        self.operation.verb == verb
    }

    fn is_real(&self) -> bool {
        !self.operation.preview
    }

    fn is_well(&self) -> bool {
        self.trace.result() == Some(OperationResult::Succeeded)
    }

    fn ended(&self) -> impl Iterator<Item = &StepRecord> {
        self.trace.moments.iter().filter_map(|moment| match moment {
            Moment::Ended(number) => Some(&self.trace.steps[*number]),
            _ => None,
        })
    }

    fn failed(&self) -> impl Iterator<Item = &StepRecord> {
        self.trace.moments.iter().filter_map(|moment| match moment {
            Moment::Failed(number) => Some(&self.trace.steps[*number]),
            _ => None,
        })
    }

    fn has_ended(&self, op: StepOp) -> bool {
        self.ended().any(|step| step.op == op)
    }

    /// Registration with this URN in the program.
    fn res(&self, urn: &Urn) -> Option<&Res> {
        let res = self.operation.program.get(urn.name())?;
        (self.operation.program.urn_of(res) == *urn).then_some(res)
    }

    /// Old state of a resource, unless it was pending deletion.
    fn old(&self, urn: &Urn) -> Option<&ResourceState> {
        let mut states = self.before.snapshot.resources.iter();
        states
            .find(|state| state.urn == *urn && !state.delete)
            .map(AsRef::as_ref)
    }

    /// Whether the object of a state did not exist before the run.
    fn had_gone(&self, state: &ResourceState) -> bool {
        state.kind == ResourceKind::Custom
            && !state.pending_replacement
            && !self.before.cloud.has(state.id.as_str())
    }

    fn operations(&self, when: &mut impl FnMut(&'static str, bool)) {
        let before = &self.before.snapshot;
        let pending = |wanted: bool| {
            let mut all = before.pending_operations.iter();
            all.any(|it| (it.operation == OperationType::Creating) == wanted)
        };
        let has_pending = !before.pending_operations.is_empty();
        let (up, real, well) = (self.is(Verb::Up), self.is_real(), self.is_well());
        let program = &self.operation.program;
        let is_empty = program.resources.is_empty() && before.resources.is_empty();
        when("PULUMI-01", up && real && well && is_empty);
        when("PULUMI-11", !real && well && has_pending);
        when("PULUMI-14", up && real && well && has_pending);
        let refreshes = self.flags().refresh;
        when(
            "PULUMI-12",
            up && real && refreshes && well && pending(false),
        );
        let after = &self.after.snapshot.pending_operations;
        let is_creating = after
            .iter()
            .any(|it| it.operation == OperationType::Creating);
        let keeps = self.is(Verb::Refresh) && real && pending(true) && is_creating;
        when("PULUMI-13", keeps);
        when(
            "PREVIEW-01",
            up && !real && well && refreshes && self.flags().run_program,
        );
        let broke = up && real && self.trace.program_failed;
        let deletes = self
            .trace
            .steps
            .iter()
            .any(|step| step.op == StepOp::Delete);
        when(
            "PULUMI-54",
            broke && !deletes && !before.resources.is_empty(),
        );
        let mut moments = self.trace.moments.iter();
        let is_of_stack = |name: &String| program.get(name).is_some_and(Res::is_stack);
        let told = moments.any(|it| matches!(it, Moment::Outputs(name) if is_of_stack(name)));
        when("PULUMI-50", broke && told);
        let goes_on = self.flags().continue_on_error;
        let creates = self.failed().any(|step| step.op == StepOp::Create);
        when(
            "COE-07",
            up && goes_on && creates && self.has_ended(StepOp::Delete),
        );
    }

    fn selections(&self, when: &mut impl FnMut(&'static str, bool)) {
        let flags = self.flags();
        if flags.targets.is_empty() && flags.excludes.is_empty() || !self.is_well() {
            return;
        }
        let (targets, excludes) = (!flags.targets.is_empty(), !flags.excludes.is_empty());
        let (up, refresh) = (self.is(Verb::Up), self.is(Verb::Refresh));
        when("TARGET-11", up && targets);
        let created = |name: &String| {
            let mut ended = self.ended();
            ended.any(|step| step.op == StepOp::Create && step.urn.name() == name)
        };
        when("TARGET-12", up && flags.targets.iter().any(created));
        let left_out = |name: &String| {
            let res = self.operation.program.get(name);
            res.is_some_and(|res| {
                let urn = self.operation.program.urn_of(res);
                let mut after = self.after.snapshot.resources.iter();
                self.old(&urn).is_none() && !after.any(|state| state.urn == urn)
            })
        };
        let real = self.is_real();
        when(
            "TARGET-03",
            up && real && flags.excludes.iter().any(left_out),
        );
        when(
            "TARGET-08",
            up && flags.excludes.iter().any(|it| it.contains('*')),
        );
        let program = flags.run_program;
        when(
            "TARGET-01",
            refresh && !program && targets && flags.target_dependents,
        );
        when("TARGET-09", refresh && !program && excludes);
        when(
            "TARGET-10",
            refresh && !program && excludes && flags.exclude_dependents,
        );
        when("REFRESH-34", refresh && program && excludes);
        when("REFRESH-35", refresh && program && targets);
        let in_state_alone = |name: &String| {
            let mut states = self.before.snapshot.resources.iter();
            let is_there = states.any(|state| state.urn.name() == name);
            is_there && self.operation.program.get(name).is_none()
        };
        let only = flags.targets.iter().any(in_state_alone);
        when("REFRESH-30", refresh && program && only);
    }

    fn destroys(&self, when: &mut impl FnMut(&'static str, bool)) {
        if !self.is(Verb::Destroy) {
            return;
        }
        let flags = self.flags();
        let (real, well, program) = (self.is_real(), self.is_well(), flags.run_program);
        let (targets, excludes) = (!flags.targets.is_empty(), !flags.excludes.is_empty());
        when("TARGET-02", well && targets && flags.target_dependents);
        when("TARGET-06", well && excludes && flags.exclude_dependents);
        when("DESTROY-02", well && program && targets);
        let mut resources = self.operation.program.resources.iter();
        let has_components = resources.any(|res| res.is_component() && !res.is_stack());
        when("DESTROY-05", well && program && has_components);
        when("DESTROY-08", program && self.has_ended(StepOp::Discard));
        let mut errors = self.trace.errors.iter();
        let is_guarded = errors.any(|error| error.contains("cannot be deleted"));
        when("DESTROY-10", program && is_guarded);
        let to_go = |world: &World| world.snapshot.resources.iter().any(|it| it.delete);
        let waited = to_go(self.before);
        when("PDEL-02", real && well && !targets && !excludes && waited);
        when(
            "PDEL-03",
            real && well && targets && waited && to_go(self.after),
        );
        let mut guarded = self.before.snapshot.resources.iter();
        let is_protected = guarded.any(|state| state.protect && !state.delete);
        let all = !targets && !excludes && real && well;
        when("PROTECT-07", flags.ignore_protect && is_protected && all);
    }

    fn refreshes(&self, when: &mut impl FnMut(&'static str, bool)) {
        let (refresh, program) = (self.is(Verb::Refresh), self.flags().run_program);
        let reads = || self.ended().filter(|step| step.op == StepOp::Refresh);
        let is_cut = self.trace.result() == Some(OperationResult::Canceled);
        when("REFRESH-10", refresh && is_cut && reads().next().is_some());
        let is_external = |step: &StepRecord| self.old(&step.urn).is_some_and(|old| old.external);
        when("REFRESH-02", reads().any(is_external));
        let (real, well) = (self.is_real(), self.is_well());
        when(
            "REFRESH-13",
            refresh && program && well && !self.trace.answers.is_empty(),
        );
        let is_left = |step: &StepRecord| self.res(&step.urn).is_none() && step.is_custom;
        when("REFRESH-17", refresh && program && reads().any(is_left));
        let mut failed = self.failed();
        let has_failed = failed.any(|step| step.op == StepOp::Refresh);
        when("REFRESH-26", refresh && program && has_failed);
        let gone = self.before.snapshot.resources.iter();
        let gone = gone.filter(|state| !state.delete && self.had_gone(state));
        for state in gone.filter(|_| real && well) {
            let res = self.res(&state.urn);
            let made = || {
                let mut ended = self.ended();
                ended.any(|step| step.op == StepOp::Create && step.urn == state.urn)
            };
            let (up, refreshes) = (self.is(Verb::Up), self.flags().refresh);
            when("REFRESH-12", up && refreshes && res.is_none());
            when("REFRESH-18", refresh && program && res.is_some());
            when("REFRESH-21", up && refreshes && program && made());
            let asks = state.refresh_before_update && !refreshes;
            when("RBU-02", up && asks && made());
        }
    }

    fn requests(&self, when: &mut impl FnMut(&'static str, bool)) {
        let program = &self.operation.program;
        let remote = |name: &String| program.get(name).is_some_and(|res| res.remote);
        let well = self.is_well();
        when("COMP-01", well && self.trace.answers.keys().any(remote));
        when("COMP-10", well && !self.trace.results.is_empty());
        let holds_remote = |name: &String| {
            let mut below = program.resources.iter();
            below.any(|res| res.remote && res.parent.as_ref() == Some(name))
        };
        let targets = !self.flags().targets.is_empty();
        let destroys = self.is(Verb::Destroy) && self.flags().run_program;
        for moment in &self.trace.moments {
            match moment {
                Moment::Asked(number, _) => {
                    let needs = &program.asks[*number].needs;
                    when("INVOKE-03", needs.iter().any(remote));
                    when("INVOKE-04", needs.iter().any(holds_remote));
                }
                Moment::NotAsked(_) => {
                    when("INVOKE-07", self.is_real() && self.is(Verb::Up) && targets);
                    when("INVOKE-08", destroys);
                }
                _ => {}
            }
        }
        for (name, answer) in &self.trace.answers {
            let old = self.old(&answer.urn);
            let had_outputs = old.is_some_and(|old| !old.outputs.is_empty());
            let is_component = program.get(name).is_some_and(Res::is_component);
            let is_silent = answer.outputs.is_empty();
            when("PULUMI-32", is_component && had_outputs && is_silent);
        }
    }

    fn snippets(&self, when: &mut impl FnMut(&'static str, bool)) {
        let (flags, program) = (self.flags(), &self.operation.program);
        let mut started = 0;
        for moment in &self.trace.moments {
            match moment {
                Moment::SnippetStarted(_) => started += 1,
                Moment::Awaited(it, Ok(_)) => {
                    let res = program.get(&it.name);
                    when("PCL-12", res.is_some_and(|res| res.snippet.is_some()));
                    when("PCL-10", res.is_some_and(Res::is_component));
                }
                _ => {}
            }
        }
        when("PCL-05", started > 1);
        if started == 0 {
            return;
        }
        let stores = !flags.stores.is_empty() || !flags.removes.is_empty();
        when("PCL-19", self.is_real() && self.is_well() && stores);
        for step in self.ended() {
            let res = self.res(&step.urn).filter(|res| res.snippet.is_some());
            let Some(res) = res else { continue };
            when("PCL-16", res.parent.is_some());
            let others = !res.depends_on.is_empty() || !res.replace_with.is_empty();
            when("PCL-15", others || res.deleted_with.is_some());
            when(
                "PCL-14",
                res.protect.is_some() || !res.ignore_changes.is_empty(),
            );
            let is_meant = res.snippet.as_ref();
            let is_meant = is_meant.is_some_and(|it| flags.target_snippets.contains(it));
            when("PCL-22", step.op == StepOp::Create && is_meant);
        }
        let mut after = self.after.snapshot.resources.iter();
        when(
            "PCL-21",
            self.is_real() && after.any(|it| it.snippet_id.is_some()),
        );
    }
}
