//! Planned inputs: typed, checked, and with defaults.

use plumb_resource::provider::CheckFailure;
use plumb_value::{PropertyMap, Value};

use super::spec::{Fallback, Input, Kind, Resource, Spec};

/// Maximum length; larger ones are probably mistakes.
const LONGEST: i64 = 1 << 27;

/// Planned inputs. Absent and null inputs without a default stay absent; unknown ones stay unknown.
pub(super) fn plan(spec: &Spec, inputs: &PropertyMap) -> Result<PropertyMap, Vec<CheckFailure>> {
    let given = inputs.without_outputs();
    let mut planned = PropertyMap::new();
    let mut failures = Vec::new();
    for input in spec.inputs {
        match typed(input, given.get(input.name)) {
            Ok(Some(value)) => {
                planned.insert(input.name, value);
            }
            Ok(None) => {}
            Err(reason) => failures.push(failure(input.name, reason)),
        }
    }
    if failures.is_empty() {
        add_defaults(spec, &mut planned);
        failures = problems(spec, &planned);
    }
    if failures.is_empty() {
        Ok(planned)
    } else {
        Err(failures)
    }
}

/// Number at `name`; `None` if it is unknown.
pub(super) fn int(plan: &PropertyMap, name: &str) -> Option<i64> {
    plan.get(name)?
        .without_secrets()
        .as_number()
        .map(|number| number as i64)
}

/// Count at `name`; zero if it is unknown.
pub(super) fn count(plan: &PropertyMap, name: &str) -> usize {
    int(plan, name)
        .and_then(|number| usize::try_from(number).ok())
        .unwrap_or_default()
}

/// Text at `name`; `None` if it is unknown.
pub(super) fn text(plan: &PropertyMap, name: &str) -> Option<String> {
    plan.get(name)?
        .without_secrets()
        .as_str()
        .map(str::to_owned)
}

/// Boolean at `name`; `None` if it is unknown.
pub(super) fn boolean(plan: &PropertyMap, name: &str) -> Option<bool> {
    plan.get(name)?.without_secrets().as_bool()
}

fn failure(property: &str, reason: impl Into<ecow::EcoString>) -> CheckFailure {
    CheckFailure {
        property: property.into(),
        reason: reason.into(),
    }
}

/// Value converted to the input's type; empty strings in `prefix`, `seed` and `overrideSpecial` count as
/// absent.
fn typed(input: &Input, value: Option<&Value>) -> Result<Option<Value>, String> {
    let value = match value {
        None | Some(Value::Null) => None,
        Some(value) => Some(
            coerce(input.kind, value).map_err(|reason| format!("`{}`: {reason}", input.name))?,
        ),
    };
    match (value, input.fallback) {
        (None, Fallback::Required) => Err(format!("Missing required property '{}'", input.name)),
        (Some(Value::String(text)), Fallback::Absent) if text.is_empty() => Ok(None),
        (value, _) => Ok(value),
    }
}

/// Converts `value` to the type `kind`; keeps secrets and unknown values.
fn coerce(kind: Kind, value: &Value) -> Result<Value, String> {
    match value {
        Value::Secret(inner) => return Ok(Value::secret(coerce(kind, inner)?)),
        Value::Computed(_) => return Ok(value.clone()),
        _ => {}
    }
    let wrong = |wanted: &str| format!("expected {wanted}, got {}", describe(value));
    match kind {
        Kind::Int => whole_number(value)
            .map(Value::Number)
            .ok_or_else(|| wrong("a whole number")),
        Kind::Bool => boolean_of(value)
            .map(Value::Bool)
            .ok_or_else(|| wrong("a boolean")),
        Kind::Text => text_of(value).ok_or_else(|| wrong("a string")),
        Kind::TextList => {
            let items = value.as_array().ok_or_else(|| wrong("a list of strings"))?;
            items
                .iter()
                .map(|item| coerce(Kind::Text, item))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::from)
        }
        Kind::TextMap => {
            let map = value.as_object().ok_or_else(|| wrong("a map of strings"))?;
            let keep = |item: &Value| {
                if item.is_null() {
                    Ok(Value::Null)
                } else {
                    coerce(Kind::Text, item)
                }
            };
            map.iter()
                .map(|(key, item)| Ok((key.clone(), keep(item)?)))
                .collect::<Result<PropertyMap, String>>()
                .map(Value::from)
        }
    }
}

fn whole_number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => *number,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    (number.is_finite() && number.fract() == 0.0).then_some(number)
}

fn boolean_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn text_of(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Number(number) => Some(Value::from(number.to_string())),
        Value::Bool(value) => Some(Value::from(value.to_string())),
        _ => None,
    }
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) | Value::Bytes(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        Value::Asset(_) => "an asset",
        Value::Archive(_) => "an archive",
        Value::Secret(_) | Value::Computed(_) | Value::Output(_) => "a wrapped value",
        Value::Resource(_) => "a resource",
    }
}

fn add_defaults(spec: &Spec, planned: &mut PropertyMap) {
    let missing: Vec<&Input> = spec
        .inputs
        .iter()
        .filter(|input| !planned.contains_key(input.name))
        .collect();
    let given = planned.clone();
    for input in missing {
        let twin = match input.fallback {
            Fallback::Twin(name) => given.get(name).cloned(),
            _ => None,
        };
        if let Some(value) = twin.or_else(|| input.fallback.value()) {
            planned.insert(input.name, value);
        }
    }
}

/// Errors in inputs with correct types.
fn problems(spec: &Spec, plan: &PropertyMap) -> Vec<CheckFailure> {
    match spec.kind {
        Resource::Bytes => length_problem(plan, "length").into_iter().collect(),
        Resource::Id => length_problem(plan, "byteLength").into_iter().collect(),
        Resource::Password | Resource::String => {
            let found = [
                length_problem(plan, "length"),
                twins_problem(plan),
                minima_problem(plan),
                charset_problem(plan),
            ];
            found.into_iter().flatten().collect()
        }
        Resource::Integer => range_problem(plan).into_iter().collect(),
        Resource::Shuffle => count_problem(plan).into_iter().collect(),
        Resource::Pet | Resource::Uuid | Resource::Uuid4 | Resource::Uuid7 => Vec::new(),
    }
}

fn length_problem(plan: &PropertyMap, name: &str) -> Option<CheckFailure> {
    let length = int(plan, name)?;
    if length < 1 {
        return Some(failure(
            name,
            format!("`{name}` must be at least 1, got {length}"),
        ));
    }
    (length > LONGEST).then(|| {
        failure(
            name,
            format!("`{name}` must be at most {LONGEST}, got {length}"),
        )
    })
}

fn count_problem(plan: &PropertyMap) -> Option<CheckFailure> {
    let count = int(plan, "resultCount")?;
    let fits = (0..=LONGEST).contains(&count);
    (!fits).then(|| {
        failure(
            "resultCount",
            format!("`resultCount` must be between 0 and {LONGEST}, got {count}"),
        )
    })
}

fn twins_problem(plan: &PropertyMap) -> Option<CheckFailure> {
    let (number, numeric) = (boolean(plan, "number")?, boolean(plan, "numeric")?);
    let reason = "Number and numeric are both configured with different values. Number is deprecated, use numeric instead";
    (number != numeric).then(|| failure("number", reason))
}

fn minima(plan: &PropertyMap) -> Option<i64> {
    ["minUpper", "minLower", "minNumeric", "minSpecial"]
        .iter()
        .try_fold(0_i64, |sum, name| {
            int(plan, name).map(|minimum| sum.saturating_add(minimum.max(0)))
        })
}

fn minima_problem(plan: &PropertyMap) -> Option<CheckFailure> {
    let (length, sum) = (int(plan, "length")?, minima(plan)?);
    let reason = || {
        format!(
            "`length` must be at least the sum of `minUpper`, `minLower`, `minNumeric` and `minSpecial` ({sum}), got {length}"
        )
    };
    (length < sum).then(|| failure("length", reason()))
}

fn charset_problem(plan: &PropertyMap) -> Option<CheckFailure> {
    let nothing = ["upper", "lower", "numeric", "special"]
        .iter()
        .all(|name| boolean(plan, name) == Some(false));
    let left = int(plan, "length")? > minima(plan)?;
    let reason = "at least one of `special`, `upper`, `lower` and `numeric` must be true";
    (nothing && left).then(|| failure("special", reason))
}

fn range_problem(plan: &PropertyMap) -> Option<CheckFailure> {
    let (min, max) = (int(plan, "min")?, int(plan, "max")?);
    let reason =
        "The minimum (min) value needs to be smaller than or equal to maximum (max) value.";
    (max < min).then(|| failure("min", reason))
}
