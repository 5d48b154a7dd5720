//! A small world for the core to act on: programs as data, a provider with a cloud in memory, and a driver that picks
//! among everything that could happen next by a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use plumb_deploy::request::{Outcome, RegisterReply, RegisterRequest, Reply, Request};
use plumb_deploy::setup::{Operation, Options, Phase, Setup};
use plumb_deploy::{CallId, Deployment, Effect, Event, ProgramEnd, RequestId};
use plumb_resource::provider::*;
use plumb_resource::{Alias, AliasSpec, ResourceId, ResourceKind, Urn};
use plumb_state::Snapshot;
use plumb_state::journal::{Entry, Fold};
use plumb_value::{PropertyMap, Value};

pub(crate) const STACK: &str = "dev";
pub(crate) const PROJECT: &str = "proj";

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

/// A resource of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Res {
    pub(crate) name: String,
    pub(crate) component: bool,
    pub(crate) parent: Option<String>,
    /// Properties that hold the `value` output of another resource.
    pub(crate) uses: BTreeMap<String, String>,
    pub(crate) depends_on: Vec<String>,
    pub(crate) properties: PropertyMap,
    pub(crate) alias: Option<String>,
    pub(crate) protect: Option<bool>,
    pub(crate) retain: bool,
    pub(crate) deleted_with: Option<String>,
    pub(crate) replace_with: Vec<String>,
    pub(crate) delete_before_replace: Option<bool>,
    pub(crate) ignore_changes: Vec<String>,
    pub(crate) replace_on_changes: Vec<String>,
    pub(crate) import: Option<String>,
}

impl Res {
    pub(crate) fn new(name: &str) -> Self {
        Res {
            name: name.to_owned(),
            ..Res::default()
        }
    }

    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.properties.insert(key, value);
        self
    }

    pub(crate) fn uses(mut self, key: &str, other: &str) -> Self {
        self.uses.insert(key.to_owned(), other.to_owned());
        self
    }

    pub(crate) fn parent(mut self, parent: &str) -> Self {
        self.parent = Some(parent.to_owned());
        self
    }

    fn needs(&self) -> impl Iterator<Item = &String> {
        self.parent
            .iter()
            .chain(self.uses.values())
            .chain(&self.depends_on)
            .chain(&self.deleted_with)
            .chain(&self.replace_with)
    }
}

/// What exists outside, and how calls behave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cloud {
    pub(crate) objects: BTreeMap<String, PropertyMap>,
    next_id: u32,
    /// `(operation, resource name)` that fails, and how.
    pub(crate) failures: BTreeMap<(String, String), Fault>,
    /// Calls in the order of their answers: `op name`.
    pub(crate) calls: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Clean,
    Partial,
}

impl Cloud {
    pub(crate) fn fail(&mut self, operation: &str, name: &str, fault: Fault) {
        self.failures
            .insert((operation.to_owned(), name.to_owned()), fault);
    }

    fn outputs(inputs: &PropertyMap) -> PropertyMap {
        inputs.clone()
    }

    fn answer(&mut self, request: &ProviderCall) -> Result<ProviderReply, ProviderError> {
        let (operation, urn) = match request {
            ProviderCall::CheckConfig(it) => ("checkConfig", &it.urn),
            ProviderCall::DiffConfig(it) => ("diffConfig", &it.urn),
            ProviderCall::Check(it) => ("check", &it.urn),
            ProviderCall::Diff(it) => ("diff", &it.urn),
            ProviderCall::Create(it) => ("create", &it.urn),
            ProviderCall::Read(it) => ("read", &it.urn),
            ProviderCall::Update(it) => ("update", &it.urn),
            ProviderCall::Delete(it) => ("delete", &it.urn),
            other => panic!("the world knows no {other:?}"),
        };
        let name = urn.name().to_owned();
        self.calls.push(format!("{operation} {name}"));
        let fault = self
            .failures
            .get(&(operation.to_owned(), name.clone()))
            .copied();
        if fault == Some(Fault::Clean) {
            return Err(ProviderError::clean(format!(
                "{operation} of {name} failed"
            )));
        }
        match request {
            ProviderCall::CheckConfig(it) => Ok(checked(&it.new_inputs)),
            ProviderCall::Check(it) => Ok(checked(&it.new_inputs)),
            ProviderCall::DiffConfig(_) => {
                Ok(ProviderReply::Diffed(DiffResult::of(DiffChanges::Unknown)))
            }
            ProviderCall::Diff(it) => Ok(ProviderReply::Diffed(difference(
                &it.old_inputs,
                &it.new_inputs,
            ))),
            ProviderCall::Create(it) => Ok(self.create(&name, it, fault)?),
            ProviderCall::Update(it) => Ok(self.update(it, fault)?),
            ProviderCall::Delete(it) => {
                let id = it.id.as_str().to_owned();
                assert!(
                    self.objects.remove(&id).is_some(),
                    "{name}: object {id} is deleted twice"
                );
                Ok(ProviderReply::Deleted)
            }
            ProviderCall::Read(it) => {
                let object = self.objects.get(it.id.as_str());
                Ok(ProviderReply::Read(ReadResponse {
                    id: object.map_or(ResourceId::None, |_| it.id.clone()),
                    inputs: object.map(|object| Arc::new(object.clone())),
                    outputs: object.map(|object| Arc::new(Self::outputs(object))),
                    refresh_before_update: false,
                }))
            }
            other => panic!("the world knows no {other:?}"),
        }
    }

    fn create(
        &mut self,
        name: &str,
        request: &CreateRequest,
        fault: Option<Fault>,
    ) -> Result<ProviderReply, ProviderError> {
        let outputs = Arc::new(Self::outputs(&request.inputs));
        if request.preview {
            let response = CreateResponse {
                id: ResourceId::Unknown,
                outputs,
                refresh_before_update: false,
            };
            return Ok(ProviderReply::Created(response));
        }
        self.next_id += 1;
        let id = format!("{name}-{}", self.next_id);
        self.objects
            .insert(id.clone(), request.inputs.as_ref().clone());
        let id = ResourceId::Known(id.into());
        if fault == Some(Fault::Partial) {
            return Err(partial(id, outputs));
        }
        Ok(ProviderReply::Created(CreateResponse {
            id,
            outputs,
            refresh_before_update: false,
        }))
    }

    fn update(
        &mut self,
        request: &UpdateRequest,
        fault: Option<Fault>,
    ) -> Result<ProviderReply, ProviderError> {
        let outputs = Arc::new(Self::outputs(&request.new_inputs));
        if !request.preview {
            let object = self
                .objects
                .get_mut(request.id.as_str())
                .expect("what is updated exists");
            *object = request.new_inputs.as_ref().clone();
            if fault == Some(Fault::Partial) {
                return Err(partial(request.id.clone(), outputs));
            }
        }
        Ok(ProviderReply::Updated(UpdateResponse {
            outputs,
            refresh_before_update: false,
        }))
    }
}

fn partial(id: ResourceId, outputs: Arc<PropertyMap>) -> ProviderError {
    let failure = PartialFailure {
        id,
        outputs: Some(outputs),
        inputs: None,
        reasons: vec!["not ready".into()],
        refresh_before_update: false,
    };
    ProviderError {
        status: ResourceStatus::Partial(Box::new(failure)),
        ..ProviderError::clean("not ready")
    }
}

fn checked(inputs: &Arc<PropertyMap>) -> ProviderReply {
    ProviderReply::Checked(CheckResponse {
        inputs: Some(inputs.clone()),
        failures: Vec::new(),
    })
}

/// Properties that begin with `r` demand replacement; `dbr` asks for deletion first.
fn difference(old: &PropertyMap, new: &PropertyMap) -> DiffResult {
    let keys: BTreeSet<_> = old
        .keys()
        .chain(new.keys())
        .map(plumb_value::PropertyKey::to_text)
        .collect();
    let changed: Vec<_> = keys
        .into_iter()
        .filter(|key| old.get(key) != new.get(key))
        .collect();
    let changes = if changed.is_empty() {
        DiffChanges::None
    } else {
        DiffChanges::Some
    };
    DiffResult {
        changes,
        replace_keys: changed
            .iter()
            .filter(|key| key.starts_with('r'))
            .cloned()
            .collect(),
        changed_keys: changed,
        delete_before_replace: new.contains_key("dbr"),
        ..DiffResult::of(changes)
    }
}

/// What a run did.
pub(crate) struct Ran {
    pub(crate) snapshot: Snapshot,
    pub(crate) outcome: plumb_deploy::Outcome,
    pub(crate) replies: BTreeMap<String, RegisterReply>,
    pub(crate) log: Vec<(Timestamp, Event)>,
    pub(crate) effects: Vec<Vec<Effect>>,
    pub(crate) changes: BTreeMap<String, u32>,
    pub(crate) errors: Vec<String>,
}

/// One stack with its cloud.
pub(crate) struct World {
    pub(crate) cloud: Cloud,
    pub(crate) snapshot: Snapshot,
    pub(crate) dice: Dice,
}

pub(crate) fn urn(name: &str) -> Urn {
    Urn::new(STACK, PROJECT, "", "test:index:Thing", name)
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        World {
            cloud: Cloud::default(),
            snapshot: Snapshot::default(),
            dice: Dice::new(seed),
        }
    }

    /// Runs an update and keeps the state.
    pub(crate) fn up(&mut self, program: &[Res]) -> Ran {
        self.run(Operation::Update, program, Options::new(Phase::Execute))
    }

    pub(crate) fn destroy(&mut self) -> Ran {
        self.run(Operation::Destroy, &[], Options::new(Phase::Execute))
    }

    pub(crate) fn run(&mut self, operation: Operation, program: &[Res], options: Options) -> Ran {
        let setup = Setup {
            stack: STACK.into(),
            project: PROJECT.into(),
            config: BTreeMap::new(),
            snapshot: self.snapshot.clone(),
            operation,
            options: options.clone(),
            packages: Vec::new(),
            seed: [7; 32],
        };
        let mut run = Run::new(self, setup.clone(), program);
        run.drive();
        let ran = run.end();
        assert_replays(setup, &ran);
        if options.phase == Phase::Execute {
            self.snapshot = ran.snapshot.clone();
        }
        ran
    }
}

/// The same events at the same times must give the same effects.
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

struct Run<'w> {
    world: &'w mut World,
    deployment: Deployment,
    program: Vec<Res>,
    fold: Fold,
    calls: Vec<(CallId, ProviderCall)>,
    asked: BTreeMap<RequestId, String>,
    waiting: BTreeSet<String>,
    replies: BTreeMap<String, RegisterReply>,
    program_runs: bool,
    now: Timestamp,
    log: Vec<(Timestamp, Event)>,
    effects: Vec<Vec<Effect>>,
    outcome: Option<plumb_deploy::Outcome>,
    changes: BTreeMap<String, u32>,
    errors: Vec<String>,
    next_request: u64,
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
            asked: BTreeMap::new(),
            waiting: program.iter().map(|res| res.name.clone()).collect(),
            replies: BTreeMap::new(),
            program_runs: false,
            now: Timestamp::UNIX_EPOCH,
            log: Vec::new(),
            effects: Vec::new(),
            outcome: None,
            changes: BTreeMap::new(),
            errors: Vec::new(),
            next_request: 0,
        }
    }

    fn drive(&mut self) {
        self.event(Event::Start);
        for _ in 0..100_000 {
            if self.outcome.is_some() {
                return;
            }
            let ready = self.ready();
            let can_end = self.program_runs && self.waiting.is_empty() && self.asked.is_empty();
            let choices = ready.len() + self.calls.len() + usize::from(can_end);
            assert!(
                choices > 0,
                "nothing can happen any more: {:?} {:?}",
                self.waiting,
                self.errors
            );
            let choice = self.world.dice.below(choices);
            if choice < ready.len() {
                self.register(&ready[choice]);
            } else if choice < ready.len() + self.calls.len() {
                let (call, request) = self.calls.remove(choice - ready.len());
                let result = self.world.cloud.answer(&request);
                self.event(Event::Answered { call, result });
            } else {
                self.program_runs = false;
                self.event(Event::ProgramEnded(ProgramEnd::Finished));
            }
        }
        panic!("the run does not end");
    }

    /// Resources whose needs have been answered.
    fn ready(&self) -> Vec<String> {
        if !self.program_runs {
            return Vec::new();
        }
        let is_ready = |res: &&Res| {
            self.waiting.contains(&res.name)
                && res.needs().all(|need| self.replies.contains_key(need))
        };
        self.program
            .iter()
            .filter(is_ready)
            .map(|res| res.name.clone())
            .collect()
    }

    fn register(&mut self, name: &str) {
        self.waiting.remove(name);
        let res = self
            .program
            .iter()
            .find(|res| res.name == name)
            .expect("it is in the program")
            .clone();
        let urn_of = |name: &String| self.replies[name].urn.clone();
        let mut properties = res.properties.clone();
        let mut property_dependencies = BTreeMap::new();
        let mut dependencies: Vec<Urn> = res.depends_on.iter().map(urn_of).collect();
        for (key, other) in &res.uses {
            let value = self.replies[other]
                .outputs
                .get("value")
                .cloned()
                .unwrap_or(Value::UNKNOWN);
            properties.insert(key.as_str(), value);
            property_dependencies.insert(key.as_str().into(), vec![urn_of(other)]);
            dependencies.push(urn_of(other));
        }
        for key in properties.keys() {
            property_dependencies.entry(key.clone()).or_default();
        }
        let token = if res.component {
            "test:index:Group"
        } else {
            "test:index:Thing"
        };
        let request = RegisterRequest {
            parent: res.parent.as_ref().map(urn_of),
            properties: Arc::new(properties),
            dependencies,
            property_dependencies,
            aliases: res
                .alias
                .iter()
                .map(|name| {
                    Alias::Spec(AliasSpec {
                        name: Some(name.as_str().into()),
                        ..AliasSpec::default()
                    })
                })
                .collect(),
            protect: res.protect,
            retain_on_delete: Some(res.retain),
            deleted_with: res.deleted_with.as_ref().map(urn_of),
            replace_with: res.replace_with.iter().map(urn_of).collect(),
            delete_before_replace: res.delete_before_replace,
            ignore_changes: res
                .ignore_changes
                .iter()
                .map(|path| path.as_str().into())
                .collect(),
            replace_on_changes: res
                .replace_on_changes
                .iter()
                .map(|path| path.as_str().into())
                .collect(),
            import_id: res.import.clone().unwrap_or_default().into(),
            ..RegisterRequest::new(token, name, !res.component)
        };
        self.next_request += 1;
        let id = RequestId(self.next_request);
        self.asked.insert(id, name.to_owned());
        self.event(Event::Request {
            id,
            request: Request::Register(Box::new(request)),
        });
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
            Effect::Call { call, request, .. } => self.calls.push((call, request)),
            Effect::Reply { id, reply, .. } => {
                let name = self.asked.remove(&id).expect("every reply has its request");
                match reply {
                    Reply::Registered(reply) => {
                        assert!(
                            reply.outcome == Outcome::Success
                                || reply.outcome == Outcome::Failed
                                || reply.outcome == Outcome::Skipped
                        );
                        self.replies.insert(name, reply);
                    }
                    Reply::Failed(_) => {}
                    other => panic!("{name} was answered {other:?}"),
                }
            }
            Effect::Emit(plumb_events::Event::Summary(summary)) => {
                self.changes = summary
                    .resource_changes
                    .iter()
                    .map(|(op, count)| (op.as_str().to_owned(), *count))
                    .collect();
            }
            Effect::Emit(plumb_events::Event::Diagnostic(diagnostic)) => {
                if diagnostic.severity == plumb_events::Severity::Error {
                    self.errors.push(diagnostic.message.trim_end().to_owned());
                }
            }
            Effect::Callback { .. } => panic!("the world's programs have no functions"),
            Effect::Emit(_) | Effect::Provider { .. } => {}
            Effect::StartProgram => self.program_runs = true,
            Effect::Finished(outcome) => self.outcome = Some(outcome),
        }
    }

    /// Every state on the way must be one to go on from.
    fn record(&mut self, entry: Entry) {
        let shown = format!("{entry:?}");
        self.fold.apply(entry).expect("entries fit the state");
        let snapshot = self
            .fold
            .snapshot(self.now, "v0.0.0")
            .expect("the state can be folded");
        if let Err(error) = snapshot.verify() {
            panic!("after {shown}: {error}");
        }
    }

    fn end(self) -> Ran {
        let snapshot = self
            .fold
            .snapshot(self.now, "v0.0.0")
            .expect("the state can be folded");
        let known: BTreeSet<&str> = snapshot
            .resources
            .iter()
            .filter(|state| state.kind == ResourceKind::Custom)
            .map(|state| state.id.as_str())
            .collect();
        for id in self
            .world
            .cloud
            .objects
            .keys()
            .filter(|id| !id.starts_with("kept-"))
        {
            let is_retained = self.program.iter().any(|res| res.retain);
            assert!(
                known.contains(id.as_str()) || is_retained,
                "object {id} is forgotten"
            );
        }
        Ran {
            snapshot,
            outcome: self.outcome.expect("the run has ended"),
            replies: self.replies,
            log: self.log,
            effects: self.effects,
            changes: self.changes,
            errors: self.errors,
        }
    }
}
