//! One registration: its stages, from its arrival (`arrival.rs`) to its answer (`engine.md` 4.3).
//!
//! The provider checks the inputs (`check.rs`); policy packs remediate and judge them (`policies`). The decision (`mod.rs`)
//! puts steps into a chain, and the end of the chain answers the program.

use std::collections::VecDeque;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{DiffResult, ProviderCall};
use plumb_resource::{
    Goal, PropertyDependencies, ProviderRef, ResourceId, ResourceKind, ResourceState, Urn,
};
use plumb_value::PropertyMap;

use crate::decide::policies::Consultation;
use crate::decide::replace::Collection;
use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::defaults::DefaultProvider;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::{Fence, InstanceId, RegIdx, RequestId};
use crate::request::{Outcome, RegisterReply, Reply};
use crate::setup::autonaming::Named;
use crate::steps::calls::Waiter;
use crate::steps::providers::denied;

/// Who wants a resource.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Requester {
    /// The program.
    Program(RequestId),
    /// The engine: a default provider, by its key.
    Default(EcoString),
    /// The engine, which needs no answer.
    Engine,
}

/// A resource that is being registered.
#[derive(Debug)]
pub(crate) struct Registration {
    pub(crate) requester: Requester,
    pub(crate) goal: Arc<Goal>,
    pub(crate) urn: Urn,
    pub(crate) old: Option<StateIdx>,
    pub(crate) new: Arc<ResourceState>,
    pub(crate) instance: Option<InstanceId>,
    pub(crate) scope: Scope,
    pub(crate) checked: Checked,
    /// Where names and other values made by chance come from.
    pub(crate) seed: Arc<[u8]>,
    /// How the provider is to name the resource.
    pub(crate) naming: Option<Named>,
    pub(crate) stage: RegStage,
}

/// Whether the run may change a registered resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The operation deals with it.
    Included,
    /// Targets leave it out: it stays as it is.
    LeftOut,
    /// Something about it was refused and has been shown: it goes no further than its check.
    Refused,
}

/// Holds back decisions while one registration collects what it must replace.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    pub(crate) holder: Option<RegIdx>,
    pub(crate) waiting: VecDeque<RegIdx>,
}

/// How the inputs of a resource were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// Beside those of its old state, if it has one.
    BesideOld,
    /// As those of a new resource.
    AsNew,
}

/// Stage of a registration: the answer that it waits for.
#[derive(Debug)]
pub(crate) enum RegStage {
    /// The old state is being read.
    Refreshing,
    /// The object is being adopted.
    Importing,
    /// The provider checks the inputs.
    Checking,
    /// Policy packs look at it.
    Consulting(Box<Consultation>),
    /// Another registration is collecting what it must replace.
    Waiting(Turn),
    /// The new provider tells whether its configuration demands a replacement.
    DiffingProvider,
    /// The provider compares.
    Diffing,
    /// The provider checks the inputs of a replacement.
    Rechecking(Box<DiffResult>),
    /// The provider checks the inputs of a resource that was deleted for the replacement of another while it was first checked.
    RecheckingDeleted,
    /// The providers of dependents tell which of them must be replaced too.
    Collecting(Box<Collection>),
    /// Steps run.
    Stepping,
    /// Over.
    Done,
}

/// Where a registration goes on that has waited for another one to collect what it must replace.
#[derive(Debug)]
pub(crate) enum Turn {
    /// Its decision, because it is checked.
    Decide,
    /// The provider has compared.
    Diffed(Box<DiffResult>),
    /// The inputs of its replacement are checked.
    Replace(Box<DiffResult>),
}

impl Registration {
    pub(crate) fn set_inputs(&mut self, inputs: Arc<PropertyMap>) {
        Arc::make_mut(&mut self.new).inputs = inputs;
    }
}

impl Deployment {
    pub(crate) fn registration(&self, idx: RegIdx) -> &Registration {
        let registration = &self.registrations[idx.0 as usize];
        registration.as_ref().expect("it has not been answered yet")
    }

    pub(crate) fn registration_mut(&mut self, idx: RegIdx) -> &mut Registration {
        let registration = &mut self.registrations[idx.0 as usize];
        registration.as_mut().expect("it has not been answered yet")
    }

    /// The old state that a registration continues, where the decision is about one. Only registrations that continue
    /// something are compared, updated or replaced, so that there is none is a defect.
    pub(crate) fn predecessor_of(&mut self, idx: RegIdx) -> Option<StateIdx> {
        let registration = self.registration(idx);
        let old = registration.old;
        if old.is_none() {
            let message = format!("{} is compared with nothing", registration.urn);
            self.internal_error(&message);
        }
        old
    }

    /// The provider instance of a registration. Custom resources have one before they are checked, so that there is none is
    /// a defect.
    pub(crate) fn instance_of(&mut self, idx: RegIdx) -> Option<InstanceId> {
        let registration = self.registration(idx);
        let instance = registration.instance;
        if instance.is_none() {
            let message = format!("{} has no provider", registration.urn);
            self.internal_error(&message);
        }
        instance
    }

    /// Asks a provider something that the decision about a registration waits for.
    pub(crate) fn ask_for(&mut self, idx: RegIdx, instance: InstanceId, request: ProviderCall) {
        let extension = self.registration(idx).goal.extension_ref.clone();
        self.ask(Waiter::Registration(idx, extension), instance, request);
    }

    /// The old state of a registration, if it continues one.
    pub(crate) fn old_of(&self, idx: RegIdx) -> Option<&Arc<ResourceState>> {
        self.registration(idx).old.map(|old| self.arena.state(old))
    }

    /// The instance for `reference`, which `urn` uses (`engine.md` 4.8).
    pub(crate) fn provider_for(
        &mut self,
        reference: &ProviderRef,
        urn: &Urn,
        extension: Option<&EcoString>,
    ) -> Result<InstanceId, String> {
        if reference.is_denied() {
            return Err(denied(reference.package(), urn));
        }
        let instance = self
            .ensure_provider(reference)
            .map_err(|_| format!("unknown provider '{reference}' for resource '{urn}'"))?;
        if let Some(extension) = extension {
            self.apply_extension(instance, extension)?;
        }
        Ok(instance)
    }

    /// Answers a registration, in success and failure, and forgets it.
    pub(crate) fn finish_registration(
        &mut self,
        idx: RegIdx,
        state: Option<StateIdx>,
        outcome: Outcome,
        unknown: bool,
        fence: Fence,
    ) {
        let registration = self.registrations[idx.0 as usize].take();
        let Registration {
            requester,
            urn,
            new: fallback,
            old,
            scope,
            ..
        } = *registration.expect("it has not been answered yet");
        self.open_registrations -= 1;
        let state = state.map(|idx| self.arena.state(idx).clone());
        // An object that could not be updated is there all the same.
        let is_kept = outcome == Outcome::Failed && self.urns.has(&urn, UrnFlag::Updated);
        let kept = old.filter(|_| is_kept && state.is_none());
        let kept = kept.map(|idx| self.arena.state(idx).id.clone());
        match requester {
            Requester::Program(id) => {
                let state = state.as_deref().unwrap_or(&fallback);
                // A component is nothing but its entry: whoever hears of it early has lost nothing after a crash, and
                // what a provider makes below it has its intent behind that entry.
                let fence = if state.is_custom() {
                    fence
                } else {
                    Fence::NONE
                };
                let urn = if scope == Scope::LeftOut {
                    // A resource that a target leaves out keeps the URN that it has in the state.
                    self.urns.keep_goal_under(&urn, &state.urn);
                    state.urn.clone()
                } else {
                    urn
                };
                let id_told = kept.unwrap_or_else(|| state.id.clone());
                if state.kind == ResourceKind::Custom && !id_told.is_known() {
                    self.urns.mark(&urn, UrnFlag::NoId);
                }
                let reply = RegisterReply {
                    urn,
                    id: id_told,
                    // Outputs of components may refer to resources that are not registered yet (PULUMI-32).
                    outputs: if state.is_custom() {
                        state.outputs.clone()
                    } else {
                        Arc::default()
                    },
                    property_dependencies: PropertyDependencies::new(),
                    outcome,
                    unknown,
                };
                self.reply(id, Reply::Registered(reply), fence);
            }
            Requester::Engine => {}
            Requester::Default(key) => {
                let id = state.map_or(ResourceId::Unknown, |state| state.id.clone());
                let reference = ProviderRef::new(urn, id.as_str());
                let ready = DefaultProvider::Ready(reference);
                if let Some(DefaultProvider::Pending(waiting)) = self.defaults.insert(key, ready) {
                    for (id, parked) in waiting {
                        self.again(id, parked);
                    }
                }
            }
        }
    }

    /// Has the provider of a registration serve the extension that the resource is of: what is left out may be made all the
    /// same, because it is deleted for the replacement of another. False if that ends the run.
    pub(crate) fn extend_provider(&mut self, idx: RegIdx) -> bool {
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        let extension = registration.goal.extension_ref.clone();
        let (Some(instance), Some(extension)) = (registration.instance, extension) else {
            return true;
        };
        let applied = self.apply_extension(instance, &extension);
        if let Err(message) = &applied {
            self.refuse(Some(&urn), message);
        }
        applied.is_ok()
    }
}
