//! Pending creates that the user has looked into (`errata.md`, PULUMI-13).
//!
//! Nobody but the user can find out whether an interrupted create made an object. Who found it says its id: a refresh
//! reads the object and adopts it, with what the create was asked for where the provider tells nothing. **The pending
//! operation goes with the entry that records the object, and stays if there is none.**

use std::fmt::Write as _;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{OperationType, ResourceId, ResourceState, Urn};

use crate::deployment::Deployment;
use crate::facts::urn_flags::UrnFlag;
use crate::setup::Adoption;
use crate::status::Stage;
use crate::step::{Step, StepKind};
use crate::steps::scheduler::Owner;

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
                self.status.defer(&message);
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

    /// Operations of an earlier run whose outcome is not known (PULUMI-14). A refresh deals with them itself.
    pub(crate) fn warn_of_pending_operations(&mut self) {
        let pending = &self.base.pending_operations;
        let is_told = !self.ctx.options.is_preview() && !self.wants_refresh_phase();
        if !is_told || pending.is_empty() {
            return;
        }
        let mut message = format!(
            "Attempting to deploy or update resources with {} pending operations from previous deployment.",
            pending.len()
        );
        for operation in pending {
            let (urn, doing) = (&operation.resource.urn, operation.operation.as_str());
            let _ = write!(message, "\n  * {urn}, interrupted while {doing}");
        }
        message.push_str(
            "\nThese resources are in an unknown state because the Pulumi CLI was interrupted while waiting for changes \
             to these resources to complete. You should confirm whether or not the operations listed completed \
             successfully by checking the state of the appropriate provider. For example, if you are using AWS, you can \
             confirm using the AWS Console.\n\nOnce you have confirmed the status of the interrupted operations, you can \
             repair your stack using `pulumi refresh` which will refresh the state from the provider you are using and \
             clear the pending operations if there are any.\n\nNote that `pulumi refresh` will need to be run \
             interactively to clear pending CREATE operations.",
        );
        self.warning(None, &message);
    }
}
