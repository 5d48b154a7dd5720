//! Inputs and outputs of the core: events and effects.

use ecow::EcoString;
use plumb_events::OperationResult;
use plumb_resource::policy::{PolicyCall, PolicyPackInfo, PolicyReply};
use plumb_resource::provider::{
    ConfigureRequest, PluginSpec, ProviderCall, ProviderError, ProviderReply,
};
use plumb_resource::{ResourceId, StepOp, Urn};
use plumb_state::Snippet;
use plumb_state::journal::Entry;
use plumb_state::plan::Plan;

use crate::ids::{CallId, Fence, InstanceId, PackId, RequestId};
use crate::request::{Callback, CallbackReply, CallbackRequest, Reply, Request};

/// Something that happened outside. The log of these, with their times, determines a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The deployment starts.
    Start,
    /// A program (or a component provider) asks for something.
    Request {
        /// For the reply.
        id: RequestId,
        /// The request.
        request: Request,
    },
    /// A provider answered.
    Answered {
        /// Which call.
        call: CallId,
        /// The answer.
        result: Result<ProviderReply, ProviderError>,
    },
    /// A function of the program answered.
    CalledBack {
        /// Which call.
        call: CallId,
        /// The answer, or why there is none.
        result: Result<CallbackReply, String>,
    },
    /// The policy packs run, or one of them does not, for a reason fit for the user.
    PoliciesLoaded(Result<Vec<PolicyPackInfo>, String>),
    /// A policy pack answered.
    PolicyAnswered {
        /// Which call.
        call: CallId,
        /// The answer, or why there is none.
        result: Result<PolicyReply, String>,
    },
    /// The program ended.
    ProgramEnded(ProgramEnd),
    /// A snippet ended.
    SnippetEnded {
        /// Which one.
        uuid: EcoString,
        /// How.
        end: ProgramEnd,
    },
    /// The user wants the deployment to stop: running steps finish, no new ones start.
    Interrupted,
    /// The journal cannot be written any more; nothing may change from here on.
    JournalFailed {
        /// Why, fit for the user.
        message: String,
    },
    /// The journal takes its time compared with the calls of steps.
    Paced {
        /// How many steps should begin before there is room for their calls, so that no call waits for its intent.
        ahead: u32,
    },
    /// Nothing is under way outside, so no other event can come, and the run has not ended.
    Stalled,
}

/// How the program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// After all its registrations were made.
    Finished,
    /// With an error that has been shown already.
    Bailed,
    /// With an error that is still to be shown.
    Failed {
        /// The error, fit for the user.
        message: String,
    },
}

/// Something to be done outside.
///
/// An effect with a [`Fence`] waits for the journal. A call to a provider that changes nothing outside of the state has none.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Write an entry to the journal.
    Journal(Entry),
    /// The base entry at this index was visited and found unchanged: the snapshot at the end lists it here, among what
    /// this run produced. No journal record: a recovery misses nothing but the order, which it restores by itself.
    Touch {
        /// Index in the base.
        base: u32,
    },
    /// Do something with a provider; the answer comes with the first call to it.
    Provider {
        /// Which one.
        instance: InstanceId,
        /// The action.
        action: ProviderAction,
    },
    /// Call a provider.
    Call {
        /// For the answer.
        call: CallId,
        /// Which provider.
        instance: InstanceId,
        /// The call.
        request: ProviderCall,
        /// Entries that must be durable first.
        fence: Fence,
    },
    /// Call a function of the program.
    Callback {
        /// For the answer.
        call: CallId,
        /// Which function.
        callback: Callback,
        /// With what.
        request: CallbackRequest,
        /// Entries that must be durable first.
        fence: Fence,
    },
    /// Start the policy packs of the run; the answer is [`Event::PoliciesLoaded`].
    LoadPolicies,
    /// Ask a policy pack. What is asked together may be answered at the same time.
    AskPolicy {
        /// For the answer.
        call: CallId,
        /// Which pack.
        pack: PackId,
        /// The question.
        request: PolicyCall,
    },
    /// Answer a request.
    Reply {
        /// Which one.
        id: RequestId,
        /// The answer.
        reply: Reply,
        /// Entries that must be durable first.
        fence: Fence,
    },
    /// Tell the subscribers.
    Emit(plumb_events::Event),
    /// Run the program.
    StartProgram,
    /// Evaluate this snippet, beside the program.
    StartSnippet(Box<Snippet>),
    /// The plan of the run, which a later run can be constrained to. Only if the options ask for a plan and the run succeeded.
    Planned(Plan),
    /// Something was decided that depends on what happened before. Only where the options ask for it.
    Milestone(Milestone),
    /// The deployment is over; nothing follows.
    Finished(Outcome),
}

/// A point in the order of decisions. Whoever checks a run needs to know in which order the core took its decisions, where
/// several orders are legal and events do not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// A registration or a read takes its URN, and claims the old resource that it continues.
    Registered(Urn),
    /// Its inputs are checked: what it needs of the state is passed on, and the comparison begins.
    DecisionStarted(Urn),
    /// Its decision is taken.
    Decided(Urn),
    /// The rest of its steps is left out, because something that they need failed.
    Skipped(Urn),
    /// A step failed.
    Failed {
        /// The resource.
        urn: Urn,
        /// The kind of the step.
        op: StepOp,
        /// Id of the object that the step was about, if there was one.
        old_id: Option<ResourceId>,
    },
    /// The run ends before its time: nothing begins any more.
    Over,
}

/// Lifecycle of a provider instance.
#[derive(Clone, Debug, PartialEq)]
pub enum ProviderAction {
    /// Start it, when it is first needed.
    Load(PluginSpec),
    /// Configure it, before the first call other than CheckConfig and DiffConfig.
    Configure(ConfigureRequest),
    /// Stop it.
    Close,
}

/// How a deployment ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// In one word.
    pub result: OperationResult,
    /// Whether the run began; events tell nothing of a refusal before, only `error` does.
    pub has_begun: bool,
    /// Whether anything changed, or would change.
    pub has_changes: bool,
    /// The error of the engine operation, as tools match on it (`engine.md` 11); none on success.
    pub error: Option<String>,
    /// Root stack of the deployment, if the program registered one.
    pub root_stack: Option<Urn>,
}
