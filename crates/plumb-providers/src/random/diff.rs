//! Diff of inputs for an existing value.

use ecow::EcoString;
use plumb_resource::{DiffChanges, DiffResult};
use plumb_value::{PropertyMap, Value};

use super::plan::text;
use super::spec::{Fallback, Input, Kind, Spec};

/// Compares state with the planned inputs. Nearly every change requires a replacement, because the value depends on all
/// inputs; [`replaces`] lists the exceptions.
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

/// Old value of an input. Inputs missing in the state of old plugin versions had their defaults; state of imports has no
/// length.
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

/// Whether a change requires a replacement. Not for null entries of `keepers` and an empty `overrideSpecial`, because
/// old state contains those as absent.
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

/// Entries that are not null; `None` for an unknown map, which differs from all others.
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
