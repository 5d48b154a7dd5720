//! Options that children inherit from their parents (`engine.md` 2.3, 2.4).

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_resource::{ProviderRef, TypeToken, Urn};

use crate::deployment::Deployment;
use crate::facts::urns::GoalMemory;
use crate::request::RegisterRequest;

fn is_local_component(request: &RegisterRequest) -> bool {
    !request.remote && !request.custom
}

fn is_default(reference: &str) -> bool {
    ProviderRef::parse(reference).is_ok_and(|reference| reference.urn().is_default_provider())
}

impl Deployment {
    /// Step 4: what the program leaves open is taken from the parent.
    pub(crate) fn inherit_from_parent(&self, request: &mut RegisterRequest) {
        let Some(parent) = request
            .parent
            .as_ref()
            .and_then(|parent| self.urns.goal(parent))
        else {
            return;
        };
        if request.deleted_with.is_none() {
            request.deleted_with.clone_from(&parent.deleted_with);
        }
        request.protect = request.protect.or(parent.protect);
        request.retain_on_delete = request.retain_on_delete.or(parent.retain_on_delete);
    }

    /// The provider of a parent that a provider manages, which transforms see: for what is of its package, and for local
    /// components.
    pub(crate) fn inherit_provider_before_transforms(&self, request: &mut RegisterRequest) {
        self.inherit_provider(request, |parent| !parent.is_component);
    }

    /// The provider of a parent component, for what is of its package, and for local components. Transforms do not see it
    /// (XFORM-08).
    pub(crate) fn inherit_provider_after_transforms(&self, request: &mut RegisterRequest) {
        if is_local_component(request) && is_default(&request.provider) {
            // Resources below a component find default providers by themselves.
            request.provider = EcoString::new();
        }
        self.inherit_provider(request, |parent| parent.is_component);
    }

    fn inherit_provider(
        &self,
        request: &mut RegisterRequest,
        may_give: impl Fn(&GoalMemory) -> bool,
    ) {
        let parent = request.parent.as_ref();
        let parent = parent.and_then(|parent| self.urns.goal(parent));
        let parent = parent.filter(|parent| request.provider.is_empty() && may_give(parent));
        let Some(reference) = parent.and_then(|parent| parent.provider.as_ref()) else {
            return;
        };
        let package = TypeToken::package_in(&request.type_token);
        if is_local_component(request) || reference.package() == package {
            request.provider = reference.to_string().into();
        }
    }

    /// Step 12: the provider that the request's map, or that of the parent component, names for `package`.
    pub(crate) fn provider_from_maps(
        &self,
        package: &str,
        providers: &BTreeMap<EcoString, EcoString>,
        parent: Option<&Urn>,
    ) -> EcoString {
        if let Some(reference) = providers.get(package) {
            return reference.clone();
        }
        let parent = parent
            .and_then(|parent| self.urns.goal(parent))
            .filter(|parent| parent.is_component);
        parent
            .and_then(|parent| parent.providers.get(package))
            .cloned()
            .unwrap_or_default()
    }

    /// Step 15: a component inherits what its own map of providers lacks.
    pub(crate) fn inherit_providers(&self, request: &mut RegisterRequest) {
        let Some(parent) = request
            .parent
            .as_ref()
            .and_then(|parent| self.urns.goal(parent))
        else {
            return;
        };
        if parent.is_component {
            for (package, reference) in &parent.providers {
                request
                    .providers
                    .entry(package.clone())
                    .or_insert_with(|| reference.clone());
            }
        }
    }

    /// Keeps of the registration of `urn` what its children and methods need.
    pub(crate) fn remember_goal(
        &mut self,
        urn: &Urn,
        request: &RegisterRequest,
        provider: Option<&ProviderRef>,
    ) {
        let provider = match provider {
            Some(reference) if !reference.is_denied() => Some(reference.clone()),
            _ => ProviderRef::parse(&request.provider).ok(),
        };
        let memory = GoalMemory {
            protect: request.protect,
            retain_on_delete: request.retain_on_delete,
            deleted_with: request.deleted_with.clone(),
            provider,
            providers: request.providers.clone(),
            is_component: !request.custom,
            parent: request.parent.clone(),
            transforms: request.transforms.clone(),
            snippet_id: request.snippet_id.clone(),
        };
        self.urns.set_goal(urn, memory);
    }
}
