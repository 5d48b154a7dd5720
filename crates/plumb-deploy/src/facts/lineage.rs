//! Who is below whom in this run, for functions that wait for what they depend on (`engine.md` 2.6).

use plumb_resource::{ResourceKind, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::deployment::Deployment;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::RequestId;
use crate::request::{InvokeFunctionRequest, Parked};

/// Parents and children, and what is still to be registered.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    children: FxHashMap<Urn, Vec<Urn>>,
    components: FxHashSet<Urn>,
    /// Below which resource an open request registers something.
    open: FxHashMap<RequestId, Urn>,
    /// How many such requests there are for each resource.
    open_below: FxHashMap<Urn, u32>,
    /// Functions that are called once such requests are answered.
    waiting: Vec<(RequestId, Box<InvokeFunctionRequest>)>,
}

impl Lineage {
    /// Notes a resource below its parent.
    pub(crate) fn add(&mut self, parent: Option<&Urn>, child: &Urn, kind: ResourceKind) {
        if kind == ResourceKind::Component {
            self.components.insert(child.clone());
        }
        if let Some(parent) = parent {
            let children = self.children.entry(parent.clone()).or_default();
            children.push(child.clone());
        }
    }

    /// Notes that a request registers something below `parent`.
    pub(crate) fn open(&mut self, id: RequestId, parent: Option<&Urn>) {
        if let Some(parent) = parent {
            self.open.insert(id, parent.clone());
            *self.open_below.entry(parent.clone()).or_default() += 1;
        }
    }

    fn close(&mut self, id: RequestId) -> bool {
        let Some(parent) = self.open.remove(&id) else {
            return false;
        };
        if let Some(count) = self.open_below.get_mut(&parent) {
            *count -= 1;
        }
        true
    }

    fn is_open_below(&self, urn: &Urn) -> bool {
        self.open_below.get(urn).is_some_and(|count| *count > 0)
    }
}

/// Existence of the resources that a function call depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existence {
    /// All of it does.
    Complete,
    /// Some of it does not, in this run.
    Missing,
    /// There may be more to come.
    Open,
}

impl Deployment {
    /// Whether the custom resources behind `urns` exist: themselves, or, for components, those below them, down to the
    /// first custom resource of each line. What is not known is taken to exist.
    pub(crate) fn existence(&self, urns: &[Urn]) -> Existence {
        let mut is_open = false;
        let mut seen: FxHashSet<&Urn> = FxHashSet::default();
        let mut stack: Vec<&Urn> = urns.iter().collect();
        while let Some(urn) = stack.pop() {
            if !seen.insert(urn) {
                continue;
            }
            // Only what is below a component can be missing, also where a target leaves the component itself out.
            if self.lineage.components.contains(urn) {
                is_open |= self.lineage.is_open_below(urn);
                stack.extend(self.lineage.children.get(urn).into_iter().flatten());
                continue;
            }
            // An object whose update failed still exists, and has its id in the reply. Example: with `--continue-on-error`,
            // `b` is skipped because `a` failed, so its reply has no id, and a function that depends on `b` is not called.
            if self.urns.has(urn, UrnFlag::SkippedCreate) || self.urns.has(urn, UrnFlag::NoId) {
                return Existence::Missing;
            }
            let state = self.urns.of_run(urn).map(|idx| self.arena.state(idx));
            // A provider is there in previews, too, where its id is not known yet.
            let is_awaited = state
                .is_some_and(|state| state.kind == ResourceKind::Custom && !state.id.is_known());
            if is_awaited {
                return Existence::Missing;
            }
        }
        if is_open {
            Existence::Open
        } else {
            Existence::Complete
        }
    }

    /// Has a function wait until something below what it depends on is registered.
    pub(crate) fn wait_for_children(&mut self, id: RequestId, request: Box<InvokeFunctionRequest>) {
        self.lineage.waiting.push((id, request));
    }

    /// A request is answered: functions that waited for it look again.
    pub(crate) fn request_closed(&mut self, id: RequestId) {
        if self.lineage.close(id) {
            for (waiting, request) in std::mem::take(&mut self.lineage.waiting) {
                self.again(waiting, Parked::Invoke(request));
            }
        }
    }
}
