//! Imports: adopting objects that exist already (`engine.md` 4.3 E, 7.5).
//!
//! The import option of a registration reads the object before the registration is decided. The import operation runs no
//! program: it passes everything on as it is, makes the providers that are missing, and reads the objects.

use std::collections::VecDeque;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{
    CheckRequest, PluginSpec, ProviderCall, ProviderError, ProviderReply,
};
use plumb_resource::{Goal, ProviderRef, ResourceId, ResourceKind, ResourceState, TypeToken, Urn};
use plumb_state::journal::OperationId;
use plumb_value::PropertyMap;

use crate::answer::{Applied, Reading};
use crate::chain::{ChainIdx, Owner, Running, StepEnd};
use crate::deployment::{DefaultProvider, Deployment, Failure, Stage, Waiter};
use crate::marks::Mark;
use crate::monitor::bare_goal;
use crate::packages;
use crate::provider_inputs;
use crate::registration::{RegIdx, Requester};
use crate::request::PackageRequest;
use crate::setup::{ImportSpec, Operation};
use crate::step::{Order, Replaced, Step, StepKind};

/// What an import operation still has to do.
#[derive(Debug, Default)]
pub(crate) struct ImportPlan {
    stage: ImportStage,
    waiting: VecDeque<ImportSpec>,
}

/// Where an import operation stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ImportStage {
    /// What is there is passed on as it is.
    #[default]
    Sames,
    /// The root stack is made if there is none.
    Root,
    /// Default providers are made.
    Providers,
    /// Objects are read.
    Objects,
}

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
            ..ResourceState::from_goal(urn.clone(), &registration.goal)
        };
        let recreates = self.marks.has(&urn, Mark::Deleted);
        let old = registration.old.filter(|_| !recreates);
        let Some(instance) = registration.instance else {
            return;
        };
        let new = Box::new(new);
        let marker = old.map(|old| StepKind::Replace {
            new: new.clone(),
            replaces: Replaced {
                old,
                order: Order::CreateFirst,
            },
        });
        if marker.is_some() {
            self.marks.set(&urn, Mark::Replaced);
        }
        self.marks.set(&urn, Mark::Imported);
        let import = StepKind::Import {
            new,
            instance,
            replaces: old,
            found: None,
        };
        let steps = std::iter::once(import)
            .chain(marker)
            .map(|kind| Step::new(urn.clone(), kind))
            .collect();
        self.start_chain(Owner::ImportFor(idx), steps);
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
        let Some(inputs) = response.inputs else {
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

    /// The import operation begins: everything that is there is passed on.
    pub(crate) fn start_import(&mut self) {
        self.stage = Stage::Importing;
        let mut steps = Vec::new();
        for idx in self.olds.order().to_vec() {
            let state = self.arena.state(idx).clone();
            if state.delete {
                continue;
            }
            self.marks.set(&state.urn, Mark::Seen);
            self.marks.set(&state.urn, Mark::Same);
            let new = Box::new(state.as_ref().clone());
            steps.push(Step::new(
                state.urn.clone(),
                StepKind::Kept {
                    old: idx,
                    new,
                    is_registered: true,
                },
            ));
        }
        if !steps.is_empty() {
            self.start_chain(Owner::Engine, steps);
        }
    }

    /// The next part of an import operation.
    pub(crate) fn import_on(&mut self) {
        if let Some(cause) = self.deferred_failure.take() {
            let what = if self.ctx.options.is_preview() {
                "preview"
            } else {
                "update"
            };
            self.error(
                None,
                &format!("{what} failed: step application failed: {cause}"),
            );
            return self.fail(Failure::Refused);
        }
        match self.import.stage {
            ImportStage::Sames => {
                self.import.stage = ImportStage::Root;
                let root = Urn::root_stack(&self.ctx.stack, &self.ctx.project);
                self.report.root_stack = Some(root.clone());
                if !self.marks.has(&root, Mark::Seen) {
                    let goal = bare_goal(root.type_token(), root.name().into());
                    self.register(Requester::Engine, goal);
                }
            }
            ImportStage::Root => {
                self.import.stage = ImportStage::Providers;
                let Operation::Import(specs) = &self.ctx.operation else {
                    return;
                };
                self.import.waiting = specs.clone().into();
                self.make_import_providers();
            }
            ImportStage::Providers => {
                self.import.stage = ImportStage::Objects;
                self.import_next_wave();
            }
            ImportStage::Objects => self.import_next_wave(),
        }
    }

    /// Registers the default providers that imports need and that are not there.
    fn make_import_providers(&mut self) {
        for spec in self.import.waiting.clone() {
            if spec.provider.is_some() {
                continue;
            }
            let plugin = match self.import_plugin(&spec) {
                Ok(plugin) => plugin,
                Err(message) => return self.refuse(None, &message),
            };
            let key = packages::default_key(&plugin);
            let package = packages::package_name(&plugin).clone();
            let name = packages::default_name(&plugin);
            let type_token = TypeToken::provider_of(&package);
            let urn = Urn::new(
                &self.ctx.stack,
                &self.ctx.project,
                "",
                type_token.as_str(),
                &name,
            );
            if self.defaults.contains_key(&key) {
                continue;
            }
            if let Some(old) = self.news.get(&urn).or(self.olds.live(&urn).as_ref()) {
                let reference = ProviderRef::new(urn, self.arena.state(*old).id.as_str());
                self.defaults.insert(key, DefaultProvider::Ready(reference));
                continue;
            }
            self.defaults
                .insert(key.clone(), DefaultProvider::Pending(Vec::new()));
            let mut inputs = packages::default_config(&package, &self.ctx.config);
            provider_inputs::write(&mut inputs, &plugin);
            let goal = Goal {
                kind: ResourceKind::Provider,
                properties: Arc::new(inputs),
                ..bare_goal(type_token, name)
            };
            self.register(Requester::Default(key), goal);
        }
    }

    fn import_plugin(&self, spec: &ImportSpec) -> Result<PluginSpec, String> {
        let request = PackageRequest {
            version: spec.version.clone(),
            download_url: spec.download_url.clone(),
            ..PackageRequest::default()
        };
        let package = TypeToken::managed(&spec.type_token)
            .map_err(|error| error.to_string())?
            .package()
            .to_owned();
        let plugin = self
            .packages
            .resolve(&package, &request)
            .map_err(|error| error.to_string())?;
        Ok(packages::with_defaults(plugin, &self.ctx.default_versions))
    }

    /// Imports whatever has its parent there; ends the run when nothing is left.
    fn import_next_wave(&mut self) {
        if self.import.waiting.is_empty() {
            return self.finish();
        }
        let mut later = VecDeque::new();
        let mut started = false;
        for spec in std::mem::take(&mut self.import.waiting) {
            let parent = spec
                .parent
                .clone()
                .unwrap_or_else(|| Urn::root_stack(&self.ctx.stack, &self.ctx.project));
            if self.news.contains_key(&parent) || self.olds.live(&parent).is_some() {
                started |= self.import_object(&spec, parent);
                if self.failure.is_some() {
                    return;
                }
            } else {
                later.push_back(spec);
            }
        }
        if let (false, Some(spec)) = (started, later.front()) {
            let parent = spec
                .parent
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            let message = format!("unknown parent '{parent}' for resource '{}'", spec.name);
            return self.refuse(None, &message);
        }
        self.import.waiting = later;
    }

    /// Starts the import of one object; false if it is in the state already.
    fn import_object(&mut self, spec: &ImportSpec, parent: Urn) -> bool {
        let token = TypeToken::new(spec.type_token.clone());
        let urn = Urn::new(
            &self.ctx.stack,
            &self.ctx.project,
            parent.qualified_type(),
            &spec.type_token,
            &spec.name,
        );
        if let Some(old) = self.olds.live(&urn) {
            let old = self.arena.state(old);
            if old.id.as_str() == spec.id.as_str() || old.import_id == spec.id {
                return false;
            }
            let message = format!("resource '{urn}' already exists");
            self.error(Some(&urn), &message);
            self.deferred_failure.get_or_insert(message);
            return false;
        }
        if self.marks.has(&urn, Mark::Seen) {
            let message = format!(
                "duplicate import '{}' of type '{}'",
                spec.name, spec.type_token
            );
            self.refuse(Some(&urn), &message);
            return false;
        }
        self.marks.set(&urn, Mark::Seen);
        let reference = match self.import_provider(spec) {
            Ok(reference) => reference,
            Err(message) => {
                self.refuse(Some(&urn), &message);
                return false;
            }
        };
        let instance = match self.ensure_provider(&reference) {
            Ok(instance) => instance,
            Err(message) => {
                self.refuse(Some(&urn), &message);
                return false;
            }
        };
        let new = ResourceState {
            id: ResourceId::Known(spec.id.clone()),
            parent: Some(parent),
            protect: spec.protect,
            provider: Some(reference),
            type_token: token,
            ..ResourceState::new(urn.clone(), ResourceKind::Custom)
        };
        self.marks.set(&urn, Mark::Imported);
        let import = StepKind::Import {
            new: Box::new(new),
            instance,
            replaces: None,
            found: None,
        };
        self.start_chain(Owner::Engine, vec![Step::new(urn, import)]);
        true
    }

    fn import_provider(&self, spec: &ImportSpec) -> Result<ProviderRef, String> {
        if let Some(urn) = &spec.provider {
            let state = self.olds.live(urn).map(|idx| self.arena.state(idx));
            return state
                .and_then(|state| state.as_provider_ref())
                .ok_or_else(|| format!("unknown provider '{urn}' for resource '{}'", spec.name));
        }
        let plugin = self.import_plugin(spec)?;
        match self.defaults.get(&packages::default_key(&plugin)) {
            Some(DefaultProvider::Ready(reference)) => Ok(reference.clone()),
            _ => Err(format!(
                "unknown provider '{}' for resource '{}'",
                plugin.name, spec.name
            )),
        }
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
        let state = match self.imported(wanted, result) {
            Ok(state) => state,
            Err(failed) => return Some(self.complete(&step, operation, failed)),
        };
        match (self.import_check(&state), step.instance()) {
            (Some(check), Some(instance)) => {
                let running = Running::ImportCheck(Box::new(state));
                self.step_waits(idx, step, operation, running);
                self.call(Waiter::Chain(idx), instance, check, 0);
                None
            }
            _ => Some(self.import_ends(step, operation, state)),
        }
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

    /// Which inputs of an imported object to keep, to be checked; `None` for the import option, which checks later.
    fn import_check(&mut self, state: &ResourceState) -> Option<ProviderCall> {
        let Operation::Import(specs) = &self.ctx.operation else {
            return None;
        };
        let spec = specs.iter().find(|spec| {
            *spec.name == *state.urn.name() && spec.type_token == state.type_token.as_str()
        })?;
        let mut inputs = state.inputs.as_ref().clone();
        fill_inputs(&mut inputs, spec);
        let seed = self.seeds.next();
        Some(ProviderCall::Check(CheckRequest {
            urn: state.urn.clone(),
            old_inputs: Some(state.inputs.clone()),
            new_inputs: Arc::new(inputs),
            allow_unknowns: self.ctx.options.is_preview(),
            random_seed: seed,
            autonaming: None,
        }))
    }
}

/// Takes over supplied inputs where the object tells none, and drops those that are not asked for (IMPORT-10, IMPORT-13).
fn fill_inputs(inputs: &mut PropertyMap, spec: &ImportSpec) {
    for (key, value) in spec.inputs.iter().flatten() {
        if inputs
            .get(key.as_str())
            .is_none_or(plumb_value::Value::is_null)
        {
            inputs.insert(key.clone(), value.clone());
        }
    }
    if !spec.properties.is_empty() {
        inputs.retain(|key, _| spec.properties.iter().any(|kept| kept == key.as_str()));
    }
}
