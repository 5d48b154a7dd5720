//! Comparison with a plan: steps, goals, and differences between properties.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

use plumb_resource::{
    Alias, AliasParent, Goal, ProviderInstanceId, ProviderRef, ResourceKind, ResourceState, StepOp,
    TypeToken, Urn,
};
use plumb_state::plan::{GoalPlan, PlanDiff};
use plumb_value::diff::{Wrappers, diff_maps, equal};
use plumb_value::{PropertyKey, PropertyMap, Value, go_number};

use crate::steps::shown::shown_value;

/// Whether `op` may be done where `planned` is expected: less than planned may happen, nothing else.
pub(super) fn allows(planned: StepOp, op: StepOp) -> bool {
    match planned {
        StepOp::Create => matches!(op, StepOp::Same | StepOp::Create),
        StepOp::Update => matches!(op, StepOp::Same | StepOp::Update),
        StepOp::Replace | StepOp::CreateReplacement | StepOp::DeleteReplaced => {
            matches!(op, StepOp::Same | StepOp::Update) || op == planned
        }
        StepOp::Same
        | StepOp::Delete
        | StepOp::Read
        | StepOp::ReadReplacement
        | StepOp::Refresh
        | StepOp::Discard
        | StepOp::DiscardReplaced
        | StepOp::RemovePendingReplace
        | StepOp::Import
        | StepOp::ImportReplacement => op == planned,
    }
}

/// The plan for a goal whose checked inputs differ from the state by `inputs`.
pub(super) fn goal_plan(goal: &Goal, inputs: PlanDiff) -> GoalPlan {
    GoalPlan {
        type_token: goal.type_token.clone(),
        name: goal.name.clone(),
        is_custom: goal.kind != ResourceKind::Component,
        inputs,
        outputs: PlanDiff::default(),
        parent: goal.parent.clone(),
        protect: goal.protect.unwrap_or(false),
        dependencies: goal.dependencies.clone(),
        provider: goal.provider.clone(),
        property_dependencies: goal.property_dependencies.clone(),
        delete_before_replace: goal.delete_before_replace,
        ignore_changes: goal.ignore_changes.clone(),
        additional_secret_outputs: goal.additional_secret_outputs.clone(),
        aliases: goal.aliases.clone(),
        import_id: goal.import_id.clone().unwrap_or_default(),
        custom_timeouts: goal.custom_timeouts.unwrap_or_default(),
    }
}

/// The plan for a resource that nothing is planned for: it stays as it is. What the state does not record cannot change
/// it either.
pub(super) fn as_it_is(old: &ResourceState, goal: &Goal) -> GoalPlan {
    GoalPlan {
        is_custom: old.is_custom(),
        parent: old.parent.clone(),
        protect: old.protect,
        dependencies: old.dependencies.clone(),
        provider: old.provider.clone(),
        property_dependencies: old.property_dependencies.clone(),
        ignore_changes: old.ignore_changes.clone(),
        additional_secret_outputs: old.additional_secret_outputs.clone(),
        custom_timeouts: old.custom_timeouts,
        ..goal_plan(goal, PlanDiff::default())
    }
}

/// How `new` differs from `old`, as plans note it.
pub(super) fn difference(old: &PropertyMap, new: &PropertyMap) -> PlanDiff {
    let mut diff = diff_maps(old, new, Wrappers::Honour)
        .map(PlanDiff::from)
        .unwrap_or_default();
    // What is unknown may turn out to be anything, also where the state has something unknown (PLAN-15).
    let open = new
        .iter()
        .filter(|(key, value)| value.contains_unknowns() && old.get(key.as_str()) == Some(*value));
    for (key, value) in open {
        Arc::make_mut(&mut diff.updates).insert(key.clone(), value.clone());
    }
    diff
}

/// In what a registration differs from its plan; the first thing that is found.
pub(super) fn goal_violation(
    planned: &GoalPlan,
    goal: &Goal,
    old_inputs: &PropertyMap,
    inputs: &PropertyMap,
    show_secrets: bool,
) -> Option<String> {
    identity_violation(planned, goal)
        .or_else(|| options_violation(planned, goal))
        .or_else(|| diff_violation(&planned.inputs, old_inputs, inputs, show_secrets))
        .or_else(|| property_dependencies_violation(planned, goal))
}

fn changed(what: &str, expected: impl Display) -> String {
    format!("{what} changed (expected {expected})")
}

fn identity_violation(planned: &GoalPlan, goal: &Goal) -> Option<String> {
    let is_custom = goal.kind != ResourceKind::Component;
    if planned.is_custom != is_custom {
        let expected = if planned.is_custom {
            "custom"
        } else {
            "component"
        };
        return Some(changed("resource kind", expected));
    }
    if !is_planned_provider(planned.provider.as_ref(), goal.provider.as_ref()) {
        let expected = planned.provider.as_ref().map(ToString::to_string);
        return Some(changed("provider", expected.unwrap_or_default()));
    }
    if planned.parent != goal.parent {
        let expected = planned.parent.as_ref().map_or("", Urn::as_str);
        return Some(changed("parent", expected));
    }
    None
}

/// A provider that did not exist when the plan was made may have any id by now.
fn is_planned_provider(planned: Option<&ProviderRef>, actual: Option<&ProviderRef>) -> bool {
    match (planned, actual) {
        (Some(planned), Some(actual)) => {
            planned == actual
                || (planned.urn() == actual.urn() && *planned.id() == ProviderInstanceId::Unknown)
        }
        (planned, actual) => planned == actual,
    }
}

fn options_violation(planned: &GoalPlan, goal: &Goal) -> Option<String> {
    if planned.protect != goal.protect.unwrap_or(false) {
        return Some(changed("protect", planned.protect));
    }
    if planned.delete_before_replace != goal.delete_before_replace {
        let expected = match planned.delete_before_replace {
            Some(first) => first.to_string(),
            None => "no value".to_owned(),
        };
        return Some(changed("deleteBeforeReplace", expected));
    }
    if planned.import_id != goal.import_id.as_deref().unwrap_or_default() {
        return Some(changed("importID", &planned.import_id));
    }
    timeouts_violation(planned, goal).or_else(|| {
        let aliases = |aliases: &[Alias]| aliases.iter().map(alias_text).collect();
        [
            (
                "ignoreChanges",
                texts(&planned.ignore_changes),
                texts(&goal.ignore_changes),
            ),
            (
                "additionalSecretOutputs",
                texts(&planned.additional_secret_outputs),
                texts(&goal.additional_secret_outputs),
            ),
            (
                "dependencies",
                texts(&planned.dependencies),
                texts(&goal.dependencies),
            ),
            ("aliases", aliases(&planned.aliases), aliases(&goal.aliases)),
        ]
        .iter()
        .find_map(|(what, planned, actual)| set_violation(what, planned, actual))
    })
}

fn timeouts_violation(planned: &GoalPlan, goal: &Goal) -> Option<String> {
    let planned = planned.custom_timeouts;
    let actual = goal.custom_timeouts.unwrap_or_default();
    let limits = [
        ("create", planned.create, actual.create),
        ("update", planned.update, actual.update),
        ("delete", planned.delete, actual.delete),
        ("read", planned.read, actual.read),
    ];
    limits.iter().find_map(|(name, planned, actual)| {
        let is_same = planned.total_cmp(actual).is_eq();
        (!is_same).then(|| changed(&format!("{name} timeout"), go_number::format(*planned)))
    })
}

fn property_dependencies_violation(planned: &GoalPlan, goal: &Goal) -> Option<String> {
    // What was not known in the plan may be absent now, and its dependencies with it.
    planned
        .property_dependencies
        .iter()
        .find_map(|(key, planned)| {
            let actual = goal.property_dependencies.get(key.as_str())?;
            let what = format!("dependencies for {key}");
            set_violation(&what, &texts(planned), &texts(actual))
        })
}

fn texts<T: Display>(items: &[T]) -> BTreeSet<String> {
    items.iter().map(ToString::to_string).collect()
}

fn set_violation(
    what: &str,
    planned: &BTreeSet<String>,
    actual: &BTreeSet<String>,
) -> Option<String> {
    let only = |these: &BTreeSet<String>, those: &BTreeSet<String>| {
        let only: Vec<&str> = these.difference(those).map(String::as_str).collect();
        only.join(", ")
    };
    let (added, deleted) = (only(actual, planned), only(planned, actual));
    let parts: Vec<String> = [("added", added), ("deleted", deleted)]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(verb, names)| format!("{verb} {names}"))
        .collect();
    (!parts.is_empty()).then(|| format!("{what} changed: {}", parts.join("; ")))
}

fn alias_text(alias: &Alias) -> String {
    let spec = match alias {
        Alias::Urn(urn) => return urn.to_string(),
        Alias::Spec(spec) => spec,
    };
    let parent = match &spec.parent {
        AliasParent::Same => None,
        AliasParent::None => Some("none"),
        AliasParent::Urn(urn) => Some(urn.as_str()),
    };
    let parts = [
        ("name", spec.name.as_deref()),
        ("type", spec.type_token.as_ref().map(TypeToken::as_str)),
        ("stack", spec.stack.as_deref()),
        ("project", spec.project.as_deref()),
        ("parent", parent),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}: {}", value?)))
        .collect();
    format!("{{{}}}", parts.join(", "))
}

/// Change of one property, planned or real.
enum Change<'a> {
    Add(&'a Value),
    Update(&'a Value),
    Delete,
    Same(Option<&'a Value>),
}

impl Change<'_> {
    fn sign(&self) -> char {
        match self {
            Change::Add(_) => '+',
            Change::Update(_) => '~',
            Change::Delete => '-',
            Change::Same(_) => '=',
        }
    }

    fn value(&self) -> Option<&Value> {
        match self {
            Change::Add(value) | Change::Update(value) => Some(value),
            Change::Same(value) => *value,
            Change::Delete => None,
        }
    }
}

/// Which properties do not change as planned.
pub(super) fn diff_violation(
    planned: &PlanDiff,
    old: &PropertyMap,
    new: &PropertyMap,
    show_secrets: bool,
) -> Option<String> {
    let keys: BTreeSet<&PropertyKey> = [old, new, planned.adds.as_ref(), planned.updates.as_ref()]
        .iter()
        .flat_map(|map| map.keys())
        .chain(&planned.deletes)
        .collect();
    let mut violations: Vec<String> = keys
        .into_iter()
        .filter_map(|key| {
            let (plan, actual) = (plan_of(planned, key), actual_of(old, new, key));
            (!is_as_planned(&plan, &actual)).then(|| told(key, &plan, &actual, show_secrets))
        })
        .collect();
    violations.sort_unstable();
    (!violations.is_empty()).then(|| format!("properties changed: {}", violations.join(", ")))
}

fn plan_of<'a>(planned: &'a PlanDiff, key: &PropertyKey) -> Change<'a> {
    let key = key.as_str();
    match (planned.adds.get(key), planned.updates.get(key)) {
        (Some(value), _) => Change::Add(value),
        (None, Some(value)) => Change::Update(value),
        (None, None) if planned.deletes.contains(key) => Change::Delete,
        (None, None) => Change::Same(None),
    }
}

fn actual_of<'a>(old: &'a PropertyMap, new: &'a PropertyMap, key: &PropertyKey) -> Change<'a> {
    let present = |map: &'a PropertyMap| map.get(key.as_str()).filter(|value| !value.is_null());
    match (present(old), present(new)) {
        (None, Some(new)) => Change::Add(new),
        (Some(old), Some(new)) if fits(old, new) => Change::Same(Some(new)),
        (Some(_), Some(new)) => Change::Update(new),
        (Some(_), None) => Change::Delete,
        (None, None) => Change::Same(None),
    }
}

/// Whether a property may change like that. Adding counts as done however the value came there; what is not known yet may
/// turn out to be nothing (PLAN-15).
fn is_as_planned(plan: &Change<'_>, actual: &Change<'_>) -> bool {
    match (plan, actual) {
        (Change::Same(_), Change::Same(_)) => true,
        (Change::Same(_), _) => false,
        (Change::Delete, Change::Delete | Change::Same(None)) => true,
        (Change::Delete, _) => false,
        (Change::Add(planned) | Change::Update(planned), Change::Delete | Change::Same(None)) => {
            is_unknown(planned)
        }
        (Change::Update(_), Change::Add(_)) => false,
        (
            Change::Add(planned) | Change::Update(planned),
            Change::Add(actual) | Change::Update(actual) | Change::Same(Some(actual)),
        ) => fits(planned, actual),
    }
}

/// A violation in the short form that tools match on: the planned and the actual operation, the key, and the values.
fn told(key: &PropertyKey, plan: &Change<'_>, actual: &Change<'_>, show_secrets: bool) -> String {
    let shown = |value| shown_value(Some(value), show_secrets);
    let values = match (plan.value(), actual.value()) {
        (Some(planned), Some(actual)) => format!("[{}!={}]", shown(planned), shown(actual)),
        (Some(value), None) | (None, Some(value)) => format!("[{}]", shown(value)),
        (None, None) => String::new(),
    };
    // What should be there and is not counts as deleted.
    let sign = match actual {
        Change::Same(None) => '-',
        actual => actual.sign(),
    };
    format!("{}{sign}{key}{values}", plan.sign())
}

fn is_unknown(value: &Value) -> bool {
    match value {
        Value::Computed(_) => true,
        Value::Secret(inner) => is_unknown(inner),
        _ => false,
    }
}

/// Whether two values are the same as far as both are known.
fn fits(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Computed(_), _) | (_, Value::Computed(_)) => true,
        (Value::Secret(left), Value::Secret(right)) => fits(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(l, r)| fits(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            let all_in = |these: &PropertyMap, those: &PropertyMap| {
                these
                    .iter()
                    .all(|(key, value)| match those.get(key.as_str()) {
                        Some(other) => fits(value, other),
                        None => value.is_null() || is_unknown(value),
                    })
            };
            all_in(left, right) && all_in(right, left)
        }
        (left, right) => equal(left, right, Wrappers::Honour),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, Value)]) -> PropertyMap {
        let mut map = PropertyMap::new();
        for (key, value) in entries {
            map.insert(*key, value.clone());
        }
        map
    }

    fn plan(adds: &[(&str, Value)], deletes: &[&str], updates: &[(&str, Value)]) -> PlanDiff {
        PlanDiff {
            adds: Arc::new(map(adds)),
            deletes: deletes.iter().map(|key| PropertyKey::from(*key)).collect(),
            updates: Arc::new(map(updates)),
        }
    }

    fn violation(plan: &PlanDiff, old: Option<&str>, new: Option<&str>) -> Option<String> {
        let side = |value: Option<&str>| match value {
            Some(value) => map(&[("k", value.into())]),
            None => PropertyMap::new(),
        };
        let told = diff_violation(plan, &side(old), &side(new), false)?;
        Some(told.trim_start_matches("properties changed: ").to_owned())
    }

    /// Every planned change against everything that can happen.
    #[test]
    fn a_property_changes_as_planned_or_is_told_of() {
        let value = |text: &str| [("k", Value::from(text))];
        let (add, update) = (plan(&value("a"), &[], &[]), plan(&[], &[], &value("a")));
        let (delete, same) = (plan(&[], &["k"], &[]), PlanDiff::default());
        for (plan, old, new, expected) in [
            (&add, None, Some("a"), None),
            (&add, None, Some("b"), Some("++k[{a}!={b}]")),
            (&add, Some("x"), Some("a"), None),
            (&add, Some("x"), Some("b"), Some("+~k[{a}!={b}]")),
            (&add, Some("a"), Some("a"), None),
            (&add, Some("b"), Some("b"), Some("+=k[{a}!={b}]")),
            (&add, Some("x"), None, Some("+-k[{a}]")),
            (&add, None, None, Some("+-k[{a}]")),
            (&update, Some("x"), Some("a"), None),
            (&update, Some("x"), Some("b"), Some("~~k[{a}!={b}]")),
            (&update, Some("a"), Some("a"), None),
            (&update, Some("b"), Some("b"), Some("~=k[{a}!={b}]")),
            (&update, None, Some("a"), Some("~+k[{a}!={a}]")),
            (&update, Some("x"), None, Some("~-k[{a}]")),
            (&update, None, None, Some("~-k[{a}]")),
            (&delete, Some("x"), None, None),
            (&delete, None, None, None),
            (&delete, None, Some("b"), Some("-+k[{b}]")),
            (&delete, Some("x"), Some("b"), Some("-~k[{b}]")),
            (&delete, Some("b"), Some("b"), Some("-=k[{b}]")),
            (&same, Some("b"), Some("b"), None),
            (&same, None, None, None),
            (&same, None, Some("b"), Some("=+k[{b}]")),
            (&same, Some("x"), Some("b"), Some("=~k[{b}]")),
            (&same, Some("x"), None, Some("=-k")),
        ] {
            assert_eq!(
                violation(plan, old, new).as_deref(),
                expected,
                "{plan:?}: {old:?} to {new:?}"
            );
        }
    }

    /// PLAN-15
    #[test]
    fn the_unknown_may_become_anything() {
        let unknown = Value::secret(Value::UNKNOWN);
        let secret = Value::secret("hush".into());
        let planned = plan(&[("s", unknown.clone())], &[], &[]);
        let nothing = PropertyMap::new();
        let is_allowed =
            |new: &PropertyMap| diff_violation(&planned, &nothing, new, false).is_none();
        assert!(is_allowed(&nothing));
        assert!(is_allowed(&map(&[("s", secret)])));
        assert!(!is_allowed(&map(&[("s", "bare".into())])));
        let object = |inner: Value| map(&[("o", map(&[("a", 1.0.into()), ("b", inner)]).into())]);
        let planned = PlanDiff {
            adds: Arc::new(object(Value::UNKNOWN)),
            ..PlanDiff::default()
        };
        for new in [object("x".into()), object(Value::Null)] {
            assert_eq!(diff_violation(&planned, &nothing, &new, false), None);
        }
        let other = map(&[("o", map(&[("a", 2.0.into())]).into())]);
        assert_eq!(
            diff_violation(&planned, &nothing, &other, false).unwrap(),
            "properties changed: ++o[{map[a:{1} b:output<string>{}]}!={map[a:{2}]}]"
        );
    }

    #[test]
    fn the_unknown_stays_open_where_it_was_unknown_before() {
        let unknown = map(&[("k", Value::UNKNOWN)]);
        let planned = difference(&unknown, &unknown);
        for new in [
            PropertyMap::new(),
            unknown.clone(),
            map(&[("k", "x".into())]),
        ] {
            assert_eq!(diff_violation(&planned, &unknown, &new, false), None);
        }
    }

    #[test]
    fn secrets_are_not_told() {
        let planned = plan(&[("k", Value::secret("hush".into()))], &[], &[]);
        let nothing = PropertyMap::new();
        let told = diff_violation(&planned, &nothing, &nothing, false).unwrap();
        assert_eq!(told, "properties changed: +-k[{[secret]}]");
    }

    #[test]
    fn less_than_planned_may_happen() {
        for planned in StepOp::ALL {
            assert!(allows(planned, planned));
            let is_change = matches!(
                planned,
                StepOp::Create
                    | StepOp::Update
                    | StepOp::Replace
                    | StepOp::CreateReplacement
                    | StepOp::DeleteReplaced
            );
            assert_eq!(
                allows(planned, StepOp::Same),
                is_change || planned == StepOp::Same,
                "{planned:?}"
            );
            assert_eq!(
                allows(planned, StepOp::Delete),
                planned == StepOp::Delete,
                "{planned:?}"
            );
        }
        assert!(!allows(StepOp::Create, StepOp::Update));
        assert!(allows(StepOp::Replace, StepOp::Update));
    }
}
