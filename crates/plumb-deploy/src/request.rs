//! Requests of programs to the resource monitor, and the replies.
//!
//! Plain data with everything parsed: the gRPC server and the in-process YAML evaluator both speak these types. Rules
//! about them (inheritance, default providers, dependencies: `engine.md` 2) are the core's, not the sender's.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::{EcoString, EcoVec};
use plumb_resource::hook::{ErrorHookCall, HookCall};
use plumb_resource::provider::{CheckFailure, Parameterization};
use plumb_resource::{
    Alias, CustomTimeouts, Hooks, PropertyDependencies, ResourceId, StackFrame, Urn, ViewStep,
};
use plumb_value::{PropertyKey, PropertyMap, Value};

use crate::ids::CallId;

/// A request to the resource monitor.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Registers a resource.
    Register(Box<RegisterRequest>),
    /// Reads an existing object.
    Read(Box<ReadResourceRequest>),
    /// Completes a resource with its outputs.
    RegisterOutputs(RegisterOutputsRequest),
    /// Calls a function of a provider.
    Invoke(Box<InvokeFunctionRequest>),
    /// Calls a method of a resource.
    Call(Box<CallMethodRequest>),
    /// Names a package (with its parameter) for later requests.
    RegisterPackage(Box<RegisterPackageRequest>),
    /// Has everything that is registered from now on pass through a function of the program.
    RegisterStackTransform(Callback),
    /// Has every invoke from now on pass through a function of the program.
    RegisterStackInvokeTransform(Callback),
    /// Names a function of the program that resources may bind as a hook.
    RegisterHook(RegisterHookRequest),
    /// A provider publishes steps of views of the resource that it works on.
    PublishViewSteps {
        /// The call that it works on.
        call: CallId,
        /// Steps of the views.
        steps: Vec<ViewStep>,
    },
    /// Waits until the deployment is over.
    SignalAndWaitForShutdown,
    /// Waits for a resource that the program or a snippet registers. Only snippets ask this.
    Await(AwaitRequest),
}

/// The answer to the [`Request`] of the same name.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// To Register.
    Registered(RegisterReply),
    /// To Read.
    Read(ReadResourceReply),
    /// To RegisterOutputs, PublishViewSteps, the registration of transforms and hooks, and SignalAndWaitForShutdown.
    Done,
    /// To Invoke and Call.
    Invoked(InvokeReply),
    /// To RegisterPackage: the reference to use.
    Package(EcoString),
    /// To Await.
    Awaited(AwaitReply),
    /// The request failed.
    Failed(RequestError),
}

/// Which provider package a request means, when it does not name a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackageRequest {
    /// Plugin version; empty when the program does not care.
    pub version: EcoString,
    /// Where to download the plugin from; empty for the usual places.
    pub download_url: EcoString,
    /// Checksums by platform, lowercase hex.
    pub checksums: BTreeMap<EcoString, EcoString>,
    /// Reference from an earlier RegisterPackage; it replaces the fields above. Empty for none.
    pub package_ref: EcoString,
}

/// RegisterResource.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterRequest {
    /// Type token.
    pub type_token: EcoString,
    /// Name.
    pub name: EcoString,
    /// Whether a provider manages the resource.
    pub custom: bool,
    /// Whether the resource is a component that a provider constructs.
    pub remote: bool,
    /// Parent resource.
    pub parent: Option<Urn>,
    /// Inputs, with output wrappers.
    pub properties: Arc<PropertyMap>,
    /// Resources that this one depends on.
    pub dependencies: EcoVec<Urn>,
    /// Which resources each property was computed from.
    pub property_dependencies: PropertyDependencies,
    /// Reference of the provider to use; empty for none.
    pub provider: EcoString,
    /// References of providers by package.
    pub providers: BTreeMap<EcoString, EcoString>,
    /// Package, for the default provider.
    pub package: PackageRequest,
    /// protect option.
    pub protect: Option<bool>,
    /// deleteBeforeReplace option.
    pub delete_before_replace: Option<bool>,
    /// ignoreChanges option.
    pub ignore_changes: EcoVec<EcoString>,
    /// hideDiffs option.
    pub hide_diff: EcoVec<EcoString>,
    /// replaceOnChanges option.
    pub replace_on_changes: EcoVec<EcoString>,
    /// additionalSecretOutputs option.
    pub additional_secret_outputs: EcoVec<PropertyKey>,
    /// Former identities.
    pub aliases: EcoVec<Alias>,
    /// Id of an existing object to adopt; empty for none.
    pub import_id: EcoString,
    /// Time limits; `None` when the program says nothing about them.
    pub custom_timeouts: Option<CustomTimeouts>,
    /// retainOnDelete option.
    pub retain_on_delete: Option<bool>,
    /// deletedWith option.
    pub deleted_with: Option<Urn>,
    /// replaceWith option.
    pub replace_with: EcoVec<Urn>,
    /// replacementTrigger option; null for none.
    pub replacement_trigger: Value,
    /// Names of hooks by type.
    pub hooks: Hooks,
    /// Transforms of this resource and its children, in order.
    pub transforms: Vec<Callback>,
    /// For provider resources: environment variables to rename for the process.
    pub env_var_mappings: BTreeMap<EcoString, EcoString>,
    /// Whether the resource also depends on all resources that its properties were computed from; set once transforms have run.
    pub dependencies_from_properties: bool,
    /// Where in the program the registration stands.
    pub source_position: Option<EcoString>,
    /// Call stack of the registration.
    pub stack_trace: EcoVec<StackFrame>,
    /// The snippet that registers the resource.
    pub snippet_id: Option<EcoString>,
}

impl RegisterRequest {
    /// A request with identity alone and no options.
    pub fn new(type_token: &str, name: &str, custom: bool) -> Self {
        RegisterRequest {
            type_token: type_token.into(),
            name: name.into(),
            custom,
            remote: false,
            parent: None,
            properties: Arc::default(),
            dependencies: EcoVec::new(),
            property_dependencies: PropertyDependencies::new(),
            provider: EcoString::new(),
            providers: BTreeMap::new(),
            package: PackageRequest::default(),
            protect: None,
            delete_before_replace: None,
            ignore_changes: EcoVec::new(),
            hide_diff: EcoVec::new(),
            replace_on_changes: EcoVec::new(),
            additional_secret_outputs: EcoVec::new(),
            aliases: EcoVec::new(),
            import_id: EcoString::new(),
            custom_timeouts: None,
            retain_on_delete: None,
            deleted_with: None,
            replace_with: EcoVec::new(),
            replacement_trigger: Value::Null,
            hooks: Hooks::new(),
            transforms: Vec::new(),
            env_var_mappings: BTreeMap::new(),
            dependencies_from_properties: false,
            source_position: None,
            stack_trace: EcoVec::new(),
            snippet_id: None,
        }
    }
}

/// A function in the program that the engine can call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Callback {
    /// `host:port` of the program's callback server.
    pub target: EcoString,
    /// Which function.
    pub token: EcoString,
    /// Whether strings that are not UTF-8 may be sent.
    pub accepts_byte_string: bool,
}

/// Argument of a call to a function of the program.
#[derive(Clone, Debug, PartialEq)]
pub enum CallbackRequest {
    /// A registration, to be changed. Parent, type and name stay as they are.
    Transform(Box<RegisterRequest>),
    /// An invoke, to be changed.
    InvokeTransform(Box<InvokeFunctionRequest>),
    /// A step that is about to begin, or has ended.
    Hook(Box<HookCall>),
    /// A failed step, to ask whether it is tried again.
    ErrorHook(Box<ErrorHookCall>),
}

/// The answer to the [`CallbackRequest`] of the same name.
#[derive(Clone, Debug, PartialEq)]
pub enum CallbackReply {
    /// The registration as it is to be.
    Transformed(Box<RegisterRequest>),
    /// The invoke as it is to be.
    InvokeTransformed(Box<InvokeFunctionRequest>),
    /// The hook did what it is for.
    Hooked,
    /// Whether the failed operation is to be tried again.
    Retry(bool),
}

/// How a registration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As asked.
    Success,
    /// Its step failed, and the deployment goes on without it.
    Failed,
    /// Its step was left out, because a dependency failed.
    Skipped,
}

/// Answer to RegisterResource.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterReply {
    /// URN of the resource.
    pub urn: Urn,
    /// Its id.
    pub id: ResourceId,
    /// Its outputs; empty for local components.
    pub outputs: Arc<PropertyMap>,
    /// For remote components: which resources each output depends on.
    pub property_dependencies: PropertyDependencies,
    /// How it ended.
    pub outcome: Outcome,
    /// The resource was left out (by targets or a destroy run): outputs that are missing are unknown.
    pub unknown: bool,
}

/// ReadResource.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadResourceRequest {
    /// Id of the object.
    pub id: ResourceId,
    /// Type token.
    pub type_token: EcoString,
    /// Name.
    pub name: EcoString,
    /// Parent resource.
    pub parent: Option<Urn>,
    /// Properties that help to find the object.
    pub properties: Arc<PropertyMap>,
    /// Resources that this one depends on.
    pub dependencies: EcoVec<Urn>,
    /// Reference of the provider to use; empty for none.
    pub provider: EcoString,
    /// Package, for the default provider.
    pub package: PackageRequest,
    /// additionalSecretOutputs option.
    pub additional_secret_outputs: EcoVec<PropertyKey>,
    /// Where in the program the read stands.
    pub source_position: Option<EcoString>,
    /// Call stack of the read.
    pub stack_trace: EcoVec<StackFrame>,
}

/// Answer to ReadResource.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadResourceReply {
    /// URN of the resource.
    pub urn: Urn,
    /// Its id.
    pub id: ResourceId,
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
    /// How it ended.
    pub outcome: Outcome,
}

/// RegisterResourceOutputs.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterOutputsRequest {
    /// The resource.
    pub urn: Urn,
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
}

/// Invoke.
#[derive(Clone, Debug, PartialEq)]
pub struct InvokeFunctionRequest {
    /// Token of the function.
    pub token: EcoString,
    /// Arguments.
    pub args: Arc<PropertyMap>,
    /// Reference of the provider to use; empty for none.
    pub provider: EcoString,
    /// Package, for the default provider.
    pub package: PackageRequest,
    /// Parent, for the choice of the provider.
    pub parent: Option<Urn>,
    /// Resources that must exist before the call.
    pub depends_on: Vec<Urn>,
}

/// Call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallMethodRequest {
    /// Token of the method.
    pub token: EcoString,
    /// Arguments, `__self__` among them, with output wrappers.
    pub args: Arc<PropertyMap>,
    /// Which resources each argument depends on.
    pub dependencies: PropertyDependencies,
    /// Reference of the provider to use; empty for none.
    pub provider: EcoString,
    /// Package, for the default provider.
    pub package: PackageRequest,
}

/// Answer to Invoke and Call.
#[derive(Clone, Debug, PartialEq)]
pub struct InvokeReply {
    /// Result.
    pub result: Arc<PropertyMap>,
    /// Problems with the arguments.
    pub failures: Vec<CheckFailure>,
    /// For methods: which resources each result depends on.
    pub dependencies: PropertyDependencies,
    /// The function was not called, because something that it depends on does not exist yet.
    pub unknown: bool,
}

/// RegisterPackage.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterPackageRequest {
    /// Name of the plugin.
    pub name: EcoString,
    /// Its version.
    pub version: EcoString,
    /// Where to download it from.
    pub download_url: EcoString,
    /// Checksums by platform, lowercase hex.
    pub checksums: BTreeMap<EcoString, EcoString>,
    /// The package replaces the plugin's own.
    pub parameterization: Option<Parameterization>,
    /// The package adds to the plugin's own.
    pub extension: Option<Parameterization>,
}

/// Waits for a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwaitRequest {
    /// The snippet that waits.
    pub snippet: EcoString,
    /// The resource, by its URN or a former one.
    pub urn: Urn,
}

/// Answer to Await.
#[derive(Clone, Debug, PartialEq)]
pub struct AwaitReply {
    /// URN of the resource.
    pub urn: Urn,
    /// Its id.
    pub id: ResourceId,
    /// Whether a provider manages it.
    pub custom: bool,
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
    /// The resource was left out: outputs that are missing are unknown.
    pub unknown: bool,
}

/// RegisterResourceHook and RegisterErrorHook.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterHookRequest {
    /// The name by which resources bind the hook; one of a kind in the program.
    pub name: EcoString,
    /// The function.
    pub callback: Callback,
    /// When it runs.
    pub kind: HookKind,
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookKind {
    /// Before or after steps.
    Resource {
        /// Whether it runs in previews too.
        on_dry_run: bool,
        /// Whether its failure is only a warning.
        ignore_errors: bool,
    },
    /// After a failed step, to decide whether it is tried again.
    Error,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequestError {
    /// Kind of the failure.
    pub kind: RequestErrorKind,
    /// Fit for the user.
    pub message: EcoString,
}

impl RequestError {
    /// A failure of `kind`.
    pub fn new(kind: RequestErrorKind, message: impl Into<EcoString>) -> Self {
        RequestError {
            kind,
            message: message.into(),
        }
    }
}

/// Kinds of failed requests; each has its gRPC code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestErrorKind {
    /// The request makes no sense.
    InvalidArgument,
    /// The deployment is over, or cannot go on.
    Unavailable,
    /// The request is not possible now.
    FailedPrecondition,
    /// Not built yet.
    Unimplemented,
    /// Anything else.
    Unknown,
}

/// A request that waits for a default provider. Transforms are behind it.
#[derive(Clone, Debug)]
pub(crate) enum Parked {
    Register(Box<RegisterRequest>),
    Invoke(Box<InvokeFunctionRequest>),
    Other(Request),
}
