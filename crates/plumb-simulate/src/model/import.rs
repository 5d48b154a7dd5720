//! The import operation (`engine.md` 7.5).

use plumb_resource::{
    ProviderRef, ResourceId, ResourceKind, ResourceState, StepOp, TypeToken, Urn,
};

use super::Model;
use super::chains::Owner;
use super::steps::{Plan, Way};
use crate::story::{PROJECT, STACK, package_of, token_of};

impl Model<'_> {
    /// Keeps all resources of the state unchanged.
    pub(super) fn pass_everything_on(&mut self) {
        self.program_finished = true;
        let mut steps = Vec::new();
        for node in 0..self.olds {
            let state = self.state(node).clone();
            if state.delete {
                continue;
            }
            let fate = self.fate_mut(&state.urn);
            fate.seen = true;
            fate.same = true;
            let step = Plan::new(StepOp::Same, &state.urn).old(Some(node));
            let step = step.way(Way::Untargeted);
            steps.push(step.new_state(state.as_ref().clone()));
        }
        if !steps.is_empty() {
            self.plan(Owner::Engine, steps);
        }
    }

    /// Reads and records the objects, after the stack and the providers are registered.
    pub(super) fn import_objects(&mut self) {
        if self.deferred {
            return;
        }
        for import in &self.operation.imports {
            let token = token_of(&import.type_name);
            let urn = Urn::new(STACK, PROJECT, "", token, &import.name);
            if let Some(old) = self.live_old(&urn) {
                let old = self.state(old);
                if old.id.as_str() == import.id || old.import_id == import.id.as_str() {
                    continue;
                }
            } else if self.fate(&urn).seen {
                self.reason("the same is imported twice");
                self.must_end = true;
                return;
            }
            self.fate_mut(&urn).seen = true;
            let state = ResourceState {
                id: ResourceId::from_text(&import.id),
                type_token: TypeToken::new(token),
                parent: Some(Self::root_urn()),
                provider: self.importing_provider(package_of(&import.type_name)),
                ..ResourceState::new(urn.clone(), ResourceKind::Custom)
            };
            self.coverage.reach("IMPORT-10");
            let step = Plan::new(StepOp::Import, &urn).new_state(state);
            self.plan(Owner::Engine, vec![step]);
        }
    }

    fn importing_provider(&self, package: &str) -> Option<ProviderRef> {
        let version = self.versions.get(package).cloned();
        let name = Self::default_name(version.as_deref());
        let token = format!("pulumi:providers:{package}");
        let urn = Urn::new(STACK, PROJECT, "", &token, &name);
        match self.live_old(&urn) {
            Some(node) => self.state(node).as_provider_ref(),
            None => self.defaults.get(&(package.to_owned(), version)).cloned(),
        }
    }
}
