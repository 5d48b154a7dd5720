//! Names of registrations that the program gives no name (`engine.md` 8.4); the rules are those of the setup.

use plumb_resource::ResourceKind;

use crate::deployment::Deployment;
use crate::ids::RegIdx;

impl Deployment {
    /// Finds out how a registration is named that the program may have given no name. Rules count for providers too:
    /// they have no names in a cloud, but are deleted before they are replaced, and their users before them.
    pub(crate) fn name_resource(&mut self, idx: RegIdx) {
        let registration = self.registration(idx);
        if registration.goal.kind == ResourceKind::Component {
            return;
        }
        let named = self
            .ctx
            .options
            .naming
            .name(&registration.urn, &registration.seed);
        let registration = self.registration_mut(idx);
        if named.as_ref().is_some_and(|named| named.is_fixed) {
            std::sync::Arc::make_mut(&mut registration.goal).delete_before_replace = Some(true);
        }
        registration.naming = named;
    }

    /// The provider of a registration did not understand how it is to be named.
    pub(crate) fn warn_of_ignored_naming(&mut self, idx: RegIdx) {
        // Once is enough, however often inputs are checked.
        let registration = self.registration_mut(idx);
        let must_be_heard = registration
            .naming
            .as_mut()
            .is_some_and(|named| std::mem::take(&mut named.must_be_heard));
        if must_be_heard {
            let urn = registration.urn.clone();
            let message = format!(
                "{urn} resource has a custom autonaming setting but the provider does not support autonaming \
                 configuration, consider upgrading to a newer version"
            );
            self.warning(Some(&urn), &message);
        }
    }
}
