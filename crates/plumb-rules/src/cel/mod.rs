//! Rules in the Common Expression Language.

mod file;
mod reads;
mod values;

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use cel::{Context, Env, ExecutionError, Program, Value};
use plumb_resource::Urn;
use plumb_resource::policy::PolicyKind;
use serde_json::Value as Json;

use crate::LoadError;
use crate::facts::Facts;
use crate::policy::{Correction, Judge, Loaded, Policy, Rules, Settings, Violation};
use values::{cel_value, json_value, resource_value};

const ADVICE: &str = "a policy is an entry of a YAML file, such as \
                      `short-names: {check: resource.name.size() < 50}`";

/// Loads the rules in a folder.
pub(crate) fn load(folder: &Path) -> Result<Loaded, LoadError> {
    let environment = Arc::new(environment());
    let rules = file::load(folder, &environment)?;
    if rules.is_empty() {
        return Err(LoadError::Empty {
            folder: folder.to_owned(),
            advice: ADVICE,
        });
    }
    let (policies, rules) = rules.into_iter().unzip();
    Ok(Loaded {
        name: None,
        rules: Box::new(CelRules {
            environment,
            policies,
            rules,
            deployment: Value::Null,
            settings: RwLock::default(),
        }),
    })
}

/// The standard functions, and those of the extensions for texts, lists, numbers and base64.
fn environment() -> Env {
    let mut environment = Env::stdlib();
    let extensions = [
        cel::extensions::strings,
        cel::extensions::lists,
        cel::extensions::math,
        cel::extensions::encoders,
    ];
    for extension in extensions {
        environment
            .add_extension(extension)
            .expect("extensions have different names");
    }
    environment
}

/// Compiled expressions of a rule.
struct CelRule {
    when: Option<Program>,
    test: Test,
    fixes: Vec<(String, Program)>,
}

/// Test of a rule.
enum Test {
    /// An expression that is true for what keeps the rule, and a message for what does not.
    Check { check: Program, message: Message },
    /// An expression for the list of violations.
    Violations(Program),
}

enum Message {
    Text(String),
    Expression(Program),
}

struct CelRules {
    environment: Arc<Env>,
    policies: Vec<Policy>,
    /// As many as `policies`.
    rules: Vec<CelRule>,
    deployment: Value,
    /// Settings of each policy.
    settings: RwLock<Vec<Value>>,
}

impl Rules for CelRules {
    fn policies(&self) -> &[Policy] {
        &self.policies
    }

    fn introduce(&mut self, deployment: Json) {
        self.deployment = cel_value(&deployment);
    }

    fn configure(&self, settings: &Settings) -> Result<(), String> {
        let values = self.policies.iter().map(|policy| {
            let config = settings.get(&policy.name);
            config.map_or_else(values::empty, |it| values::map(&it.properties))
        });
        let values = values.collect();
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = values;
        Ok(())
    }

    fn judge<'a>(&'a self, facts: &'a Facts) -> Box<dyn Judge + 'a> {
        let mut context = Context::with_env(self.environment.clone());
        match facts {
            Facts::Resource(resource) => {
                let props = values::map(&resource.properties);
                let value = resource_value(resource, props.clone());
                context.add_variable_from_value("props", props);
                context.add_variable_from_value("resource", value);
            }
            Facts::Stack(resources) => {
                let resources = resources.iter();
                let resources = resources
                    .map(|one| resource_value(one, values::map(&one.properties)))
                    .collect::<Vec<_>>();
                context.add_variable_from_value("resources", Value::List(Arc::new(resources)));
            }
        }
        context.add_variable_from_value("deployment", self.deployment.clone());
        Box::new(CelJudge {
            rules: self,
            context,
        })
    }
}

struct CelJudge<'a> {
    rules: &'a CelRules,
    context: Context<'a, 'a>,
}

impl CelJudge<'_> {
    /// Makes the settings of a policy the value of `config`.
    fn enter(&mut self, policy: usize) {
        let settings = self.rules.settings.read();
        let settings = settings.unwrap_or_else(PoisonError::into_inner);
        let config = settings.get(policy).cloned();
        self.context
            .add_variable_from_value("config", config.unwrap_or_else(values::empty));
    }

    fn applies(&self, rule: &CelRule) -> Result<bool, String> {
        match &rule.when {
            Some(when) => self.boolean(when, "when"),
            None => Ok(true),
        }
    }

    fn value(&self, program: &Program, field: &str) -> Result<Value, String> {
        program
            .execute(&self.context)
            .map_err(|error| format!("`{field}`: {}", explain(&error)))
    }

    fn boolean(&self, program: &Program, field: &str) -> Result<bool, String> {
        match self.value(program, field)? {
            Value::Bool(bool) => Ok(bool),
            other => Err(format!(
                "`{field}` must be true or false, not of type {}",
                other.type_of()
            )),
        }
    }

    fn text(&self, program: &Program, field: &str) -> Result<String, String> {
        match self.value(program, field)? {
            Value::String(text) => Ok(text.to_string()),
            other => Err(format!(
                "`{field}` must be a text, not of type {}",
                other.type_of()
            )),
        }
    }

    fn failures(&self, test: &Test) -> Result<Vec<Violation>, String> {
        match test {
            Test::Check { check, message } => {
                if self.boolean(check, "check")? {
                    return Ok(Vec::new());
                }
                let message = match message {
                    Message::Text(text) => text.clone(),
                    Message::Expression(program) => self.text(program, "messageExpression")?,
                };
                Ok(vec![Violation { message, urn: None }])
            }
            Test::Violations(program) => match self.value(program, "violations")? {
                Value::List(items) => items.iter().map(violation).collect(),
                other => Err(format!(
                    "`violations` must be a list, not of type {}",
                    other.type_of()
                )),
            },
        }
    }
}

impl Judge for CelJudge<'_> {
    fn violations(&mut self, policy: usize) -> Result<Option<Vec<Violation>>, String> {
        self.enter(policy);
        let rule = &self.rules.rules[policy];
        if !self.applies(rule)? {
            return Ok(None);
        }
        self.failures(&rule.test).map(Some)
    }

    fn corrections(&mut self, policy: usize) -> Result<Vec<Correction>, String> {
        self.enter(policy);
        let rule = &self.rules.rules[policy];
        if !self.applies(rule)? || self.failures(&rule.test)?.is_empty() {
            return Ok(Vec::new());
        }
        let corrections = rule.fixes.iter().map(|(path, program)| {
            let value = self.value(program, &format!("fix: {path}"))?;
            Correction::new(path, json_value(&value)?)
        });
        corrections.collect()
    }
}

/// An element of `violations`: a text, or a map with `message` and `urn`.
fn violation(item: &Value) -> Result<Violation, String> {
    let of_map = |key: &str| {
        let Ok(Json::Object(map)) = json_value(item) else {
            return None;
        };
        map.get(key).and_then(Json::as_str).map(ToOwned::to_owned)
    };
    if let Value::String(text) = item {
        return Ok(Violation {
            message: text.to_string(),
            urn: None,
        });
    }
    let Some(message) = of_map("message") else {
        return Err(
            "an element of `violations` is a text, or a map with `message` and `urn`".to_owned(),
        );
    };
    Ok(Violation {
        message,
        urn: of_map("urn").and_then(|urn| Urn::parse(&urn).ok()),
    })
}

/// Message about a failed evaluation. It holds names and types, and never values, because those may be secret.
fn explain(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => {
            format!("there is no {key:?}; test it with `has(…)` first")
        }
        ExecutionError::UndeclaredReference(name) => {
            format!("there is no variable or function {name:?} here")
        }
        ExecutionError::NoSuchOverload(error) => error.to_string(),
        ExecutionError::InvalidArgumentCount { expected, actual } => {
            format!("a function takes {expected} arguments, and not {actual}")
        }
        ExecutionError::NotSupportedAsMethod { method, target } => {
            format!(
                "values of type {} have no method `{method}`",
                target.type_of()
            )
        }
        ExecutionError::UnexpectedType { got, want } => {
            format!("a value is of type {got}, and not {want}")
        }
        ExecutionError::ValuesNotComparable(left, right) => {
            format!(
                "values of the types {} and {} cannot be compared",
                left.type_of(),
                right.type_of()
            )
        }
        ExecutionError::FunctionError { function, .. } => {
            format!("the function `{function}` does not take these arguments")
        }
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "a number is divided by zero".to_owned()
        }
        ExecutionError::IndexOutOfBounds(_) => "a list is shorter than the index".to_owned(),
        _ => "the values do not fit the expression".to_owned(),
    }
}

/// Kind of a policy with this name.
fn kind(name: &str) -> Result<PolicyKind, String> {
    match name {
        "resource" => Ok(PolicyKind::Resource),
        "stack" => Ok(PolicyKind::Stack),
        _ => Err(format!(
            "the scope {name:?} is not known; scopes are resource and stack"
        )),
    }
}
