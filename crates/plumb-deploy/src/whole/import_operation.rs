//! The import operation: adopting objects without a program (`engine.md` 7.5).
//!
//! 1. Everything that is there is passed on as it is.
//! 2. The root stack is made, if there is none.
//! 3. Providers are made: those that are to be imported, and the default ones that imports need.
//! 4. Objects and components are imported in waves, parents before their children.

use std::collections::VecDeque;
use std::sync::Arc;

use plumb_resource::provider::PluginSpec;
use plumb_resource::{Goal, ProviderRef, ResourceId, ResourceKind, ResourceState, TypeToken, Urn};
use plumb_value::PropertyMap;
use rustc_hash::FxHashSet;

use crate::decide::registration::Requester;
use crate::deployment::Deployment;
use crate::facts::defaults::DefaultProvider;
use crate::facts::packages;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::InstanceId;
use crate::request::RegisterPackageRequest;
use crate::setup::{ImportSpec, ImportSubject, Operation};
use crate::status::Stage;
use crate::step::{Step, StepKind};
use crate::steps::provider_inputs;
use crate::steps::scheduler::Owner;

/// Remaining work of an import operation.
#[derive(Debug, Default)]
pub(crate) struct ImportPlan {
    stage: ImportStage,
    waiting: VecDeque<ImportSpec>,
}

/// Where an import operation stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ImportStage {
    /// Existing states are passed on unchanged.
    #[default]
    Sames,
    /// The root stack is made if there is none.
    Root,
    /// Providers are made.
    Providers,
    /// Objects are read.
    Objects,
}

impl Deployment {
    /// The import operation begins: everything that is there is passed on.
    pub(crate) fn start_import(&mut self) {
        self.stage = Stage::Importing;
        if matches!(&self.ctx.operation, Operation::Import(specs) if specs.is_empty()) {
            // Nothing is to be adopted: nothing is looked at, and the stack does not come to be.
            self.import.stage = ImportStage::Objects;
            return;
        }
        let mut steps = Vec::new();
        for idx in self.olds.order().to_vec() {
            let state = self.arena.state(idx).clone();
            if state.delete {
                continue;
            }
            self.urns.mark(&state.urn, UrnFlag::Seen);
            self.urns.mark(&state.urn, UrnFlag::Same);
            if state.view_of.is_some() {
                // It follows its owner.
                continue;
            }
            let kept = StepKind::Kept {
                old: idx,
                new: state.clone(),
                is_registered: true,
                shown: None,
            };
            steps.push(Step::new(state.urn.clone(), kept));
        }
        if !steps.is_empty() {
            self.start_chain(Owner::Engine, steps);
        }
    }

    /// The next part of an import operation.
    pub(crate) fn import_on(&mut self) {
        if let Some(cause) = self.status.take_deferred() {
            return self.refuse_import(&format!("step application failed: {cause}"));
        }
        match self.import.stage {
            ImportStage::Sames => {
                self.import.stage = ImportStage::Root;
                self.make_import_root();
            }
            ImportStage::Root => {
                self.import.stage = ImportStage::Providers;
                self.make_import_providers();
            }
            ImportStage::Providers => {
                self.import.stage = ImportStage::Objects;
                self.import_next_wave();
            }
            ImportStage::Objects => self.import_next_wave(),
        }
    }

    fn make_import_root(&mut self) {
        let root = self.import_root();
        self.report.root_stack = Some(root.clone());
        if !self.urns.has(&root, UrnFlag::Seen) {
            let goal = Goal::bare(root.type_token(), root.name().into());
            self.register(Requester::Engine, goal);
        }
    }

    fn import_root(&self) -> Urn {
        Urn::root_stack(&self.ctx.stack, &self.ctx.project)
    }

    /// Registers the providers that are to be imported, those that imports name and that are nowhere, and the default
    /// providers that imports need.
    fn make_import_providers(&mut self) {
        let Operation::Import(specs) = &self.ctx.operation else {
            return;
        };
        let specs = specs.clone();
        // Settings from the file win over a provider that is made only because it is named.
        let (providers, others): (Vec<_>, Vec<_>) =
            specs.into_iter().partition(ImportSpec::is_provider);
        let specs = providers.into_iter().chain(others);
        for spec in specs {
            if let Err(message) = check_spec(&spec) {
                return self.refuse(None, &message);
            }
            if spec.is_provider() {
                self.make_provider(&spec);
                continue;
            }
            if let Some(urn) = &spec.provider {
                self.make_named_provider(urn, &spec.plugin);
            } else if spec.subject != ImportSubject::Component {
                self.make_default_provider(&spec);
            }
            self.import.waiting.push_back(spec);
        }
    }

    /// A provider that is itself imported is made from what is supplied.
    fn make_provider(&mut self, spec: &ImportSpec) {
        if self.urns.has(&self.import_urn(spec), UrnFlag::Seen) {
            return;
        }
        let mut inputs = spec.inputs.clone().unwrap_or_default();
        provider_inputs::write(&mut inputs, &spec.plugin);
        let goal = Goal {
            kind: ResourceKind::Provider,
            properties: Arc::new(inputs),
            parent: spec.parent.clone(),
            ..Goal::bare(TypeToken::new(spec.type_token.clone()), spec.name.clone())
        };
        self.register(Requester::Engine, goal);
    }

    /// A provider that is only named is made without settings, if it is not there.
    fn make_named_provider(&mut self, urn: &Urn, plugin: &PluginSpec) {
        let is_provider = TypeToken::new(urn.type_text()).is_provider();
        if !is_provider || self.urns.has(urn, UrnFlag::Seen) {
            return;
        }
        let mut inputs = PropertyMap::new();
        provider_inputs::write(&mut inputs, plugin);
        let goal = Goal {
            kind: ResourceKind::Provider,
            properties: Arc::new(inputs),
            ..Goal::bare(urn.type_token(), urn.name().into())
        };
        self.register_as(Requester::Engine, urn.clone(), goal);
    }

    fn make_default_provider(&mut self, spec: &ImportSpec) {
        let plugin = self.import_plugin(spec);
        let key = packages::default_key(&plugin);
        if self.defaults.contains_key(&key) {
            return;
        }
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
        if let Some(old) = self.urns.latest(&urn) {
            let reference = ProviderRef::new(urn, self.arena.state(old).id.as_str());
            self.defaults.insert(key, DefaultProvider::Ready(reference));
            return;
        }
        self.defaults
            .insert(key.clone(), DefaultProvider::Pending(Vec::new()));
        let mut inputs = packages::default_config(&package, &self.ctx.config);
        provider_inputs::write(&mut inputs, &plugin);
        let goal = Goal {
            kind: ResourceKind::Provider,
            properties: Arc::new(inputs),
            ..Goal::bare(type_token, name)
        };
        self.register(Requester::Default(key), goal);
    }

    fn import_plugin(&self, spec: &ImportSpec) -> PluginSpec {
        packages::with_defaults(spec.plugin.clone(), &self.ctx.default_versions)
    }

    /// Imports all objects whose parent is not still to be imported itself; ends the run when none is left.
    fn import_next_wave(&mut self) {
        if self.import.waiting.is_empty() {
            return self.finish();
        }
        let waiting = std::mem::take(&mut self.import.waiting);
        let awaited: FxHashSet<Urn> = waiting.iter().map(|spec| self.import_urn(spec)).collect();
        let mut later = VecDeque::new();
        let mut started = false;
        for spec in waiting {
            let parent = self.import_parent(&spec);
            if self.urns.latest(&parent).is_none() && awaited.contains(&parent) {
                later.push_back(spec);
                continue;
            }
            started |= self.import_one(&spec, parent);
            if self.status.has_failed() {
                return;
            }
        }
        if let (false, Some(spec)) = (started, later.front()) {
            let name = &spec.name;
            let message = format!("resource '{name}' is among its own parents");
            return self.refuse(None, &message);
        }
        self.import.waiting = later;
    }

    fn import_parent(&self, spec: &ImportSpec) -> Urn {
        spec.parent.clone().unwrap_or_else(|| self.import_root())
    }

    fn import_urn(&self, spec: &ImportSpec) -> Urn {
        let parent = self.import_parent(spec);
        Urn::new(
            &self.ctx.stack,
            &self.ctx.project,
            parent.qualified_type(),
            &spec.type_token,
            &spec.name,
        )
    }

    /// Starts one import; false if the resource is in the state already.
    fn import_one(&mut self, spec: &ImportSpec, parent: Urn) -> bool {
        let urn = self.import_urn(spec);
        if let Some(old) = self.urns.of_base(&urn) {
            if is_imported_already(self.arena.state(old), &spec.subject) {
                return false;
            }
        } else if self.urns.has(&urn, UrnFlag::Seen) {
            let message = format!(
                "duplicate import '{}' of type '{}'",
                spec.name, spec.type_token
            );
            self.refuse(Some(&urn), &message);
            return false;
        }
        self.urns.mark(&urn, UrnFlag::Seen);
        match self.planned_state(spec, &urn, parent) {
            Ok((new, instance)) => {
                self.urns.mark(&urn, UrnFlag::Imported);
                self.imports.add(urn.clone(), spec.clone());
                let import = StepKind::Import {
                    new: Arc::new(new),
                    instance,
                    replaces: None,
                    found: None,
                };
                self.start_chain(Owner::Engine, vec![Step::new(urn, import)]);
                true
            }
            Err(message) => {
                self.refuse(Some(&urn), &message);
                false
            }
        }
    }

    /// The state of an import before its object is read, and the provider instance that reads it.
    fn planned_state(
        &mut self,
        spec: &ImportSpec,
        urn: &Urn,
        parent: Urn,
    ) -> Result<(ResourceState, Option<InstanceId>), String> {
        let new = |kind| ResourceState {
            parent: Some(parent),
            protect: spec.protect,
            type_token: TypeToken::new(spec.type_token.clone()),
            ..ResourceState::new(urn.clone(), kind)
        };
        let ImportSubject::Object { id } = &spec.subject else {
            return Ok((new(ResourceKind::Component), None));
        };
        let reference = self.import_provider(spec)?;
        let instance = self.ensure_provider(&reference)?;
        let extension_ref = self.import_extension(spec, instance)?;
        let new = ResourceState {
            id: ResourceId::Known(id.clone()),
            import_id: id.clone(),
            provider: Some(reference),
            extension_ref,
            ..new(ResourceKind::Custom)
        };
        Ok((new, Some(instance)))
    }

    fn import_extension(
        &mut self,
        spec: &ImportSpec,
        instance: InstanceId,
    ) -> Result<Option<ecow::EcoString>, String> {
        if spec.extension.is_none() {
            return Ok(None);
        }
        let version = spec.plugin.version.as_ref();
        let request = RegisterPackageRequest {
            name: spec.plugin.name.clone(),
            version: version.map(ToString::to_string).unwrap_or_default().into(),
            download_url: spec.plugin.download_url.clone().unwrap_or_default(),
            checksums: spec.plugin.checksums.clone(),
            parameterization: None,
            extension: spec.extension.clone(),
        };
        let seeds = &mut self.seeds;
        let reference = self
            .packages
            .register(request, || seeds.uuid())
            .map_err(|error| error.to_string())?;
        self.apply_extension(instance, &reference)?;
        Ok(Some(reference))
    }

    fn import_provider(&self, spec: &ImportSpec) -> Result<ProviderRef, String> {
        let unknown =
            |what: &str| format!("unknown provider '{what}' for resource '{}'", spec.name);
        if let Some(urn) = &spec.provider {
            let known = self.urns.latest(urn);
            let state = known.map(|idx| self.arena.state(idx));
            return state
                .and_then(|state| state.as_provider_ref())
                .ok_or_else(|| unknown(urn.as_str()));
        }
        let plugin = self.import_plugin(spec);
        match self.defaults.get(&packages::default_key(&plugin)) {
            Some(DefaultProvider::Ready(reference)) => Ok(reference.clone()),
            _ => Err(unknown(&plugin.name)),
        }
    }
}

/// Whether the state has this very object, or the component, already.
fn is_imported_already(old: &ResourceState, subject: &ImportSubject) -> bool {
    match subject {
        ImportSubject::Object { id } => old.id.as_str() == id.as_str() || old.import_id == *id,
        ImportSubject::Component | ImportSubject::RemoteComponent => !old.is_custom(),
    }
}

fn check_spec(spec: &ImportSpec) -> Result<(), String> {
    if spec.subject == ImportSubject::Component {
        return Ok(());
    }
    TypeToken::managed(&spec.type_token)
        .map(drop)
        .map_err(|error| error.to_string())
}
