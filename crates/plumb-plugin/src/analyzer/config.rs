//! Configuration of policies by the user.
//!
//! A configuration file maps names of policies to enforcement levels, or to objects with an `enforcementLevel` and the
//! settings of the policy; `all` sets the level of every policy. [`reconcile`] merges the values: those of the file override
//! those that the pack suggests, and these override the defaults of the policies. The result is checked against the schemas
//! of the policies.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_resource::policy::EnforcementLevel;
use plumb_wire::analyzer::{AnalyzerInfo, ConfigurablePolicy, PolicyConfig};
use serde_json::{Map, Value};

/// Key that stands for every policy of a pack.
const ALL: &str = "all";
const LEVEL: &str = "enforcementLevel";

/// Errors in a configuration, one line each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct ConfigErrors(pub Vec<String>);

/// The merged configuration: one entry per policy, or no entry at all for packs that cannot be configured.
pub fn reconcile(
    info: &AnalyzerInfo,
    given: &Map<String, Value>,
) -> Result<BTreeMap<EcoString, PolicyConfig>, ConfigErrors> {
    let mut errors = Vec::new();
    let given: BTreeMap<&str, Given> = given
        .iter()
        .map(|(name, value)| (name.as_str(), Given::read(name, value, &mut errors)))
        .collect();
    let mut configs = BTreeMap::new();
    for policy in info.policies.iter().filter(|_| info.supports_config) {
        let config = of_policy(info, policy, &given);
        check(policy, &config, &mut errors);
        configs.insert(policy.info.name.clone(), config);
    }
    if errors.is_empty() {
        return Ok(configs);
    }
    errors.sort();
    Err(ConfigErrors(errors))
}

/// An entry of a configuration file.
#[derive(Default)]
struct Given {
    level: Option<EnforcementLevel>,
    properties: Map<String, Value>,
}

impl Given {
    fn read(name: &str, value: &Value, errors: &mut Vec<String>) -> Self {
        let (level, properties) = match value {
            Value::Object(map) => {
                let mut properties = map.clone();
                (properties.remove(LEVEL), properties)
            }
            other => (Some(other.clone()), Map::new()),
        };
        let Some(level) = level else {
            return Given {
                level: None,
                properties,
            };
        };
        let known = level.as_str().and_then(EnforcementLevel::from_name);
        if known.is_none() {
            errors.push(format!(
                "{name}: {LEVEL} must be one of {}, and not {level}",
                levels()
            ));
        }
        Given {
            level: known,
            properties,
        }
    }
}

fn levels() -> String {
    let quoted = EnforcementLevel::ALL.map(|level| format!("{:?}", level.as_str()));
    quoted.join(", ")
}

fn of_policy(
    info: &AnalyzerInfo,
    policy: &ConfigurablePolicy,
    given: &BTreeMap<&str, Given>,
) -> PolicyConfig {
    let name = &policy.info.name;
    let initial = info.initial_config.get(name);
    let initial_all = info.initial_config.get(ALL);
    let own = given.get(name.as_str());
    let all = given.get(ALL);
    let mut properties = defaults(policy);
    properties.extend(initial.map(|it| it.properties.clone()).unwrap_or_default());
    properties.extend(own.map(|it| it.properties.clone()).unwrap_or_default());
    let level = own
        .and_then(|it| it.level)
        .or_else(|| all.and_then(|it| it.level))
        .or_else(|| initial.or(initial_all).map(|it| it.level))
        .unwrap_or(policy.info.level);
    PolicyConfig { level, properties }
}

fn defaults(policy: &ConfigurablePolicy) -> Map<String, Value> {
    let schemas = policy.schemas.iter();
    let given =
        schemas.filter_map(|(key, schema)| Some((key.clone(), schema.get("default")?.clone())));
    given.collect()
}

fn check(policy: &ConfigurablePolicy, config: &PolicyConfig, errors: &mut Vec<String>) {
    if config.level == EnforcementLevel::Disabled {
        return;
    }
    let name = &policy.info.name;
    for key in &policy.required {
        if !config.properties.contains_key(key) {
            errors.push(format!("{name}: {key} is required"));
        }
    }
    for (key, value) in &config.properties {
        if let Some(schema) = policy.schemas.get(key) {
            check_value(&format!("{name}: {key}"), schema, value, errors);
        }
    }
}

/// Checks a value against a JSON schema, limited to the keywords that schemas of settings use.
fn check_value(place: &str, schema: &Value, value: &Value, errors: &mut Vec<String>) {
    if let Some(expected) = schema.get("type")
        && !types(expected).any(|name| is_of_type(name, value))
    {
        let names: Vec<&str> = types(expected).collect();
        return errors.push(format!(
            "{place} must be of type {}, and not {value}",
            names.join(" or ")
        ));
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        errors.push(format!(
            "{place} must be one of {}, and not {value}",
            allowed.join(", ")
        ));
    }
    check_size(place, schema, value, errors);
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(schema) = schema.get("items") {
                    check_value(&format!("{place}[{index}]"), schema, item, errors);
                }
            }
        }
        Value::Object(map) => check_object(place, schema, map, errors),
        _ => {}
    }
}

fn check_object(place: &str, schema: &Value, map: &Map<String, Value>, errors: &mut Vec<String>) {
    let required = schema.get("required").and_then(Value::as_array);
    for key in required.into_iter().flatten().filter_map(Value::as_str) {
        if !map.contains_key(key) {
            errors.push(format!("{place}.{key} is required"));
        }
    }
    let known = schema.get("properties").and_then(Value::as_object);
    for (key, value) in map {
        if let Some(schema) = known.and_then(|known| known.get(key)) {
            check_value(&format!("{place}.{key}"), schema, value, errors);
        } else if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            errors.push(format!("{place}.{key} is not allowed"));
        }
    }
}

/// Checks the limits of a number, a text or a list.
fn check_size(place: &str, schema: &Value, value: &Value, errors: &mut Vec<String>) {
    #[expect(clippy::cast_precision_loss, reason = "nothing is as long as that")]
    let (size, least, most, what) = match value {
        Value::Number(number) => (number.as_f64(), "minimum", "maximum", ""),
        Value::String(text) => (
            Some(text.chars().count() as f64),
            "minLength",
            "maxLength",
            "the length of ",
        ),
        Value::Array(items) => (
            Some(items.len() as f64),
            "minItems",
            "maxItems",
            "the number of items in ",
        ),
        _ => return,
    };
    let Some(size) = size else { return };
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    if let Some(least) = limit(least).filter(|least| size < *least) {
        errors.push(format!("{what}{place} must be at least {least}"));
    }
    if let Some(most) = limit(most).filter(|most| size > *most) {
        errors.push(format!("{what}{place} must be at most {most}"));
    }
}

fn types(expected: &Value) -> impl Iterator<Item = &str> {
    let one = expected.as_str();
    let several = expected.as_array();
    one.into_iter()
        .chain(several.into_iter().flatten().filter_map(Value::as_str))
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use plumb_resource::policy::PolicyInfo;
    use serde_json::json;

    use super::*;

    fn policy(name: &str, schemas: Value, required: &[&str]) -> ConfigurablePolicy {
        let Value::Object(schemas) = schemas else {
            unreachable!()
        };
        ConfigurablePolicy {
            info: PolicyInfo {
                name: name.into(),
                level: EnforcementLevel::Advisory,
                kind: None,
                severity: None,
            },
            schemas,
            required: required.iter().map(ToString::to_string).collect(),
        }
    }

    fn info() -> AnalyzerInfo {
        let schemas = json!({
            "message": {"type": "string", "minLength": 2, "default": "hello"},
            "count": {"type": ["integer", "null"], "maximum": 3},
            "mode": {"enum": ["a", "b"]},
            "list": {"type": "array", "items": {"type": "string"}},
        });
        AnalyzerInfo {
            supports_config: true,
            policies: vec![
                policy("plain", json!({}), &[]),
                policy("rich", schemas, &["mode"]),
            ],
            initial_config: BTreeMap::from([(
                "rich".into(),
                PolicyConfig {
                    level: EnforcementLevel::Remediate,
                    properties: Map::from_iter([("mode".to_owned(), json!("a"))]),
                },
            )]),
            ..AnalyzerInfo::default()
        }
    }

    fn reconciled(given: Value) -> Result<Value, Vec<String>> {
        let Value::Object(given) = given else {
            unreachable!()
        };
        let configs = reconcile(&info(), &given).map_err(|errors| errors.0)?;
        let entries = configs.into_iter().map(|(name, config)| {
            let shown = json!([config.level.as_str(), config.properties]);
            (name.to_string(), shown)
        });
        Ok(Value::Object(entries.collect()))
    }

    #[test]
    fn the_user_comes_before_the_pack_and_the_pack_before_its_policies() {
        assert_eq!(
            reconciled(json!({})),
            Ok(json!({
                "plain": ["advisory", {}],
                "rich": ["remediate", {"message": "hello", "mode": "a"}],
            }))
        );
        assert_eq!(
            reconciled(json!({"all": "mandatory", "rich": {"mode": "b"}})),
            Ok(json!({
                "plain": ["mandatory", {}],
                "rich": ["mandatory", {"message": "hello", "mode": "b"}],
            }))
        );
        assert_eq!(
            reconciled(json!({
                "all": "mandatory",
                "plain": "disabled",
                "rich": {"enforcementLevel": "advisory", "message": "ho"},
            })),
            Ok(json!({
                "plain": ["disabled", {}],
                "rich": ["advisory", {"message": "ho", "mode": "a"}],
            }))
        );
    }

    #[test]
    fn what_does_not_fit_its_schema_is_refused_all_at_once() {
        let given = json!({
            "plain": "strict",
            "rich": {"message": "x", "count": 4, "mode": "c", "list": ["a", 1]},
        });
        assert_eq!(
            reconciled(given),
            Err(vec![
                "plain: enforcementLevel must be one of \"advisory\", \"mandatory\", \"remediate\", \"disabled\", and \
                 not \"strict\""
                    .to_owned(),
                "rich: count must be at most 3".to_owned(),
                "rich: list[1] must be of type string, and not 1".to_owned(),
                "rich: mode must be one of \"a\", \"b\", and not \"c\"".to_owned(),
                "the length of rich: message must be at least 2".to_owned(),
            ])
        );
        let given = json!({"rich": {"message": 5, "count": 1.5}});
        assert_eq!(
            reconciled(given),
            Err(vec![
                "rich: count must be of type integer or null, and not 1.5".to_owned(),
                "rich: message must be of type string, and not 5".to_owned(),
            ])
        );
    }

    #[test]
    fn what_is_required_is_missed_unless_the_policy_does_not_run() {
        let mut info = info();
        info.initial_config.clear();
        let given = |level: &str| Map::from_iter([("rich".to_owned(), json!(level))]);
        let missing = reconcile(&info, &given("mandatory")).unwrap_err();
        assert_eq!(missing.0, ["rich: mode is required"]);
        assert!(reconcile(&info, &given("disabled")).is_ok());
    }

    #[test]
    fn packs_that_take_no_configuration_get_none() {
        let mut info = info();
        info.supports_config = false;
        let given = Map::from_iter([("plain".to_owned(), json!("mandatory"))]);
        assert_eq!(reconcile(&info, &given), Ok(BTreeMap::new()));
    }
}
