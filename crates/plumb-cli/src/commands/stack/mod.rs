//! `stack` (`cli.md` 4).

mod change_secrets;
mod copying;
mod encrypt;
mod export;
mod graph;
pub(crate) mod history;
mod import;
mod init;
mod list;
mod lock;
mod migrate;
mod output;
mod remove;
mod rename;
mod restore;
mod select;
mod show;
mod tag;

pub(crate) use history::past::past;
use plumb_operate::context::{IfMissing, Stack};
use plumb_operate::{Context, Error, ExitStatus};

use clap::{Args, Subcommand};

use crate::cli::LaterArgs;

/// Manage stacks and view stack state
///
/// A stack is a named update target, and a single project may have many of them. Each stack has a configuration and update
/// history associated with it, stored in the workspace, in addition to a full checkpoint of the last known good update.
#[derive(Args, Debug)]
pub struct StackArgs {
    /// Shared flags.
    #[command(flatten)]
    pub show: show::ShowArgs,
    /// Shared flags. They come last, because their heading holds for whatever follows.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The verb.
    #[command(subcommand)]
    pub verb: Option<StackVerb>,
}

/// Which stack is meant.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = crate::args::PERSISTENT)]
pub struct TargetArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
}

/// What to do with stacks.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum StackVerb {
    #[command(name = "new", aliases = ["init", "create", "setup"])]
    Init(init::InitArgs),
    Select(select::SelectArgs),
    /// Reset stack selection from the current workspace
    Unselect,
    #[command(alias = "ls")]
    List(list::ListArgs),
    #[command(aliases = ["rm", "delete"])]
    Remove(remove::RemoveArgs),
    Rename(rename::RenameArgs),
    Restore(restore::RestoreArgs),
    Output(output::OutputArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    #[command(alias = "hist")]
    History(history::HistoryArgs),
    Tag(tag::TagArgs),
    ChangeSecretsProvider(change_secrets::ChangeArgs),
    Graph(graph::GraphArgs),
    /// Show a stack
    Get(show::ShowArgs),
    Migrate(migrate::MigrateArgs),
    Lock(lock::LockArgs),
    Unlock(lock::UnlockArgs),
    Encrypt(encrypt::EncryptArgs),
    Decrypt(encrypt::DecryptArgs),
    /// Manage drift detection of the service
    #[command(hide = true)]
    Drift(LaterArgs),
    /// Manage schedules of the service
    #[command(hide = true)]
    Schedule(LaterArgs),
    /// Manage webhooks of the service
    #[command(hide = true)]
    Webhook(LaterArgs),
}

/// Runs `stack` or a verb below it.
pub fn run(args: StackArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let target = &args.target;
    match args.verb {
        None => show::run(&args.show, target, IfMissing::Offer, ctx)?,
        Some(StackVerb::Get(show)) => show::run(&show, target, IfMissing::Fail, ctx)?,
        Some(StackVerb::Init(verb)) => init::run(verb, target, ctx)?,
        Some(StackVerb::Select(verb)) => select::run(verb, target, ctx)?,
        Some(StackVerb::Unselect) => {
            ctx.project()?;
            if ctx.unselect_stack()? {
                ctx.printer.info("Stack was unselected");
            }
        }
        Some(StackVerb::List(verb)) => list::run(verb, ctx)?,
        Some(StackVerb::Remove(verb)) => remove::run(verb, target, ctx)?,
        Some(StackVerb::Rename(verb)) => rename::run(verb, target, ctx)?,
        Some(StackVerb::Restore(verb)) => restore::run(verb, target, ctx)?,
        Some(StackVerb::Output(verb)) => output::run(verb, target, ctx)?,
        Some(StackVerb::Export(verb)) => export::run(verb, target, ctx)?,
        Some(StackVerb::Import(verb)) => import::run(verb, target, ctx)?,
        Some(StackVerb::History(verb)) => history::run(verb, target, ctx)?,
        Some(StackVerb::Tag(verb)) => tag::run(verb, target, ctx)?,
        Some(StackVerb::ChangeSecretsProvider(verb)) => change_secrets::run(verb, target, ctx)?,
        Some(StackVerb::Graph(verb)) => graph::run(verb, target, ctx)?,
        Some(StackVerb::Migrate(verb)) => migrate::run(&verb, target, ctx)?,
        Some(StackVerb::Lock(verb)) => lock::lock(&verb, target, ctx)?,
        Some(StackVerb::Unlock(_)) => lock::unlock(target, ctx)?,
        Some(StackVerb::Encrypt(_)) => encrypt::encrypt(target, ctx)?,
        Some(StackVerb::Decrypt(_)) => encrypt::decrypt(target, ctx)?,
        Some(StackVerb::Drift(_)) => return Err(Error::needs_service("`stack drift`")),
        Some(StackVerb::Schedule(_)) => return Err(Error::needs_service("`stack schedule`")),
        Some(StackVerb::Webhook(_)) => return Err(Error::needs_service("`stack webhook`")),
    }
    Ok(ExitStatus::Success)
}

fn stack_of(target: &TargetArgs, ctx: &Context) -> Result<Stack, Error> {
    ctx.require_stack(target.stack.as_deref(), IfMissing::Fail)
}
