//! Comparison of the order of steps, only between resources of which one refers to the other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::{Difference, class, items, name, text};

/// Referenced resources of each resource, by URN.
type References<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// First two steps in a different order.
pub(super) fn order(case: &Json, ours: &Json, theirs: &Json) -> Option<Difference> {
    let mut references = References::new();
    for state in [
        &case["state"]["deployment"],
        &ours["state"],
        &theirs["state"],
    ] {
        for resource in items(&state["resources"]) {
            let found = references.entry(text(&resource["urn"])).or_default();
            mentioned(resource, found);
        }
    }
    let refers = |one: &str, other: &str| references.get(one).is_some_and(|it| it.contains(other));
    let (mine, other) = (steps(ours), steps(theirs));
    for (at, first) in mine.iter().enumerate() {
        for second in &mine[at + 1..] {
            let related =
                refers(first.1, second.1) || refers(second.1, first.1) || first.1 == second.1;
            if !related || first == second || is_before(&other, *first, *second) {
                continue;
            }
            let kinds = [first, second].map(|(op, urn)| format!("{op} {}", class(urn)));
            let signature = format!("order: ours {} before {}", kinds[0], kinds[1]);
            let shown = |all: &[(&str, &str)]| {
                let all = all.iter().map(|(op, urn)| format!("{op} {}", name(urn)));
                all.collect::<Vec<_>>().join(", ")
            };
            return Some(Difference::new(signature, shown(&mine), shown(&other)));
        }
    }
    None
}

fn steps(seen: &Json) -> Vec<(&str, &str)> {
    let steps = items(&seen["steps"]).iter();
    steps
        .map(|it| (text(&it["op"]), text(&it["urn"])))
        .collect()
}

/// Whether any `first` comes before any `second`; each may occur several times, for several copies.
fn is_before(all: &[(&str, &str)], first: (&str, &str), second: (&str, &str)) -> bool {
    let earliest = all.iter().position(|it| *it == first);
    let latest = all.iter().rposition(|it| *it == second);
    earliest
        .zip(latest)
        .is_none_or(|(first, second)| first < second)
}

/// URNs in the members of a state that refer to other resources, and in provider references.
fn mentioned<'a>(resource: &'a Json, found: &mut BTreeSet<&'a str>) {
    for key in ["parent", "deletedWith", "viewOf"] {
        found.insert(text(&resource[key]));
    }
    let provider = text(&resource["provider"]);
    found.extend(provider.rsplit_once("::").map(|(urn, _)| urn));
    found.extend(items(&resource["dependencies"]).iter().map(text));
    let properties = resource["propertyDependencies"].as_object();
    for urns in properties.into_iter().flat_map(|it| it.values()) {
        found.extend(items(urns).iter().map(text));
    }
}
