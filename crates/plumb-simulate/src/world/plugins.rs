//! Provider processes of a run: their start, their configuration, and the legality of calls.

use std::collections::BTreeMap;

use plumb_deploy::{CallId, InstanceId, ProviderAction};
use plumb_resource::provider::{
    Parameterization, PluginSpec, ProviderCall, ProviderError, ProviderReply,
};
use plumb_resource::{ProviderRef, ResourceId};

use super::Violation;

/// Message of plugins for the extension `none`.
pub(super) const REFUSED: &str = "no such extension";

fn is_refused(extension: &Parameterization) -> bool {
    extension.value[..] == *b"none"
}

/// A provider process.
#[derive(Clone, Debug)]
struct Plugin {
    spec: PluginSpec,
    /// Provider resource that it is configured for.
    serves: Option<ProviderRef>,
    /// Whether it was started for a registration, and not for an entry of the state.
    is_of_program: bool,
    /// Extensions that it has, and those being added.
    extensions: Vec<Parameterization>,
    coming: Vec<(CallId, Parameterization)>,
    is_closed: bool,
}

/// Processes of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Plugins(BTreeMap<InstanceId, Plugin>);

impl Plugins {
    /// Handles an action on a process.
    pub(super) fn act(
        &mut self,
        instance: InstanceId,
        action: ProviderAction,
    ) -> Result<(), Violation> {
        match action {
            ProviderAction::Load(spec) => {
                let plugin = Plugin {
                    spec,
                    serves: None,
                    is_of_program: false,
                    extensions: Vec::new(),
                    coming: Vec::new(),
                    is_closed: false,
                };
                if self.0.insert(instance, plugin).is_some() {
                    return Err(wrong(format!("{instance:?} is started twice")));
                }
            }
            ProviderAction::Configure(request) => {
                let plugin = self.open(instance, "configured")?;
                if plugin.serves.is_some() || request.inputs.contains_key("__internal") {
                    return Err(wrong(format!("{request:?} is not for {plugin:?}")));
                }
                let id = match &request.id {
                    ResourceId::Known(id) => id.as_str(),
                    ResourceId::Unknown | ResourceId::None => "",
                };
                plugin.serves = Some(ProviderRef::new(request.urn, id));
            }
            ProviderAction::Close => self.open(instance, "closed")?.is_closed = true,
        }
        Ok(())
    }

    /// Checks that only open processes are called, and only configured ones for resources.
    pub(super) fn called(
        &mut self,
        instance: InstanceId,
        id: CallId,
        call: &ProviderCall,
    ) -> Result<(), Violation> {
        let plugin = self.open(instance, "called")?;
        let is_about_itself = matches!(
            call,
            ProviderCall::CheckConfig(_)
                | ProviderCall::DiffConfig(_)
                | ProviderCall::Parameterize(_)
        );
        if plugin.serves.is_none() && !is_about_itself {
            return Err(wrong(format!("{call:?} goes to {plugin:?}")));
        }
        match call {
            ProviderCall::Parameterize(extension) => {
                let coming = plugin.coming.iter().map(|(_, it)| it);
                if plugin
                    .extensions
                    .iter()
                    .chain(coming)
                    .any(|it| it == extension)
                {
                    return Err(wrong(format!("{extension:?} is applied again")));
                }
                plugin.coming.push((id, extension.clone()));
            }
            ProviderCall::CheckConfig(_) => plugin.is_of_program = true,
            _ if !is_about_itself && !plugin.coming.is_empty() => {
                return Err(wrong(format!("{call:?} does not wait for an extension")));
            }
            _ => {}
        }
        Ok(())
    }

    /// Reply to the parameterization with an extension.
    pub(super) fn extended(&mut self, call: CallId) -> Result<ProviderReply, ProviderError> {
        let mut refuses = false;
        for plugin in self.0.values_mut() {
            let coming = std::mem::take(&mut plugin.coming);
            let (come, coming): (Vec<_>, Vec<_>) =
                coming.into_iter().partition(|(id, _)| *id == call);
            plugin.coming = coming;
            let come = come.into_iter().map(|(_, it)| it);
            let (refused, taken): (Vec<_>, Vec<_>) = come.partition(is_refused);
            refuses |= !refused.is_empty();
            plugin.extensions.extend(taken);
        }
        if refuses {
            return Err(ProviderError::clean(REFUSED));
        }
        Ok(ProviderReply::Parameterized)
    }

    /// Whether a plugin has an extension.
    pub(super) fn has_extension(&self, instance: InstanceId, extension: &Parameterization) -> bool {
        let plugin = self.0.get(&instance);
        plugin.is_some_and(|plugin| plugin.extensions.contains(extension))
    }

    /// Specification with which a process was started for a registration.
    pub(super) fn spec_of_program(&self, instance: InstanceId) -> Option<&PluginSpec> {
        let plugin = self.0.get(&instance);
        plugin
            .filter(|plugin| plugin.is_of_program)
            .map(|plugin| &plugin.spec)
    }

    /// Provider that a process serves.
    pub(super) fn served_by(&self, instance: InstanceId) -> Option<&ProviderRef> {
        self.0.get(&instance)?.serves.as_ref()
    }

    fn open(&mut self, instance: InstanceId, what: &str) -> Result<&mut Plugin, Violation> {
        let plugin = self.0.get_mut(&instance);
        plugin
            .filter(|plugin| !plugin.is_closed)
            .ok_or_else(|| wrong(format!("{instance:?} is {what}, and does not run")))
    }
}

fn wrong(what: String) -> Violation {
    Violation::new("plugins", what)
}
