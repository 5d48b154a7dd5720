//! Rules in Rego, the language of the Open Policy Agent, in the form that the public OPA analyzer for Pulumi reads.
//!
//! | Rule | Policy |
//! |---|---|
//! | `deny`, `deny_NAME`, `violation`, `violation_NAME` | mandatory, for each resource |
//! | `warn`, `warn_NAME` | advisory, for each resource |
//! | the same with `stack_` in front | for all resources together |
//! | `fix`, `fix_NAME` | object of the properties that correct a resource; belongs to the rule with the same `NAME` |
//!
//! `fix` is our own addition, for the runtime `rego` only, as are several packages in one pack and the files `*_test.rego`.

mod annotations;
mod functions;
mod input;
mod modules;
mod reads;
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use plumb_resource::Urn;
use plumb_resource::policy::{EnforcementLevel, PolicyKind};
use regorus::{Engine, Value};
use serde_json::{Map, Value as Json};

use crate::facts::Facts;
use crate::policy::{Correction, Judge, Loaded, Policy, Rules, Settings, Violation, schemas};
use crate::{LoadError, files};
use annotations::Annotation;
use input::{Format, resource_input, stack_input};
use modules::Modules;
pub(crate) use tests::run_tests;

const ADVICE: &str = "a policy is a rule called `deny`, `violation` or `warn`, such as \
                      `deny_public contains msg if { … }`, in a file *.rego";

/// Loads the rules in a folder. Without `has_fixes`, the rules `fix_NAME` are helpers like others.
pub(crate) fn load(
    folder: &Path,
    input_format: Option<&str>,
    has_fixes: bool,
) -> Result<Loaded, LoadError> {
    let format = match input_format {
        None => Format::Properties,
        Some("kubernetes-admission") => Format::Admission,
        Some(other) => return Err(LoadError::InputFormat(other.to_owned())),
    };
    let modules = Modules::load(folder, |stem| !stem.ends_with("_test"))?;
    let rules = rules(&modules, format, &config_schemas(folder)?, has_fixes)?;
    if rules.is_empty() {
        return Err(LoadError::Empty {
            folder: folder.to_owned(),
            advice: ADVICE,
        });
    }
    let name = modules.name();
    let (policies, rules) = rules.into_iter().unzip();
    Ok(Loaded {
        name,
        rules: Box::new(RegoRules {
            engine: Mutex::new(modules.into_engine()),
            format,
            policies,
            rules,
            parameters: Mutex::default(),
        }),
    })
}

/// Content of `config-schema.json`, by the names of policies.
fn config_schemas(folder: &Path) -> Result<Map<String, Json>, LoadError> {
    let path = folder.join("config-schema.json");
    if !path.exists() {
        return Ok(Map::new());
    }
    serde_json::from_str(&files::read(&path)?)
        .map_err(|error| files::form(&path, error.to_string()))
}

/// Paths of the rules of a policy, as queries.
struct RegoRule {
    check: String,
    fix: Option<String>,
}

/// Scope, level and name without prefix of the rules that are policies.
fn prefix(rule: &str) -> Option<(PolicyKind, EnforcementLevel, &str)> {
    let (kind, rest) = match rule.strip_prefix("stack_") {
        Some(rest) => (PolicyKind::Stack, rest),
        None => (PolicyKind::Resource, rule),
    };
    let levels = [
        ("deny", EnforcementLevel::Mandatory),
        ("violation", EnforcementLevel::Mandatory),
        ("warn", EnforcementLevel::Advisory),
    ];
    let found = levels.into_iter().find_map(|(prefix, level)| {
        let name = suffix(rest, prefix)?;
        Some((level, name))
    });
    found.map(|(level, name)| (kind, level, name))
}

/// `NAME` of `prefix_NAME`; empty for the prefix alone.
fn suffix<'a>(rule: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = rule.strip_prefix(prefix)?;
    if rest.is_empty() {
        return Some(rest);
    }
    let name = rest.strip_prefix('_')?;
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|it| it.is_ascii_alphanumeric());
    name.split('_').all(is_word).then_some(name)
}

fn rules(
    modules: &Modules,
    format: Format,
    configs: &Map<String, Json>,
    has_fixes: bool,
) -> Result<Vec<(Policy, RegoRule)>, LoadError> {
    let mut found: Vec<(Policy, RegoRule)> = Vec::new();
    let mut places: BTreeMap<String, PathBuf> = BTreeMap::new();
    for declared in modules.rules() {
        let Some((kind, level, suffix)) = prefix(&declared.name) else {
            continue;
        };
        if let Some(first) = places.insert(declared.name.clone(), declared.path.clone()) {
            return Err(LoadError::Duplicate {
                name: declared.name,
                first,
                second: declared.path,
            });
        }
        let fix = has_fixes.then(|| fix_of(modules, &declared.package, kind, suffix));
        let fix = fix.flatten();
        let mut reads = modules.reads(&declared, format, kind);
        if let Some(fix) = &fix {
            reads.extend(modules.reads(fix, format, kind));
        }
        let (types, type_hidden_by) = modules.types(&declared, format, kind);
        let described = described(&declared.name, &declared.annotation, configs);
        let policy = Policy {
            level: fix.as_ref().map_or(level, |_| EnforcementLevel::Remediate),
            kind,
            types,
            type_hidden_by,
            reads,
            corrects: fix.is_some(),
            ..described.map_err(|message| files::form(&declared.path, message))?
        };
        let rule = RegoRule {
            check: declared.query(),
            fix: fix.map(|fix| fix.query()),
        };
        found.push((policy, rule));
    }
    let lonely = has_fixes.then(|| lonely_fix(modules, &found));
    lonely.flatten().map_or(Ok(found), Err)
}

/// Error for a rule `fix_NAME` beside which no policy has the same `NAME`: it would never run.
fn lonely_fix(modules: &Modules, found: &[(Policy, RegoRule)]) -> Option<LoadError> {
    let declared = modules.rules();
    let mut fixes = declared
        .iter()
        .filter(|rule| suffix(&rule.name, "fix").is_some());
    let lonely = fixes.find(|fix| {
        let query = Some(fix.query());
        !found.iter().any(|(_, rule)| rule.fix == query)
    })?;
    let rest = suffix(&lonely.name, "fix").unwrap_or_default();
    let name = match rest {
        "" => "deny".to_owned(),
        rest => format!("deny_{rest}"),
    };
    let message = format!(
        "`{}` corrects nothing, because there is no `{name}` in its package",
        lonely.name
    );
    Some(files::form(&lonely.path, message))
}

/// The rule `fix_NAME` beside a rule for resources.
fn fix_of(
    modules: &Modules,
    package: &str,
    kind: PolicyKind,
    suffix: &str,
) -> Option<modules::Declared> {
    if kind == PolicyKind::Stack {
        return None;
    }
    let name = match suffix {
        "" => "fix".to_owned(),
        suffix => format!("fix_{suffix}"),
    };
    modules
        .rules()
        .into_iter()
        .find(|declared| declared.package == package && declared.name == name)
}

/// Name, description and settings of a policy.
fn described(
    name: &str,
    annotation: &Annotation,
    configs: &Map<String, Json>,
) -> Result<Policy, String> {
    let (schemas, required) = configs
        .get(name)
        .map(schemas)
        .transpose()?
        .unwrap_or_default();
    Ok(Policy {
        name: name.into(),
        description: annotation.description(name),
        level: EnforcementLevel::Advisory,
        severity: annotation.severity()?,
        kind: PolicyKind::Resource,
        types: None,
        type_hidden_by: None,
        schemas,
        required,
        reads: crate::reads::Reads::default(),
        corrects: false,
    })
}

struct RegoRules {
    /// Compiled modules and the settings, as `data`. Each judgement works on a copy, which shares the modules.
    engine: Mutex<Engine>,
    format: Format,
    policies: Vec<Policy>,
    /// As many as `policies`.
    rules: Vec<RegoRule>,
    /// Settings of each policy, as `input.parameters`.
    parameters: Mutex<Vec<Value>>,
}

impl Rules for RegoRules {
    fn policies(&self) -> &[Policy] {
        &self.policies
    }

    fn introduce(&mut self, deployment: Json) {
        let engine = self
            .engine
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // Cannot fail: the engine has no other data yet.
        let _ = engine.add_data(object([("deployment", deployment.into())]));
        prepare(engine);
    }

    fn configure(&self, settings: &Settings) -> Result<(), String> {
        let given = settings
            .iter()
            .filter(|(_, config)| !config.properties.is_empty());
        let config =
            given.map(|(name, config)| (name.to_string(), Json::Object(config.properties.clone())));
        let config = Json::Object(config.collect());
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let deployment = engine.get_data()["deployment"].clone();
        engine.clear_data();
        engine
            .add_data(object([
                ("config", config.into()),
                ("deployment", deployment),
            ]))
            .map_err(|error| error.to_string())?;
        prepare(&mut engine);
        let parameters = self.policies.iter().map(|policy| {
            let config = settings.get(&policy.name);
            config.map_or_else(Value::new_object, |it| {
                Json::Object(it.properties.clone()).into()
            })
        });
        *self
            .parameters
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = parameters.collect();
        Ok(())
    }

    fn judge<'a>(&'a self, facts: &'a Facts) -> Box<dyn Judge + 'a> {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let input = match facts {
            Facts::Resource(resource) => resource_input(resource, self.format),
            Facts::Stack(resources) => Some(stack_input(resources, self.format)),
        };
        Box::new(RegoJudge {
            rules: self,
            engine: engine.clone(),
            input,
        })
    }
}

/// Makes the engine analyze its modules now, and not in each of its copies.
fn prepare(engine: &mut Engine) {
    // Loading has done the same without a mistake.
    let _ = engine.eval_query("true".to_owned(), false);
}

/// An object of Rego.
fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.map(|(key, value)| (Value::from(key), value));
    Value::from(BTreeMap::from(members))
}

struct RegoJudge<'a> {
    rules: &'a RegoRules,
    engine: Engine,
    /// `None` for resources that the format of the input does not fit.
    input: Option<Value>,
}

impl RegoJudge<'_> {
    /// Value of a rule; `None` if the input does not fit.
    fn value(&mut self, policy: usize, query: &str) -> Result<Option<Value>, String> {
        let Some(mut input) = self.input.clone() else {
            return Ok(None);
        };
        if self.rules.format == Format::Admission {
            let parameters = self.rules.parameters.lock();
            let parameters = parameters.unwrap_or_else(PoisonError::into_inner);
            let parameters = parameters.get(policy).cloned();
            if let Ok(members) = input.as_object_mut() {
                let parameters = parameters.unwrap_or_else(Value::new_object);
                members.insert(Value::from("parameters"), parameters);
            }
        }
        self.engine.set_input(input);
        let value = self.engine.eval_rule(query.to_owned());
        value
            .map(Some)
            .map_err(|error| error.to_string().trim().to_owned())
    }
}

impl Judge for RegoJudge<'_> {
    fn violations(&mut self, policy: usize) -> Result<Option<Vec<Violation>>, String> {
        let check = &self.rules.rules[policy].check;
        let value = self.value(policy, check)?;
        value.as_ref().map(violations).transpose()
    }

    fn corrections(&mut self, policy: usize) -> Result<Vec<Correction>, String> {
        let Some(fix) = &self.rules.rules[policy].fix else {
            return Ok(Vec::new());
        };
        match self.value(policy, fix)? {
            None | Some(Value::Undefined) => Ok(Vec::new()),
            Some(value @ Value::Object(_)) => {
                let Json::Object(members) = json(&value)? else {
                    return Err("the names of properties must be texts".to_owned());
                };
                let members = members.into_iter();
                members
                    .map(|(path, value)| Correction::new(&path, value))
                    .collect()
            }
            Some(_) => Err("a rule that corrects must be an object of properties".to_owned()),
        }
    }
}

fn json(value: &Value) -> Result<Json, String> {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

/// Violations in the value of a rule: its elements, or one if the value is `true`.
fn violations(value: &Value) -> Result<Vec<Violation>, String> {
    match value {
        Value::Undefined | Value::Bool(false) => Ok(Vec::new()),
        Value::Bool(true) => Ok(vec![Violation::default()]),
        Value::Set(items) => items.iter().map(violation).collect(),
        Value::Array(items) => items.iter().map(violation).collect(),
        Value::Object(_) | Value::String(_) => Ok(vec![violation(value)?]),
        Value::Null | Value::Number(_) => {
            Err("a policy must be a set of messages, not a number or null".to_owned())
        }
    }
}

/// A message, or an object with `msg` or `message`, and `urn`.
fn violation(item: &Value) -> Result<Violation, String> {
    if let Value::String(text) = item {
        return Ok(Violation {
            message: text.to_string(),
            urn: None,
        });
    }
    let item = json(item)?;
    let text = |key: &str| item.get(key).and_then(Json::as_str).map(ToOwned::to_owned);
    Ok(Violation {
        message: text("msg")
            .or(text("message"))
            .unwrap_or_else(|| item.to_string()),
        urn: text("urn").and_then(|urn| Urn::parse(&urn).ok()),
    })
}
