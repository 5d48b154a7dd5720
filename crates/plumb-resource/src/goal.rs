//! Goal states of registrations.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::{EcoString, EcoVec};
use plumb_value::{PropertyKey, PropertyMap, SortedMap, Value};

use crate::{HookType, ProviderRef, ResourceKind, StackFrame, TypeToken, Urn};

/// The goal state of a resource: everything that one registration says about it (`engine.md` 1.3).
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Type of the resource.
    pub type_token: TypeToken,
    /// Name of the resource.
    pub name: EcoString,
    /// Whether a provider plugin, the engine or nobody manages the resource.
    pub kind: ResourceKind,
    /// Inputs as the program gave them, without output wrappers.
    pub properties: Arc<PropertyMap>,
    /// Parent resource.
    pub parent: Option<Urn>,
    /// Whether deletes and replacements are refused; `None` when the program does not say.
    pub protect: Option<bool>,
    /// Resources that this one depends on.
    pub dependencies: EcoVec<Urn>,
    /// Provider; `None` for components and provider resources.
    pub provider: Option<ProviderRef>,
    /// For each property, the resources that its value was computed from.
    pub property_dependencies: PropertyDependencies,
    /// Whether to delete the old resource before creating its replacement; `None` leaves it to the provider.
    pub delete_before_replace: Option<bool>,
    /// Paths whose changes are ignored.
    pub ignore_changes: EcoVec<EcoString>,
    /// Paths whose differences displays collapse.
    pub hide_diff: EcoVec<EcoString>,
    /// Outputs to treat as secret.
    pub additional_secret_outputs: EcoVec<PropertyKey>,
    /// Former identities.
    pub aliases: EcoVec<Alias>,
    /// Id of an existing object to import.
    pub import_id: Option<EcoString>,
    /// Time limits; `None` when the program says nothing about them.
    pub custom_timeouts: Option<CustomTimeouts>,
    /// Paths whose changes force a replacement.
    pub replace_on_changes: EcoVec<EcoString>,
    /// A value whose change forces a replacement; null means none.
    pub replacement_trigger: Value,
    /// Whether to keep the object when the resource is deleted from the state.
    pub retain_on_delete: Option<bool>,
    /// Resource whose deletion deletes this one too.
    pub deleted_with: Option<Urn>,
    /// Resources whose replacement replaces this one too.
    pub replace_with: EcoVec<Urn>,
    /// Position of the registration in the program's source.
    pub source_position: Option<EcoString>,
    /// Call stack of the registration.
    pub stack_trace: EcoVec<StackFrame>,
    /// Hooks by type.
    pub hooks: Hooks,
    /// Reference of the extension parameterization that the resource needs.
    pub extension_ref: Option<EcoString>,
    /// Snippet that registers the resource.
    pub snippet_id: Option<EcoString>,
}

impl Goal {
    /// A goal with identity alone: a component without options.
    pub fn bare(type_token: TypeToken, name: EcoString) -> Self {
        Goal {
            type_token,
            name,
            kind: ResourceKind::Component,
            properties: Arc::default(),
            parent: None,
            protect: None,
            dependencies: EcoVec::new(),
            provider: None,
            property_dependencies: PropertyDependencies::new(),
            delete_before_replace: None,
            ignore_changes: EcoVec::new(),
            hide_diff: EcoVec::new(),
            additional_secret_outputs: EcoVec::new(),
            aliases: EcoVec::new(),
            import_id: None,
            custom_timeouts: None,
            replace_on_changes: EcoVec::new(),
            replacement_trigger: Value::Null,
            retain_on_delete: None,
            deleted_with: None,
            replace_with: EcoVec::new(),
            source_position: None,
            stack_trace: EcoVec::new(),
            hooks: Hooks::new(),
            extension_ref: None,
            snippet_id: None,
        }
    }
}

/// For each property, the resources that its value was computed from.
pub type PropertyDependencies = SortedMap<PropertyKey, EcoVec<Urn>>;

/// Names of the hooks to run, by type.
pub type Hooks = BTreeMap<HookType, Vec<EcoString>>;

/// A former identity of a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Alias {
    /// The whole former URN.
    Urn(Urn),
    /// The parts that were different; all others equal those of the current identity.
    Spec(AliasSpec),
}

/// The parts of a former identity; `None` means the current value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AliasSpec {
    /// Former name.
    pub name: Option<EcoString>,
    /// Former type.
    pub type_token: Option<TypeToken>,
    /// Former stack.
    pub stack: Option<EcoString>,
    /// Former project.
    pub project: Option<EcoString>,
    /// Former parent.
    pub parent: AliasParent,
}

/// The parent in an [`AliasSpec`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AliasParent {
    /// The parent that the resource has now.
    #[default]
    Same,
    /// There was no parent.
    None,
    /// Another parent.
    Urn(Urn),
}

/// Time limits of operations, in seconds; zero means the provider's default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CustomTimeouts {
    /// Limit for creation.
    pub create: f64,
    /// Limit for updates.
    pub update: f64,
    /// Limit for deletion.
    pub delete: f64,
    /// Limit for reading.
    pub read: f64,
}

impl CustomTimeouts {
    /// Whether no limit is set.
    pub fn is_default(&self) -> bool {
        *self == CustomTimeouts::default()
    }
}
