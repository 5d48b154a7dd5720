//! Engine events.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use ecow::EcoString;
use plumb_resource::{PropertyDiff, ProviderRef, ResourceState, StepOp, TypeToken, Urn};
use plumb_value::PropertyMap;

use crate::{ColorMode, PolicyAnalyzeSummary, PolicyRemediation, PolicyViolation};

/// Something that happened in a deployment (`engine.md` 10.1).
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The deployment begins with this configuration, in which secret settings are already hidden.
    Prelude {
        /// Configuration by key.
        config: BTreeMap<EcoString, EcoString>,
    },
    /// A step is about to run.
    ResourcePre(StepEvent),
    /// A step is done, or a component registered its outputs.
    ResourceOutputs(StepEvent),
    /// A step failed.
    ResourceFailed(FailedStepEvent),
    /// A message for the user.
    Diagnostic(Diagnostic),
    /// Text to show unchanged.
    Stdout {
        /// The text, perhaps with colour tags.
        message: EcoString,
        /// Treatment of colour tags.
        color: ColorMode,
    },
    /// A resource or the stack violates a policy.
    PolicyViolation(PolicyViolation),
    /// A policy changed a resource.
    PolicyRemediation(PolicyRemediation),
    /// Policies are being loaded.
    PolicyLoad,
    /// A policy pack analyzed a resource.
    PolicyAnalyzeSummary(PolicyAnalyzeSummary),
    /// A policy pack tried to remediate a resource.
    PolicyRemediateSummary(PolicyAnalyzeSummary),
    /// A policy pack analyzed the whole stack.
    PolicyAnalyzeStackSummary(PolicyAnalyzeSummary),
    /// Progress of a download or an installation.
    Progress(Progress),
    /// A call takes long. For displays only; this event has no JSON form.
    Wait(Wait),
    /// A process waits for a debugger.
    StartDebugging {
        /// Parameters for the debugger.
        config: PropertyMap,
    },
    /// An error inside the engine.
    Error {
        /// Message.
        error: EcoString,
    },
    /// The deployment is over.
    Summary(Summary),
    /// No event follows.
    Cancel,
}

/// A step, before or after it ran.
#[derive(Clone, Debug, PartialEq)]
pub struct StepEvent {
    /// The step and its resource.
    pub metadata: Box<Metadata>,
    /// Whether this is a preview.
    pub planning: bool,
    /// Whether displays should hide the step, as they do for default providers.
    pub internal: bool,
}

/// A step that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedStepEvent {
    /// The step and its resource.
    pub metadata: Box<Metadata>,
    /// State of the resource after the failure, as far as it is known.
    pub status: FailedStatus,
    /// Number of steps done so far.
    pub steps: u32,
    /// Whether displays should hide the step.
    pub internal: bool,
}

/// State of a resource after a failed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedStatus {
    /// The resource is unchanged.
    Ok,
    /// The resource exists but is not ready.
    PartialFailure,
    /// The state of the resource is not known.
    Unknown,
}

/// A step and its resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// Kind of the step; after a refresh, the kind of change that the refresh found.
    pub op: StepOp,
    /// The resource.
    pub urn: Urn,
    /// Type of the resource.
    pub type_token: TypeToken,
    /// The resource before the step.
    pub old: Option<StateView>,
    /// The resource after the step.
    pub new: Option<StateView>,
    /// Keys that force a replacement.
    pub keys: Vec<EcoString>,
    /// Keys that differ.
    pub diffs: Vec<EcoString>,
    /// Differences by path; `None` when the provider reports no details.
    pub detailed_diff: Option<BTreeMap<EcoString, PropertyDiff>>,
    /// Whether the step is an operation of its own, not part of another one such as a replacement.
    pub logical: bool,
    /// The provider; `None` for components.
    pub provider: Option<ProviderRef>,
}

impl Metadata {
    /// The new state, or the old one if there is no new one.
    pub fn state(&self) -> Option<&StateView> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// URN of the parent, if the state has one.
    pub fn parent(&self) -> Option<&Urn> {
        self.state().and_then(|state| state.parent.as_ref())
    }
}

/// State of a resource at the time of the event.
#[derive(Clone, Debug, PartialEq)]
pub struct StateView(Arc<ResourceState>);

impl StateView {
    /// A view of `state`.
    pub fn new(state: impl Into<Arc<ResourceState>>) -> Self {
        StateView(state.into())
    }

    /// The shared state.
    pub fn shared(&self) -> &Arc<ResourceState> {
        &self.0
    }
}

impl From<Arc<ResourceState>> for StateView {
    fn from(state: Arc<ResourceState>) -> Self {
        StateView(state)
    }
}

impl Deref for StateView {
    type Target = ResourceState;

    fn deref(&self) -> &ResourceState {
        &self.0
    }
}

/// A message for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The resource that the message is about.
    pub urn: Option<Urn>,
    /// Text to show before the message, perhaps with colour tags.
    pub prefix: EcoString,
    /// The message, perhaps with colour tags.
    pub message: EcoString,
    /// Treatment of colour tags.
    pub color: ColorMode,
    /// Severity of the message.
    pub severity: Severity,
    /// Messages with the same number, other than zero, form one stream.
    pub stream_id: i32,
    /// Whether the message is a passing status, of no interest later.
    pub ephemeral: bool,
}

impl Diagnostic {
    /// A diagnostic with the usual prefix for its severity.
    pub fn new(severity: Severity, urn: Option<Urn>, message: impl Into<EcoString>) -> Self {
        Diagnostic {
            urn,
            prefix: severity.prefix().into(),
            message: message.into(),
            color: ColorMode::Raw,
            severity,
            stream_id: 0,
            ephemeral: false,
        }
    }
}

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Details for developers.
    Debug,
    /// Information.
    Info,
    /// Information for the standard error stream.
    InfoErr,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

impl Severity {
    /// The name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Debug => "debug",
            Severity::Info => "info",
            Severity::InfoErr => "info#err",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }

    /// The severity with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "debug" => Severity::Debug,
            "info" => Severity::Info,
            "info#err" => Severity::InfoErr,
            "warning" => Severity::Warning,
            "error" => Severity::Error,
            _ => return None,
        })
    }

    /// The usual prefix of messages, with colour tags.
    pub fn prefix(self) -> &'static str {
        match self {
            Severity::Debug => "<{%reset%}>debug: <{%reset%}>",
            Severity::Info | Severity::InfoErr => "",
            Severity::Warning => "<{%fg 3%}>warning: <{%reset%}>",
            Severity::Error => "<{%fg 1%}>error: <{%reset%}>",
        }
    }
}

/// Progress of a download or an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Kind of activity.
    pub kind: ProgressKind,
    /// Identifies the activity among others.
    pub id: EcoString,
    /// Text to show.
    pub message: EcoString,
    /// Bytes done so far.
    pub received: u64,
    /// Total number of bytes; zero when unknown.
    pub total: u64,
    /// Whether the activity has ended.
    pub done: bool,
}

/// A call to a provider that takes long. Emitted when the call has taken some seconds, and when it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Identifies the call among others.
    pub id: u64,
    /// Subject of the call.
    pub subject: WaitSubject,
    /// Name of the call: `Check`.
    pub call: &'static str,
    /// Duration so far.
    pub took: Duration,
    /// Whether the call has ended.
    pub over: bool,
}

impl Wait {
    /// Value of `call` while the provider is still being started.
    pub const STARTING: &'static str = "start";
}

/// Subject of a call that takes long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitSubject {
    /// A resource.
    Resource(Urn),
    /// A remote component, which its provider constructs together with everything below it.
    Component {
        /// Type of the component.
        type_token: TypeToken,
        /// Name of the component.
        name: EcoString,
    },
    /// A function or method.
    Function(TypeToken),
    /// The provider itself.
    Provider,
}

/// Kind of a [`Progress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressKind {
    /// A plugin is downloaded.
    PluginDownload,
    /// A plugin is unpacked.
    PluginInstall,
    /// A policy pack is downloaded.
    PolicyPackDownload,
    /// A policy pack is unpacked.
    PolicyPackInstall,
    /// Policy packs are started.
    PolicyPacksLoading,
}

impl ProgressKind {
    /// Every kind.
    pub const ALL: [ProgressKind; 5] = [
        ProgressKind::PluginDownload,
        ProgressKind::PluginInstall,
        ProgressKind::PolicyPackDownload,
        ProgressKind::PolicyPackInstall,
        ProgressKind::PolicyPacksLoading,
    ];

    /// The name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            ProgressKind::PluginDownload => "plugin-download",
            ProgressKind::PluginInstall => "plugin-install",
            ProgressKind::PolicyPackDownload => "policypack-download",
            ProgressKind::PolicyPackInstall => "policypack-install",
            ProgressKind::PolicyPacksLoading => "policypacks-loading",
        }
    }
}

/// Result of a deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Whether the state of some resource is not known.
    pub maybe_corrupt: bool,
    /// Duration of the deployment.
    pub duration: Duration,
    /// Number of steps by operation.
    pub resource_changes: BTreeMap<StepOp, u32>,
    /// Version of every policy pack that ran.
    pub policy_packs: BTreeMap<EcoString, EcoString>,
    /// Whether the deployment was a preview.
    pub is_preview: bool,
    /// Outcome.
    pub result: OperationResult,
}

impl Summary {
    /// The duration in whole seconds, rounded up.
    pub fn duration_seconds(&self) -> u64 {
        self.duration.as_secs() + u64::from(self.duration.subsec_nanos() > 0)
    }

    /// Whether any resource changed or would change.
    pub fn has_changes(&self) -> bool {
        self.resource_changes.iter().any(|(op, count)| {
            *count > 0
                && !matches!(
                    op,
                    StepOp::Same | StepOp::Read | StepOp::Discard | StepOp::ReadReplacement
                )
        })
    }
}

/// Outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationResult {
    /// The operation succeeded.
    Succeeded,
    /// The operation failed.
    Failed,
    /// The operation was cancelled.
    Canceled,
}

impl OperationResult {
    /// The name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            OperationResult::Succeeded => "succeeded",
            OperationResult::Failed => "failed",
            OperationResult::Canceled => "canceled",
        }
    }
}
