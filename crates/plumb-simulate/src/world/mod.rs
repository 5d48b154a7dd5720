//! Driver of the core: executes its effects on the simulated cloud, in an order that a seed picks among the legal ones,
//! and keeps the journal.

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

/// A stack with its cloud.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Simulated cloud.
    pub cloud: Cloud,
    /// State of the stack.
    pub snapshot: Snapshot,
    /// Number of operations so far, from which ids of providers are derived.
    pub operations: u64,
}

/// Violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {what}")]
pub struct Violation {
    /// Name of the rule.
    pub rule: &'static str,
    /// Description of the violation.
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

/// Reply to a registration or a read.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// URN of the resource.
    pub urn: Urn,
    /// Id of the resource.
    pub id: ResourceId,
    /// Outputs of the resource.
    pub outputs: std::sync::Arc<PropertyMap>,
    /// Result of the registration.
    pub outcome: Outcome,
    /// Whether the resource was skipped, so that its outputs are unknown.
    pub unknown: bool,
}

impl Answer {
    /// Output as the program sees it.
    pub fn output(&self, key: &str, is_preview: bool) -> Value {
        let missing = if is_preview || self.unknown {
            Value::UNKNOWN
        } else {
            Value::Null
        };
        self.outputs.get(key).cloned().unwrap_or(missing)
    }

    /// Id in references to the resource: in a preview, SDKs know no id of a resource with one that was left out.
    pub(crate) fn id_in_reference(&self, is_component: bool, is_preview: bool) -> ResourceId {
        if self.id == ResourceId::None && !is_component && is_preview {
            ResourceId::Unknown
        } else {
            self.id.clone()
        }
    }
}

/// Result of a method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    /// Properties of the result.
    pub result: std::sync::Arc<PropertyMap>,
    /// For each property, the resources that it depends on.
    pub dependencies: PropertyDependencies,
}

impl Answered {
    /// Property of the result as the program sees it.
    pub fn value(&self, key: &str, is_preview: bool) -> Value {
        let missing = if is_preview {
            Value::UNKNOWN
        } else {
            Value::Null
        };
        self.result.get(key).cloned().unwrap_or(missing)
    }

    /// Resources that a property of the result depends on.
    pub fn urns(&self, key: &str) -> Vec<Urn> {
        let urns = self.dependencies.get(key);
        urns.into_iter().flatten().cloned().collect()
    }
}

/// A call of a method on a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// The call.
    pub request: CallRequest,
    /// The provider that got it.
    pub server: Option<ProviderRef>,
}

/// A call that changes an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    /// `create`, `update` or `delete`.
    pub call: &'static str,
    /// The resource.
    pub urn: Urn,
    /// Id of the object; empty for creations.
    pub id: EcoString,
    /// Inputs of the object; empty for deletions.
    pub inputs: PropertyMap,
}

/// A step in the order of engine events.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// The resource.
    pub urn: Urn,
    /// Kind of step.
    pub op: StepOp,
    /// Id of the old state, if there is one.
    pub old_id: Option<EcoString>,
    /// Whether the resource is managed by a provider.
    pub is_custom: bool,
    /// Whether an event reported its end.
    pub has_end: bool,
}

/// A snippet that waits for a resource of another source.
#[derive(Clone, Debug, PartialEq)]
pub struct Await {
    /// UUID of the snippet.
    pub snippet: String,
    /// Name of the resource.
    pub name: String,
    /// URN by which the snippet refers to the resource.
    pub urn: Urn,
}

/// Reason why a snippet cannot have a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// No source registers the resource.
    Nobody,
    /// The resource failed.
    Failed,
}

/// Event in the step of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViewMoment {
    /// The step began.
    Began,
    /// The step succeeded.
    Ended,
    /// The step or that of its owner failed.
    Failed,
}

/// An event in the history of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Moment {
    /// A decision of the core.
    Milestone(Milestone),
    /// Start of the step with this number.
    Began(usize),
    /// Success of the step with this number.
    Ended(usize),
    /// Failure of the step with this number.
    Failed(usize),
    /// Success of the before hooks of the step with this number.
    Readied(usize),
    /// Retry of the failed call in the step with this number, requested by hooks.
    Again(usize),
    /// Failure of an after hook.
    HookFailed,
    /// Report of view steps by the provider during the step with this number.
    Tells(usize, Vec<ViewStep>),
    /// Acceptance of such a report; false if views of other owners have the same URNs.
    Heard(bool),
    /// Display of a view step.
    View(ViewMoment, Urn, StepOp),
    /// Registration of outputs was requested for the resource with this name.
    OutputsSent(String),
    /// Registration of outputs was completed.
    Outputs(String),
    /// Policy packs were loaded.
    PacksLoaded,
    /// Start of the snippet with this UUID.
    SnippetStarted(String),
    /// Start of a snippet's wait.
    Awaits(Await),
    /// End of a snippet's wait.
    Awaited(Await, Result<Answer, Lack>),
    /// End of the snippet with this UUID.
    SnippetEnded(String),
    /// Refusal of the registration with this name.
    Refused(String),
    /// Call of the function with this number on this provider.
    Asked(usize, Option<ProviderRef>),
    /// No call of the function with this number, because a resource that it depends on does not exist.
    NotAsked(usize),
    /// No call of the function with this number, because the provider cannot be configured yet.
    NobodyToAsk(usize),
    /// Call of the method with this name on a provider.
    Called(String),
    /// No call of the method with this name, because the provider cannot be configured yet.
    CalledNobody(String),
    /// No call of the method with this name, because there is no provider.
    CallRefused(String),
    /// End of the program.
    ProgramFinished,
}

/// A call of a plugin or of the program.
#[derive(Clone, Debug)]
pub enum Made {
    /// Call of a provider.
    Provider(ProviderCall),
    /// Call of the program's function with this name.
    Callback(EcoString, CallbackRequest),
}

/// Finding of a policy pack.
#[derive(Clone, Debug)]
pub enum Finding {
    /// A violation of a policy.
    Violation(PolicyViolation),
    /// A remediation.
    Remediation(PolicyRemediation),
}

/// History of a run.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Steps, in the order in which they began.
    pub steps: Vec<StepRecord>,
    /// Calls that changed objects, in the order in which they were sent.
    pub mutations: Vec<Mutation>,
    /// Events on which later decisions may depend.
    pub moments: Vec<Moment>,
    /// Replies by name.
    pub answers: BTreeMap<String, Answer>,
    /// Replies to snippets, by name.
    pub told: BTreeMap<String, Answer>,
    /// Package references, by name.
    pub packages: BTreeMap<String, EcoString>,
    /// Calls of methods, by name.
    pub calls: BTreeMap<String, Called>,
    /// Results of methods, by name.
    pub results: BTreeMap<String, Answered>,
    /// Ids of the providers created in the run.
    pub provider_ids: FxHashMap<Urn, EcoString>,
    /// Displayed errors.
    pub errors: Vec<String>,
    /// Summary of the run.
    pub summary: Option<Summary>,
    /// Outcome; `None` if the run was cut off.
    pub outcome: Option<plumb_deploy::Outcome>,
    /// Whether the program ended.
    pub program_finished: bool,
    /// Whether the program failed.
    pub program_failed: bool,
    /// Whether the user interrupted the run.
    pub interrupted: bool,
    /// Whether the journal failed.
    pub journal_failed: bool,
    /// The event log.
    pub log: Vec<(Timestamp, Event)>,
    /// Plan made by a preview.
    pub plan: Option<Plan>,
    /// Effects of the core for each event.
    pub effects: Vec<Vec<Effect>>,
    /// Calls of providers and of functions of the program with all fields; only in a run in fixed order.
    pub made: Vec<Made>,
    /// Results of provider functions, and whether they are unknown because a resource does not exist yet; only in a run
    /// in fixed order.
    pub asked: BTreeMap<usize, (std::sync::Arc<PropertyMap>, bool)>,
    /// Findings of policy packs; only in a run in fixed order.
    pub findings: Vec<Finding>,
    /// Diagnostics; only in a run in fixed order.
    pub diagnostics: Vec<Diagnostic>,
    /// Failed steps in events; only in a run in fixed order.
    pub failures: Vec<(Urn, StepOp)>,
    /// State at the end.
    pub after: Snapshot,
}

impl Trace {
    /// Result of the run.
    pub fn result(&self) -> Option<OperationResult> {
        self.outcome.as_ref().map(|outcome| outcome.result)
    }

    /// Steps in the order in which they began, including those of views.
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

    /// Whether the model can follow the run. It cannot if the run was cut off, or if a plugin refused an extension,
    /// because other calls may have waited for that. Other checks still apply.
    pub(crate) fn can_be_followed(&self) -> bool {
        let is_refused = self.errors.iter().any(|error| error == plugins::REFUSED);
        self.outcome.is_some() && !self.journal_failed && !is_refused
    }

    /// Steps as displayed to users.
    pub fn steps_told(&self) -> String {
        let steps = self.steps.iter();
        let steps: Vec<String> = steps
            .map(|step| format!("{} {}", step.op.as_str(), step.urn.name()))
            .collect();
        steps.join(", ")
    }
}

impl World {
    /// Applies the incidents before an operation.
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

    /// URNs for a name on the command line: those in the state, and the one in the program.
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

    /// Input of the core for an operation.
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
            partly_secret: BTreeMap::new(),
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
