//! `config env`. File stores have no environments.

use clap::{Args, Subcommand};

use super::TargetArgs;
use crate::commands::wants_json;
use crate::context::IfMissing;
use crate::{Context, Error};

/// Manage the environments of a stack
#[derive(Args, Debug)]
pub struct EnvArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: EnvVerb,
}

/// What to do with the environments.
#[derive(Subcommand, Debug)]
pub enum EnvVerb {
    /// Create an environment for a stack
    Init(EnvInitArgs),
    /// Add environments to a stack
    Add(EnvChangeArgs),
    /// List imported environments
    #[command(alias = "ls")]
    List(EnvListArgs),
    /// Remove environment from a stack
    #[command(alias = "rm")]
    Remove(EnvChangeArgs),
}

/// Arguments of `config env init`.
#[derive(Args, Debug)]
pub struct EnvInitArgs {
    /// The name of the environment to create
    #[arg(long)]
    pub env: Option<String>,
    /// Do not remove configuration values from the stack after creating the environment
    #[arg(long)]
    pub keep_config: bool,
    /// Show secret values in plaintext instead of ciphertext
    #[arg(long)]
    pub show_secrets: bool,
    /// True to save the changes without prompting
    #[arg(short, long)]
    pub yes: bool,
}

/// Arguments of the verbs that change the list.
#[derive(Args, Debug)]
pub struct EnvChangeArgs {
    /// Show secret values in plaintext instead of ciphertext
    #[arg(long)]
    pub show_secrets: bool,
    /// True to save the changes without prompting
    #[arg(short, long)]
    pub yes: bool,
    /// Names of environments
    pub names: Vec<String>,
}

/// Arguments of the list.
#[derive(Args, Debug)]
pub struct EnvListArgs {
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
}

pub(super) fn run(args: EnvArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    ctx.project()?;
    let stack = ctx.require_stack(target.stack.as_deref(), IfMissing::Fail)?;
    let EnvVerb::List(list) = args.verb else {
        return Err(Error::user(format!(
            "backend {} does not support environments; Pulumi ESC environments require the service backend. Keep what \
             stacks share under `config` in Pulumi.yaml, and secrets with `plumb config set --secret`",
            stack.backend.name()
        )));
    };
    let settings = ctx.stack_settings(&stack, target.config_file.as_deref())?;
    let environment = settings.file.environment();
    let names: Vec<String> = environment
        .as_ref()
        .and_then(serde_json::Value::as_array)
        .map(|names| {
            names
                .iter()
                .filter_map(|name| name.as_str().map(ToOwned::to_owned))
                .collect()
        })
        .unwrap_or_default();
    if wants_json(list.json, &list.output)? {
        ctx.printer
            .data(&crate::json::pretty(&names, crate::json::Indent::Two));
    } else if names.is_empty() {
        ctx.printer.line("This stack configuration has no environments listed. Try adding one with `pulumi config env add <projectName>/<envName>`.");
    } else {
        let mut table = crate::table::Table::new(["ENVIRONMENTS"]);
        for name in names {
            table.row([name]);
        }
        ctx.printer.styled(&table.render());
    }
    Ok(())
}
