//! Invariants after every operation, independent of the model.

use plumb_deploy::{Deployment, Effect};
use plumb_resource::{OperationType, ResourceKind, StepOp, Urn};
use plumb_value::Value;
use rustc_hash::FxHashSet;

use crate::story::{Operation, Verb};
use crate::world::views::is_view;
use crate::world::{StepRecord, Trace, Violation, World};

/// Checks a run; `before` and `after` are the world before and after it.
pub fn check(
    before: &World,
    after: &mut World,
    operation: &Operation,
    trace: &Trace,
) -> Result<(), Violation> {
    release(before, after, operation, trace);
    nothing_is_lost(after)?;
    // Operations may stay pending if the run died or could not write its journal. A preview does not change the state.
    if trace.outcome.is_some() && !trace.journal_failed && !operation.preview {
        nothing_stays_pending(after)?;
    }
    secrets_stay_secret(after)?;
    no_view_outlives_its_owner(after)?;
    no_snippet_is_forgotten(after)?;
    nothing_registered_is_deleted(before, operation, trace)?;
    if trace.outcome.is_some() {
        nothing_begins_after_the_end(trace)?;
    }
    Ok(())
}

/// Marks objects that steps released without deleting them.
fn release(before: &World, after: &mut World, operation: &Operation, trace: &Trace) {
    // A destroy uses the options in the program, not those in the state.
    let destroys = operation.verb == Verb::Destroy;
    let mut registered = operation.program.resources.iter();
    let lets_go =
        destroys && registered.any(|res| res.retain == Some(true) || res.deleted_with.is_some());
    let mut registered = operation.program.resources.iter();
    let renames = destroys && registered.any(|res| !res.aliases.is_empty());
    let known: FxHashSet<String> = after
        .snapshot
        .resources
        .iter()
        .filter(|state| state.kind == ResourceKind::Custom)
        .map(|state| state.id.as_str().to_owned())
        .collect();
    for id in &known {
        after.cloud.adopted(id);
    }
    for state in &before.snapshot.resources {
        let id = state.id.as_str();
        if state.kind != ResourceKind::Custom || known.contains(id) {
            continue;
        }
        let may_go =
            state.external || state.retain_on_delete || state.deleted_with.is_some() || lets_go;
        let went = trace.steps.iter().any(|step| {
            (step.urn == state.urn || renames)
                && matches!(
                    step.op,
                    StepOp::Delete
                        | StepOp::DeleteReplaced
                        | StepOp::Discard
                        | StepOp::DiscardReplaced
                        | StepOp::RemovePendingReplace
                        | StepOp::CreateReplacement
                )
        });
        // Resources that were only read are not managed; those pending replacement were handled by an earlier run.
        if state.external || state.pending_replacement || (may_go && went) {
            after.cloud.released(id);
        }
    }
}

/// Every object that the engine created is in the state, or in a pending operation.
fn nothing_is_lost(after: &World) -> Result<(), Violation> {
    let snapshot = &after.snapshot;
    let known: FxHashSet<&str> = snapshot
        .resources
        .iter()
        .map(|state| state.id.as_str())
        .collect();
    for id in after.cloud.known_objects() {
        if !known.contains(id.as_str()) {
            return Err(Violation::new("lost", format!("object {id} is forgotten")));
        }
    }
    Ok(())
}

/// A completed run leaves no pending operations, except creates that only the user can resolve.
fn nothing_stays_pending(after: &World) -> Result<(), Violation> {
    let loose = after
        .snapshot
        .pending_operations
        .iter()
        .find(|pending| pending.operation != OperationType::Creating);
    match loose {
        None => Ok(()),
        Some(pending) => {
            let what = format!(
                "{} of {} stays pending",
                pending.operation.as_str(),
                pending.resource.urn.name()
            );
            Err(Violation::new("pending", what))
        }
    }
}

/// Outputs that depend on secret inputs are secret.
fn secrets_stay_secret(after: &World) -> Result<(), Violation> {
    for state in &after.snapshot.resources {
        // Outputs of components are registered by the program.
        if state.kind == ResourceKind::Component {
            continue;
        }
        for (key, value) in state.outputs.as_ref() {
            let secret = state.inputs.get(key.as_str()).is_some_and(Value::is_secret);
            // After a partial update the state has the former inputs, which are not those of the outputs.
            if secret && !value.is_secret() && state.init_errors.is_empty() {
                let what = format!("output {key} of {} is not secret", state.urn.name());
                return Err(Violation::new("secrets", what));
            }
        }
    }
    Ok(())
}

/// A snippet is stored as long as one of its resources exists.
fn no_snippet_is_forgotten(after: &World) -> Result<(), Violation> {
    let stored = &after.snapshot.snippets;
    for state in &after.snapshot.resources {
        let uuid = state.snippet_id.as_ref().filter(|_| !state.delete);
        if uuid.is_some_and(|uuid| stored.iter().all(|it| it.uuid != *uuid)) {
            let what = format!("the snippet of {} is not stored", state.urn.name());
            return Err(Violation::new("snippets", what));
        }
    }
    Ok(())
}

/// Every view has an owner.
fn no_view_outlives_its_owner(after: &World) -> Result<(), Violation> {
    let states = &after.snapshot.resources;
    let is_there = |owner: &Urn| {
        states
            .iter()
            .any(|it| it.urn == *owner && it.view_of.is_none())
    };
    for state in states {
        if state.view_of.as_ref().is_some_and(|owner| !is_there(owner)) {
            let what = format!("{} has outlived its owner", state.urn.name());
            return Err(Violation::new("views", what));
        }
    }
    Ok(())
}

/// An update deletes nothing that its program has registered, whatever became of the registration. Objects that are replaced
/// have steps of other kinds, and former copies may go.
fn nothing_registered_is_deleted(
    before: &World,
    operation: &Operation,
    trace: &Trace,
) -> Result<(), Violation> {
    let is_former = |step: &StepRecord| {
        let mut states = before.snapshot.resources.iter();
        let id = step.old_id.as_deref();
        states.any(|it| it.urn == step.urn && Some(it.id.as_str()) == id && it.delete)
    };
    let is_registered = |step: &StepRecord| {
        let mut answers = trace.answers.values();
        answers.any(|answer| answer.urn == step.urn)
    };
    let mut deleted = trace.steps.iter().filter(|step| step.op == StepOp::Delete);
    let lost = deleted.find(|step| is_registered(step) && !is_former(step));
    match lost.filter(|_| operation.verb == Verb::Up) {
        Some(step) => {
            let what = format!("{} is deleted, and was registered", step.urn.name());
            Err(Violation::new("deletes", what))
        }
        None => Ok(()),
    }
}

/// No step begins after an interrupt.
fn nothing_begins_after_the_end(trace: &Trace) -> Result<(), Violation> {
    let at = trace
        .log
        .iter()
        .position(|(_, event)| matches!(event, plumb_deploy::Event::Interrupted));
    // There was no interrupt.
    let Some(at) = at else { return Ok(()) };
    // Steps in progress may still report their views.
    let late = trace.effects[at..]
        .iter()
        .flatten()
        .any(|effect| match effect {
            Effect::Emit(plumb_events::Event::ResourcePre(step)) => !is_view(&step.metadata),
            effect => *effect == Effect::StartProgram,
        });
    if late {
        return Err(Violation::new("interrupt", "a step begins after it"));
    }
    Ok(())
}

/// Replaying the same events at the same times gives the same effects.
pub fn replays(before: &World, operation: &Operation, trace: &Trace) -> Result<(), Violation> {
    // There were no events.
    let Some((at, _)) = trace.log.first() else {
        return Ok(());
    };
    let mut world = before.clone();
    world.operations += 1;
    let started = *at - jiff::SignedDuration::from_millis(1);
    let mut again = Deployment::new(world.setup(operation), started)
        .map_err(|error| Violation::new("replay", error.to_string()))?;
    for ((at, event), effects) in trace.log.iter().zip(&trace.effects) {
        if again.handle(*at, event.clone()) != *effects {
            return Err(Violation::new("replay", format!("it differs at {event:?}")));
        }
    }
    Ok(())
}
