//! Run of one operation.

mod choices;
mod effects;
mod ends;
mod hooked;
mod methods;
pub(crate) mod others;
mod packages;
mod replies;
mod snippets;
mod steps;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::{SignedDuration, Timestamp};
use plumb_deploy::request::{Callback, CallbackRequest, Request};
use plumb_deploy::{CallId, Deployment, Effect, Event, PackId, ProgramEnd, RequestId};
use plumb_resource::policy::PolicyCall;
use plumb_resource::provider::{ProviderCall, ProviderError};
use plumb_state::Snapshot;
use plumb_state::plan::Plan;

use super::journal::Journal;
use super::plugins::Plugins;
use super::{Await, Trace, Violation, World, calls, requests};
use crate::cloud::Cloud;
use crate::dice::Dice;
use crate::story::{Item, Operation, Res, Stop};

/// Subject of a request.
#[derive(Clone, Debug)]
enum Asked {
    /// Resource with this name.
    Resource(String),
    /// Outputs of the resource with this name.
    Outputs(String),
    /// Component with this name, which a provider constructs.
    Remote(String),
    /// Registration of a hook or transform.
    Function,
    /// Package with this name.
    Package(String),
    /// Provider function with this number.
    Ask(usize),
    /// Method with this name.
    Method(String),
    /// Views of an object.
    Views,
    /// Resource of another source, for a snippet.
    Await(Await),
}

/// Relation of a run to update plans.
#[derive(Clone, Debug, Default)]
pub enum Planning {
    /// No plan.
    #[default]
    None,
    /// The run makes a plan.
    Makes,
    /// The run must follow a plan.
    HeldTo(Plan),
}

/// Maximum number of choices in a run, after which it counts as endless.
const PATIENCE: u32 = 20_000;

/// Order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// A random legal order.
    Any,
    /// A fixed sequential order.
    Fixed,
}

struct Run<'w> {
    order: Order,
    cloud: &'w mut Cloud,
    operation: &'w Operation,
    deployment: Deployment,
    dice: Dice,
    /// Whether entries are durable immediately.
    eager: bool,
    /// Whether the state is verified after each entry.
    careful: bool,
    journal: Journal,
    held: Vec<(u64, Effect)>,
    calls: Vec<(CallId, ProviderCall)>,
    callbacks: Vec<(CallId, Callback, CallbackRequest)>,
    /// Calls for which the provider has reported views.
    told: BTreeSet<CallId>,
    /// Components under construction, and whether the construction has begun.
    constructions: Vec<(CallId, String, bool)>,
    /// Whether policy packs are being loaded; calls of packs.
    awaits_packs: bool,
    consultations: Vec<(CallId, PackId, PolicyCall)>,
    asked: BTreeMap<RequestId, Asked>,
    /// Unregistered resources; unregistered outputs.
    waiting: Vec<&'w Res>,
    unregistered: Vec<&'w Res>,
    /// Provider functions that were not called yet.
    unasked: Vec<usize>,
    methods: methods::Methods,
    plugins: Plugins,
    program_runs: bool,
    /// Whether a request that the program needs was refused.
    has_trouble: bool,
    /// Whether the program was rejected because the run is over.
    was_turned_away: bool,
    /// Snippets being evaluated.
    evaluations: Vec<snippets::Evaluation>,
    /// Hooks and transforms of the program that were not registered yet.
    functions: Vec<(Asked, Request)>,
    /// Remaining actions of the program, in a run in fixed order.
    items: VecDeque<Item<'w>>,
    /// Number of further actions after which the program fails.
    fails_after: Option<usize>,
    next_request: u64,
    now: Timestamp,
    choices: u32,
    stopped: bool,
    /// Whether no more steps may begin.
    is_over: bool,
    /// Numbers of the steps in progress.
    open: Vec<usize>,
    trace: Trace,
}

impl World {
    /// Runs an operation, and updates the state and the cloud.
    pub fn run(&mut self, operation: &Operation) -> Result<Trace, Violation> {
        self.run_with(operation, Planning::None)
    }

    /// Runs an operation sequentially: the program sends each request after the reply to the previous one, and calls
    /// are answered in the order in which they were made.
    pub fn run_in_order(&mut self, operation: &Operation) -> Result<Trace, Violation> {
        self.run_as(operation, Planning::None, Order::Fixed)
    }

    /// Runs an operation with a plan.
    pub fn run_with(
        &mut self,
        operation: &Operation,
        planning: Planning,
    ) -> Result<Trace, Violation> {
        self.run_as(operation, planning, Order::Any)
    }

    fn run_as(
        &mut self,
        operation: &Operation,
        planning: Planning,
        order: Order,
    ) -> Result<Trace, Violation> {
        self.operations += 1;
        self.before(operation);
        let mut setup = self.setup(operation);
        match planning {
            Planning::None => {}
            Planning::Makes => setup.options.makes_plan = true,
            Planning::HeldTo(plan) => setup.plan = Some(plan),
        }
        let started =
            Timestamp::UNIX_EPOCH + SignedDuration::from_hours(self.operations.cast_signed());
        let deployment = Deployment::new(setup, started)
            .map_err(|error| Violation::new("start", error.to_string()))?;
        let base = self.snapshot.clone();
        let mut run = Run::new(&mut self.cloud, operation, deployment, base, started);
        run.order = order;
        if order == Order::Fixed {
            run.items = operation.program.in_order().into();
            let stop = operation.stop;
            run.fails_after = stop.and_then(|stop| stop.in_program(run.items.len()));
        }
        run.eager |= order == Order::Fixed;
        if let Err(violation) = run.drive() {
            let what = format!("{}; steps: {}", violation.what, run.trace.steps_told());
            return Err(Violation::new(violation.rule, what));
        }
        let trace = run.end()?;
        if !operation.preview {
            self.snapshot = trace.after.clone();
        }
        Ok(trace)
    }
}

impl<'w> Run<'w> {
    fn new(
        cloud: &'w mut Cloud,
        operation: &'w Operation,
        deployment: Deployment,
        base: Snapshot,
        started: Timestamp,
    ) -> Self {
        let mut dice = Dice::new(operation.seed);
        let (eager, careful) = (!dice.one_in(3), dice.one_in(4));
        let program = &operation.program;
        let has_outputs = |res: &&Res| res.is_component() && !res.outputs.is_empty();
        Run {
            order: Order::Any,
            cloud,
            operation,
            deployment,
            dice,
            eager,
            careful,
            functions: others::functions(&base, program),
            journal: Journal::new(base),
            held: Vec::new(),
            calls: Vec::new(),
            callbacks: Vec::new(),
            told: BTreeSet::new(),
            constructions: Vec::new(),
            awaits_packs: false,
            consultations: Vec::new(),
            asked: BTreeMap::new(),
            waiting: program.resources.iter().collect(),
            unregistered: program.resources.iter().filter(has_outputs).collect(),
            unasked: (0..program.asks.len()).collect(),
            methods: methods::Methods::new(&program.methods),
            plugins: Plugins::default(),
            program_runs: false,
            has_trouble: false,
            was_turned_away: false,
            evaluations: Vec::new(),
            items: VecDeque::new(),
            fails_after: None,
            next_request: 0,
            now: started,
            choices: 0,
            stopped: false,
            is_over: false,
            open: Vec::new(),
            trace: Trace::default(),
        }
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
            self.pace()?;
            if self.trace.journal_failed {
                self.fail_held()?;
            }
            if self.trace.outcome.is_some() {
                break;
            }
            let choice = match self.order {
                Order::Any => self.choose(),
                Order::Fixed => self.next_in_order(),
            };
            match choice {
                Some(choice) => self.perform_choice(choice)?,
                None => self.stuck()?,
            }
        }
        Ok(())
    }

    /// Interrupts the run at the point given in the story; returns whether it is over immediately.
    fn stop_here(&mut self) -> Result<bool, Violation> {
        let Some(
            Stop::Interrupt(at) | Stop::Crash(at) | Stop::ProgramFails(at) | Stop::JournalFails(at),
        ) = self.operation.stop
        else {
            return Ok(false);
        };
        if self.stopped || self.choices <= at || self.order == Order::Fixed {
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

    /// In one of three operations, lets steps begin ahead of their calls, more or fewer from time to time.
    fn pace(&mut self) -> Result<(), Violation> {
        let seed = self.operation.seed;
        let is_paced = seed % 3 == 1 && self.order == Order::Any && !self.operation.preview;
        if is_paced && self.choices % 8 == 1 {
            let ahead = (seed / 3 + u64::from(self.choices)) % 7;
            return self.event(Event::Paced {
                ahead: ahead as u32,
            });
        }
        Ok(())
    }

    fn fail_program(&mut self) -> Result<(), Violation> {
        self.program_runs = false;
        self.trace.program_failed = true;
        let message = "an unhandled error occurred: the program broke".to_owned();
        self.event(Event::ProgramEnded(ProgramEnd::Failed { message }))
    }

    fn interrupt(&mut self) -> Result<(), Violation> {
        self.trace.interrupted = true;
        self.event(Event::Interrupted)
    }

    /// Drops everything that waits for the journal: calls count as not made, replies are not sent.
    fn fail_journal(&mut self) -> Result<(), Violation> {
        self.trace.journal_failed = true;
        let message = "no space left".to_owned();
        self.event(Event::JournalFailed { message })
    }

    /// Fails everything that waits for the failed journal.
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

    /// Handles a state without possible events: a call hangs, and the user interrupts; otherwise the core has lost a
    /// reply.
    fn stuck(&mut self) -> Result<(), Violation> {
        if !self.calls.is_empty() && !self.trace.interrupted {
            return self.interrupt();
        }
        let waiting: Vec<&str> = self.waiting.iter().map(|res| res.name.as_str()).collect();
        let what = format!("nothing can happen any more; not registered: {waiting:?}");
        Err(Violation::new("progress", what))
    }

    /// Knowledge of a resource's source.
    fn known<'a>(&'a self, res: &'a Res) -> requests::Known<'a> {
        self.known_to(res.snippet.as_deref())
    }

    /// Knowledge of the program or of a snippet.
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
