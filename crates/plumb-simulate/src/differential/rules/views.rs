//! Intended differences about views: parts of an object that its provider shows as resources of their own.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{has_resource, has_step, hook_calls, is_settled, list, says, text, without_resources};
use crate::differential::Both;
use crate::world::views::PART;

/// Whether a preview of the reference counts views of an object that cannot be created: an update would record them.
pub(super) fn counts_views_of_nothing(both: &Both) -> bool {
    let is_told = |fault: &Json| text(&fault["call"]) == "create" && text(&fault["kind"]) == "told";
    both.case["preview"] == true && list(&both.case["faults"]).iter().any(is_told)
}

/// Whether the reference keeps a view of an object that was deleted in a replacement.
pub(super) fn replaces_more_views(both: &Both) -> bool {
    let resources = list(&both.case["state"]["deployment"]["resources"]).iter();
    let mut views = resources.filter(|it| !text(&it["viewOf"]).is_empty());
    views.any(|it| {
        let (urn, owner) = (text(&it["urn"]), text(&it["viewOf"]));
        let is_deleted = |seen: &Json| {
            let is_owner_replaced =
                ["replace", "delete-replaced"].map(|op| has_step(seen, op, owner));
            has_step(seen, "delete-replaced", urn)
                || has_step(seen, "delete", urn) && is_owner_replaced.contains(&true)
        };
        is_deleted(&both.ours) && !is_deleted(&both.theirs)
    })
}

/// Whether only the core marks the views of a former copy as due for deletion.
pub(super) fn retires_more_views(both: &Both) -> bool {
    let is_due = |seen: &Json, urn: &Json| {
        let mut resources = list(&seen["state"]["resources"]).iter();
        resources.any(|it| it["urn"] == *urn && it["delete"] == true)
    };
    let mut resources = list(&both.ours["state"]["resources"]).iter();
    resources.any(|it| {
        let is_view = !text(&it["viewOf"]).is_empty();
        let due = |urn: &Json| [&both.ours, &both.theirs].map(|seen| is_due(seen, urn));
        is_view && due(&it["urn"]) == [true, false] && due(&it["viewOf"]) == [true, true]
    })
}

/// Whether the only difference is that the reference shows steps of views once for each attempt of their owner's step.
pub(super) fn is_the_same_with_each_view_once(both: &Both) -> bool {
    let once = |seen: &Json| {
        let mut seen = without_resources(seen, |_| false);
        let mut known: Vec<Json> = Vec::new();
        for step in seen["steps"].as_array_mut().into_iter().flatten() {
            if !known.contains(step) {
                known.push(step.clone());
            }
        }
        seen["steps"] = known.into();
        seen
    };
    let (ours, theirs) = (once(&both.ours), once(&both.theirs));
    let is_retried = hook_calls(&both.ours) > 0 && says(&both.ours, "due to on-error hook request");
    let mut steps = list(&both.theirs["steps"]).iter();
    let is_imported = steps.any(|step| text(&step["op"]) == "import-replacement");
    (is_retried || is_imported) && is_settled(both, ours, theirs)
}

/// Whether the only difference is that the core shows deletions of views whose owner is deleted on both sides. The reference
/// leaves them out if a refresh in the same run has found the views.
pub(super) fn is_the_same_without_deleted_views(both: &Both) -> bool {
    let is_gone = |seen: &Json, urn: &str| {
        ["delete", "delete-replaced"]
            .iter()
            .any(|op| has_step(seen, op, urn))
    };
    let views: BTreeSet<&str> = list(&both.ours["steps"])
        .iter()
        .map(|step| text(&step["urn"]))
        .filter(|urn| is_gone(&both.ours, urn) && !is_gone(&both.theirs, urn))
        .filter(|urn| {
            let owner = owner_of_view(urn);
            owner.is_some_and(|owner| is_gone(&both.ours, &owner) && is_gone(&both.theirs, &owner))
        })
        .collect();
    let without = |seen| without_resources(seen, |it| views.contains(text(&it["urn"])));
    !views.is_empty() && is_settled(both, without(&both.ours), without(&both.theirs))
}

/// URN of the resource that a view belongs to: its own is that of the owner with the type of views, and a number behind the
/// name.
fn owner_of_view(urn: &str) -> Option<String> {
    let (owner, name) = urn.split_once(&format!("${PART}::"))?;
    let (name, _) = name.rsplit_once('-')?;
    Some(format!("{owner}::{name}"))
}

/// Whether the reference keeps a view without an owner in the state.
pub(super) fn keeps_views_of_nothing(both: &Both) -> bool {
    let resources = list(&both.theirs["state"]["resources"]);
    let is_there = |urn: &str| resources.iter().any(|it| text(&it["urn"]) == urn);
    let mut owners = resources.iter().map(|it| text(&it["viewOf"]));
    owners.any(|owner| !owner.is_empty() && !is_there(owner))
}

/// Whether the only difference is about views of resources with a former copy in the state: the reference takes the
/// views of the current copy for those of the former one.
pub(super) fn is_the_same_without_views_of_copies(both: &Both) -> bool {
    let before = list(&both.case["state"]["deployment"]["resources"]);
    let former = before.iter().filter(|it| it["delete"] == true);
    let former: BTreeSet<&str> = former.map(|it| text(&it["urn"])).collect();
    let states = [
        &both.ours["state"]["resources"],
        &both.theirs["state"]["resources"],
    ];
    let all = states.into_iter().flat_map(list).chain(before);
    let views = all.filter(|it| former.contains(text(&it["viewOf"])));
    let views: BTreeSet<&str> = views.map(|it| text(&it["urn"])).collect();
    let without = |seen| without_resources(seen, |it| views.contains(text(&it["urn"])));
    let (ours, theirs) = (without(&both.ours), without(&both.theirs));
    !views.is_empty() && is_settled(both, ours, theirs)
}

/// Whether the reference keeps a view that its step deletes, or that a refresh of its object finds gone.
pub(super) fn keeps_lost_views(both: &Both) -> bool {
    let mut kept = list(&both.theirs["state"]["resources"]).iter();
    kept.any(|it| {
        let urn = text(&it["urn"]);
        let is_deleted = |seen: &Json| has_step(seen, "delete", urn);
        !text(&it["viewOf"]).is_empty()
            && (is_deleted(&both.ours) && is_deleted(&both.theirs)
                || has_step(&both.ours, "refresh", urn) && !has_resource(&both.ours, urn))
    })
}

/// Whether the reference shows that a refresh found a view, and does not record it.
pub(super) fn forgets_found_views(both: &Both) -> bool {
    let mut found = list(&both.ours["state"]["resources"]).iter();
    found.any(|it| {
        let urn = text(&it["urn"]);
        !text(&it["viewOf"]).is_empty()
            && has_step(&both.theirs, "refresh", urn)
            && !has_resource(&both.theirs, urn)
    })
}

/// Whether only the core shows what a refresh finds of a view, whose object is gone.
pub(super) fn reads_more_views(both: &Both) -> bool {
    let mut before = list(&both.case["state"]["deployment"]["resources"]).iter();
    before.any(|it| {
        let is_read = |seen: &Json| has_step(seen, "refresh", text(&it["urn"]));
        !text(&it["viewOf"]).is_empty() && is_read(&both.ours) && !is_read(&both.theirs)
    })
}

/// Whether the reference keeps an object that its provider has deleted, because the deletion of one of its views
/// failed.
pub(super) fn keeps_deleted_object(both: &Both) -> bool {
    let copies = |seen: &Json, urn: &str| {
        let resources = list(&seen["state"]["resources"]).iter();
        resources.filter(|it| text(&it["urn"]) == urn).count()
    };
    let before = list(&both.case["state"]["deployment"]["resources"]);
    let mut failed = list(&both.theirs["failed"]).iter();
    failed.any(|step| {
        let mut views = before.iter().filter(|it| it["urn"] == step["urn"]);
        views.any(|view| {
            let owner = text(&view["viewOf"]);
            !owner.is_empty() && copies(&both.theirs, owner) > copies(&both.ours, owner)
        })
    })
}
