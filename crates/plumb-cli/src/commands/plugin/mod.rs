//! `plugin` (`cli.md` 9).

mod install;
mod list;
mod remove;
mod run;

use clap::{Args, Subcommand};
use plumb_operate::{Context, Error, ExitStatus};
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::Cache;

/// Manage language and resource provider plugins
#[derive(Args, Debug)]
pub struct PluginArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: PluginVerb,
}

/// What to do with plugins.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum PluginVerb {
    Install(install::InstallArgs),
    /// List plugins
    #[command(alias = "ls")]
    List(list::ListArgs),
    #[command(aliases = ["rm", "delete"])]
    Remove(remove::RemoveArgs),
    Run(run::RunArgs),
}

/// Runs a verb of `plugin`.
pub fn run(args: PluginArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    match args.verb {
        PluginVerb::Install(args) => install::run(args, ctx)?,
        PluginVerb::List(args) => list::run(args, ctx)?,
        PluginVerb::Remove(args) => remove::run(args, ctx)?,
        PluginVerb::Run(args) => return run::run(&args, ctx),
    }
    Ok(ExitStatus::Success)
}

/// The folder of downloaded plugins.
pub(crate) fn cache(ctx: &Context) -> Cache {
    Cache::new(ctx.environment.pulumi_home.join("plugins"))
}

fn parse_kind(text: &str) -> Result<PluginKind, Error> {
    [
        PluginKind::Resource,
        PluginKind::Language,
        PluginKind::Analyzer,
        PluginKind::Converter,
        PluginKind::Tool,
    ]
    .into_iter()
    .find(|kind| kind.to_string() == text)
    .ok_or_else(|| Error::user(format!("unrecognized plugin kind: {text}")))
}
