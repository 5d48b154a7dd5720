//! The provider processes of a run: which were started, how they were configured, and who of them may be called.

use std::collections::BTreeMap;

use plumb_deploy::{InstanceId, ProviderAction};
use plumb_resource::provider::ProviderCall;
use plumb_resource::{ProviderRef, ResourceId};

use super::Violation;

/// One provider process.
#[derive(Clone, Debug)]
struct Plugin {
    /// The provider resource that it was configured for.
    serves: Option<ProviderRef>,
    is_closed: bool,
}

/// All of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Plugins(BTreeMap<InstanceId, Plugin>);

impl Plugins {
    /// Something is done with a process.
    pub(super) fn act(
        &mut self,
        instance: InstanceId,
        action: ProviderAction,
    ) -> Result<(), Violation> {
        match action {
            ProviderAction::Load(_) => {
                let plugin = Plugin {
                    serves: None,
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

    /// Only what is open is called, and about resources only what is configured.
    pub(super) fn called(
        &mut self,
        instance: InstanceId,
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
        Ok(())
    }

    /// The provider that a process serves.
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
