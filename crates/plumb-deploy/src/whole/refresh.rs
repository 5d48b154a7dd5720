//! Refreshes of the whole: what is read before the program, after it, or without one (`engine.md` 7.3, 7.4). The steps
//! themselves are in `steps/refresh.rs`.

use plumb_resource::Urn;
use plumb_state::journal::{Entry, EntryKind, Fold, OperationId};
use rustc_hash::FxHashSet;

use crate::deployment::Deployment;
use crate::facts::arena::{Arena, Olds, StateIdx};
use crate::setup::Operation;
use crate::status::{Failure, Stage};
use crate::step::{Step, StepKind};
use crate::steps::scheduler::Owner;
use crate::steps::views::Views;

impl Deployment {
    /// Whether anything must be read before the program runs: everything, or what asks for it before each change.
    pub(crate) fn wants_refresh_phase(&self) -> bool {
        if self.ctx.refreshes_with_program() {
            return false;
        }
        let asks = |idx: &StateIdx| self.arena.state(*idx).refresh_before_update;
        match self.ctx.operation {
            Operation::Refresh => true,
            Operation::Update | Operation::Destroy => {
                self.ctx.options.refresh || self.olds.order().iter().any(asks)
            }
            Operation::Import(_) => false,
        }
    }

    /// Reads every resource that the operation is about, all side by side.
    pub(crate) fn start_refresh(&mut self) {
        if !self.check_refresh_targets() {
            return self.fail(Failure::Refused);
        }
        self.stage = Stage::Refreshing;
        let everything = self.ctx.options.refresh || self.ctx.operation == Operation::Refresh;
        let states = self.olds.order().to_vec();
        self.refresh_states(&states, everything);
        if self.ctx.operation == Operation::Refresh {
            self.adopt_pending();
        }
    }

    fn refresh_states(&mut self, states: &[StateIdx], everything: bool) {
        let kept = self.kept_by_destroy();
        for idx in states {
            let state = self.arena.state(*idx).clone();
            let is_selected = self.is_selected_for_refresh(&state);
            self.note_selected(&state.urn, is_selected);
            let asks = state.refresh_before_update && !kept.contains(&state.urn);
            if state.view_of.is_some() || !is_selected || !(everything || asks) {
                continue;
            }
            let refresh = StepKind::Refresh {
                old: *idx,
                instance: None,
                registered: None,
            };
            self.start_chain(Owner::Engine, vec![Step::new(state.urn.clone(), refresh)]);
        }
    }

    /// URNs that a destroy leaves because of its excludes. They need no refresh, because nothing happens to them.
    fn kept_by_destroy(&self) -> FxHashSet<Urn> {
        if self.ctx.operation == Operation::Destroy && self.ctx.options.excludes.is_constrained() {
            self.excluded_and_dependencies()
        } else {
            FxHashSet::default()
        }
    }

    /// The refresh phase is over: what was found becomes the base of the rest. Answers whether there is a rest.
    pub(crate) fn refreshed(&mut self) -> bool {
        // Resources that were read become the base even if the read of another resource failed.
        if !self.rebuild_base() {
            return false;
        }
        if let Some(cause) = self.status.take_deferred() {
            self.fail(Failure::Step { cause });
            return false;
        }
        if self.ctx.operation == Operation::Refresh && !self.ctx.options.run_program {
            self.finish();
            return false;
        }
        true
    }

    /// Rebuilds the base from the refreshes: states of objects that are gone are dropped, and references to them removed.
    fn rebuild_base(&mut self) -> bool {
        let entries = std::mem::take(&mut self.refreshes);
        let rebuilt = Entry {
            operation: OperationId(0),
            kind: EntryKind::RebuiltBaseState,
        };
        let mut fold = Fold::new(self.base.clone());
        for entry in entries.into_iter().chain([rebuilt.clone()]) {
            if let Err(error) = fold.apply(entry) {
                self.refuse(
                    None,
                    &format!("failed to rebuild the state after the refresh: {error}"),
                );
                return false;
            }
        }
        let base = fold.base().clone();
        let mut arena = Arena::default();
        // What was adopted belongs to the base now.
        self.urns.forget_states();
        match Olds::new(&mut arena, &mut self.urns, &base.resources) {
            Ok(olds) => {
                self.journal(OperationId(0), rebuilt.kind);
                self.arena = arena;
                self.views = Views::new(&self.arena, olds.order());
                self.olds = olds;
                self.base = base;
                self.gone.clear();
                self.targeting.forget_dependents();
                true
            }
            Err(error) => {
                self.refuse(None, &error.to_string());
                false
            }
        }
    }

    /// After a program: what it did not mention is read too.
    pub(crate) fn start_late_refresh(&mut self) {
        self.stage = Stage::LateRefresh;
        let order = self.olds.order().iter();
        let left: Vec<StateIdx> = order.filter_map(|idx| self.left_by_program(*idx)).collect();
        self.refresh_states(&left, true);
    }

    /// An old state as it is now, if the program did nothing about it. What it read may be left out, and have another name.
    fn left_by_program(&self, idx: StateIdx) -> Option<StateIdx> {
        if self.gone.contains(&idx) {
            return None;
        }
        let state = self.arena.state(idx);
        let current = self.current_urn(&state.urn);
        if state.delete || *current == state.urn {
            let is_left = state.delete || !self.urns.is_operated_on(current);
            return is_left.then_some(idx);
        }
        let renamed = self.urns.of_run(current);
        renamed.filter(|_| !self.urns.is_operated_on(current))
    }

    pub(crate) fn late_refreshed(&mut self) {
        if let Some(cause) = self.status.take_deferred() {
            return self.fail(Failure::Step { cause });
        }
        // What the run has recorded is known by other places from there on.
        self.finish_stack_outputs();
        self.journal(OperationId(0), EntryKind::RebuiltBaseState);
        self.finish();
    }
}
