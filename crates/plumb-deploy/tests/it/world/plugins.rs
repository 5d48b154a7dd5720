//! The provider processes of a run: which were started, how they were configured, and which call went to which.

use std::collections::{BTreeMap, BTreeSet};

use plumb_deploy::{InstanceId, ProviderAction};
use plumb_resource::provider::{ConfigureRequest, Parameterization, PluginSpec, ProviderCall};
use plumb_value::{PropertyMap, Value};

use super::{Cloud, Ran};

/// One provider process.
#[derive(Clone, Debug)]
pub(crate) struct Plugin {
    pub(crate) spec: PluginSpec,
    pub(crate) configuration: Option<ConfigureRequest>,
    /// Extension parameters, in the order in which they were applied.
    pub(crate) extensions: Vec<Parameterization>,
    is_closed: bool,
}

impl Plugin {
    /// Name of the provider resource that it was configured for.
    pub(crate) fn provider(&self) -> &str {
        self.configuration
            .as_ref()
            .expect("it is configured")
            .urn
            .name()
    }

    /// A text setting of its configuration.
    pub(crate) fn setting(&self, key: &str) -> Option<&str> {
        let configuration = self.configuration.as_ref().expect("it is configured");
        configuration.inputs.get(key).and_then(Value::as_str)
    }

    pub(crate) fn version(&self) -> Option<String> {
        self.spec.version.as_ref().map(ToString::to_string)
    }
}

/// All of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plugins {
    loaded: BTreeMap<InstanceId, Plugin>,
    /// `operation name`, and who served it.
    calls: Vec<(String, InstanceId)>,
}

impl Plugins {
    pub(super) fn act(&mut self, instance: InstanceId, action: ProviderAction) {
        match action {
            ProviderAction::Load(spec) => {
                let plugin = Plugin {
                    spec,
                    configuration: None,
                    extensions: Vec::new(),
                    is_closed: false,
                };
                assert!(self.loaded.insert(instance, plugin).is_none());
            }
            ProviderAction::Configure(request) => {
                assert!(!request.inputs.contains_key("__internal"), "{request:?}");
                let plugin = self.open(instance, "is configured");
                assert!(
                    plugin.configuration.is_none(),
                    "configured twice: {plugin:?}"
                );
                plugin.configuration = Some(request);
            }
            ProviderAction::Close => self.open(instance, "is closed").is_closed = true,
        }
    }

    /// Only a provider that is open is called, and about resources only one that is configured.
    pub(super) fn called(&mut self, instance: InstanceId, request: &ProviderCall) {
        let (operation, name) = Cloud::title(request);
        let call = format!("{operation} {name}");
        let plugin = self.open(instance, &call);
        match request {
            ProviderCall::CheckConfig(_) | ProviderCall::DiffConfig(_) => {}
            ProviderCall::Parameterize(parameter) => plugin.extensions.push(parameter.clone()),
            _ => assert!(
                plugin.configuration.is_some(),
                "{call}: no configuration yet"
            ),
        }
        self.calls.push((call, instance));
    }

    /// The configuration that a provider runs with; empty before it has one.
    pub(super) fn configuration(&self, instance: InstanceId) -> PropertyMap {
        let request = self.loaded[&instance].configuration.as_ref();
        request.map_or_else(PropertyMap::new, |it| it.inputs.as_ref().clone())
    }

    fn open(&mut self, instance: InstanceId, what: &str) -> &mut Plugin {
        let plugin = self
            .loaded
            .get_mut(&instance)
            .unwrap_or_else(|| panic!("{what}: {instance:?} was never started"));
        assert!(!plugin.is_closed, "{what}: {plugin:?} is closed");
        plugin
    }
}

impl Ran {
    /// Who served the calls of this title; all of them went to one.
    #[track_caller]
    pub(crate) fn server(&self, call: &str) -> &Plugin {
        let served: BTreeSet<_> = self
            .plugins
            .calls
            .iter()
            .filter(|(title, _)| title == call)
            .map(|(_, instance)| instance)
            .collect();
        assert_eq!(served.len(), 1, "`{call}` in {:?}", self.plugins.calls);
        &self.plugins.loaded[served.first().expect("there is one")]
    }

    /// The providers that were configured, by the names of their resources, in alphabetical order.
    pub(crate) fn configured(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .plugins
            .loaded
            .values()
            .filter(|plugin| plugin.configuration.is_some())
            .map(Plugin::provider)
            .collect();
        names.sort_unstable();
        names
    }

    /// The plugins that were loaded, as `name` or `name@version`, in the order of loading.
    pub(crate) fn loaded(&self) -> Vec<String> {
        let title = |plugin: &Plugin| match plugin.version() {
            Some(version) => format!("{}@{version}", plugin.spec.name),
            None => plugin.spec.name.to_string(),
        };
        self.plugins.loaded.values().map(title).collect()
    }
}
