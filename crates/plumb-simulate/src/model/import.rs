//! The import operation (`engine.md` 7.5).

use plumb_resource::{
    ProviderRef, ResourceId, ResourceKind, ResourceState, StepOp, TypeToken, Urn,
};

use super::steps::{Ended, Plan};
use super::{Flow, Model};
use crate::story::{ImportDecl, Operation, PROJECT, Res, STACK, package_of, token_of};

impl Model<'_> {
    /// Everything that is there is passed on; the stack and default providers are made if they are missing; objects are
    /// read and recorded.
    pub(super) fn import_objects(&mut self) {
        for node in 0..self.olds {
            let state = self.state(node).clone();
            if state.delete {
                continue;
            }
            let fate = self.fate_mut(&state.urn);
            fate.seen = true;
            fate.same = true;
            if !self.begin(&state.urn, StepOp::Same) {
                return;
            }
            self.count(&state.urn, StepOp::Same);
        }
        let root = Self::root_urn();
        if !self.fate(&root).seen {
            let stack = Res::new("Stack", "stack");
            let wanted = self.bare(&stack);
            if let Flow::Cut = self.register(&stack, wanted) {
                return;
            }
        }
        let operation: &Operation = self.operation;
        for import in &operation.imports {
            let package = package_of(&import.type_name);
            let Some(provider) = self.importing_provider(package) else {
                return;
            };
            self.import_object_of(import, &root, provider);
        }
    }

    fn importing_provider(&mut self, package: &str) -> Option<ProviderRef> {
        let version = self.versions.get(package).cloned();
        let name = Self::default_name(version.as_deref());
        let token = format!("pulumi:providers:{package}");
        let urn = Urn::new(STACK, PROJECT, "", &token, &name);
        match self.live_old(&urn) {
            Some(node) => self.state(node).as_provider_ref(),
            None => self.default_provider(package.to_owned(), version),
        }
    }

    fn import_object_of(&mut self, import: &ImportDecl, root: &Urn, provider: ProviderRef) {
        let token = token_of(&import.type_name);
        let urn = Urn::new(STACK, PROJECT, "", token, &import.name);
        if let Some(old) = self.live_old(&urn) {
            let old = self.state(old);
            let is_another = old.id.as_str() != import.id && old.import_id != import.id.as_str();
            if is_another && self.begin(&urn, StepOp::Import) {
                self.reason("it exists already");
            }
            return;
        }
        let state = ResourceState {
            id: ResourceId::from_text(&import.id),
            type_token: TypeToken::new(token),
            parent: Some(root.clone()),
            provider: Some(provider),
            ..ResourceState::new(urn.clone(), ResourceKind::Custom)
        };
        let step = Plan::new(StepOp::Import, &urn).new_state(state);
        if let Ended::Done(_) = self.chain(vec![step]) {
            self.coverage.reach("IMPORT-10");
        }
    }
}
