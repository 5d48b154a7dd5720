//! Resources as a snapshot records them.

use std::sync::Arc;

use ecow::{EcoString, EcoVec, eco_vec};
use jiff::Timestamp;
use plumb_value::{PropertyKey, PropertyMap, Value};

use crate::{
    CustomTimeouts, Goal, Hooks, PropertyDependencies, ProviderRef, ResourceId, TypeToken, Urn,
};

/// The manager of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// A provider plugin; the resource has an id.
    Custom,
    /// The engine's provider registry: the resource *is* a provider.
    Provider,
    /// Nobody: the resource only groups others and has no id.
    Component,
}

impl ResourceKind {
    /// The kind behind the `custom` flag of wire and state formats.
    pub fn from_custom(custom: bool, type_token: &TypeToken) -> Self {
        match custom {
            false => ResourceKind::Component,
            true if type_token.is_provider() => ResourceKind::Provider,
            true => ResourceKind::Custom,
        }
    }

    /// The `custom` flag of wire and state formats.
    pub fn is_custom(self) -> bool {
        self != ResourceKind::Component
    }
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookType {
    /// Before Create.
    BeforeCreate,
    /// After Create.
    AfterCreate,
    /// Before Update.
    BeforeUpdate,
    /// After Update.
    AfterUpdate,
    /// Before Delete.
    BeforeDelete,
    /// After Delete.
    AfterDelete,
    /// After a failed operation; may ask for a retry.
    OnError,
}

impl HookType {
    /// Every type, in wire order.
    pub const ALL: [HookType; 7] = [
        HookType::BeforeCreate,
        HookType::AfterCreate,
        HookType::BeforeUpdate,
        HookType::AfterUpdate,
        HookType::BeforeDelete,
        HookType::AfterDelete,
        HookType::OnError,
    ];

    /// The name in state files.
    pub fn as_str(self) -> &'static str {
        match self {
            HookType::BeforeCreate => "BeforeCreate",
            HookType::AfterCreate => "AfterCreate",
            HookType::BeforeUpdate => "BeforeUpdate",
            HookType::AfterUpdate => "AfterUpdate",
            HookType::BeforeDelete => "BeforeDelete",
            HookType::AfterDelete => "AfterDelete",
            HookType::OnError => "OnError",
        }
    }
}

/// One frame of the call stack of a registration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackFrame {
    /// `project:///file#line,column`.
    pub source_position: Option<EcoString>,
}

/// One entry of a snapshot (`engine.md` 1.4, `state.md` 1.4).
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceState {
    /// URN of the resource, unique among the entries that are not pending deletion.
    pub urn: Urn,
    /// Type of the resource.
    pub type_token: TypeToken,
    /// Whether a provider plugin, the engine or nobody manages the resource.
    pub kind: ResourceKind,
    /// The entry is the old half of a replacement, still to be deleted.
    pub delete: bool,
    /// Id; `None` for components.
    pub id: ResourceId,
    /// Checked inputs; for reads, the properties that the program gave.
    pub inputs: Arc<PropertyMap>,
    /// Outputs that the provider returned; for components, the registered outputs.
    pub outputs: Arc<PropertyMap>,
    /// Parent resource.
    pub parent: Option<Urn>,
    /// Deletes and replacements are refused.
    pub protect: bool,
    /// The resource is marked for replacement at the next update.
    pub taint: bool,
    /// The resource was only read: it is managed outside of the stack, and no step creates, changes or deletes it.
    pub external: bool,
    /// Resources that this one depends on.
    pub dependencies: EcoVec<Urn>,
    /// Reasons why the last operation left the resource incomplete.
    pub init_errors: EcoVec<EcoString>,
    /// Provider; `None` for components and provider resources.
    pub provider: Option<ProviderRef>,
    /// For each property, the resources that its value was computed from.
    pub property_dependencies: PropertyDependencies,
    /// The object was deleted before its replacement, which has not been created yet.
    pub pending_replacement: bool,
    /// Outputs to treat as secret.
    pub additional_secret_outputs: EcoVec<PropertyKey>,
    /// Former URN that the current registration matched through its aliases. Kept in memory only.
    pub aliases: EcoVec<Urn>,
    /// Time limits.
    pub custom_timeouts: CustomTimeouts,
    /// Id given by the import option.
    pub import_id: EcoString,
    /// The object is kept when the resource is deleted from the state.
    pub retain_on_delete: bool,
    /// Resource whose deletion deletes this one too.
    pub deleted_with: Option<Urn>,
    /// Resources whose replacement replaces this one too.
    pub replace_with: EcoVec<Urn>,
    /// When the resource was created or imported.
    pub created: Option<Timestamp>,
    /// When the resource last changed.
    pub modified: Option<Timestamp>,
    /// Position of the registration in the program's source.
    pub source_position: Option<EcoString>,
    /// Call stack of the registration.
    pub stack_trace: EcoVec<StackFrame>,
    /// Paths whose changes are ignored.
    pub ignore_changes: EcoVec<EcoString>,
    /// Paths whose differences displays collapse.
    pub hide_diff: EcoVec<EcoString>,
    /// Paths whose changes force a replacement.
    pub replace_on_changes: EcoVec<EcoString>,
    /// A value whose change forces a replacement; null means none.
    pub replacement_trigger: Value,
    /// The provider wants a refresh before each update.
    pub refresh_before_update: bool,
    /// Owner, if the entry is a view of another resource.
    pub view_of: Option<Urn>,
    /// Hooks by type.
    pub hooks: Hooks,
    /// Reference of the extension parameterization that the resource needs.
    pub extension_ref: Option<EcoString>,
    /// Snippet that registered the resource.
    pub snippet_id: Option<EcoString>,
}

impl ResourceState {
    /// Whether some property is secret, or will be once its value is known.
    pub fn has_secrets(&self) -> bool {
        !self.additional_secret_outputs.is_empty()
            || self.inputs.contains_secrets()
            || self.outputs.contains_secrets()
    }

    /// An entry with an identity and everything else empty.
    pub fn new(urn: Urn, kind: ResourceKind) -> Self {
        ResourceState {
            type_token: urn.type_token(),
            urn,
            kind,
            delete: false,
            id: ResourceId::None,
            inputs: Arc::default(),
            outputs: Arc::default(),
            parent: None,
            protect: false,
            taint: false,
            external: false,
            dependencies: EcoVec::new(),
            init_errors: EcoVec::new(),
            provider: None,
            property_dependencies: PropertyDependencies::new(),
            pending_replacement: false,
            additional_secret_outputs: EcoVec::new(),
            aliases: EcoVec::new(),
            custom_timeouts: CustomTimeouts::default(),
            import_id: EcoString::new(),
            retain_on_delete: false,
            deleted_with: None,
            replace_with: EcoVec::new(),
            created: None,
            modified: None,
            source_position: None,
            stack_trace: EcoVec::new(),
            ignore_changes: EcoVec::new(),
            hide_diff: EcoVec::new(),
            replace_on_changes: EcoVec::new(),
            replacement_trigger: Value::Null,
            refresh_before_update: false,
            view_of: None,
            hooks: Hooks::new(),
            extension_ref: None,
            snippet_id: None,
        }
    }

    /// The entry of the same resource under the URN `urn`; the previous URN becomes its alias.
    #[must_use]
    pub fn renamed(&self, urn: &Urn) -> Self {
        if self.urn == *urn {
            return self.clone();
        }
        ResourceState {
            urn: urn.clone(),
            type_token: urn.type_token(),
            aliases: eco_vec![self.urn.clone()],
            ..self.clone()
        }
    }

    /// The entry that results from `goal` under `urn`, before any provider has been called.
    pub fn from_goal(urn: Urn, goal: &Goal) -> Self {
        ResourceState {
            type_token: goal.type_token.clone(),
            inputs: goal.properties.clone(),
            parent: goal.parent.clone(),
            protect: goal.protect.unwrap_or(false),
            dependencies: goal.dependencies.clone(),
            provider: goal.provider.clone(),
            property_dependencies: goal.property_dependencies.clone(),
            additional_secret_outputs: goal.additional_secret_outputs.clone(),
            custom_timeouts: goal.custom_timeouts.unwrap_or_default(),
            import_id: goal.import_id.clone().unwrap_or_default(),
            retain_on_delete: goal.retain_on_delete.unwrap_or(false),
            deleted_with: goal.deleted_with.clone(),
            replace_with: goal.replace_with.clone(),
            source_position: goal.source_position.clone(),
            stack_trace: goal.stack_trace.clone(),
            ignore_changes: goal.ignore_changes.clone(),
            hide_diff: goal.hide_diff.clone(),
            replace_on_changes: goal.replace_on_changes.clone(),
            replacement_trigger: goal.replacement_trigger.clone(),
            hooks: goal.hooks.clone(),
            extension_ref: goal.extension_ref.clone(),
            snippet_id: goal.snippet_id.clone(),
            ..ResourceState::new(urn, goal.kind)
        }
    }

    /// Whether the resource has the `custom` flag: every resource but a component.
    pub fn is_custom(&self) -> bool {
        self.kind.is_custom()
    }

    /// Reference to this entry, if the entry is a provider resource.
    pub fn as_provider_ref(&self) -> Option<ProviderRef> {
        (self.kind == ResourceKind::Provider)
            .then(|| ProviderRef::new(self.urn.clone(), self.id.as_str()))
    }

    /// URNs of the resources that this one refers to, in the order of `engine.md` 1.4: parent, dependencies, property
    /// dependencies, deletedWith, replaceWith. The provider is not included. A URN may occur several times.
    pub fn references(&self) -> impl Iterator<Item = &Urn> {
        self.parent
            .iter()
            .chain(&self.dependencies)
            .chain(self.property_dependencies.values().flatten())
            .chain(&self.deleted_with)
            .chain(&self.replace_with)
    }

    /// Drops the references to the resources for which `gone` holds. A property without remaining dependencies is removed
    /// from the list.
    pub fn drop_references(&mut self, gone: impl Fn(&Urn) -> bool) {
        self.dependencies.retain(|urn| !gone(urn));
        self.property_dependencies.retain(|_, urns| {
            urns.retain(|urn| !gone(urn));
            !urns.is_empty()
        });
        self.replace_with.retain(|urn| !gone(urn));
        self.deleted_with.take_if(|urn| gone(urn));
        self.parent.take_if(|urn| gone(urn));
    }

    /// The URN of the provider, then [`ResourceState::references`].
    pub fn references_and_provider(&self) -> impl Iterator<Item = &Urn> {
        self.provider
            .iter()
            .map(ProviderRef::urn)
            .chain(self.references())
    }
}
