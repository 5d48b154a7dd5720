//! Runs a deployment with its events and measures the time in the core.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use plumb_deploy::request::{Reply, Request};
use plumb_deploy::setup::{Operation, Options, Setup};
use plumb_deploy::{Deployment, Effect, Event, ProgramEnd, RequestId};
use plumb_resource::ResourceId;
use plumb_resource::provider::{
    CheckResponse, CreateResponse, DiffChanges, DiffResult, ProviderCall, ProviderReply,
    UpdateResponse,
};
use plumb_state::Snapshot;
use plumb_state::journal::{Entry, Fold};

use crate::shape::{PROJECT, STACK, Stack};

/// Measurements and results of a run.
pub struct Measured {
    /// Time in the core.
    pub time: Duration,
    /// Events handled.
    pub events: usize,
    /// State after the run.
    pub snapshot: Snapshot,
    /// Deployment after the run, for measuring its memory.
    pub deployment: Deployment,
}

/// Time of a provider's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Answers {
    /// Answer before the next request of the program.
    AtOnce,
    /// Answer after all requests that the program can send without it.
    Late,
}

/// Runs an operation with a provider that answers in no time.
pub fn run(
    operation: Operation,
    options: Options,
    base: &Snapshot,
    stack: &Stack,
    answers: Answers,
) -> Measured {
    let setup = Setup {
        stack: STACK.into(),
        project: PROJECT.into(),
        config: BTreeMap::new(),
        partly_secret: BTreeMap::new(),
        snapshot: base.clone(),
        operation,
        options,
        packages: Vec::new(),
        seed: [1; 32],
        plan: None,
    };
    let start = Instant::now();
    let deployment = Deployment::new(setup, Timestamp::UNIX_EPOCH).expect("the base is valid");
    let mut run = Run {
        deployment,
        answers,
        time: start.elapsed(),
        handled: 0,
        events: VecDeque::from([Event::Start]),
        ready: VecDeque::new(),
        entries: Vec::new(),
        open: stack.needs.iter().map(Vec::len).collect(),
        dependents: dependents_of(stack),
        unanswered: stack.requests.len(),
        program_runs: false,
        objects: 0,
    };
    while let Some(event) = run.next(stack) {
        run.handle(event);
    }
    run.measured(base)
}

fn dependents_of(stack: &Stack) -> Vec<Vec<usize>> {
    let mut dependents = vec![Vec::new(); stack.needs.len()];
    for (index, needs) in stack.needs.iter().enumerate() {
        for need in needs {
            dependents[*need].push(index);
        }
    }
    dependents
}

enum Recorded {
    Entry(Entry),
    Touch(u32),
}

struct Run {
    deployment: Deployment,
    answers: Answers,
    time: Duration,
    handled: usize,
    events: VecDeque<Event>,
    /// Registrations that the program can send now.
    ready: VecDeque<usize>,
    entries: Vec<Recorded>,
    /// Number of answers that each registration still waits for.
    open: Vec<usize>,
    dependents: Vec<Vec<usize>>,
    unanswered: usize,
    program_runs: bool,
    objects: usize,
}

impl Run {
    /// Next event. Requests are allocated when they are sent, as if they were received from the wire.
    fn next(&mut self, stack: &Stack) -> Option<Event> {
        let request = |index: usize| Event::Request {
            id: RequestId(index as u64),
            request: Request::Register(Box::new(stack.requests[index].clone())),
        };
        match self.answers {
            Answers::AtOnce => {
                let event = self.events.pop_front();
                event.or_else(|| self.ready.pop_front().map(request))
            }
            Answers::Late => {
                let requested = self.ready.pop_front().map(request);
                requested.or_else(|| self.events.pop_front())
            }
        }
    }

    fn handle(&mut self, event: Event) {
        let start = Instant::now();
        let effects = self.deployment.handle(Timestamp::UNIX_EPOCH, event);
        self.time += start.elapsed();
        self.handled += 1;
        for effect in effects {
            self.perform(effect);
        }
        if self.program_runs && self.unanswered == 0 {
            self.program_runs = false;
            self.events
                .push_back(Event::ProgramEnded(ProgramEnd::Finished));
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Journal(entry) => self.entries.push(Recorded::Entry(entry)),
            Effect::Touch { base } => self.entries.push(Recorded::Touch(base)),
            Effect::Call { call, request, .. } => {
                let result = Ok(self.answer(&request));
                let answered = Event::Answered { call, result };
                match self.answers {
                    Answers::AtOnce => self.events.push_front(answered),
                    Answers::Late => self.events.push_back(answered),
                }
            }
            Effect::StartProgram => {
                self.program_runs = true;
                (0..self.open.len()).for_each(|index| self.ask_if_ready(index));
            }
            Effect::Reply { id, reply, .. } => {
                assert!(matches!(reply, Reply::Registered(_)), "{reply:?}");
                self.unanswered -= 1;
                for dependent in std::mem::take(&mut self.dependents[id.0 as usize]) {
                    self.open[dependent] -= 1;
                    self.ask_if_ready(dependent);
                }
            }
            Effect::Finished(outcome) => assert!(outcome.error.is_none(), "{outcome:?}"),
            Effect::StartSnippet(_) => panic!("these states hold no snippets"),
            Effect::Emit(_)
            | Effect::Provider { .. }
            | Effect::LoadPolicies
            | Effect::AskPolicy { .. }
            | Effect::Callback { .. }
            | Effect::Planned(_)
            | Effect::Milestone(_) => {}
        }
    }

    fn ask_if_ready(&mut self, index: usize) {
        if self.open[index] == 0 {
            self.ready.push_back(index);
        }
    }

    fn answer(&mut self, request: &ProviderCall) -> ProviderReply {
        match request {
            ProviderCall::CheckConfig(it) => checked(&it.new_inputs),
            ProviderCall::Check(it) => checked(&it.new_inputs),
            ProviderCall::DiffConfig(it) | ProviderCall::Diff(it) => {
                let changes = if it.old_inputs == it.new_inputs {
                    DiffChanges::None
                } else {
                    DiffChanges::Some
                };
                ProviderReply::Diffed(DiffResult::of(changes))
            }
            ProviderCall::Create(it) => {
                self.objects += 1;
                ProviderReply::Created(CreateResponse {
                    id: ResourceId::Known(format!("object-{}", self.objects).into()),
                    outputs: it.inputs.clone(),
                    refresh_before_update: false,
                })
            }
            ProviderCall::Update(it) => ProviderReply::Updated(UpdateResponse {
                outputs: it.new_inputs.clone(),
                refresh_before_update: false,
            }),
            ProviderCall::Delete(_) => ProviderReply::Deleted,
            other => panic!("nobody asks for this here: {other:?}"),
        }
    }

    fn measured(self, base: &Snapshot) -> Measured {
        let mut fold = Fold::new(base.clone());
        for recorded in self.entries {
            match recorded {
                Recorded::Entry(entry) => fold.apply(entry).expect("entries fit the state"),
                Recorded::Touch(base) => fold.touch(base).expect("it is in the base"),
            }
        }
        let snapshot = fold
            .snapshot(Timestamp::UNIX_EPOCH, "v0.0.0")
            .expect("the state folds");
        Measured {
            time: self.time,
            events: self.handled,
            snapshot,
            deployment: self.deployment,
        }
    }
}

fn checked(inputs: &Arc<plumb_value::PropertyMap>) -> ProviderReply {
    ProviderReply::Checked(CheckResponse {
        inputs: Some(inputs.clone()),
        failures: Vec::new(),
        ignored_autonaming: false,
    })
}
