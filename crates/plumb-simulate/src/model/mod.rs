//! Sequential model of an operation, which follows the order of the run's decisions.
//!
//! 1. The model processes the [`Moment`]s of a run. At each decision it decides independently, from the state, the
//!    program, the options and the behaviour of the provider, according to the specification; it shares no code with
//!    the core.
//! 2. A decision is a chain of steps (`chains.rs`). Each step that the run begins must be the next one of a chain and
//!    allowed to begin; its effects on cloud and state are computed when it ends (`steps.rs`).
//! 3. After the program has ended, unregistered resources are refreshed or deleted, in layers (`refresh.rs`,
//!    `deletes.rs`).
//! 4. A complete run must have begun every step; a run that was cut short must have a reason known to the model. At the
//!    end replies, calls, counts, state and cloud must match (`compare.rs`).
//!
//! The model takes from the run only the choices that the specification leaves open: the order of concurrent actions.

mod chains;
mod compare;
mod decide;
mod deletes;
mod difference;
mod hooks;
mod identity;
mod import;
mod methods;
mod monitor;
mod packages;
mod policies;
mod refresh;
mod registrations;
mod replace;
mod snippets;
mod steps;
mod targets;
mod transforms;
mod views;

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::Milestone;
use plumb_events::OperationResult;
use plumb_resource::{ProviderRef, ResourceKind, ResourceState, StepOp, Urn};
use plumb_state::Snippet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cloud::{Cloud, Faults};
use crate::coverage::Coverage;
use crate::observed;
use crate::story::{Operation, PROJECT, Program, STACK, Verb};
use crate::world::{Answer, Answered, Moment, Mutation, Trace, Violation, World};

use chains::Chain;
pub use monitor::versions_in;
use registrations::Registration;

/// Prediction for an operation.
#[derive(Clone, Debug, Default)]
struct Prediction {
    /// Calls that change objects.
    mutations: Vec<Mutation>,
    /// Resources after the operation.
    resources: Vec<Arc<ResourceState>>,
    /// Snippets after the operation.
    snippets: Vec<Snippet>,
    /// Replies by name.
    answers: BTreeMap<String, Answer>,
    /// Results of methods, by name.
    results: BTreeMap<String, Answered>,
    /// Counts in the summary.
    counts: BTreeMap<StepOp, u32>,
    /// Reasons for a failure of the operation.
    reasons: Vec<String>,
}

/// An entry of the old or new state.
#[derive(Clone, Debug)]
struct Node {
    state: Arc<ResourceState>,
    gone: bool,
    /// Whether a refresh found that its object no longer exists.
    has_vanished: bool,
    /// Whether it was live in the old state (or after its refresh).
    was_live: bool,
    views: Vec<Arc<ResourceState>>,
}

impl Node {
    /// Node for an entry of the old state.
    fn of(state: Arc<ResourceState>) -> Self {
        Node {
            was_live: !state.delete,
            state,
            gone: false,
            has_vanished: false,
            views: Vec::new(),
        }
    }
}

/// Decisions about a URN so far.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    seen: bool,
    created: bool,
    same: bool,
    updated: bool,
    replaced: bool,
    deleted: bool,
    read: bool,
    refreshed: bool,
    skipped_create: bool,
    /// Whether it is kept in a destroy that runs the program, because it depends on a skipped creation.
    kept_on_skipped: bool,
    errored: bool,
}

impl Fate {
    fn is_operated_on(self) -> bool {
        self.same || self.updated || self.replaced || self.read || self.refreshed
    }

    fn is_processed(self) -> bool {
        self.read || self.created || self.same || self.updated || self.deleted || self.replaced
    }
}

/// Options inherited by children.
#[derive(Clone, Debug, Default)]
struct Lineage {
    protect: Option<bool>,
    retain: Option<bool>,
    deleted_with: Option<Urn>,
    provider: Option<ProviderRef>,
    providers: BTreeMap<String, ProviderRef>,
    is_component: bool,
    transforms: Vec<String>,
    parent: Option<Urn>,
}

/// Phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Refresh before the program.
    Refreshing,
    /// Registrations of the program.
    Program,
    /// Resources that the program did not register.
    Rest,
}

#[derive(Clone)]
struct Model<'a> {
    operation: &'a Operation,
    program: &'a Program,
    faults: Faults<'a>,
    witness: &'a Trace,
    coverage: Coverage,
    cloud: Cloud,
    nodes: Vec<Node>,
    views: views::Views,
    /// Number of nodes that are entries of the old state.
    olds: usize,
    fates: FxHashMap<Urn, Fate>,
    aliased: FxHashMap<Urn, Urn>,
    /// Former URNs of renamed resources that targets leave out: they keep them.
    keeps_name: FxHashSet<Urn>,
    former: FxHashMap<Urn, Urn>,
    lineages: FxHashMap<Urn, Lineage>,
    defaults: BTreeMap<(String, Option<String>), ProviderRef>,
    /// Whether some resources are kept with their old references.
    keeps_something: bool,
    /// Providers of kept resources.
    kept_providers: FxHashSet<String>,
    /// Resources kept unchanged because others refer to them.
    passed_on: FxHashSet<Urn>,
    /// Providers loaded from the old state.
    loaded: FxHashSet<String>,
    /// Versions of providers for which the program gives none.
    versions: BTreeMap<String, String>,
    /// Entries deleted in this run, and their URNs.
    pending_deletes: FxHashSet<usize>,
    deleting: FxHashSet<Urn>,
    /// Nodes with the current state of processed resources.
    news: FxHashMap<Urn, usize>,
    /// Entries that a destroy with program deletes at its end.
    condemned: Vec<usize>,
    targets: targets::Targets,
    snippets: snippets::Snippets,
    /// Snippet that registers the current resource; `None` for the program.
    source: Option<String>,
    /// Whether the main phase of the run has begun.
    has_begun: bool,
    has_packs: bool,
    has_refreshed: bool,
    /// Whether the current refresh is not displayed.
    hidden_refresh: bool,
    phase: Phase,
    registrations: Vec<Registration>,
    chains: Vec<Chain>,
    /// Entries to delete at the end, and the remaining layers of deletes.
    going: FxHashSet<usize>,
    /// Entries that are not deleted because failed resources depend on them.
    kept_by_errors: FxHashSet<usize>,
    layers: Vec<Vec<usize>>,
    program_finished: bool,
    /// Whether the stack's outputs were registered.
    has_stack_outputs: bool,
    /// Whether all steps are done, and policy packs analyze the stack.
    is_judged: bool,
    /// Whether a failed step ends the run.
    must_end: bool,
    /// Whether the run continues after a failure.
    deferred: bool,
    /// Whether the run was cut short.
    is_over: bool,
    prediction: Prediction,
}

/// Checks that `trace` is a legal run of `operation`. `before` is the world before it, with incidents applied; `after`
/// is the world after it.
pub fn check(
    before: &World,
    after: &World,
    operation: &Operation,
    trace: &Trace,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    let mut model = Model::new(before, operation, trace);
    model.start();
    for moment in &trace.moments {
        model.follow(moment)?;
    }
    model.end()?;
    coverage.add(&model.coverage);
    compare::compare(after, operation, trace, &model.cloud, &model.prediction)?;
    observed::note(before, after, operation, trace, coverage);
    Ok(())
}

/// Violation for a step or a decision that is not allowed.
fn illegal(what: impl Into<String>) -> Violation {
    Violation::new("model: steps", what)
}

impl<'a> Model<'a> {
    fn new(world: &World, operation: &'a Operation, witness: &'a Trace) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        views::given_to_owners(world.snapshot.resources.clone(), &mut nodes);
        Model {
            operation,
            program: &operation.program,
            faults: Faults(&operation.faults),
            witness,
            coverage: Coverage::default(),
            cloud: world.cloud.clone(),
            views: views::Views::default(),
            olds: nodes.len(),
            nodes,
            fates: FxHashMap::default(),
            aliased: FxHashMap::default(),
            keeps_name: FxHashSet::default(),
            former: FxHashMap::default(),
            lineages: FxHashMap::default(),
            defaults: BTreeMap::new(),
            keeps_something: false,
            kept_providers: FxHashSet::default(),
            passed_on: FxHashSet::default(),
            loaded: FxHashSet::default(),
            versions: monitor::versions_in(&world.snapshot.resources),
            pending_deletes: FxHashSet::default(),
            deleting: FxHashSet::default(),
            news: FxHashMap::default(),
            condemned: Vec::new(),
            targets: targets::Targets::new(world, operation),
            snippets: snippets::Snippets::new(world, operation),
            source: None,
            has_begun: false,
            has_packs: false,
            has_refreshed: false,
            hidden_refresh: false,
            phase: Phase::Program,
            registrations: Vec::new(),
            chains: Vec::new(),
            going: FxHashSet::default(),
            kept_by_errors: FxHashSet::default(),
            layers: Vec::new(),
            program_finished: false,
            has_stack_outputs: false,
            is_judged: false,
            must_end: false,
            deferred: false,
            is_over: false,
            prediction: Prediction::default(),
        }
    }

    /// Processes the phase before the program.
    fn start(&mut self) {
        self.name_views();
        if !self.packs_are_there() || !self.has_program_for_hooks() {
            self.must_end = true;
            return;
        }
        self.has_begun = true;
        self.has_packs = !self.has_policies();
        if self.operation.verb == Verb::Import {
            self.pass_everything_on();
        } else if self.wants_refresh() {
            self.start_refresh();
        } else {
            self.start_program();
        }
    }

    fn start_program(&mut self) {
        self.phase = Phase::Program;
        let runs_program = match self.operation.verb {
            Verb::Up | Verb::Import => true,
            Verb::Refresh | Verb::Destroy => self.operation.flags.run_program,
        };
        self.program_finished = !runs_program || self.operation.verb == Verb::Import;
        self.expect_snippets();
        let is_whole = self.operation.verb == Verb::Refresh && !runs_program;
        if !is_whole {
            self.targets_exist_before();
        }
    }

    fn follow(&mut self, moment: &Moment) -> Result<(), Violation> {
        if !matches!(moment, Moment::Awaited(..)) {
            self.snippets_go_on();
        }
        match moment {
            Moment::View(moment, urn, op) => {
                self.view_shown((*moment, urn.clone(), *op));
                return Ok(());
            }
            // Reported view steps are still to be displayed.
            Moment::Milestone(Milestone::Over) => {}
            // View steps of a deleted owner are displayed before its own.
            Moment::Ended(_) | Moment::Failed(_) => {}
            _ => self.views_are_shown()?,
        }
        match moment {
            Moment::Tells(number, steps) => return self.tells(*number, steps),
            Moment::Heard(is_heard) => return self.heard(*is_heard),
            Moment::Began(number) => return self.began(*number),
            Moment::Ended(number) => return self.ended(*number, false),
            Moment::Failed(number) => return self.ended(*number, true),
            Moment::Readied(number) => self.readied(*number),
            Moment::Milestone(Milestone::Skipped(urn)) => return self.skipped(urn),
            Moment::Milestone(Milestone::Over) => {
                self.find_reasons();
                self.is_over = true;
            }
            // Decisions after the end have no effect.
            _ if self.is_over => {}
            Moment::Milestone(Milestone::Registered(urn)) => return self.registered(urn),
            Moment::Milestone(Milestone::DecisionStarted(urn)) => return self.weighed(urn),
            Moment::Milestone(Milestone::Decided(urn)) => return self.decided(urn),
            Moment::Milestone(Milestone::Failed { .. }) => {}
            Moment::PacksLoaded => self.has_packs = true,
            Moment::SnippetStarted(uuid) => return self.snippet_started(uuid),
            Moment::SnippetEnded(uuid) => self.snippet_ended(uuid),
            Moment::Awaits(it) => self.snippet_waits(it),
            Moment::Awaited(it, told) => return self.awaited(it, told),
            Moment::OutputsSent(name) => self.outputs_sent(name),
            Moment::Outputs(name) => self.take_outputs(name),
            Moment::Again(number) => return self.tried_in_vain(*number),
            Moment::HookFailed => self.hook_failed(),
            Moment::Refused(name) => return self.refused(name),
            Moment::Asked(number, server) => return self.asked_of(*number, server.as_ref()),
            Moment::NotAsked(number) => return self.asked(*number, false),
            Moment::NobodyToAsk(number) => return self.nobody_to_ask(*number),
            Moment::Called(name) => return self.called(name),
            Moment::CalledNobody(name) => return self.called_nobody(name),
            Moment::CallRefused(name) => return self.call_refused(name),
            Moment::ProgramFinished => self.program_finished = true,
            Moment::View(..) => {}
        }
        Ok(())
    }

    /// Finds reasons to cut the run short at this point, in addition to known ones.
    fn find_reasons(&mut self) {
        if self.witness.interrupted {
            self.reason("the user interrupted it");
        }
        if self.witness.program_failed {
            self.reason("the program failed");
        }
        if self.may_turn_to_the_rest() {
            self.turn_to_the_rest();
        }
        self.judge_stack();
        if !self.prediction.reasons.is_empty() || self.phase == Phase::Rest {
            return;
        }
        // Any pending decision may be the one that is refused.
        for number in 0..self.registrations.len() {
            let mut next = self.clone();
            next.decide_now(number);
            self.prediction.reasons.append(&mut next.prediction.reasons);
        }
    }

    fn end(&mut self) -> Result<(), Violation> {
        self.views_are_shown()?;
        if !self.is_over {
            if self.may_turn_to_the_rest() {
                self.turn_to_the_rest();
            }
            if let Some(what) = self.unfinished() {
                let errors = &self.witness.errors;
                return Err(illegal(format!("{what} is not done; errors {errors:?}")));
            }
            self.judge_stack();
        }
        self.finish_stack();
        self.settle()
    }

    fn reason(&mut self, text: impl Into<String>) {
        self.prediction.reasons.push(text.into());
    }

    fn fate(&self, urn: &Urn) -> Fate {
        self.fates.get(urn).copied().unwrap_or_default()
    }

    fn fate_mut(&mut self, urn: &Urn) -> &mut Fate {
        self.fates.entry(urn.clone()).or_default()
    }

    /// Live entry of the old state with this URN.
    fn live_old(&self, urn: &Urn) -> Option<usize> {
        (0..self.olds)
            .find(|node| self.nodes[*node].was_live && self.nodes[*node].state.urn == *urn)
    }

    fn state(&self, node: usize) -> &Arc<ResourceState> {
        &self.nodes[node].state
    }

    fn current<'u>(&'u self, urn: &'u Urn) -> &'u Urn {
        if self.keeps_name.contains(urn) {
            return urn;
        }
        self.aliased.get(urn).unwrap_or(urn)
    }

    fn count(&mut self, urn: &Urn, op: StepOp) {
        let is_internal = urn.is_default_provider();
        if op.is_logical() && !is_internal {
            *self.prediction.counts.entry(op).or_default() += 1;
        }
    }

    fn is_preview(&self) -> bool {
        self.operation.preview
    }

    /// Whether unregistered resources are kept unchanged because others refer to them.
    fn passes_on(&self) -> bool {
        passes_on(self.operation)
    }

    fn root_urn() -> Urn {
        Urn::root_stack(STACK, PROJECT)
    }

    /// Handles outputs registered by the program; those of the stack are applied at the end.
    fn take_outputs(&mut self, name: &str) {
        let Some(res) = self.program.get(name) else {
            return;
        };
        if res.is_stack() {
            self.has_stack_outputs = true;
            return;
        }
        self.source.clone_from(&res.snippet);
        let urn = self.urn_of_name(name);
        let keeps = self.operation.verb == Verb::Refresh && self.fate(&urn).refreshed;
        if let (Some(node), false) = (self.news.get(&urn).copied(), keeps) {
            let outputs = Arc::new(self.outputs_of(res));
            self.change(node, |state| state.outputs = outputs);
        }
    }

    /// Sets the outputs of the stack: exactly the new ones after success, merged into the old ones after a failure.
    fn finish_stack(&mut self) {
        let stack = self.program.resources.iter().find(|res| res.is_stack());
        let node = self.news.get(&Self::root_urn()).copied();
        let (Some(stack), Some(node), true) = (stack, node, self.has_stack_outputs) else {
            return;
        };
        let mut outputs = self.outputs_of(stack);
        if self.witness.result() != Some(OperationResult::Succeeded) && !self.is_judged {
            self.coverage.reach("PULUMI-51");
            let before = self.live_old(&Self::root_urn());
            let before = before.map(|old| self.state(old).outputs.clone());
            let mut merged = before.as_deref().cloned().unwrap_or_default();
            merged.extend(outputs);
            outputs = merged;
        }
        self.change(node, |state| state.outputs = Arc::new(outputs));
    }

    /// Computes the state for the next run.
    fn settle(&mut self) -> Result<(), Violation> {
        // Processed resources come before the others.
        let (olds, news) = self.nodes.split_at(self.olds);
        let left = news.iter().chain(olds).filter(|node| !node.gone);
        let with_views = left.flat_map(|node| [&node.state].into_iter().chain(&node.views));
        let resources: Vec<Arc<ResourceState>> = with_views.cloned().collect();
        let stored = self.stored_snippets(&resources);
        let mut snapshot = plumb_state::Snapshot {
            resources,
            snippets: stored,
            ..plumb_state::Snapshot::default()
        };
        snapshot
            .normalize_urns()
            .map_err(|error| Violation::new("model", error.to_string()))?;
        // Remaining resources lose their references to deleted ones.
        refresh::sort_references(&mut snapshot.resources);
        self.prediction.resources = snapshot.resources;
        self.prediction.snippets = snapshot.snippets;
        Ok(())
    }

    /// Id of a provider in this run; providers in previews have none.
    fn provider_id(&self, urn: &Urn) -> EcoString {
        let id = self.witness.provider_ids.get(urn);
        id.cloned().unwrap_or_default()
    }
}

/// Whether unregistered resources are kept unchanged because others refer to them.
fn passes_on(operation: &Operation) -> bool {
    let flags = &operation.flags;
    let destroys_registered = operation.verb == Verb::Destroy && flags.run_program;
    let has_targets = !flags.targets.is_empty() || !flags.target_snippets.is_empty();
    has_targets || !flags.excludes.is_empty() || destroys_registered
}

/// Whether a provider plugin manages the resource.
fn is_managed(state: &ResourceState) -> bool {
    state.kind == ResourceKind::Custom
}
