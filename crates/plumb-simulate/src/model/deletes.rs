//! Reads, and the deletes at the end of a program (`engine.md` 4.2, 7.2).

use plumb_deploy::request::Outcome;
use plumb_resource::{ProviderRef, ResourceKind, StepOp, Urn};
use rustc_hash::FxHashSet;

use super::monitor::Wanted;
use super::steps::{Ended, Plan, Way};
use super::{Flow, Model};
use crate::story::{Res, Verb};
use crate::world::Answer;

impl Model<'_> {
    /// A read of the program.
    pub(super) fn read(&mut self, res: &Res, mut wanted: Wanted) -> Flow {
        let urn = wanted.state.urn.clone();
        if self.fate(&urn).seen {
            return self.refuse("a URN is used twice");
        }
        // A read has no aliases of its own; its parent may have been renamed.
        let nameless = Res {
            aliases: Vec::new(),
            ..res.clone()
        };
        let parent = wanted.state.parent.clone();
        let (found, conflict) = self.find_old(&urn, &nameless, parent.as_ref());
        if let Some(text) = conflict {
            return self.refuse(text);
        }
        self.fate_mut(&urn).same = false;
        self.fate_mut(&urn).seen = true;
        let old = found.as_ref().map(|found| found.node);
        wanted.state.aliases = found.and_then(|found| found.former).into_iter().collect();
        let on_skipped = wanted
            .state
            .references()
            .any(|urn| self.fate(urn).skipped_create);
        if on_skipped && self.operation.verb != Verb::Up {
            return match old {
                Some(node) => Self::answer(&self.state(node).clone(), Outcome::Success, false),
                None => match self.skip_create(&wanted.state) {
                    Flow::Answered(answer) => Flow::Answered(Answer {
                        // Replies to reads do not tell.
                        unknown: false,
                        ..answer
                    }),
                    Flow::Cut => Flow::Cut,
                },
            };
        }
        let before = old.map(|node| self.state(node).clone());
        let replaces = before.is_some_and(|old| !old.external && old.id != wanted.state.id);
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
            .new_state(wanted.state.clone())
            .way(Way::CreateFirst);
        let mut steps = vec![read.clone()];
        if replaces {
            steps.push(Plan {
                op: StepOp::Replace,
                ..read
            });
        }
        if !self.refers_to_what_will_be_there(&steps) {
            return Flow::Cut;
        }
        match self.chain(steps) {
            Ended::Done(Some(node)) => {
                Self::answer(&self.state(node).clone(), Outcome::Success, false)
            }
            Ended::Failed(Some(node)) => {
                Self::answer(&self.state(node).clone(), Outcome::Failed, false)
            }
            Ended::Failed(None) => Self::answer(&wanted.state, Outcome::Failed, false),
            Ended::Skipped => Self::answer(&wanted.state, Outcome::Skipped, false),
            Ended::Done(None) | Ended::Cut => Flow::Cut,
        }
    }

    /// Everything in the state that the program did not mention is deleted, dependents first.
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
                let current = self.aliased.get(&state.urn).unwrap_or(&state.urn);
                !self.fate(current).is_operated_on()
            };
            let is_allowed = allowed
                .as_ref()
                .is_none_or(|allowed| allowed.contains(&state.urn));
            if is_left && is_allowed {
                going.push(node);
            }
        }
        if self.operation.verb == Verb::Destroy {
            for node in std::mem::take(&mut self.condemned) {
                let urn = &self.state(node).urn;
                let is_allowed = allowed.as_ref().is_none_or(|allowed| allowed.contains(urn));
                if !self.nodes[node].gone && is_allowed {
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
        for layer in self.layers(&going) {
            if self.stops {
                return;
            }
            let kept = self.kept_by_errors();
            for node in layer {
                if !kept.contains(&node) {
                    self.delete_entry(node);
                }
            }
        }
    }

    /// Providers that something left as it is still refers to, and what they need in turn.
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
            let reference = self.state(*node).as_provider_ref();
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
        if self.begin(&state.urn, op) {
            let step = Plan::new(op, &state.urn).old(Some(node));
            let _ = self.perform(&step);
        }
    }

    /// Layers of deletions: each may go when those before it are gone.
    fn layers(&self, going: &[usize]) -> Vec<Vec<usize>> {
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

    /// Entries in the order in which references are resolved: what a destroy registered, then the state before.
    fn graph_order(&self) -> Vec<usize> {
        let news = match self.operation.verb {
            Verb::Destroy => self.olds..self.nodes.len(),
            _ => 0..0,
        };
        news.chain(0..self.olds).collect()
    }

    /// What an entry needs: what its references mean among the entries before it, and everything below components among
    /// them (COMP-03).
    fn dependencies_of(&self, node: usize, order: &[usize]) -> FxHashSet<usize> {
        let at = order.iter().position(|other| *other == node).unwrap_or(0);
        let earlier = &order[..at];
        let state = self.state(node);
        let mut needs: FxHashSet<usize> = FxHashSet::default();
        for other in earlier {
            let urn = &self.state(*other).urn;
            if state
                .references_and_provider()
                .any(|reference| reference == urn)
            {
                needs.insert(*other);
            }
        }
        let is_component = |node: usize| self.state(node).kind == ResourceKind::Component;
        let explicit: Vec<&Urn> = state
            .references()
            .filter(|urn| Some(*urn) != state.parent.as_ref())
            .collect();
        let mut below: FxHashSet<&Urn> = FxHashSet::default();
        for other in earlier {
            let candidate = self.state(*other);
            let is_child = candidate
                .parent
                .as_ref()
                .is_some_and(|it| below.contains(it));
            if is_child {
                needs.insert(*other);
            }
            if is_component(*other) && (is_child || explicit.contains(&&candidate.urn)) {
                below.insert(&candidate.urn);
            }
        }
        needs
    }

    /// After a failure that the run outlives: what the failed resources need stays.
    fn kept_by_errors(&mut self) -> FxHashSet<usize> {
        let mut kept: FxHashSet<usize> = FxHashSet::default();
        if !self.deferred {
            return kept;
        }
        let order = self.graph_order();
        for node in order.iter().rev() {
            let urn = &self.state(*node).urn;
            let current = self.aliased.get(urn).unwrap_or(urn);
            if self.fate(urn).errored || self.fate(current).errored || kept.contains(node) {
                kept.extend(self.dependencies_of(*node, &order));
            }
        }
        if !kept.is_empty() {
            self.coverage.reach("COE-01");
        }
        kept
    }
}
