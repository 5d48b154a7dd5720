//! Event loop that owns the deployment core.
//!
//! One `select` receives everything: requests of programs, answers of providers, the end of the program, progress of the
//! journal, interrupts. Each becomes an event for the core, and the resulting effects are performed in order. An effect with
//! a fence waits until the journal is durable up to that entry. **Only this loop calls the core.**
//!
//! Journal entries and replies to programs are collected while more work is ready, so that one sync of the journal and one
//! wake-up serve all of them. Engine events are collected for a moment longer (`outbox`).

mod effects;
mod ending;
mod fence;
mod pace;
mod tasks;

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use plumb_deploy::request::Reply;
use plumb_deploy::{
    CallId, Deployment, DuplicateResource, Effect, Event, Outcome, ProgramEnd, RequestId,
};
use plumb_plugin::{ConstructContext, PluginHost};
use plumb_resource::provider::{ProviderError, ProviderReply, ResourceStatus};
use plumb_state::journal::Entry;
use plumb_state::plan::Plan;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::callbacks::Callbacks;
use crate::flights::Flights;
use crate::instances::Instances;
use crate::journal::RunJournal;
use crate::masks::Masks;
use crate::monitor::{Incoming, LogMessage, MonitorHandle};
use crate::outbox::Outbox;
use crate::policies::{Loaded, PolicyPacks};
use crate::program::{Program, ProgramContext, ProgramResult};
use crate::server::Servers;
use crate::shell::{Ended, RunSetup};
use crate::snippet::SnippetLanguage;
use crate::spans;
use fence::FencedEffects;
use pace::Pace;
use tasks::{DriverEvent, Tasks};

/// The core, and everything that a run needs around it.
pub(crate) struct Driver {
    deployment: Deployment,
    host: Arc<PluginHost>,
    instances: Instances,
    journal: RunJournal,
    outbox: Outbox,
    masks: Masks,
    /// Events that close the run. Kept until the program has ended, because it may still log messages, and fail.
    closing: Vec<(Timestamp, plumb_events::Event)>,
    fenced: FencedEffects,
    pace: Pace,
    tasks: Tasks,
    answers: HashMap<RequestId, oneshot::Sender<Reply>>,
    next_request: u64,
    flights: Flights,
    steps: spans::Steps,
    callbacks: Callbacks,
    /// Packs to be loaded.
    policies: PolicyPacks,
    packs: Option<Loaded>,
    program: Option<Arc<dyn Program>>,
    program_cancel: CancellationToken,
    snippets: Option<Arc<dyn SnippetLanguage>>,
    info: ProgramContext,
    handle: MonitorHandle,
    outcome: Option<Outcome>,
    plan: Option<Plan>,
}

impl Driver {
    /// A driver for one run, using the services of a shell.
    pub(crate) fn new(
        setup: RunSetup,
        handle: MonitorHandle,
        servers: &Servers,
    ) -> Result<Self, DuplicateResource> {
        let mut deployment = setup.setup;
        deployment.options.has_policies = !setup.policies.is_empty();
        let settings = deployment.config.values().chain(&setup.secret_parts);
        let masks = Masks::new(deployment.options.show_secrets, settings);
        let mut info = setup.info;
        info.monitor_address.clone_from(&servers.address);
        info.engine_address.clone_from(&servers.address);
        let context = construct_context(&info);
        let pace = Pace::new(deployment.options.parallel);
        Ok(Driver {
            deployment: Deployment::new(deployment, Timestamp::now())?,
            instances: Instances::new(
                setup.host.clone(),
                context,
                setup.secrets,
                servers.tokens.clone(),
            ),
            host: setup.host,
            fenced: FencedEffects::new(setup.journal.durable().is_some()),
            pace,
            journal: setup.journal,
            outbox: Outbox::new(setup.subscriber),
            masks,
            closing: Vec::new(),
            tasks: Tasks::default(),
            answers: HashMap::new(),
            next_request: 0,
            flights: Flights::new(),
            steps: spans::Steps::default(),
            callbacks: Callbacks::default(),
            policies: setup.policies,
            packs: None,
            program: setup.program,
            program_cancel: CancellationToken::new(),
            snippets: setup.snippets,
            info,
            handle,
            outcome: None,
            plan: None,
        })
    }

    pub(crate) async fn drive(
        mut self,
        mut incoming: mpsc::UnboundedReceiver<Incoming>,
        mut interrupts: watch::Receiver<u32>,
        host: &Arc<PluginHost>,
    ) -> Ended {
        let mut durable = self.journal.durable();
        let mut cancels = JoinSet::new();
        self.event(Event::Start);
        while self.outcome.is_none() || !self.fenced.is_free() {
            let happened = self.next(&mut incoming, &mut durable, &mut interrupts);
            match happened.await {
                DriverEvent::Incoming(all) => all.into_iter().for_each(|one| self.take(one)),
                DriverEvent::Called((call, result)) => self.called(call, result, &mut incoming),
                DriverEvent::CalledBack(call, result) => {
                    self.event(Event::CalledBack { call, result });
                }
                DriverEvent::Loaded(result) => self.policies_loaded(result),
                DriverEvent::Consulted(call, result) => {
                    self.event(Event::PolicyAnswered { call, result });
                }
                DriverEvent::Program(result) => {
                    self.event(Event::ProgramEnded(program_end(result)));
                }
                DriverEvent::Snippet(uuid, result) => {
                    let end = snippet_end(result);
                    self.event(Event::SnippetEnded { uuid, end });
                }
                DriverEvent::Durable(Ok(seq)) => {
                    self.release(self.journal.counted(seq));
                    if let Some(ahead) = self.pace.durable(seq) {
                        self.event(Event::Paced { ahead });
                    }
                }
                DriverEvent::Durable(Err(message)) => {
                    durable = None;
                    self.journal_failed(message);
                }
                DriverEvent::Interrupt(1) => self.event(Event::Interrupted),
                DriverEvent::Interrupt(2) => {
                    self.program_cancel.cancel();
                    let host = host.clone();
                    cancels.spawn(async move { host.cancel().await });
                }
                DriverEvent::Interrupt(_) => break,
                DriverEvent::Late => self.flights.late().into_iter().for_each(|it| self.emit(it)),
                DriverEvent::Idle => self.flush(),
                DriverEvent::Due => self.outbox.tell(),
                DriverEvent::Stalled => self.event(Event::Stalled),
            }
        }
        self.end(incoming, interrupts).await
    }

    /// Handles the answer of a provider.
    fn called(
        &mut self,
        call: CallId,
        mut result: Result<ProviderReply, ProviderError>,
        incoming: &mut mpsc::UnboundedReceiver<Incoming>,
    ) {
        self.pace.answered(call);
        if let Some(event) = self.flights.end(call) {
            self.emit(event);
        }
        // Messages that the provider sent during the call are handled first.
        while let Ok(one) = incoming.try_recv() {
            self.take(one);
        }
        self.take_note(&mut result);
        self.event(Event::Answered { call, result });
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
        self.emit(message.into_event());
    }

    /// Registers the secrets in an answer, and hides them in the reasons of a partial failure.
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

    /// Sends replies and journal entries, because others wait for them.
    fn flush(&mut self) {
        self.outbox.answer();
        match self.journal.flush() {
            Ok(Some(seq)) => self.pace.submitted(seq),
            Ok(None) => {}
            Err(error) => self.journal_failed(error.to_string()),
        }
    }

    /// Sends replies, journal entries and events.
    fn flush_all(&mut self) {
        self.flush();
        self.outbox.tell();
    }

    /// Passes an event to the core and performs the effects.
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
}

fn construct_context(info: &ProgramContext) -> ConstructContext {
    ConstructContext {
        project: info.project.clone(),
        stack: info.stack.clone(),
        organization: info.organization.clone(),
        config: info.config.clone(),
        config_secret_keys: info.config_secret_keys.clone(),
        dry_run: info.dry_run,
        parallel: info.parallel,
        monitor_endpoint: info.monitor_address.clone(),
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

fn snippet_end(result: ProgramResult) -> ProgramEnd {
    match result {
        // Unlike errors of programs, those of snippets are shown without a prefix.
        ProgramResult::Failed { message } => ProgramEnd::Failed { message },
        other => program_end(other),
    }
}
