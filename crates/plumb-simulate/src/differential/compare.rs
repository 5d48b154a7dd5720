//! The first difference between two accounts of an operation.
//!
//! Facts are compared from causes to effects: steps, provider calls, replies to the program, the state, counts, the
//! result, messages, and the order of steps last. A signature has everything that distinguishes kinds of differences,
//! and no names of single resources.

mod order;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

/// A difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Signature of its kind.
    pub signature: String,
    /// The fact on the core's side.
    pub ours: String,
    /// The fact on the reference's side.
    pub theirs: String,
}

impl Difference {
    fn new(signature: String, ours: impl ToString, theirs: impl ToString) -> Self {
        Difference {
            signature,
            ours: ours.to_string(),
            theirs: theirs.to_string(),
        }
    }
}

/// First difference.
pub fn compare(case: &Json, ours: &Json, theirs: &Json) -> Option<Difference> {
    let panic = text(&theirs["panic"]);
    if !panic.is_empty() {
        let first = panic.lines().next().unwrap_or_default();
        return Some(Difference::new(format!("panic: {first}"), "", panic));
    }
    steps("steps", ours, theirs)
        .or_else(|| calls(ours, theirs))
        .or_else(|| replies(ours, theirs))
        .or_else(|| states(ours, theirs))
        .or_else(|| steps("failed", ours, theirs))
        .or_else(|| exit(ours, theirs))
        .or_else(|| counts(ours, theirs))
        .or_else(|| messages(ours, theirs))
        .or_else(|| order::order(case, ours, theirs))
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Class of the resource with this URN: provider, default provider, stack, component, or managed by a provider.
fn class(urn: &str) -> &'static str {
    let (types, name) = urn.rsplit_once("::").unwrap_or(("", urn));
    let token = types.rsplit(['$', ':']).next().unwrap_or_default();
    if types.contains("pulumi:providers:") {
        if name.starts_with("default") {
            return "default provider";
        }
        return "provider";
    }
    match token {
        "Stack" => "stack",
        "Group" | "Pack" => "component",
        _ => "custom",
    }
}

fn name(urn: &str) -> &str {
    urn.rsplit("::").next().unwrap_or_default()
}

fn counted<'a>(all: impl Iterator<Item = &'a Json>) -> BTreeMap<(String, String), i32> {
    let mut counts = BTreeMap::new();
    for step in all {
        let key = (text(&step["op"]).to_owned(), text(&step["urn"]).to_owned());
        *counts.entry(key).or_default() += 1;
    }
    counts
}

/// Entries that `one` counts more often than `other`: their kinds, and the entries.
fn more(
    one: &BTreeMap<(String, String), i32>,
    other: &BTreeMap<(String, String), i32>,
) -> (String, String) {
    let (mut kinds, mut all) = (BTreeSet::new(), Vec::new());
    for ((op, urn), count) in one {
        let key = (op.clone(), urn.clone());
        if *count > other.get(&key).copied().unwrap_or_default() {
            kinds.insert(format!("{op} {}", class(urn)));
            all.push(format!("{op} {}", name(urn)));
        }
    }
    let kinds: Vec<String> = kinds.into_iter().collect();
    (kinds.join(", "), all.join(", "))
}

fn steps(section: &str, ours: &Json, theirs: &Json) -> Option<Difference> {
    let mine = counted(items(&ours[section]).iter());
    let other = counted(items(&theirs[section]).iter());
    if mine == other {
        return None;
    }
    let (here, here_all) = more(&mine, &other);
    let (there, there_all) = more(&other, &mine);
    let signature = format!("{section}: ours [{here}] theirs [{there}]");
    let said = |seen: &Json| {
        let errors = items(&seen["messages"]).iter();
        let errors = errors.filter(|it| text(&it["severity"]) == "error");
        let texts: Vec<&str> = errors.map(|it| text(&it["text"])).collect();
        texts.join(" | ")
    };
    Some(Difference::new(
        signature,
        format!("{here_all} ({})", said(ours)),
        format!("{there_all} ({})", said(theirs)),
    ))
}

fn by_urn(seen: &Json) -> BTreeMap<&str, Vec<&Json>> {
    let mut all: BTreeMap<&str, Vec<&Json>> = BTreeMap::new();
    for call in items(&seen["calls"]) {
        all.entry(text(&call["urn"])).or_default().push(call);
    }
    all
}

fn calls(ours: &Json, theirs: &Json) -> Option<Difference> {
    let (mine, other) = (by_urn(ours), by_urn(theirs));
    let urns: BTreeSet<&str> = mine.keys().chain(other.keys()).copied().collect();
    let none = Vec::new();
    for urn in &urns {
        let (mine, other) = (
            mine.get(urn).unwrap_or(&none),
            other.get(urn).unwrap_or(&none),
        );
        let names = |calls: &Vec<&Json>| {
            let names: Vec<&str> = calls.iter().map(|it| text(&it["call"])).collect();
            names.join(" ")
        };
        let (here, there) = (names(mine), names(other));
        if here != there {
            let signature = format!("calls of {}: ours [{here}] theirs [{there}]", class(urn));
            return Some(Difference::new(signature, urn, urn));
        }
        for (here, there) in mine.iter().zip(other) {
            if let Some((field, here_is, there_is)) = member(here, there) {
                let signature = format!("call {} of {}: {field}", text(&here["call"]), class(urn));
                let at = name(urn);
                return Some(Difference::new(
                    signature,
                    format!("{at}: {here_is}"),
                    format!("{at}: {there_is}"),
                ));
            }
        }
    }
    None
}

/// First member in which two objects differ.
fn member<'a>(ours: &'a Json, theirs: &'a Json) -> Option<(String, &'a Json, &'a Json)> {
    let keys = |it: &Json| -> BTreeSet<String> {
        let members = it.as_object();
        members
            .map(|it| it.keys().cloned().collect())
            .unwrap_or_default()
    };
    let all: BTreeSet<String> = keys(ours).union(&keys(theirs)).cloned().collect();
    let mut all = all.into_iter();
    let key = all.find(|key| !same(&ours[key], &theirs[key]))?;
    let (here, there) = (&ours[&key], &theirs[&key]);
    Some((key, here, there))
}

/// Compares values; numbers are equal in any notation.
fn same(ours: &Json, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Json::Number(one), Json::Number(other)) => one.as_f64() == other.as_f64(),
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, it)| other.get(key).is_some_and(|other| same(it, other)))
        }
        _ => ours == theirs,
    }
}

fn replies(ours: &Json, theirs: &Json) -> Option<Difference> {
    let empty = serde_json::Map::new();
    let mine = ours["replies"].as_object().unwrap_or(&empty);
    let other = theirs["replies"].as_object().unwrap_or(&empty);
    let names: BTreeSet<&String> = mine.keys().chain(other.keys()).collect();
    for res in names {
        let (here, there) = (&ours["replies"][res], &theirs["replies"][res]);
        let urn = text(&here["urn"]);
        let urn = if urn.is_empty() {
            text(&there["urn"])
        } else {
            urn
        };
        let kind = class(urn);
        if here.is_null() || there.is_null() {
            let side = if here.is_null() { "theirs" } else { "ours" };
            let signature = format!("reply to {kind}: only {side}");
            return Some(Difference::new(signature, here, there));
        }
        let (here, there) = (
            without_skipped_outputs(here),
            without_skipped_outputs(there),
        );
        if let Some((field, here, there)) = member(&here, &there) {
            let signature = format!("reply to {kind}: {field}");
            let (here, there) = (format!("{res}: {here}"), format!("{res}: {there}"));
            return Some(Difference::new(signature, here, there));
        }
    }
    None
}

/// A reply as SDKs take it: they ignore the outputs of what was skipped.
fn without_skipped_outputs(reply: &Json) -> Json {
    let mut reply = reply.clone();
    if let (true, Some(members)) = (reply["outcome"] == "skipped", reply.as_object_mut()) {
        members.remove("outputs");
    }
    reply
}

fn states(ours: &Json, theirs: &Json) -> Option<Difference> {
    // The reference may have saved nothing, so its state is unchanged.
    if theirs["unsaved"] == Json::Bool(true) {
        return None;
    }
    resources(&ours["state"], &theirs["state"], "resources")
        .or_else(|| resources(&ours["state"], &theirs["state"], "pending_operations"))
}

fn resources(ours: &Json, theirs: &Json, section: &str) -> Option<Difference> {
    let keyed = |state: &Json| {
        let mut all: BTreeMap<String, Json> = BTreeMap::new();
        for item in items(&state[section]) {
            let res = if item["resource"].is_object() {
                &item["resource"]
            } else {
                item
            };
            let mut key = format!(
                "{} {} {}",
                text(&res["urn"]),
                text(&res["id"]),
                res["delete"]
            );
            while all.contains_key(&key) {
                key.push('+');
            }
            all.insert(key, item.clone());
        }
        all
    };
    let (mine, other) = (keyed(ours), keyed(theirs));
    let keys: BTreeSet<&String> = mine.keys().chain(other.keys()).collect();
    for key in keys {
        let kind = class(key.split(' ').next().unwrap_or_default());
        match (mine.get(key), other.get(key)) {
            (Some(here), Some(there)) => {
                if let Some((field, here, there)) = member(here, there) {
                    let signature = format!("state {section} {kind}: {field}");
                    let (here, there) = (format!("{key}: {here}"), format!("{key}: {there}"));
                    return Some(Difference::new(signature, here, there));
                }
            }
            (Some(here), None) => {
                let signature = format!("state {section} {kind}: only ours");
                return Some(Difference::new(signature, here, ""));
            }
            (None, there) => {
                let signature = format!("state {section} {kind}: only theirs");
                return Some(Difference::new(signature, "", there.unwrap_or(&Json::Null)));
            }
        }
    }
    None
}

fn exit(ours: &Json, theirs: &Json) -> Option<Difference> {
    let (here, there) = (text(&ours["error"]), text(&theirs["error"]));
    if here.is_empty() == there.is_empty() {
        return None;
    }
    let which = if here.is_empty() { "theirs" } else { "ours" };
    Some(Difference::new(
        format!("exit: only {which} fails"),
        here,
        there,
    ))
}

fn counts(ours: &Json, theirs: &Json) -> Option<Difference> {
    let (here, there) = (&ours["changes"], &theirs["changes"]);
    let (op, _, _) = member(here, there)?;
    Some(Difference::new(format!("counts: {op}"), here, there))
}

/// Message without the names of single resources.
fn general(message: &str) -> String {
    let words = message.split_whitespace().map(|word| {
        let is_urn = word.contains("urn:pulumi:");
        let is_named = word.contains('-') || word.trim_matches(['\'', '"', ',']).len() == 1;
        if is_urn || is_named { "_" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The message with its lines in alphabetical order, except the first: the reference lists properties in any order.
fn ordered(message: &str) -> String {
    let mut lines: Vec<&str> = message.split('\n').collect();
    lines[1..].sort_unstable();
    lines.join("\n")
}

fn messages(ours: &Json, theirs: &Json) -> Option<Difference> {
    let all = |seen: &Json| {
        let mut all: Vec<(String, String, String)> = items(&seen["messages"])
            .iter()
            .map(|it| {
                let part = |key: &str| text(&it[key]).to_owned();
                (ordered(&part("text")), part("severity"), part("urn"))
            })
            .collect();
        all.sort();
        all
    };
    let (mine, other) = (all(ours), all(theirs));
    if mine == other {
        return None;
    }
    let only = |one: &[(String, String, String)], other: &[(String, String, String)]| {
        let only = one.iter().filter(|it| !other.contains(it));
        let only: Vec<_> = only.cloned().collect();
        let texts: BTreeSet<String> = only
            .iter()
            .map(|(text, severity, _)| format!("{severity}: {}", general(text)))
            .collect();
        (
            texts.into_iter().collect::<Vec<_>>().join(" | "),
            format!("{only:?}"),
        )
    };
    let (here, here_all) = only(&mine, &other);
    let (there, there_all) = only(&other, &mine);
    let signature = format!("messages: ours [{here}] theirs [{there}]");
    Some(Difference::new(signature, here_all, there_all))
}
