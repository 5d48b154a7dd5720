//! The events.

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
    /// The deployment begins with this configuration; secret settings are blinded already.
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
    /// Something to tell the user.
    Diagnostic(Diagnostic),
    /// Text to show as it is.
    Stdout {
        /// The text, perhaps with colour tags.
        message: EcoString,
        /// How to treat the colour tags.
        color: ColorMode,
    },
    /// A policy is violated.
    PolicyViolation(PolicyViolation),
    /// A policy changed a resource.
    PolicyRemediation(PolicyRemediation),
    /// Policies are being loaded.
    PolicyLoad,
    /// A policy pack looked at a resource.
    PolicyAnalyzeSummary(PolicyAnalyzeSummary),
    /// A policy pack tried to remedy a resource.
    PolicyRemediateSummary(PolicyAnalyzeSummary),
    /// A policy pack looked at the whole stack.
    PolicyAnalyzeStackSummary(PolicyAnalyzeSummary),
    /// A download or an installation goes on.
    Progress(Progress),
    /// A call takes long. That is for people who look on: no JSON is made of it.
    Wait(Wait),
    /// A process waits for a debugger.
    StartDebugging {
        /// What the debugger has to know.
        config: PropertyMap,
    },
    /// Something went wrong inside the engine.
    Error {
        /// What.
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
    /// What the step is about.
    pub metadata: Box<Metadata>,
    /// Whether this is a preview.
    pub planning: bool,
    /// Whether the step is of no interest to people: default providers and the like.
    pub internal: bool,
}

/// A step that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedStepEvent {
    /// What the step is about.
    pub metadata: Box<Metadata>,
    /// What is known of the resource now.
    pub status: FailedStatus,
    /// Number of steps done so far.
    pub steps: u32,
    /// Whether the step is of no interest to people.
    pub internal: bool,
}

/// What is known of a resource whose step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedStatus {
    /// The resource is as it was.
    Ok,
    /// The resource exists but is not ready.
    PartialFailure,
    /// Nobody knows.
    Unknown,
}

/// What a step is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// What the step does; after a refresh, what the refresh found.
    pub op: StepOp,
    /// The resource.
    pub urn: Urn,
    /// Its type.
    pub type_token: TypeToken,
    /// The resource before the step.
    pub old: Option<StateView>,
    /// The resource after the step.
    pub new: Option<StateView>,
    /// Keys that force a replacement.
    pub keys: Vec<EcoString>,
    /// Keys that differ.
    pub diffs: Vec<EcoString>,
    /// Difference by path; `None` when the provider did not say.
    pub detailed_diff: Option<BTreeMap<EcoString, PropertyDiff>>,
    /// Whether the step stands for an operation of its own.
    pub logical: bool,
    /// The provider; none for components.
    pub provider: Option<ProviderRef>,
}

impl Metadata {
    /// The new state, or the old one when there is none.
    pub fn state(&self) -> Option<&StateView> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// URN of the parent, if any state tells it.
    pub fn parent(&self) -> Option<&Urn> {
        self.state().and_then(|state| state.parent.as_ref())
    }
}

/// A resource as it was when the event was emitted.
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

/// Something to tell the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The resource that it is about.
    pub urn: Option<Urn>,
    /// What to show before the message, perhaps with colour tags.
    pub prefix: EcoString,
    /// The message, perhaps with colour tags.
    pub message: EcoString,
    /// How to treat the colour tags.
    pub color: ColorMode,
    /// How serious it is.
    pub severity: Severity,
    /// Messages with the same number, other than zero, belong together.
    pub stream_id: i32,
    /// Whether it is of interest only while it is new.
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

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// For developers.
    Debug,
    /// Information.
    Info,
    /// Information that belongs on the error stream.
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

/// A download or an installation that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What goes on.
    pub kind: ProgressKind,
    /// Tells one download from another.
    pub id: EcoString,
    /// What to show.
    pub message: EcoString,
    /// How much is done, in bytes.
    pub received: u64,
    /// How much there is to do; zero when unknown.
    pub total: u64,
    /// Whether it is over.
    pub done: bool,
}

/// A call to a provider that takes long, told when it has taken some seconds and when it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Tells one call from another.
    pub id: u64,
    /// What the call is about.
    pub subject: WaitSubject,
    /// Name of the call: `Check`.
    pub call: &'static str,
    /// How long it has taken.
    pub took: Duration,
    /// Whether it is over.
    pub over: bool,
}

impl Wait {
    /// In place of the name of a call: the provider is still being started.
    pub const STARTING: &'static str = "start";
}

/// What a call that takes long is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitSubject {
    /// A resource.
    Resource(Urn),
    /// A component that its provider makes, with everything below it.
    Component {
        /// Its type.
        type_token: TypeToken,
        /// Its name.
        name: EcoString,
    },
    /// A function or method.
    Function(TypeToken),
    /// The provider itself.
    Provider,
}

/// What a [`Progress`] is about.
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

/// How a deployment ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Whether some resource is in a state that nobody knows.
    pub maybe_corrupt: bool,
    /// How long it took.
    pub duration: Duration,
    /// Number of steps by operation.
    pub resource_changes: BTreeMap<StepOp, u32>,
    /// Version of every policy pack that ran.
    pub policy_packs: BTreeMap<EcoString, EcoString>,
    /// Whether it was a preview.
    pub is_preview: bool,
    /// How it ended.
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

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationResult {
    /// Everything worked.
    Succeeded,
    /// Something did not.
    Failed,
    /// Somebody stopped it.
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
