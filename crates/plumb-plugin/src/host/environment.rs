//! The environment of plugins (`protocol.md` 15.1).

use std::collections::BTreeMap;
use std::ffi::OsString;

use plumb_resource::provider::PluginSpec;

use super::HostOptions;
use crate::analyzer::AnalyzedStack;
use crate::process::Environment;

/// Error in the value of `PULUMI_DEBUG_PROVIDERS` or a similar variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a list such as `name:port,name:port`, but found {entry:?}")]
pub struct AttachmentError {
    /// The malformed entry.
    pub entry: String,
}

/// Parses the value of `PULUMI_DEBUG_PROVIDERS` or `PULUMI_DEBUG_LANGUAGES`: ports by name.
pub fn parse_attachments(text: &str) -> Result<BTreeMap<String, u16>, AttachmentError> {
    let entries = text
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let parts = entry
                .rsplit_once(':')
                .and_then(|(name, port)| Some((name.to_owned(), port.parse().ok()?)));
            parts.ok_or_else(|| AttachmentError {
                entry: entry.to_owned(),
            })
        })
        .collect()
}

/// Environment of the provider in `spec`.
pub(super) fn of_provider(options: &HostOptions, spec: &PluginSpec) -> Environment {
    let mut environment = with_runtime_options(options);
    let mut set =
        |key: &str, value: &str| environment.insert(OsString::from(key), OsString::from(value));
    if let Some(project) = &options.project {
        set("PULUMI_PROJECT", project);
        if spec.name == "pulumi-nodejs" {
            set("PULUMI_NODEJS_PROJECT", project);
        }
    }
    let package = spec
        .parameterization
        .as_ref()
        .map_or(&spec.name, |parameter| &parameter.name);
    let empty = BTreeMap::new();
    let config = options.config.get(package.as_str()).unwrap_or(&empty);
    set("PULUMI_CONFIG", &serde_json::json!(config).to_string());
    for (source, target) in &spec.env_var_mappings {
        if let Some(value) = options.environment.get(&OsString::from(source.as_str())) {
            environment.insert(target.as_str().into(), value.clone());
        }
    }
    environment
}

/// Environment of a policy pack written in the language `runtime`. Holds the data of the stack, because a pack may read them
/// before its handshake.
pub(super) fn of_analyzer(
    options: &HostOptions,
    stack: &AnalyzedStack,
    runtime: &str,
) -> Environment {
    let facts = [
        ("ORGANIZATION", stack.organization.as_str()),
        ("PROJECT", &stack.project),
        ("STACK", &stack.stack),
        ("DRY_RUN", if stack.dry_run { "true" } else { "false" }),
    ];
    let mut environment = options.environment.clone();
    let config = serde_json::json!(stack.config).to_string();
    environment.insert("PULUMI_CONFIG".into(), config.into());
    for (name, value) in facts {
        environment.insert(format!("PULUMI_{name}").into(), value.into());
        if runtime == "nodejs" {
            environment.insert(format!("PULUMI_NODEJS_{name}").into(), value.into());
        }
    }
    environment
}

/// The environment of the program, with the runtime options of the project.
pub(crate) fn with_runtime_options(options: &HostOptions) -> Environment {
    let mut environment = options.environment.clone();
    for (key, value) in &options.runtime_options {
        environment.insert(
            format!("PULUMI_RUNTIME_{}", key.to_uppercase()).into(),
            value.into(),
        );
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_are_names_with_ports() {
        let parsed = parse_attachments("aws:1234, my:odd:name:5 ,").unwrap();
        assert_eq!(
            parsed,
            [("aws".to_owned(), 1234), ("my:odd:name".to_owned(), 5)].into()
        );
        assert_eq!(
            parse_attachments("aws"),
            Err(AttachmentError {
                entry: "aws".to_owned()
            })
        );
    }
}
