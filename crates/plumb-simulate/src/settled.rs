//! Operations after which another run with the same program has nothing to do.

use plumb_events::OperationResult;
use plumb_resource::{StepOp, Urn};
use plumb_state::Snapshot;
use rustc_hash::FxHashSet;

use crate::model;
use crate::plans::former_names;
use crate::story::{Flags, Operation, Prop, Verb};
use crate::world::{StepRecord, Trace, World};

/// Resources without a version use the highest one in the state at the beginning of the run, and the state has another
/// one now.
pub(crate) const OTHER_VERSIONS: &str = "other versions";

/// Reason why another run with the same program may have something to do; `None` if it must not.
pub(crate) fn unsettled(
    before: &Snapshot,
    after: &World,
    operation: &Operation,
    trace: &Trace,
) -> Option<&'static str> {
    let mut states = trace.after.resources.iter();
    let is_restless = states.any(|state| state.inputs.contains_key("always"));
    let versions = |snapshot| model::versions_in(snapshot);
    let same_versions = versions(&before.resources) == versions(&trace.after.resources);
    let reasons = [
        ("import", operation.verb == Verb::Import),
        ("preview", operation.preview),
        (
            "no success",
            trace.result() != Some(OperationResult::Succeeded),
        ),
        ("always changes", is_restless),
        ("targets went", targets_went(operation, trace)),
        ("excludes went", excludes_went(before, operation, trace)),
        (
            "left-out targets went",
            left_out_went(before, operation, trace),
        ),
        ("made in a destroy", made_in_destroy(operation, trace)),
        ("not ready", leaves_unready(operation, trace)),
        ("open trigger", has_open_trigger(operation, trace)),
        ("replaced target", has_replaced_target(operation, trace)),
        ("refreshes less", refreshes_less(after, operation)),
        ("reads nothing", reads_nothing_that_asks(after, operation)),
        ("other links", excludes_by_links(before, operation, trace)),
        (OTHER_VERSIONS, !same_versions),
        (
            "taken from others",
            has_taken_from_others(before, operation, trace),
        ),
        ("shared objects", finds_shared_objects(after, operation)),
    ];
    let mut reasons = reasons.into_iter();
    reasons.find(|(_, holds)| *holds).map(|(reason, _)| reason)
}

/// Whether an object of the program was deleted with another resource that shared it.
fn has_taken_from_others(before: &Snapshot, operation: &Operation, trace: &Trace) -> bool {
    let is_deleted = |id: &str| {
        let mut mutations = trace.mutations.iter();
        mutations.any(|it| it.call == "delete" && it.id.as_str() == id)
    };
    // An imported or read object may have been managed, and deleted, under another URN.
    let adopts = operation.program.resources.iter().any(|res| {
        let id = res.import.as_ref().or(res.read.as_ref());
        id.is_some_and(|id| is_deleted(id))
    });
    // A program may have imported an object twice, and one of the two resources was deleted with it.
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

/// Whether a resource with this name exists that can be a target.
fn is_target(name: &str, after: &Snapshot) -> bool {
    let mut states = after.resources.iter();
    name.contains('*') || states.any(|state| state.urn.name() == name)
}

/// Whether no target is left.
pub(crate) fn targets_went(operation: &Operation, trace: &Trace) -> bool {
    let targets = &operation.flags.targets;
    !targets.is_empty() && !targets.iter().any(|name| is_target(name, &trace.after))
}

/// Whether an excluded resource was renamed, so that the next run excludes neither it nor its dependencies. Example:
/// `--exclude j --exclude-dependents` keeps `h`, which has the provider of `j`; an alias renames `j` to `e`; the next
/// run deletes `h`.
fn excludes_went(before: &Snapshot, operation: &Operation, trace: &Trace) -> bool {
    let is_there = |name: &str, snapshot: &Snapshot| {
        let mut states = snapshot.resources.iter();
        states.any(|state| state.urn.name() == name)
    };
    let mut names = operation.flags.excludes.iter();
    names.any(|name| is_there(name, before) && !is_there(name, &trace.after))
}

/// Whether a resource with initialization errors was only read or was not targeted, so that the next run processes it
/// again. An untargeted update leaves none.
fn leaves_unready(operation: &Operation, trace: &Trace) -> bool {
    let mut states = trace.after.resources.iter();
    let only_looks = operation.verb == Verb::Refresh || is_constrained(&operation.flags);
    only_looks && states.any(|state| !state.init_errors.is_empty())
}

/// Whether the program of a targeted destroy created resources that stay: providers with a new name.
fn made_in_destroy(operation: &Operation, trace: &Trace) -> bool {
    let is_it = |step: &StepRecord| step.op == StepOp::Create;
    let is_of_some = operation.verb == Verb::Destroy && is_constrained(&operation.flags);
    is_of_some && trace.steps.iter().any(is_it)
}

/// Whether a target was deleted whose snippet did not run, and so did not register it: references to it are now
/// dangling.
pub(crate) fn left_out_went(before: &Snapshot, operation: &Operation, trace: &Trace) -> bool {
    let chosen = &operation.flags.target_snippets;
    let is_left_out = |uuid: &str| !chosen.is_empty() && !chosen.iter().any(|it| it == uuid);
    let mut states = before.resources.iter().filter(|state| !state.delete);
    states.any(|state| {
        let went = |step: &StepRecord| step.op == StepOp::Delete && step.urn == state.urn;
        let uuid = state.snippet_id.as_deref();
        uuid.is_some_and(is_left_out) && trace.steps.iter().any(went)
    })
}

/// Whether a resource was created with a trigger from a skipped resource, or from a method that depends on one, so that
/// the value for the next comparison is unknown (RTRIG-04).
fn has_open_trigger(operation: &Operation, trace: &Trace) -> bool {
    let program = &operation.program;
    let is_unknown = |name: &String| trace.answers.get(name).is_some_and(|it| it.unknown);
    let method = |prop: &Prop| program.method(prop.method()?);
    let mut triggers = program
        .resources
        .iter()
        .filter_map(|res| res.trigger.as_ref());
    triggers.any(|prop| {
        prop.from().is_some_and(is_unknown)
            || method(prop).is_some_and(|method| method.needs().any(is_unknown))
    })
}

/// Whether a target was replaced. If it was deleted together with its dependency, it does not count as a target in that
/// run (`engine.md` 4.3, G), and its new dependents are skipped.
fn has_replaced_target(operation: &Operation, trace: &Trace) -> bool {
    let is_it = |step: &StepRecord| step.op == StepOp::CreateReplacement;
    operation.flags.target_dependents && trace.steps.iter().any(is_it)
}

/// Whether the next run begins with a refresh that a resource requires, and that refresh fails because a target or an
/// excluded resource is not in the state.
fn refreshes_less(after: &World, operation: &Operation) -> bool {
    let flags = &operation.flags;
    let mut names: Vec<String> = flags.targets.clone();
    names.retain(|name| is_target(name, &after.snapshot));
    names.extend(flags.excludes.iter().cloned());
    let texts = after.urns_of(operation, &names);
    let states = &after.snapshot.resources;
    let is_known =
        |text: &String| text.contains('*') || states.iter().any(|state| state.urn.as_str() == text);
    refreshes(after, operation) && !texts.iter().all(is_known)
}

/// Whether the program ran without a refresh, so that resources that require one are only read by the next run.
fn reads_nothing_that_asks(after: &World, operation: &Operation) -> bool {
    let flags = &operation.flags;
    let mut states = after.snapshot.resources.iter();
    let asks = states.any(|state| state.refresh_before_update);
    operation.verb == Verb::Up && flags.run_program && !flags.refresh && asks
}

/// Whether excludes include what follows them, which goes on to the users of its providers, and a resource has changed its
/// provider, or what it is replaced with, so that the set is different now. Example: `--exclude d --exclude-dependents`
/// keeps `i`, which has the provider of `e`; `e` was replaced with `d`, and is not any more; the next run deletes `i`.
fn excludes_by_links(before: &Snapshot, operation: &Operation, trace: &Trace) -> bool {
    let flags = &operation.flags;
    let mut states = trace.after.resources.iter();
    let has_other = states.any(|state| {
        let mut formers = before.resources.iter().filter(|it| it.urn == state.urn);
        formers.any(|it| it.provider != state.provider || it.replace_with != state.replace_with)
    });
    flags.exclude_dependents && !flags.excludes.is_empty() && has_other
}

/// Whether the next run begins with a refresh.
fn refreshes(after: &World, operation: &Operation) -> bool {
    let mut states = after.snapshot.resources.iter();
    let asks = states.any(|state| state.refresh_before_update);
    operation.verb != Verb::Up || operation.flags.refresh || asks
}

/// Whether the next run reads an object that two resources manage, each of which may have updated it to its own inputs.
fn finds_shared_objects(after: &World, operation: &Operation) -> bool {
    let mut seen = FxHashSet::default();
    let mut states = after.snapshot.resources.iter();
    let is_shared = states.any(|state| !state.id.as_str().is_empty() && !seen.insert(&state.id));
    refreshes(after, operation) && is_shared
}

/// Whether an operation is targeted.
fn is_constrained(flags: &Flags) -> bool {
    let lists = [&flags.targets, &flags.excludes, &flags.target_snippets];
    lists.iter().any(|list| !list.is_empty())
}

/// The operation for the second run. Deleted targets are removed. Resources that a targeted operation kept for others
/// may be protected, but are deleted nevertheless.
pub(crate) fn again(world: &World, operation: &Operation) -> Operation {
    let flags = &operation.flags;
    let targets = flags.targets.iter();
    let targets = targets.filter(|name| is_target(name, &world.snapshot));
    let snippets = &world.snapshot.snippets;
    let is_stored = |uuid: &&String| snippets.iter().any(|it| it.uuid == uuid.as_str());
    let removes = flags.removes.iter().filter(is_stored);
    Operation {
        verb: operation.verb,
        seed: operation.seed + 1,
        parallel: operation.parallel,
        program: operation.program.clone(),
        flags: Flags {
            // A resource that has become a target or a dependent of one was not refreshed in the first run, and may
            // have drifted.
            refresh: flags.refresh
                && !flags.target_dependents
                && !flags.exclude_dependents
                && flags.target_snippets.is_empty(),
            run_program: false,
            targets: targets.cloned().collect(),
            ignore_protect: flags.ignore_protect || is_constrained(flags),
            replace: Vec::new(),
            stores: Vec::new(),
            removes: removes.cloned().collect(),
            ..flags.clone()
        },
        ..Operation::default()
    }
}

/// Whether a run had nothing to do.
pub(crate) fn found_nothing(trace: &Trace) -> bool {
    let outcome = trace.outcome.as_ref();
    outcome.is_some_and(|it| !it.has_changes && it.result == OperationResult::Succeeded)
}

/// Resources that a targeted operation kept, and the next run may delete.
///
/// 1. The former dependencies of a processed resource come before it in the state, and are therefore kept
///    (`engine.md` 4.3, F5).
/// 2. Targets and excludes include dependents according to the old state; a processed resource may have become a
///    dependent, or have ceased to be one.
/// 3. An excluded resource keeps the children of a component that it depends on, if they come before it in the state,
///    and the first run may have changed that order. Example: the state is `a`, its child `j`, and `g` which depends
///    on `a`; `--exclude g` keeps all three, and writes `j` last; the next run deletes it.
pub(crate) fn kept_for_others(before: &Snapshot, operation: &Operation, trace: &Trace) -> Vec<Urn> {
    let flags = &operation.flags;
    if !is_constrained(flags) {
        return Vec::new();
    }
    let is_registered = |urn: &Urn| trace.answers.values().any(|answer| answer.urn == *urn);
    let former = former_names(trace);
    let after = || trace.after.resources.iter().map(|state| &state.urn);
    let is_same =
        |urn: &Urn, other: &Urn| (urn.name(), urn.type_text()) == (other.name(), other.type_text());
    let present = |urn: &Urn| {
        let pair = former.iter().find(|(old, _)| old == urn);
        let is_there = after().any(|other| other == urn);
        // An unregistered resource is renamed if its parent is.
        let moves = |other: &&Urn| is_same(urn, other) && !is_registered(other);
        let moved = || after().find(|other| !is_there && moves(other));
        let present = pair.map(|(_, new)| new).or_else(moved);
        present.unwrap_or(urn).clone()
    };
    let mut kept: FxHashSet<Urn> = FxHashSet::default();
    let may_follow = flags.target_dependents || flags.exclude_dependents;
    let mut count = None;
    while count != Some(kept.len()) {
        count = Some(kept.len());
        for state in trace.after.resources.iter().filter(|_| may_follow) {
            let follows = |urn: &Urn| is_registered(urn) || kept.contains(urn);
            if state.references_and_provider().any(follows) {
                kept.insert(state.urn.clone());
            }
        }
        for state in before.resources.iter().rev() {
            let urn = present(&state.urn);
            if is_registered(&urn) || kept.contains(&urn) {
                kept.extend(state.references_and_provider().map(present));
            }
            let parent = state.parent.as_ref().map(present);
            if !flags.excludes.is_empty() && parent.is_some_and(|parent| kept.contains(&parent)) {
                kept.insert(urn);
            }
        }
    }
    kept.into_iter().collect()
}

/// Whether a run only deleted or released these resources and former copies of them.
pub(crate) fn only_lets_go(trace: &Trace, kept: &[Urn]) -> bool {
    use StepOp::{
        Delete, DeleteReplaced, Discard, DiscardReplaced, Read, Refresh, RemovePendingReplace, Same,
    };
    let is_right = |step: &StepRecord| match step.op {
        Same | Refresh | Read => true,
        // A copy pending deletion has waited for a skipped resource.
        DeleteReplaced | DiscardReplaced => true,
        Delete | Discard | RemovePendingReplace => kept.contains(&step.urn),
        _ => false,
    };
    trace.result() == Some(OperationResult::Succeeded) && trace.steps.iter().all(is_right)
}

/// Part of the error for a skipped resource that has the URN of an alias of a new resource.
const ALIAS_TAKEN: &str = "Duplicate resource";

/// Reason why another run of a targeted operation may fail.
pub(crate) fn refusal(operation: &Operation, trace: &Trace) -> Option<&'static str> {
    if !is_constrained(&operation.flags) {
        return None;
    }
    let refusals = [
        // The result depends on the order of registrations (`engine.md` 4.7).
        ("has not been registered yet", "old provider comes later"),
        ("could not find provider", "old provider comes later"),
        // A kept resource must be deleted, but an untargeted one depends on it (2014).
        ("will be destroyed but was not", "others need what was kept"),
        // An alias of what was left out names what the first run created, which depends on it.
        (
            "which depends on it in turn",
            "an alias of what was created",
        ),
        // A hook refuses the deletion.
        ("hook", "a hook of what was kept"),
    ];
    let all = |text: &str| {
        trace
            .errors
            .iter()
            .all(|error| error.contains(text) || error == "update failed")
    };
    let mut refusals = refusals.into_iter();
    let found = refusals.find(|(text, _)| !trace.errors.is_empty() && all(text));
    // The first run was finished when it left out the resource, and did not check it.
    let is_alias = trace.errors.iter().any(|error| error.contains(ALIAS_TAKEN));
    let alias = is_alias.then_some("an alias of what was left out");
    found.map(|(_, reason)| reason).or(alias)
}
