//! Pending creates that the user has looked into (`errata.md`, PULUMI-13).
//!
//! Nobody but the user can find out whether an interrupted create made an object. Who found it says its id: a refresh
//! reads the object and adopts it, with what the create was asked for where the provider tells nothing. **The pending
//! operation goes with the entry that records the object, and stays if there is none.**

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{OperationType, ResourceId, ResourceState, Urn};
use plumb_state::journal::{Entry, EntryKind, OperationId};
use plumb_value::PropertyMap;

use crate::deployment::{Deployment, Stage};
use crate::facts::urn_flags::UrnFlag;
use crate::setup::Adoption;
use crate::steps::chain::Owner;
use crate::steps::step::{Step, StepKind};

impl Deployment {
    /// Whether there are objects to adopt before anything else.
    pub(crate) fn wants_adoptions(&self) -> bool {
        !self.ctx.options.adoptions.is_empty()
    }

    /// Adopts the objects of pending creates, and reads nothing else.
    pub(crate) fn start_adoptions(&mut self) {
        self.stage = Stage::Refreshing;
        self.adopt_pending();
    }

    /// Starts to read the objects that the user found.
    pub(crate) fn adopt_pending(&mut self) {
        for Adoption { urn, id } in self.ctx.options.adoptions.clone() {
            if let Err(message) = self.adopt(&urn, id) {
                self.error(Some(&urn), &message);
                self.deferred_failure.get_or_insert(message);
            }
        }
    }

    fn adopt(&mut self, urn: &Urn, id: EcoString) -> Result<(), String> {
        let pending = self
            .pending_create(urn)
            .ok_or_else(|| format!("resource '{urn}' has no pending create"))?;
        if self.urns.of_base(urn).is_some() || self.urns.has(urn, UrnFlag::Imported) {
            return Err(format!("resource '{urn}' already exists"));
        }
        let absent = pending
            .references()
            .find(|it| self.urns.of_base(it).is_none());
        if let Some(absent) = absent {
            return Err(format!(
                "resource '{urn}' refers to '{absent}', which is not in this stack"
            ));
        }
        let reference = pending
            .provider
            .clone()
            .ok_or_else(|| format!("resource '{urn}' has no provider that could read it"))?;
        let instance = self
            .ensure_provider(&reference)
            .map_err(|error| format!("could not load provider for resource {urn}: {error}"))?;
        self.urns.mark(urn, UrnFlag::Imported);
        let new = ResourceState {
            id: ResourceId::Known(id),
            outputs: Arc::default(),
            import_id: EcoString::new(),
            ..pending.as_ref().clone()
        };
        let import = StepKind::Import {
            new: Arc::new(new),
            instance: Some(instance),
            replaces: None,
            found: None,
        };
        self.start_chain(Owner::Engine, vec![Step::new(urn.clone(), import)]);
        Ok(())
    }

    /// The resource that the interrupted create of `urn` was to make.
    fn pending_create(&self, urn: &Urn) -> Option<Arc<ResourceState>> {
        let pending = self.base.pending_operations.iter();
        pending
            .filter(|it| it.operation == OperationType::Creating)
            .map(|it| &it.resource)
            .find(|resource| resource.urn == *urn)
            .cloned()
    }

    /// Inputs of an adopted object: as the provider tells them, else as the create was asked for. What was secret there
    /// stays secret.
    pub(crate) fn adopted_inputs(
        &self,
        wanted: &ResourceState,
        told: Option<Arc<PropertyMap>>,
    ) -> Option<Arc<PropertyMap>> {
        if !self.is_adopting() {
            return told;
        }
        let Some(mut told) = told else {
            return Some(wanted.inputs.clone());
        };
        Arc::make_mut(&mut told).hide_like(&wanted.inputs);
        Some(told)
    }

    /// Whether imports of the present stage settle pending creates.
    pub(crate) fn is_adopting(&self) -> bool {
        self.stage == Stage::Refreshing
    }

    /// Keeps the import of an adopted object for the base that the rest of the run starts from.
    pub(crate) fn note_adoption(&mut self, operation: OperationId, success: EntryKind) {
        let EntryKind::Success {
            state: Some(state), ..
        } = &success
        else {
            return;
        };
        let begin = EntryKind::Begin {
            operation: Some(plumb_state::PendingOperation {
                resource: state.clone(),
                operation: OperationType::Importing,
            }),
        };
        for kind in [begin, success] {
            self.refreshes.push(Entry { operation, kind });
        }
    }
}
