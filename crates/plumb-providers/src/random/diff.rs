//! What a change of inputs does to a value that exists.

use ecow::EcoString;
use plumb_resource::{DiffChanges, DiffResult};
use plumb_value::{PropertyMap, Value};

use super::plan::text;
use super::spec::{Fallback, Input, Kind, Spec};

/// Compares state with the inputs in force. Every input decides on the value, so that nearly every change replaces;
/// see [`replaces`] for those that do not.
pub(super) fn diff(
    spec: &Spec,
    state: &PropertyMap,
    planned: &PropertyMap,
    ignored: &[EcoString],
) -> DiffResult {
    let state = state.without_secrets();
    let planned = planned.without_secrets();
    let mut result = DiffResult::of(DiffChanges::None);
    for input in spec.inputs {
        let ignore = ignored.iter().any(|path| path == input.name || path == "*");
        let old = known_before(input, &state);
        let new = planned.get(input.name).cloned();
        if ignore || old == new {
            continue;
        }
        result.changes = DiffChanges::Some;
        result.changed_keys.push(input.name.into());
        if replaces(input, old.as_ref(), new.as_ref()) {
            result.replace_keys.push(input.name.into());
        }
    }
    result.changed_keys.sort();
    result.replace_keys.sort();
    result
}

/// The old value. State of old versions of the plugin lacks some, which then had their defaults; state of imports lacked
/// the length.
fn known_before(input: &Input, state: &PropertyMap) -> Option<Value> {
    if let Some(value) = state.get(input.name).filter(|value| !value.is_null()) {
        return Some(value.clone());
    }
    match input.fallback {
        Fallback::Twin(twin) => state.get(twin).cloned().or_else(|| input.fallback.value()),
        Fallback::Required if input.name == "length" => {
            text(state, "result").map(|result| Value::Number(result.len() as f64))
        }
        other => other.value(),
    }
}

/// Null entries of `keepers` and an empty `overrideSpecial` were once stored as absent; that is no reason to replace.
fn replaces(input: &Input, old: Option<&Value>, new: Option<&Value>) -> bool {
    match input.kind {
        Kind::TextMap => entries(old) != entries(new),
        Kind::Text if input.fallback == Fallback::Absent => {
            let given =
                |value: Option<&Value>| value.cloned().filter(|value| value.as_str() != Some(""));
            given(old) != given(new)
        }
        Kind::Int | Kind::Bool | Kind::Text | Kind::TextList => true,
    }
}

/// Entries that are not null; an unknown map is equal to no other.
fn entries(map: Option<&Value>) -> Option<PropertyMap> {
    match map {
        None => Some(PropertyMap::new()),
        Some(Value::Object(map)) => {
            let mut entries = map.as_ref().clone();
            entries.retain(|_, value| !value.is_null());
            Some(entries)
        }
        Some(_) => None,
    }
}
