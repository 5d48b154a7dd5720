//! The deployment: one state machine from events to effects.
//!
//! [`Deployment::handle`] takes one event and returns the effects that follow from it. It never waits, never reads a clock and
//! draws no random numbers: the same events at the same times give the same effects. The crate's front page describes a whole
//! run; this file has the fields of the machine and moves it from stage to stage, and routes events and the ends of chains to
//! the other rooms.
//!
//! **Invariants.** A provider mutation is sent only behind the fence of its intent in the journal. A reply is sent only
//! behind the fence of the outcome that it reports, except for components. After a failure or an interrupt no chain starts
//! and no running chain begins another step, but every answer that still arrives is recorded.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use ecow::EcoString;
use jiff::Timestamp;
use plumb_resource::policy::PolicyPackInfo;
use plumb_resource::provider::{ProviderError, ProviderReply};
use plumb_state::Snapshot;
use plumb_state::journal::Entry;
use plumb_value::PropertyMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::decide::plans::Plans;
use crate::decide::policies::Policies;
use crate::decide::registration::{Gate, Registration};
use crate::event::{Effect, Event, ProgramEnd};
use crate::facts::arena::{Arena, DuplicateResource, Olds, StateIdx};
use crate::facts::defaults::DefaultProvider;
use crate::facts::identity::Aliases;
use crate::facts::lineage::Lineage;
use crate::facts::made_plan::MadePlan;
use crate::facts::packages::{self, Packages};
use crate::facts::urns::Urns;
use crate::ids::{CallId, Fence, RequestId};
use crate::monitor::transforms::Transforms;
use crate::outbox::Outbox;
use crate::report::Report;
use crate::request::{
    CallbackReply, Outcome, Parked, Reply, Request, RequestError, RequestErrorKind,
};
use crate::scope::snippets::Snippets;
use crate::scope::targeting::Targeting;
use crate::seeds::Seeds;
use crate::setup::{Context, Operation, Setup};
use crate::status::{Failure, RunStatus, Stage};
use crate::steps::calls::{Calls, Waiter};
use crate::steps::hooks::Hooks;
use crate::steps::import::StartedImports;
use crate::steps::providers::Registry;
use crate::steps::removal::Removal;
use crate::steps::scheduler::{ChainEnd, Owner, Scheduler};
use crate::steps::views::Views;
use crate::whole::import_operation::ImportPlan;
use crate::work::Work;

/// A deployment in progress.
#[derive(Debug)]
pub struct Deployment {
    pub(crate) ctx: Context,
    pub(crate) now: Timestamp,
    pub(crate) started: Timestamp,
    pub(crate) stage: Stage,
    pub(crate) outbox: Outbox,
    pub(crate) work: VecDeque<Work>,
    pub(crate) seeds: Seeds,

    /// The snapshot that the run starts from, or what the refresh phase made of it.
    pub(crate) base: Snapshot,
    pub(crate) arena: Arena,
    pub(crate) olds: Olds,
    pub(crate) urns: Urns,
    pub(crate) aliases: Aliases,
    pub(crate) targeting: Targeting,
    pub(crate) removal: Removal,
    /// Journal entries of the refreshes so far, and states whose objects are gone.
    pub(crate) refreshes: Vec<Entry>,
    pub(crate) gone: FxHashSet<StateIdx>,
    pub(crate) import: ImportPlan,
    pub(crate) imports: StartedImports,

    /// Registrations by index; `None` once they are answered.
    pub(crate) registrations: Vec<Option<Box<Registration>>>,
    pub(crate) open_registrations: usize,
    /// Registrations that wait while another one finds out what it must replace.
    pub(crate) gate: Gate,
    pub(crate) lineage: Lineage,
    pub(crate) chains: Scheduler,
    pub(crate) calls: Calls,
    pub(crate) providers: Registry,
    pub(crate) packages: Packages,
    pub(crate) defaults: FxHashMap<EcoString, DefaultProvider>,
    /// Outputs of the root stack, kept back until everything else is done.
    pub(crate) stack_outputs: Option<Arc<PropertyMap>>,
    pub(crate) transforms: Transforms,
    pub(crate) hooks: Hooks,
    pub(crate) plans: Plans,
    pub(crate) made_plan: MadePlan,
    pub(crate) views: Views,
    pub(crate) policies: Policies,
    pub(crate) snippets: Snippets,

    pub(crate) unanswered: BTreeSet<RequestId>,
    pub(crate) shutdown_waiters: Vec<RequestId>,
    pub(crate) report: Report,
    pub(crate) status: RunStatus,
    pub(crate) program_ended: Option<ProgramEnd>,
}

impl Deployment {
    /// A deployment that has not started.
    pub fn new(setup: Setup, now: Timestamp) -> Result<Self, DuplicateResource> {
        let mut arena = Arena::default();
        let known = setup.snapshot.resources.len();
        let mut urns = Urns::with_capacity(known);
        let olds = Olds::new(&mut arena, &mut urns, &setup.snapshot.resources)?;
        let limit = setup.options.parallel.max(1);
        let views = Views::new(&arena, olds.order());
        let snippets = Snippets::new(&setup);
        let plans = Plans::new(setup.plan);
        let made_plan = MadePlan::new(setup.options.makes_plan);
        Ok(Deployment {
            ctx: Context {
                stack: setup.stack,
                project: setup.project,
                config: setup.config,
                partly_secret: setup.partly_secret,
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
            urns,
            aliases: Aliases::default(),
            targeting: Targeting::default(),
            removal: Removal::default(),
            refreshes: Vec::new(),
            gone: FxHashSet::default(),
            import: ImportPlan::default(),
            imports: StartedImports::default(),
            registrations: Vec::with_capacity(known),
            open_registrations: 0,
            gate: Gate::default(),
            lineage: Lineage::default(),
            chains: Scheduler::new(limit, known),
            calls: Calls::new(limit),
            providers: Registry::default(),
            packages: Packages::default(),
            defaults: FxHashMap::default(),
            stack_outputs: None,
            transforms: Transforms::default(),
            hooks: Hooks::default(),
            plans,
            made_plan,
            views,
            policies: Policies::default(),
            snippets,
            unanswered: BTreeSet::new(),
            shutdown_waiters: Vec::new(),
            report: Report::default(),
            status: RunStatus::default(),
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
            Event::PoliciesLoaded(result) => self.policies_loaded(result),
            Event::PolicyAnswered { call, result } => {
                if self.policy_answered(call, result) {
                    self.finish();
                }
            }
            Event::ProgramEnded(end) => self.program_ended(end),
            Event::SnippetEnded { uuid, end } => {
                self.snippets.ended(&uuid);
                self.source_ended(&end);
            }
            Event::Interrupted => self.fail(Failure::Canceled),
            Event::JournalFailed { message } => self.journal_failed(&message),
            Event::Paced { ahead } => {
                self.chains.set_ahead(ahead);
                self.work.push_back(Work::RunChains);
            }
            Event::Stalled => self.stalled(),
        }
        loop {
            self.do_work();
            if !self.advance_stage() {
                break;
            }
        }
        std::mem::take(&mut self.outbox.effects)
    }

    /// Passes a provider's answer on to who waits for it.
    fn answered(&mut self, call: CallId, result: Result<ProviderReply, ProviderError>) {
        match self.call_ended(call) {
            Some(Waiter::Registration(registration, _)) => {
                self.registration_answered(registration, result);
            }
            Some(Waiter::Chain(chain)) => {
                let end = self.chain_answered(chain, result);
                self.chain_ended(end);
            }
            Some(Waiter::Invoke(id, token)) => self.invoke_answered(id, &token, result),
            Some(Waiter::Call(id, token)) => self.call_answered(id, &token, result),
            Some(Waiter::Construct(id, goal)) => self.construct_answered(id, &goal, result),
            Some(Waiter::Extension(instance, reference)) => {
                self.extension_answered(instance, &reference, result);
            }
            None => self.internal_error("a provider answered what it was not asked"),
        }
        self.send_waiting();
    }

    fn called_back(&mut self, call: CallId, result: Result<CallbackReply, String>) {
        match self.hooks.ended(call) {
            Some(waiter) => {
                let end = self.hook_answered(waiter, result);
                self.chain_ended(end);
            }
            None => self.transform_answered(call, result),
        }
    }

    /// Passes the end of a chain on to its owner.
    fn chain_ended(&mut self, end: Option<ChainEnd>) {
        let Some(ChainEnd {
            owner,
            state,
            outcome,
            unknown,
            fence,
        }) = end
        else {
            return;
        };
        match (owner, outcome, state) {
            (Owner::Read(id, wanted), ..) => self.read_done(id, &wanted, state, outcome, fence),
            (Owner::RefreshFor(registration), Outcome::Success, _) => {
                self.registration_refreshed(registration, state);
            }
            (Owner::ImportFor(registration), Outcome::Success, Some(state)) => {
                self.registration_imported(registration, state);
            }
            (
                Owner::Registration(registration)
                | Owner::RefreshFor(registration)
                | Owner::ImportFor(registration),
                ..,
            ) => self.finish_registration(registration, state, outcome, unknown, fence),
            (Owner::Engine, ..) => {}
        }
    }

    fn do_work(&mut self) {
        while let Some(work) = self.work.pop_front() {
            match work {
                Work::Answer(call, result) => self.answered(call, *result),
                Work::Again(id, parked) => self.dispatch_again(id, parked),
                Work::Decide(registration) => self.take_turn(registration),
                Work::RunChains => {
                    while let Some(end) = self.run_chains() {
                        self.chain_ended(Some(end));
                    }
                }
            }
        }
    }

    fn start(&mut self) {
        if let Some(cause) = self.missing_target() {
            return self.fail(Failure::NotBegun { cause });
        }
        if !self.load_policies() {
            self.start_operation();
        }
    }

    fn policies_loaded(&mut self, result: Result<Vec<PolicyPackInfo>, String>) {
        if self.status.has_failed() {
            return;
        }
        self.take_packs(result);
        if !self.status.has_failed() {
            self.start_operation();
        }
    }

    /// Begins with what the run is for. Nothing is shown of the run before.
    fn start_operation(&mut self) {
        if !self.can_run_delete_hooks() {
            let cause = crate::steps::hooks::NEEDS_PROGRAM.to_owned();
            return self.fail(Failure::NotBegun { cause });
        }
        self.emit_prelude();
        self.warn_of_pending_operations();
        self.record_snippet_changes();
        match &self.ctx.operation {
            Operation::Import(_) => self.start_import(),
            _ if self.wants_refresh_phase() => self.start_refresh(),
            Operation::Refresh if self.wants_adoptions() => self.start_adoptions(),
            _ => self.after_refresh(),
        }
    }

    /// The refresh phase is over, or there was none: the program runs, unless the operation has none.
    fn after_refresh(&mut self) {
        if !self.check_targets_before_program() {
            return self.fail(Failure::Refused);
        }
        self.stage = Stage::Program;
        match self.ctx.operation {
            Operation::Destroy if !self.ctx.options.run_program => {
                self.program_ended(ProgramEnd::Finished);
            }
            _ => {
                self.start_snippets();
                self.outbox.push(Effect::StartProgram);
            }
        }
    }

    fn take_request(&mut self, id: RequestId, request: Request) {
        self.unanswered.insert(id);
        match request {
            // After a failure too, because everything that a call in flight does must be recorded.
            Request::PublishViewSteps { call, steps } if self.stage != Stage::Finished => {
                self.take_view_steps(id, call, steps);
            }
            request => self.dispatch(id, request),
        }
    }

    fn dispatch(&mut self, id: RequestId, request: Request) {
        if self.status.has_failed() || self.stage == Stage::Finished {
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
                let reply = match self.packages.register(*request, || seeds.uuid()) {
                    Ok(reference) => Reply::Package(reference),
                    Err(error) => Reply::Failed(error),
                };
                self.reply(id, reply, Fence::NONE);
            }
            Request::RegisterStackTransform(callback) => self.take_stack_transform(id, callback),
            Request::RegisterStackInvokeTransform(callback) => {
                self.take_stack_invoke_transform(id, callback);
            }
            Request::RegisterHook(request) => self.take_hook(id, request),
            Request::PublishViewSteps { call, steps } => self.take_view_steps(id, call, steps),
            Request::SignalAndWaitForShutdown => self.take_shutdown_signal(id),
            Request::Await(request) => self.take_await(id, request),
        }
    }

    fn dispatch_again(&mut self, id: RequestId, parked: Parked) {
        if self.status.has_failed() || self.stage == Stage::Finished {
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
            return self.reply(id, Reply::Failed(error), Fence::NONE);
        }
        self.shutdown_waiters.push(id);
        if self.program_ended.is_none() {
            self.program_ended(ProgramEnd::Finished);
        }
    }

    fn program_ended(&mut self, end: ProgramEnd) {
        self.source_ended(&end);
        if self.program_ended.is_none() {
            self.program_ended = Some(end);
        }
    }

    /// The program or a snippet ended; if it failed, so does the run.
    fn source_ended(&mut self, end: &ProgramEnd) {
        match end {
            ProgramEnd::Finished => {}
            ProgramEnd::Bailed => self.fail(Failure::Program),
            ProgramEnd::Failed { message } => {
                self.error(None, message);
                self.fail(Failure::Program);
            }
        }
    }

    fn journal_failed(&mut self, message: &str) {
        self.error(None, &format!("failed to save snapshot: {message}"));
        self.fail(Failure::Step {
            cause: format!("failed to save snapshot: {message}"),
        });
    }

    /// Moves the run as a whole on, if nothing of the current stage is outstanding. Answers whether it moved.
    fn advance_stage(&mut self) -> bool {
        let is_idle = self.chains.is_idle(self.status.has_failed()) && self.hooks.is_idle();
        if self.stage == Stage::Finished || !is_idle {
            return false;
        }
        if self.status.has_failed() {
            self.finish();
            return false;
        }
        if self.stage == Stage::Importing && !self.is_quiet() {
            return false;
        }
        match self.stage {
            Stage::New | Stage::Judging | Stage::Finished => return false,
            Stage::Refreshing => {
                if self.refreshed() {
                    self.after_refresh();
                }
            }
            Stage::Importing => self.import_on(),
            Stage::Program if self.program_ended.is_none() || !self.is_quiet() => return false,
            Stage::Program if self.snippets.is_running() => return self.answer_stuck_snippets(),
            Stage::Program => self.end_of_program(),
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
}
