//! The driver: performs what the core asks for against the pretend cloud, in an order that a seed picks among all that
//! are legal, and keeps the journal.

mod calls;
pub(crate) mod functions;
pub(crate) mod hooks;
mod journal;
pub(crate) mod methods;
mod naming;
pub(crate) mod packs;
mod plugins;
mod requests;
mod run;
pub(crate) mod snippets;
pub(crate) mod views;

pub(crate) use requests::alias;
pub use run::Planning;
pub(crate) use run::others::has_hooks;

use std::collections::BTreeMap;

use ecow::EcoString;
use jiff::Timestamp;
use plumb_deploy::request::{CallbackRequest, Outcome};
use plumb_deploy::setup::{
    ImportSpec, ImportSubject, Operation as CoreOperation, Options, Phase, Setup,
};
use plumb_deploy::target::UrnSet;
use plumb_deploy::{Effect, Event, Milestone};
use plumb_events::{Diagnostic, OperationResult, PolicyRemediation, PolicyViolation, Summary};
use plumb_resource::provider::{CallRequest, PluginSpec, ProviderCall};
use plumb_resource::{PropertyDependencies, ProviderRef, ResourceId, StepOp, Urn, ViewStep};
use plumb_state::Snapshot;
use plumb_state::plan::Plan;
use plumb_value::{PropertyMap, Value};
use rustc_hash::FxHashMap;

use crate::cloud::Cloud;
use crate::story::{Incident, Operation, PROJECT, STACK, Verb, package_of, token_of};

/// One stack with its cloud.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// What exists.
    pub cloud: Cloud,
    /// What the state says.
    pub snapshot: Snapshot,
    /// Number of operations so far; ids of providers follow from it.
    pub operations: u64,
}

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {what}")]
pub struct Violation {
    /// Which rule is broken.
    pub rule: &'static str,
    /// How.
    pub what: String,
}

impl Violation {
    /// A violation of `rule`.
    pub fn new(rule: &'static str, what: impl Into<String>) -> Self {
        Violation {
            rule,
            what: what.into(),
        }
    }
}

/// A reply to a registration or a read.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// URN of the resource.
    pub urn: Urn,
    /// Its id.
    pub id: ResourceId,
    /// Its outputs.
    pub outputs: std::sync::Arc<PropertyMap>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it was left out.
    pub unknown: bool,
}

impl Answer {
    /// An output as the program sees it.
    pub fn output(&self, key: &str, is_preview: bool) -> Value {
        let missing = if is_preview || self.unknown {
            Value::UNKNOWN
        } else {
            Value::Null
        };
        self.outputs.get(key).cloned().unwrap_or(missing)
    }
}

/// What a method answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    /// The answer.
    pub result: std::sync::Arc<PropertyMap>,
    /// Which resources each part of it depends on.
    pub dependencies: PropertyDependencies,
}

impl Answered {
    /// A part of the answer as the program sees it.
    pub fn value(&self, key: &str, is_preview: bool) -> Value {
        let missing = if is_preview {
            Value::UNKNOWN
        } else {
            Value::Null
        };
        self.result.get(key).cloned().unwrap_or(missing)
    }

    /// The resources that a part of the answer depends on.
    pub fn urns(&self, key: &str) -> Vec<Urn> {
        let urns = self.dependencies.get(key);
        urns.into_iter().flatten().cloned().collect()
    }
}

/// A call of a method, as a provider got it.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// The call.
    pub request: CallRequest,
    /// The provider that got it.
    pub server: Option<ProviderRef>,
}

/// A call that changes something.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    /// `create`, `update` or `delete`.
    pub call: &'static str,
    /// The resource.
    pub urn: Urn,
    /// Id of the object; of creations, none.
    pub id: EcoString,
    /// Inputs of the object; of deletions, none.
    pub inputs: PropertyMap,
}

/// A step as events tell of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// The resource.
    pub urn: Urn,
    /// What is done.
    pub op: StepOp,
    /// Id of the old state, if there is one.
    pub old_id: Option<EcoString>,
    /// Whether a provider manages the resource.
    pub is_custom: bool,
    /// Whether events told of its end.
    pub has_end: bool,
}

/// A snippet waits for a resource of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Await {
    /// The snippet.
    pub snippet: String,
    /// Name of the resource.
    pub name: String,
    /// What the snippet calls it.
    pub urn: Urn,
}

/// Why a snippet cannot have what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Nobody registers it.
    Nobody,
    /// It failed.
    Failed,
}

/// What becomes of the step of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViewMoment {
    /// It is announced.
    Began,
    /// It was done.
    Ended,
    /// It failed, or its owner did.
    Failed,
}

/// What happened, in the order in which it did.
#[derive(Clone, Debug, PartialEq)]
pub enum Moment {
    /// The core took a decision.
    Milestone(Milestone),
    /// The step of this number began.
    Began(usize),
    /// It was done.
    Ended(usize),
    /// It failed.
    Failed(usize),
    /// A hook before the step of this number let it pass.
    Readied(usize),
    /// Hooks had the call of the step of this number made again, which had failed.
    Again(usize),
    /// A hook after a step failed.
    HookFailed,
    /// While the step of this number is under way its provider tells of steps of views.
    Tells(usize, Vec<ViewStep>),
    /// It was heard; or it was not, because others have the names of the views.
    Heard(bool),
    /// Something is shown of the step of a view.
    View(ViewMoment, Urn, StepOp),
    /// The outputs of the resource of this name were sent.
    OutputsSent(String),
    /// They were taken.
    Outputs(String),
    /// Policy packs were loaded.
    PacksLoaded,
    /// The snippet of this uuid was started.
    SnippetStarted(String),
    /// A snippet began to wait.
    Awaits(Await),
    /// It was told what it waited for.
    Awaited(Await, Result<Answer, Lack>),
    /// The snippet of this uuid came to its end.
    SnippetEnded(String),
    /// A registration of this name was refused.
    Refused(String),
    /// A provider, this one, was asked for the function of this number.
    Asked(usize, Option<ProviderRef>),
    /// It was not, because something that the function needs does not exist.
    NotAsked(usize),
    /// It was not, because the provider cannot be configured yet.
    NobodyToAsk(usize),
    /// A provider was asked to call the method of this name.
    Called(String),
    /// It was not, because the provider cannot be configured yet.
    CalledNobody(String),
    /// It was not, because there is no provider.
    CallRefused(String),
    /// The program came to its end.
    ProgramFinished,
}

/// A call of others.
#[derive(Clone, Debug)]
pub enum Made {
    /// Of a provider.
    Provider(ProviderCall),
    /// Of the function of the program that has this name.
    Callback(EcoString, CallbackRequest),
}

/// What a policy pack found.
#[derive(Clone, Debug)]
pub enum Finding {
    /// Something against a policy.
    Violation(PolicyViolation),
    /// Something that it changed.
    Remediation(PolicyRemediation),
}

/// What happened in a run.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Steps in the order in which they began.
    pub steps: Vec<StepRecord>,
    /// Calls that changed something, in the order in which they were sent.
    pub mutations: Vec<Mutation>,
    /// Everything that later decisions may depend on.
    pub moments: Vec<Moment>,
    /// Replies by name.
    pub answers: BTreeMap<String, Answer>,
    /// What snippets were told, by name.
    pub told: BTreeMap<String, Answer>,
    /// References of packages, by name.
    pub packages: BTreeMap<String, EcoString>,
    /// Calls of methods, by name.
    pub calls: BTreeMap<String, Called>,
    /// What methods answered, by name.
    pub results: BTreeMap<String, Answered>,
    /// Ids of the providers that the run created.
    pub provider_ids: FxHashMap<Urn, EcoString>,
    /// Errors that were shown.
    pub errors: Vec<String>,
    /// The summary.
    pub summary: Option<Summary>,
    /// How it ended; `None` when it was cut off.
    pub outcome: Option<plumb_deploy::Outcome>,
    /// Whether the program came to its end.
    pub program_finished: bool,
    /// Whether the program failed.
    pub program_failed: bool,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// Whether the journal broke.
    pub journal_failed: bool,
    /// The event log.
    pub log: Vec<(Timestamp, Event)>,
    /// The plan that it made.
    pub plan: Option<Plan>,
    /// What the core answered to each event.
    pub effects: Vec<Vec<Effect>>,
    /// Calls of providers and of functions of the program with everything that they say, in a run whose order is fixed.
    pub made: Vec<Made>,
    /// What functions of providers answered, and whether that was nothing because something does not exist yet, in a run
    /// whose order is fixed.
    pub asked: BTreeMap<usize, (std::sync::Arc<PropertyMap>, bool)>,
    /// What policy packs found, in a run whose order is fixed.
    pub findings: Vec<Finding>,
    /// Diagnostics, in a run whose order is fixed.
    pub diagnostics: Vec<Diagnostic>,
    /// Steps that were shown to have failed, in a run whose order is fixed.
    pub failures: Vec<(Urn, StepOp)>,
    /// The state at the end.
    pub after: Snapshot,
}

impl Trace {
    /// How the run ended.
    pub fn result(&self) -> Option<OperationResult> {
        self.outcome.as_ref().map(|outcome| outcome.result)
    }

    /// Steps in the order in which they began, those of views among them.
    pub(crate) fn begun(&self) -> impl Iterator<Item = (StepOp, &Urn)> {
        self.moments.iter().filter_map(|moment| match moment {
            Moment::Began(number) => {
                let step = &self.steps[*number];
                Some((step.op, &step.urn))
            }
            Moment::View(ViewMoment::Began, urn, op) => Some((*op, urn)),
            _ => None,
        })
    }

    /// Whether the model can follow the run: not where it was cut off, nor where a plugin refused an extension, for which
    /// others' calls may have waited. What is left is checked all the same.
    pub(crate) fn can_be_followed(&self) -> bool {
        let is_refused = self.errors.iter().any(|error| error == plugins::REFUSED);
        self.outcome.is_some() && !self.journal_failed && !is_refused
    }

    /// Its steps, as they are told to people.
    pub fn steps_told(&self) -> String {
        let steps = self.steps.iter();
        let steps: Vec<String> = steps
            .map(|step| format!("{} {}", step.op.as_str(), step.urn.name()))
            .collect();
        steps.join(", ")
    }
}

impl World {
    /// What happens between operations.
    pub fn before(&mut self, operation: &Operation) {
        self.cloud.forget_failures();
        for incident in &operation.before {
            match incident {
                Incident::Protect(name) => self.edit(name, |state| state.protect = true),
                Incident::Unprotect(name) => self.edit(name, |state| state.protect = false),
                Incident::Taint(name) => self.edit(name, |state| {
                    if state.kind == plumb_resource::ResourceKind::Custom && !state.external {
                        state.taint = true;
                    }
                }),
                Incident::ClearPending => self.snapshot.pending_operations.clear(),
                Incident::Drift(name, value) => {
                    for id in self.ids_of(name) {
                        self.cloud.drift(&id, value);
                    }
                }
                Incident::Vanish(name) => {
                    for id in self.ids_of(name) {
                        self.cloud.vanish(&id);
                    }
                }
            }
        }
    }

    fn edit(&mut self, name: &str, change: impl Fn(&mut plumb_resource::ResourceState)) {
        for state in &mut self.snapshot.resources {
            if state.urn.name() == name && !state.delete {
                change(std::sync::Arc::make_mut(state));
            }
        }
    }

    fn ids_of(&self, name: &str) -> Vec<EcoString> {
        let states = self.snapshot.resources.iter();
        states
            .filter(|state| state.urn.name() == name && !state.delete)
            .filter(|state| state.kind == plumb_resource::ResourceKind::Custom)
            .map(|state| state.id.as_str().into())
            .collect()
    }

    /// URNs that a name on the command line stands for: those in the state and the one that the program gives it.
    pub fn urns_of(&self, operation: &Operation, names: &[String]) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for name in names {
            if name.contains('*') {
                texts.push(name.clone());
                continue;
            }
            let states = self.snapshot.resources.iter();
            let mut urns: Vec<String> = states
                .filter(|state| state.urn.name() == name)
                .map(|state| state.urn.to_string())
                .collect();
            if operation.verb == Verb::Up {
                let res = operation.program.get(name);
                urns.extend(res.map(|res| operation.program.urn_of(res).to_string()));
            }
            if urns.is_empty() {
                urns.push(format!(
                    "urn:pulumi:{STACK}::{PROJECT}::test:m:Thing::{name}"
                ));
            }
            urns.sort();
            urns.dedup();
            texts.extend(urns);
        }
        texts
    }

    /// What the core is given for an operation.
    pub fn setup(&self, operation: &Operation) -> Setup {
        let flags = &operation.flags;
        let set = |names: &[String]| UrnSet::new(self.urns_of(operation, names));
        let phase = if operation.preview {
            Phase::Preview
        } else {
            Phase::Execute
        };
        let options = Options {
            parallel: operation.parallel,
            refresh: flags.refresh,
            run_program: flags.run_program,
            targets: set(&flags.targets),
            target_dependents: flags.target_dependents,
            excludes: set(&flags.excludes),
            exclude_dependents: flags.exclude_dependents,
            replace_targets: set(&flags.replace),
            continue_on_error: flags.continue_on_error,
            ignore_protect: flags.ignore_protect,
            legacy_diff: flags.legacy_diff,
            legacy_refresh_diff: flags.legacy_refresh_diff,
            naming: naming::rules(flags.naming.as_ref()),
            has_policies: !flags.policies.is_empty(),
            target_snippets: flags
                .target_snippets
                .iter()
                .map(|it| it.as_str().into())
                .collect(),
            snippet_changes: snippets::changes(&self.snapshot.snippets, operation),
            tells_milestones: true,
            ..Options::new(phase)
        };
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.operations.to_le_bytes());
        let config = operation.program.config.iter();
        Setup {
            stack: STACK.into(),
            project: PROJECT.into(),
            config: config
                .map(|(key, value)| (key.as_str().into(), Value::from(value.as_str())))
                .collect(),
            snapshot: self.snapshot.clone(),
            operation: core_operation(operation),
            options,
            packages: Vec::new(),
            seed,
            plan: None,
        }
    }
}

fn core_operation(operation: &Operation) -> CoreOperation {
    match operation.verb {
        Verb::Up => CoreOperation::Update,
        Verb::Refresh => CoreOperation::Refresh,
        Verb::Destroy => CoreOperation::Destroy,
        Verb::Import => CoreOperation::Import(
            operation
                .imports
                .iter()
                .map(|import| ImportSpec {
                    type_token: token_of(&import.type_name).into(),
                    name: import.name.as_str().into(),
                    subject: ImportSubject::Object {
                        id: import.id.as_str().into(),
                    },
                    parent: None,
                    provider: None,
                    plugin: PluginSpec::named(package_of(&import.type_name)),
                    extension: None,
                    protect: false,
                    properties: Vec::new(),
                    inputs: None,
                    outputs: None,
                })
                .collect(),
        ),
    }
}
