//! Combination of a stack's settings with the declarations of its project.

use serde_json::Value as Json;

use super::{ConfigMap, ConfigType, Key, Tree, Value};
use crate::project::{Declaration, Project};

/// Error for a setting that does not match its declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A declared setting without a default is not set.
    #[error("Stack '{stack}' is missing configuration value '{key}'")]
    Missing {
        /// The stack.
        stack: String,
        /// Key, as the project writes it.
        key: String,
    },
    /// A value does not have the declared type.
    #[error("Stack '{stack}' with configuration key '{key}' must be of type '{expected}'")]
    WrongType {
        /// The stack.
        stack: String,
        /// Key, as the project writes it.
        key: String,
        /// The declared type.
        expected: ConfigType,
    },
    /// A setting declared as secret is stored in plain text.
    #[error("Stack '{stack}' with configuration key '{key}' must be encrypted as it's secret")]
    NotEncrypted {
        /// The stack.
        stack: String,
        /// Key, as the project writes it.
        key: String,
    },
}

/// Adds the values and defaults of declarations that the stack does not set, and checks the settings that it does.
///
/// Problems are sorted by key and show it as the project writes it, because a script looks for `lab:size` where `Pulumi.yaml` says so.
///
/// `reveal` decrypts a ciphertext for the type check; `None` skips the check of that value. `encrypt` encrypts
/// defaults that are declared secret.
pub fn apply<E>(
    project: &Project,
    stack: &str,
    config: &mut ConfigMap,
    reveal: &mut dyn FnMut(&str) -> Option<String>,
    encrypt: &mut dyn FnMut(&str) -> Result<String, E>,
) -> Result<Vec<Problem>, E> {
    let mut problems = Vec::new();
    let mut declarations: Vec<_> = project.config.iter().collect();
    declarations.sort_by(|(_, left), (_, right)| left.written.cmp(&right.written));
    for (key, declaration) in declarations {
        let shown = declaration.written.clone();
        match config.get(key) {
            Some(value) => problems.extend(check(declaration, value, stack, shown, reveal)),
            None => match declaration.value.as_ref().or(declaration.default.as_ref()) {
                Some(json) => {
                    config.insert(key.clone(), default_value(declaration, json, encrypt)?);
                }
                None if is_required(project, key, declaration) => {
                    problems.push(Problem::Missing {
                        stack: stack.to_owned(),
                        key: shown,
                    });
                }
                None => {}
            },
        }
    }
    Ok(problems)
}

fn is_required(project: &Project, key: &Key, declaration: &Declaration) -> bool {
    key.namespace() == project.name && declaration.value.is_none()
}

fn default_value<E>(
    declaration: &Declaration,
    json: &Json,
    encrypt: &mut dyn FnMut(&str) -> Result<String, E>,
) -> Result<Value, E> {
    let value = Value::from_json(json);
    if !declaration.secret {
        return Ok(value);
    }
    Ok(match value {
        Value::Text(text) => Value::Secure(encrypt(&text)?),
        Value::Object(tree) => Value::Object(encrypt_leaves(tree, encrypt)?),
        Value::Secure(ciphertext) => Value::Secure(ciphertext),
    })
}

fn encrypt_leaves<E>(
    tree: Tree,
    encrypt: &mut dyn FnMut(&str) -> Result<String, E>,
) -> Result<Tree, E> {
    Ok(match tree {
        Tree::Text(text) => Tree::Secure(encrypt(&text)?),
        Tree::List(items) => Tree::List(
            items
                .into_iter()
                .map(|item| encrypt_leaves(item, encrypt))
                .collect::<Result<_, _>>()?,
        ),
        Tree::Map(entries) => {
            let entries = entries
                .into_iter()
                .map(|(key, item)| Ok((key, encrypt_leaves(item, encrypt)?)));
            Tree::Map(entries.collect::<Result<_, E>>()?)
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Secure(_) => tree,
    })
}

fn check(
    declaration: &Declaration,
    value: &Value,
    stack: &str,
    key: String,
    reveal: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<Problem> {
    let stack = stack.to_owned();
    if declaration.secret && !value.is_secret() {
        return Some(Problem::NotEncrypted { stack, key });
    }
    let expected = declaration.r#type.as_ref()?;
    let json = plain_json(value, reveal)?;
    (!expected.accepts(&json)).then(|| Problem::WrongType {
        stack,
        key,
        expected: expected.clone(),
    })
}

fn plain_json(value: &Value, reveal: &mut dyn FnMut(&str) -> Option<String>) -> Option<Json> {
    let mut reveal = |ciphertext: &str| reveal(ciphertext).ok_or(());
    match value {
        Value::Text(text) => Some(Json::from(text.clone())),
        Value::Secure(ciphertext) => reveal(ciphertext).ok().map(Json::from),
        Value::Object(tree) => tree.try_reveal(&mut reveal).ok().map(|tree| tree.to_json()),
    }
}

/// Merges `over` into `base`: objects key by key, other values by replacement.
pub fn merge(base: &ConfigMap, over: &ConfigMap) -> ConfigMap {
    let mut merged = base.clone();
    for (key, value) in over.iter() {
        let value = match (merged.get(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => {
                Value::Object(merge_trees(below, above))
            }
            (_, value) => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    merged
}

fn merge_trees(below: &Tree, above: &Tree) -> Tree {
    let (Tree::Map(below), Tree::Map(above)) = (below, above) else {
        return above.clone();
    };
    let mut merged = below.clone();
    for (key, value) in above {
        let value = below
            .get(key)
            .map_or_else(|| value.clone(), |below| merge_trees(below, value));
        merged.insert(key.clone(), value);
    }
    Tree::Map(merged)
}
