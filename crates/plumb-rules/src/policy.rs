//! Policies of a pack and the languages that judge by them.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_resource::Urn;
use plumb_resource::policy::{EnforcementLevel, PolicyInfo, PolicyKind, PolicySeverity};
use plumb_value::PropertyPath;
use plumb_wire::analyzer::{ConfigurablePolicy, PolicyConfig};
use serde_json::{Map, Value as Json};

use crate::facts::{Facts, ResourceFacts};
use crate::reads::Reads;

/// Configuration of the policies, by name.
pub(crate) type Settings = BTreeMap<EcoString, PolicyConfig>;

/// A policy, whatever its language.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) name: EcoString,
    /// Sentence that says what has to be; the message of violations without one.
    pub(crate) description: String,
    pub(crate) level: EnforcementLevel,
    pub(crate) severity: Option<PolicySeverity>,
    pub(crate) kind: PolicyKind,
    /// Types of resources that the policy is for; `None` for every resource.
    pub(crate) types: Option<Vec<TypePattern>>,
    /// Name of the property that hides the type of the resource from the rule. The rule decides about resources that have it.
    pub(crate) type_hidden_by: Option<&'static str>,
    /// JSON schemas of the settings.
    pub(crate) schemas: Map<String, Json>,
    pub(crate) required: Vec<String>,
    /// Properties that the rule may read.
    pub(crate) reads: Reads,
    /// Whether the policy can correct resources.
    pub(crate) corrects: bool,
}

impl Policy {
    /// Whether the policy is for a resource.
    pub(crate) fn is_for(&self, resource: &ResourceFacts) -> bool {
        let Some(types) = &self.types else {
            return true;
        };
        let is_hidden = self.type_hidden_by.is_some_and(|name| resource.has(name));
        is_hidden || types.iter().any(|pattern| pattern.matches(&resource.token))
    }

    /// The policy as the engine knows it.
    pub(crate) fn configurable(&self) -> ConfigurablePolicy {
        ConfigurablePolicy {
            info: PolicyInfo {
                name: self.name.clone(),
                level: self.level,
                kind: Some(self.kind),
                severity: self.severity,
            },
            schemas: self.schemas.clone(),
            required: self.required.clone(),
        }
    }
}

/// A type token in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypePattern(Vec<String>);

impl TypePattern {
    pub(crate) fn new(text: &str) -> Self {
        TypePattern(text.split('*').map(ToOwned::to_owned).collect())
    }

    /// The pattern that only this type matches.
    pub(crate) fn exact(token: &str) -> Self {
        TypePattern(vec![token.to_owned()])
    }

    fn matches(&self, token: &str) -> bool {
        let (first, rest) = self.0.split_first().expect("split gives at least one part");
        let Some((last, middle)) = rest.split_last() else {
            return first == token;
        };
        let Some(mut left) = token.strip_prefix(first.as_str()) else {
            return false;
        };
        for part in middle {
            let Some(at) = left.find(part.as_str()) else {
                return false;
            };
            left = &left[at + part.len()..];
        }
        left.ends_with(last.as_str())
    }
}

/// Rules that were loaded, and the name that they give the pack.
pub(crate) struct Loaded {
    pub(crate) name: Option<String>,
    pub(crate) rules: Box<dyn Rules>,
}

/// Rules of a language.
pub(crate) trait Rules: Send + Sync {
    /// The policies, in the order in which they run.
    fn policies(&self) -> &[Policy];

    /// Takes the facts about the deployment; called once, first.
    fn introduce(&mut self, deployment: Json);

    /// Takes the configuration.
    fn configure(&self, settings: &Settings) -> Result<(), String>;

    /// Prepares the judgement of one resource, or of all resources of a stack.
    fn judge<'a>(&'a self, facts: &'a Facts) -> Box<dyn Judge + 'a>;
}

/// Judgement of one resource or one stack. Policies are named by their index in [`Rules::policies`]. Errors are messages about
/// rules that cannot be evaluated.
pub(crate) trait Judge {
    /// Violations of a policy; `None` if the policy does not apply.
    fn violations(&mut self, policy: usize) -> Result<Option<Vec<Violation>>, String>;

    /// Changes that correct the resource. Empty if there is nothing to correct.
    fn corrections(&mut self, policy: usize) -> Result<Vec<Correction>, String>;
}

/// One violation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Violation {
    /// Text for the user; empty for the description of the policy.
    pub(crate) message: String,
    /// The resource in violation, if the rule names one.
    pub(crate) urn: Option<Urn>,
}

/// One change to a resource.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Correction {
    pub(crate) path: PropertyPath,
    /// The new value; `None` removes the property.
    pub(crate) value: Option<Json>,
}

impl Correction {
    /// The change of a property at a path in text form.
    pub(crate) fn new(path: &str, value: Json) -> Result<Self, String> {
        let parsed = PropertyPath::parse(path);
        Ok(Correction {
            path: parsed.map_err(|error| format!("{path:?} is no property path: {error}"))?,
            value: (!value.is_null()).then_some(value),
        })
    }
}

/// The level with this name.
pub(crate) fn level(name: &str) -> Result<EnforcementLevel, String> {
    EnforcementLevel::from_name(name).ok_or_else(|| {
        format!("the level {name:?} is not known; levels are advisory, mandatory, remediate and disabled")
    })
}

/// The severity with this name.
pub(crate) fn severity(name: &str) -> Result<PolicySeverity, String> {
    let all = [
        PolicySeverity::Low,
        PolicySeverity::Medium,
        PolicySeverity::High,
        PolicySeverity::Critical,
    ];
    let found = all.into_iter().find(|severity| severity.as_str() == name);
    found.ok_or_else(|| {
        format!("the severity {name:?} is not known; severities are low, medium, high and critical")
    })
}

/// The schemas of the settings of a policy: `properties` and `required`.
pub(crate) fn schemas(declared: &Json) -> Result<(Map<String, Json>, Vec<String>), String> {
    let properties = match declared.get("properties") {
        Some(Json::Object(properties)) => properties.clone(),
        None => Map::new(),
        Some(_) => return Err("`properties` of the settings must be an object".to_owned()),
    };
    let required = declared.get("required").and_then(Json::as_array);
    let names = required.into_iter().flatten().filter_map(Json::as_str);
    Ok((properties, names.map(ToOwned::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_a_type_stands_for_any_text() {
        let matches = |pattern: &str, token: &str| TypePattern::new(pattern).matches(token);
        assert!(matches("a:b:C", "a:b:C"));
        assert!(!matches("a:b:C", "a:b:CD"));
        assert!(matches("a:*", "a:b:C"));
        assert!(!matches("a:*", "b:b:C"));
        assert!(matches("*:Bucket", "aws:s3/bucket:Bucket"));
        assert!(matches("aws:*bucket:*", "aws:s3/bucket:Bucket"));
        assert!(!matches("ab*ba", "aba"));
        assert!(matches("*", ""));
    }
}
