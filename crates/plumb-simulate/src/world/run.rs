//! One operation, from its start to its end.

mod ends;
mod hooked;
mod methods;
mod others;
mod packages;
mod snippets;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use plumb_deploy::request::{Callback, CallbackRequest, Reply, Request, RequestErrorKind};
use plumb_deploy::{CallId, Deployment, Effect, Event, PackId, ProgramEnd, RequestId};
use plumb_resource::policy::PolicyCall;
use plumb_resource::provider::{ProviderCall, ProviderError};
use plumb_state::plan::Plan;

use super::journal::{Journal, intent_of};
use super::plugins::Plugins;
use super::{Answer, Await, Moment, Trace, Violation, World, calls, requests};
use crate::cloud::Faults;
use crate::dice::Dice;
use crate::story::{FaultKind, Operation, Res, Stop};

/// What a request was about.
#[derive(Clone, Debug)]
enum Asked {
    /// The resource of this name.
    Resource(String),
    /// Outputs of the resource of this name.
    Outputs(String),
    /// The component of this name, which a provider is to construct.
    Remote(String),
    /// A function of the program, for hooks or transforms.
    Function,
    /// The reference of the package of this name.
    Package(String),
    /// The function of a provider of this number.
    Ask(usize),
    /// The method of this name.
    Method(String),
    /// Parts of an object.
    Views,
    /// A resource of others, for a snippet.
    Await(Await),
}

/// What a run has to do with plans.
#[derive(Clone, Debug, Default)]
pub enum Planning {
    /// Nothing.
    #[default]
    None,
    /// It makes one.
    Makes,
    /// It is held to one.
    HeldTo(Plan),
}

/// How often a run may choose before it counts as endless.
const PATIENCE: u32 = 20_000;

struct Run<'w> {
    cloud: &'w mut crate::cloud::Cloud,
    operation: &'w Operation,
    deployment: Deployment,
    dice: Dice,
    /// Whether entries are durable as soon as they are written.
    eager: bool,
    /// Whether the state is verified after each entry.
    careful: bool,
    journal: Journal,
    held: Vec<(u64, Effect)>,
    calls: Vec<(CallId, ProviderCall)>,
    callbacks: Vec<(CallId, Callback, CallbackRequest)>,
    /// Calls whose provider has told of parts.
    told: BTreeSet<CallId>,
    /// Components that providers construct, and whether they have begun.
    constructions: Vec<(CallId, String, bool)>,
    /// Policy packs are to be loaded; what they are asked.
    awaits_packs: bool,
    consultations: Vec<(CallId, PackId, PolicyCall)>,
    asked: BTreeMap<RequestId, Asked>,
    /// Resources that are not asked for yet; outputs that are not registered yet.
    waiting: Vec<&'w Res>,
    unregistered: Vec<&'w Res>,
    /// Functions of providers that are not called yet.
    unasked: Vec<usize>,
    methods: methods::Methods,
    plugins: Plugins,
    program_runs: bool,
    /// The program was refused something that it cannot do without.
    has_trouble: bool,
    /// Snippets that are evaluated.
    evaluations: Vec<snippets::Evaluation>,
    /// The program has functions, for hooks and transforms, and has not named them yet.
    functions: Vec<(Asked, Request)>,
    next_request: u64,
    now: Timestamp,
    choices: u32,
    stopped: bool,
    /// Nothing begins any more.
    is_over: bool,
    /// Steps that have begun and not ended, by number.
    open: Vec<usize>,
    trace: Trace,
}

/// What can happen next.
#[derive(Clone, Copy, Debug)]
enum Choice {
    Register(usize),
    Outputs(usize),
    Answer(usize),
    CallBack(usize),
    Construct(usize),
    LoadPacks,
    Consult(usize),
    Ask(usize),
    CallMethod(usize),
    Sync,
    Functions,
    EndProgram,
    GiveUp,
    Await(usize),
    EndSnippet(usize),
}

impl World {
    /// Runs an operation. The state and the cloud are afterwards what it left.
    pub fn run(&mut self, operation: &Operation) -> Result<Trace, Violation> {
        self.run_with(operation, Planning::None)
    }

    /// The same, with a plan.
    pub fn run_with(
        &mut self,
        operation: &Operation,
        planning: Planning,
    ) -> Result<Trace, Violation> {
        self.operations += 1;
        self.before(operation);
        let mut setup = self.setup(operation);
        match planning {
            Planning::None => {}
            Planning::Makes => setup.options.makes_plan = true,
            Planning::HeldTo(plan) => setup.plan = Some(plan),
        }
        let base = self.snapshot.clone();
        let started =
            Timestamp::UNIX_EPOCH + SignedDuration::from_hours(self.operations.cast_signed());
        let deployment = Deployment::new(setup, started)
            .map_err(|error| Violation::new("start", error.to_string()))?;
        let functions = others::functions(&base, &operation.program);
        let mut dice = Dice::new(operation.seed);
        let (eager, careful) = (!dice.one_in(3), dice.one_in(4));
        let mut run = Run {
            cloud: &mut self.cloud,
            operation,
            deployment,
            dice,
            eager,
            careful,
            journal: Journal::new(base),
            held: Vec::new(),
            calls: Vec::new(),
            callbacks: Vec::new(),
            told: BTreeSet::new(),
            constructions: Vec::new(),
            awaits_packs: false,
            consultations: Vec::new(),
            asked: BTreeMap::new(),
            waiting: operation.program.resources.iter().collect(),
            unregistered: operation
                .program
                .resources
                .iter()
                .filter(|res| res.is_component() && !res.outputs.is_empty())
                .collect(),
            unasked: (0..operation.program.asks.len()).collect(),
            methods: methods::Methods::new(&operation.program.methods),
            plugins: Plugins::default(),
            program_runs: false,
            has_trouble: false,
            evaluations: Vec::new(),
            functions,
            next_request: 0,
            now: started,
            choices: 0,
            stopped: false,
            is_over: false,
            open: Vec::new(),
            trace: Trace::default(),
        };
        if let Err(violation) = run.drive() {
            let steps: Vec<String> = run
                .trace
                .steps
                .iter()
                .map(|step| format!("{} {}", step.op.as_str(), step.urn.name()))
                .collect();
            let what = format!("{}; steps: {}", violation.what, steps.join(", "));
            return Err(Violation::new(violation.rule, what));
        }
        let trace = run.end()?;
        if !operation.preview {
            self.snapshot = trace.after.clone();
        }
        Ok(trace)
    }
}

impl Run<'_> {
    fn drive(&mut self) -> Result<(), Violation> {
        self.event(Event::Start)?;
        while self.trace.outcome.is_none() {
            self.choices += 1;
            if self.choices > PATIENCE {
                return Err(Violation::new("progress", "the run does not end"));
            }
            if self.stop_here()? {
                return Ok(());
            }
            if self.trace.journal_failed {
                self.fail_held()?;
            }
            if self.trace.outcome.is_some() {
                break;
            }
            match self.choose() {
                Some(choice) => self.perform_choice(choice)?,
                None => self.stuck()?,
            }
        }
        Ok(())
    }

    /// Cuts the run short where the story says so; answers whether it is over at once.
    fn stop_here(&mut self) -> Result<bool, Violation> {
        let Some(
            Stop::Interrupt(at) | Stop::Crash(at) | Stop::ProgramFails(at) | Stop::JournalFails(at),
        ) = self.operation.stop
        else {
            return Ok(false);
        };
        if self.stopped || self.choices <= at {
            return Ok(false);
        }
        match self.operation.stop {
            Some(Stop::Crash(_)) => {
                self.stopped = true;
                return Ok(true);
            }
            Some(Stop::Interrupt(_)) => {
                self.stopped = true;
                self.interrupt()?;
            }
            Some(Stop::ProgramFails(_)) if self.program_runs => {
                self.stopped = true;
                self.fail_program()?;
            }
            Some(Stop::JournalFails(_)) => {
                self.stopped = true;
                self.fail_journal()?;
            }
            _ => {}
        }
        Ok(false)
    }

    fn fail_program(&mut self) -> Result<(), Violation> {
        self.program_runs = false;
        self.trace.program_failed = true;
        let message = "the program broke".to_owned();
        self.event(Event::ProgramEnded(ProgramEnd::Failed { message }))
    }

    fn interrupt(&mut self) -> Result<(), Violation> {
        self.trace.interrupted = true;
        self.event(Event::Interrupted)
    }

    /// What waits for the journal never happens: calls count as not made, replies are dropped.
    fn fail_journal(&mut self) -> Result<(), Violation> {
        self.trace.journal_failed = true;
        let message = "no space left".to_owned();
        self.event(Event::JournalFailed { message })
    }

    /// Answers what waits for a journal that is broken.
    fn fail_held(&mut self) -> Result<(), Violation> {
        while !self.held.is_empty() {
            for (_, effect) in std::mem::take(&mut self.held) {
                let reason = "the journal cannot be written";
                match effect {
                    Effect::Call { call, .. } => self.event(Event::Answered {
                        call,
                        result: Err(ProviderError::clean(reason)),
                    })?,
                    Effect::Callback { call, .. } => self.event(Event::CalledBack {
                        call,
                        result: Err(reason.to_owned()),
                    })?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Nothing can happen: a call hangs, and the user loses patience; or the core has lost something.
    fn stuck(&mut self) -> Result<(), Violation> {
        if !self.calls.is_empty() && !self.trace.interrupted {
            return self.interrupt();
        }
        let waiting: Vec<&str> = self.waiting.iter().map(|res| res.name.as_str()).collect();
        let what = format!("nothing can happen any more; not registered: {waiting:?}");
        Err(Violation::new("progress", what))
    }

    fn choose(&mut self) -> Option<Choice> {
        let mut choices: Vec<Choice> = Vec::new();
        if self.program_runs && !self.functions.is_empty() {
            choices.push(Choice::Functions);
        } else {
            choices = self.registrations();
            choices.extend(self.snippet_choices());
        }
        if self.program_runs && self.has_trouble {
            choices.push(Choice::GiveUp);
        } else if self.program_runs && self.functions.is_empty() {
            choices.extend(self.ready_asks().map(Choice::Ask));
            choices.extend(self.ready_methods().map(Choice::CallMethod));
            let is_left = !self.unasked.is_empty() || !self.methods.uncalled.is_empty();
            if !is_left && !self.is_busy(None) {
                choices.push(Choice::EndProgram);
            }
        }
        let faults = Faults(&self.operation.faults);
        for (index, (_, call)) in self.calls.iter().enumerate() {
            let hangs = calls::subject(call)
                .is_some_and(|(kind, urn)| faults.of(kind, urn.name()) == Some(FaultKind::Hang));
            if (!hangs || self.trace.interrupted) && !self.still_makes(call) {
                choices.push(Choice::Answer(index));
            }
        }
        choices.extend((0..self.callbacks.len()).map(Choice::CallBack));
        choices.extend(self.constructible().map(Choice::Construct));
        choices.extend(self.awaits_packs.then_some(Choice::LoadPacks));
        choices.extend((0..self.consultations.len()).map(Choice::Consult));
        if !self.held.is_empty() && !self.trace.journal_failed {
            choices.push(Choice::Sync);
        }
        self.dice.pick(&choices).copied()
    }

    /// What may be registered next, and completed.
    fn registrations(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (index, res) in self.waiting.iter().enumerate() {
            let mut needs = self.operation.program.needs_of(res);
            if self.is_source_ready(res)
                && self.is_ready_by_methods(res)
                && needs.all(|need| self.is_answered(res, need))
            {
                choices.push(Choice::Register(index));
            }
        }
        for (index, res) in self.unregistered.iter().enumerate() {
            let mut needs = res
                .outputs
                .values()
                .filter_map(crate::story::Prop::from)
                .chain([&res.name]);
            let is_answered = |need| self.trace.answers.contains_key(need);
            if self.is_source_ready(res) && needs.all(is_answered) {
                choices.push(Choice::Outputs(index));
            }
        }
        choices
    }

    fn perform_choice(&mut self, choice: Choice) -> Result<(), Violation> {
        match choice {
            Choice::Register(index) => {
                let res = self.waiting.remove(index);
                if res.remote {
                    let request = requests::construction(&self.known(res), res);
                    return self.ask(Asked::Remote(res.name.clone()), request);
                }
                let request = requests::request(&self.known(res), res);
                self.ask(Asked::Resource(res.name.clone()), request)
            }
            Choice::Outputs(index) => {
                let res = self.unregistered.remove(index);
                let moment = Moment::OutputsSent(res.name.clone());
                self.trace.moments.push(moment);
                let request = requests::outputs(&self.known(res), res);
                self.ask(Asked::Outputs(res.name.clone()), request)
            }
            Choice::Answer(index) if self.tells_views(index) => self.tell_views(index),
            Choice::Answer(index) => {
                let (call, request) = self.calls.swap_remove(index);
                let faults = Faults(&self.operation.faults);
                let result = match &request {
                    ProviderCall::Call(request) => self.method_answers(request),
                    ProviderCall::Parameterize(_) => Ok(self.plugins.extended(call)),
                    _ => calls::answer(self.cloud, faults, &request)?,
                };
                self.event(Event::Answered { call, result })
            }
            Choice::CallBack(index) => {
                let (call, callback, request) = self.callbacks.swap_remove(index);
                self.call_back(call, &callback, request)
            }
            Choice::Construct(index) => self.construct(index),
            Choice::LoadPacks => self.load_packs(),
            Choice::Consult(index) => self.consult(index),
            Choice::Ask(index) => self.ask_provider(index),
            Choice::CallMethod(index) => self.call_method(index),
            Choice::GiveUp => self.fail_program(),
            Choice::Await(index) => self.await_next(index),
            Choice::EndSnippet(index) => self.end_snippet(index),
            Choice::Functions => std::mem::take(&mut self.functions)
                .into_iter()
                .try_for_each(|(asked, request)| self.ask(asked, request)),
            Choice::Sync => {
                let loose = (self.journal.len() - self.journal.durable) as usize;
                let step = 1 + self.dice.below(loose);
                self.journal.durable = (self.journal.durable + step as u64).min(self.journal.len());
                self.release()
            }
            Choice::EndProgram => {
                self.program_runs = false;
                self.trace.program_finished = true;
                self.trace.moments.push(Moment::ProgramFinished);
                self.event(Event::ProgramEnded(ProgramEnd::Finished))
            }
        }
    }

    /// What the source of a resource knows.
    fn known<'a>(&'a self, res: &'a Res) -> requests::Known<'a> {
        self.known_to(res.snippet.as_deref())
    }

    /// What the program knows, or a snippet.
    fn known_to<'a>(&'a self, snippet: Option<&'a str>) -> requests::Known<'a> {
        requests::Known {
            snippet,
            program: &self.operation.program,
            answers: &self.trace.answers,
            told: &self.trace.told,
            packages: &self.trace.packages,
            results: &self.trace.results,
            is_preview: self.operation.preview,
        }
    }

    fn ask(&mut self, what: Asked, request: Request) -> Result<(), Violation> {
        self.next_request += 1;
        let id = RequestId(self.next_request);
        self.asked.insert(id, what);
        self.event(Event::Request { id, request })
    }

    fn event(&mut self, event: Event) -> Result<(), Violation> {
        self.now += SignedDuration::from_millis(1);
        self.trace.log.push((self.now, event.clone()));
        let effects = self.deployment.handle(self.now, event);
        self.trace.effects.push(effects.clone());
        for effect in effects {
            self.perform(effect)?;
        }
        if self.eager && !self.trace.journal_failed {
            self.journal.durable = self.journal.len();
        }
        self.release()
    }

    /// Lets go of what waited for entries that are durable now.
    fn release(&mut self) -> Result<(), Violation> {
        if self.trace.journal_failed {
            return Ok(());
        }
        let durable = self.journal.durable;
        let (ready, held): (Vec<_>, Vec<_>) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|(fence, _)| *fence <= durable);
        self.held = held;
        for (_, effect) in ready {
            self.perform_now(effect)?;
        }
        Ok(())
    }

    fn perform(&mut self, effect: Effect) -> Result<(), Violation> {
        let is_preview = self.operation.preview;
        match effect {
            Effect::Journal(_) | Effect::Touch { .. } if is_preview => {
                Err(Violation::new("preview", "a preview records something"))
            }
            Effect::Journal(entry) => {
                self.journal.record(entry)?;
                if self.careful {
                    self.journal.verify(self.now)?;
                }
                Ok(())
            }
            Effect::Touch { base } => self.journal.touch(base),
            Effect::Planned(plan) => {
                self.trace.plan = Some(plan);
                Ok(())
            }
            Effect::Call {
                call,
                instance,
                request,
                fence,
            } => {
                self.check_call(&request, fence)?;
                self.plugins.called(instance, call, &request)?;
                self.check_package(instance, &request)?;
                self.note_ask(instance, &request);
                self.note_method(instance, &request);
                let effect = Effect::Call {
                    call,
                    instance,
                    request,
                    fence,
                };
                self.hold(fence, effect)
            }
            Effect::Reply { id, reply, fence } => {
                self.check_reply(&reply, fence)?;
                self.note_unasked(id, &reply);
                self.note_uncalled(id, &reply);
                self.note_refused(id, &reply);
                if let (Some(Asked::Outputs(name)), Reply::Done) = (self.asked.get(&id), &reply) {
                    self.trace.moments.push(Moment::Outputs(name.clone()));
                }
                if let Some(Asked::Await(it)) = self.asked.get(&id).cloned() {
                    self.note_awaited(&it, &reply);
                }
                self.hold(fence, Effect::Reply { id, reply, fence })
            }
            Effect::Emit(event) => self.emitted(event),
            Effect::StartProgram => {
                self.program_runs = true;
                Ok(())
            }
            Effect::StartSnippet(snippet) => {
                self.start_snippet(&snippet.uuid);
                Ok(())
            }
            Effect::Finished(outcome) => {
                self.trace.outcome = Some(outcome);
                Ok(())
            }
            Effect::Provider { instance, action } => self.plugins.act(instance, action),
            Effect::Milestone(milestone) => self.told(milestone),
            Effect::LoadPolicies => {
                self.awaits_packs = true;
                Ok(())
            }
            Effect::AskPolicy {
                call,
                pack,
                request,
            } => {
                self.consultations.push((call, pack, request));
                Ok(())
            }
            Effect::Callback {
                call,
                callback,
                request,
                fence,
            } => {
                self.check_callback(&request, fence)?;
                let effect = Effect::Callback {
                    call,
                    callback,
                    request,
                    fence,
                };
                self.hold(fence, effect)
            }
        }
    }

    fn hold(&mut self, fence: u64, effect: Effect) -> Result<(), Violation> {
        if fence > self.journal.len() {
            return Err(Violation::new("journal", "a fence that no entry reaches"));
        }
        if fence > self.journal.durable {
            self.held.push((fence, effect));
            return Ok(());
        }
        self.perform_now(effect)
    }

    /// A call that changes something needs an intent behind which it waits.
    fn check_call(&self, request: &ProviderCall, fence: u64) -> Result<(), Violation> {
        let Some(mutation) = calls::mutation(request) else {
            return Ok(());
        };
        let shown = format!("{} of {}", mutation.call, mutation.urn.name());
        if self.operation.preview {
            return Err(Violation::new("preview", shown));
        }
        // A call that is made again has an intent that is durable since the first time.
        let fence = fence.max(self.journal.durable);
        if !self
            .journal
            .has_intent(&mutation.urn, intent_of(mutation.call), fence)
        {
            return Err(Violation::new(
                "intent",
                format!("{shown} has no durable intent"),
            ));
        }
        Ok(())
    }

    fn check_reply(&self, reply: &Reply, fence: u64) -> Result<(), Violation> {
        let urn = match reply {
            Reply::Registered(reply) => &reply.urn,
            Reply::Read(reply) => &reply.urn,
            Reply::Awaited(reply) => &reply.urn,
            _ => return Ok(()),
        };
        // Components are nothing but their entries.
        let res = self.operation.program.get(urn.name());
        let is_component = urn.is_root_stack() || res.is_some_and(Res::is_component);
        if !is_component && self.journal.recorded(urn) > fence {
            let what = format!("{} is answered before its outcome is durable", urn.name());
            return Err(Violation::new("outcome", what));
        }
        Ok(())
    }

    fn perform_now(&mut self, effect: Effect) -> Result<(), Violation> {
        match effect {
            Effect::Call {
                call,
                request: ProviderCall::Construct(request),
                ..
            } => {
                let name = request.goal.name.to_string();
                self.constructions.push((call, name, false));
                Ok(())
            }
            Effect::Call { call, request, .. } => {
                self.trace.mutations.extend(calls::mutation(&request));
                self.method_begins(&request);
                self.calls.push((call, request));
                Ok(())
            }
            Effect::Callback {
                call,
                callback,
                request,
                ..
            } => {
                self.callbacks.push((call, callback, request));
                Ok(())
            }
            Effect::Reply { id, reply, .. } => self.answered(id, reply),
            _ => Ok(()),
        }
    }

    fn answered(&mut self, id: RequestId, reply: Reply) -> Result<(), Violation> {
        let Some(asked) = self.asked.remove(&id) else {
            return Err(Violation::new("replies", "a request is answered twice"));
        };
        match (asked, reply) {
            (Asked::Resource(name), Reply::Registered(reply)) => {
                let answer = Answer {
                    urn: reply.urn,
                    id: reply.id,
                    outputs: reply.outputs,
                    outcome: reply.outcome,
                    unknown: reply.unknown,
                };
                self.trace.answers.insert(name, answer);
            }
            (Asked::Resource(name), Reply::Read(reply)) => {
                let answer = Answer {
                    urn: reply.urn,
                    id: reply.id,
                    outputs: reply.outputs,
                    outcome: reply.outcome,
                    unknown: false,
                };
                self.trace.answers.insert(name, answer);
            }
            (Asked::Await(it), reply) => return self.awaited(&it, reply),
            (Asked::Ask(number), reply) => return self.provider_answered(number, &reply),
            (Asked::Method(name), reply) => return self.method_answered(name, reply),
            (Asked::Remote(name), Reply::Registered(reply)) => {
                let answer = self.trace.answers.get(&name);
                if answer.is_none_or(|answer| answer.urn != reply.urn) {
                    let what = format!("{name} is constructed as {}", reply.urn);
                    return Err(Violation::new("replies", what));
                }
            }
            // A resource that was called the same before may have parts of the same names.
            (Asked::Views, Reply::Failed(error)) if error.message.starts_with("Duplicate") => {
                self.trace.moments.push(Moment::Heard(false));
            }
            (Asked::Views, Reply::Failed(error)) if !self.is_over => {
                return Err(Violation::new("views", error.message.as_str()));
            }
            (Asked::Views, Reply::Done) => self.trace.moments.push(Moment::Heard(true)),
            (Asked::Resource(name) | Asked::Remote(name), Reply::Failed(error))
                if error.kind != RequestErrorKind::Unavailable =>
            {
                self.source_fails(&name);
            }
            (Asked::Package(name), Reply::Package(reference)) => {
                return self.package_registered(name, reference);
            }
            (Asked::Outputs(_) | Asked::Function, Reply::Done) | (_, Reply::Failed(_)) => {}
            (asked, reply) => {
                let what = format!("{asked:?} is answered by {reply:?}");
                return Err(Violation::new("replies", what));
            }
        }
        Ok(())
    }

    fn end(mut self) -> Result<Trace, Violation> {
        if self.trace.outcome.is_none() {
            return self.crashed();
        }
        if let Some((_, call)) = self
            .calls
            .iter()
            .find(|(_, call)| calls::mutation(call).is_some())
        {
            let what = format!("the run ends before its call is answered: {call:?}");
            return Err(Violation::new("progress", what));
        }
        let is_hook = |request: &CallbackRequest| {
            use CallbackRequest::{InvokeTransform, Transform};
            !matches!(request, Transform(_) | InvokeTransform(_))
        };
        if self
            .callbacks
            .iter()
            .any(|(_, _, request)| is_hook(request))
        {
            let what = "the run ends before its functions have answered";
            return Err(Violation::new("progress", what));
        }
        self.check_open_steps()?;
        if self.trace.journal_failed {
            self.trace.after = self.journal.recover_durable(&mut self.dice, self.now)?;
            let known = ends::ids(&self.trace.after);
            self.cloud.reconcile(known.iter().map(String::as_str));
            return Ok(self.trace);
        }
        if let Some((urn, _, _)) = self.journal.open().next() {
            let what = format!("the operation on {} is never ended", urn.name());
            return Err(Violation::new("journal", what));
        }
        self.journal.durable = self.journal.len();
        self.release()?;
        self.trace.after = self.journal.snapshot(self.now)?;
        self.trace
            .after
            .verify()
            .map_err(|error| Violation::new("integrity", error.to_string()))?;
        Ok(self.trace)
    }
}
