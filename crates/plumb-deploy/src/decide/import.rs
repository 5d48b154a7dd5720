//! Import steps: adopting an object that exists already, for the import option of a registration (`engine.md` 4.3 E) or for
//! an import operation (`import_operation.rs`).

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{CheckRequest, ProviderCall, ProviderError, ProviderReply};
use plumb_resource::{ResourceId, ResourceState, Urn};
use plumb_state::journal::OperationId;

use crate::decide::registration::RegIdx;
use crate::deployment::Deployment;
use crate::event::Fence;
use crate::facts::urn_flags::UrnFlag;
use crate::setup::Operation;
use crate::steps::answer::{Applied, FailureImpact, Reading};
use crate::steps::chain::{ChainIdx, Owner, Running, StepEnd};
use crate::steps::perform::read_request;
use crate::steps::step::{Order, Replaced, Step, StepKind};

impl Deployment {
    /// Adopts the object that the import option of a registration names.
    pub(crate) fn import_for_registration(&mut self, idx: RegIdx) {
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        let id = registration.goal.import_id.clone().unwrap_or_default();
        let new = ResourceState {
            id: ResourceId::Known(id),
            created: None,
            modified: None,
            aliases: registration.new.aliases.clone(),
            ..ResourceState::from_goal(urn.clone(), &registration.goal)
        };
        let old = registration.old;
        let Some(instance) = self.instance_of(idx) else {
            return;
        };
        let new = Arc::new(new);
        let marker = old.map(|old| StepKind::Replace {
            new: new.clone(),
            replaces: Replaced {
                old,
                order: Order::CreateFirst,
            },
        });
        if marker.is_some() {
            // Where another resource had it deleted, this is its replacement.
            self.urns.unmark(&urn, UrnFlag::Deleted);
            self.urns.mark(&urn, UrnFlag::Replaced);
        }
        self.urns.mark(&urn, UrnFlag::Imported);
        let import = StepKind::Import {
            new,
            instance: Some(instance),
            replaces: old,
            found: None,
        };
        let steps: Vec<Step> = std::iter::once(import)
            .chain(marker)
            .map(|kind| Step::new(urn.clone(), kind))
            .collect();
        if self.check_references(&steps) && self.plan_steps(idx, &steps) {
            self.start_chain(Owner::ImportFor(idx), steps);
        }
    }

    /// The object was read: what is recorded is the object as it is.
    fn imported(
        &self,
        wanted: ResourceState,
        result: Result<ProviderReply, ProviderError>,
    ) -> Result<ResourceState, Applied> {
        let refused = |message: String| Applied::from_error(&ProviderError::clean(message));
        let Reading { response, reasons } = Reading::of(result)?;
        let outputs = response.outputs.filter(|_| response.id != ResourceId::None);
        let Some(outputs) = outputs else {
            let asked = wanted.id.as_str();
            return Err(refused(format!("resource '{asked}' does not exist")));
        };
        let Some(inputs) = self.adopted_inputs(&wanted, response.inputs) else {
            let package = wanted.type_token.package();
            return Err(refused(format!(
                "provider does not support importing resources; please try updating the '{package}' plugin"
            )));
        };
        let import_id = match self.ctx.operation {
            Operation::Import(_) => EcoString::new(),
            _ => wanted.import_id,
        };
        Ok(ResourceState {
            id: response.id,
            inputs,
            outputs,
            init_errors: reasons.unwrap_or_default(),
            refresh_before_update: response.refresh_before_update,
            created: Some(self.now),
            modified: Some(self.now),
            import_id,
            ..wanted
        })
    }

    /// The import of an object ends. Events show it for the old state, as it was read.
    fn import_ends(
        &mut self,
        mut step: Step,
        operation: OperationId,
        state: ResourceState,
    ) -> StepEnd {
        if let StepKind::Import { found, .. } = &mut step.kind {
            *found = Some(Arc::new(state.clone()));
        }
        self.complete(&step, operation, Applied::done(state))
    }

    /// An import begins: unless everything about the object is supplied, it is read.
    pub(crate) fn begin_import(
        &mut self,
        idx: ChainIdx,
        step: Step,
        wanted: &ResourceState,
        operation: OperationId,
        fence: Fence,
    ) -> Option<StepEnd> {
        if self.is_taken(&wanted.urn) {
            let message = format!("resource '{}' already exists", wanted.urn);
            let failed = Applied::failed(message, FailureImpact::None);
            return Some(self.complete(&step, operation, failed));
        }
        if let Some(parent) = self.missing_parent(wanted) {
            let message = format!("unknown parent '{parent}' for resource '{}'", wanted.urn);
            let failed = Applied::failed(message, FailureImpact::None);
            return Some(self.complete(&step, operation, failed));
        }
        if let Some(state) = self.supplied_import(wanted) {
            return self.import_found(idx, step, state, operation);
        }
        let request = read_request(wanted, None, &Arc::default());
        self.step_calls(idx, step, operation, request, fence)
    }

    /// The parent that something to be imported names, if it is nowhere.
    fn missing_parent<'s>(&self, wanted: &'s ResourceState) -> Option<&'s Urn> {
        let parent = wanted.parent.as_ref()?;
        self.urns.latest(parent).is_none().then_some(parent)
    }

    /// Whether an import operation is to make something that is in the state as another object.
    fn is_taken(&self, urn: &Urn) -> bool {
        matches!(self.ctx.operation, Operation::Import(_)) && self.urns.of_base(urn).is_some()
    }

    /// The provider answered: in an import operation the inputs that were read are checked before they are recorded.
    pub(crate) fn import_answered(
        &mut self,
        idx: ChainIdx,
        step: Step,
        wanted: ResourceState,
        operation: OperationId,
        running: Running,
        result: Result<ProviderReply, ProviderError>,
    ) -> Option<StepEnd> {
        if let Running::ImportCheck(state) = running {
            let state = self.checked_import(*state, result);
            return Some(self.import_ends(step, operation, state));
        }
        match self.imported(wanted, result) {
            Ok(state) => self.import_found(idx, step, state, operation),
            Err(failed) => Some(self.complete(&step, operation, failed)),
        }
    }

    /// The object was read: has the inputs checked that are to be kept. The import option checks them later.
    fn import_found(
        &mut self,
        idx: ChainIdx,
        step: Step,
        state: ResourceState,
        operation: OperationId,
    ) -> Option<StepEnd> {
        let (Some(spec), Some(instance)) = (self.import.spec(&state.urn), step.instance()) else {
            return Some(self.import_ends(step, operation, state));
        };
        let inputs = Arc::new(spec.inputs_of(&state.inputs));
        let check = ProviderCall::Check(CheckRequest {
            urn: state.urn.clone(),
            old_inputs: Some(state.inputs.clone()),
            new_inputs: inputs.clone(),
            allow_unknowns: self.ctx.options.is_preview(),
            random_seed: self.seeds.next(),
            autonaming: None,
        });
        let running = Running::ImportCheck(Box::new(ResourceState { inputs, ..state }));
        self.step_waits(idx, step, operation, running);
        self.call_for_step(idx, instance, check, Fence::NONE);
        None
    }

    /// The inputs of an imported object as the provider wants them, where it has no objection.
    fn checked_import(
        &mut self,
        state: ResourceState,
        result: Result<ProviderReply, ProviderError>,
    ) -> ResourceState {
        match result {
            Ok(ProviderReply::Checked(response)) => {
                for failure in &response.failures {
                    let message = format!("{}: {}", failure.property, failure.reason);
                    self.warning(Some(&state.urn), &message);
                }
                let checked = response.inputs.filter(|_| response.failures.is_empty());
                let inputs = checked.unwrap_or_else(|| state.inputs.clone());
                ResourceState { inputs, ..state }
            }
            Ok(_) => state,
            Err(error) => {
                self.warning(Some(&state.urn), &error.message);
                state
            }
        }
    }
}
