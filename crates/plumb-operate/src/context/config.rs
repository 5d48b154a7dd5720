//! Configuration of a stack, in the form for programs (`cli.md` 14.2, 15).

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_project::config::{
    ConfigMap, Key, KeyPath, NewValue, Problem, Value as SettingValue, apply,
};
use plumb_value::Value;

use super::{Context, Stack, StackSecrets, StackSettings};
use crate::Error;
use crate::identity::Code;

/// Whether the settings are checked against the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigCheck {
    /// Errors are reported.
    Required,
    /// Only defaults are added.
    Skipped,
}

/// The configuration of a stack, with the project's defaults.
#[derive(Clone, Debug, Default)]
pub struct StackConfig {
    /// Values by `namespace:name`; secrets are wrapped, and objects are JSON text.
    pub values: BTreeMap<EcoString, Value>,
    /// Each secret in the values by itself: a structured value may have several.
    pub secret_parts: Vec<Value>,
    /// Structured values with some secrets in them, as JSON text with `[secret]` in the place of each.
    pub partly_secret: BTreeMap<EcoString, EcoString>,
    /// Values with encrypted secrets, for the history.
    pub encrypted: ConfigMap,
}

/// Error for environments, which file-based backends do not support.
pub fn no_environments(stack: &Stack) -> Error {
    Error::user(format!(
        "backend {} does not support environments; Pulumi ESC environments require the Pulumi Cloud backend, use \
         `pulumi login` without arguments to log into the Pulumi Cloud backend",
        stack.backend.name()
    ))
    .known(Code::NoEnvironments)
}

impl Context {
    /// Rejects settings that import environments, because their values would be missing.
    pub fn check_environments(&self, stack: &Stack, settings: &StackSettings) -> Result<(), Error> {
        match settings.file.environment() {
            None => Ok(()),
            Some(serde_json::Value::Array(names)) if names.is_empty() => Ok(()),
            Some(_) => Err(no_environments(stack)),
        }
    }

    /// The configuration of a stack, decrypted.
    pub fn stack_config(
        &self,
        stack: &Stack,
        settings: &StackSettings,
        secrets: &StackSecrets,
        check: ConfigCheck,
    ) -> Result<StackConfig, Error> {
        let encrypted = self.config_with_defaults(stack, settings, secrets, check)?;
        let (mut values, mut secret_parts) = (BTreeMap::new(), Vec::new());
        let mut partly_secret = BTreeMap::new();
        for (key, value) in encrypted.iter() {
            let text = value.try_reveal(&mut |ciphertext| {
                let text = secrets.decrypt(ciphertext)?.expose().to_owned();
                secret_parts.push(Value::secret(text.as_str().into()));
                Ok::<_, Error>(text)
            })?;
            let plain = Value::from(text);
            let plain = if value.is_secret() {
                Value::secret(plain)
            } else {
                plain
            };
            let key = EcoString::from(key.to_string());
            if let (SettingValue::Object(_), true) = (value, value.is_secret()) {
                let hidden = value.try_reveal(&mut |_| Ok::<_, Error>("[secret]".to_owned()))?;
                partly_secret.insert(key.clone(), hidden.into());
            }
            values.insert(key, plain);
        }
        Ok(StackConfig {
            values,
            secret_parts,
            partly_secret,
            encrypted,
        })
    }

    /// The settings of a stack with the project's defaults, secrets encrypted.
    pub fn config_with_defaults(
        &self,
        stack: &Stack,
        settings: &StackSettings,
        secrets: &StackSecrets,
        check: ConfigCheck,
    ) -> Result<ConfigMap, Error> {
        let mut config = settings.file.config().clone();
        let Some(loaded) = self
            .find_project()?
            .filter(|loaded| loaded.project.name == stack.project_name())
        else {
            return Ok(config);
        };
        let problems = apply(
            &loaded.project,
            stack.name(),
            &mut config,
            &mut |ciphertext| {
                secrets
                    .decrypt(ciphertext)
                    .ok()
                    .map(|text| text.expose().to_owned())
            },
            &mut |text| secrets.encrypt(text),
        )?;
        if check == ConfigCheck::Required && !problems.is_empty() {
            return Err(Error::user(format!(
                "validating stack config: {}",
                describe(&problems, stack.name())
            ))
            .known(Code::MissingConfig));
        }
        Ok(config)
    }
}

/// Error text: all missing values, or else the first of the other problems.
fn describe(problems: &[Problem], stack: &str) -> String {
    let missing: Vec<String> = problems
        .iter()
        .filter_map(|problem| match problem {
            Problem::Missing { key, .. } => Some(format!("'{key}'")),
            Problem::WrongType { .. } | Problem::NotEncrypted { .. } => None,
        })
        .collect();
    match missing.as_slice() {
        [] => problems[0].to_string(),
        [key] => format!("Stack '{stack}' is missing configuration value {key}"),
        [first @ .., last] => {
            format!(
                "Stack '{stack}' is missing configuration values {} and {last}",
                first.join(", ")
            )
        }
    }
}

/// Saves the values of `--config k=v` in the settings of a stack.
pub fn save_config_flags(
    settings: &mut StackSettings,
    project: &str,
    flags: &[String],
    are_paths: bool,
) -> Result<(), Error> {
    if flags.is_empty() {
        return Ok(());
    }
    let mut config = settings.file.config().clone();
    for flag in flags {
        // upstream: a key alone gets an empty value.
        let (key, value) = flag.split_once('=').unwrap_or((flag, ""));
        let path = if are_paths {
            KeyPath::parse(key, project)?
        } else {
            KeyPath::of(Key::parse_in(key, project)?)
        };
        config.set_path(&path, NewValue::Untyped(value.to_owned()))?;
    }
    settings.file.set_config(&config);
    settings.save(None)
}
