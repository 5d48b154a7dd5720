//! Update plans (`engine.md` 8.5): every update is checked against the plan of its own preview.
//!
//! 1. An update that follows the plan is an ordinary run, to which the model applies.
//! 2. An update that violates the plan reports that and fails; it then has changed only objects that the plan allows.
//! 3. If the preview can show what the update does, the update must follow the plan. A preview cannot show that for an
//!    object that several resources share, for a provider with unknown configuration, and for resources that are read
//!    while the program runs, in any order.
//!
//! In both cases, the invariants of all runs hold ([`checks`]).

use plumb_deploy::Effect;
use plumb_events::{Event, OperationResult};
use plumb_resource::{StepOp, Urn};
use plumb_state::plan::Plan;

use crate::coverage::Coverage;
use crate::story::{Operation, Prop, Verb};
use crate::world::{Mutation, Planning, Trace, Violation, World, functions};
use crate::{checks, model};

/// Checks an update against its own plan; `before` is the world before the update.
pub fn check(
    before: &World,
    operation: &Operation,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    // Only updates have plans.
    if operation.verb != Verb::Up || operation.preview {
        return Ok(());
    }
    let preview = Operation {
        preview: true,
        ..operation.clone()
    };
    let shown = before.clone().run_with(&preview, Planning::Makes)?;
    // A failed preview has no plan.
    let Some(plan) = shown.plan.clone() else {
        return Ok(());
    };
    let mut after = before.clone();
    let held = after.run_with(operation, Planning::HeldTo(plan.clone()))?;
    let mut found = before.clone();
    found.before(operation);
    checks::check(&found, &mut after, operation, &held)?;
    if is_violated(&held) {
        coverage.reach("PLAN-01");
        touches_nothing_else(&plan, &shown, &held)?;
    } else if held.can_be_followed() {
        coverage.reach("PLAN-13");
        model::check(&found, &after, operation, &held, coverage)?;
    }
    if !is_cut_short(&held) && !is_left_open(before, operation) {
        return keeps_to_what_was_shown(before, operation, &shown, &held);
    }
    Ok(())
}

/// Whether a run was cut short by an event that plans do not cover.
fn is_cut_short(held: &Trace) -> bool {
    !held.can_be_followed() || held.interrupted || held.program_failed
}

/// Whether a run reports a violation of its plan.
fn is_violated(held: &Trace) -> bool {
    let says = |text: &&str| held.errors.iter().any(|error| error.contains(text));
    let ways = [
        "violates plan",
        "allowed by the plan",
        "expected resource operations",
    ];
    ways.iter().any(says)
}

/// Checks that a violation is detected before the violating step is executed.
fn touches_nothing_else(plan: &Plan, shown: &Trace, held: &Trace) -> Result<(), Violation> {
    let former = former_names(shown);
    for mutation in &held.mutations {
        let present = former.iter().find(|(urn, _)| *urn == mutation.urn);
        let names = [Some(&mutation.urn), present.map(|(_, urn)| urn)];
        let planned = names.into_iter().flatten();
        let mut steps = planned
            .filter_map(|urn| plan.resources.get(urn))
            .flat_map(|it| &it.steps);
        if !steps.any(|step| leads_to(*step, mutation)) {
            let (call, name) = (mutation.call, mutation.urn.name());
            let what = format!("{call} of {name} is not in the plan: {:?}", held.errors);
            return Err(Violation::new("plan", what));
        }
    }
    Ok(())
}

/// Whether a planned step allows this call; a run may do less than planned.
fn leads_to(step: StepOp, mutation: &Mutation) -> bool {
    match mutation.call {
        "create" => matches!(step, StepOp::Create | StepOp::CreateReplacement),
        "update" => matches!(
            step,
            StepOp::Update | StepOp::Replace | StepOp::CreateReplacement | StepOp::DeleteReplaced
        ),
        _ => matches!(step, StepOp::Delete | StepOp::DeleteReplaced),
    }
}

/// Former and current URNs of renamed resources.
pub(crate) fn former_names(trace: &Trace) -> Vec<(Urn, Urn)> {
    let news = trace
        .effects
        .iter()
        .flatten()
        .filter_map(|effect| match effect {
            Effect::Emit(Event::ResourcePre(step)) => step.metadata.new.as_ref(),
            _ => None,
        });
    let names = news.flat_map(|new| {
        let present = new.urn.clone();
        new.aliases
            .iter()
            .map(move |former| (former.clone(), present.clone()))
    });
    names.collect()
}

/// Whether a preview cannot show what the update will do.
fn is_left_open(before: &World, operation: &Operation) -> bool {
    let resources = || operation.program.resources.iter();
    // The result for a shared object depends on earlier steps of the other resources.
    let is_known = |id: &String| {
        let mut states = before.snapshot.resources.iter();
        states.any(|state| state.id.as_str() == id)
    };
    let shares = resources().any(|res| res.import.iter().chain(&res.read).any(is_known));
    // A provider with unknown configuration is not called, so its results are unknown.
    let mut providers = resources().filter(|res| res.is_provider());
    let is_computed = |it: &Prop| it.from().is_some() || it.method().is_some();
    let is_open = providers.any(|res| res.properties.values().any(is_computed));
    let is_open = is_open || functions::hide_origins(&operation.program);
    // Reads are answered in any order, so another resource may be replaced first than in the preview.
    shares || is_open || (operation.flags.refresh && operation.flags.run_program)
}

fn keeps_to_what_was_shown(
    before: &World,
    operation: &Operation,
    shown: &Trace,
    held: &Trace,
) -> Result<(), Violation> {
    let done = before.clone().run(operation)?;
    // Unknown values may differ in the update, including whether they are secret.
    let is_other = steps(shown) != steps(&done) || secrets(shown) != secrets(&done);
    if done.result() != Some(OperationResult::Succeeded) || is_other {
        return Ok(());
    }
    if held.result() == done.result() && steps(held) == steps(&done) {
        return Ok(());
    }
    let (errors, steps) = (&held.errors, held.steps_told());
    let what = format!("a run does not keep to its own plan: {errors:?}; steps: {steps}");
    Err(Violation::new("plan", what))
}

/// Secret outputs in the replies of a run.
fn secrets(trace: &Trace) -> Vec<(&String, &str)> {
    let answers = trace.answers.iter();
    let outputs = answers.flat_map(|(name, answer)| {
        let secret = answer.outputs.iter().filter(|(_, value)| value.is_secret());
        secret.map(move |(key, _)| (name, key.as_str()))
    });
    outputs.collect()
}

/// Steps of a run, in any order except for those of one resource, whose order is planned.
fn steps(trace: &Trace) -> Vec<(&Urn, StepOp)> {
    let mut steps: Vec<_> = trace.steps.iter().map(|it| (&it.urn, it.op)).collect();
    steps.sort_by_key(|(urn, _)| *urn);
    steps
}
