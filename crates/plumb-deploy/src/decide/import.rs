//! The import option of a registration (`engine.md` 4.3 E): the object that it names is adopted before anything is decided.

use std::sync::Arc;

use plumb_resource::{ResourceId, ResourceState, Urn};

use crate::deployment::Deployment;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::RegIdx;
use crate::step::{Order, Replaced, Step, StepKind};
use crate::steps::scheduler::Owner;

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

    /// Reports why a provider that an import needs could not check its settings.
    pub(crate) fn import_provider_failed(&mut self, urn: &Urn, cause: &str) {
        let which = if urn.is_default_provider() {
            "provider config".to_owned()
        } else {
            format!("explicit provider config for {urn}")
        };
        self.refuse_import(&format!("failed to validate {which}: {cause}"));
    }

    /// Reports why the import as a whole ends.
    pub(crate) fn refuse_import(&mut self, cause: &str) {
        let what = if self.ctx.options.is_preview() {
            "preview"
        } else {
            "update"
        };
        self.refuse(None, &format!("{what} failed: {cause}"));
    }
}
