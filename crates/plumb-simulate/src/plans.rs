//! Update plans (`engine.md` 8.5): every update is held to the plan that its own preview makes.
//!
//! 1. It keeps to the plan, and then it is a run like any other: what the model says of runs holds of it.
//! 2. Or it does not, says so, and fails; then it has touched nothing that the plan does not have it touch.
//! 3. Where the preview shows what the update does, it must keep to it. Only a preview cannot always show it: of an object
//!    that several resources have, of a provider whose configuration is not known, and of resources that are read while the
//!    program runs, whose answers come in any order.
//!
//! Whatever it does, the rules for all runs hold ([`checks`]).

use plumb_deploy::Effect;
use plumb_events::{Event, OperationResult};
use plumb_resource::{StepOp, Urn};
use plumb_state::plan::Plan;

use crate::coverage::Coverage;
use crate::story::{Operation, Prop, Verb};
use crate::world::{Mutation, Planning, Trace, Violation, World, functions};
use crate::{checks, model};

/// Holds an update to its own plan; `before` is the world as the update finds it.
pub fn check(
    before: &World,
    operation: &Operation,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    // Only updates are planned.
    if operation.verb != Verb::Up || operation.preview {
        return Ok(());
    }
    let preview = Operation {
        preview: true,
        ..operation.clone()
    };
    let shown = before.clone().run_with(&preview, Planning::Makes)?;
    // A preview that fails makes no plan.
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

/// Whether something ended a run before it was done that no plan knows of.
fn is_cut_short(held: &Trace) -> bool {
    !held.can_be_followed() || held.interrupted || held.program_failed
}

/// Whether a run says that it does not keep to its plan.
fn is_violated(held: &Trace) -> bool {
    let says = |text: &&str| held.errors.iter().any(|error| error.contains(text));
    let ways = [
        "violates plan",
        "allowed by the plan",
        "expected resource operations",
    ];
    ways.iter().any(says)
}

/// A violation is found before anything is done about it.
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

/// Whether a planned step may be that call; less than planned may happen.
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

/// What resources were called before, and are called now.
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
    // What an object is like that others have too depends on what they do to it first.
    let is_known = |id: &String| {
        let mut states = before.snapshot.resources.iter();
        states.any(|state| state.id.as_str() == id)
    };
    let shares = resources().any(|res| res.import.iter().chain(&res.read).any(is_known));
    // A provider whose configuration is unknown is not asked, so nothing is known of what it makes of inputs.
    let mut providers = resources().filter(|res| res.is_provider());
    let is_computed = |it: &Prop| it.from().is_some() || it.method().is_some();
    let is_open = providers.any(|res| res.properties.values().any(is_computed));
    let is_open = is_open || functions::hide_origins(&operation.program);
    // Answers to reads come in any order: what is replaced first may be another resource than in the preview.
    shares || is_open || (operation.flags.refresh && operation.flags.run_program)
}

fn keeps_to_what_was_shown(
    before: &World,
    operation: &Operation,
    shown: &Trace,
    held: &Trace,
) -> Result<(), Violation> {
    let done = before.clone().run(operation)?;
    // What was unknown may have turned out otherwise: that a value comes from a secret, too.
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

/// The outputs of which a run told as of secrets.
fn secrets(trace: &Trace) -> Vec<(&String, &str)> {
    let answers = trace.answers.iter();
    let outputs = answers.flat_map(|(name, answer)| {
        let secret = answer.outputs.iter().filter(|(_, value)| value.is_secret());
        secret.map(move |(key, _)| (name, key.as_str()))
    });
    outputs.collect()
}

/// The steps of a run, in any order but for those of the same resource: which object goes first is planned too.
fn steps(trace: &Trace) -> Vec<(&Urn, StepOp)> {
    let mut steps: Vec<_> = trace.steps.iter().map(|it| (&it.urn, it.op)).collect();
    steps.sort_by_key(|(urn, _)| *urn);
    steps
}
