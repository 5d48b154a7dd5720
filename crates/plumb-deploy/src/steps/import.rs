//! Import steps: adopting an object that exists already, for the import option of a registration (`engine.md` 4.3 E), for an
//! import operation, or for a pending create that the user has looked into.

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{
    CheckFailure, CheckRequest, ProviderCall, ProviderError, ProviderReply,
};
use plumb_resource::{ResourceId, ResourceState, TypeToken, Urn};
use plumb_state::journal::OperationId;
use plumb_value::{PropertyMap, Value};
use rustc_hash::FxHashMap;

use crate::deployment::Deployment;
use crate::ids::{ChainIdx, Fence};
use crate::setup::{ImportSpec, Operation};
use crate::step::{FailureImpact, Step, StepKind};
use crate::steps::answer::{Applied, Reading};
use crate::steps::calls::{Announcement, Turn, read_request};
use crate::steps::scheduler::{Running, StepEnd};
use crate::steps::shown::check_failure;

/// Imports of an import operation that have started, by their new URN.
#[derive(Debug, Default)]
pub(crate) struct StartedImports(FxHashMap<Urn, ImportSpec>);

impl StartedImports {
    pub(crate) fn add(&mut self, urn: Urn, spec: ImportSpec) {
        self.0.insert(urn, spec);
    }

    /// The request to import `urn`; `None` for imports by the import option.
    pub(crate) fn spec(&self, urn: &Urn) -> Option<&ImportSpec> {
        self.0.get(urn)
    }
}

impl ImportSpec {
    pub(crate) fn is_component(&self) -> bool {
        self.subject.is_component()
    }

    pub(crate) fn is_provider(&self) -> bool {
        !self.is_component() && TypeToken::new(self.type_token.clone()).is_provider()
    }

    /// Inputs that a property list leaves, with supplied ones where the object tells none; what is supplied as a secret is
    /// one (IMPORT-10, IMPORT-13).
    fn inputs_of(&self, read: &PropertyMap) -> PropertyMap {
        let mut inputs = read.clone();
        for (key, supplied) in self.inputs.iter().flatten() {
            match inputs.get_mut(key.as_str()) {
                Some(value) if !value.is_null() => {
                    if supplied.is_secret() && !value.is_secret() {
                        *value = Value::secret(value.clone());
                    }
                }
                _ => {
                    inputs.insert(key.clone(), supplied.clone());
                }
            }
        }
        if !self.properties.is_empty() {
            inputs.retain(|key, _| self.properties.iter().any(|kept| kept == key.as_str()));
        }
        inputs
    }
}

impl Deployment {
    /// The object was read: what is recorded is the object as it is.
    pub(crate) fn imported(
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
        self.step_calls(idx, step, operation, request, fence, Announcement::Made)
    }

    /// The parent of a resource to be imported, if an import operation names one that does not exist. The import
    /// option of programs asks for none.
    fn missing_parent<'s>(&self, wanted: &'s ResourceState) -> Option<&'s Urn> {
        let parent = wanted.parent.as_ref()?;
        let is_asked = matches!(self.ctx.operation, Operation::Import(_));
        (is_asked && self.urns.latest(parent).is_none()).then_some(parent)
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
        let (Some(spec), Some(instance)) = (self.imports.spec(&state.urn), step.instance()) else {
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
        self.chains.wait(idx, step, operation, running);
        self.call_for_step(idx, instance, check, Fence::NONE, Turn::Next);
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
                self.warn_of_invalid_import(&state, &response.failures);
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

    /// Warns about inputs of an imported object that fail the check of its provider.
    fn warn_of_invalid_import(&mut self, state: &ResourceState, failures: &[CheckFailure]) {
        if failures.is_empty() {
            return;
        }
        let spec = self.imports.spec(&state.urn);
        let why = if spec.is_some_and(|spec| !spec.properties.is_empty()) {
            "Try specifying a different set of properties to import with in the future.".to_owned()
        } else {
            let package = state.type_token.package();
            format!("This is almost certainly a bug in the `{package}` provider.")
        };
        let message = format!(
            "One or more imported inputs failed to validate. {why} The import will still proceed, but you will need to edit \
             the generated code after copying it into your program."
        );
        self.warning(Some(&state.urn), &message);
        let show_secrets = self.ctx.options.show_secrets;
        for failure in failures {
            let message = check_failure(
                &state.urn,
                &state.type_token,
                &state.inputs,
                failure,
                show_secrets,
            );
            self.warning(Some(&state.urn), &message);
        }
    }

    /// The state of an import that needs no read: a component, or an object whose outputs are supplied.
    fn supplied_import(&self, wanted: &ResourceState) -> Option<ResourceState> {
        let spec = self.imports.spec(&wanted.urn)?;
        let is_supplied = spec.is_component() || spec.outputs.is_some();
        let of = |map: &Option<PropertyMap>| Arc::new(map.clone().unwrap_or_default());
        is_supplied.then(|| ResourceState {
            inputs: of(&spec.inputs),
            outputs: of(&spec.outputs),
            import_id: ecow::EcoString::new(),
            created: Some(self.now),
            modified: Some(self.now),
            ..wanted.clone()
        })
    }

    /// Inputs of an adopted object: as the provider tells them, else as the create was asked for. What was secret there
    /// stays secret.
    fn adopted_inputs(
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
}
