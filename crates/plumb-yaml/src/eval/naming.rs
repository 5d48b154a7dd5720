//! Names of resources (`yaml-runtime.md` 5.3): in components they begin with the component's.

use ecow::EcoString;
use plumb_resource::{Alias, AliasSpec, Urn};

use super::driver::Run;
use crate::syntax::program::ResourceDecl;

impl Run<'_> {
    /// The name that a resource is registered under.
    pub(crate) fn resource_name(&self, decl: &ResourceDecl) -> EcoString {
        match &self.owner.component {
            Some(component) => format!("{component}-{}", decl.logical_name()).into(),
            None => decl.logical_name().clone(),
        }
    }

    /// Children of components were registered without the component's name once. A name that another child has now
    /// is not claimed.
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

    /// The component that is evaluated, if it is one.
    pub(crate) fn component(&self) -> Option<Urn> {
        self.owner
            .component
            .is_some()
            .then(|| self.owner.urn.clone())
    }
}
