//! Targets and excludes: which resources an operation leaves as they are (`engine.md` 4.1, 4.7, 7.2).

use std::sync::Arc;

use plumb_resource::{ProviderRef, ResourceKind, ResourceState, StepOp, Urn};
use rustc_hash::FxHashSet;

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::graph::Copies;
use crate::facts::urn_flags::UrnFlag;
use crate::scope::circles::KeptReferences;
use crate::setup::Operation;
use crate::setup::target::UrnSet;
use crate::status::Failure;
use crate::step::{Step, StepKind};

/// The selection of a run, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Targeting {
    /// URNs that target-dependents and exclude-dependents have added.
    targets: FxHashSet<Urn>,
    excludes: FxHashSet<Urn>,
    /// URNs that resources outside the scope refer to.
    pub(crate) kept: KeptReferences,
    /// Providers of resources that are left as they are.
    pub(crate) kept_providers: FxHashSet<ProviderRef>,
    /// Resources that events show as skipped, because they depend on a creation that a destroy skips.
    pub(crate) shown_as_skipped: Vec<StateIdx>,
    /// Skipped creations that some dependent was reported for.
    reported_as_skipped: FxHashSet<Urn>,
    /// Same steps of untargeted resources that must come before the next step of a targeted one.
    pub(crate) queued_sames: Vec<Step>,
}

impl Targeting {
    /// Forgets what dependents have added.
    pub(crate) fn forget_dependents(&mut self) {
        self.targets.clear();
        self.excludes.clear();
    }
}

impl Deployment {
    pub(crate) fn is_constrained(&self) -> bool {
        self.ctx.options.has_targets() || self.ctx.options.excludes.is_constrained()
    }

    /// Whether the operation is about this resource. Providers and the root stack always belong to it.
    pub(crate) fn is_included(&self, state: &ResourceState) -> bool {
        let belongs = state.kind == ResourceKind::Provider || state.urn.is_root_stack();
        belongs || self.is_selected(state)
    }

    /// Whether the operation is about `state` because of what the command line names; a provider is a dependency of its
    /// users.
    pub(crate) fn is_selected(&self, state: &ResourceState) -> bool {
        self.is_selected_by(state, self.ctx.options.has_targets())
    }

    /// Whether the command line names `state` as a target, or as a dependent of one.
    pub(crate) fn is_target(&self, state: &ResourceState) -> bool {
        self.is_selected_by(state, true)
    }

    fn is_selected_by(&self, state: &ResourceState, by_targets: bool) -> bool {
        self.selects(state, state.references_and_provider(), by_targets)
    }

    /// Whether a refresh is about `state`. In a refresh, the users of a provider are not its dependents.
    pub(crate) fn is_selected_for_refresh(&self, state: &ResourceState) -> bool {
        self.selects(state, state.references(), self.ctx.options.has_targets())
    }

    /// Whether the operation is about `state`, by its own name or by the resources that it needs. What the command line
    /// names counts for dependents whether it is registered or not, as do providers, which belong to every operation:
    /// with `--exclude '**providers**' --exclude-dependents` every user of a provider is left out.
    fn selects<'a>(
        &self,
        state: &ResourceState,
        mut needs: impl Iterator<Item = &'a Urn>,
        by_targets: bool,
    ) -> bool {
        let options = &self.ctx.options;
        let Targeting {
            targets, excludes, ..
        } = &self.targeting;
        if by_targets {
            return options.targets.matches(&state.urn)
                || self.is_of_target_snippet(state)
                || (options.target_dependents
                    && needs.any(|urn| targets.contains(urn) || options.targets.matches(urn)));
        }
        if options.excludes.is_constrained() {
            return !(options.excludes.matches(&state.urn)
                || (options.exclude_dependents
                    && needs.any(|urn| excludes.contains(urn) || options.excludes.matches(urn))));
        }
        true
    }

    /// Adds `urn` to the selection, or to what it leaves out, so that its dependents follow it.
    pub(crate) fn note_selected(&mut self, urn: &Urn, is_selected: bool) {
        if is_selected {
            self.targeting.targets.insert(urn.clone());
        } else {
            self.targeting.excludes.insert(urn.clone());
        }
    }

    /// Literal targets must exist; the message tells how to quote a `$` if there is none in it.
    fn check_literals(
        &mut self,
        literals: &[String],
        exists: impl Fn(&Self, &str) -> bool,
    ) -> bool {
        let mut all_there = true;
        for text in literals {
            if exists(self, text) {
                continue;
            }
            all_there = false;
            let mut message = format!("Target '{text}' could not be found in the stack.");
            if !text.contains('$') {
                message.push_str(" Did you forget to escape $ in your shell?");
            }
            self.error(None, &message);
        }
        all_there
    }

    fn exists_in_base(&self, text: &str) -> bool {
        Urn::parse(text).is_ok_and(|urn| self.urns.of_base(&urn).is_some())
            || self
                .olds
                .order()
                .iter()
                .any(|idx| self.arena.state(*idx).urn.as_str() == text)
    }

    /// Why a refresh or a destroy cannot begin: the first target or exclude that the state does not have.
    pub(crate) fn missing_target(&self) -> Option<String> {
        if !matches!(self.ctx.operation, Operation::Destroy | Operation::Refresh) {
            return None;
        }
        let options = &self.ctx.options;
        let mut named = options
            .targets
            .literals()
            .chain(options.excludes.literals());
        let missing = named.find(|text| !self.exists_in_base(text))?;
        Some(format!("no resource named '{missing}' found"))
    }

    /// Replacements that an update is asked for by name must exist before the program runs.
    pub(crate) fn check_targets_before_program(&mut self) -> bool {
        let literals: Vec<String> = self
            .ctx
            .options
            .replace_targets
            .literals()
            .map(str::to_owned)
            .collect();
        self.check_literals(&literals, |deployment, text| {
            deployment.exists_in_base(text)
        })
    }

    /// Checks that the targets of a refresh phase exist. Before the first update of a stack there is nothing to refresh, and
    /// the update may create what the targets name.
    pub(crate) fn check_refresh_targets(&mut self) -> bool {
        if self.ctx.operation == Operation::Update && self.olds.order().is_empty() {
            return true;
        }
        let options = &self.ctx.options;
        let literals: Vec<String> = options
            .targets
            .literals()
            .chain(options.excludes.literals())
            .map(str::to_owned)
            .collect();
        self.check_literals(&literals, |deployment, text| {
            deployment.exists_in_base(text)
        })
    }

    /// Checks, once the program has registered everything, that every target exists.
    pub(crate) fn check_targets_after_program(&mut self) -> bool {
        let literals: Vec<String> = self
            .ctx
            .options
            .targets
            .literals()
            .map(str::to_owned)
            .collect();
        self.check_literals(&literals, |deployment, text| {
            deployment.exists_in_base(text)
                || Urn::parse(text).is_ok_and(|urn| deployment.urns.has(&urn, UrnFlag::Seen))
        })
    }

    /// Deletes that targets do not name are errors, unless dependents of targets may go too.
    pub(crate) fn check_untargeted_deletes(&mut self, deletes: &[StateIdx]) -> bool {
        let options = &self.ctx.options;
        if !options.has_targets() || options.target_dependents {
            return true;
        }
        let untargeted: Vec<Urn> = deletes
            .iter()
            .map(|idx| self.arena.state(*idx))
            .filter(|state| !self.is_targeted_by_name(state))
            .map(|state| state.urn.clone())
            .collect();
        for urn in &untargeted {
            let message = format!(
                "Resource '{urn}' will be destroyed but was not specified in --target list.\nEither include resource \
                 in --target list or pass --target-dependents to proceed."
            );
            self.error(Some(urn), &message);
        }
        untargeted.is_empty()
    }

    /// Whether `names` has a resource, by the URN that it has now or the one that it had before.
    fn is_named(&self, names: &UrnSet, urn: &Urn) -> bool {
        let current = self.current_urn(urn);
        let former = self.aliases.former.get(current);
        names.matches(current) || former.is_some_and(|former| names.matches(former))
    }

    fn is_targeted_by_name(&self, state: &ResourceState) -> bool {
        self.is_named(&self.ctx.options.targets, &state.urn)
            || self.is_of_target_snippet(state)
            || self.is_taken_by_target_snippet(state)
    }

    /// Whether a resource of a snippet among the targets has taken the place of a state, which may be of others.
    fn is_taken_by_target_snippet(&self, state: &ResourceState) -> bool {
        if self.ctx.options.target_snippets.is_empty() {
            return false;
        }
        let present = self.urns.latest(self.current_urn(&state.urn));
        present.is_some_and(|present| self.is_of_target_snippet(self.arena.state(present)))
    }

    /// Targets and everything in the base that depends on them, children included. A copy that is due for deletion is deleted
    /// with the live one, and with its dependencies; the live one is not deleted because a copy is.
    pub(crate) fn targets_and_dependents(&self) -> FxHashSet<StateIdx> {
        let mut selected: FxHashSet<StateIdx> = FxHashSet::default();
        let mut urns: FxHashSet<&Urn> = FxHashSet::default();
        let mut live_urns: FxHashSet<&Urn> = FxHashSet::default();
        let everything = self.everything();
        // A state that this run deleted before its replacement was live before, and has dependents like any other.
        let is_due = |idx: StateIdx, state: &ResourceState| {
            let was_live = self.urns.of_base(&state.urn) == Some(idx);
            state.delete && !state.pending_replacement && !was_live
        };
        for idx in &everything {
            let state = self.arena.state(*idx);
            let above = if state.delete { &urns } else { &live_urns };
            // What no source registers in this run goes only if what it needs goes.
            let stays = |urn: &Urn| {
                self.is_of_snippet_not_replayed(state)
                    && self.urns.is_operated_on(self.current_urn(urn))
            };
            let follows = state.references_and_provider().any(|urn| {
                (above.contains(urn) || above.contains(self.current_urn(urn))) && !stays(urn)
            });
            if follows || self.is_targeted_by_name(state) {
                selected.insert(*idx);
                urns.insert(&state.urn);
                if !is_due(*idx, state) {
                    live_urns.insert(&state.urn);
                }
            }
        }
        let chosen = selected.iter().map(|idx| self.arena.state(*idx));
        let is_live = |state: &&Arc<ResourceState>| !state.delete || state.pending_replacement;
        let live: FxHashSet<&Urn> = chosen.filter(is_live).map(|state| &state.urn).collect();
        let is_copy = |idx: &StateIdx| {
            let state = self.arena.state(*idx);
            state.delete && live.contains(&state.urn)
        };
        selected.extend(everything.iter().filter(|idx| is_copy(idx)));
        selected
    }

    /// Excluded resources and everything that they need; with exclude-dependents, what needs any of that too. Example: `i`
    /// and `j` use one provider, and `j` is excluded with its dependents. The provider stays for `j`, and `i` with it.
    pub(crate) fn excluded_and_dependencies(&self) -> FxHashSet<Urn> {
        let options = &self.ctx.options;
        let everything = self.everything();
        let order = self.delete_order(&everything);
        let states = everything.iter().map(|idx| self.arena.state(*idx));
        let named = states.filter(|state| self.is_named(&options.excludes, &state.urn));
        let mut excluded: FxHashSet<Urn> = named.map(|state| state.urn.clone()).collect();
        let mut before = 0;
        while before < excluded.len() {
            before = excluded.len();
            let is_excluded =
                |urn: &Urn| excluded.contains(urn) || excluded.contains(self.current_urn(urn));
            let needed = order.needed(Copies::All, |idx| is_excluded(&self.arena.state(idx).urn));
            let needed = needed
                .into_iter()
                .map(|idx| self.arena.state(idx).urn.clone());
            excluded.extend(needed.collect::<Vec<_>>());
            if options.exclude_dependents {
                self.exclude_dependents(&everything, &mut excluded);
            }
        }
        excluded
    }

    fn exclude_dependents(&self, everything: &[StateIdx], excluded: &mut FxHashSet<Urn>) {
        for state in everything.iter().map(|idx| self.arena.state(*idx)) {
            let mut needs = state.references_and_provider();
            if needs.any(|urn| excluded.contains(urn) || excluded.contains(self.current_urn(urn))) {
                excluded.insert(state.urn.clone());
            }
        }
    }

    /// Notes that a state which stays unchanged keeps its references, and its provider.
    pub(crate) fn keep_what_it_needs(&mut self, state: &ResourceState) {
        self.keep_references(state);
        self.targeting.kept_providers.extend(state.provider.clone());
    }

    /// Same steps for states that an untargeted resource refers to and that have no step yet, depth first.
    pub(crate) fn sames_of_dependencies(&mut self, idx: StateIdx, steps: &mut Vec<Step>) {
        let state = self.arena.state(idx).clone();
        self.keep_what_it_needs(&state);
        for urn in state.references_and_provider() {
            self.same_of_dependency(urn, steps);
        }
    }

    fn same_of_dependency(&mut self, urn: &Urn, steps: &mut Vec<Step>) {
        if self.urns.has_step(urn) || self.is_registered(urn) {
            return;
        }
        let Some(dependency) = self.urns.of_base(urn) else {
            return;
        };
        self.urns.mark(urn, UrnFlag::Same);
        self.sames_of_dependencies(dependency, steps);
        steps.push(self.untargeted_same_step(dependency));
    }

    /// Queues same steps for resources that a targeted resource refers to and that nothing has registered, because the
    /// snapshot must have them before it. Example: resources of snippets that are not targeted.
    pub(crate) fn queue_sames_before(&mut self, new: &ResourceState) {
        let mut steps = Vec::new();
        for urn in new.references() {
            self.same_of_dependency(urn, &mut steps);
        }
        self.targeting.queued_sames.append(&mut steps);
    }

    /// The program registers `urn`: that it was passed on as it was, for something that needs it, does not count any more.
    pub(crate) fn supersede(&mut self, urn: &Urn) {
        self.urns.unmark(urn, UrnFlag::Same);
        if self.report.passed_on.remove(urn)
            && let Some(count) = self.report.changes.get_mut(&StepOp::Same)
        {
            *count -= 1;
        }
    }

    /// A provider that is used from the old state alone must stay in the snapshot before its user.
    pub(crate) fn queue_untargeted_same(&mut self, provider: &Urn) {
        if self.urns.has_step(provider) || self.is_registered(provider) {
            return;
        }
        if let Some(idx) = self.urns.of_base(provider) {
            self.urns.mark(provider, UrnFlag::Same);
            let step = self.untargeted_same_step(idx);
            self.targeting.queued_sames.push(step);
        }
    }

    /// A step that passes a state on because something else needs it.
    pub(crate) fn untargeted_same_step(&self, idx: StateIdx) -> Step {
        let state = self.arena.state(idx).clone();
        kept_step(idx, state, false)
    }

    /// A step that passes a state on as `urn`, because the program registers it.
    pub(crate) fn untargeted_same_step_as(&self, idx: StateIdx, urn: &Urn) -> Step {
        let state = self.arena.state(idx);
        let new = if state.urn == *urn {
            state.clone()
        } else {
            Arc::new(state.renamed(urn))
        };
        kept_step(idx, new, true)
    }

    /// Whether everything that `steps` refer to will be there, before them.
    pub(crate) fn check_references(&mut self, steps: &[Step]) -> bool {
        self.check_skipped_creates(steps) && self.check_circles(steps)
    }

    fn check_skipped_creates(&mut self, steps: &[Step]) -> bool {
        let options = &self.ctx.options;
        if !self.is_constrained() && !options.replace_targets.is_constrained() {
            return true;
        }
        let why = if options.excludes.is_constrained() && !options.has_targets() {
            "is excluded and does not exist yet. Exclude what depends on it too, for example with \
             --exclude-dependents."
        } else {
            "was was not specified in --target list."
        };
        let reported = &self.targeting.reported_as_skipped;
        let mut missing: Vec<(Urn, Urn)> = Vec::new();
        for step in steps.iter().filter(|step| !step.is_skipped_create()) {
            let Some(new) = step.new_state() else {
                continue;
            };
            for urn in new.references_and_provider() {
                let is_known = reported.contains(urn) || missing.iter().any(|(_, it)| it == urn);
                if self.urns.has(urn, UrnFlag::SkippedCreate) && !is_known {
                    missing.push((step.urn.clone(), urn.clone()));
                }
            }
        }
        if missing.is_empty() {
            return true;
        }
        let is_preview = self.ctx.options.is_preview();
        // An update ends with the first one; a preview reports each once.
        missing.truncate(if is_preview { missing.len() } else { 1 });
        for (urn, dependency) in missing {
            let message = format!("Resource '{urn}' depends on '{dependency}' which {why}");
            self.error(Some(&urn), &message);
            self.targeting.reported_as_skipped.insert(dependency);
        }
        if is_preview {
            self.status.refuse_in_preview();
            return true;
        }
        self.fail(Failure::Refused);
        false
    }
}

fn kept_step(old: StateIdx, new: Arc<ResourceState>, is_registered: bool) -> Step {
    let urn = new.urn.clone();
    let kept = StepKind::Kept {
        old,
        is_registered,
        shown: None,
        new,
    };
    Step::new(urn, kept)
}
