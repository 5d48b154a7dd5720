//! What a provider is asked, and how it answers (`protocol.md` 5): plain data, the same for plugin processes, for
//! providers built into the binary, and for the core that decides which calls to make.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::{EcoString, EcoVec};
use plumb_value::PropertyMap;

use crate::{PropertyDependencies, ResourceId, StatusTarget, TypeToken, Urn, View};

/// Which plugin to run, and how.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PluginSpec {
    /// Name of the plugin: `random` for `pulumi-resource-random`.
    pub name: EcoString,
    /// Exact version, if one is asked for.
    pub version: Option<semver::Version>,
    /// Where to download it from.
    pub download_url: Option<EcoString>,
    /// Checksums of the archives by platform, lowercase hex.
    pub checksums: BTreeMap<EcoString, EcoString>,
    /// Parameter to apply before use.
    pub parameterization: Option<Parameterization>,
    /// Environment variables to rename for the process: old name to the variable that holds the value.
    pub env_var_mappings: BTreeMap<EcoString, EcoString>,
}

impl PluginSpec {
    /// The plugin called `name`, whatever version there is.
    pub fn named(name: &str) -> Self {
        PluginSpec {
            name: name.into(),
            version: None,
            download_url: None,
            checksums: BTreeMap::new(),
            parameterization: None,
            env_var_mappings: BTreeMap::new(),
        }
    }
}

/// A parameter that makes a plugin serve another package (replacement) or more of its own (extension).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameterization {
    /// Package name that results.
    pub name: EcoString,
    /// Package version that results.
    pub version: EcoString,
    /// Opaque parameter.
    pub value: Arc<[u8]>,
}

/// A call to a provider.
#[derive(Clone, Debug, PartialEq)]
pub enum ProviderCall {
    /// Checks the provider's own configuration.
    CheckConfig(CheckConfigRequest),
    /// Compares two configurations of the provider.
    DiffConfig(DiffRequest),
    /// Checks inputs of a resource and fills in defaults.
    Check(CheckRequest),
    /// Compares a resource with new inputs.
    Diff(DiffRequest),
    /// Creates a resource.
    Create(CreateRequest),
    /// Reads a resource.
    Read(ReadRequest),
    /// Changes a resource in place.
    Update(UpdateRequest),
    /// Deletes a resource.
    Delete(DeleteRequest),
    /// Calls a function.
    Invoke(InvokeRequest),
    /// Constructs a remote component.
    Construct(Box<ConstructRequest>),
    /// Calls a method.
    Call(CallRequest),
    /// Applies an extension parameter.
    Parameterize(Parameterization),
}

impl ProviderCall {
    /// Says where the provider may tell of views. Calls that are not about a resource stay as they are.
    #[must_use]
    pub fn with_status(mut self, target: StatusTarget) -> Self {
        match &mut self {
            ProviderCall::Create(request) => request.status = Some(target),
            ProviderCall::Read(request) => request.status = Some(target),
            ProviderCall::Update(request) => request.status = Some(target),
            ProviderCall::Delete(request) => request.status = Some(target),
            _ => {}
        }
        self
    }

    /// Adds the views that the state has of the resource.
    #[must_use]
    pub fn with_old_views(mut self, views: Vec<View>) -> Self {
        match &mut self {
            ProviderCall::Read(request) => request.old_views = views,
            ProviderCall::Update(request) => request.old_views = views,
            ProviderCall::Delete(request) => request.old_views = views,
            _ => {}
        }
        self
    }

    /// The name of the call in the protocol.
    pub fn name(&self) -> &'static str {
        match self {
            ProviderCall::CheckConfig(_) => "CheckConfig",
            ProviderCall::DiffConfig(_) => "DiffConfig",
            ProviderCall::Check(_) => "Check",
            ProviderCall::Diff(_) => "Diff",
            ProviderCall::Create(_) => "Create",
            ProviderCall::Read(_) => "Read",
            ProviderCall::Update(_) => "Update",
            ProviderCall::Delete(_) => "Delete",
            ProviderCall::Invoke(_) => "Invoke",
            ProviderCall::Construct(_) => "Construct",
            ProviderCall::Call(_) => "Call",
            ProviderCall::Parameterize(_) => "Parameterize",
        }
    }

    /// The resource that the call is about; none for functions, for components that have no URN yet, and for what is about the
    /// provider as a whole.
    pub fn urn(&self) -> Option<&Urn> {
        match self {
            ProviderCall::CheckConfig(request) => Some(&request.urn),
            ProviderCall::DiffConfig(request) | ProviderCall::Diff(request) => Some(&request.urn),
            ProviderCall::Check(request) => Some(&request.urn),
            ProviderCall::Create(request) => Some(&request.urn),
            ProviderCall::Read(request) => Some(&request.urn),
            ProviderCall::Update(request) => Some(&request.urn),
            ProviderCall::Delete(request) => Some(&request.urn),
            ProviderCall::Invoke(_)
            | ProviderCall::Construct(_)
            | ProviderCall::Call(_)
            | ProviderCall::Parameterize(_) => None,
        }
    }

    /// The properties that it carries.
    pub fn properties(&self) -> impl Iterator<Item = &PropertyMap> {
        let carried = match self {
            ProviderCall::CheckConfig(it) => [it.old_inputs.as_ref(), Some(&it.new_inputs), None],
            ProviderCall::Check(it) => [it.old_inputs.as_ref(), Some(&it.new_inputs), None],
            ProviderCall::DiffConfig(it) | ProviderCall::Diff(it) => {
                [&it.old_inputs, &it.old_outputs, &it.new_inputs].map(Some)
            }
            ProviderCall::Create(it) => [Some(&it.inputs), None, None],
            ProviderCall::Read(it) => [it.inputs.as_ref(), Some(&it.outputs), None],
            ProviderCall::Update(it) => [&it.old_inputs, &it.old_outputs, &it.new_inputs].map(Some),
            ProviderCall::Delete(it) => [Some(&it.inputs), Some(&it.outputs), None],
            ProviderCall::Invoke(it) => [Some(&it.args), None, None],
            ProviderCall::Construct(it) => [Some(&it.inputs), None, None],
            ProviderCall::Call(it) => [Some(&it.args), None, None],
            ProviderCall::Parameterize(_) => [None; 3],
        };
        carried.into_iter().flatten().map(AsRef::as_ref)
    }

    /// Whether the call changes or reads something. The others compare and check what is known already.
    pub fn touches_the_world(&self) -> bool {
        match self {
            ProviderCall::Create(_)
            | ProviderCall::Read(_)
            | ProviderCall::Update(_)
            | ProviderCall::Delete(_)
            | ProviderCall::Invoke(_)
            | ProviderCall::Construct(_)
            | ProviderCall::Call(_) => true,
            ProviderCall::CheckConfig(_)
            | ProviderCall::DiffConfig(_)
            | ProviderCall::Check(_)
            | ProviderCall::Diff(_)
            | ProviderCall::Parameterize(_) => false,
        }
    }

    /// Whether the provider may tell of views while it works on this call.
    pub fn may_publish_views(&self) -> bool {
        matches!(
            self,
            ProviderCall::Create(_)
                | ProviderCall::Read(_)
                | ProviderCall::Update(_)
                | ProviderCall::Delete(_)
        )
    }
}

/// The answer to the [`ProviderCall`] of the same name.
#[derive(Clone, Debug, PartialEq)]
pub enum ProviderReply {
    /// To CheckConfig and Check.
    Checked(CheckResponse),
    /// To DiffConfig and Diff.
    Diffed(DiffResult),
    /// To Create.
    Created(CreateResponse),
    /// To Read.
    Read(ReadResponse),
    /// To Update.
    Updated(UpdateResponse),
    /// To Delete.
    Deleted,
    /// To Invoke and Call.
    Invoked(InvokeResponse),
    /// To Construct.
    Constructed(ConstructResponse),
    /// To Parameterize.
    Parameterized,
}

impl ProviderReply {
    /// The properties that it carries.
    pub fn properties(&self) -> impl Iterator<Item = &PropertyMap> {
        let carried = match self {
            ProviderReply::Checked(it) => [it.inputs.as_ref(), None],
            ProviderReply::Created(it) => [Some(&it.outputs), None],
            ProviderReply::Read(it) => [it.inputs.as_ref(), it.outputs.as_ref()],
            ProviderReply::Updated(it) => [Some(&it.outputs), None],
            ProviderReply::Invoked(it) => [Some(&it.result), None],
            ProviderReply::Constructed(it) => [Some(&it.outputs), None],
            ProviderReply::Diffed(_) | ProviderReply::Deleted | ProviderReply::Parameterized => {
                [None; 2]
            }
        };
        carried.into_iter().flatten().map(AsRef::as_ref)
    }
}

/// Configuration of a provider, to be checked.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckConfigRequest {
    /// Provider resource.
    pub urn: Urn,
    /// Inputs that the state has; `None` on creation.
    pub old_inputs: Option<Arc<PropertyMap>>,
    /// Inputs that the program gives.
    pub new_inputs: Arc<PropertyMap>,
    /// Whether inputs and answer may hold unknowns.
    pub allow_unknowns: bool,
}

/// Configuration of a provider, to be put in force.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigureRequest {
    /// Provider resource.
    pub urn: Urn,
    /// Id of the provider resource.
    pub id: ResourceId,
    /// Inputs without the engine's own keys; all known.
    pub inputs: Arc<PropertyMap>,
}

/// Inputs of a resource, to be checked.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckRequest {
    /// The resource.
    pub urn: Urn,
    /// Inputs that the state has; `None` on creation.
    pub old_inputs: Option<Arc<PropertyMap>>,
    /// Inputs that the program gives.
    pub new_inputs: Arc<PropertyMap>,
    /// Whether inputs and answer may hold unknowns.
    pub allow_unknowns: bool,
    /// Seed for names and other values made by chance.
    pub random_seed: Arc<[u8]>,
    /// How to name the resource.
    pub autonaming: Option<Autonaming>,
}

/// How the engine wants a resource to be named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Autonaming {
    /// The provider should use this name.
    Propose(EcoString),
    /// The provider must use this name.
    Enforce(EcoString),
    /// The provider must not make up a name.
    Disabled,
}

/// Checked inputs, or what is wrong with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckResponse {
    /// Inputs with defaults; `None` when the provider gave none back.
    pub inputs: Option<Arc<PropertyMap>>,
    /// Problems; when there are any the inputs do not count.
    pub failures: Vec<CheckFailure>,
    /// The request said how to name the resource, and the provider is too old to understand that.
    pub ignored_autonaming: bool,
}

/// One problem with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// Property, if the problem is with one.
    pub property: EcoString,
    /// What is wrong.
    pub reason: EcoString,
}

/// A resource and new inputs, to be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffRequest {
    /// The resource.
    pub urn: Urn,
    /// Its id.
    pub id: ResourceId,
    /// Inputs that the state has.
    pub old_inputs: Arc<PropertyMap>,
    /// Outputs that the state has.
    pub old_outputs: Arc<PropertyMap>,
    /// Checked inputs.
    pub new_inputs: Arc<PropertyMap>,
    /// Whether inputs may hold unknowns.
    pub allow_unknowns: bool,
    /// Paths whose changes are ignored.
    pub ignore_changes: EcoVec<EcoString>,
}

/// Inputs of a resource to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateRequest {
    /// The resource.
    pub urn: Urn,
    /// Checked inputs.
    pub inputs: Arc<PropertyMap>,
    /// Time limit in seconds; zero for the provider's own.
    pub timeout: f64,
    /// Whether this is a preview: nothing may be changed.
    pub preview: bool,
    /// Where to tell of views of the resource; whoever sends the call fills it in.
    pub status: Option<StatusTarget>,
}

/// A created resource.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateResponse {
    /// Its id.
    pub id: ResourceId,
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
    /// Whether it wants a refresh before each update.
    pub refresh_before_update: bool,
}

/// A resource to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRequest {
    /// The resource.
    pub urn: Urn,
    /// Its id.
    pub id: ResourceId,
    /// Inputs that the state has; `None` when there is no state.
    pub inputs: Option<Arc<PropertyMap>>,
    /// Outputs that the state has, or properties that help to find the object.
    pub outputs: Arc<PropertyMap>,
    /// Time limit in seconds; zero for the provider's own.
    pub timeout: f64,
    /// Views of the resource that the state has.
    pub old_views: Vec<View>,
    /// Where to tell of views of the resource; whoever sends the call fills it in.
    pub status: Option<StatusTarget>,
}

/// A resource as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadResponse {
    /// Its id; none when it is gone.
    pub id: ResourceId,
    /// Inputs that would make it; `None` when the provider cannot tell.
    pub inputs: Option<Arc<PropertyMap>>,
    /// Its outputs; `None` when it is gone.
    pub outputs: Option<Arc<PropertyMap>>,
    /// Whether it wants a refresh before each update.
    pub refresh_before_update: bool,
}

/// A resource to be changed in place.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateRequest {
    /// The resource.
    pub urn: Urn,
    /// Its id.
    pub id: ResourceId,
    /// Inputs that the state has.
    pub old_inputs: Arc<PropertyMap>,
    /// Outputs that the state has.
    pub old_outputs: Arc<PropertyMap>,
    /// Checked inputs.
    pub new_inputs: Arc<PropertyMap>,
    /// Paths whose changes are ignored.
    pub ignore_changes: EcoVec<EcoString>,
    /// Time limit in seconds; zero for the provider's own.
    pub timeout: f64,
    /// Whether this is a preview: nothing may be changed.
    pub preview: bool,
    /// Views of the resource that the state has.
    pub old_views: Vec<View>,
    /// Where to tell of views of the resource; whoever sends the call fills it in.
    pub status: Option<StatusTarget>,
}

/// A changed resource.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateResponse {
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
    /// Whether it wants a refresh before each update.
    pub refresh_before_update: bool,
}

/// A resource to be deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteRequest {
    /// The resource.
    pub urn: Urn,
    /// Its id.
    pub id: ResourceId,
    /// Inputs that the state has.
    pub inputs: Arc<PropertyMap>,
    /// Outputs that the state has.
    pub outputs: Arc<PropertyMap>,
    /// Time limit in seconds; zero for the provider's own.
    pub timeout: f64,
    /// Views of the resource that the state has.
    pub old_views: Vec<View>,
    /// Where to tell of views of the resource; whoever sends the call fills it in.
    pub status: Option<StatusTarget>,
}

/// A function to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct InvokeRequest {
    /// Token of the function.
    pub token: TypeToken,
    /// Arguments.
    pub args: Arc<PropertyMap>,
    /// Whether this is a preview.
    pub preview: bool,
}

/// What a function or method answered.
#[derive(Clone, Debug, PartialEq)]
pub struct InvokeResponse {
    /// Result.
    pub result: Arc<PropertyMap>,
    /// Problems with the arguments.
    pub failures: Vec<CheckFailure>,
    /// For methods: which resources each result depends on.
    pub dependencies: PropertyDependencies,
}

/// Existing objects of a type to be listed, a page of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRequest {
    /// Their type.
    pub token: TypeToken,
    /// Which of them; what that means is the provider's matter.
    pub query: Arc<PropertyMap>,
    /// How many at most; zero for all.
    pub limit: u64,
    /// Where the page before ended; empty for the first.
    pub continuation: EcoString,
}

/// A page of existing objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListResponse {
    /// The objects.
    pub items: Vec<ListedObject>,
    /// Where the next page begins; empty when there is none.
    pub continuation: EcoString,
    /// Whether there is no telling, because the query holds unknowns.
    pub unknown: bool,
}

/// An existing object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    /// The id that it can be read by.
    pub id: EcoString,
    /// Its name; empty when it has none.
    pub name: EcoString,
}

/// A remote component to be constructed. What every deployment has in common (project, stack, configuration, monitor
/// address) is added by whoever sends it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstructRequest {
    /// Type, name, parent, options and everything else that the program said.
    pub goal: crate::Goal,
    /// Inputs, with output wrappers kept.
    pub inputs: Arc<PropertyMap>,
    /// Providers by package, as references.
    pub providers: BTreeMap<EcoString, EcoString>,
}

/// A constructed component.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstructResponse {
    /// Its URN.
    pub urn: Urn,
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
    /// Which resources each output depends on.
    pub dependencies: PropertyDependencies,
}

/// A method to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest {
    /// Token of the method.
    pub token: TypeToken,
    /// Arguments, `__self__` among them, with output wrappers kept.
    pub args: Arc<PropertyMap>,
    /// Which resources each argument depends on.
    pub dependencies: PropertyDependencies,
}

/// Whether there is a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiffChanges {
    /// The provider cannot tell.
    Unknown,
    /// No difference.
    None,
    /// Some difference.
    Some,
}

/// How a property differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiffKind {
    /// Added.
    Add,
    /// Added, and that forces a replacement.
    AddReplace,
    /// Removed.
    Delete,
    /// Removed, and that forces a replacement.
    DeleteReplace,
    /// Changed.
    Update,
    /// Changed, and that forces a replacement.
    UpdateReplace,
}

impl DiffKind {
    /// The name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            DiffKind::Add => "add",
            DiffKind::AddReplace => "add-replace",
            DiffKind::Delete => "delete",
            DiffKind::DeleteReplace => "delete-replace",
            DiffKind::Update => "update",
            DiffKind::UpdateReplace => "update-replace",
        }
    }

    /// Whether this forces a replacement.
    pub fn is_replace(self) -> bool {
        matches!(
            self,
            DiffKind::AddReplace | DiffKind::DeleteReplace | DiffKind::UpdateReplace
        )
    }

    /// The same difference, forcing a replacement.
    #[must_use]
    pub fn as_replace(self) -> Self {
        match self {
            DiffKind::Add | DiffKind::AddReplace => DiffKind::AddReplace,
            DiffKind::Delete | DiffKind::DeleteReplace => DiffKind::DeleteReplace,
            DiffKind::Update | DiffKind::UpdateReplace => DiffKind::UpdateReplace,
        }
    }

    /// The difference seen from the other side.
    #[must_use]
    pub fn inverted(self) -> Self {
        match self {
            DiffKind::Add => DiffKind::Delete,
            DiffKind::AddReplace => DiffKind::DeleteReplace,
            DiffKind::Delete => DiffKind::Add,
            DiffKind::DeleteReplace => DiffKind::AddReplace,
            DiffKind::Update | DiffKind::UpdateReplace => self,
        }
    }
}

/// How one property differs, and on which side the path is to be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PropertyDiff {
    /// How it differs.
    pub kind: DiffKind,
    /// Whether the difference is between old and new inputs, not old state and new inputs.
    pub input_diff: bool,
}

/// How a resource differs from what is wanted (`engine.md` 1.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffResult {
    /// Whether it differs at all.
    pub changes: DiffChanges,
    /// Keys that force a replacement.
    pub replace_keys: Vec<EcoString>,
    /// Keys whose outputs stay what they are.
    pub stable_keys: Vec<EcoString>,
    /// Keys that changed.
    pub changed_keys: Vec<EcoString>,
    /// Difference by path; `None` when the provider does not say, which is not the same as an empty map.
    pub detailed_diff: Option<BTreeMap<EcoString, PropertyDiff>>,
    /// Whether the provider wants the old resource gone first.
    pub delete_before_replace: bool,
}

impl DiffResult {
    /// A result that only says whether there are changes.
    pub fn of(changes: DiffChanges) -> Self {
        DiffResult {
            changes,
            replace_keys: Vec::new(),
            stable_keys: Vec::new(),
            changed_keys: Vec::new(),
            detailed_diff: None,
            delete_before_replace: false,
        }
    }

    /// Whether the difference forces a replacement.
    pub fn is_replace(&self) -> bool {
        !self.replace_keys.is_empty()
            || self
                .detailed_diff
                .iter()
                .flatten()
                .any(|(_, difference)| difference.kind.is_replace())
    }

    /// The difference seen from the other side; keys stay as they are.
    #[must_use]
    pub fn inverted(mut self) -> Self {
        for difference in self.detailed_diff.iter_mut().flat_map(BTreeMap::values_mut) {
            difference.kind = difference.kind.inverted();
        }
        self
    }
}

/// Why a provider call failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderError {
    /// What the provider said; fit for the user.
    pub message: EcoString,
    /// What is known of the resource after the failure.
    pub status: ResourceStatus,
    /// Problems with single properties (Construct and Call).
    pub properties: Vec<CheckFailure>,
}

impl ProviderError {
    /// A failure that left nothing behind.
    pub fn clean(message: impl Into<EcoString>) -> Self {
        ProviderError {
            message: message.into(),
            status: ResourceStatus::Unchanged,
            properties: Vec::new(),
        }
    }

    /// A failure after which the resource may or may not have changed.
    pub fn unknown(message: impl Into<EcoString>) -> Self {
        ProviderError {
            message: message.into(),
            status: ResourceStatus::Unknown,
            properties: Vec::new(),
        }
    }

    /// The properties that it carries.
    pub fn properties(&self) -> impl Iterator<Item = &PropertyMap> {
        let partial = match &self.status {
            ResourceStatus::Partial(failure) => [failure.inputs.as_ref(), failure.outputs.as_ref()],
            ResourceStatus::Unchanged | ResourceStatus::Unknown => [None; 2],
        };
        partial.into_iter().flatten().map(AsRef::as_ref)
    }
}

/// What is known of a resource after a failed call.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceStatus {
    /// The operation was not applied.
    Unchanged,
    /// Nobody knows whether it was.
    Unknown,
    /// It was applied, but the resource is not healthy.
    Partial(Box<PartialFailure>),
}

/// A resource that exists but did not get ready.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialFailure {
    /// Its id.
    pub id: ResourceId,
    /// Its outputs.
    pub outputs: Option<Arc<PropertyMap>>,
    /// Inputs that would make it, from Read.
    pub inputs: Option<Arc<PropertyMap>>,
    /// What went wrong.
    pub reasons: EcoVec<EcoString>,
    /// Whether it wants a refresh before each update.
    pub refresh_before_update: bool,
}
