//! A small world for the core to act on: programs as data, a provider with a cloud in memory, and a driver that picks
//! among everything that could happen next by a seed.
//!
//! A story is told for many orders of events:
//!
//! ```ignore
//! for_orders(|world| {
//!     world.up(&[res("a").with("value", "1")]).succeeded();
//!     let ran = world.up(&[res("a").with("replace", "2")]);
//!     ran.succeeded();
//!     assert_eq!(ran.steps("a"), ["create-replacement", "replace", "delete-replaced"]);
//! });
//! ```
//!
//! At every step the driver checks that the state is valid, that mutations have a durable intent, that the same events give
//! the same effects, and at the end that no object is forgotten.

// A vocabulary for stories; not each of them needs every word.
#![allow(dead_code, unused_imports)]

mod cloud;
mod packs;
mod plugins;
mod program;
mod run;
mod views;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use plumb_deploy::request::{CallbackReply, CallbackRequest, RegisterReply};
use plumb_deploy::setup::{ImportSpec, Operation, Options, Phase, Setup};
use plumb_deploy::snippets::SnippetChanges;
use plumb_deploy::target::UrnSet;
use plumb_deploy::{Deployment, Effect, Event, ProgramEnd};
use plumb_events::{OperationResult, Severity};
use plumb_resource::hook::{ErrorHookCall, HookCall};
use plumb_resource::provider::PluginSpec;
use plumb_resource::{ResourceId, ResourceState, Urn};
use plumb_state::plan::Plan;
use plumb_state::{Snapshot, Snippet};
use plumb_value::Value;

pub(crate) use cloud::{Cloud, Fault, must_replace, partial};
pub(crate) use packs::{Pack, pack, sets, violation};
pub(crate) use plugins::{Plugin, Plugins};
pub(crate) use program::{
    Known, Res, What, awaited, callback, component, error_hook, hook, invoke, invoke_transform,
    method, package, provider, read, remote, res, shutdown, stack, transform, wait,
};
pub(crate) use views::{Part, part, part_urn};

pub(crate) const STACK: &str = "dev";
pub(crate) const PROJECT: &str = "proj";

/// Tells a story under many orders of events.
pub(crate) fn for_orders(story: impl Fn(&mut World)) {
    for_many_orders(25, story);
}

/// Like [`for_orders`], for stories in which few orders matter.
pub(crate) fn for_many_orders(orders: u64, story: impl Fn(&mut World)) {
    for seed in 0..orders {
        let mut world = World::new(seed);
        story(&mut world);
    }
}

/// Numbers by chance, the same for the same seed.
#[derive(Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

type Function = Arc<dyn Fn(&CallbackRequest) -> Result<CallbackReply, String> + Send + Sync>;

/// One stack with its cloud.
pub(crate) struct World {
    pub(crate) cloud: Cloud,
    pub(crate) snapshot: Snapshot,
    pub(crate) config: BTreeMap<ecow::EcoString, Value>,
    pub(crate) partly_secret: BTreeMap<ecow::EcoString, ecow::EcoString>,
    pub(crate) packages: Vec<PluginSpec>,
    /// How programs end from here on.
    pub(crate) ending: ProgramEnd,
    /// Interrupts the run once so many calls have been answered.
    pub(crate) interrupt_after: Option<usize>,
    /// Plan that updates and previews have to follow from here on.
    pub(crate) plan: Option<Plan>,
    /// Policy packs that look at every run.
    pub(crate) packs: Vec<Pack>,
    /// Why the packs cannot be loaded, if they cannot.
    pub(crate) packs_fail: Option<String>,
    functions: BTreeMap<String, Function>,
    /// Functions that answer only when something else is there, by token.
    pub(crate) patient: BTreeMap<String, String>,
    runs: u8,
    pub(crate) dice: Dice,
}

/// The URN of a custom resource without a parent.
pub(crate) fn urn(name: &str) -> Urn {
    Urn::new(STACK, PROJECT, "", program::THING, name)
}

/// The URN of anything without a parent.
pub(crate) fn urn_of(token: &str, name: &str) -> Urn {
    Urn::new(STACK, PROJECT, "", token, name)
}

/// A value that a program computed from resources; `None` while it is not known.
pub(crate) fn output(value: Option<Value>, secret: bool, dependencies: &[Urn]) -> Value {
    Value::Output(Arc::new(plumb_value::Output {
        value,
        secret,
        dependencies: dependencies.iter().map(|urn| urn.as_str().into()).collect(),
    }))
}

/// Options for a run that acts, changed by `change`.
pub(crate) fn options(change: impl FnOnce(&mut Options)) -> Options {
    changed(Options::new(Phase::Execute), change)
}

fn changed(mut options: Options, change: impl FnOnce(&mut Options)) -> Options {
    change(&mut options);
    options
}

/// Custom resources without parents, as targets.
pub(crate) fn targets(names: &[&str]) -> UrnSet {
    UrnSet::new(names.iter().map(|name| urn(name).to_string()))
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        World {
            cloud: Cloud::default(),
            snapshot: Snapshot::default(),
            config: BTreeMap::new(),
            partly_secret: BTreeMap::new(),
            packages: Vec::new(),
            ending: ProgramEnd::Finished,
            interrupt_after: None,
            plan: None,
            packs: Vec::new(),
            packs_fail: None,
            functions: BTreeMap::new(),
            patient: BTreeMap::new(),
            runs: 0,
            dice: Dice::new(seed),
        }
    }

    /// A copy of the stack and the cloud, to continue in another way.
    pub(crate) fn fork(&self, seed: u64) -> World {
        World {
            cloud: self.cloud.clone(),
            snapshot: self.snapshot.clone(),
            config: self.config.clone(),
            partly_secret: self.partly_secret.clone(),
            packages: self.packages.clone(),
            packs: self.packs.clone(),
            functions: self.functions.clone(),
            patient: self.patient.clone(),
            ..World::new(seed)
        }
    }

    /// Defines a function of the program, by the token of its callback.
    pub(crate) fn function(
        &mut self,
        token: &str,
        function: impl Fn(&CallbackRequest) -> Result<CallbackReply, String> + Send + Sync + 'static,
    ) {
        self.functions.insert(token.to_owned(), Arc::new(function));
    }

    /// Has the hook of this name fail.
    pub(crate) fn hook_fails(&mut self, name: &str, message: &'static str) {
        self.function(name, move |_| Err(message.to_owned()));
    }

    /// Has it do nothing again.
    pub(crate) fn hook_works(&mut self, name: &str) {
        self.functions.remove(name);
    }

    /// Has the error hook of this name ask for so many further attempts, and then give up.
    pub(crate) fn retries(&mut self, name: &str, times: usize) {
        self.function(name, move |request| match request {
            CallbackRequest::ErrorHook(call) => {
                Ok(CallbackReply::Retry(call.errors.len() <= times))
            }
            other => panic!("an error hook is called with {other:?}"),
        });
    }

    /// Calls a function of the program. Hooks that the story says nothing of do nothing; calls of hooks stand among those
    /// of the cloud.
    fn call_function(
        &mut self,
        token: &str,
        request: &CallbackRequest,
    ) -> Result<CallbackReply, String> {
        let is_hook = matches!(
            request,
            CallbackRequest::Hook(_) | CallbackRequest::ErrorHook(_)
        );
        if is_hook {
            self.cloud.calls.push(format!("hook {token}"));
        }
        match (self.functions.get(token), request) {
            (Some(function), _) => function(request),
            (None, CallbackRequest::Hook(_)) => Ok(CallbackReply::Hooked),
            (None, CallbackRequest::ErrorHook(_)) => Ok(CallbackReply::Retry(false)),
            (None, _) => panic!("the program has no function {token}"),
        }
    }

    /// Creates, updates, deletes and hooks so far, in order, without what came before the decisions about them.
    pub(crate) fn take_actions(&mut self) -> Vec<String> {
        let mut calls = self.cloud.take_calls();
        let matters = ["create", "update", "delete", "hook"];
        calls.retain(|call| matters.iter().any(|it| call.starts_with(it)));
        calls
    }

    /// Runs an update and keeps the state.
    pub(crate) fn up(&mut self, program: &[Res]) -> Ran {
        self.run(Operation::Update, program, Options::new(Phase::Execute))
    }

    pub(crate) fn up_with(&mut self, program: &[Res], change: impl FnOnce(&mut Options)) -> Ran {
        self.run(Operation::Update, program, options(change))
    }

    pub(crate) fn preview(&mut self, program: &[Res]) -> Ran {
        self.run(Operation::Update, program, Options::new(Phase::Preview))
    }

    pub(crate) fn preview_with(
        &mut self,
        program: &[Res],
        change: impl FnOnce(&mut Options),
    ) -> Ran {
        let mut options = Options::new(Phase::Preview);
        change(&mut options);
        self.run(Operation::Update, program, options)
    }

    /// A preview that makes a plan, and the plan.
    pub(crate) fn plan(&mut self, program: &[Res]) -> (Ran, Plan) {
        self.plan_with(program, |_| {})
    }

    pub(crate) fn plan_with(
        &mut self,
        program: &[Res],
        change: impl FnOnce(&mut Options),
    ) -> (Ran, Plan) {
        let options = Options {
            makes_plan: true,
            ..Options::new(Phase::Preview)
        };
        let mut ran = self.run(Operation::Update, program, changed(options, change));
        let plan = ran.plan.take();
        ran.succeeded();
        (ran, plan.expect("a preview that succeeds makes a plan"))
    }

    /// Runs an update that is held to `plan`.
    pub(crate) fn up_to(&mut self, plan: &Plan, program: &[Res]) -> Ran {
        self.up_to_with(plan, program, |_| {})
    }

    pub(crate) fn up_to_with(
        &mut self,
        plan: &Plan,
        program: &[Res],
        change: impl FnOnce(&mut Options),
    ) -> Ran {
        self.plan = Some(plan.clone());
        let ran = self.up_with(program, change);
        self.plan = None;
        ran
    }

    pub(crate) fn refresh(&mut self) -> Ran {
        self.run(Operation::Refresh, &[], Options::new(Phase::Execute))
    }

    pub(crate) fn destroy(&mut self) -> Ran {
        self.run(Operation::Destroy, &[], Options::new(Phase::Execute))
    }

    /// A refresh with other options; the program runs if there is any.
    pub(crate) fn refresh_with(
        &mut self,
        program: &[Res],
        change: impl FnOnce(&mut Options),
    ) -> Ran {
        self.run_program(Operation::Refresh, program, change)
    }

    /// A destroy with other options; the program runs if there is any.
    pub(crate) fn destroy_with(
        &mut self,
        program: &[Res],
        change: impl FnOnce(&mut Options),
    ) -> Ran {
        self.run_program(Operation::Destroy, program, change)
    }

    fn run_program(
        &mut self,
        operation: Operation,
        program: &[Res],
        change: impl FnOnce(&mut Options),
    ) -> Ran {
        let options = options(|options| {
            options.run_program = !program.is_empty();
            change(options);
        });
        self.run(operation, program, options)
    }

    /// A run of `program` that fails at its end.
    pub(crate) fn up_and_fail(&mut self, program: &[Res]) -> Ran {
        self.ending = ProgramEnd::Failed {
            message: "the program failed".to_owned(),
        };
        let ran = self.up(program);
        self.ending = ProgramEnd::Finished;
        ran.failed("the program failed");
        ran
    }

    /// Runs an import operation.
    pub(crate) fn import(&mut self, specs: &[ImportSpec]) -> Ran {
        self.run(
            Operation::Import(specs.to_vec()),
            &[],
            Options::new(Phase::Execute),
        )
    }

    /// Resources of the state, as targets.
    pub(crate) fn targets(&self, names: &[&str]) -> UrnSet {
        UrnSet::new(names.iter().map(|name| self.state(name).urn.to_string()))
    }

    /// Runs an operation under a random legal order of events; keeps the state unless it is a preview.
    pub(crate) fn run(
        &mut self,
        operation: Operation,
        program: &[Res],
        mut options: Options,
    ) -> Ran {
        options.has_policies |= !self.packs.is_empty() || self.packs_fail.is_some();
        // No two runs make the same ids.
        self.runs += 1;
        let setup = Setup {
            stack: STACK.into(),
            project: PROJECT.into(),
            config: self.config.clone(),
            partly_secret: self.partly_secret.clone(),
            snapshot: self.snapshot.clone(),
            operation,
            options: options.clone(),
            packages: self.packages.clone(),
            seed: [self.runs; 32],
            plan: self.plan.clone(),
        };
        let ran = run::run(self, setup.clone(), program);
        assert_replays(setup, &ran);
        if options.phase == Phase::Execute {
            self.snapshot = ran.snapshot.clone();
        }
        ran
    }

    /// Stores snippets under these uuids, before the first run that is to know of them.
    pub(crate) fn store(&mut self, uuids: &[&str]) {
        self.snapshot
            .snippets
            .extend(uuids.iter().map(|uuid| snippet(uuid)));
    }

    /// The snippets of the state, by uuid.
    pub(crate) fn stored(&self) -> Vec<&str> {
        let snippets = self.snapshot.snippets.iter();
        snippets.map(|snippet| snippet.uuid.as_str()).collect()
    }

    /// The change that removes these snippets.
    pub(crate) fn without(&self, uuids: &[&str]) -> SnippetChanges {
        let changes = uuids.iter().map(|uuid| ((*uuid).into(), None)).collect();
        SnippetChanges::new(&self.snapshot.snippets, changes).expect("they are there")
    }

    /// States of this name, in snapshot order; more than one when some are due for deletion.
    pub(crate) fn states(&self, name: &str) -> Vec<&ResourceState> {
        let named = |state: &&Arc<ResourceState>| state.urn.name() == name;
        self.snapshot
            .resources
            .iter()
            .filter(named)
            .map(AsRef::as_ref)
            .collect()
    }

    /// The only state of this name.
    pub(crate) fn state(&self, name: &str) -> &ResourceState {
        let states = self.states(name);
        assert_eq!(states.len(), 1, "{name}: {states:?}");
        states[0]
    }

    /// The whole state, in no order.
    pub(crate) fn contents(&self) -> BTreeMap<(String, bool), ResourceState> {
        let key = |state: &ResourceState| (state.urn.to_string(), state.delete);
        let states = self.snapshot.resources.iter().map(AsRef::as_ref);
        states.map(|state| (key(state), state.clone())).collect()
    }

    /// Changes the recorded state of this name, as `state` commands do.
    pub(crate) fn edit(&mut self, name: &str, change: impl Fn(&mut ResourceState)) {
        for state in &mut self.snapshot.resources {
            if state.urn.name() == name {
                change(Arc::make_mut(state));
            }
        }
    }

    /// Puts a copy of the state of this name behind it that is still to be deleted, with an object of its own.
    pub(crate) fn add_old_copy(&mut self, name: &str) {
        let resources = &mut self.snapshot.resources;
        let at = resources.iter().position(|it| it.urn.name() == name);
        let at = at.expect("there is such a state");
        let mut copy = resources[at].as_ref().clone();
        copy.delete = true;
        if copy.id.is_known() && !copy.type_token.is_provider() {
            let id = format!("{name}-0");
            let object = copy.outputs.as_ref().clone();
            self.cloud.objects.insert(id.clone(), object);
            copy.id = ResourceId::Known(id.into());
        }
        resources.insert(at + 1, Arc::new(copy));
        self.snapshot.verify().expect("the copy fits in");
    }

    /// Names of all states but providers, in alphabetical order.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .snapshot
            .resources
            .iter()
            .filter(|state| !state.type_token.is_provider())
            .map(|state| state.urn.name())
            .collect();
        names.sort_unstable();
        names
    }
}

/// A snippet of no content: the story says what it asks for.
pub(crate) fn snippet(uuid: &str) -> Snippet {
    Snippet {
        uuid: uuid.into(),
        name: uuid.into(),
        type_token: program::THING.into(),
        ..Snippet::default()
    }
}

/// Replays a run: the same events at the same times must give the same effects.
fn assert_replays(setup: Setup, ran: &Ran) {
    let mut again =
        Deployment::new(setup, Timestamp::UNIX_EPOCH).expect("the state was good the first time");
    for ((at, event), effects) in ran.log.iter().zip(&ran.effects) {
        assert_eq!(
            &again.handle(*at, event.clone()),
            effects,
            "a replay differs at {event:?}"
        );
    }
}

/// Record of a run.
pub(crate) struct Ran {
    pub(crate) snapshot: Snapshot,
    pub(crate) outcome: plumb_deploy::Outcome,
    /// Replies to the program.
    pub(crate) known: Known,
    pub(crate) log: Vec<(Timestamp, Event)>,
    pub(crate) effects: Vec<Vec<Effect>>,
    pub(crate) events: Vec<plumb_events::Event>,
    /// The plan that it made.
    pub(crate) plan: Option<Plan>,
    /// Counts of the summary by operation.
    pub(crate) changes: BTreeMap<String, u32>,
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) plugins: Plugins,
    /// Why steps of parts were not taken.
    pub(crate) untold: Vec<String>,
    /// Requests of the program, in order.
    asked: Vec<String>,
}

impl Ran {
    #[track_caller]
    pub(crate) fn succeeded(&self) {
        assert_eq!(
            self.outcome.result,
            OperationResult::Succeeded,
            "{:?}",
            self.errors
        );
    }

    /// The run failed, and some error has `text` in it.
    #[track_caller]
    pub(crate) fn failed(&self, text: &str) {
        assert_eq!(self.outcome.result, OperationResult::Failed);
        let is_said = self.errors.iter().any(|error| error.contains(text));
        assert!(is_said, "no {text:?} in {:?}", self.errors);
    }

    /// The run was refused with `text` before it began: no event tells of it, but for errors of single resources.
    #[track_caller]
    pub(crate) fn refused(&self, text: &str) {
        use plumb_events::Event;
        assert_eq!(self.outcome.result, OperationResult::Failed);
        assert!(!self.outcome.has_begun);
        assert_eq!(self.outcome.error.as_deref(), Some(text));
        let tells_of_run = |event: &Event| {
            !matches!(
                event,
                Event::Diagnostic(_) | Event::PolicyLoad | Event::Cancel
            )
        };
        let told = self.events.iter().find(|event| tells_of_run(event));
        assert!(told.is_none(), "{told:?}");
        assert!(matches!(self.events.last(), Some(Event::Cancel)));
    }

    /// Steps that were announced for resources of this name, in order.
    pub(crate) fn steps(&self, name: &str) -> Vec<&'static str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                plumb_events::Event::ResourcePre(pre) if pre.metadata.urn.name() == name => {
                    Some(pre.metadata.op.as_str())
                }
                _ => None,
            })
            .collect()
    }

    /// Every step that was announced, as `op name`, in order.
    pub(crate) fn announced(&self) -> Vec<String> {
        let title = |event: &plumb_events::Event| match event {
            plumb_events::Event::ResourcePre(pre) => {
                let metadata = &pre.metadata;
                Some(format!("{} {}", metadata.op.as_str(), metadata.urn.name()))
            }
            _ => None,
        };
        self.events.iter().filter_map(title).collect()
    }

    /// Answer of a function or method.
    pub(crate) fn result(&self, name: &str) -> &plumb_deploy::request::InvokeReply {
        &self.known.invoked[name]
    }

    /// When the program asked for what, by name.
    pub(crate) fn asked(&self) -> BTreeMap<&str, usize> {
        let names = self.asked.iter().enumerate();
        names.map(|(at, name)| (name.as_str(), at)).collect()
    }

    /// Why a request was refused, as the program was told.
    pub(crate) fn refusal(&self, name: &str) -> &str {
        &self.known.failed[name].message
    }

    /// Results of a refresh for resources of this name.
    pub(crate) fn found(&self, name: &str) -> Vec<&'static str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                plumb_events::Event::ResourceOutputs(it) if it.metadata.urn.name() == name => {
                    Some(it.metadata.op.as_str())
                }
                _ => None,
            })
            .collect()
    }

    /// Diagnostics of this severity about resources of this name.
    pub(crate) fn said(&self, severity: Severity, name: &str) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                plumb_events::Event::Diagnostic(it) if it.severity == severity => Some(it),
                _ => None,
            })
            .filter(|it| it.urn.as_ref().is_some_and(|urn| urn.name() == name))
            .map(|it| it.message.trim_end())
            .collect()
    }

    fn callbacks(&self, token: &str) -> impl Iterator<Item = &CallbackRequest> {
        self.effects
            .iter()
            .flatten()
            .filter_map(move |effect| match effect {
                Effect::Callback {
                    callback, request, ..
                } if callback.token == token => Some(request),
                _ => None,
            })
    }

    /// Arguments of each call of the hook of this name.
    pub(crate) fn hooked(&self, name: &str) -> Vec<&HookCall> {
        let hooks = self.callbacks(name).map(|request| match request {
            CallbackRequest::Hook(call) => call.as_ref(),
            other => panic!("{name} was called with {other:?}"),
        });
        hooks.collect()
    }

    /// Arguments of a hook that was called once.
    #[track_caller]
    pub(crate) fn hooked_once(&self, name: &str) -> &HookCall {
        let calls = self.hooked(name);
        assert_eq!(calls.len(), 1, "{name}: {calls:?}");
        calls[0]
    }

    /// Arguments of each call of the error hook of this name.
    pub(crate) fn retried(&self, name: &str) -> Vec<&ErrorHookCall> {
        let hooks = self.callbacks(name).map(|request| match request {
            CallbackRequest::ErrorHook(call) => call.as_ref(),
            other => panic!("{name} was called with {other:?}"),
        });
        hooks.collect()
    }

    /// Counts of the summary, in the order of the operations' names.
    pub(crate) fn counts(&self) -> Vec<(&str, u32)> {
        self.changes
            .iter()
            .map(|(op, count)| (op.as_str(), *count))
            .collect()
    }

    pub(crate) fn reply(&self, name: &str) -> &RegisterReply {
        &self.known.registered[name]
    }
}
