//! One run: whatever could happen next is picked by dice, until the core says that it is over.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::Timestamp;
use plumb_deploy::request::{
    Callback, CallbackRequest, Outcome, RegisterOutputsRequest, RegisterReply, Reply, Request,
};
use plumb_deploy::setup::Setup;
use plumb_deploy::{CallId, Deployment, Effect, Event, InstanceId, PackId, ProgramEnd, RequestId};
use plumb_events::Severity;
use plumb_resource::policy::PolicyCall;
use plumb_resource::provider::{ConstructResponse, InvokeResponse, ProviderCall, ProviderReply};
use plumb_resource::{PropertyDependencies, ResourceKind};
use plumb_state::journal::{Entry, EntryKind, Fold};

use super::{Known, Plugins, Ran, Res, What, World};

pub(super) fn run(world: &mut World, setup: Setup, program: &[Res]) -> Ran {
    let mut run = Run::new(world, setup, program);
    run.drive();
    run.end()
}

/// Subject of a request.
#[derive(Clone, Debug)]
enum Asked {
    Item(String),
    Outputs(String),
    Views,
}

struct Run<'w> {
    world: &'w mut World,
    deployment: Deployment,
    program: Vec<Res>,
    fold: Fold,
    calls: Vec<(CallId, InstanceId, ProviderCall)>,
    /// Calls whose provider has told of parts.
    told: BTreeSet<CallId>,
    untold: Vec<String>,
    /// Calls of the program's functions.
    callbacks: Vec<(CallId, Callback, CallbackRequest)>,
    /// Calls of policy packs.
    consultations: Vec<(CallId, PackId, PolicyCall)>,
    awaits_packs: bool,
    plugins: Plugins,
    asked: BTreeMap<RequestId, Asked>,
    waiting: BTreeSet<String>,
    /// Requests so far, in order.
    order: Vec<String>,
    /// Resources that are there and whose outputs are still to be registered.
    outputs: VecDeque<String>,
    known: Known,
    program_runs: bool,
    snippets: BTreeSet<String>,
    answered_calls: usize,
    journaled: u64,
    now: Timestamp,
    log: Vec<(Timestamp, Event)>,
    effects: Vec<Vec<Effect>>,
    events: Vec<plumb_events::Event>,
    outcome: Option<plumb_deploy::Outcome>,
    plan: Option<plumb_state::plan::Plan>,
    next_request: u64,
}

/// An event that may happen next.
enum Next {
    Ask(String),
    RegisterOutputs,
    Answer(usize),
    CallBack(usize),
    LoadPacks,
    Consult(usize),
    EndProgram,
    EndSnippet(String),
    Interrupt,
}

impl<'w> Run<'w> {
    fn new(world: &'w mut World, setup: Setup, program: &[Res]) -> Self {
        let fold = Fold::new(setup.snapshot.clone());
        let deployment = Deployment::new(setup, Timestamp::UNIX_EPOCH).expect("the state is good");
        Run {
            world,
            deployment,
            program: program.to_vec(),
            fold,
            calls: Vec::new(),
            told: BTreeSet::new(),
            untold: Vec::new(),
            callbacks: Vec::new(),
            consultations: Vec::new(),
            awaits_packs: false,
            plugins: Plugins::default(),
            asked: BTreeMap::new(),
            waiting: program.iter().map(|res| res.name.clone()).collect(),
            order: Vec::new(),
            outputs: VecDeque::new(),
            known: Known::default(),
            program_runs: false,
            snippets: BTreeSet::new(),
            answered_calls: 0,
            journaled: 0,
            now: Timestamp::UNIX_EPOCH,
            log: Vec::new(),
            effects: Vec::new(),
            events: Vec::new(),
            outcome: None,
            plan: None,
            next_request: 0,
        }
    }

    fn drive(&mut self) {
        self.event(Event::Start);
        for _ in 0..100_000 {
            if self.outcome.is_some() {
                return;
            }
            let mut choices = self.choices();
            assert!(
                !choices.is_empty(),
                "nothing can happen any more: {:?} {:?}",
                self.waiting,
                self.diagnostics(Severity::Error)
            );
            let choice = self.world.dice.below(choices.len());
            self.happen(choices.swap_remove(choice));
        }
        panic!("the run does not end");
    }

    fn choices(&self) -> Vec<Next> {
        if self.world.interrupt_after == Some(self.answered_calls) {
            return vec![Next::Interrupt];
        }
        let mut choices: Vec<Next> = self.ready().into_iter().map(Next::Ask).collect();
        let is_answerable = |index: &usize| {
            let call = &self.calls[*index].2;
            self.is_built(call) && self.world.cloud.will_answer(call)
        };
        let answerable = (0..self.calls.len()).filter(is_answerable);
        choices.extend(answerable.map(Next::Answer));
        let is_ready = |index: &usize| {
            let awaited = self
                .world
                .patient
                .get(self.callbacks[*index].1.token.as_str());
            awaited.is_none_or(|name| self.known.has(name))
        };
        let callbacks = (0..self.callbacks.len()).filter(is_ready);
        choices.extend(callbacks.map(Next::CallBack));
        choices.extend((0..self.consultations.len()).map(Next::Consult));
        if self.awaits_packs {
            choices.push(Next::LoadPacks);
        }
        if !self.outputs.is_empty() {
            choices.push(Next::RegisterOutputs);
        }
        if self.program_runs && self.is_done(None) && self.outputs.is_empty() {
            choices.push(Next::EndProgram);
        }
        let snippets = self.snippets.iter();
        let done = snippets.filter(|uuid| self.is_done(Some(uuid)));
        choices.extend(done.cloned().map(Next::EndSnippet));
        choices
    }

    /// Whether the program, or a snippet, has been told everything that it asks; a snippet also gives up.
    fn is_done(&self, snippet: Option<&str>) -> bool {
        let belongs = |name: &&str| self.item(name).snippet.as_deref() == snippet;
        let asks = |asked: &Asked| match asked {
            Asked::Item(name) | Asked::Outputs(name) => belongs(&name.as_str()),
            Asked::Views => snippet.is_none(),
        };
        let has_failed = snippet.is_some() && self.failure_of(snippet).is_some();
        let mut waiting = self.waiting.iter().map(String::as_str);
        !self.asked.values().any(asks) && (has_failed || !waiting.any(|name| belongs(&name)))
    }

    fn failure_of(&self, snippet: Option<&str>) -> Option<String> {
        let mut failed = self.known.failed.iter();
        let own = failed.find(|(name, _)| self.item(name).snippet.as_deref() == snippet);
        own.map(|(_, error)| error.to_string())
    }

    fn happen(&mut self, next: Next) {
        match next {
            Next::Ask(name) => self.ask(&name),
            Next::RegisterOutputs => self.register_outputs(),
            Next::Answer(index) if self.tell_views(index) => {}
            Next::Answer(index) => {
                let (call, instance, request) = self.calls.remove(index);
                self.world.cloud.built = self.built(&request);
                let configuration = self.plugins.configuration(instance);
                let result = self.world.cloud.answer(&request, configuration);
                self.answered_calls += 1;
                self.event(Event::Answered { call, result });
            }
            Next::CallBack(index) => {
                let (call, callback, request) = self.callbacks.remove(index);
                let result = self.world.call_function(&callback.token, &request);
                self.event(Event::CalledBack { call, result });
            }
            Next::LoadPacks => {
                self.awaits_packs = false;
                let packs = self.world.packs.iter().map(|pack| pack.info.clone());
                let result = match &self.world.packs_fail {
                    Some(message) => Err(message.clone()),
                    None => Ok(packs.collect()),
                };
                self.event(Event::PoliciesLoaded(result));
            }
            Next::Consult(index) => {
                let (call, pack, request) = self.consultations.remove(index);
                let result = self.world.packs[pack.0 as usize].answer(&request);
                self.event(Event::PolicyAnswered { call, result });
            }
            Next::EndProgram => {
                self.program_runs = false;
                self.event(Event::ProgramEnded(self.world.ending.clone()));
            }
            Next::EndSnippet(uuid) => {
                self.snippets.remove(&uuid);
                let end = match self.failure_of(Some(&uuid)) {
                    Some(message) => ProgramEnd::Failed { message },
                    None => ProgramEnd::Finished,
                };
                let uuid = uuid.into();
                self.event(Event::SnippetEnded { uuid, end });
            }
            Next::Interrupt => {
                self.world.interrupt_after = None;
                self.event(Event::Interrupted);
            }
        }
    }

    /// Before its answer a provider tells of parts of the resource, if it has any.
    fn tell_views(&mut self, index: usize) -> bool {
        let (call, _, request) = &self.calls[index];
        let (call, steps) = (*call, self.world.cloud.view_steps(request));
        if steps.is_empty() || !self.told.insert(call) {
            return false;
        }
        self.send(Asked::Views, Request::PublishViewSteps { call, steps });
        true
    }

    /// Items whose needs have been answered.
    fn ready(&self) -> Vec<String> {
        let runs = |res: &Res| match &res.snippet {
            None => self.program_runs,
            Some(uuid) => self.snippets.contains(uuid) && self.failure_of(Some(uuid)).is_none(),
        };
        let is_ready = |res: &&Res| {
            runs(res)
                && self.waiting.contains(&res.name)
                && res.needs().all(|need| self.known.has(need))
        };
        self.program
            .iter()
            .filter(is_ready)
            .map(|res| res.name.clone())
            .collect()
    }

    fn item(&self, name: &str) -> &Res {
        self.program
            .iter()
            .find(|res| res.name == name)
            .expect("it is in the program")
    }

    fn ask(&mut self, name: &str) {
        self.waiting.remove(name);
        self.order.push(name.to_owned());
        let request = self.item(name).request(&self.known);
        self.send(Asked::Item(name.to_owned()), request);
    }

    fn register_outputs(&mut self) {
        let Some(name) = self.outputs.pop_front() else {
            return;
        };
        let outputs = self.item(&name).outputs.clone().unwrap_or_default();
        let request = RegisterOutputsRequest {
            urn: self.known.urn(&name),
            outputs: outputs.into(),
        };
        self.send(Asked::Outputs(name), Request::RegisterOutputs(request));
    }

    fn send(&mut self, asked: Asked, request: Request) {
        self.next_request += 1;
        let id = RequestId(self.next_request);
        self.asked.insert(id, asked);
        self.event(Event::Request { id, request });
    }

    fn event(&mut self, event: Event) {
        self.now = self
            .now
            .checked_add(jiff::SignedDuration::from_millis(1))
            .expect("time goes on");
        self.log.push((self.now, event.clone()));
        let effects = self.deployment.handle(self.now, event);
        self.effects.push(effects.clone());
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Journal(entry) => self.record(entry),
            Effect::Touch { base } => self
                .fold
                .touch(base)
                .expect("what is touched is in the base"),
            Effect::Call {
                call,
                instance,
                request,
                fence,
            } => {
                assert!(
                    fence.entries() <= self.journaled,
                    "a fence nobody will reach: {request:?}"
                );
                self.plugins.called(instance, &request);
                self.start_building(&request);
                self.calls.push((call, instance, request));
            }
            Effect::Callback {
                call,
                callback,
                request,
                fence,
            } => {
                assert!(
                    fence.entries() <= self.journaled,
                    "a fence nobody will reach: {request:?}"
                );
                self.callbacks.push((call, callback, request));
            }
            Effect::Reply { id, reply, fence } => {
                assert!(
                    fence.entries() <= self.journaled,
                    "a fence nobody will reach: {reply:?}"
                );
                self.replied(id, reply);
            }
            Effect::Emit(event) => self.events.push(event),
            Effect::Provider { instance, action } => self.plugins.act(instance, action),
            Effect::LoadPolicies => self.awaits_packs = true,
            Effect::AskPolicy {
                call,
                pack,
                request,
            } => self.consultations.push((call, pack, request)),
            Effect::StartProgram => self.program_runs = true,
            Effect::StartSnippet(snippet) => {
                self.snippets.insert(snippet.uuid.to_string());
            }
            Effect::Planned(plan) => self.plan = Some(plan),
            Effect::Milestone(_) => {}
            Effect::Finished(outcome) => self.outcome = Some(outcome),
        }
    }

    fn replied(&mut self, id: RequestId, reply: Reply) {
        let asked = self.asked.remove(&id).expect("every reply has its request");
        let name = match asked {
            Asked::Item(name) => name,
            Asked::Outputs(name) => {
                self.known.done.insert(name);
                return;
            }
            Asked::Views => {
                if let Reply::Failed(error) = reply {
                    self.untold.push(error.message.to_string());
                }
                return;
            }
        };
        match reply {
            Reply::Registered(reply) => {
                self.known.registered.insert(name.clone(), reply);
                if self.item(&name).outputs.is_some() {
                    self.outputs.push_back(name);
                }
            }
            Reply::Read(reply) => {
                self.known.read.insert(name, reply);
            }
            Reply::Awaited(found) => {
                let reply = RegisterReply {
                    urn: found.urn,
                    id: found.id,
                    outputs: found.outputs,
                    property_dependencies: PropertyDependencies::new(),
                    outcome: Outcome::Success,
                    unknown: found.unknown,
                };
                self.known.registered.insert(name, reply);
            }
            Reply::Invoked(reply) => {
                self.known.invoked.insert(name, reply);
            }
            Reply::Failed(error) => {
                self.known.failed.insert(name, error);
            }
            Reply::Package(reference) => {
                self.known.packages.insert(name, reference);
            }
            Reply::Done => {
                self.known.done.insert(name);
            }
        }
    }

    /// Request of the program that this call answers, if the provider registers resources for it.
    fn builder(&self, request: &ProviderCall) -> Option<&Res> {
        let found = match request {
            ProviderCall::Construct(it) => self
                .program
                .iter()
                .find(|res| res.what == What::Remote && res.own_name() == it.goal.name),
            ProviderCall::Call(it) => self
                .program
                .iter()
                .find(|res| matches!(&res.what, What::Method(token) if token == it.token.as_str())),
            _ => None,
        };
        found.filter(|res| !res.builds.is_empty())
    }

    /// A provider begins to register what is in a component.
    fn start_building(&mut self, request: &ProviderCall) {
        let items = self.builder(request).map(|res| {
            let of_same = |item: &Res| Res {
                snippet: res.snippet.clone(),
                ..item.clone()
            };
            res.builds.iter().map(of_same).collect::<Vec<_>>()
        });
        for item in items.into_iter().flatten() {
            self.waiting.insert(item.name.clone());
            self.program.push(item);
        }
    }

    /// Whether everything is registered that a call registers before it answers.
    fn is_built(&self, request: &ProviderCall) -> bool {
        let is_there = |item: &Res| {
            let has_outputs = item.outputs.is_none() || self.known.done.contains(&item.name);
            self.known.has(&item.name) && has_outputs
        };
        self.builder(request)
            .is_none_or(|res| res.builds.iter().all(is_there))
    }

    /// Answer of a provider that has registered everything: the outputs of the first resource, which is the component.
    fn built(&self, request: &ProviderCall) -> Option<ProviderReply> {
        let first = self.builder(request)?.builds.first()?;
        let outputs = first.outputs.clone().unwrap_or_default().into();
        Some(match request {
            ProviderCall::Construct(_) => ProviderReply::Constructed(ConstructResponse {
                urn: self.known.urn(&first.name),
                outputs,
                dependencies: PropertyDependencies::new(),
            }),
            _ => ProviderReply::Invoked(InvokeResponse {
                result: outputs,
                failures: Vec::new(),
                dependencies: PropertyDependencies::new(),
            }),
        })
    }

    /// Every state on the way must be one to go on from.
    fn record(&mut self, entry: Entry) {
        self.journaled += 1;
        let is_intent = matches!(entry.kind, EntryKind::Begin { .. });
        let shown = format!("{entry:?}");
        self.fold.apply(entry).expect("entries fit the state");
        if is_intent {
            // Changes nothing but the list of pending operations.
            return;
        }
        let snapshot = self
            .fold
            .snapshot(self.now, "v0.0.0")
            .expect("the state can be folded");
        if let Err(error) = snapshot.verify() {
            panic!("after {shown}: {error}");
        }
        let has_owner = |view: &plumb_resource::ResourceState| {
            let mut states = snapshot.resources.iter();
            let owner = view.view_of.as_ref();
            owner.is_none_or(|owner| states.any(|state| state.urn == *owner))
        };
        for view in &snapshot.resources {
            assert!(has_owner(view), "after {shown}: {} is alone", view.urn);
        }
    }

    fn diagnostics(&self, severity: Severity) -> Vec<String> {
        self.events
            .iter()
            .filter_map(|event| match event {
                plumb_events::Event::Diagnostic(it) if it.severity == severity => {
                    Some(it.message.trim_end().to_owned())
                }
                _ => None,
            })
            .collect()
    }

    /// Objects that were retained, or that nobody heard of, have no state; all others must have one.
    fn check_nothing_is_forgotten(&mut self, snapshot: &plumb_state::Snapshot) {
        let known: BTreeSet<&str> = snapshot
            .resources
            .iter()
            .filter(|state| state.kind == ResourceKind::Custom)
            .map(|state| state.id.as_str())
            .collect();
        // What goes with something else goes without a call.
        let gone: Vec<String> = self
            .world
            .snapshot
            .resources
            .iter()
            .filter(|state| state.deleted_with.is_some() && !known.contains(state.id.as_str()))
            .map(|state| state.id.as_str().to_owned())
            .collect();
        self.world.cloud.objects.retain(|id, _| !gone.contains(id));
        let is_retained = self.program.iter().any(|res| res.retain);
        for id in self.world.cloud.owned() {
            assert!(
                known.contains(id) || is_retained,
                "object {id} is forgotten"
            );
        }
    }

    fn end(mut self) -> Ran {
        let snapshot = self
            .fold
            .snapshot(self.now, "v0.0.0")
            .expect("the state can be folded");
        self.check_nothing_is_forgotten(&snapshot);
        let errors = self.diagnostics(Severity::Error);
        let warnings = self.diagnostics(Severity::Warning);
        let mut changes = BTreeMap::new();
        for event in &self.events {
            if let plumb_events::Event::Summary(summary) = event {
                let counts = summary.resource_changes.iter();
                changes = counts
                    .map(|(op, count)| (op.as_str().to_owned(), *count))
                    .collect();
            }
        }
        Ran {
            snapshot,
            outcome: self.outcome.expect("the run has ended"),
            known: self.known,
            log: self.log,
            effects: self.effects,
            events: self.events,
            plan: self.plan,
            changes,
            errors,
            warnings,
            plugins: self.plugins,
            untold: self.untold,
            asked: self.order,
        }
    }
}
