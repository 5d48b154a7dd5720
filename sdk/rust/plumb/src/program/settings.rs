//! Settings that a program gets when it starts.

use std::collections::{BTreeMap, BTreeSet};

use crate::Error;

/// Settings that a program gets when it starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) monitor: String,
    pub(crate) engine: String,
    pub(crate) project: String,
    pub(crate) stack: String,
    pub(crate) organization: String,
    pub(crate) root_directory: String,
    pub(crate) is_preview: bool,
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) secret_keys: BTreeSet<String>,
}

impl Settings {
    /// Reads the variables that the language host sets; `variable` looks one up.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let required = |name: &str| {
            let value = variable(name).filter(|value| !value.is_empty());
            value.ok_or_else(|| {
                Error::at(
                    format!(
                        "the variable {name} is not set: this program is started by `plumb up` or `plumb preview`, not by \
                         itself"
                    ),
                    None,
                )
            })
        };
        let optional = |name: &str| variable(name).unwrap_or_default();
        let organization = optional("PULUMI_ORGANIZATION");
        let config: BTreeMap<String, String> =
            json(&optional("PULUMI_CONFIG"), "PULUMI_CONFIG", |text| {
                serde_json::from_str(text)
            })?;
        let name = "PULUMI_CONFIG_SECRET_KEYS";
        let secret_keys: BTreeSet<String> =
            json(&optional(name), name, |text| serde_json::from_str(text))?;
        Ok(Settings {
            monitor: required("PULUMI_MONITOR")?,
            engine: optional("PULUMI_ENGINE"),
            project: required("PULUMI_PROJECT")?,
            stack: required("PULUMI_STACK")?,
            organization: if organization.is_empty() {
                "organization".to_owned()
            } else {
                organization
            },
            root_directory: optional("PULUMI_ROOT_DIRECTORY"),
            is_preview: optional("PULUMI_DRY_RUN") == "true",
            config: config
                .into_iter()
                .map(|(key, it)| (short(&key), it))
                .collect(),
            secret_keys: secret_keys.iter().map(|key| short(key)).collect(),
        })
    }
}

/// `aws:region` of `aws:config:region`.
fn short(key: &str) -> String {
    match key.split_once(":config:") {
        Some((namespace, name)) => format!("{namespace}:{name}"),
        None => key.to_owned(),
    }
}

/// Value of the variable called `name`, which may be empty.
fn json<T: Default>(
    text: &str,
    name: &str,
    parse: impl FnOnce(&str) -> serde_json::Result<T>,
) -> Result<T, Error> {
    if text.is_empty() {
        return Ok(T::default());
    }
    parse(text)
        .map_err(|error| Error::at(format!("the variable {name} is not JSON: {error}"), None))
}
