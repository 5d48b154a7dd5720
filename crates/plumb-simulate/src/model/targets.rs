//! Targets and excludes (`engine.md` 4.1, 4.7, 7.2).

use std::collections::BTreeSet;

use plumb_resource::{ProviderRef, ResourceKind, ResourceState, StepOp, Urn};
use rustc_hash::FxHashSet;

use super::Model;
use super::decide::renamed;
use super::steps::{Plan, Way};
use crate::story::{Operation, Verb};
use crate::world::World;

/// Targets and excludes of the command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Targets {
    named: Vec<String>,
    excludes: Vec<String>,
    replaced: Vec<String>,
    snippets: Vec<String>,
    with_dependents: bool,
    without_dependents: bool,
    targeted: BTreeSet<Urn>,
    excluded: BTreeSet<Urn>,
}

/// Whether `pattern` matches `urn`: `**` matches anything, `*` anything without a colon.
fn names(pattern: &str, urn: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else {
        return pattern == urn;
    };
    let Some(rest) = urn.strip_prefix(head) else {
        return false;
    };
    let (any, tail) = match tail.strip_prefix('*') {
        Some(tail) => (true, tail),
        None => (false, tail),
    };
    (0..=rest.len())
        .filter(|at| any || !rest[..*at].contains(':'))
        .any(|at| names(tail, &rest[at..]))
}

fn any_names(patterns: &[String], urn: &Urn) -> bool {
    patterns.iter().any(|pattern| names(pattern, urn.as_str()))
}

impl Targets {
    pub(super) fn new(world: &World, operation: &Operation) -> Self {
        let flags = &operation.flags;
        Targets {
            named: world.urns_of(operation, &flags.targets),
            excludes: world.urns_of(operation, &flags.excludes),
            replaced: world.urns_of(operation, &flags.replace),
            snippets: flags.target_snippets.clone(),
            with_dependents: flags.target_dependents,
            without_dependents: flags.exclude_dependents,
            ..Targets::default()
        }
    }

    pub(super) fn is_replaced(&self, urn: &Urn) -> bool {
        any_names(&self.replaced, urn)
    }

    pub(super) fn is_constrained(&self) -> bool {
        self.has_targets() || !self.excludes.is_empty()
    }

    /// Whether the operation has targets or excludes.
    pub(super) fn has_targets(&self) -> bool {
        !self.named.is_empty() || self.has_snippets()
    }

    pub(super) fn has_snippets(&self) -> bool {
        !self.snippets.is_empty()
    }

    /// Whether a resource belongs to a targeted snippet.
    pub(super) fn has_snippet_of(&self, state: &ResourceState) -> bool {
        let uuid = state.snippet_id.as_ref();
        uuid.is_some_and(|uuid| self.snippets.iter().any(|it| it == uuid))
    }

    pub(super) fn has_excludes(&self) -> bool {
        !self.excludes.is_empty()
    }

    /// Starts a new phase.
    pub(super) fn forget(&mut self) {
        self.targeted.clear();
        self.excluded.clear();
    }
}

impl Model<'_> {
    /// Whether a registration is targeted. Providers and the stack always are.
    pub(super) fn is_included(&self, state: &ResourceState) -> bool {
        state.kind == ResourceKind::Provider || state.urn.is_root_stack() || self.is_selected(state)
    }

    pub(super) fn is_selected(&self, state: &ResourceState) -> bool {
        self.selects(state, &state.references_and_provider().collect::<Vec<_>>())
    }

    /// Whether an entry is targeted by a refresh, in which users of a provider do not follow it.
    pub(super) fn is_selected_for_refresh(&self, state: &ResourceState) -> bool {
        self.selects(state, &state.references().collect::<Vec<_>>())
    }

    fn selects(&self, state: &ResourceState, needs: &[&Urn]) -> bool {
        let targets = &self.targets;
        let follows = |urns: &BTreeSet<Urn>, patterns: &[String]| {
            let is_one = |urn: &&Urn| urns.contains(*urn) || any_names(patterns, urn);
            needs.iter().any(is_one)
        };
        if targets.has_targets() {
            return any_names(&targets.named, &state.urn)
                || targets.has_snippet_of(state)
                || (targets.with_dependents && follows(&targets.targeted, &targets.named));
        }
        !(any_names(&targets.excludes, &state.urn)
            || (targets.without_dependents && follows(&targets.excluded, &targets.excludes)))
    }

    pub(super) fn note_target(&mut self, state: &ResourceState, included: bool) {
        let implicit = state.kind == ResourceKind::Provider || state.urn.is_root_stack();
        if included && implicit && !self.is_selected(state) {
            return;
        }
        self.note_selected(&state.urn.clone(), included);
    }

    pub(super) fn note_selected(&mut self, urn: &Urn, is_selected: bool) {
        if is_selected {
            self.targets.targeted.insert(urn.clone());
        } else {
            self.targets.excluded.insert(urn.clone());
        }
    }

    fn literals_exist(&mut self, lists: &[&[String]], also_seen: bool) -> bool {
        let mut missing = false;
        for text in lists
            .iter()
            .flat_map(|list| list.iter())
            .filter(|text| !text.contains('*'))
        {
            let in_state = self.nodes[..self.olds].iter().any(|node| {
                node.state.urn.as_str() == text
                    && (node.was_live || node.state.delete || !node.gone)
            });
            let seen = also_seen && Urn::parse(text).is_ok_and(|urn| self.fate(&urn).seen);
            missing |= !in_state && !seen;
        }
        if missing {
            self.reason("a target does not exist");
            self.must_end = true;
        }
        !missing
    }

    pub(super) fn targets_exist_before(&mut self) -> bool {
        let (targets, excludes) = (self.targets.named.clone(), self.targets.excludes.clone());
        let replaced = self.targets.replaced.clone();
        match self.operation.verb {
            Verb::Refresh | Verb::Destroy => {
                self.literals_exist(&[&targets, &excludes, &replaced], false)
            }
            _ => self.literals_exist(&[&replaced], false),
        }
    }

    pub(super) fn refresh_targets_exist(&mut self) -> bool {
        if self.operation.verb == Verb::Up && self.olds == 0 {
            return true;
        }
        let (targets, excludes) = (self.targets.named.clone(), self.targets.excludes.clone());
        self.literals_exist(&[&targets, &excludes], false)
    }

    pub(super) fn targets_exist_after(&mut self) -> bool {
        let targets = self.targets.named.clone();
        self.literals_exist(&[&targets], true)
    }

    /// Keeps an untargeted resource unchanged, under the name that it has in the state.
    pub(super) fn untargeted_same(&mut self, number: usize, node: usize) {
        self.coverage.reach("TARGET-24");
        let old = self.state(node).clone();
        let wanted = &self.registrations[number].wanted.state.provider;
        if let Some(provider) = &old.provider {
            let registered = self.news.get(self.current(provider.urn()));
            let there = registered.is_some_and(|node| {
                let reference = self.state(*node).as_provider_ref();
                reference.is_some_and(|it| it.id() == provider.id())
            });
            let other = wanted.as_ref().is_some_and(|it| it.urn() != provider.urn());
            let there = there || self.loaded.contains(&provider.to_string());
            let was_there = self.live_old(provider.urn()).is_some_and(|node| {
                let reference = self.state(node).as_provider_ref();
                reference.is_some_and(|it| it.id() == provider.id())
            });
            if !there && (other || !was_there || self.fate(provider.urn()).seen) {
                self.coverage.reach("TARGET-37");
                return self.refuse(number, "the provider has not been registered yet");
            }
        }
        if old.urn != self.registrations[number].wanted.state.urn {
            self.keeps_name.insert(old.urn.clone());
        }
        self.keep_as(number, node, &old.urn);
    }

    /// Keeps the old state of a registration under its new name, after the entries that it refers to.
    pub(super) fn keep(&mut self, number: usize, node: usize) {
        let urn = self.registrations[number].wanted.state.urn.clone();
        self.keep_as(number, node, &urn);
    }

    fn keep_as(&mut self, number: usize, node: usize, urn: &Urn) {
        let wanted = self.registrations[number].wanted.state.urn.clone();
        self.pass_on_what_it_needs(node);
        self.fate_mut(&wanted).same = true;
        self.fate_mut(urn).same = true;
        let state = renamed(self.state(node), urn);
        let step = Plan::new(StepOp::Same, urn)
            .old(Some(node))
            .new_state(state)
            .way(Way::Untargeted);
        self.proceed(number, vec![step]);
    }

    /// Notes the references of a kept state.
    pub(super) fn keep_needs(&mut self, state: &ResourceState) {
        self.keeps_something = true;
        self.kept_providers
            .extend(state.provider.as_ref().map(ToString::to_string));
    }

    /// Keeps unprocessed entries that an old state refers to, so that they come before it.
    fn pass_on_what_it_needs(&mut self, node: usize) {
        let state = self.state(node).clone();
        self.keep_needs(&state);
        for urn in state.references_and_provider() {
            self.pass_on(urn);
        }
    }

    /// Keeps unprocessed entries that a targeted resource refers to, so that they come before it.
    pub(super) fn pass_on_references(&mut self, state: &ResourceState) {
        if self.targets.has_targets() {
            for urn in state.references() {
                self.pass_on(urn);
            }
        }
    }

    fn pass_on(&mut self, urn: &Urn) {
        let fate = self.fate(urn);
        if fate.is_processed() || fate.seen || self.aliased.contains_key(urn) {
            return;
        }
        let Some(need) = self.live_old(urn) else {
            return;
        };
        self.fate_mut(urn).same = true;
        self.passed_on.insert(urn.clone());
        self.pass_on_what_it_needs(need);
        if self.operation.verb == Verb::Destroy {
            self.condemned.push(need);
        }
    }

    /// Keeps an unregistered provider from the state, before its users.
    pub(super) fn pass_provider_on(&mut self, provider: &ProviderRef) {
        let fate = self.fate(provider.urn());
        let is_up = self.loaded.contains(&provider.to_string());
        if !is_up && !fate.is_processed() && !fate.seen && self.live_old(provider.urn()).is_some() {
            self.fate_mut(provider.urn()).same = true;
            self.passed_on.insert(provider.urn().clone());
        }
    }

    pub(super) fn refers_to_what_will_be_there(&mut self, steps: &[Plan]) -> bool {
        self.depends_on_nothing_skipped(steps) && self.closes_no_circle(steps)
    }

    /// Checks that kept resources do not refer to resources that now refer to them.
    fn closes_no_circle(&mut self, steps: &[Plan]) -> bool {
        let mut news = steps.iter().filter_map(|step| step.new.as_ref());
        // Resources of a snippet that does not run are not registered, and their dependencies may not be either.
        let is_left = self.keeps_something || self.targets.has_snippets();
        // A resource whose step failed keeps its old references. Steps of its dependents are skipped, so they close no circle.
        let is_left_out = |new: &ResourceState| {
            let mut needs = new.references();
            self.operation.flags.continue_on_error && needs.any(|urn| self.fate(urn).errored)
        };
        let closes = is_left && news.any(|new| !is_left_out(new) && self.leads_to(new, &new.urn));
        if closes {
            self.reason("resources would depend on each other");
            self.must_end = true;
        }
        !closes
    }

    pub(super) fn leads_to(&self, state: &ResourceState, urn: &Urn) -> bool {
        let present = |next: &Urn| self.current(next).clone();
        let mut seen: FxHashSet<Urn> = FxHashSet::default();
        let mut found: Vec<Urn> = state.references_and_provider().map(present).collect();
        while let Some(next) = found.pop() {
            if next == *urn {
                return true;
            }
            let node = self.news.get(&next).copied().or(self.live_old(&next));
            if let Some(node) = node.filter(|_| seen.insert(next)) {
                found.extend(self.state(node).references_and_provider().map(present));
            }
        }
        false
    }

    /// Checks that no targeted resource depends on a skipped one.
    fn depends_on_nothing_skipped(&mut self, steps: &[Plan]) -> bool {
        if !self.targets.is_constrained() && self.targets.replaced.is_empty() {
            return true;
        }
        let depends = steps
            .iter()
            .filter_map(|step| step.new.as_ref())
            .any(|new| {
                new.references_and_provider()
                    .any(|urn| self.fate(urn).skipped_create)
            });
        if !depends {
            return true;
        }
        self.coverage.reach("TARGET-14");
        self.reason("a targeted resource depends on one that is left out");
        if self.is_preview() {
            return true;
        }
        self.must_end = true;
        false
    }

    /// Entries that may be deleted; `None` for all.
    pub(super) fn deletable(&mut self) -> Option<FxHashSet<usize>> {
        if self.targets.has_targets() {
            return Some(self.named_and_dependents());
        }
        if self.targets.excludes.is_empty() {
            return None;
        }
        self.coverage.reach("TARGET-05");
        let kept = self.excluded_and_needed();
        let all = self.graph_order().into_iter();
        Some(
            all.filter(|node| !kept.contains(&self.state(*node).urn))
                .collect(),
        )
    }

    /// Whether a pattern matches the current or a former URN of a resource.
    fn is_named(&self, patterns: &[String], urn: &Urn) -> bool {
        let current = self.current(urn);
        let former = self.former.get(current);
        any_names(patterns, current) || former.is_some_and(|former| any_names(patterns, former))
    }

    /// Whether an entry is targeted, by its URN or its snippet, or by those of its successor.
    fn is_target(&self, state: &ResourceState) -> bool {
        let urn = self.current(&state.urn);
        let present = self.news.get(urn).copied().or(self.live_old(urn));
        let takes_its_place = |node| self.targets.has_snippet_of(self.state(node));
        self.is_named(&self.targets.named, &state.urn)
            || self.targets.has_snippet_of(state)
            || present.is_some_and(takes_its_place)
    }

    /// Targeted entries and their dependents. A dependent that no source registers is included only if the target is
    /// deleted; the deletion of a copy that is pending deletion does not affect dependents of the live one.
    fn named_and_dependents(&self) -> FxHashSet<usize> {
        let mut chosen: FxHashSet<usize> = FxHashSet::default();
        for node in self.graph_order() {
            let state = self.state(node);
            let leads = |other: &usize| {
                let other = &self.nodes[*other];
                other.was_live || !other.state.delete || state.delete
            };
            let above: FxHashSet<&Urn> = chosen
                .iter()
                .filter(|other| leads(other))
                .map(|other| &self.state(*other).urn)
                .collect();
            let stays = |urn: &Urn| {
                self.is_not_replayed(state) && self.fate(self.current(urn)).is_operated_on()
            };
            let follows = state.references_and_provider().any(|urn| {
                (above.contains(urn) || above.contains(self.current(urn))) && !stays(urn)
            });
            if follows || self.is_target(state) {
                chosen.insert(node);
            }
        }
        let live: FxHashSet<Urn> = chosen
            .iter()
            .map(|node| self.state(*node))
            .filter(|state| !state.delete)
            .map(|state| state.urn.clone())
            .collect();
        let copies = self.graph_order().into_iter().filter(|node| {
            let state = self.state(*node);
            state.delete && live.contains(&state.urn)
        });
        chosen.extend(copies);
        chosen
    }

    /// Excluded entries with their dependencies; with exclude-dependents, also the dependents of all these.
    pub(super) fn excluded_and_needed(&self) -> FxHashSet<Urn> {
        let targets = &self.targets;
        let order = self.graph_order();
        let mut kept: FxHashSet<Urn> = FxHashSet::default();
        let holds = |kept: &FxHashSet<Urn>, urn: &Urn| {
            kept.contains(urn) || kept.contains(self.current(urn))
        };
        let mut before = None;
        while before != Some(kept.len()) {
            before = Some(kept.len());
            for node in &order {
                let state = self.state(*node);
                let mut needs = state.references_and_provider();
                let spreads = targets.without_dependents && needs.any(|urn| holds(&kept, urn));
                if spreads || self.is_named(&targets.excludes, &state.urn) {
                    kept.insert(state.urn.clone());
                }
                // A copy pending deletion is kept with the live one.
                if holds(&kept, &state.urn) {
                    let needs = self.dependencies_of(*node, &order).into_iter();
                    kept.extend(needs.map(|node| self.state(node).urn.clone()));
                }
            }
        }
        kept
    }

    /// Checks that deletions are targeted explicitly if there is no target-dependents.
    pub(super) fn deletes_are_targeted(&mut self, going: &[usize]) -> bool {
        if !self.targets.has_targets() || self.targets.with_dependents {
            return true;
        }
        let all_named = going.iter().all(|node| self.is_target(self.state(*node)));
        if !all_named {
            self.coverage.reach("TARGET-30");
            self.reason("a resource would be deleted that is not targeted");
            // A preview displays the deletions, and fails at its end.
            self.must_end = !self.is_preview();
        }
        all_named || self.is_preview()
    }
}
