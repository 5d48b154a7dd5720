//! Which operations leave nothing to do for another one with the same program.

use plumb_resource::{ResourceState, Urn};
use plumb_state::Snapshot;

use crate::model;
use crate::story::{Operation, Verb};
use crate::world::Trace;

/// Whether another run with the same program must find nothing to do.
pub(crate) fn settles(before: &Snapshot, operation: &Operation, trace: &Trace) -> bool {
    let mut states = trace.after.resources.iter();
    let is_restless = states.any(|state| state.inputs.contains_key("always"));
    // What is to go is not to go again.
    let flags = &operation.flags;
    let mut meant = flags.target_snippets.iter();
    let removes = meant.any(|uuid| flags.removes.contains(uuid));
    // Resources that name no version get the highest one that the state knew at first.
    let versions = |snapshot| model::versions_in(snapshot);
    let same_versions = versions(&before.resources) == versions(&trace.after.resources);
    operation.verb == Verb::Up
        && !operation.preview
        && operation.stop.is_none()
        && trace.result() == Some(plumb_events::OperationResult::Succeeded)
        && !is_restless
        && !removes
        && same_versions
        && !has_taken_from_others(before, operation, trace)
        && !keeps_for_others(operation, &trace.after)
}

/// Whether an object that the program has went with another resource that had it too.
fn has_taken_from_others(before: &Snapshot, operation: &Operation, trace: &Trace) -> bool {
    let is_deleted = |id: &str| {
        let mut mutations = trace.mutations.iter();
        mutations.any(|it| it.call == "delete" && it.id.as_str() == id)
    };
    // What is imported or read may have been managed under another name, and deleted under that.
    let adopts = operation.program.resources.iter().any(|res| {
        let id = res.import.as_ref().or(res.read.as_ref());
        id.is_some_and(|id| is_deleted(id))
    });
    // Programs have adopted an object twice, and it went with one of the two that had it.
    let holders = |id: &str| {
        let resources = before.resources.iter();
        resources.filter(|it| it.id.as_str() == id).count()
    };
    let mut states = trace.after.resources.iter();
    adopts
        || states.any(|state| {
            let id = state.id.as_str();
            holders(id) > 1 && is_deleted(id)
        })
}

/// Whether something stays only because a resource needed it so far: it goes in the next run. Runs with targets and
/// excludes may have such resources anywhere.
fn keeps_for_others(operation: &Operation, after: &Snapshot) -> bool {
    let flags = &operation.flags;
    let program = &operation.program;
    let is_target = |uuid: &str| flags.target_snippets.iter().any(|it| it == uuid);
    let registers = |urn: &Urn, uuid: &str| {
        let mut resources = program.resources.iter();
        resources.any(|res| res.snippet.as_deref() == Some(uuid) && program.urn_of(res) == *urn)
    };
    let is_of_target = |urn: &Urn| {
        let mut states = after.resources.iter();
        let state = states.find(|it| it.urn == *urn && !it.delete);
        let uuid = state.and_then(|state| state.snippet_id.as_deref());
        uuid.is_some_and(is_target)
    };
    let is_kept = |state: &ResourceState| match state.snippet_id.as_deref() {
        Some(uuid) => is_target(uuid) && !registers(&state.urn, uuid),
        // What depends on a target goes with it otherwise.
        None => state.view_of.is_none() && state.references().any(is_of_target),
    };
    !flags.targets.is_empty()
        || !flags.excludes.is_empty()
        || after.resources.iter().any(|state| is_kept(state))
}
