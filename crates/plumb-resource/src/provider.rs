//! Calls to providers and their answers (`protocol.md` 5), as plain data. Plugin processes, the providers built into the
//! binary, and the core that decides which calls to make share these types.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::{EcoString, EcoVec};
use plumb_value::PropertyMap;

use crate::{PropertyDependencies, ResourceId, StatusTarget, TypeToken, Urn, View};

/// A plugin to run, and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PluginSpec {
    /// Name of the plugin: `random` for `pulumi-resource-random`.
    pub name: EcoString,
    /// Exact version, if one is required.
    pub version: Option<semver::Version>,
    /// Address to download the plugin from.
    pub download_url: Option<EcoString>,
    /// Checksums of the archives by platform, lowercase hex.
    pub checksums: BTreeMap<EcoString, EcoString>,
    /// Parameter to apply before use.
    pub parameterization: Option<Parameterization>,
    /// Environment variables to rename for the process: old name to the variable that holds the value.
    pub env_var_mappings: BTreeMap<EcoString, EcoString>,
}

impl PluginSpec {
    /// The plugin called `name`, in any version.
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

/// Parameter that makes a plugin serve another package (replacement) or further types of its own package (extension).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameterization {
    /// Name of the resulting package.
    pub name: EcoString,
    /// Version of the resulting package.
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
    /// Adds the address at which the provider may publish views. Calls that cannot publish views are left unchanged.
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

    /// Adds the views of the resource that the state records.
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

    /// The resource that the call is about; `None` for functions, for components (which have no URN yet), and for calls
    /// about the provider as a whole.
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

    /// The property maps of the call.
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

    /// Whether the call may read or change objects of the provider. The other calls use given values only.
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

    /// Whether the provider may publish views while it performs this call.
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

/// Answer to the [`ProviderCall`] of the same name.
#[derive(Clone, Debug, PartialEq)]
pub enum ProviderReply {
    /// Answer to CheckConfig and Check.
    Checked(CheckResponse),
    /// Answer to DiffConfig and Diff.
    Diffed(DiffResult),
    /// Answer to Create.
    Created(CreateResponse),
    /// Answer to Read.
    Read(ReadResponse),
    /// Answer to Update.
    Updated(UpdateResponse),
    /// Answer to Delete.
    Deleted,
    /// Answer to Invoke and Call.
    Invoked(InvokeResponse),
    /// Answer to Construct.
    Constructed(ConstructResponse),
    /// Answer to Parameterize.
    Parameterized,
}

impl ProviderReply {
    /// The property maps of the answer.
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
    /// Inputs in the state; `None` on creation.
    pub old_inputs: Option<Arc<PropertyMap>>,
    /// Inputs from the program.
    pub new_inputs: Arc<PropertyMap>,
    /// Whether inputs and answer may hold unknowns.
    pub allow_unknowns: bool,
}

/// Configuration of a provider, to be applied.
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
    /// Inputs in the state; `None` on creation.
    pub old_inputs: Option<Arc<PropertyMap>>,
    /// Inputs from the program.
    pub new_inputs: Arc<PropertyMap>,
    /// Whether inputs and answer may hold unknowns.
    pub allow_unknowns: bool,
    /// Seed for names and other random values.
    pub random_seed: Arc<[u8]>,
    /// Rule for the resource's name.
    pub autonaming: Option<Autonaming>,
}

/// Rule of the engine for a resource's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Autonaming {
    /// The provider should use this name.
    Propose(EcoString),
    /// The provider must use this name.
    Enforce(EcoString),
    /// The provider must not generate a name.
    Disabled,
}

/// Checked inputs, or the problems with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckResponse {
    /// Inputs with defaults filled in; `None` when the provider returned none.
    pub inputs: Option<Arc<PropertyMap>>,
    /// Problems; if there are any, the inputs are to be ignored.
    pub failures: Vec<CheckFailure>,
    /// Whether the provider ignored the rule for the resource's name, because it is too old to know such rules.
    pub ignored_autonaming: bool,
}

/// One problem with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// Name of the property; empty when the problem concerns no single property.
    pub property: EcoString,
    /// Description of the problem.
    pub reason: EcoString,
}

/// A resource and new inputs, to be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffRequest {
    /// The resource.
    pub urn: Urn,
    /// Id of the resource.
    pub id: ResourceId,
    /// Inputs in the state.
    pub old_inputs: Arc<PropertyMap>,
    /// Outputs in the state.
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
    /// Address for publishing views of the resource; filled in by the sender of the call.
    pub status: Option<StatusTarget>,
}

/// A created resource.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateResponse {
    /// Id of the resource.
    pub id: ResourceId,
    /// Outputs of the resource.
    pub outputs: Arc<PropertyMap>,
    /// Whether the resource needs a refresh before each update.
    pub refresh_before_update: bool,
}

/// A resource to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRequest {
    /// The resource.
    pub urn: Urn,
    /// Id of the resource.
    pub id: ResourceId,
    /// Inputs in the state; `None` when there is no state.
    pub inputs: Option<Arc<PropertyMap>>,
    /// Outputs in the state, or properties that help to find the object.
    pub outputs: Arc<PropertyMap>,
    /// Time limit in seconds; zero for the provider's own.
    pub timeout: f64,
    /// Views of the resource in the state.
    pub old_views: Vec<View>,
    /// Address for publishing views of the resource; filled in by the sender of the call.
    pub status: Option<StatusTarget>,
}

/// Actual state of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadResponse {
    /// Id of the resource; [`ResourceId::None`] when the object no longer exists.
    pub id: ResourceId,
    /// Inputs that would produce the object; `None` when the provider cannot say.
    pub inputs: Option<Arc<PropertyMap>>,
    /// Outputs of the resource; `None` when the object no longer exists.
    pub outputs: Option<Arc<PropertyMap>>,
    /// Whether the resource needs a refresh before each update.
    pub refresh_before_update: bool,
}

/// A resource to be changed in place.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateRequest {
    /// The resource.
    pub urn: Urn,
    /// Id of the resource.
    pub id: ResourceId,
    /// Inputs in the state.
    pub old_inputs: Arc<PropertyMap>,
    /// Outputs in the state.
    pub old_outputs: Arc<PropertyMap>,
    /// Checked inputs.
    pub new_inputs: Arc<PropertyMap>,
    /// Paths whose changes are ignored.
    pub ignore_changes: EcoVec<EcoString>,
    /// Time limit in seconds; zero for the provider's own.
    pub timeout: f64,
    /// Whether this is a preview: nothing may be changed.
    pub preview: bool,
    /// Views of the resource in the state.
    pub old_views: Vec<View>,
    /// Address for publishing views of the resource; filled in by the sender of the call.
    pub status: Option<StatusTarget>,
}

/// A changed resource.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateResponse {
    /// Outputs of the resource.
    pub outputs: Arc<PropertyMap>,
    /// Whether the resource needs a refresh before each update.
    pub refresh_before_update: bool,
}

/// A resource to be deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteRequest {
    /// The resource.
    pub urn: Urn,
    /// Id of the resource.
    pub id: ResourceId,
    /// Inputs in the state.
    pub inputs: Arc<PropertyMap>,
    /// Outputs in the state.
    pub outputs: Arc<PropertyMap>,
    /// Time limit in seconds; zero for the provider's own.
    pub timeout: f64,
    /// Views of the resource in the state.
    pub old_views: Vec<View>,
    /// Address for publishing views of the resource; filled in by the sender of the call.
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

/// Result of a function or method.
#[derive(Clone, Debug, PartialEq)]
pub struct InvokeResponse {
    /// Result.
    pub result: Arc<PropertyMap>,
    /// Problems with the arguments.
    pub failures: Vec<CheckFailure>,
    /// For methods: the resources that each property of the result depends on.
    pub dependencies: PropertyDependencies,
}

/// Request for one page of the existing objects of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRequest {
    /// Type of the objects.
    pub token: TypeToken,
    /// Filter, in a form that the provider defines.
    pub query: Arc<PropertyMap>,
    /// Maximum number of objects; zero for all.
    pub limit: u64,
    /// Continuation from the previous page; empty for the first page.
    pub continuation: EcoString,
}

/// A page of existing objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListResponse {
    /// The objects.
    pub items: Vec<ListedObject>,
    /// Start of the next page; empty on the last page.
    pub continuation: EcoString,
    /// Whether the objects cannot be listed yet, because the query holds unknowns.
    pub unknown: bool,
}

/// An existing object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    /// Id by which the object can be read.
    pub id: EcoString,
    /// Name of the object; empty when it has none.
    pub name: EcoString,
}

/// A remote component to be constructed. The sender adds the settings of the deployment: project, stack, configuration and
/// monitor address.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstructRequest {
    /// Type, name, parent, options and everything else in the registration.
    pub goal: crate::Goal,
    /// Inputs, with output wrappers kept.
    pub inputs: Arc<PropertyMap>,
    /// Providers by package, as references.
    pub providers: BTreeMap<EcoString, EcoString>,
}

/// A constructed component.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstructResponse {
    /// URN of the component.
    pub urn: Urn,
    /// Outputs of the component.
    pub outputs: Arc<PropertyMap>,
    /// For each output, the resources that it depends on.
    pub dependencies: PropertyDependencies,
}

/// A method to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest {
    /// Token of the method.
    pub token: TypeToken,
    /// Arguments, `__self__` among them, with output wrappers kept.
    pub args: Arc<PropertyMap>,
    /// For each argument, the resources that it depends on.
    pub dependencies: PropertyDependencies,
}

/// Whether a resource differs from its goal state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiffChanges {
    /// The provider cannot tell.
    Unknown,
    /// No difference.
    None,
    /// Some difference.
    Some,
}

/// Kind of a property's difference.
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

    /// Whether the difference forces a replacement.
    pub fn is_replace(self) -> bool {
        matches!(
            self,
            DiffKind::AddReplace | DiffKind::DeleteReplace | DiffKind::UpdateReplace
        )
    }

    /// The corresponding kind that forces a replacement.
    #[must_use]
    pub fn as_replace(self) -> Self {
        match self {
            DiffKind::Add | DiffKind::AddReplace => DiffKind::AddReplace,
            DiffKind::Delete | DiffKind::DeleteReplace => DiffKind::DeleteReplace,
            DiffKind::Update | DiffKind::UpdateReplace => DiffKind::UpdateReplace,
        }
    }

    /// The kind with old and new exchanged.
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

/// Difference of one property, and the side on which its path is to be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PropertyDiff {
    /// Kind of the difference.
    pub kind: DiffKind,
    /// Whether the difference is between old and new inputs; otherwise it is between old state and new inputs.
    pub input_diff: bool,
}

/// Differences of a resource from its goal state (`engine.md` 1.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffResult {
    /// Whether the resource differs at all.
    pub changes: DiffChanges,
    /// Keys that force a replacement.
    pub replace_keys: Vec<EcoString>,
    /// Keys whose outputs will not change.
    pub stable_keys: Vec<EcoString>,
    /// Keys that changed.
    pub changed_keys: Vec<EcoString>,
    /// Differences by path; `None` when the provider reports no details, which is not the same as an empty map.
    pub detailed_diff: Option<BTreeMap<EcoString, PropertyDiff>>,
    /// Whether the provider requires the old object to be deleted before its replacement is created.
    pub delete_before_replace: bool,
}

impl DiffResult {
    /// A result without details.
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

    /// The result with old and new exchanged; the lists of keys are left unchanged.
    #[must_use]
    pub fn inverted(mut self) -> Self {
        for difference in self.detailed_diff.iter_mut().flat_map(BTreeMap::values_mut) {
            difference.kind = difference.kind.inverted();
        }
        self
    }
}

/// Failure of a provider call.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderError {
    /// Message of the provider, fit to show to the user.
    pub message: EcoString,
    /// State of the resource after the failure, as far as it is known.
    pub status: ResourceStatus,
    /// Problems with single properties (Construct and Call).
    pub properties: Vec<CheckFailure>,
}

impl ProviderError {
    /// A failure that left the resource unchanged.
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

    /// The property maps of the error.
    pub fn properties(&self) -> impl Iterator<Item = &PropertyMap> {
        let partial = match &self.status {
            ResourceStatus::Partial(failure) => [failure.inputs.as_ref(), failure.outputs.as_ref()],
            ResourceStatus::Unchanged | ResourceStatus::Unknown => [None; 2],
        };
        partial.into_iter().flatten().map(AsRef::as_ref)
    }
}

/// State of a resource after a failed call.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceStatus {
    /// The operation was not applied.
    Unchanged,
    /// The operation may or may not have been applied.
    Unknown,
    /// The operation was applied, but the resource is not healthy.
    Partial(Box<PartialFailure>),
}

/// A resource that exists but did not become ready.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialFailure {
    /// Id of the resource.
    pub id: ResourceId,
    /// Outputs of the resource.
    pub outputs: Option<Arc<PropertyMap>>,
    /// Inputs that would produce the object, from Read.
    pub inputs: Option<Arc<PropertyMap>>,
    /// Reasons for the failure.
    pub reasons: EcoVec<EcoString>,
    /// Whether the resource needs a refresh before each update.
    pub refresh_before_update: bool,
}
