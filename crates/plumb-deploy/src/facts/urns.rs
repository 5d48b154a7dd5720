//! Facts about each URN of a run, in one table, because a decision asks for most of them at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use indexmap::IndexMap;
use plumb_resource::{ProviderRef, ResourceState, StepOp, Urn};
use rustc_hash::FxBuildHasher;

use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::{UrnFlag, UrnFlags};
use crate::request::Callback;

/// Facts about one URN.
#[derive(Debug, Default)]
struct Known {
    /// The entry of the base that is not pending deletion.
    of_base: Option<StateIdx>,
    /// The state that this run produced or passed on.
    of_run: Option<StateIdx>,
    /// Steps and failures of this URN so far.
    flags: UrnFlags,
    /// The number under which the URN was settled, or 0.
    settled: u32,
    /// Its registration, for children and methods.
    goal: Option<Box<GoalMemory>>,
    /// The step that outputs which the program registers belong to.
    completes: Option<Remembered>,
}

/// The part of a registration that its children and its methods need later (`engine.md` 2.3).
#[derive(Clone, Debug)]
pub(crate) struct GoalMemory {
    pub(crate) protect: Option<bool>,
    pub(crate) retain_on_delete: Option<bool>,
    pub(crate) deleted_with: Option<Urn>,
    pub(crate) provider: Option<ProviderRef>,
    /// References by package, for the children of components.
    pub(crate) providers: BTreeMap<EcoString, EcoString>,
    pub(crate) is_component: bool,
    pub(crate) parent: Option<Urn>,
    pub(crate) transforms: Vec<Callback>,
    pub(crate) snippet_id: Option<EcoString>,
}

/// The step that outputs belong to.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) op: StepOp,
    pub(crate) state: StateIdx,
    /// The resource as it was before the step.
    pub(crate) old: Option<Arc<ResourceState>>,
}

/// All that is known, by URN.
///
/// A URN is *settled* if this run has recorded it, and everything that it refers to was settled before, so under lower numbers.
/// Everything that can be reached from a settled URN therefore has lower numbers.
#[derive(Debug)]
pub(crate) struct Urns {
    known: IndexMap<Urn, Known, FxBuildHasher>,
    /// The last number under which a URN was settled.
    last_settled: u32,
    /// Numbers up to this one do not count any more.
    unsettled: u32,
    /// Every flag that some URN has had. Most runs never set most of them, and need not look at the table for those.
    ever: UrnFlags,
}

impl Urns {
    /// For about so many URNs.
    pub(crate) fn with_capacity(urns: usize) -> Self {
        Urns {
            known: IndexMap::with_capacity_and_hasher(urns, FxBuildHasher),
            last_settled: 0,
            unsettled: 0,
            ever: UrnFlags::default(),
        }
    }

    fn entry(&mut self, urn: &Urn) -> &mut Known {
        match self.known.get_index_of(urn) {
            Some(index) => &mut self.known[index],
            None => self.known.entry(urn.clone()).or_default(),
        }
    }

    /// `urn` in the memory of one that is known, if it is.
    pub(crate) fn shared(&self, urn: Urn) -> Urn {
        match self.known.get_key_value(&urn) {
            Some((known, _)) => known.clone(),
            None => urn,
        }
    }

    /// Another base takes the place of the one before: what belonged to that is forgotten, flags and registrations aside.
    pub(crate) fn forget_states(&mut self) {
        self.unsettle_all();
        for known in self.known.values_mut() {
            known.of_base = None;
            known.of_run = None;
            known.completes = None;
        }
    }

    /// Takes an entry of the base that is not pending deletion. False if there is one of this URN.
    pub(crate) fn set_of_base(&mut self, urn: &Urn, idx: StateIdx) -> bool {
        self.entry(urn).of_base.replace(idx).is_none()
    }

    /// The entry of the base with this URN that is not pending deletion.
    pub(crate) fn of_base(&self, urn: &Urn) -> Option<StateIdx> {
        self.known.get(urn)?.of_base
    }

    /// The run has produced or passed on a state of this URN.
    pub(crate) fn set_of_run(&mut self, urn: &Urn, idx: StateIdx) {
        self.entry(urn).of_run = Some(idx);
    }

    /// Settles `urn`, which refers to settled URNs alone, unless it is settled.
    pub(crate) fn settle(&mut self, urn: &Urn) {
        if self.settled(urn).is_none() {
            self.last_settled += 1;
            let number = self.last_settled;
            self.entry(urn).settled = number;
        }
    }

    /// The number under which `urn` was settled, if it is.
    pub(crate) fn settled(&self, urn: &Urn) -> Option<u32> {
        let number = self.known.get(urn)?.settled;
        (number > self.unsettled).then_some(number)
    }

    /// No URN is settled any more.
    pub(crate) fn unsettle_all(&mut self) {
        self.unsettled = self.last_settled;
    }

    /// The state of this URN that the run has produced or passed on.
    pub(crate) fn of_run(&self, urn: &Urn) -> Option<StateIdx> {
        self.known.get(urn)?.of_run
    }

    /// The state of this URN as it is now: what the run has made of it, or else that of the base.
    pub(crate) fn latest(&self, urn: &Urn) -> Option<StateIdx> {
        let known = self.known.get(urn)?;
        known.of_run.or(known.of_base)
    }

    /// Every state that the run has produced or passed on.
    pub(crate) fn all_of_run(&self) -> impl Iterator<Item = StateIdx> {
        self.known.values().filter_map(|known| known.of_run)
    }

    /// Keeps what children and methods need of a registration.
    pub(crate) fn set_goal(&mut self, urn: &Urn, goal: GoalMemory) {
        self.entry(urn).goal = Some(Box::new(goal));
    }

    /// The part of the registration of `urn` that children and methods need.
    pub(crate) fn goal(&self, urn: &Urn) -> Option<&GoalMemory> {
        self.known.get(urn)?.goal.as_deref()
    }

    /// Keeps what children need of a registration for those that know it under its former URN.
    pub(crate) fn keep_goal_under(&mut self, urn: &Urn, former: &Urn) {
        let goal = self.goal(urn).filter(|_| self.goal(former).is_none());
        if let Some(goal) = goal.cloned() {
            self.set_goal(former, goal);
        }
    }

    /// Outputs of `urn` that are registered from now on belong to `step`.
    pub(crate) fn set_completes(&mut self, urn: &Urn, step: Remembered) {
        self.entry(urn).completes = Some(step);
    }

    /// The step that outputs of `urn` belong to.
    pub(crate) fn completes(&self, urn: &Urn) -> Option<&Remembered> {
        self.known.get(urn)?.completes.as_ref()
    }

    /// The step that outputs of `urn` belong to. Outputs are registered once, so it is removed.
    pub(crate) fn take_completes(&mut self, urn: &Urn) -> Option<Remembered> {
        self.known.get_mut(urn)?.completes.take()
    }

    /// Sets `flag` for `urn`.
    pub(crate) fn mark(&mut self, urn: &Urn, flag: UrnFlag) {
        self.ever.add(flag);
        self.entry(urn).flags.add(flag);
    }

    /// Takes `flag` back from `urn`.
    pub(crate) fn unmark(&mut self, urn: &Urn, flag: UrnFlag) {
        if self.ever.intersects(UrnFlags::of(&[flag]))
            && let Some(known) = self.known.get_mut(urn)
        {
            known.flags.remove(flag);
        }
    }

    /// Whether `urn` has `flag`.
    pub(crate) fn has(&self, urn: &Urn, flag: UrnFlag) -> bool {
        self.has_any(urn, &[flag])
    }

    /// Whether `urn` has any of `flags`.
    pub(crate) fn has_any(&self, urn: &Urn, flags: &[UrnFlag]) -> bool {
        let wanted = UrnFlags::of(flags);
        let known = || self.known.get(urn);
        self.ever.intersects(wanted) && known().is_some_and(|it| it.flags.intersects(wanted))
    }

    /// Whether a step of this run already decides the fate of `urn`, creates and deletes aside.
    pub(crate) fn is_operated_on(&self, urn: &Urn) -> bool {
        self.has_any(
            urn,
            &[
                UrnFlag::Same,
                UrnFlag::Updated,
                UrnFlag::Replaced,
                UrnFlag::Read,
                UrnFlag::Refreshed,
            ],
        )
    }

    /// Whether any step was made for `urn`.
    pub(crate) fn has_step(&self, urn: &Urn) -> bool {
        self.has_any(
            urn,
            &[
                UrnFlag::Created,
                UrnFlag::Same,
                UrnFlag::Updated,
                UrnFlag::Deleted,
                UrnFlag::Replaced,
                UrnFlag::Read,
            ],
        )
    }
}
