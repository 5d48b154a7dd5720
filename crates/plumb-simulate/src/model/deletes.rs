//! Reads, and the deletes after the program (`engine.md` 4.2, 7.2).

use plumb_deploy::request::Outcome;
use plumb_resource::{ProviderRef, ResourceKind, StepOp, Urn};
use rustc_hash::FxHashSet;

use super::Model;
use super::chains::Owner;
use super::registrations::Registration;
use super::steps::{Plan, Way};
use crate::story::{Res, Verb};

impl Model<'_> {
    /// Handles a read of the program.
    pub(super) fn read(&mut self, res: &Res, mut registration: Registration) {
        let urn = registration.wanted.state.urn.clone();
        // A read has no aliases of its own, but its parent may have been renamed.
        let nameless = Res {
            aliases: Vec::new(),
            ..res.clone()
        };
        let parent = registration.wanted.state.parent.clone();
        let (found, conflict) = self.find_old(&urn, &nameless, parent.as_ref());
        let number = self.registrations.len();
        if let Some(text) = conflict {
            self.registrations.push(registration);
            return self.refuse(number, text);
        }
        self.fate_mut(&urn).same = false;
        self.fate_mut(&urn).seen = true;
        let old = found.as_ref().map(|found| found.node);
        let state = &mut registration.wanted.state;
        state.aliases = found.and_then(|found| found.former).into_iter().collect();
        let state = state.clone();
        self.registrations.push(registration);
        let provider = state.provider.as_ref();
        if provider.is_some_and(|provider| !self.provider_is_there(provider)) {
            return self.refuse(number, "unknown provider");
        }
        let on_skipped = state.references().any(|urn| self.fate(urn).skipped_create);
        let stays =
            old.is_some_and(|node| !self.state(node).external || self.leads_to(&state, &state.urn));
        if (on_skipped || stays) && self.operation.verb != Verb::Up {
            return match old {
                Some(node) => {
                    let node = self.rename(node, &urn, state.parent.as_ref());
                    let old = self.state(node).clone();
                    self.answer(number, Some(&old), Outcome::Success);
                }
                None => self.skip_create(number),
            };
        }
        let before = old.map(|node| self.state(node).clone());
        let replaces = before.is_some_and(|old| !old.external && old.id != state.id);
        self.fate_mut(&urn).read = true;
        self.coverage.reach("GOSDK-04");
        let op = if replaces {
            self.coverage.reach("STEPGEN-04");
            self.fate_mut(&urn).replaced = true;
            StepOp::ReadReplacement
        } else {
            StepOp::Read
        };
        let read = Plan::new(op, &urn)
            .old(old)
            .new_state(state)
            .way(Way::CreateFirst);
        let marker = replaces.then(|| Plan {
            op: StepOp::Replace,
            ..read.clone()
        });
        self.proceed(number, [read].into_iter().chain(marker).collect());
    }

    /// Deletes the resources in the state that the program did not register, dependents first.
    pub(super) fn delete_the_rest(&mut self) {
        if !self.targets_exist_after() {
            return;
        }
        let allowed = self.deletable();
        let mut going: Vec<usize> = Vec::new();
        for node in 0..self.olds {
            let state = self.state(node).clone();
            if self.nodes[node].gone || state.view_of.is_some() {
                continue;
            }
            let is_left = if state.delete {
                !self.pending_deletes.contains(&node)
            } else {
                let fate = self.fate(self.current(&state.urn));
                !(fate.is_operated_on() || fate.seen && fate.errored)
            };
            let is_allowed = allowed
                .as_ref()
                .is_none_or(|allowed| allowed.contains(&node));
            if is_left && is_allowed {
                going.push(node);
            }
        }
        if self.operation.verb == Verb::Destroy {
            for node in self.condemned.clone() {
                let is_allowed = allowed
                    .as_ref()
                    .is_none_or(|allowed| allowed.contains(&node));
                // A resource that was kept unchanged may have to be deleted too.
                if !self.nodes[node].gone && is_allowed && !going.contains(&node) {
                    going.push(node);
                }
            }
        }
        if self.targets.is_constrained() {
            let needed = self.needed_by_what_stays(&going);
            going.retain(|node| !needed.contains(node));
        }
        if !self.deletes_are_targeted(&going) {
            return;
        }
        for node in &going {
            let urn = self.state(*node).urn.clone();
            self.deleting.insert(urn);
            self.pending_deletes.insert(*node);
        }
        self.layers = self.layers_of(&going);
        self.going = going.into_iter().collect();
        self.open_layer();
    }

    /// Starts the next layer of deletes, without those that failed resources depend on.
    pub(super) fn open_layer(&mut self) {
        while !self.layers.is_empty() {
            let layer = self.layers.remove(0);
            let kept = self.kept_by_errors();
            let (kept, going): (Vec<usize>, Vec<usize>) =
                layer.into_iter().partition(|it| kept.contains(it));
            self.kept_by_errors.extend(kept);
            for node in &going {
                self.delete_entry(*node);
            }
            if !going.is_empty() {
                return;
            }
        }
    }

    /// Providers that unchanged resources still refer to, with the dependencies of these providers.
    fn needed_by_what_stays(&self, going: &[usize]) -> FxHashSet<usize> {
        let staying = (0..self.nodes.len()).filter(|node| {
            let entry = &self.nodes[*node];
            !entry.gone && !entry.state.pending_replacement && !going.contains(node)
        });
        let providers: FxHashSet<&ProviderRef> = staying
            .filter_map(|node| self.state(node).provider.as_ref())
            .collect();
        let order = self.graph_order();
        let mut needed: FxHashSet<usize> = FxHashSet::default();
        for node in order.iter().rev() {
            let state = self.state(*node);
            // The references that a provider has now count.
            let new = self.news.get(self.current(&state.urn));
            let is_present = state.delete || new.is_none_or(|new| new == node);
            let reference = state.as_provider_ref().filter(|_| is_present);
            if reference.is_some_and(|it| providers.contains(&it)) || needed.contains(node) {
                needed.insert(*node);
                needed.extend(self.dependencies_of(*node, &order));
            }
        }
        needed
    }

    fn delete_entry(&mut self, node: usize) {
        let state = self.state(node).clone();
        let op = match (state.delete, state.pending_replacement, state.external) {
            (true, _, true) => StepOp::DiscardReplaced,
            (true, _, false) => {
                self.coverage.reach("PDEL-01");
                StepOp::DeleteReplaced
            }
            (false, true, _) => {
                self.coverage.reach("PREPL-04");
                StepOp::RemovePendingReplace
            }
            (false, false, true) => StepOp::Discard,
            (false, false, false) => StepOp::Delete,
        };
        let step = Plan::new(op, &state.urn).old(Some(node));
        self.plan(Owner::Engine, vec![step]);
    }

    /// Layers of deletions: each starts after the previous one is done.
    fn layers_of(&self, going: &[usize]) -> Vec<Vec<usize>> {
        let order = self.graph_order();
        let mut left: Vec<usize> = going.to_vec();
        let mut layers: Vec<Vec<usize>> = Vec::new();
        while !left.is_empty() {
            let free = |node: &usize| {
                let needs = self.dependencies_of(*node, &order);
                !left.iter().any(|other| needs.contains(other))
            };
            let layer: Vec<usize> = left.iter().copied().filter(free).collect();
            left.retain(|node| !layer.contains(node));
            layers.push(layer);
        }
        layers.reverse();
        layers
    }

    /// Entries in the order in which references are resolved: those registered during a destroy, then the old state.
    pub(super) fn graph_order(&self) -> Vec<usize> {
        let condemned = self.condemned.iter();
        let left: Vec<usize> = condemned
            .copied()
            .chain((0..self.olds).filter(|node| !self.condemned.contains(node)))
            .filter(|node| !self.is_gone(*node))
            .collect();
        if self.condemned.is_empty() {
            return left;
        }
        // Entries kept unchanged may refer to others that were registered later.
        let (mut seen, mut order) = (FxHashSet::default(), Vec::new());
        for node in &left {
            self.put_behind_its_needs(*node, &left, &mut seen, &mut order);
        }
        order
    }

    /// Inserts an entry into an order after its provider and its other references (last one first): the live entry of
    /// each URN, and copies of it that came before this entry.
    fn put_behind_its_needs(
        &self,
        node: usize,
        left: &[usize],
        seen: &mut FxHashSet<usize>,
        order: &mut Vec<usize>,
    ) {
        if !seen.insert(node) {
            return;
        }
        let state = self.state(node);
        let provides = |other: &&usize| {
            let provider = self.state(**other).as_provider_ref();
            provider.is_some() && state.provider == provider
        };
        if let Some(other) = left.iter().rev().find(provides) {
            self.put_behind_its_needs(*other, left, seen, order);
        }
        let place = left.iter().position(|other| *other == node);
        let references: Vec<&Urn> = state.references_and_provider().collect();
        for urn in references.into_iter().rev().map(|urn| self.current(urn)) {
            let is_it = |other: &&usize| self.current(&self.state(**other).urn) == urn;
            let (copies, live): (Vec<usize>, Vec<usize>) = left
                .iter()
                .filter(is_it)
                .partition(|other| self.state(**other).delete);
            let is_before = |copy: &usize| left.iter().position(|it| it == copy) < place;
            let copies = copies.into_iter().rev().filter(is_before);
            for other in live.into_iter().next_back().into_iter().chain(copies) {
                self.put_behind_its_needs(other, left, seen, order);
            }
        }
        order.push(node);
    }

    /// Whether an entry does not count in the order of deletions, because it is deleted or was registered by a destroy.
    /// In other runs, the old dependencies of a resource still count.
    fn is_gone(&self, node: usize) -> bool {
        let is_superseded = self.news.contains_key(self.current(&self.state(node).urn))
            && !self.state(node).delete
            && !self.nodes[node].has_vanished
            && self.operation.verb != Verb::Destroy;
        self.nodes[node].gone && !is_superseded
    }

    /// Dependencies of an entry: the entries that its references resolve to, and all descendants of components among
    /// these (COMP-03), except for its own parent.
    pub(super) fn dependencies_of(&self, node: usize, order: &[usize]) -> FxHashSet<usize> {
        let at = order.iter().position(|other| *other == node).unwrap_or(0);
        let is_child = |node: usize, urn: &Urn| {
            let parent = self.state(node).parent.as_ref();
            parent.is_some_and(|parent| self.current(parent) == urn)
        };
        let mut needed: FxHashSet<usize> = FxHashSet::default();
        let mut below: FxHashSet<&Urn> = FxHashSet::default();
        for other in order[..at].iter().copied() {
            let state = self.state(other);
            let urn = self.current(&state.urn);
            let is_below = below.iter().any(|above| is_child(other, above));
            let is_needed = is_below || self.needs(node, urn);
            if is_needed || is_child(node, urn) {
                needed.insert(other);
            }
            if is_needed && state.kind == ResourceKind::Component {
                below.insert(urn);
            }
        }
        needed
    }

    /// Entries that the references of an entry resolve to. A live entry prefers live ones, an entry pending deletion
    /// prefers such ones; providers are matched by id.
    fn meant_by(&self, node: usize, order: &[usize]) -> FxHashSet<usize> {
        let needed = self.dependencies_of(node, order);
        let state = self.state(node);
        let is_alike = |other: usize| self.state(other).delete == state.delete;
        let is_meant = |other: &usize| {
            let urn = self.current(&self.state(*other).urn);
            let is_copy = |it: &usize| is_alike(*it) && self.current(&self.state(*it).urn) == urn;
            let reference = self.state(*other).as_provider_ref();
            let provides = reference.is_some() && reference == state.provider;
            is_alike(*other) || provides || !needed.iter().any(is_copy)
        };
        needed.iter().copied().filter(is_meant).collect()
    }

    /// Resources kept after a failure that does not end the run: the dependencies of failed resources, transitively,
    /// even if they could be deleted.
    fn kept_by_errors(&mut self) -> FxHashSet<usize> {
        let mut kept: FxHashSet<usize> = FxHashSet::default();
        if !self.deferred {
            return kept;
        }
        let order = self.graph_order();
        for node in order.iter().rev() {
            let urn = &self.state(*node).urn;
            let current = self.current(urn);
            let stays = kept.contains(node) || self.kept_by_errors.contains(node);
            if stays || self.fate(urn).errored || self.fate(current).errored {
                kept.extend(self.meant_by(*node, &order));
            }
        }
        if !kept.is_empty() {
            self.coverage.reach("COE-01");
        }
        kept
    }
}
