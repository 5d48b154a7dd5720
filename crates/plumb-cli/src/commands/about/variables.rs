//! Environment variables that Plumb reads.

use plumb_operate::Context;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::table::Table;
use serde_json::{Value as Json, json};

/// Variables whose values are not shown.
const HIDDEN: [&str; 3] = ["PASSPHRASE", "TOKEN", "SECRET"];

/// Environment variables for Plumb that are set, with their values; `[secret]` stands for those of secrets.
pub(super) fn configured(ctx: &Context) -> Vec<(String, String)> {
    let variables = ctx.environment.variables().iter();
    let variables = variables.map(|(name, value)| (name.to_string_lossy(), value));
    variables
        .filter(|(name, _)| name.starts_with("PULUMI_"))
        .map(|(name, value)| {
            let is_hidden = HIDDEN.iter().any(|part| name.contains(part));
            let value = if is_hidden {
                "[secret]".into()
            } else {
                value.to_string_lossy()
            };
            (name.into_owned(), value.into_owned())
        })
        .collect()
}

/// Runs `about env`.
pub(super) fn show(as_json: bool, ctx: &Context) {
    let variables = configured(ctx).into_iter();
    if as_json {
        let all: Vec<Json> = variables
            .map(|(name, value)| json!({ "variable": name, "description": describe(&name), "value": value }))
            .collect();
        ctx.printer.data(&pretty(&all, Indent::Two));
        return;
    }
    let mut table = Table::new(["Variable", "Description", "Value"]);
    for (name, value) in variables {
        let description = describe(&name);
        table.row([name, description, value]);
    }
    ctx.printer.styled(&table.render());
}

/// Description of an environment variable.
fn describe(name: &str) -> String {
    if let Some(flag) = name.strip_prefix("PULUMI_OPTION_") {
        return format!(
            "Default of the flag --{}",
            flag.to_lowercase().replace('_', "-")
        );
    }
    let known = VARIABLES.iter().find(|(variable, _)| *variable == name);
    known
        .map(|(_, text)| (*text).to_owned())
        .unwrap_or_default()
}

/// Environment variables for users, with their descriptions.
const VARIABLES: [(&str, &str); 22] = [
    (
        "PULUMI_AUTOMATION_API",
        "Set by programs that drive the command line",
    ),
    ("PULUMI_BACKEND_URL", "Address of the backend"),
    (
        "PULUMI_CONFIG_PASSPHRASE",
        "Passphrase of the secrets of stacks",
    ),
    (
        "PULUMI_CONFIG_PASSPHRASE_FILE",
        "File that holds the passphrase of the secrets of stacks",
    ),
    ("PULUMI_CONTINUE_ON_ERROR", "Default of --continue-on-error"),
    (
        "PULUMI_CREDENTIALS_PATH",
        "Folder of the file that remembers logins",
    ),
    (
        "PULUMI_DEBUG_COMMANDS",
        "Shows commands and flags for finding faults",
    ),
    (
        "PULUMI_DEBUG_PROVIDERS",
        "Providers that run already, as NAME:PORT",
    ),
    (
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
        "Downloads no plugins unasked",
    ),
    (
        "PULUMI_DISABLE_CI_DETECTION",
        "Does not look for systems of continuous integration",
    ),
    ("PULUMI_DIY_BACKEND_GZIP", "Compresses the state of stacks"),
    ("PULUMI_EXPERIMENTAL", "Shows flags that may still change"),
    (
        "PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER",
        "Takes the secrets provider of the state where the settings name none",
    ),
    ("PULUMI_HOME", "Folder of plugins, logins and workspaces"),
    (
        "PULUMI_IGNORE_AMBIENT_PLUGINS",
        "Does not look for plugins on the PATH",
    ),
    ("PULUMI_OPTION_STACK", "Default of the flag --stack"),
    (
        "PULUMI_PARALLEL",
        "How many operations may run side by side",
    ),
    (
        "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES",
        "Other addresses for plugins, as REGEX=URL",
    ),
    ("PULUMI_RUN_PROGRAM", "Default of --run-program"),
    (
        "PULUMI_SKIP_CONFIRMATIONS",
        "Answers every question with yes",
    ),
    (
        "PULUMI_SKIP_UPDATE_CHECK",
        "Does not look for newer versions",
    ),
    (
        "PULUMI_STACK",
        "The stack to use instead of the selected one",
    ),
];
