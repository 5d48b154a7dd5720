//! The deployment: one state machine from events to effects.
//!
//! 1. [`Deployment::handle`] takes one event and answers what is to be done about it. It never waits, never reads a
//!    clock and makes nothing up by chance: the same events at the same times give the same effects.
//! 2. Requests of the program become registrations (`registration.rs`), reads and invokes; each goes through its stages
//!    as provider calls are answered. Decisions are taken one at a time, in the order in which answers arrive.
//! 3. Steps run in chains (`chain.rs`): the steps of one decision, in order. Chains run side by side, up to the limit.
//! 4. When the program has ended and every registration is decided, what it did not mention is deleted (`deletes.rs`).
//!
//! **Invariants.** A provider mutation is sent only behind the fence of its intent in the journal. A reply is sent only
//! behind the fence of the outcome that it tells. After a failure or an interrupt no chain starts and no running chain
//! begins another step, but every answer that still comes is recorded.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ecow::EcoString;
use jiff::Timestamp;
use plumb_events::OperationResult;
use plumb_resource::provider::{PluginSpec, ProviderCall, ProviderError, ProviderReply};
use plumb_resource::{Goal, ProviderRef, StepOp, Urn};
use plumb_state::Snapshot;
use plumb_state::journal::{Entry, EntryKind, OperationId};
use plumb_value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arena::{Arena, DuplicateResource, Olds, StateIdx};
use crate::chain::{ChainIdx, Scheduler};
use crate::event::{
    CallId, Effect, Event, InstanceId, Outcome, ProgramEnd, ProviderAction, RequestId,
};
use crate::hooks::Hooks;
use crate::import_operation::ImportPlan;
use crate::lineage::Lineage;
use crate::marks::Marks;
use crate::outputs::OutputsMemory;
use crate::packages::{self, Packages};
use crate::plans::Plans;
use crate::providers::Registry;
use crate::registration::{RegIdx, Registration};
use crate::request::{
    Callback, CallbackReply, CallbackRequest, Reply, Request, RequestError, RequestErrorKind,
};
use crate::seeds::Seeds;
use crate::setup::{Operation, Options, Setup};
use crate::transforms::{Parked, Transforms};

/// A deployment in progress.
#[derive(Debug)]
pub struct Deployment {
    pub(crate) ctx: Context,
    pub(crate) now: Timestamp,
    started: Timestamp,
    pub(crate) stage: Stage,
    pub(crate) outbox: Outbox,
    pub(crate) work: VecDeque<Work>,
    pub(crate) seeds: Seeds,

    /// The snapshot that the run starts from, or what the refresh phase made of it.
    pub(crate) base: Snapshot,
    pub(crate) arena: Arena,
    pub(crate) olds: Olds,
    /// States that this run produced or passed on, by URN.
    pub(crate) news: FxHashMap<Urn, StateIdx>,
    pub(crate) marks: Marks,
    /// Old URN to the new one that claimed it, and back.
    pub(crate) aliased: FxHashMap<Urn, Urn>,
    pub(crate) alias_of: FxHashMap<Urn, Urn>,
    /// Old states that are being deleted or are deleted in this run.
    pub(crate) pending_deletes: FxHashSet<StateIdx>,
    /// URNs of which some copy is being deleted or is deleted in this run.
    pub(crate) deleting_urns: FxHashSet<Urn>,
    /// Which chain deletes an old state for a replacement.
    pub(crate) deleted_by: FxHashMap<StateIdx, ChainIdx>,
    /// Why a resource that was deleted for the replacement of another is itself replaced.
    pub(crate) dependent_replace_keys: FxHashMap<Urn, Vec<EcoString>>,
    /// Old states that a destroy with program will delete at its end.
    pub(crate) condemned: Vec<StateIdx>,
    /// URNs that target-dependents and exclude-dependents have added.
    pub(crate) targets_actual: FxHashSet<Urn>,
    pub(crate) excludes_actual: FxHashSet<Urn>,
    /// What the refreshes so far found, and which old states are gone.
    pub(crate) refreshes: Vec<Entry>,
    pub(crate) gone: FxHashSet<StateIdx>,
    pub(crate) import: ImportPlan,
    /// Deletes at the end, before and after they are sorted into layers.
    pub(crate) planned_deletes: Vec<StateIdx>,
    pub(crate) delete_layers: VecDeque<Vec<StateIdx>>,
    /// URNs that go although something that stays refers to them.
    pub(crate) orphaning: FxHashSet<Urn>,
    /// What is referred to by resources that are left as they are.
    pub(crate) kept_references: FxHashSet<Urn>,
    /// Providers of resources that are left as they are.
    pub(crate) kept_providers: FxHashSet<ProviderRef>,
    /// Same steps of untargeted resources that must come before the next step of a targeted one.
    pub(crate) queued_sames: Vec<crate::step::Step>,

    /// Those that have not been answered yet.
    pub(crate) registrations: Vec<Option<Box<Registration>>>,
    pub(crate) open_registrations: usize,
    /// Registrations that wait while another one finds out what it must replace.
    pub(crate) gate: Gate,
    pub(crate) goals: FxHashMap<Urn, GoalMemory>,
    pub(crate) lineage: Lineage,
    pub(crate) chains: Scheduler,
    pub(crate) calls: FxHashMap<CallId, Waiter>,
    pub(crate) decisions: DecisionSlots,
    pub(crate) providers: Registry,
    pub(crate) packages: Packages,
    pub(crate) defaults: FxHashMap<EcoString, DefaultProvider>,
    pub(crate) outputs: OutputsMemory,
    pub(crate) transforms: Transforms,
    pub(crate) hooks: Hooks,
    /// What failed attempts left half made, and later ones made anew.
    pub(crate) leftovers: Vec<StateIdx>,
    pub(crate) plans: Plans,

    pub(crate) unanswered: BTreeSet<RequestId>,
    pub(crate) shutdown_waiters: Vec<RequestId>,
    pub(crate) report: Report,
    pub(crate) failure: Option<Failure>,
    /// The first failed step of a run that goes on nevertheless.
    pub(crate) deferred_failure: Option<String>,
    /// Something was refused in a preview, which goes on to show the rest.
    pub(crate) refused_in_preview: bool,
    program_ended: Option<ProgramEnd>,
}

/// What does not change during a run.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) stack: EcoString,
    pub(crate) project: EcoString,
    pub(crate) config: BTreeMap<EcoString, Value>,
    pub(crate) operation: Operation,
    pub(crate) options: Options,
    pub(crate) default_versions: BTreeMap<EcoString, PluginSpec>,
}

/// Where the run as a whole stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before the start.
    New,
    /// Every resource is read.
    Refreshing,
    /// Objects are adopted.
    Importing,
    /// The program runs.
    Program,
    /// Same steps of what is left alone are made.
    Sames,
    /// What the program did not mention is deleted.
    Deletes,
    /// After a program, what it did not mention is read.
    LateRefresh,
    /// Over.
    Finished,
}

/// Who waits for the answer to a call.
#[derive(Clone, Debug)]
pub(crate) enum Waiter {
    /// A registration, in the stage that it is in.
    Registration(RegIdx),
    /// The current step of a chain.
    Chain(ChainIdx),
    /// An invoke.
    Invoke(RequestId, EcoString),
    /// A method call.
    Call(RequestId, EcoString),
    /// The construction of a remote component.
    Construct(RequestId, Box<Goal>),
    /// An extension parameterization.
    Extension(InstanceId, EcoString),
}

/// Work that the core gives itself.
#[derive(Debug)]
pub(crate) enum Work {
    /// An answer that needs nobody outside.
    Answer(CallId, Result<ProviderReply, ProviderError>),
    /// A request that waited.
    Again(RequestId, Parked),
    /// A registration whose turn has come.
    Decide(RegIdx),
    /// Chains may start.
    RunChains,
}

/// Effects to be handed out, and the counters behind them.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    effects: Vec<Effect>,
    journal_entries: u64,
    next_call: u64,
    next_operation: u64,
}

impl Outbox {
    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Emits a journal entry and returns its fence.
    pub(crate) fn journal(&mut self, operation: OperationId, kind: EntryKind) -> u64 {
        self.effects
            .push(Effect::Journal(Entry { operation, kind }));
        self.journal_entries += 1;
        self.journal_entries
    }

    /// Number of entries so far.
    pub(crate) fn journaled(&self) -> u64 {
        self.journal_entries
    }

    pub(crate) fn operation(&mut self) -> OperationId {
        self.next_operation += 1;
        OperationId(self.next_operation)
    }

    pub(crate) fn call_id(&mut self) -> CallId {
        self.next_call += 1;
        CallId(self.next_call)
    }

    /// Calls a function of the program, once the entry of number `fence` is durable.
    pub(crate) fn call_back(
        &mut self,
        callback: Callback,
        request: CallbackRequest,
        fence: u64,
    ) -> CallId {
        let call = self.call_id();
        self.push(Effect::Callback {
            call,
            callback,
            request,
            fence,
        });
        call
    }
}

/// What is remembered of a registration for its children and for methods (`engine.md` 2.3).
#[derive(Clone, Debug)]
pub(crate) struct GoalMemory {
    pub(crate) protect: Option<bool>,
    pub(crate) retain_on_delete: Option<bool>,
    pub(crate) deleted_with: Option<Urn>,
    pub(crate) provider: EcoString,
    /// References by package, for the children of components.
    pub(crate) providers: BTreeMap<EcoString, EcoString>,
    pub(crate) is_component: bool,
    pub(crate) parent: Option<Urn>,
    pub(crate) transforms: Vec<Callback>,
}

/// The default provider of a package.
#[derive(Clone, Debug)]
pub(crate) enum DefaultProvider {
    /// Being registered; these requests wait for it.
    Pending(Vec<(RequestId, Parked)>),
    /// Registered.
    Ready(plumb_resource::ProviderRef),
}

/// Holds back decisions while one registration collects what it must replace.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    pub(crate) holder: Option<RegIdx>,
    pub(crate) waiting: VecDeque<RegIdx>,
}

/// Limits Check and Diff calls in flight.
#[derive(Debug, Default)]
pub(crate) struct DecisionSlots {
    used: FxHashSet<CallId>,
    waiting: VecDeque<(CallId, InstanceId, ProviderCall)>,
}

/// Counters for the summary and other things to tell at the end.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) changes: BTreeMap<StepOp, u32>,
    pub(crate) steps: u32,
    pub(crate) maybe_corrupt: bool,
    /// Resources among the `same` that only something else needed to be there.
    pub(crate) passed_on: FxHashSet<Urn>,
    pub(crate) root_stack: Option<Urn>,
    pub(crate) error_logged: bool,
}

/// Why the run does not go on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// A decision was refused; it has been shown.
    Refused,
    /// The operation needs the program and runs without; it has been shown.
    NeedsProgram,
    /// A step failed; `update failed` is still to be said.
    Step {
        /// The step's error, for the operation's error text.
        cause: String,
    },
    /// The program failed; it has been shown.
    Program,
    /// The user stopped it.
    Canceled,
}

impl Deployment {
    /// A deployment that has not started.
    pub fn new(setup: Setup, now: Timestamp) -> Result<Self, DuplicateResource> {
        let mut arena = Arena::default();
        let olds = Olds::new(&mut arena, &setup.snapshot.resources)?;
        let limit = setup.options.parallel.max(1);
        let plans = Plans::new(setup.plan, setup.options.makes_plan);
        Ok(Deployment {
            ctx: Context {
                stack: setup.stack,
                project: setup.project,
                config: setup.config,
                operation: setup.operation,
                options: setup.options,
                default_versions: packages::default_versions(&setup.packages, &setup.snapshot),
            },
            now,
            started: now,
            stage: Stage::New,
            outbox: Outbox::default(),
            work: VecDeque::new(),
            seeds: Seeds::new(setup.seed),
            base: setup.snapshot,
            arena,
            olds,
            news: FxHashMap::default(),
            marks: Marks::default(),
            aliased: FxHashMap::default(),
            alias_of: FxHashMap::default(),
            pending_deletes: FxHashSet::default(),
            deleting_urns: FxHashSet::default(),
            deleted_by: FxHashMap::default(),
            dependent_replace_keys: FxHashMap::default(),
            condemned: Vec::new(),
            targets_actual: FxHashSet::default(),
            excludes_actual: FxHashSet::default(),
            refreshes: Vec::new(),
            gone: FxHashSet::default(),
            import: ImportPlan::default(),
            planned_deletes: Vec::new(),
            delete_layers: VecDeque::new(),
            orphaning: FxHashSet::default(),
            kept_references: FxHashSet::default(),
            kept_providers: FxHashSet::default(),
            queued_sames: Vec::new(),
            registrations: Vec::new(),
            open_registrations: 0,
            gate: Gate::default(),
            goals: FxHashMap::default(),
            lineage: Lineage::default(),
            chains: Scheduler::new(limit),
            calls: FxHashMap::default(),
            decisions: DecisionSlots::default(),
            providers: Registry::default(),
            packages: Packages::default(),
            defaults: FxHashMap::default(),
            outputs: OutputsMemory::default(),
            transforms: Transforms::default(),
            hooks: Hooks::default(),
            leftovers: Vec::new(),
            plans,
            unanswered: BTreeSet::new(),
            shutdown_waiters: Vec::new(),
            report: Report::default(),
            failure: None,
            deferred_failure: None,
            refused_in_preview: false,
            program_ended: None,
        })
    }

    /// Takes an event that happened at `at` and answers what is to be done about it.
    pub fn handle(&mut self, at: Timestamp, event: Event) -> Vec<Effect> {
        self.now = at;
        match event {
            Event::Start => self.start(),
            Event::Request { id, request } => self.take_request(id, request),
            Event::Answered { call, result } => self.answered(call, result),
            Event::CalledBack { call, result } => self.called_back(call, result),
            Event::ProgramEnded(end) => self.program_ended(end),
            Event::Interrupted => self.fail(Failure::Canceled),
            Event::JournalFailed { message } => self.journal_failed(&message),
            Event::ErrorLogged => self.report.error_logged = true,
        }
        loop {
            self.do_work();
            if !self.go_on() {
                break;
            }
        }
        std::mem::take(&mut self.outbox.effects)
    }

    fn called_back(&mut self, call: CallId, result: Result<CallbackReply, String>) {
        match self.hooks.ended(call) {
            Some(waiter) => self.hook_answered(waiter, result),
            None => self.transform_answered(call, result),
        }
    }

    fn do_work(&mut self) {
        while let Some(work) = self.work.pop_front() {
            match work {
                Work::Answer(call, result) => self.answered(call, result),
                Work::Again(id, parked) => self.dispatch_again(id, parked),
                Work::Decide(registration) => self.take_turn(registration),
                Work::RunChains => self.run_chains(),
            }
        }
    }

    fn start(&mut self) {
        self.emit_prelude();
        if !self.can_run_delete_hooks() {
            return self.fail(Failure::NeedsProgram);
        }
        self.warn_of_pending_operations();
        match &self.ctx.operation {
            Operation::Import(_) => self.start_import(),
            Operation::Refresh if !self.ctx.options.run_program => self.start_refresh(),
            _ if self.wants_refresh_phase() => self.start_refresh(),
            Operation::Refresh if self.wants_adoptions() => self.start_adoptions(),
            _ => self.after_refresh(),
        }
    }

    /// The refresh phase is over, or there was none: the program runs, unless the operation has none.
    pub(crate) fn after_refresh(&mut self) {
        if !self.check_targets_before_program() {
            return self.fail(Failure::Refused);
        }
        self.stage = Stage::Program;
        match self.ctx.operation {
            Operation::Destroy if !self.ctx.options.run_program => {
                self.program_ended(ProgramEnd::Finished);
            }
            _ => self.outbox.push(Effect::StartProgram),
        }
    }

    fn take_request(&mut self, id: RequestId, request: Request) {
        self.unanswered.insert(id);
        self.dispatch(id, request);
    }

    fn dispatch(&mut self, id: RequestId, request: Request) {
        if self.failure.is_some() || self.stage == Stage::Finished {
            // The answer comes when the run is over.
            return self.refuse_if_finished(id);
        }
        match request {
            Request::Register(request) => self.take_registration(id, request),
            Request::Read(request) => self.take_read(id, request),
            Request::RegisterOutputs(request) => self.take_outputs(id, request),
            Request::Invoke(request) => self.take_invoke(id, request),
            Request::Call(request) => self.take_call(id, request),
            Request::RegisterPackage(request) => {
                let seeds = &mut self.seeds;
                let reply = match self.packages.register(request, || seeds.uuid()) {
                    Ok(reference) => Reply::Package(reference),
                    Err(error) => Reply::Failed(error),
                };
                self.reply(id, reply, 0);
            }
            Request::RegisterStackTransform(callback) => self.take_stack_transform(id, callback),
            Request::RegisterStackInvokeTransform(callback) => {
                self.take_stack_invoke_transform(id, callback);
            }
            Request::RegisterHook(request) => self.take_hook(id, request),
            Request::SignalAndWaitForShutdown => self.take_shutdown_signal(id),
        }
    }

    fn dispatch_again(&mut self, id: RequestId, parked: Parked) {
        if self.failure.is_some() || self.stage == Stage::Finished {
            return self.refuse_if_finished(id);
        }
        match parked {
            Parked::Register(request) => self.register_transformed(id, request),
            Parked::Invoke(request) => self.invoke_transformed(id, request),
            Parked::Other(request) => self.dispatch(id, request),
        }
    }

    fn take_shutdown_signal(&mut self, id: RequestId) {
        if !self.shutdown_waiters.is_empty() {
            let error =
                RequestError::new(RequestErrorKind::Unknown, "Already waiting for shutdown");
            return self.reply(id, Reply::Failed(error), 0);
        }
        self.shutdown_waiters.push(id);
        if self.program_ended.is_none() {
            self.program_ended(ProgramEnd::Finished);
        }
    }

    fn program_ended(&mut self, end: ProgramEnd) {
        match &end {
            ProgramEnd::Finished => {}
            ProgramEnd::Bailed => self.fail(Failure::Program),
            ProgramEnd::Failed { message } => {
                let message = message.clone();
                self.error(None, &message);
                self.fail(Failure::Program);
            }
        }
        if self.program_ended.is_none() {
            self.program_ended = Some(end);
        }
    }

    fn journal_failed(&mut self, message: &str) {
        self.error(None, &format!("failed to save snapshot: {message}"));
        self.fail(Failure::Step {
            cause: format!("failed to save snapshot: {message}"),
        });
    }

    /// Records why the run ends. Nothing new starts from here on; the first reason stands.
    pub(crate) fn fail(&mut self, failure: Failure) {
        if self.failure.is_none() {
            self.failure = Some(failure);
            self.chains.drop_waiting();
        }
    }

    /// Moves the run as a whole on, if nothing of the current stage is outstanding. Answers whether it moved.
    fn go_on(&mut self) -> bool {
        let is_idle = self.chains.is_idle() && self.hooks.is_idle();
        if self.stage == Stage::Finished || !is_idle {
            return false;
        }
        if self.failure.is_some() {
            self.finish();
            return false;
        }
        if self.stage == Stage::Importing && !self.is_quiet() {
            return false;
        }
        match self.stage {
            Stage::New | Stage::Finished => return false,
            Stage::Refreshing => self.refreshed(),
            Stage::Importing => self.import_on(),
            Stage::Program if self.program_ended.is_some() && self.is_quiet() => {
                self.end_of_program();
            }
            Stage::Program => return false,
            Stage::Sames => self.start_deletes(),
            Stage::Deletes => self.next_deletes(),
            Stage::LateRefresh => self.late_refreshed(),
        }
        true
    }

    /// Whether every registration is decided and done.
    fn is_quiet(&self) -> bool {
        self.open_registrations == 0
    }

    fn end_of_program(&mut self) {
        if self.ctx.operation == Operation::Refresh {
            self.start_late_refresh();
        } else {
            self.start_sames();
        }
    }

    /// Ends the run: stack outputs, what is still unanswered, summary.
    pub(crate) fn finish(&mut self) {
        self.stage = Stage::Finished;
        if let (None, Some(cause)) = (&self.failure, self.deferred_failure.take()) {
            self.failure = Some(Failure::Step { cause });
        }
        if self.failure.is_none() && self.refused_in_preview {
            self.failure = Some(Failure::Refused);
        }
        let fence = self.finish_stack_outputs();
        if self.failure.is_none() {
            self.check_plan_is_done();
        }
        if let Some(Failure::Step { .. }) = &self.failure {
            let what = if self.ctx.options.is_preview() {
                "preview failed"
            } else {
                "update failed"
            };
            self.error(None, what);
        }
        if self.failure == Some(Failure::Canceled) {
            let what = if self.ctx.options.is_preview() {
                "preview canceled"
            } else {
                "update canceled"
            };
            self.error(None, what);
        }
        for id in std::mem::take(&mut self.shutdown_waiters) {
            self.reply(id, Reply::Done, fence);
        }
        let unanswered: Vec<RequestId> = self.unanswered.iter().copied().collect();
        for id in unanswered {
            self.refuse_if_finished(id);
        }
        let outcome = self.outcome();
        self.emit_summary(self.started, outcome.result);
        if outcome.result == OperationResult::Succeeded {
            self.hand_out_plan();
        }
        self.outbox.push(Effect::Finished(outcome));
    }

    fn outcome(&self) -> Outcome {
        let result = match &self.failure {
            Some(Failure::Canceled) => OperationResult::Canceled,
            Some(_) => OperationResult::Failed,
            None if self.report.error_logged => OperationResult::Failed,
            None => OperationResult::Succeeded,
        };
        let error = match &self.failure {
            Some(Failure::Canceled) => Some("canceled".to_owned()),
            Some(Failure::Step { cause }) => Some(format!(
                "step executor errored: step application failed: {cause}"
            )),
            Some(Failure::Refused) => Some("step generator errored".to_owned()),
            Some(Failure::NeedsProgram) => Some(crate::hooks::NEEDS_PROGRAM.to_owned()),
            Some(Failure::Program) => Some("the program failed".to_owned()),
            None if self.report.error_logged => Some("an error was logged".to_owned()),
            None => None,
        };
        let unchanged = [
            StepOp::Same,
            StepOp::Read,
            StepOp::Discard,
            StepOp::ReadReplacement,
        ];
        let has_changes = self
            .report
            .changes
            .iter()
            .any(|(op, count)| *count > 0 && !unchanged.contains(op));
        Outcome {
            result,
            has_changes,
            error,
            root_stack: self.report.root_stack.clone(),
        }
    }

    fn refuse_if_finished(&mut self, id: RequestId) {
        if self.stage == Stage::Finished {
            let is_constructing = self
                .calls
                .values()
                .any(|waiter| matches!(waiter, Waiter::Construct(request, _) if *request == id));
            let what = if is_constructing {
                "construct"
            } else {
                "the deployment"
            };
            let message =
                format!("resource monitor shut down while waiting for {what} to complete");
            self.reply(
                id,
                Reply::Failed(RequestError::new(RequestErrorKind::Unavailable, message)),
                0,
            );
        }
    }

    /// Answers a request, once the entry of number `fence` is durable.
    pub(crate) fn reply(&mut self, id: RequestId, reply: Reply, fence: u64) {
        if self.unanswered.remove(&id) {
            self.outbox.push(Effect::Reply { id, reply, fence });
            self.request_closed(id);
        }
    }

    /// Sends a call at once.
    pub(crate) fn call(
        &mut self,
        waiter: Waiter,
        instance: InstanceId,
        request: ProviderCall,
        fence: u64,
    ) {
        let call = self.outbox.call_id();
        self.calls.insert(call, waiter);
        match self.providers.answer_unconfigured(instance, &request) {
            Some(reply) => self.work.push_back(Work::Answer(call, Ok(reply))),
            None => self.send_call(call, instance, request, fence),
        }
    }

    /// Sends a call that a decision waits for; so many of them are in flight as steps may run.
    pub(crate) fn ask(&mut self, waiter: Waiter, instance: InstanceId, request: ProviderCall) {
        let call = self.outbox.call_id();
        self.calls.insert(call, waiter);
        if let Some(reply) = self.providers.answer_unconfigured(instance, &request) {
            return self.work.push_back(Work::Answer(call, Ok(reply)));
        }
        if self.decisions.used.len() < self.chains.limit() as usize {
            self.decisions.used.insert(call);
            self.send_call(call, instance, request, 0);
        } else {
            self.decisions.waiting.push_back((call, instance, request));
        }
    }

    fn answered(&mut self, call: CallId, result: Result<ProviderReply, ProviderError>) {
        if self.decisions.used.remove(&call)
            && let Some((next, instance, request)) = self.decisions.waiting.pop_front()
        {
            self.decisions.used.insert(next);
            self.send_call(next, instance, request, 0);
        }
        match self.calls.remove(&call) {
            Some(Waiter::Registration(registration)) => {
                self.registration_answered(registration, result);
            }
            Some(Waiter::Chain(chain)) => self.chain_answered(chain, result),
            Some(Waiter::Invoke(id, token)) => self.invoke_answered(id, &token, result),
            Some(Waiter::Call(id, token)) => self.call_answered(id, &token, result),
            Some(Waiter::Construct(id, goal)) => self.construct_answered(id, &goal, result),
            Some(Waiter::Extension(instance, reference)) => {
                self.extension_answered(instance, &reference, result);
            }
            None => {}
        }
    }

    /// Does something with a provider that answers nothing.
    pub(crate) fn provider_action(&mut self, instance: InstanceId, action: ProviderAction) {
        self.outbox.push(Effect::Provider { instance, action });
    }
}
