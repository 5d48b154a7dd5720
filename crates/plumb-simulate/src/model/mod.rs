//! What an operation must do, said plainly: one resource after another, in the order of the specification.
//!
//! The model goes from the state before, the program, the options and the behaviour of the provider to the steps, the
//! provider mutations, the state after, the replies and the summary. It shares no code with the core.
//!
//! Where concurrency makes several results legal, the model follows a witness: the order in which the run decided about
//! registrations, and, in a run that was cut short, which steps had begun by then. It allows a step only where the
//! specification allows it, and a run may be cut short only for a reason that the model finds too.

mod compare;
mod decide;
mod deletes;
mod identity;
mod import;
mod monitor;
mod refresh;
mod replace;
mod steps;
mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use plumb_events::OperationResult;
use plumb_resource::{ProviderRef, ResourceKind, ResourceState, StepOp, Urn};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cloud::{Cloud, Faults};
use crate::coverage::Coverage;
use crate::story::{Operation, PROJECT, Program, STACK, Verb};
use crate::world::{Answer, Mutation, StepRecord, Trace, Violation, World, decides};

pub use compare::compare;

/// What the model says about an operation.
#[derive(Debug)]
pub struct Prediction {
    /// Steps and how often each is made.
    pub steps: FxHashMap<(Urn, StepOp), u32>,
    /// Same steps of what is only passed on: they may be made or not.
    pub optional_sames: bool,
    /// Calls that change something.
    pub mutations: Vec<Mutation>,
    /// Resources afterwards.
    pub resources: Vec<Arc<ResourceState>>,
    /// Replies by name.
    pub answers: BTreeMap<String, Answer>,
    /// Counts of the summary.
    pub counts: BTreeMap<StepOp, u32>,
    /// Why the operation fails, if it does.
    pub reasons: Vec<String>,
    /// Objects afterwards.
    pub cloud: Cloud,
}

/// One entry of the state, old or new.
#[derive(Clone, Debug)]
struct Node {
    state: Arc<ResourceState>,
    gone: bool,
    /// Whether it was in the state before (or after its refresh), and not pending deletion.
    was_live: bool,
}

/// What was done about a URN so far.
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

/// What children inherit.
#[derive(Clone, Debug, Default)]
struct Lineage {
    protect: Option<bool>,
    retain: Option<bool>,
    deleted_with: Option<Urn>,
    provider: Option<ProviderRef>,
    providers: BTreeMap<String, ProviderRef>,
    is_component: bool,
}

struct Model<'a> {
    operation: &'a Operation,
    program: &'a Program,
    faults: Faults<'a>,
    witness: &'a Trace,
    coverage: &'a mut Coverage,
    /// Whether the run was cut short, so that not every step need have begun.
    cut_short: bool,
    budget: FxHashMap<(Urn, StepOp), u32>,
    cloud: Cloud,
    nodes: Vec<Node>,
    /// How many of the nodes are of the state before.
    olds: usize,
    fates: FxHashMap<Urn, Fate>,
    aliased: FxHashMap<Urn, Urn>,
    former: FxHashMap<Urn, Urn>,
    lineages: FxHashMap<Urn, Lineage>,
    defaults: BTreeMap<(String, Option<String>), ProviderRef>,
    /// What is referred to by resources that are left as they are.
    kept_references: FxHashSet<Urn>,
    /// Providers of resources that are left as they are.
    kept_providers: FxHashSet<String>,
    /// Providers of the state before that were needed already.
    loaded: FxHashSet<String>,
    /// Versions that providers get where the program names none.
    versions: BTreeMap<String, String>,
    /// Entries that are deleted in this run, and their URNs.
    pending_deletes: FxHashSet<usize>,
    deleting: FxHashSet<Urn>,
    /// Nodes that hold the present state of a resource that this run dealt with.
    news: FxHashMap<Urn, usize>,
    /// What a destroy with program deletes at its end.
    condemned: Vec<usize>,
    targets: targets::Targets,
    has_refreshed: bool,
    /// The refresh at hand is not shown.
    hidden_refresh: bool,
    /// The run ends because of something that has happened.
    stops: bool,
    deferred: bool,
    prediction: Prediction,
}

/// How a registration went.
enum Flow {
    /// It is answered.
    Answered(Answer),
    /// It is never answered.
    Cut,
}

/// What is decided about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Turn {
    /// A resource of the program.
    Named(String),
    /// A default provider.
    Default(Urn),
}

/// Says what `operation` must do to `world`, which is as it was before, with incidents applied.
///
/// The first `variant` takes same steps of default providers for registrations, the second for passing on what is there.
/// A run that was cut short does not show when it decided about resources that it made no step for: each further pair
/// assumes another time for one of them. `None` when there are no more.
pub fn predict(
    world: &World,
    operation: &Operation,
    witness: &Trace,
    variant: usize,
    coverage: &mut Coverage,
) -> Result<Option<Prediction>, Violation> {
    let cut_short = is_cut_short(operation, witness);
    if variant > 1 && !cut_short {
        return Ok(None);
    }
    let mut budget: FxHashMap<(Urn, StepOp), u32> = FxHashMap::default();
    if cut_short {
        for step in &witness.steps {
            *budget.entry((step.urn.clone(), step.op)).or_default() += 1;
        }
    }
    let nodes: Vec<Node> = world
        .snapshot
        .resources
        .iter()
        .map(|state| Node {
            state: state.clone(),
            gone: false,
            was_live: !state.delete,
        })
        .collect();
    let mut model = Model {
        operation,
        program: &operation.program,
        faults: Faults(&operation.faults),
        witness,
        coverage,
        cut_short,
        budget,
        cloud: world.cloud.clone(),
        olds: nodes.len(),
        nodes,
        fates: FxHashMap::default(),
        aliased: FxHashMap::default(),
        former: FxHashMap::default(),
        lineages: FxHashMap::default(),
        defaults: BTreeMap::new(),
        kept_references: FxHashSet::default(),
        kept_providers: FxHashSet::default(),
        loaded: FxHashSet::default(),
        versions: monitor::versions_in(&world.snapshot.resources),
        pending_deletes: FxHashSet::default(),
        deleting: FxHashSet::default(),
        news: FxHashMap::default(),
        condemned: Vec::new(),
        targets: targets::Targets::new(world, operation),
        has_refreshed: false,
        hidden_refresh: false,
        stops: false,
        deferred: false,
        prediction: Prediction {
            steps: FxHashMap::default(),
            optional_sames: passes_on(operation),
            mutations: Vec::new(),
            resources: Vec::new(),
            answers: BTreeMap::new(),
            counts: BTreeMap::new(),
            reasons: Vec::new(),
            cloud: Cloud::default(),
        },
    };
    let Some(order) = model.order(variant) else {
        return Ok(None);
    };
    model.run(&order)?;
    model.finish().map(Some)
}

/// Whether things are passed on that nobody registers, because others need them.
fn passes_on(operation: &Operation) -> bool {
    let flags = &operation.flags;
    let destroys_registered = operation.verb == Verb::Destroy && flags.run_program;
    !flags.targets.is_empty() || !flags.excludes.is_empty() || destroys_registered
}

/// Whether the run ended before all that it could have done was done.
fn is_cut_short(operation: &Operation, witness: &Trace) -> bool {
    let Some(outcome) = &witness.outcome else {
        return true;
    };
    let goes_on = operation.flags.continue_on_error
        && outcome
            .error
            .as_deref()
            .is_some_and(|error| error.starts_with("step executor errored"));
    outcome.result != OperationResult::Succeeded && !goes_on
}

impl Model<'_> {
    fn run(&mut self, order: &[Turn]) -> Result<(), Violation> {
        if self.witness.interrupted {
            self.reason("the user interrupted it");
        }
        if self.operation.verb == Verb::Import {
            self.import_objects();
            return Ok(());
        }
        if self.wants_refresh() && !self.refresh_phase() {
            return Ok(());
        }
        if self.operation.verb == Verb::Refresh && !self.operation.flags.run_program {
            return Ok(());
        }
        if !self.targets_exist_before() {
            return Ok(());
        }
        let runs_program = self.operation.verb == Verb::Up || self.operation.flags.run_program;
        if runs_program {
            self.run_program(order)?;
        }
        let program_done = !runs_program || self.witness.program_finished;
        if program_done && !self.stops {
            match self.operation.verb {
                Verb::Refresh => self.late_refresh(),
                _ => self.delete_the_rest(),
            }
        }
        if !program_done && self.operation.stop.is_some() {
            self.reason("the program failed");
        }
        self.finish_stack();
        Ok(())
    }

    fn run_program(&mut self, order: &[Turn]) -> Result<(), Violation> {
        for turn in order {
            let name = match turn {
                Turn::Named(name) => name,
                Turn::Default(urn) => {
                    self.default_provider_of(urn);
                    continue;
                }
            };
            let Some(res) = self.program.get(name) else {
                continue;
            };
            if let Flow::Answered(answer) = self.visit(res)? {
                self.prediction.answers.insert(name.clone(), answer);
            }
        }
        self.register_outputs();
        Ok(())
    }

    /// What is decided about, in order; what there is no decision of last, or one of them where `variant` says.
    fn order(&self, variant: usize) -> Option<Vec<Turn>> {
        let mut left: Vec<&str> = self.witness.requested.iter().map(String::as_str).collect();
        let mut order: Vec<Turn> = Vec::new();
        let registers_defaults = variant.is_multiple_of(2) || !self.prediction.optional_sames;
        let decided: Vec<&StepRecord> = self
            .witness
            .steps
            .iter()
            .filter(|step| decides(step.op) && step.in_program)
            .collect();
        for (at, step) in decided.iter().enumerate() {
            let name = self.program_name(&step.urn);
            let is_same = step.op == StepOp::Same;
            if is_same && decided[at + 1..].iter().any(|it| it.urn == step.urn) {
                // It was passed on before the program registered it.
                continue;
            }
            if step.urn.is_default_provider() {
                if is_same && !registers_defaults {
                    continue;
                }
                order.push(Turn::Default(step.urn.clone()));
            } else if let Some(at) = left.iter().position(|other| *other == name) {
                order.push(Turn::Named(left.remove(at).to_owned()));
            }
        }
        if let Some(variant) = (variant / 2).checked_sub(1) {
            let at = variant.checked_div(left.len())?;
            if at > order.len() {
                return None;
            }
            order.insert(at, Turn::Named(left[variant % left.len()].to_owned()));
        }
        // A registration may be answered without a step of its own; it comes as soon as what it needs is there.
        let requested: BTreeSet<&str> = self.witness.requested.iter().map(String::as_str).collect();
        let mut all: Vec<Turn> = Vec::new();
        for turn in order {
            match turn {
                Turn::Named(name) => self.add_with_needs(&name, &requested, &mut all),
                Turn::Default(_) => all.push(turn),
            }
        }
        for name in &self.witness.requested {
            self.add_with_needs(name, &requested, &mut all);
        }
        Some(all)
    }

    fn add_with_needs(&self, name: &str, requested: &BTreeSet<&str>, all: &mut Vec<Turn>) {
        let turn = Turn::Named(name.to_owned());
        if all.contains(&turn) || !requested.contains(name) {
            return;
        }
        let Some(res) = self.program.get(name) else {
            return;
        };
        for need in self.program.needs_of(res) {
            self.add_with_needs(need, requested, all);
        }
        all.push(turn);
    }

    /// Whether the program heard of a resource.
    fn was_answered(&self, urn: &Urn) -> bool {
        self.witness.answers.values().any(|it| it.urn == *urn)
    }

    fn program_name<'u>(&'u self, urn: &'u Urn) -> &'u str {
        if urn.is_root_stack() {
            let stack = self.program.resources.iter().find(|res| res.is_stack());
            return stack.map_or("", |res| &res.name);
        }
        urn.name()
    }

    fn reason(&mut self, text: impl Into<String>) {
        self.prediction.reasons.push(text.into());
    }

    /// A decision is refused: the run ends, or a preview goes on to show the rest.
    fn refuse(&mut self, text: impl Into<String>) -> Flow {
        self.reason(text);
        self.stops = true;
        Flow::Cut
    }

    fn fate(&self, urn: &Urn) -> Fate {
        self.fates.get(urn).copied().unwrap_or_default()
    }

    fn fate_mut(&mut self, urn: &Urn) -> &mut Fate {
        self.fates.entry(urn.clone()).or_default()
    }

    /// The entry of the state before that was not pending deletion.
    fn live_old(&self, urn: &Urn) -> Option<usize> {
        (0..self.olds)
            .find(|node| self.nodes[*node].was_live && self.nodes[*node].state.urn == *urn)
    }

    fn state(&self, node: usize) -> &Arc<ResourceState> {
        &self.nodes[node].state
    }

    /// A step begins: allowed always, unless the run was cut short before it could.
    fn begin(&mut self, urn: &Urn, op: StepOp) -> bool {
        if self.cut_short {
            match self.budget.get_mut(&(urn.clone(), op)) {
                Some(left) if *left > 0 => *left -= 1,
                _ => return false,
            }
        }
        *self.prediction.steps.entry((urn.clone(), op)).or_default() += 1;
        true
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

    fn root_urn() -> Urn {
        Urn::root_stack(STACK, PROJECT)
    }

    /// Outputs of the stack: on success exactly the new ones, after a failure on top of the old ones.
    fn finish_stack(&mut self) {
        let stack = self.program.resources.iter().find(|res| res.is_stack());
        let Some(stack) = stack.filter(|res| self.witness.outputs_taken.contains(&res.name)) else {
            return;
        };
        let Some(node) = self.news.get(&Self::root_urn()).copied() else {
            return;
        };
        let outputs = self.outputs_of(stack);
        let fails = !self.prediction.reasons.is_empty() && self.stops_or_refused();
        let mut state = self.state(node).as_ref().clone();
        if fails {
            self.coverage.reach("PULUMI-51");
            let mut merged = state.outputs.as_ref().clone();
            merged.extend(outputs);
            state.outputs = Arc::new(merged);
        } else {
            state.outputs = Arc::new(outputs);
        }
        self.nodes[node].state = Arc::new(state);
    }

    fn stops_or_refused(&self) -> bool {
        self.witness.result() != Some(OperationResult::Succeeded)
    }

    fn finish(mut self) -> Result<Prediction, Violation> {
        let mut resources: Vec<Arc<ResourceState>> = Vec::new();
        for node in self.nodes.iter().filter(|node| !node.gone) {
            resources.push(node.state.clone());
        }
        if self.has_refreshed {
            drop_dangling(&mut resources);
        }
        let mut snapshot = plumb_state::Snapshot {
            resources,
            ..plumb_state::Snapshot::default()
        };
        snapshot
            .normalize_urns()
            .map_err(|error| Violation::new("model", error.to_string()))?;
        self.prediction.resources = snapshot.resources;
        self.prediction.cloud = self.cloud;
        Ok(self.prediction)
    }

    /// The id that the run gave to a provider; preview providers have none.
    fn provider_id(&self, urn: &Urn) -> EcoString {
        self.witness
            .provider_ids
            .get(urn)
            .cloned()
            .unwrap_or_default()
    }
}

/// After a refresh: references to what is gone are dropped.
fn drop_dangling(resources: &mut [Arc<ResourceState>]) {
    let listed: FxHashSet<Urn> = resources.iter().map(|state| state.urn.clone()).collect();
    let renamed: FxHashSet<Urn> = resources
        .iter()
        .flat_map(|state| state.aliases.iter().cloned())
        .collect();
    for state in resources {
        let is_there = |urn: &Urn| listed.contains(urn) || renamed.contains(urn);
        if state.references().all(is_there) {
            continue;
        }
        let state = Arc::make_mut(state);
        state.dependencies.retain(is_there);
        state.replace_with.retain(is_there);
        for urns in state.property_dependencies.values_mut() {
            urns.retain(is_there);
        }
        state.deleted_with.take_if(|urn| !is_there(urn));
        state.parent.take_if(|urn| !is_there(urn));
    }
}

/// Whether a state is one that a provider plugin manages.
fn is_managed(state: &ResourceState) -> bool {
    state.kind == ResourceKind::Custom
}
