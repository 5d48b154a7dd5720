//! Intended differences; each is a rule of `docs/compatibility.md`.

mod views;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{Both, Difference};
use views::{
    counts_views_of_nothing, forgets_found_views, is_the_same_with_each_view_once,
    is_the_same_without_deleted_views, is_the_same_without_views_of_copies, keeps_deleted_object,
    keeps_lost_views, keeps_views_of_nothing, reads_more_views, replaces_more_views,
    retires_more_views,
};

/// An intended difference.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name of the rule.
    pub name: &'static str,
    /// Whether the rule covers a difference.
    pub covers: fn(&Both, &Difference) -> bool,
}

/// All rules.
pub const RULES: &[Rule] = &[
    Rule {
        name: "the reference does not end, or ends with an internal error",
        covers: |both, _| {
            let panic = text(&both.theirs["panic"]);
            let is_lost = ["the engine does not end", "the process ended"].contains(&panic);
            is_lost
                || INTERNAL
                    .iter()
                    .any(|what| says(&both.theirs, what) && !says(&both.ours, what))
        },
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
        name: "a refresh with the program takes over no options",
        covers: |both, difference| {
            if is_the_same_without_options(both) {
                return true;
            }
            let flags = &both.case["flags"];
            let reads = flags["refresh"] == true && flags["runProgram"] == true;
            let replaces = |side: &str| side.contains("replace ") || side.contains("replacement ");
            let is_up = both.case["verb"] == "up";
            let is_replaced = replaces(&difference.ours) && !replaces(&difference.theirs);
            let is_guarded = says(&both.ours, GUARDED) && !says(&both.theirs, GUARDED);
            // Hooks are among the options: only the core still calls those of the state.
            let is_hooked = says(&both.ours, "was not registered");
            // So are aliases: the reference names the deleted copy as the program does now.
            let is_renamed = difference.signature
                == "steps: ours [delete-replaced custom] theirs [delete-replaced custom]";
            is_up && reads && (is_replaced || is_guarded || is_hooked || is_renamed)
        },
    },
    Rule {
        name: "no state with missing dependencies",
        covers: |both, difference| {
            writes_invalid_state(both)
                || difference.signature.starts_with("counts") && counts_views_of_nothing(both)
                || difference.signature.starts_with("steps: ours [same ") && passes_on_needed(both)
                || reads_on_skipped(both)
        },
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
        covers: |both, difference| {
            let is_former_deleted = difference
                .signature
                .starts_with("steps: ours [] theirs [delete-replaced default provider]");
            let is_replaced = difference.signature.starts_with(
                "steps: ours [create-replacement custom, delete-replaced custom, replace custom]",
            );
            is_replaced_with_former_provider(both)
                || (is_replaced || is_about_providers(difference) || is_former_deleted)
                    && !users_of_former(both).is_empty()
        },
    },
    Rule {
        name: "what needs an excluded creation is refused",
        covers: |both, _| says(&both.ours, "which is excluded and does not exist yet"),
    },
    Rule {
        name: "a destroy leaves nothing that it made, and deletes dependents first",
        covers: |both, difference| {
            let is_destroy = text(&both.case["verb"]) == "destroy";
            let runs_program = both.case["flags"]["runProgram"] == true;
            // The reference sends no id of an object that depends on something new, although the object is not deleted
            // before the program ends.
            let has_no_id = difference.signature == "reply to custom: id"
                && difference.theirs.ends_with(": \"\"");
            if is_destroy && runs_program && has_no_id {
                return true;
            }
            let deletes_more = difference
                .signature
                .starts_with("steps: ours [] theirs [delete ");
            if is_destroy && runs_program && deletes_more && says(&both.ours, "cannot be deleted") {
                return true;
            }
            if keeps_what_protected_need(both) {
                return true;
            }
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
        name: "a provider is of the version of its package",
        covers: |both, _| is_of_another_version(both),
    },
    Rule {
        name: "an extension is applied where a call needs it",
        covers: |both, _| {
            is_the_same_without_extensions(both)
                || [&both.ours, &both.theirs]
                    .iter()
                    .any(|seen| says(seen, REFUSED))
        },
    },
    Rule {
        name: "the parts of an object are those that it has, and go with it",
        covers: |both, difference| {
            let is_about_state = difference.signature.starts_with("state");
            is_about_state && (keeps_lost_views(both) || forgets_found_views(both))
                || difference.signature.contains("refresh custom") && keeps_lost_views(both)
                || keeps_views_of_nothing(both)
                || is_the_same_without_deleted_views(both)
                || replaces_more_views(both)
                || retires_more_views(both)
                || both.case["preview"] == true && reads_more_views(both)
                || is_the_same_with_each_view_once(both)
        },
    },
    Rule {
        name: "what is read or deleted early has its provider",
        covers: |both, _| {
            let is_unknown = |seen: &Json| says(seen, "unknown provider '");
            is_unknown(&both.theirs) && !is_unknown(&both.ours)
        },
    },
    Rule {
        name: "a former copy is read by itself, and has no parts of its successor",
        covers: |both, difference| {
            is_the_same_without_views_of_copies(both)
                || difference.signature.starts_with("steps: ours [refresh ")
                    && reads_more_copies(both)
        },
    },
    Rule {
        name: "an error hook that fails is told of in deletions too",
        covers: |both, difference| {
            difference.signature.starts_with("messages")
                && [&both.ours, &both.theirs].map(|seen| says(seen, ERROR_HOOKS)) == [true, false]
        },
    },
    Rule {
        name: "an interrupted run is canceled, whatever its steps say",
        covers: |both, difference| {
            let is_canceled = |what| difference.ours.contains(what);
            let is_failed = |what| difference.theirs.contains(what);
            difference.signature.starts_with("messages: ours [error:")
                && (is_canceled("update canceled") && is_failed("update failed")
                    || is_canceled("preview canceled") && is_failed("preview failed"))
                && says(&both.ours, "canceled")
        },
    },
    Rule {
        name: "no hook is called for what is refused, or after an interrupt",
        covers: |both, difference| {
            let is_asked_more = |what: &str| {
                hook_calls(&both.theirs) > hook_calls(&both.ours) && says(&both.ours, what)
            };
            let is_called = difference.signature.starts_with("calls of")
                && ["update canceled", "preview canceled", "it is protected"]
                    .iter()
                    .any(|what| is_asked_more(what));
            let is_unknown = |seen: &Json| says(seen, "was not registered");
            let is_refused = says(&both.ours, "it is protected");
            is_called || is_refused && is_unknown(&both.theirs) && !is_unknown(&both.ours)
        },
    },
    Rule {
        name: "the command line refuses two imports of one name",
        covers: |both, difference| {
            both.case["verb"] == "import" && difference.ours.contains("duplicate import")
        },
    },
    Rule {
        name: "an object whose place a read takes is kept until it is deleted",
        covers: |both, _| loses_object_of_read(both),
    },
    Rule {
        name: "what was deleted is gone, even if one of its parts or its replacement failed",
        covers: |both, _| deletes_again(both) || keeps_deleted_object(both),
    },
    Rule {
        name: "a refresh that fails records nothing",
        covers: |both, _| is_the_same_without_failed_refreshes(both),
    },
    Rule {
        name: "a replacement keeps what policies remediated",
        covers: |both, difference| {
            loses_remedy(both, difference)
                || difference.signature.starts_with("messages") && judges_more(both)
        },
    },
    Rule {
        name: "what a run leaves out is neither judged, read nor imported",
        covers: |both, difference| {
            let is_seen = |what: &str| difference.signature.starts_with(what);
            let is_about_policies = is_seen("messages: ours [] theirs [policy")
                || is_seen("messages: ours [] theirs [remediation");
            let is_read = is_seen("steps: ours [] theirs [refresh custom]");
            is_constrained(both) && (is_about_policies || is_read || imports_more(both))
        },
    },
    Rule {
        name: "a refused value is the one that the provider has checked, and no secret",
        covers: |both, difference| {
            difference.signature.starts_with("messages")
                && (says(&both.ours, "value {[secret]} has") || refuses_other_values(both))
        },
    },
];

/// Messages of the reference about mistakes of its own.
const INTERNAL: [&str; 2] = [
    "whose registration isn't pending",
    "resource should already have a plan",
];

/// Message about error hooks that fail or are not registered.
const ERROR_HOOKS: &str = "error hooks execution failed";

/// Message of plugins for an unknown extension.
const REFUSED: &str = "no such extension";

const GUARDED: &str = "previously-imported resources that still specify an ID may not be replaced";

const PROTECTED: &str = "as it is currently marked for protection";

const NO_PROVIDER: &str = "could not load provider for resource";

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

/// Whether the reference writes a state that fails its own integrity check, because a reference is missing or a URN is
/// duplicate.
fn writes_invalid_state(both: &Both) -> bool {
    let state = &both.theirs["state"];
    let complaint = "failed to verify snapshot";
    let is_found =
        says(&both.theirs, complaint) || text(&both.theirs["trouble"]).contains(complaint);
    is_found && (!is_sound(state) || has_duplicates(state))
}

/// Whether only the core passes on a resource that the program does not register, because another one that it passes on
/// refers to it.
fn passes_on_needed(both: &Both) -> bool {
    let is_same = |seen: &Json, urn: &str| has_step(seen, "same", urn);
    let resources = list(&both.case["state"]["deployment"]["resources"]);
    resources.iter().any(|user| {
        let mut needed = list(&user["dependencies"]).iter().map(text);
        is_same(&both.theirs, text(&user["urn"]))
            && needed.any(|urn| is_same(&both.ours, urn) && !is_same(&both.theirs, urn))
    })
}

/// Whether only the core refuses to read, in a preview, what needs a resource that targets leave out. In an update the state
/// of the reference is invalid then.
fn reads_on_skipped(both: &Both) -> bool {
    let mut messages = list(&both.ours["messages"]).iter();
    both.case["preview"] == true
        && messages.any(|it| {
            text(&it["text"]).contains("was not specified in --target list")
                && has_step(&both.theirs, "read", text(&it["urn"]))
        })
}

fn has_duplicates(state: &Json) -> bool {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut present = list(&state["resources"])
        .iter()
        .filter(|it| it["delete"] != true);
    !present.all(|it| known.insert(text(&it["urn"])))
}

/// Whether each resource of a state comes after those that it refers to.
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

/// Whether the only difference is that the reference calls Diff for more providers, with unknown inputs.
fn is_the_same_without_diffs(both: &Both) -> bool {
    let mut theirs = both.theirs.clone();
    let ours = list(&both.ours["calls"]);
    if let Some(calls) = theirs["calls"].as_array_mut() {
        let is_extra = |call: &Json| {
            let is_diff = text(&call["call"]).starts_with("Diff") && call["unknowns"] == true;
            let is_extension = text(&call["call"]) == "Parameterize";
            (is_diff || is_extension) && !ours.contains(call)
        };
        calls.retain(|call| !is_extra(call));
    }
    let without_verdicts = |seen: &Json| {
        let mut seen = seen.clone();
        if let Some(messages) = seen["messages"].as_array_mut() {
            messages.retain(|it| !text(&it["severity"]).starts_with("policy "));
        }
        seen
    };
    let (ours, theirs) = (without_verdicts(&both.ours), without_verdicts(&theirs));
    is_settled(both, ours, theirs)
}

/// Whether a difference is about the set of providers for which Diff is called.
fn is_about_providers(difference: &Difference) -> bool {
    let signature = &difference.signature;
    signature.starts_with("call DiffConfig") || signature.starts_with("calls of default provider")
}

/// Resources in the state whose provider is a copy that is pending deletion.
fn users_of_former(both: &Both) -> Vec<&str> {
    let resources = list(&both.case["state"]["deployment"]["resources"]);
    let copies = resources.iter().filter(|it| it["delete"] == true);
    let copies: BTreeSet<String> = copies
        .map(|it| format!("{}::{}", text(&it["urn"]), text(&it["id"])))
        .collect();
    let users = resources
        .iter()
        .filter(|it| copies.contains(text(&it["provider"])));
    users.map(|it| text(&it["urn"])).collect()
}

fn has_step(seen: &Json, op: &str, urn: &str) -> bool {
    has_step_among(&seen["steps"], op, urn)
}

fn has_step_among(steps: &Json, op: &str, urn: &str) -> bool {
    let mut steps = list(steps).iter();
    steps.any(|step| text(&step["urn"]) == urn && text(&step["op"]) == op)
}

/// Whether only the core replaces or reads a user of a former provider, or refuses to replace an imported one.
fn is_replaced_with_former_provider(both: &Both) -> bool {
    let users = users_of_former(both);
    let mut refusals = [GUARDED, PROTECTED].into_iter();
    let is_refused = refusals.any(|why| says(&both.ours, why) && !says(&both.theirs, why));
    let mut changed = users.iter().flat_map(|urn| {
        ["create-replacement", "refresh"]
            .map(|op| [&both.ours, &both.theirs].map(|seen| has_step(seen, op, urn)))
    });
    !users.is_empty() && is_refused || changed.any(|seen| seen == [true, false])
}

/// Whether the only difference is the time and number of parameterizations with extensions.
fn is_the_same_without_extensions(both: &Both) -> bool {
    let without = |seen: &Json| {
        let mut seen = seen.clone();
        if let Some(calls) = seen["calls"].as_array_mut() {
            calls.retain(|call| text(&call["call"]) != "Parameterize");
        }
        // The reference records no extension for resources that are read or imported.
        let resources = seen["state"]["resources"].as_array_mut();
        for resource in resources.into_iter().flatten() {
            let is_found = resource["external"] == true || resource.get("importID").is_some();
            if is_found && let Some(members) = resource.as_object_mut() {
                members.remove("extensionRef");
            }
        }
        seen
    };
    let (ours, theirs) = (without(&both.ours), without(&both.theirs));
    is_settled(both, ours, theirs)
}

/// Account without the resources selected by `drops`.
fn without_resources(seen: &Json, drops: impl Fn(&Json) -> bool) -> Json {
    let mut seen = seen.clone();
    for section in ["steps", "failed"] {
        if let Some(steps) = seen[section].as_array_mut() {
            steps.retain(|step| !drops(step));
        }
    }
    if let Some(resources) = seen["state"]["resources"].as_array_mut() {
        resources.retain(|it| !drops(it));
    }
    if let Some(members) = seen.as_object_mut() {
        members.remove("changes");
    }
    seen
}

/// Whether a refresh with the program reads a former copy of a resource beside the resource itself.
fn reads_more_copies(both: &Both) -> bool {
    let reads = |seen: &Json, urn: &str| {
        let steps = list(&seen["steps"]).iter();
        let steps = steps.filter(|step| text(&step["op"]) == "refresh");
        steps.filter(|step| text(&step["urn"]) == urn).count()
    };
    let mut before = list(&both.case["state"]["deployment"]["resources"]).iter();
    both.case["flags"]["runProgram"] == true
        && before.any(|it| {
            let urn = text(&it["urn"]);
            it["delete"] == true && reads(&both.ours, urn) > reads(&both.theirs, urn)
        })
}

/// Whether the only difference is about resources whose refresh failed.
fn is_the_same_without_failed_refreshes(both: &Both) -> bool {
    let failed = list(&both.theirs["failed"]).iter();
    let failed = failed.filter(|it| text(&it["op"]) == "refresh");
    let failed: BTreeSet<&str> = failed.map(|it| text(&it["urn"])).collect();
    let without = |seen| without_resources(seen, |it| failed.contains(text(&it["urn"])));
    let (ours, theirs) = (without(&both.ours), without(&both.theirs));
    !failed.is_empty() && is_settled(both, ours, theirs)
}

/// Options of a registration, apart from its inputs.
const OPTIONS: [&str; 17] = [
    "additionalSecretOutputs",
    "aliases",
    "customTimeouts",
    "deletedWith",
    "dependencies",
    "extensionRef",
    "hideDiff",
    "ignoreChanges",
    "parent",
    "propertyDependencies",
    "protect",
    "provider",
    "replaceOnChanges",
    "replaceWith",
    "replacementTrigger",
    "resourceHooks",
    "retainOnDelete",
];

/// Whether the only difference is in the options of resources read in a run with the program: the reference records the
/// current options and clears a taint, although no step applies them.
fn is_the_same_without_options(both: &Both) -> bool {
    let without = |seen: &Json| {
        let mut seen = seen.clone();
        let mut steps = seen["steps"].take();
        if let Some(calls) = seen["calls"].as_array_mut() {
            // Providers, extensions and secrets are options, too.
            calls.retain(|call| !["DiffConfig", "Parameterize"].contains(&text(&call["call"])));
            for call in calls {
                call["oldOutputs"] = without_secrets(call["oldOutputs"].take());
            }
        }
        let is_read = |urn: &str| has_step_among(&steps, "refresh", urn);
        for resource in seen["state"]["resources"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            let is_read = is_read(text(&resource["urn"]));
            if let (true, Some(members)) = (is_read, resource.as_object_mut()) {
                members.retain(|key, _| key != "taint" && !OPTIONS.contains(&key.as_str()));
            }
        }
        if let Some(steps) = steps.as_array_mut() {
            let is_provider = |step: &Json| text(&step["urn"]).contains("::pulumi:providers:");
            steps.retain(|step| !(text(&step["op"]) == "refresh" && is_provider(step)));
        }
        seen["steps"] = steps;
        seen
    };
    let (ours, theirs) = (without(&both.ours), without(&both.theirs));
    both.case["flags"]["runProgram"] == true && is_settled(both, ours, theirs)
}

fn without_secrets(value: Json) -> Json {
    match value {
        Json::Object(mut members) => match members.remove("$secret") {
            Some(plain) => without_secrets(plain),
            None => members
                .into_iter()
                .map(|(key, value)| (key, without_secrets(value)))
                .collect(),
        },
        Json::Array(items) => items.into_iter().map(without_secrets).collect(),
        plain => plain,
    }
}

/// Number of hook calls.
fn hook_calls(seen: &Json) -> usize {
    let calls = list(&seen["calls"]).iter();
    calls
        .filter(|it| text(&it["call"]).starts_with("hook "))
        .count()
}

/// Whether the reference loses an object whose URN was taken over by a read, in a run that ended before the object was
/// deleted.
fn loses_object_of_read(both: &Both) -> bool {
    let former = |seen: &Json, urn: &Json| {
        let resources = list(&seen["state"]["resources"]).iter();
        resources
            .filter(|it| it["urn"] == *urn && it["delete"] == true)
            .count()
    };
    let mut reads = list(&both.theirs["steps"]).iter();
    reads.any(|step| {
        text(&step["op"]) == "read-replacement"
            && former(&both.ours, &step["urn"]) > former(&both.theirs, &step["urn"])
    })
}

/// Whether the reference processes again a resource that an earlier run has deleted for its replacement: it deletes it
/// again, or requires its provider, which may be deleted too.
fn deletes_again(both: &Both) -> bool {
    let error = text(&both.theirs["error"]);
    let wants_provider = |urn: &Json| {
        let mut messages = list(&both.theirs["messages"]).iter();
        let ends_so = error.contains(NO_PROVIDER) && error.contains(&format!("{}: ", text(urn)));
        ends_so
            || messages.any(|it| {
                let (message, urn) = (text(&it["text"]), text(urn));
                let is_meant = text(&it["urn"]) == urn || message.contains(&format!("{urn}: "));
                is_meant && message.contains(NO_PROVIDER)
            })
    };
    let mut resources = list(&both.case["state"]["deployment"]["resources"]).iter();
    resources.any(|it| {
        let is_deleted = |seen: &Json| has_step(seen, "delete-replaced", text(&it["urn"]));
        let is_deleted_again = is_deleted(&both.theirs) && !is_deleted(&both.ours);
        it["pendingReplacement"] == true && (is_deleted_again || wants_provider(&it["urn"]))
    })
}

/// Whether the only difference of the messages are the values that are refused, because the program sets properties whose
/// changes it ignores.
fn refuses_other_values(both: &Both) -> bool {
    let without_values = |seen: &Json| {
        let messages = list(&seen["messages"]).iter();
        let mut texts: Vec<String> = messages
            .map(|it| without_refused(text(&it["text"])))
            .collect();
        texts.sort();
        texts
    };
    let ignores = |it: &Json| !list(&it["ignoreChanges"]).is_empty();
    let mut resources = list(&both.case["program"]).iter();
    resources.any(ignores) && without_values(&both.ours) == without_values(&both.theirs)
}

/// A message about a refused input without the value.
fn without_refused(message: &str) -> String {
    let parts = message.split_once(" value {");
    let parts =
        parts.and_then(|(before, rest)| Some((before, rest.split_once("} has a problem")?)));
    match parts {
        Some((before, (_, after))) => format!("{before} has a problem{after}"),
        None => message.to_owned(),
    }
}

/// Whether the core judges the inputs of a replacement that differ from those that were judged before.
fn judges_more(both: &Both) -> bool {
    let (ours, theirs) = (list(&both.ours["messages"]), list(&both.theirs["messages"]));
    let mut more = ours.to_vec();
    for message in theirs {
        if let Some(at) = more.iter().position(|it| it == message) {
            more.remove(at);
        }
    }
    ours.len() == theirs.len() + more.len()
        && !more.is_empty()
        && more.iter().all(|it| {
            text(&it["severity"]).starts_with("policy ")
                && has_step(&both.ours, "create-replacement", text(&it["urn"]))
        })
}

/// Whether the reference creates a replacement without the remediations of policies. Nothing is called to create a provider,
/// so the difference must be one of its inputs in another place: its DiffConfig, the reply or the state.
fn loses_remedy(both: &Both, difference: &Difference) -> bool {
    let created = |seen: &Json, urn: &Json| -> Vec<Json> {
        let calls = list(&seen["calls"]).iter();
        let calls = calls.filter(|it| text(&it["call"]) == "Create" && it["urn"] == *urn);
        calls.map(|it| it["inputs"].clone()).collect()
    };
    let mut messages = list(&both.theirs["messages"]).iter();
    messages.any(|it| {
        let urn = text(&it["urn"]);
        let is_provider =
            urn.contains("pulumi:providers:") && difference.signature.contains("provider: ");
        text(&it["severity"]) == "remediation"
            && has_step(&both.ours, "create-replacement", urn)
            && (is_provider || created(&both.ours, &it["urn"]) != created(&both.theirs, &it["urn"]))
    })
}

/// Whether only the reference imports a resource.
fn imports_more(both: &Both) -> bool {
    let is_imported = |seen: &Json, urn: &str| {
        ["import", "import-replacement"]
            .iter()
            .any(|op| has_step(seen, op, urn))
    };
    let mut steps = list(&both.theirs["steps"]).iter();
    steps.any(|step| {
        let urn = text(&step["urn"]);
        is_imported(&both.theirs, urn) && !is_imported(&both.ours, urn)
    })
}

/// Whether only the reference deletes the former copy of a resource that a protected one depends on.
fn keeps_what_protected_need(both: &Both) -> bool {
    let before = list(&both.case["state"]["deployment"]["resources"]);
    let refused: Vec<&Json> = before
        .iter()
        .filter(|it| {
            let complaint = format!("resource \"{}\" cannot be deleted", text(&it["urn"]));
            it["protect"] == true && says(&both.ours, &complaint)
        })
        .collect();
    let needs = |it: &Json, urn: &str| {
        let names = list(&it["dependencies"]).iter().map(text);
        let mut names = names.chain([text(&it["parent"]), text(&it["deletedWith"])]);
        names.any(|name| name == urn)
    };
    // Dependencies of dependencies count too.
    let mut needed: BTreeSet<&str> = BTreeSet::new();
    let mut left = refused;
    while let Some(user) = left.pop() {
        for it in before.iter().filter(|it| needs(user, text(&it["urn"]))) {
            if needed.insert(text(&it["urn"])) {
                left.push(it);
            }
        }
    }
    let is_kept = |urn: &str| {
        has_step(&both.theirs, "delete-replaced", urn)
            && !has_step(&both.ours, "delete-replaced", urn)
    };
    needed.into_iter().any(is_kept)
}

fn has_resource(seen: &Json, urn: &str) -> bool {
    let mut resources = list(&seen["state"]["resources"]).iter();
    resources.any(|it| text(&it["urn"]) == urn)
}

/// Whether the reference calls CheckConfig on another version of a provider than its registered package has.
fn is_of_another_version(both: &Both) -> bool {
    let packages = list(&both.case["packages"]);
    let version = |name: &str| {
        let mut packages = packages.iter();
        let package = packages.find(|it| text(&it["name"]) == name);
        let served = package.map(|it| match &it["parameter"] {
            Json::Null => it,
            parameter => parameter,
        });
        served.map(|it| text(&it["version"]))
    };
    let wanted = |urn: &str| {
        let name = urn.rsplit("::").next().unwrap_or_default();
        let mut program = list(&both.case["program"]).iter();
        let res = program.find(|it| text(&it["called"]) == name)?;
        let is_provider = text(&res["type"]).starts_with("pulumi:providers:");
        version(text(&res["registered"])).filter(|_| is_provider)
    };
    list(&both.theirs["calls"]).iter().any(|call| {
        let is_check = text(&call["call"]) == "CheckConfig";
        let has = text(&call["news"]["version"]);
        is_check && wanted(text(&call["urn"])).is_some_and(|version| version != has)
    })
}

/// Whether a message contains this text.
fn says(seen: &Json, part: &str) -> bool {
    let mut messages = seen["messages"].as_array().into_iter().flatten();
    messages.any(|message| text(&message["text"]).contains(part))
}

/// Whether nothing is left of a difference once each account is reduced to these parts, or only what another rule covers.
fn is_settled(both: &Both, ours: Json, theirs: Json) -> bool {
    let is_reduced = ours != both.ours || theirs != both.theirs;
    let rest = Both {
        case: both.case.clone(),
        ours,
        theirs,
    };
    let left = rest.difference();
    left.is_none_or(|left| is_reduced && rule_of(&rest, &left).is_some())
}

/// Name of the rule that covers a difference.
pub fn rule_of(both: &Both, difference: &Difference) -> Option<&'static str> {
    let mut rules = RULES.iter();
    let rule = rules.find(|rule| (rule.covers)(both, difference));
    rule.map(|rule| rule.name)
}
