//! The loop that owns the deployment core.
//!
//! Everything that happens comes in through one `select`: requests of programs, answers of providers, the program's end,
//! the progress of the journal, interrupts. Each becomes an event for the core, and the effects are performed in order.
//! Effects behind a fence wait until the journal is durable up to it. **The core is told of an answer only here, and
//! nobody else changes it.**
//!
//! What goes to the journal, and the replies to programs, are collected for as long as there is something to do at once: one
//! sync of the journal and one wake-up then serve all of it. Events are collected for a moment longer (`outbox`).

mod ending;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use ecow::EcoString;
use futures::FutureExt as _;
use jiff::Timestamp;
use plumb_backend::Seq;
use plumb_deploy::request::{Callback, CallbackReply, CallbackRequest, Reply};
use plumb_deploy::setup::Setup;
use plumb_deploy::{
    CallId, Deployment, DuplicateResource, Effect, Event, InstanceId, Outcome, PackId, ProgramEnd,
    RequestId,
};
use plumb_events::Severity;
use plumb_plugin::{ConstructContext, PluginHost};
use plumb_resource::policy::{PolicyCall, PolicyReply};
use plumb_resource::provider::{ProviderCall, ProviderError, ProviderReply, ResourceStatus};
use plumb_state::Snippet;
use plumb_state::journal::Entry;
use plumb_state::plan::Plan;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::callbacks::Callbacks;
use crate::flights::{self, Flights, Progress};
use crate::instances::Instances;
use crate::journal::RunJournal;
use crate::masks::Masks;
use crate::monitor::{DebugMessages, Incoming, LogMessage, MonitorHandle, ResourceMonitor};
use crate::outbox::Outbox;
use crate::policies::{Loaded, PolicyPacks};
use crate::program::{Program, ProgramInfo, ProgramResult};
use crate::server::{self, Servers, SourceContext};
use crate::snippet::{self, InvalidSnippet, SnippetLanguage};
use crate::spans;

/// Hears of every engine event, with its time, several at once.
pub type Subscriber = mpsc::UnboundedSender<Vec<(Timestamp, plumb_events::Event)>>;

/// What a run needs.
pub struct RunSetup {
    /// The deployment.
    pub setup: Setup,
    /// The program; `None` for operations without one.
    pub program: Option<Arc<dyn Program>>,
    /// Evaluates the snippets of the state; `None` where there cannot be any.
    pub snippets: Option<Arc<dyn SnippetLanguage>>,
    /// Facts for the program; the addresses are filled in here.
    pub info: ProgramInfo,
    /// Policy packs that look at what is done.
    pub policies: PolicyPacks,
    /// Runs providers. Its engine address is [`Shell::address`].
    pub host: Arc<PluginHost>,
    /// Takes what the run records.
    pub journal: RunJournal,
    /// Hears of what happens.
    pub subscriber: Subscriber,
    /// Counts the interrupts of the user.
    pub interrupts: watch::Receiver<u32>,
}

/// What a run leaves.
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// The state that it reached.
    pub journal: RunJournal,
    /// What it did, or would do, if it was to make a plan and succeeded.
    pub plan: Option<Plan>,
}

/// Why a run did not start, or did not end by itself.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The state is not one to start from.
    #[error(transparent)]
    State(#[from] DuplicateResource),
    /// A snippet that is to be stored makes no sense.
    #[error(transparent)]
    Snippet(#[from] InvalidSnippet),
    /// No server could be started.
    #[error("could not start the resource monitor")]
    Server(#[source] std::io::Error),
}

/// A shell that listens to programs and plugins, ready to run one deployment.
pub struct Shell {
    handle: MonitorHandle,
    pub(crate) incoming: mpsc::UnboundedReceiver<Incoming>,
    pub(crate) servers: Servers,
}

impl Shell {
    /// Opens the services that programs and plugins need. `info` is told to programs that ask.
    pub async fn listen(
        info: &ProgramInfo,
        source: SourceContext,
        debug: DebugMessages,
    ) -> Result<Self, RunError> {
        let (handle, incoming) = MonitorHandle::new(source.working_directory.clone(), debug);
        let servers = server::start(handle.clone(), info, source)
            .await
            .map_err(RunError::Server)?;
        Ok(Shell {
            handle,
            incoming,
            servers,
        })
    }

    /// `host:port` of the engine service, the resource monitor, the schema loader and the mapper.
    pub fn address(&self) -> &str {
        &self.servers.address
    }

    /// Lets plugins ask for schemas and mappings, which `host` finds, before there is a run.
    pub fn serve(&self, host: &Arc<PluginHost>) {
        // The first one stays.
        let _ = self.servers.host.set(host.clone());
    }

    /// Tells `monitor` what plugins say and refuses what they ask for, as long as it is awaited: for plugins that work
    /// where nothing is deployed.
    pub async fn relay(&mut self, monitor: &dyn ResourceMonitor) {
        while let Some(incoming) = self.incoming.recv().await {
            match incoming {
                Incoming::Request(request, reply) => {
                    // Whoever asked may be gone.
                    let _ = reply.send(monitor.request(request).await);
                }
                Incoming::Log(message) if message.ephemeral => {
                    monitor.log_status(message.severity, message.urn.as_ref(), &message.message);
                }
                Incoming::Log(message) => {
                    monitor.log(message.severity, message.urn.as_ref(), &message.message);
                }
                Incoming::Debugging(_) => {}
            }
        }
    }

    /// Ends what listens, where there was no run.
    pub async fn close(self) {
        self.servers.stop().await;
    }

    /// A way to tell the user something during the run, for what plugins print and the like.
    pub fn monitor(&self) -> Arc<dyn ResourceMonitor> {
        Arc::new(self.handle.clone())
    }

    /// Runs a deployment to its end, and ends every plugin.
    ///
    /// The first interrupt stops new steps, the second asks providers to stop, the third ends the run at once. What has
    /// been recorded by then is in the journal that comes back.
    pub async fn run(self, setup: RunSetup) -> Result<Ended, RunError> {
        self.serve(&setup.host);
        if let Some(changes) = &setup.setup.options.snippet_changes
            && let Err(invalid) = snippet::check(changes, setup.snippets.as_deref()).await
        {
            setup.host.shutdown().await;
            self.servers.stop().await;
            return Err(invalid.into());
        }
        let mut deployment = setup.setup;
        deployment.options.has_policies = !setup.policies.is_empty();
        let masks = Masks::new(deployment.options.show_secrets, deployment.config.values());
        let deployment = Deployment::new(deployment, Timestamp::now())?;
        let mut info = setup.info;
        info.monitor_address.clone_from(&self.servers.address);
        info.engine_address.clone_from(&self.servers.address);
        let context = ConstructContext {
            project: info.project.clone(),
            stack: info.stack.clone(),
            organization: info.organization.clone(),
            config: info.config.clone(),
            config_secret_keys: info.config_secret_keys.clone(),
            dry_run: info.dry_run,
            parallel: info.parallel,
            monitor_endpoint: self.servers.address.clone(),
        };
        let driver = Driver {
            deployment,
            instances: Instances::new(setup.host.clone(), context, self.servers.tokens.clone()),
            host: setup.host.clone(),
            journal: setup.journal,
            outbox: Outbox::new(setup.subscriber),
            masks,
            closing: Vec::new(),
            fenced: BTreeMap::new(),
            durable: 0,
            answers: HashMap::new(),
            next_request: 0,
            answered: VecDeque::new(),
            calls: JoinSet::new(),
            flights: Flights::new(),
            steps: spans::Steps::default(),
            callbacks: Callbacks::default(),
            called_back: JoinSet::new(),
            policies: setup.policies,
            loading: JoinSet::new(),
            packs: None,
            consulted: JoinSet::new(),
            program: setup.program,
            program_task: JoinSet::new(),
            program_cancel: CancellationToken::new(),
            snippets: setup.snippets,
            snippet_tasks: JoinSet::new(),
            info,
            handle: self.handle,
            outcome: None,
            plan: None,
            is_journal_broken: false,
        };
        let drive = driver.drive(self.incoming, setup.interrupts, &setup.host);
        let ended = Box::pin(drive).await;
        setup.host.shutdown().await;
        self.servers.stop().await;
        Ok(ended)
    }
}

struct Driver {
    deployment: Deployment,
    host: Arc<PluginHost>,
    instances: Instances,
    journal: RunJournal,
    outbox: Outbox,
    masks: Masks,
    /// The events that close the run. They are kept until the program has ended: it may still have something to say, and
    /// fail.
    closing: Vec<(Timestamp, plumb_events::Event)>,
    /// Effects that wait for the journal, by what must be durable first.
    fenced: BTreeMap<u64, Vec<Fenced>>,
    durable: u64,
    answers: HashMap<RequestId, oneshot::Sender<Reply>>,
    next_request: u64,
    /// Calls that were answered as soon as they were made.
    answered: VecDeque<Answered>,
    calls: JoinSet<Answered>,
    flights: Flights,
    steps: spans::Steps,
    callbacks: Callbacks,
    called_back: JoinSet<(CallId, Result<CallbackReply, String>)>,
    /// Packs that are still to be loaded.
    policies: PolicyPacks,
    loading: JoinSet<Result<Loaded, String>>,
    packs: Option<Loaded>,
    consulted: JoinSet<(CallId, Result<PolicyReply, String>)>,
    program: Option<Arc<dyn Program>>,
    program_task: JoinSet<ProgramResult>,
    program_cancel: CancellationToken,
    snippets: Option<Arc<dyn SnippetLanguage>>,
    snippet_tasks: JoinSet<(EcoString, ProgramResult)>,
    info: ProgramInfo,
    handle: MonitorHandle,
    outcome: Option<Outcome>,
    plan: Option<Plan>,
    is_journal_broken: bool,
}

/// What became of a program whose task did not end: a defect of ours stays one.
fn without_end(error: JoinError) -> ProgramResult {
    match error.try_into_panic() {
        Ok(defect) => std::panic::resume_unwind(defect),
        Err(error) => ProgramResult::Failed {
            message: error.to_string(),
        },
    }
}

/// A call and what the provider answered.
type Answered = (CallId, Result<ProviderReply, ProviderError>);

/// An effect that waits for the journal.
enum Fenced {
    Call {
        call: CallId,
        instance: InstanceId,
        request: Box<ProviderCall>,
    },
    Callback {
        call: CallId,
        callback: Callback,
        request: CallbackRequest,
    },
    Reply {
        id: RequestId,
        reply: Box<Reply>,
    },
}

/// What the loop waits for.
enum Happened {
    Incoming(Vec<Incoming>),
    Called(Answered),
    CalledBack(CallId, Result<CallbackReply, String>),
    Loaded(Result<Loaded, String>),
    Consulted(CallId, Result<PolicyReply, String>),
    Program(ProgramResult),
    Snippet(EcoString, ProgramResult),
    Durable(Result<Seq, String>),
    Interrupt(u32),
    /// It is time to see which calls take long.
    Late,
    /// Nothing, for the moment.
    Idle,
    /// Events have waited long enough.
    Due,
}

impl Driver {
    async fn drive(
        mut self,
        mut incoming: mpsc::UnboundedReceiver<Incoming>,
        mut interrupts: watch::Receiver<u32>,
        host: &Arc<PluginHost>,
    ) -> Ended {
        let mut durable = self.journal.durable();
        let mut cancels = JoinSet::new();
        self.event(Event::Start);
        while self.outcome.is_none() || !self.fenced.is_empty() {
            let happened = self
                .next(&mut incoming, &mut durable, &mut interrupts)
                .await;
            match happened {
                Happened::Incoming(all) => all.into_iter().for_each(|one| self.take(one)),
                Happened::Called((call, mut result)) => {
                    if let Some(event) = self.flights.end(call) {
                        self.emit(event);
                    }
                    // What a provider said during the call comes before its end.
                    while let Ok(one) = incoming.try_recv() {
                        self.take(one);
                    }
                    self.take_note(&mut result);
                    self.event(Event::Answered { call, result });
                }
                Happened::CalledBack(call, result) => {
                    self.event(Event::CalledBack { call, result });
                }
                Happened::Loaded(result) => self.policies_loaded(result),
                Happened::Consulted(call, result) => {
                    self.event(Event::PolicyAnswered { call, result });
                }
                Happened::Program(result) => self.event(Event::ProgramEnded(program_end(result))),
                Happened::Snippet(uuid, result) => {
                    let end = match result {
                        // A snippet says in its own words what is wrong with it.
                        ProgramResult::Failed { message } => ProgramEnd::Failed { message },
                        other => program_end(other),
                    };
                    self.event(Event::SnippetEnded { uuid, end });
                }
                Happened::Durable(Ok(seq)) => self.release(self.journal.counted(seq)),
                Happened::Durable(Err(message)) => {
                    durable = None;
                    self.journal_failed(message);
                }
                Happened::Interrupt(1) => self.event(Event::Interrupted),
                Happened::Interrupt(2) => {
                    self.program_cancel.cancel();
                    let host = host.clone();
                    cancels.spawn(async move { host.cancel().await });
                }
                Happened::Interrupt(_) => break,
                Happened::Late => self.flights.late().into_iter().for_each(|it| self.emit(it)),
                Happened::Idle => self.flush(),
                Happened::Due => self.outbox.tell(),
            }
        }
        self.end(incoming, interrupts).await
    }

    async fn next(
        &mut self,
        incoming: &mut mpsc::UnboundedReceiver<Incoming>,
        durable: &mut Option<watch::Receiver<Result<Seq, plumb_backend::JournalError>>>,
        interrupts: &mut watch::Receiver<u32>,
    ) -> Happened {
        let mut batch = Vec::new();
        let progress = async {
            match durable {
                Some(receiver) => match receiver.changed().await {
                    Ok(()) => receiver
                        .borrow_and_update()
                        .as_ref()
                        .copied()
                        .map_err(ToString::to_string),
                    Err(_) => Err(plumb_backend::JournalError::Closed.to_string()),
                },
                None => std::future::pending().await,
            }
        };
        let interrupt = async {
            match interrupts.changed().await {
                Ok(()) => *interrupts.borrow_and_update(),
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            count = interrupt => Happened::Interrupt(count),
            progress = progress => Happened::Durable(progress),
            () = self.flights.tick(), if !self.flights.is_empty() => Happened::Late,
            () = std::future::ready(()), if !self.answered.is_empty() => {
                Happened::Called(self.answered.pop_front().expect("there is one"))
            }
            Some(called) = self.calls.join_next(), if !self.calls.is_empty() => match called {
                Ok(answered) => Happened::Called(answered),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            Some(called) = self.called_back.join_next(), if !self.called_back.is_empty() => match called {
                Ok((call, result)) => Happened::CalledBack(call, result),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            Some(loaded) = self.loading.join_next(), if !self.loading.is_empty() => match loaded {
                Ok(result) => Happened::Loaded(result),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            Some(consulted) = self.consulted.join_next(), if !self.consulted.is_empty() => match consulted {
                Ok((call, result)) => Happened::Consulted(call, result),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            // The driver's own handle keeps the channel open.
            _ = incoming.recv_many(&mut batch, 256) => Happened::Incoming(batch),
            Some(ended) = self.program_task.join_next(), if !self.program_task.is_empty() => {
                Happened::Program(ended.unwrap_or_else(without_end))
            }
            Some(ended) = self.snippet_tasks.join_next(), if !self.snippet_tasks.is_empty() => match ended {
                Ok((uuid, result)) => Happened::Snippet(uuid, result),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            () = tokio::task::yield_now(), if self.journal.has_collected() || self.outbox.has_replies() => Happened::Idle,
            () = self.outbox.until_due() => Happened::Due,
        }
    }

    fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Request(request, answer) => {
                self.next_request += 1;
                let id = RequestId(self.next_request);
                self.answers.insert(id, answer);
                self.event(Event::Request { id, request });
            }
            Incoming::Log(message) => self.log(message),
            Incoming::Debugging(config) => {
                self.emit(plumb_events::Event::StartDebugging { config });
            }
        }
    }

    fn log(&mut self, message: LogMessage) {
        let is_error = message.severity == Severity::Error;
        self.emit(message.into_event());
        if is_error {
            self.event(Event::ErrorLogged);
        }
    }

    /// Takes note of secrets that a provider told, and hides them in its reasons.
    fn take_note(&mut self, result: &mut Result<ProviderReply, ProviderError>) {
        match result {
            Ok(reply) => reply.properties().for_each(|it| self.masks.learn_all(it)),
            Err(error) => {
                error.properties().for_each(|it| self.masks.learn_all(it));
                if let ResourceStatus::Partial(failure) = &mut error.status {
                    self.masks.pass_reasons(failure);
                }
            }
        }
    }

    fn emit(&mut self, mut event: plumb_events::Event) {
        use plumb_events::Event::{Cancel, Summary};
        self.masks.pass(&mut event);
        self.steps.follow(&event);
        if matches!(event, Summary(_) | Cancel) {
            return self.closing.push((Timestamp::now(), event));
        }
        self.outbox.emit(Timestamp::now(), event);
    }

    /// Passes on what others wait for.
    fn flush(&mut self) {
        self.outbox.answer();
        if let Err(error) = self.journal.flush() {
            self.journal_failed(error.to_string());
        }
    }

    /// Passes on everything.
    fn flush_all(&mut self) {
        self.flush();
        self.outbox.tell();
    }

    /// Tells the core what happened and does what it says.
    fn event(&mut self, event: Event) {
        let effects = self.deployment.handle(Timestamp::now(), event);
        let mut entries: Vec<Entry> = Vec::new();
        for effect in effects {
            match effect {
                Effect::Journal(entry) => entries.push(entry),
                Effect::Touch { base } => {
                    self.record(&mut entries);
                    if let Err(error) = self.journal.touch(base) {
                        tracing::error!(%error, "a resource that is not in the base was touched");
                    }
                }
                other => {
                    self.record(&mut entries);
                    self.perform(other);
                }
            }
        }
        self.record(&mut entries);
    }

    fn record(&mut self, entries: &mut Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        if let Err(error) = self.journal.record(std::mem::take(entries)) {
            let mut message = error.to_string();
            if let Some(cause) = std::error::Error::source(&error) {
                message = format!("{message}: {cause}");
            }
            self.journal_failed(message);
        }
    }

    /// The journal cannot be written any more: what waits for it must not happen, and the core hears so.
    fn journal_failed(&mut self, message: String) {
        if std::mem::replace(&mut self.is_journal_broken, true) {
            return;
        }
        self.event(Event::JournalFailed { message });
        for fenced in std::mem::take(&mut self.fenced).into_values().flatten() {
            match fenced {
                Fenced::Call { call, .. } => self.not_sent(call),
                Fenced::Callback { call, .. } => self.not_called_back(call),
                Fenced::Reply { .. } => {}
            }
        }
    }

    /// Answers a call that must not be made.
    fn not_sent(&mut self, call: CallId) {
        let error = ProviderError::clean(
            "the provider was not called, because the journal cannot be written",
        );
        self.answered.push_back((call, Err(error)));
    }

    fn wait_for(&mut self, fence: u64, fenced: Fenced) {
        self.fenced.entry(fence).or_default().push(fenced);
    }

    /// Answers a call of the program that must not be made.
    fn not_called_back(&mut self, call: CallId) {
        let error = "it was not called, because the journal cannot be written".to_owned();
        self.called_back.spawn(async move { (call, Err(error)) });
    }

    fn perform(&mut self, effect: Effect) {
        if let Effect::Call { request, .. } = &effect {
            request.properties().for_each(|it| self.masks.learn_all(it));
        }
        match effect {
            Effect::Journal(_) | Effect::Touch { .. } => {}
            Effect::Provider { instance, action } => self.instances.act(instance, action),
            Effect::Call { call, fence, .. } if fence > self.durable && self.is_journal_broken => {
                self.not_sent(call);
            }
            Effect::Call {
                call,
                instance,
                request,
                fence,
            } if fence > self.durable => {
                let request = Box::new(request);
                self.wait_for(
                    fence,
                    Fenced::Call {
                        call,
                        instance,
                        request,
                    },
                );
            }
            Effect::Call {
                call,
                instance,
                request,
                ..
            } => self.call(call, instance, request),
            Effect::Callback { call, fence, .. }
                if fence > self.durable && self.is_journal_broken =>
            {
                self.not_called_back(call);
            }
            Effect::Callback {
                call,
                callback,
                request,
                fence,
            } if fence > self.durable && self.journal.durable().is_some() => {
                let waiting = Fenced::Callback {
                    call,
                    callback,
                    request,
                };
                self.wait_for(fence, waiting);
            }
            Effect::Callback {
                call,
                callback,
                request,
                ..
            } => self.call_back(call, callback, request),
            Effect::Reply { fence, .. } if fence > self.durable && self.is_journal_broken => {}
            Effect::Reply { id, reply, fence }
                if fence > self.durable && self.journal.durable().is_some() =>
            {
                let reply = Box::new(reply);
                self.wait_for(fence, Fenced::Reply { id, reply });
            }
            Effect::Reply { id, reply, .. } => self.reply(id, reply),
            Effect::Emit(event) => self.emit(event),
            Effect::LoadPolicies => self.load_policies(),
            Effect::AskPolicy {
                call,
                pack,
                request,
            } => self.ask_policy(call, pack, request),
            Effect::StartProgram => self.start_program(),
            Effect::StartSnippet(snippet) => self.start_snippet(*snippet),
            Effect::Planned(plan) => self.plan = Some(plan),
            Effect::Milestone(_) => {}
            Effect::Finished(outcome) => self.outcome = Some(outcome),
        }
    }

    fn call(&mut self, call: CallId, instance: InstanceId, request: ProviderCall) {
        let (subject, name) = (flights::subject(&request), request.name());
        let progress = Progress::default();
        let provider = self.instances.plugin(instance);
        let span = self.steps.call(&subject, name, provider);
        let answer = self
            .instances
            .call(call, instance, request, progress.clone());
        let mut answer = Box::pin(spans::within(span, answer));
        // Most of what is built in answers at once; that needs no task.
        if let Some(result) = answer.as_mut().now_or_never() {
            self.answered.push_back((call, result));
            return;
        }
        self.flights.begin(call, subject, name, progress);
        self.calls.spawn(async move { (call, answer.await) });
    }

    fn call_back(&mut self, call: CallId, callback: Callback, request: CallbackRequest) {
        let span = spans::callback(&request);
        let answer = spans::within(span, self.callbacks.clone().call(callback, request));
        self.called_back.spawn(async move { (call, answer.await) });
    }

    fn load_policies(&mut self) {
        let packs = std::mem::take(&mut self.policies);
        let load = packs.load(self.host.clone(), self.info.clone());
        self.loading.spawn(spans::within(spans::packs(), load));
    }

    fn policies_loaded(&mut self, result: Result<Loaded, String>) {
        let told = result.map(|loaded| {
            let packs = loaded.packs();
            self.packs = Some(loaded);
            packs
        });
        self.event(Event::PoliciesLoaded(told));
    }

    fn ask_policy(&mut self, call: CallId, pack: PackId, request: PolicyCall) {
        let span = spans::policy(&request);
        let answer = self.packs.as_ref().map(|packs| packs.ask(pack, request));
        self.consulted.spawn(async move {
            let answer = match answer {
                Some(answer) => spans::within(span, answer).await,
                None => Err("the policy packs are not loaded".to_owned()),
            };
            (call, answer)
        });
    }

    fn reply(&mut self, id: RequestId, reply: Reply) {
        if let Some(answer) = self.answers.remove(&id) {
            self.outbox.reply(answer, reply);
        }
    }

    /// The journal is durable up to `seq`: what waited for that happens.
    fn release(&mut self, seq: u64) {
        self.durable = seq;
        let later = self.fenced.split_off(&(seq + 1));
        let released = std::mem::replace(&mut self.fenced, later);
        for fenced in released.into_values().flatten() {
            match fenced {
                Fenced::Call {
                    call,
                    instance,
                    request,
                } => self.call(call, instance, *request),
                Fenced::Callback {
                    call,
                    callback,
                    request,
                } => self.call_back(call, callback, request),
                Fenced::Reply { id, reply } => self.reply(id, *reply),
            }
        }
    }

    fn start_program(&mut self) {
        let Some(program) = self.program.clone() else {
            return self.event(Event::ProgramEnded(ProgramEnd::Finished));
        };
        let info = self.info.clone();
        let monitor: Arc<dyn ResourceMonitor> = Arc::new(self.handle.clone());
        let cancel = self.program_cancel.clone();
        let run = async move { program.run(info, monitor, cancel).await };
        self.program_task.spawn(spans::program(run));
    }

    fn start_snippet(&mut self, snippet: Snippet) {
        let language = self.snippets.clone();
        let info = self.info.clone();
        let monitor: Arc<dyn ResourceMonitor> = Arc::new(self.handle.clone());
        self.snippet_tasks.spawn(async move {
            let uuid = snippet.uuid.clone();
            let result = match language {
                Some(language) => language.run(snippet, info, monitor).await,
                None => ProgramResult::Failed {
                    message: snippet::NO_LANGUAGE.to_owned(),
                },
            };
            (uuid, result)
        });
    }
}

fn program_end(result: ProgramResult) -> ProgramEnd {
    match result {
        ProgramResult::Finished => ProgramEnd::Finished,
        ProgramResult::Bailed => ProgramEnd::Bailed,
        ProgramResult::Failed { message } => ProgramEnd::Failed {
            message: format!("an unhandled error occurred: {message}"),
        },
    }
}
