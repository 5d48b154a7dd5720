//! Files with rules in CEL.
//!
//! A file is a YAML mapping of policies by name:
//!
//! ```yaml
//! no-public-buckets:
//!   description: Buckets must not be public.
//!   level: mandatory
//!   type: aws:s3/bucket:Bucket
//!   check: "!has(props.acl) || !props.acl.startsWith('public')"
//!   message: Set acl to private.
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cel::{Env, Program};
use plumb_resource::policy::{EnforcementLevel, PolicyKind};
use plumb_value::PropertyPath;
use serde_json::{Map, Value as Json};

use super::{CelRule, Message, Test, kind, reads};
use crate::policy::{Policy, TypePattern, level, schemas, severity};
use crate::{LoadError, files};

/// Fields of a policy.
const FIELDS: [&str; 13] = [
    "check",
    "config",
    "description",
    "fix",
    "level",
    "message",
    "messageExpression",
    "scope",
    "severity",
    "title",
    "type",
    "violations",
    "when",
];

/// The policies in the files of a folder, sorted by file; those of a file in the order of the file.
pub(super) fn load(folder: &Path, environment: &Env) -> Result<Vec<(Policy, CelRule)>, LoadError> {
    let mut rules = Vec::new();
    let mut places: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in files::find(folder, is_rules)? {
        let declared = match files::read_yaml(&path)? {
            None | Some(Json::Null) => continue,
            Some(Json::Object(declared)) => declared,
            Some(_) => {
                return Err(files::form(
                    &path,
                    "a file of rules is a mapping of policies by name",
                ));
            }
        };
        for (name, declared) in &declared {
            let rule = policy(name, declared, environment)
                .map_err(|message| files::form(&path, format!("policy {name:?}: {message}")))?;
            if let Some(first) = places.insert(name.clone(), path.clone()) {
                return Err(LoadError::Duplicate {
                    name: name.clone(),
                    first,
                    second: path,
                });
            }
            rules.push(rule);
        }
    }
    Ok(rules)
}

fn is_rules(name: &str) -> bool {
    let stem = name.strip_suffix(".yaml").or(name.strip_suffix(".yml"));
    stem.is_some_and(|stem| {
        stem.strip_suffix(".test").is_none() && stem != "PulumiPolicy" && stem != "PulumiPlugin"
    })
}

fn policy(name: &str, declared: &Json, environment: &Env) -> Result<(Policy, CelRule), String> {
    let Json::Object(fields) = declared else {
        return Err("a policy is a mapping with a `check`".to_owned());
    };
    if let Some(key) = fields.keys().find(|it| !FIELDS.contains(&it.as_str())) {
        return Err(format!(
            "there is no field {key:?}; fields are {}",
            FIELDS.join(", ")
        ));
    }
    let fields = Fields {
        fields,
        environment,
    };
    let rule = fields.rule()?;
    let kind = fields
        .text("scope")?
        .map_or(Ok(PolicyKind::Resource), kind)?;
    let types = fields.types()?;
    if kind == PolicyKind::Stack && (types.is_some() || !rule.fixes.is_empty()) {
        return Err("a policy for the stack has no `type` and no `fix`".to_owned());
    }
    let usual = if rule.fixes.is_empty() {
        EnforcementLevel::Advisory
    } else {
        EnforcementLevel::Remediate
    };
    let (schemas, required) = fields
        .get("config")
        .map(schemas)
        .transpose()?
        .unwrap_or_default();
    let policy = Policy {
        name: name.into(),
        description: fields.text("description")?.unwrap_or(name).to_owned(),
        level: fields.text("level")?.map_or(Ok(usual), level)?,
        severity: fields.text("severity")?.map(severity).transpose()?,
        kind,
        types,
        type_hidden_by: None,
        schemas,
        required,
        reads: reads::of_programs(kind, rule.programs()),
        corrects: !rule.fixes.is_empty(),
    };
    Ok((policy, rule))
}

/// The fields of a policy.
struct Fields<'a> {
    fields: &'a Map<String, Json>,
    environment: &'a Env,
}

impl<'a> Fields<'a> {
    fn get(&self, key: &str) -> Option<&'a Json> {
        self.fields.get(key)
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{key}` must be a text")),
        }
    }

    /// The expression in a field. `true`, `false` and numbers are expressions too.
    fn program(&self, key: &str) -> Result<Option<Program>, String> {
        let source = self.get(key).map(|source| self.source(key, source));
        source.transpose()
    }

    fn source(&self, key: &str, source: &Json) -> Result<Program, String> {
        let text = match source {
            Json::String(text) => text.clone(),
            Json::Bool(_) | Json::Number(_) => source.to_string(),
            _ => return Err(format!("`{key}` must be an expression")),
        };
        let compiled = self.environment.compile(&text);
        compiled.map_err(|error| {
            let lines = error.to_string().replace("ERROR: <input>:", "");
            format!("`{key}` is no expression: {lines}")
        })
    }

    fn types(&self) -> Result<Option<Vec<TypePattern>>, String> {
        let wrong = || "`type` must be a type of resources, or a list of them".to_owned();
        match self.get("type") {
            None => Ok(None),
            Some(Json::String(one)) => Ok(Some(vec![TypePattern::new(one)])),
            Some(Json::Array(several)) => {
                let texts = several.iter().map(|it| it.as_str().ok_or_else(wrong));
                texts
                    .map(|text| Ok(TypePattern::new(text?)))
                    .collect::<Result<_, _>>()
                    .map(Some)
            }
            Some(_) => Err(wrong()),
        }
    }

    fn rule(&self) -> Result<CelRule, String> {
        Ok(CelRule {
            when: self.program("when")?,
            test: self.test()?,
            fixes: self.fixes()?,
        })
    }

    fn test(&self) -> Result<Test, String> {
        match (self.program("check")?, self.program("violations")?) {
            (Some(check), None) => Ok(Test::Check {
                check,
                message: self.message()?,
            }),
            (None, Some(violations)) => Ok(Test::Violations(violations)),
            (None, None) => Err("`check` or `violations` is missing".to_owned()),
            (Some(_), Some(_)) => Err("there is either a `check` or `violations`".to_owned()),
        }
    }

    fn message(&self) -> Result<Message, String> {
        let text = self.text("message")?;
        match (text, self.program("messageExpression")?) {
            (_, Some(program)) => Ok(Message::Expression(program)),
            (text, None) => Ok(Message::Text(text.unwrap_or_default().to_owned())),
        }
    }

    fn fixes(&self) -> Result<Vec<(String, Program)>, String> {
        let fixes = match self.get("fix") {
            None => return Ok(Vec::new()),
            Some(Json::Object(fixes)) => fixes,
            Some(_) => {
                return Err("`fix` must be a mapping of properties to expressions".to_owned());
            }
        };
        let fixes = fixes.iter().map(|(path, source)| {
            PropertyPath::parse(path)
                .map_err(|error| format!("`fix`: {path:?} is no property path: {error}"))?;
            Ok((path.clone(), self.source(&format!("fix: {path}"), source)?))
        });
        fixes.collect()
    }
}

impl CelRule {
    /// All expressions of the rule.
    fn programs(&self) -> impl Iterator<Item = &Program> {
        let (check, message) = match &self.test {
            Test::Check { check, message } => (check, Some(message)),
            Test::Violations(program) => (program, None),
        };
        let message = message.and_then(|message| match message {
            Message::Expression(program) => Some(program),
            Message::Text(_) => None,
        });
        let fixes = self.fixes.iter().map(|(_, program)| program);
        self.when.iter().chain([check]).chain(message).chain(fixes)
    }
}
