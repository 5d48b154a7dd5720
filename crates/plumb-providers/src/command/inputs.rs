//! Inputs of scripts.

use std::collections::BTreeMap;

use plumb_resource::provider::CheckFailure;
use plumb_value::{PropertyMap, Value};

/// Names of inputs that are scripts.
const SCRIPTS: [&str; 4] = ["command", "create", "update", "delete"];

/// Typed inputs. Absent, null and unknown ones are `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Inputs {
    /// The script of `command:local:run`.
    pub(super) command: Option<String>,
    pub(super) create: Option<String>,
    pub(super) update: Option<String>,
    pub(super) delete: Option<String>,
    pub(super) interpreter: Option<Vec<String>>,
    pub(super) dir: Option<String>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) stdin: Option<String>,
    pub(super) logging: Logging,
    pub(super) asset_paths: Option<Vec<String>>,
    pub(super) archive_paths: Option<Vec<String>>,
    /// Whether one of the scripts is secret.
    pub(super) has_secret_script: bool,
    /// Whether the script gets the output of the previous run.
    pub(super) add_previous_output: bool,
}

impl Inputs {
    /// Reads inputs from properties, which may contain others; inputs with a wrong type count as
    /// absent.
    pub(super) fn of(properties: &PropertyMap) -> Self {
        let is_secret = |name: &&str| properties.get(name).is_some_and(Value::contains_secrets);
        let has_secret_script = SCRIPTS.iter().any(is_secret);
        let properties = properties.without_secrets();
        let text = |name: &str| {
            properties
                .get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let list = |name: &str| properties.get(name).and_then(Value::as_array).map(texts);
        Inputs {
            command: text("command"),
            create: text("create"),
            update: text("update"),
            delete: text("delete"),
            interpreter: list("interpreter").filter(|words| !words.is_empty()),
            dir: text("dir"),
            environment: properties
                .get("environment")
                .and_then(Value::as_object)
                .map(variables)
                .unwrap_or_default(),
            stdin: text("stdin").filter(|text| !text.is_empty()),
            logging: text("logging")
                .and_then(|text| Logging::parse(&text))
                .unwrap_or_default(),
            asset_paths: list("assetPaths"),
            archive_paths: list("archivePaths"),
            has_secret_script,
            add_previous_output: properties
                .get("addPreviousOutputInEnv")
                .and_then(Value::as_bool)
                .unwrap_or(true),
        }
    }
}

/// Output of the script that is shown while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Logging {
    #[default]
    StdoutAndStderr,
    Stdout,
    Stderr,
    None,
}

impl Logging {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "stdout" => Some(Logging::Stdout),
            "stderr" => Some(Logging::Stderr),
            "stdoutAndStderr" => Some(Logging::StdoutAndStderr),
            "none" => Some(Logging::None),
            _ => None,
        }
    }

    pub(super) fn has_stdout(self) -> bool {
        matches!(self, Logging::Stdout | Logging::StdoutAndStderr)
    }

    pub(super) fn has_stderr(self) -> bool {
        matches!(self, Logging::Stderr | Logging::StdoutAndStderr)
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Bool,
    TextList,
    TextMap,
    AnyList,
    Logging,
}

/// Names and types of the inputs of a resource or function.
#[derive(Debug)]
pub(super) struct Fields {
    fields: &'static [(&'static str, Kind)],
    required: Option<&'static str>,
}

/// Inputs of `command:local:Command`.
pub(super) static COMMAND: Fields = Fields {
    fields: &[
        ("addPreviousOutputInEnv", Kind::Bool),
        ("archivePaths", Kind::TextList),
        ("assetPaths", Kind::TextList),
        ("create", Kind::Text),
        ("delete", Kind::Text),
        ("dir", Kind::Text),
        ("environment", Kind::TextMap),
        ("interpreter", Kind::TextList),
        ("logging", Kind::Logging),
        ("stdin", Kind::Text),
        ("triggers", Kind::AnyList),
        ("update", Kind::Text),
    ],
    required: None,
};

/// Arguments of `command:local:run`.
pub(super) static RUN: Fields = Fields {
    fields: &[
        ("addPreviousOutputInEnv", Kind::Bool),
        ("archivePaths", Kind::TextList),
        ("assetPaths", Kind::TextList),
        ("command", Kind::Text),
        ("dir", Kind::Text),
        ("environment", Kind::TextMap),
        ("interpreter", Kind::TextList),
        ("logging", Kind::Logging),
        ("stdin", Kind::Text),
    ],
    required: Some("command"),
};

impl Fields {
    /// Errors in the inputs. Unknown values are accepted.
    pub(super) fn check(&self, inputs: &PropertyMap) -> Vec<CheckFailure> {
        let inputs = inputs.without_secrets();
        let failure = |name: &str, reason: String| CheckFailure {
            property: name.into(),
            reason: reason.into(),
        };
        let missing = self
            .required
            .filter(|name| inputs.get(name).is_none_or(Value::is_null));
        let missing =
            missing.map(|name| failure(name, format!("missing required property '{name}'")));
        let wrong = inputs.iter().filter_map(|(key, value)| {
            let name = key.as_str();
            let reason = match self.fields.iter().find(|(field, _)| *field == name) {
                Some((_, kind)) => kind.problem(value)?,
                None if name.starts_with("__") => return None,
                None => "is not an input".to_owned(),
            };
            Some(failure(name, format!("'{name}' {reason}")))
        });
        missing.into_iter().chain(wrong).collect()
    }
}

impl Kind {
    fn problem(self, value: &Value) -> Option<String> {
        if matches!(value, Value::Null | Value::Computed(_)) {
            return None;
        }
        let is_text = |value: &Value| matches!(value, Value::String(_) | Value::Computed(_));
        let (fits, wanted) = match self {
            Kind::Text => (is_text(value), "a string"),
            Kind::Bool => (value.as_bool().is_some(), "a boolean"),
            Kind::TextList => (
                value
                    .as_array()
                    .is_some_and(|items| items.iter().all(is_text)),
                "a list of strings",
            ),
            Kind::TextMap => (
                value
                    .as_object()
                    .is_some_and(|map| map.values().all(is_text)),
                "a map of strings",
            ),
            Kind::AnyList => (value.as_array().is_some(), "a list"),
            Kind::Logging => (
                value.as_str().and_then(Logging::parse).is_some(),
                "one of stdout, stderr, stdoutAndStderr, none",
            ),
        };
        (!fits).then(|| format!("must be {wanted}"))
    }
}

fn texts(items: &[Value]) -> Vec<String> {
    items
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn variables(map: &PropertyMap) -> BTreeMap<String, String> {
    map.iter()
        .filter_map(|(key, value)| Some((key.as_str().to_owned(), value.as_str()?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(fields: &Fields, inputs: PropertyMap) -> Vec<String> {
        fields
            .check(&inputs)
            .into_iter()
            .map(|failure| failure.reason.to_string())
            .collect()
    }

    #[test]
    fn wrong_types_and_names_are_reported_together() {
        let inputs = PropertyMap::new()
            .with("create", 1.0)
            .with("logging", "loud")
            .with("creat", "x")
            .with("dir", Value::UNKNOWN)
            .with("stdin", Value::secret(Value::from("s")));
        let expected = [
            "'creat' is not an input",
            "'create' must be a string",
            "'logging' must be one of stdout, stderr, stdoutAndStderr, none",
        ];
        assert_eq!(reasons(&COMMAND, inputs), expected);
        assert_eq!(
            reasons(&RUN, PropertyMap::new()),
            ["missing required property 'command'"]
        );
    }
}
