//! Resource options.
//!
//! One builder, whose type says for what kind of resource the options are: an option that makes no sense for the kind does
//! not compile. Lists append; a scalar that is set again replaces the former value.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::panic::Location;

use super::{Alias, Handle, Resource};
use crate::callbacks::{ErrorHook, Hook, TransformFn};
use crate::value::{IntoValue, Value};

/// Kinds of resources that options can be for.
pub mod kind {
    /// Resources of a provider.
    #[derive(Clone, Copy, Debug)]
    pub enum Custom {}
    /// Components of the program or of a provider.
    #[derive(Clone, Copy, Debug)]
    pub enum Component {}
    /// Providers.
    #[derive(Clone, Copy, Debug)]
    pub enum Provider {}
    /// Everything that is created through a context.
    #[derive(Clone, Copy, Debug)]
    pub enum Scope {}
}

/// Kinds that a provider creates.
pub trait CustomLike {}
impl CustomLike for kind::Custom {}
impl CustomLike for kind::Provider {}

/// Kinds of single resources.
pub trait ResourceLike {}
impl ResourceLike for kind::Custom {}
impl ResourceLike for kind::Component {}
impl ResourceLike for kind::Provider {}

/// Kinds with children, which can inherit several providers.
pub trait ComponentLike {}
impl ComponentLike for kind::Component {}
impl ComponentLike for kind::Scope {}

/// Options of a resource; [`opts`] makes empty ones.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx, database: &AnyResource) {
/// let careful = opts().protect(true).retain_on_delete(true);
/// let options = careful.merge(opts().depends_on([database]).ignore_changes(["tags"]).aliases(["old-name"]));
/// AnyResource::with(ctx, "aws:s3/bucket:Bucket", "backups", value!({}), options);
/// # }
/// ```
pub struct Options<K> {
    pub(crate) data: OptionData,
    kind: PhantomData<fn() -> K>,
}

/// How long operations may take, as in `"10m"`.
///
/// ```
/// use plumb::{Timeouts, kind, opts};
/// let timeouts = Timeouts { create: Some("10m".to_owned()), ..Timeouts::default() };
/// let options = opts::<kind::Custom>().timeouts(timeouts);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// Creating.
    pub create: Option<String>,
    /// Updating.
    pub update: Option<String>,
    /// Deleting.
    pub delete: Option<String>,
    /// Reading.
    pub read: Option<String>,
}

/// Options without their kind.
#[derive(Clone, Default)]
pub(crate) struct OptionData {
    pub(crate) parent: Option<Handle>,
    pub(crate) depends_on: Vec<Value>,
    pub(crate) protect: Option<bool>,
    pub(crate) provider: Option<Handle>,
    pub(crate) providers: Vec<Handle>,
    pub(crate) ignore_changes: Vec<String>,
    pub(crate) replace_on_changes: Vec<String>,
    pub(crate) replacement_trigger: Option<Value>,
    pub(crate) replace_with: Vec<Handle>,
    pub(crate) deleted_with: Option<Handle>,
    pub(crate) retain_on_delete: Option<bool>,
    pub(crate) delete_before_replace: Option<bool>,
    pub(crate) additional_secret_outputs: Vec<String>,
    pub(crate) aliases: Vec<Alias>,
    pub(crate) timeouts: Option<Timeouts>,
    pub(crate) import: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) plugin_download_url: Option<String>,
    pub(crate) package: Option<crate::Package>,
    pub(crate) hide_diffs: Vec<String>,
    pub(crate) env_var_mappings: BTreeMap<String, String>,
    pub(crate) transforms: Vec<TransformFn>,
    pub(crate) hooks: Vec<(Binding, Hook)>,
    pub(crate) error_hooks: Vec<ErrorHook>,
    pub(crate) location: Option<&'static Location<'static>>,
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    BeforeCreate,
    AfterCreate,
    BeforeUpdate,
    AfterUpdate,
    BeforeDelete,
    AfterDelete,
}

/// Empty options.
///
/// ```no_run
/// # use plumb::{AnyResource, Ctx, opts, value};
/// # fn program(ctx: &Ctx) {
/// let pet = AnyResource::with(ctx, "random:index/randomPet:RandomPet", "pet", value!({}),
///     opts().protect(true).ignore_changes(["length"]));
/// # }
/// ```
pub fn opts<K>() -> Options<K> {
    Options {
        data: OptionData::default(),
        kind: PhantomData,
    }
}

impl<K> Default for Options<K> {
    fn default() -> Self {
        opts()
    }
}

impl<K> Clone for Options<K> {
    fn clone(&self) -> Self {
        Options {
            data: self.data.clone(),
            kind: PhantomData,
        }
    }
}

impl<K> std::fmt::Debug for Options<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Options")
    }
}

fn strings<S: Into<String>>(items: impl IntoIterator<Item = S>) -> impl Iterator<Item = String> {
    items.into_iter().map(Into::into)
}

impl<K> Options<K> {
    pub(crate) fn of(data: OptionData) -> Self {
        Options {
            data,
            kind: PhantomData,
        }
    }

    fn change(mut self, change: impl FnOnce(&mut OptionData)) -> Self {
        change(&mut self.data);
        self
    }

    /// The component that the resource is a part of.
    #[must_use]
    pub fn parent(self, parent: &impl Resource) -> Self {
        self.change(|it| it.parent = Some(parent.handle().clone()))
    }

    /// Resources that have to be there before this one: references to resources, or outputs of them.
    #[must_use]
    pub fn depends_on<V: IntoValue>(self, resources: impl IntoIterator<Item = V>) -> Self {
        let resources = resources.into_iter().map(IntoValue::into_value);
        self.change(|it| it.depends_on.extend(resources))
    }

    /// Whether the resource is protected: no deployment deletes it.
    #[must_use]
    pub fn protect(self, protect: bool) -> Self {
        self.change(|it| it.protect = Some(protect))
    }

    /// The provider of the resource; its children inherit it.
    #[must_use]
    pub fn provider(self, provider: &impl Resource) -> Self {
        self.change(|it| it.provider = Some(provider.handle().clone()))
    }

    /// Replaces the resource when this value changes.
    #[must_use]
    pub fn replacement_trigger(self, value: impl IntoValue) -> Self {
        self.change(|it| it.replacement_trigger = Some(value.into_value()))
    }

    /// Replaces the resource whenever this one is replaced.
    #[must_use]
    pub fn replace_with(self, resource: &impl Resource) -> Self {
        self.change(|it| it.replace_with.push(resource.handle().clone()))
    }

    /// The resource is gone when this one is deleted, so that nobody needs to delete it.
    #[must_use]
    pub fn deleted_with(self, resource: &impl Resource) -> Self {
        self.change(|it| it.deleted_with = Some(resource.handle().clone()))
    }

    /// Whether the resource stays where it is when it is removed from the stack.
    #[must_use]
    pub fn retain_on_delete(self, retain: bool) -> Self {
        self.change(|it| it.retain_on_delete = Some(retain))
    }

    /// Former identities.
    #[must_use]
    pub fn aliases<A: Into<Alias>>(self, aliases: impl IntoIterator<Item = A>) -> Self {
        let aliases = aliases.into_iter().map(Into::into);
        self.change(|it| it.aliases.extend(aliases))
    }

    /// Version of the plugin.
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> Self {
        self.change(|it| it.version = Some(version.into()))
    }

    /// Where the plugin is downloaded from.
    #[must_use]
    pub fn plugin_download_url(self, url: impl Into<String>) -> Self {
        self.change(|it| it.plugin_download_url = Some(url.into()))
    }

    /// The parameterized package that the resource is of.
    #[must_use]
    pub fn package(self, package: &crate::Package) -> Self {
        self.change(|it| it.package = Some(package.clone()))
    }

    /// Properties whose changes are not shown in detail.
    #[must_use]
    pub fn hide_diffs<S: Into<String>>(self, properties: impl IntoIterator<Item = S>) -> Self {
        self.change(|it| it.hide_diffs.extend(strings(properties)))
    }

    /// A function that may change the resource, and those below it, before it is registered.
    #[must_use]
    pub fn transform<F, Fut>(self, transform: F) -> Self
    where
        F: Fn(crate::Transform) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = crate::Result<crate::Transform>> + Send + 'static,
    {
        self.change(|it| it.transforms.push(TransformFn::new(transform)))
    }

    /// Runs a hook before the resource is created.
    #[must_use]
    pub fn before_create(self, hook: &Hook) -> Self {
        self.hook(Binding::BeforeCreate, hook)
    }

    /// Runs a hook after the resource was created.
    #[must_use]
    pub fn after_create(self, hook: &Hook) -> Self {
        self.hook(Binding::AfterCreate, hook)
    }

    /// Runs a hook before the resource is updated.
    #[must_use]
    pub fn before_update(self, hook: &Hook) -> Self {
        self.hook(Binding::BeforeUpdate, hook)
    }

    /// Runs a hook after the resource was updated.
    #[must_use]
    pub fn after_update(self, hook: &Hook) -> Self {
        self.hook(Binding::AfterUpdate, hook)
    }

    /// Runs a hook before the resource is deleted.
    #[must_use]
    pub fn before_delete(self, hook: &Hook) -> Self {
        self.hook(Binding::BeforeDelete, hook)
    }

    /// Runs a hook after the resource was deleted.
    #[must_use]
    pub fn after_delete(self, hook: &Hook) -> Self {
        self.hook(Binding::AfterDelete, hook)
    }

    fn hook(self, binding: Binding, hook: &Hook) -> Self {
        self.change(|it| it.hooks.push((binding, hook.clone())))
    }

    /// Asks a hook whether to try again when an operation failed.
    #[must_use]
    pub fn on_error(self, hook: &ErrorHook) -> Self {
        self.change(|it| it.error_hooks.push(hook.clone()))
    }

    /// These options with `other` over them: lists append, and scalars of `other` win.
    #[must_use]
    pub fn merge(self, other: Options<K>) -> Self {
        Options {
            data: self.data.merge(other.data),
            kind: PhantomData,
        }
    }

    /// Applies `change` if `condition` holds.
    #[must_use]
    pub fn apply_if(self, condition: bool, change: impl FnOnce(Self) -> Self) -> Self {
        if condition { change(self) } else { self }
    }
}

impl<K: ResourceLike> Options<K> {
    /// Properties whose changes in the program are ignored.
    #[must_use]
    pub fn ignore_changes<S: Into<String>>(self, properties: impl IntoIterator<Item = S>) -> Self {
        self.change(|it| it.ignore_changes.extend(strings(properties)))
    }

    /// Properties whose changes replace the resource; `"*"` is any.
    #[must_use]
    pub fn replace_on_changes<S: Into<String>>(
        self,
        properties: impl IntoIterator<Item = S>,
    ) -> Self {
        self.change(|it| it.replace_on_changes.extend(strings(properties)))
    }

    /// How long operations may take.
    #[must_use]
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.change(|it| it.timeouts = Some(timeouts))
    }
}

impl<K: CustomLike> Options<K> {
    /// Whether a replacement deletes the old resource first.
    #[must_use]
    pub fn delete_before_replace(self, first: bool) -> Self {
        self.change(|it| it.delete_before_replace = Some(first))
    }

    /// Outputs that are secrets although the provider does not say so.
    #[must_use]
    pub fn additional_secret_outputs<S: Into<String>>(
        self,
        outputs: impl IntoIterator<Item = S>,
    ) -> Self {
        self.change(|it| it.additional_secret_outputs.extend(strings(outputs)))
    }

    /// Takes over an existing resource with this ID.
    #[must_use]
    pub fn import(self, id: impl Into<String>) -> Self {
        self.change(|it| it.import = Some(id.into()))
    }
}

impl<K: ComponentLike> Options<K> {
    /// Providers that children inherit, one for each package.
    #[must_use]
    pub fn providers<'a, P: Resource>(self, providers: impl IntoIterator<Item = &'a P>) -> Self {
        let providers = providers.into_iter().map(|it| it.handle().clone());
        self.change(|it| it.providers.extend(providers))
    }
}

impl Options<kind::Provider> {
    /// Other names of environment variables that the provider reads: new name, then the name that the provider knows.
    #[must_use]
    pub fn env_var_mapping(self, new: impl Into<String>, known: impl Into<String>) -> Self {
        self.change(|it| {
            it.env_var_mappings.insert(new.into(), known.into());
        })
    }
}

impl OptionData {
    pub(crate) fn merge(mut self, other: OptionData) -> Self {
        // A provider from further out stays for resources of its package, if nothing nearer is for them.
        self.providers.extend(self.provider.take());
        self.depends_on.extend(other.depends_on);
        self.providers.extend(other.providers);
        self.ignore_changes.extend(other.ignore_changes);
        self.replace_on_changes.extend(other.replace_on_changes);
        self.replace_with.extend(other.replace_with);
        self.additional_secret_outputs
            .extend(other.additional_secret_outputs);
        self.aliases.extend(other.aliases);
        self.hide_diffs.extend(other.hide_diffs);
        self.env_var_mappings.extend(other.env_var_mappings);
        self.transforms.extend(other.transforms);
        self.hooks.extend(other.hooks);
        self.error_hooks.extend(other.error_hooks);
        OptionData {
            parent: other.parent.or(self.parent),
            protect: other.protect.or(self.protect),
            provider: other.provider,
            replacement_trigger: other.replacement_trigger.or(self.replacement_trigger),
            deleted_with: other.deleted_with.or(self.deleted_with),
            retain_on_delete: other.retain_on_delete.or(self.retain_on_delete),
            delete_before_replace: other.delete_before_replace.or(self.delete_before_replace),
            timeouts: other.timeouts.or(self.timeouts),
            import: other.import.or(self.import),
            version: other.version.or(self.version),
            plugin_download_url: other.plugin_download_url.or(self.plugin_download_url),
            package: other.package.or(self.package),
            location: other.location.or(self.location),
            ..self
        }
    }
}
