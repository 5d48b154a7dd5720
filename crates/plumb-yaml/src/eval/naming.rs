//! Names of resources (`yaml-runtime.md` 5.3). Names of a component's children start with the component's name.

use ecow::EcoString;
use plumb_resource::{Alias, AliasSpec, Urn};

use super::driver::Run;
use crate::syntax::program::ResourceDecl;

impl Run<'_> {
    /// Name under which a resource is registered.
    pub(crate) fn resource_name(&self, decl: &ResourceDecl) -> EcoString {
        match &self.owner.component {
            Some(component) => format!("{component}-{}", decl.logical_name()).into(),
            None => decl.logical_name().clone(),
        }
    }

    /// Alias for a child of a component, because earlier versions registered children without the component's
    /// name. Omitted if another child now has that name.
    pub(crate) fn former_name(&self, decl: &ResourceDecl) -> Option<Alias> {
        self.owner.component.as_ref()?;
        let name = self.resource_name(decl);
        let is_taken = self
            .syntax
            .resources
            .iter()
            .any(|other| *other.logical_name() == name);
        (!is_taken).then(|| {
            Alias::Spec(AliasSpec {
                name: Some(decl.logical_name().clone()),
                ..AliasSpec::default()
            })
        })
    }

    /// URN of the component; `None` if the body is a program.
    pub(crate) fn component(&self) -> Option<Urn> {
        self.owner
            .component
            .is_some()
            .then(|| self.owner.urn.clone())
    }
}
