//! The provider registry: which provider instances there are, and how provider resources come to life (`engine.md` 3.1).

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{
    CheckResponse, ConfigureRequest, ConstructResponse, CreateResponse, InvokeResponse, PluginSpec,
    ProviderCall, ProviderReply, ReadResponse, UpdateResponse,
};
use plumb_resource::{PropertyDependencies, ProviderInstanceId, ProviderRef, ResourceId, Urn};
use plumb_value::{PropertyMap, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::deployment::Deployment;
use crate::event::ProviderAction;
use crate::ids::InstanceId;
use crate::steps::extensions::Held;
use crate::steps::provider_inputs;

/// A loaded provider.
#[derive(Debug)]
struct Instance {
    configuration: Configuration,
    /// Inputs of its resource, the engine's own keys included.
    inputs: Arc<PropertyMap>,
    /// Extension parameterizations that it has, or that are being applied.
    extensions: FxHashSet<EcoString>,
    /// How many of them are being applied, and what waits for that.
    applying: u32,
    held: Vec<Held>,
    /// The instance that took its place.
    successor: Option<InstanceId>,
}

/// Whether a provider has its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Configuration {
    /// Not yet.
    Missing,
    /// All of it.
    Known,
    /// Some of it is not known in this preview: the provider is not called (`engine.md` 3.7).
    Unknown,
}

/// All provider instances of a run.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    instances: Vec<Instance>,
    unconfigured: FxHashMap<Urn, InstanceId>,
    configured: FxHashMap<ProviderRef, InstanceId>,
    /// New URN of a renamed provider to its old one.
    aliases: FxHashMap<Urn, Urn>,
    /// Extensions that could not be applied, and why.
    refusals: FxHashMap<EcoString, Vec<(InstanceId, EcoString)>>,
}

impl Registry {
    fn instance(&self, id: InstanceId) -> &Instance {
        &self.instances[id.0 as usize]
    }

    fn instance_mut(&mut self, id: InstanceId) -> &mut Instance {
        &mut self.instances[id.0 as usize]
    }

    /// The instance that serves `reference`, if it is up.
    pub(crate) fn get(&self, reference: &ProviderRef) -> Option<InstanceId> {
        self.configured.get(reference).copied()
    }

    /// The instance of provider `urn` that CheckConfig was sent to and that has no configuration yet.
    pub(crate) fn unconfigured(&self, urn: &Urn) -> Option<InstanceId> {
        self.unconfigured.get(urn).copied()
    }

    /// Inputs with which an instance is (to be) configured, the engine's own keys included.
    pub(crate) fn inputs(&self, instance: InstanceId) -> &Arc<PropertyMap> {
        &self.instance(instance).inputs
    }

    /// Makes a provider that is registered under `new` also known as `old`.
    pub(crate) fn alias(&mut self, new: &Urn, old: &Urn) {
        self.aliases.insert(new.clone(), old.clone());
    }

    /// Notes that an instance gets an extension; false if it has it already.
    pub(crate) fn add_extension(&mut self, instance: InstanceId, reference: &EcoString) -> bool {
        let entry = self.instance_mut(instance);
        let is_new = entry.extensions.insert(reference.clone());
        if is_new {
            entry.applying += 1;
        }
        is_new
    }

    /// Notes that an extension was applied, or was not, and hands out what waited for the last of them.
    pub(crate) fn extension_applied(&mut self, instance: InstanceId) -> Vec<Held> {
        let entry = self.instance_mut(instance);
        entry.applying -= 1;
        if entry.applying == 0 {
            std::mem::take(&mut entry.held)
        } else {
            Vec::new()
        }
    }

    /// Where calls to `instance` wait, while an extension is being applied to it.
    pub(crate) fn held(&mut self, instance: InstanceId) -> Option<&mut Vec<Held>> {
        let entry = self.instance_mut(instance);
        (entry.applying > 0).then_some(&mut entry.held)
    }

    /// The instance that stands for `instance` now: the provider may have got another configuration since.
    pub(crate) fn current(&self, instance: InstanceId) -> InstanceId {
        let mut current = instance;
        while let Some(next) = self.instance(current).successor {
            current = next;
        }
        current
    }

    /// The extensions that `instance`, or what took its place for a while, had before the one that stands for it now did.
    pub(crate) fn outdated_extensions(&self, instance: InstanceId) -> Vec<EcoString> {
        let mut found: Vec<EcoString> = Vec::new();
        let mut outdated = self.instance(instance);
        while let Some(next) = outdated.successor {
            found.extend(outdated.extensions.iter().cloned());
            outdated = self.instance(next);
        }
        found.sort();
        found
    }

    /// Notes that an extension could not be applied, and why.
    pub(crate) fn refuse_extension(
        &mut self,
        instance: InstanceId,
        reference: &EcoString,
        why: EcoString,
    ) {
        self.instance_mut(instance).extensions.remove(reference);
        let refusals = self.refusals.entry(reference.clone()).or_default();
        refusals.push((instance, why));
    }

    /// Why `instance`, or what stood for it before, does not have an extension that was to be applied to it.
    pub(crate) fn refusal(&self, instance: InstanceId, reference: &EcoString) -> Option<EcoString> {
        let refusals = self.refusals.get(reference)?.iter();
        let mut of_it = refusals.filter(|(by, _)| self.current(*by) == self.current(instance));
        of_it.next().map(|(_, why)| why.clone())
    }

    /// Whether no extension was refused so far.
    pub(crate) fn have_refused_nothing(&self) -> bool {
        self.refusals.is_empty()
    }

    /// Whether part of the configuration of `instance` is not known in this preview.
    pub(crate) fn is_config_unknown(&self, instance: InstanceId) -> bool {
        self.instance(instance).configuration == Configuration::Unknown
    }

    /// The assumed answer of a provider that cannot be configured in this preview (`engine.md` 3.7).
    pub(crate) fn answer_unconfigured(
        &self,
        instance: InstanceId,
        call: &ProviderCall,
    ) -> Option<ProviderReply> {
        if !self.is_config_unknown(instance) {
            return None;
        }
        let empty = Arc::<PropertyMap>::default();
        Some(match call {
            ProviderCall::Check(request) => ProviderReply::Checked(CheckResponse {
                inputs: Some(request.new_inputs.clone()),
                ..CheckResponse::default()
            }),
            ProviderCall::Create(_) => ProviderReply::Created(CreateResponse {
                id: ResourceId::Unknown,
                outputs: empty,
                refresh_before_update: false,
            }),
            ProviderCall::Update(_) => ProviderReply::Updated(UpdateResponse {
                outputs: empty,
                refresh_before_update: false,
            }),
            ProviderCall::Read(request) => ProviderReply::Read(ReadResponse {
                id: request.id.clone(),
                inputs: Some(empty.clone()),
                outputs: Some(empty),
                refresh_before_update: false,
            }),
            ProviderCall::Delete(_) => ProviderReply::Deleted,
            ProviderCall::Invoke(_) | ProviderCall::Call(_) => {
                ProviderReply::Invoked(InvokeResponse {
                    result: empty,
                    failures: Vec::new(),
                    dependencies: PropertyDependencies::new(),
                })
            }
            ProviderCall::Construct(request) => ProviderReply::Constructed(ConstructResponse {
                urn: Urn::new(
                    "",
                    "",
                    "",
                    request.goal.type_token.as_str(),
                    &request.goal.name,
                ),
                outputs: empty,
                dependencies: PropertyDependencies::new(),
            }),
            ProviderCall::Parameterize(_) => ProviderReply::Parameterized,
            // A difference that the provider cannot tell is for the decision to deal with.
            ProviderCall::Diff(_) | ProviderCall::DiffConfig(_) | ProviderCall::CheckConfig(_) => {
                return None;
            }
        })
    }
}

impl Deployment {
    /// Loads a provider for the resource `urn`; it gets its configuration later.
    pub(crate) fn load_provider(&mut self, urn: &Urn, spec: PluginSpec) -> InstanceId {
        let id = InstanceId(self.providers.instances.len() as u32);
        self.providers.instances.push(Instance {
            configuration: Configuration::Missing,
            inputs: Arc::default(),
            extensions: FxHashSet::default(),
            applying: 0,
            held: Vec::new(),
            successor: None,
        });
        self.providers.unconfigured.insert(urn.clone(), id);
        self.provider_action(id, ProviderAction::Load(spec));
        id
    }

    /// Drops a provider that was loaded for `urn` and will not be configured.
    pub(crate) fn unload_unconfigured(&mut self, urn: &Urn) {
        if let Some(instance) = self.providers.unconfigured.remove(urn) {
            self.provider_action(instance, ProviderAction::Close);
        }
    }

    /// Configures the provider `urn` with `inputs` and registers it under `id`. The instance that CheckConfig went to is
    /// used if there is one. One that served the same reference before stays up: what is under way still needs it.
    pub(crate) fn configure_provider(
        &mut self,
        urn: &Urn,
        id: &ResourceId,
        inputs: &Arc<PropertyMap>,
    ) -> Result<InstanceId, String> {
        let instance = if let Some(instance) = self.providers.unconfigured.remove(urn) {
            instance
        } else {
            let package = urn
                .type_token()
                .provided_package()
                .unwrap_or_default()
                .to_owned();
            let spec = provider_inputs::read(&package, inputs)
                .map_err(|failure| failure.reason.to_string())?;
            let instance = self.load_provider(urn, spec);
            self.providers.unconfigured.remove(urn);
            instance
        };
        let visible = provider_inputs::without_internal(inputs);
        let is_unknown = visible
            .iter()
            .any(|(key, value)| key.as_str() != "version" && value.contains_unknowns());
        let configuration = if is_unknown {
            Configuration::Unknown
        } else {
            Configuration::Known
        };
        let entry = self.providers.instance_mut(instance);
        entry.configuration = configuration;
        entry.inputs = inputs.clone();
        if configuration == Configuration::Known {
            let request = ConfigureRequest {
                urn: urn.clone(),
                id: id.clone(),
                inputs: visible,
            };
            self.provider_action(instance, ProviderAction::Configure(request));
        }
        let reference = ProviderRef::new(urn.clone(), id.as_str());
        if let Some(old_urn) = self.providers.aliases.get(urn).cloned() {
            self.providers
                .configured
                .insert(reference.with_urn(old_urn), instance);
        }
        if let Some(previous) = self.providers.configured.insert(reference, instance)
            && previous != instance
        {
            self.providers.instance_mut(previous).successor = Some(instance);
        }
        Ok(instance)
    }

    /// The provider `urn` stays as it was: the instance that already runs on the same inputs goes on.
    pub(crate) fn keep_provider(
        &mut self,
        urn: &Urn,
        id: &ResourceId,
        inputs: &Arc<PropertyMap>,
    ) -> Result<InstanceId, String> {
        let reference = ProviderRef::new(urn.clone(), id.as_str());
        match self.providers.get(&reference) {
            Some(instance) if self.providers.inputs(instance) == inputs => {
                self.unload_unconfigured(urn);
                Ok(instance)
            }
            _ => self.configure_provider(urn, id, inputs),
        }
    }

    /// The provider for `reference`: the one that is up, or else one configured from the old state.
    pub(crate) fn ensure_provider(
        &mut self,
        reference: &ProviderRef,
    ) -> Result<InstanceId, String> {
        if let Some(instance) = self.providers.get(reference) {
            return Ok(instance);
        }
        let state = self
            .old_provider(reference)
            .ok_or_else(|| format!("unknown provider '{reference}'"))?;
        // The instance that a registration of this provider has checked stays its own.
        let checked = self.providers.unconfigured.remove(&state.urn);
        let result =
            self.configure_provider(&state.urn.clone(), &state.id.clone(), &state.inputs.clone());
        if let Some(checked) = checked {
            self.providers
                .unconfigured
                .insert(state.urn.clone(), checked);
        }
        if let Ok(instance) = result {
            let configured = &mut self.providers.configured;
            configured.insert(reference.clone(), instance);
        }
        result
    }

    /// The state of the provider that `reference` names, in the base snapshot; a pending deletion will do.
    pub(crate) fn old_provider(
        &self,
        reference: &ProviderRef,
    ) -> Option<Arc<plumb_resource::ResourceState>> {
        let ProviderInstanceId::Known(id) = reference.id() else {
            return None;
        };
        let former = self.aliases.former.get(reference.urn());
        self.olds
            .order()
            .iter()
            .map(|idx| self.arena.state(*idx))
            .filter(|state| state.urn == *reference.urn() || Some(&state.urn) == former)
            .find(|state| state.id.as_str() == id.as_str())
            .cloned()
    }

    /// Closes the provider of a deleted provider resource.
    pub(crate) fn close_provider(&mut self, urn: &Urn, id: &ResourceId) {
        let reference = ProviderRef::new(urn.clone(), id.as_str());
        if let Some(instance) = self.providers.configured.remove(&reference) {
            self.provider_action(instance, ProviderAction::Close);
        }
    }
}

/// Corrects the configuration that a plugin returned from CheckConfig: the version stays, and the engine's own key is put back
/// (PROV-31, PROV-32, PROV-33). The flag tells whether the plugin used the engine's key.
pub(crate) fn restore_engine_keys(
    urn: &Urn,
    asked: &PropertyMap,
    mut checked: PropertyMap,
) -> Result<(PropertyMap, bool), String> {
    if let Some(version) = asked.get("version") {
        match checked.get("version") {
            None => {
                checked.insert("version", version.clone());
            }
            Some(changed) if changed.without_secrets() != version.without_secrets() => {
                let text = |value: &Value| {
                    value
                        .without_secrets()
                        .as_str()
                        .unwrap_or_default()
                        .to_owned()
                };
                return Err(format!(
                    "provider \"{urn}\" attempted to change version from {} to {}",
                    text(version),
                    text(changed)
                ));
            }
            Some(_) => {}
        }
    }
    let misused = checked.contains_key(provider_inputs::INTERNAL);
    checked.remove(provider_inputs::INTERNAL);
    if let Some(internal) = asked.get(provider_inputs::INTERNAL) {
        checked.insert(provider_inputs::INTERNAL, internal.clone());
    }
    Ok((checked, misused))
}

/// The message about a use of a default provider that the configuration disables; `user` is a URN or a token.
pub(crate) fn denied(package: &str, user: impl std::fmt::Display) -> String {
    format!("Default provider for '{package}' disabled. '{user}' must use an explicit provider.")
}
