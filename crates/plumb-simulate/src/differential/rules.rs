//! Differences that are meant to be: each is a rule of `docs/compatibility.md`.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::compare::compare;
use super::{Both, Difference};

/// A difference that is meant to be.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Whether a difference is of its kind.
    pub covers: fn(&Both, &Difference) -> bool,
}

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule {
        name: "the reference does not end",
        covers: |both, _| text(&both.theirs["panic"]) == "the engine does not end",
    },
    Rule {
        name: "nothing is deleted where a target is unknown",
        covers: |both, difference| {
            let is_refused = says(&both.ours, UNKNOWN_TARGET) && says(&both.theirs, UNKNOWN_TARGET);
            let is_said_more = says(&both.theirs, "was not specified in --target list");
            is_refused && (is_said_more || !difference.signature.starts_with("messages"))
        },
    },
    Rule {
        name: "a refresh with the program forgets no reason to replace",
        covers: |both, difference| {
            let flags = &both.case["flags"];
            let reads = flags["refresh"] == true && flags["runProgram"] == true;
            let replaces = |side: &str| side.contains("replace ") || side.contains("replacement ");
            let is_up = both.case["verb"] == "up";
            let is_replaced = replaces(&difference.ours) && !replaces(&difference.theirs);
            let is_guarded = says(&both.ours, GUARDED) && !says(&both.theirs, GUARDED);
            is_up && reads && (is_replaced || is_guarded)
        },
    },
    Rule {
        name: "no state with missing dependencies",
        covers: |both, _| writes_invalid_state(both),
    },
    Rule {
        name: "what was passed on may be registered later",
        covers: |both, _| {
            let refused = |seen| says(seen, "Duplicate resource URN");
            is_constrained(both) && refused(&both.theirs) && !refused(&both.ours)
        },
    },
    Rule {
        name: "a targeted deletion compares nothing",
        covers: |both, difference| {
            let is_targeted = !list(&both.case["flags"]["targets"]).is_empty();
            is_targeted
                && difference.signature.starts_with("calls of")
                && is_the_same_without_diffs(both)
        },
    },
    Rule {
        name: "users of a replaced provider are replaced later too",
        covers: |both, _| is_replaced_with_former_provider(both),
    },
    Rule {
        name: "what needs an excluded creation is refused",
        covers: |both, _| says(&both.ours, "which is excluded and does not exist yet"),
    },
    Rule {
        name: "a destroy of nothing leaves nothing",
        covers: |both, difference| {
            let is_destroy = text(&both.case["verb"]) == "destroy";
            let was_empty = list(&both.case["state"]["deployment"]["resources"]).is_empty();
            let is_deletion = difference.signature.starts_with("steps: ours [delete ")
                && difference.signature.ends_with(" theirs []");
            is_destroy
                && was_empty
                && is_deletion
                && list(&both.ours["state"]["resources"]).is_empty()
        },
    },
    Rule {
        name: "a refused secret is not shown",
        covers: |both, difference| {
            difference.signature.starts_with("messages") && says(&both.ours, "value {[secret]} has")
        },
    },
];

const GUARDED: &str = "previously-imported resources that still specify an ID may not be replaced";

const UNKNOWN_TARGET: &str = "could not be found in the stack";

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_constrained(both: &Both) -> bool {
    let flags = &both.case["flags"];
    !list(&flags["targets"]).is_empty() || !list(&flags["excludes"]).is_empty()
}

/// Whether the reference fails to verify the state that it writes, because something in it is not there.
fn writes_invalid_state(both: &Both) -> bool {
    says(&both.theirs, "failed to verify snapshot") && !is_sound(&both.theirs["state"])
}

/// Whether each resource of a state comes after everything that it refers to.
fn is_sound(state: &Json) -> bool {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut providers: BTreeSet<String> = BTreeSet::new();
    list(&state["resources"]).iter().all(|resource| {
        let urn = text(&resource["urn"]);
        let single = ["parent", "deletedWith"].map(|key| text(&resource[key]));
        let many = ["dependencies", "replaceWith"].map(|key| list(&resource[key]));
        let by_property = resource["propertyDependencies"].as_object();
        let by_property = by_property.into_iter().flat_map(|it| it.values());
        let many = many.into_iter().chain(by_property.map(list));
        let mut references = single.into_iter().chain(many.flatten().map(text));
        let provider = text(&resource["provider"]);
        let is_after = references.all(|urn| urn.is_empty() || known.contains(urn))
            && (provider.is_empty() || providers.contains(provider));
        known.insert(urn);
        providers.insert(format!("{urn}::{}", text(&resource["id"])));
        is_after
    })
}

/// Whether the only difference is that the reference asks more providers to compare, with inputs that are not known.
fn is_the_same_without_diffs(both: &Both) -> bool {
    let mut theirs = both.theirs.clone();
    let ours = list(&both.ours["calls"]);
    if let Some(calls) = theirs["calls"].as_array_mut() {
        let is_extra = |call: &Json| {
            text(&call["call"]) == "Diff" && call["unknowns"] == true && !ours.contains(call)
        };
        calls.retain(|call| !is_extra(call));
    }
    compare(&both.case, &both.ours, &theirs).is_none()
}

/// Whether the core replaces a resource that the state has below a copy of its provider which is due for deletion, and the
/// reference does not.
fn is_replaced_with_former_provider(both: &Both) -> bool {
    let resources = list(&both.case["state"]["deployment"]["resources"]);
    let copies = resources.iter().filter(|it| it["delete"] == true);
    let copies: BTreeSet<String> = copies
        .map(|it| format!("{}::{}", text(&it["urn"]), text(&it["id"])))
        .collect();
    let replaces = |seen: &Json, urn: &str| {
        let mut steps = list(&seen["steps"]).iter();
        steps.any(|step| text(&step["urn"]) == urn && text(&step["op"]) == "create-replacement")
    };
    let mut users = resources
        .iter()
        .filter(|it| copies.contains(text(&it["provider"])));
    users.any(|it| {
        let urn = text(&it["urn"]);
        replaces(&both.ours, urn) && !replaces(&both.theirs, urn)
    })
}

/// Whether some message has this text.
fn says(seen: &Json, part: &str) -> bool {
    let mut messages = seen["messages"].as_array().into_iter().flatten();
    messages.any(|message| text(&message["text"]).contains(part))
}

/// The rule that a difference falls under.
pub fn rule_of(both: &Both, difference: &Difference) -> Option<&'static str> {
    let mut rules = RULES.iter();
    let rule = rules.find(|rule| (rule.covers)(both, difference));
    rule.map(|rule| rule.name)
}
