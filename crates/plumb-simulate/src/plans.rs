//! Update plans (`engine.md` 8.5): an update that does what its preview showed keeps to the plan that the preview made.

use plumb_events::OperationResult;
use plumb_resource::{StepOp, Urn};

use crate::coverage::Coverage;
use crate::story::{Operation, Verb};
use crate::world::{Planning, Trace, Violation, World};

/// Checks that an update may be held to its own plan; `before` is the world as the update finds it.
pub fn check(
    before: &World,
    operation: &Operation,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    let goes_well = operation.stop.is_none() && operation.faults.is_empty();
    // What an object is like that others have too depends on what they do to it first.
    let is_known = |id: &String| {
        let mut resources = before.snapshot.resources.iter();
        resources.any(|state| state.id.as_str() == id)
    };
    let mut resources = operation.program.resources.iter();
    let shares = resources.any(|res| res.import.iter().chain(&res.read).any(is_known));
    // A provider whose configuration is unknown is not asked, so nothing is known of what it makes of inputs.
    let mut providers = operation
        .program
        .resources
        .iter()
        .filter(|it| it.is_provider());
    let is_open = providers.any(|res| res.properties.values().any(|it| it.from().is_some()));
    // Answers to reads come in any order: what is replaced first may be another resource than in the preview.
    let is_racing = operation.flags.refresh && operation.flags.run_program;
    let is_left_open = shares || is_open || is_racing;
    if operation.verb != Verb::Up || operation.preview || !goes_well || is_left_open {
        return Ok(());
    }
    let preview = Operation {
        preview: true,
        ..operation.clone()
    };
    let shown = before.clone().run_with(&preview, Planning::Makes)?;
    let done = before.clone().run(operation)?;
    let Some(plan) = shown.plan.clone() else {
        return Ok(());
    };
    // What was unknown may have turned out otherwise: that a value comes from a secret, too.
    let is_other = steps(&shown) != steps(&done) || secrets(&shown) != secrets(&done);
    if done.result() != Some(OperationResult::Succeeded) || is_other {
        return Ok(());
    }
    coverage.reach("PLAN-13");
    let held = before.clone().run_with(operation, Planning::HeldTo(plan))?;
    if held.result() != done.result() || steps(&held) != steps(&done) {
        let steps: Vec<String> = held
            .steps
            .iter()
            .map(|step| format!("{} {}", step.op.as_str(), step.urn.name()))
            .collect();
        let what = format!(
            "a run does not keep to its own plan: {:?}; steps: {}",
            held.errors,
            steps.join(", ")
        );
        return Err(Violation::new("plan", what));
    }
    Ok(())
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

/// The steps of a run, in any order.
fn steps(trace: &Trace) -> Vec<(&Urn, StepOp)> {
    let mut steps: Vec<_> = trace.steps.iter().map(|it| (&it.urn, it.op)).collect();
    steps.sort();
    steps
}
