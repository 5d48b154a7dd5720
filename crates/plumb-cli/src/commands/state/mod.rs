//! `state` (`cli.md` 6): manual changes of the state.

use std::fmt::Write as _;

mod delete;
mod edit;
mod get;
mod mark;
mod rename;
mod repair;
mod restore;
mod transfer;
mod upgrade;

use clap::{Args, Subcommand};
use plumb_operate::context::{IfMissing, Stack};
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_resource::Urn;
use plumb_state::Snapshot;
use plumb_state::edit::LocateError;

/// Edit the current stack's state
///
/// Subcommands of this command can be used to surgically edit parts of the current stack's state. These can be useful when
/// troubleshooting a stack or when performing specific edits that otherwise would require editing the state file by hand.
#[derive(Args, Debug)]
pub struct StateArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: StateVerb,
}

/// What to do with the state.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum StateVerb {
    #[command(aliases = ["rm", "delete"])]
    Remove(delete::DeleteArgs),
    /// Show a resource of a stack's state
    Get(get::GetArgs),
    /// Protect resources in a stack's state
    Protect(mark::AllArgs),
    /// Unprotect resources in a stack's state
    Unprotect(mark::AllArgs),
    /// Taint one or more resources in the stack's state
    Taint(mark::TaintArgs),
    /// Untaint one or more resources in the stack's state
    Untaint(mark::AllArgs),
    /// Rename a resource from a stack's state
    Rename(rename::RenameArgs),
    Repair(repair::RepairArgs),
    Restore(restore::RestoreArgs),
    Upgrade(upgrade::UpgradeArgs),
    #[command(alias = "mv")]
    Move(transfer::MoveArgs),
    #[command(hide = true, aliases = ["update", "modify"])]
    Edit(edit::EditArgs),
}

/// Flags that every verb has.
#[derive(Args, Clone, Debug)]
pub struct TargetArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Skip confirmation prompts
    #[arg(short, long)]
    pub yes: bool,
}

/// Runs a verb of `state`.
pub fn run(args: StateArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    match args.verb {
        StateVerb::Remove(args) => delete::run(args, ctx)?,
        StateVerb::Get(args) => get::run(args, ctx)?,
        StateVerb::Protect(args) => mark::run(mark::Mark::Protect, args, ctx)?,
        StateVerb::Unprotect(args) => mark::run(mark::Mark::Unprotect, args, ctx)?,
        StateVerb::Taint(args) => mark::run(mark::Mark::Taint, args.into(), ctx)?,
        StateVerb::Untaint(args) => mark::run(mark::Mark::Untaint, args, ctx)?,
        StateVerb::Rename(args) => rename::run(args, ctx)?,
        StateVerb::Repair(args) => repair::run(args, ctx)?,
        StateVerb::Restore(args) => restore::run(args, ctx)?,
        StateVerb::Upgrade(args) => upgrade::run(args, ctx)?,
        StateVerb::Move(args) => transfer::run(args, ctx)?,
        StateVerb::Edit(args) => edit::run(args, ctx)?,
    }
    Ok(ExitStatus::Success)
}

fn stack_of(target: &TargetArgs, ctx: &Context) -> Result<Stack, Error> {
    ctx.require_stack(target.stack.as_deref(), IfMissing::Offer)
}

/// Asks for confirmation.
fn confirm(target: &TargetArgs, ctx: &Context) -> Result<bool, Error> {
    if target.yes || !ctx.is_interactive() {
        return Ok(true);
    }
    prompt::confirm("This command will edit your stack's state directly. Confirm?")
}

/// Hint on listing URNs; `stack` is `None` for the current stack.
fn listing_hint(stack: Option<&str>) -> String {
    let flag = stack
        .map(|name| format!(" --stack {name}"))
        .unwrap_or_default();
    format!(
        "To list the resource URNs in the stack, run `pulumi stack --show-urns{flag}`; to inspect the full state, run \
         `pulumi stack export{flag}`."
    )
}

/// Parses a URN from the command line.
fn parse_urn(text: &str) -> Result<Urn, Error> {
    Urn::parse(text).map_err(|_| {
        Error::user(format!(
            "\"{text}\" is not a valid resource URN\n{}",
            listing_hint(None)
        ))
        .known(Code::NoResource)
    })
}

/// Rejects missing arguments if the session is not interactive.
fn require_words(are_there: bool, missing: &str, ctx: &Context) -> Result<(), Error> {
    if are_there || ctx.is_interactive() {
        return Ok(());
    }
    Err(Error::user(format!(
        "Must supply {missing} unless pulumi is run interactively"
    )))
}

/// Prompts for a resource.
fn choose(stack: &Stack, ctx: &Context) -> Result<Urn, Error> {
    let state = ctx.load_state(stack)?;
    let all: Vec<Urn> = state
        .opaque()
        .map(|snapshot| {
            snapshot
                .resources
                .iter()
                .map(|state| state.urn.clone())
                .collect()
        })
        .unwrap_or_default();
    if all.is_empty() {
        return Err(Error::user("the stack has no resources"));
    }
    let index = prompt::select(
        "Select a resource:",
        all.iter().map(ToString::to_string).collect(),
    )?;
    Ok(all[index].clone())
}

/// Error for a URN that does not identify exactly one resource.
fn not_located(error: LocateError, snapshot: &Snapshot) -> Error {
    match error {
        LocateError::NotFound { urn } => {
            let candidates = snapshot.resources.iter().map(|state| state.urn.as_str());
            Error::user(not_found(urn.as_str(), candidates)).known(Code::NoResource)
        }
        LocateError::Ambiguous { indices, .. } => {
            let mut text =
                "Resource URN ambiguously referred to multiple resources. Did you mean:".to_owned();
            for index in indices {
                let _ = write!(text, "\n  {}", snapshot.resources[index].id.as_str());
            }
            Error::user(text)
        }
    }
}

/// Error for an unknown URN, with similar `candidates`.
fn not_found<'c>(urn: &str, candidates: impl Iterator<Item = &'c str>) -> String {
    let mut text = format!("No such resource \"{urn}\" exists in the current state");
    let similar = similar(urn, candidates);
    if !similar.is_empty() {
        text.push_str("\nDid you mean:");
        for urn in similar {
            let _ = write!(text, "\n  {urn}");
        }
    }
    format!("{text}\n{}", listing_hint(None))
}

const MOST_SIMILAR: usize = 3;

/// Similar URNs, the most similar first.
fn similar<'c>(urn: &str, candidates: impl Iterator<Item = &'c str>) -> Vec<&'c str> {
    let farthest = (urn.len() / 4).max(2);
    let wanted = urn.to_lowercase();
    let mut scored: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        let distance = strsim::levenshtein(&candidate.to_lowercase(), &wanted);
        if distance <= farthest && !scored.iter().any(|(_, known)| *known == candidate) {
            scored.push((distance, candidate));
        }
    }
    scored.sort_by_key(|(distance, _)| *distance);
    let urns = scored.into_iter().map(|(_, urn)| urn);
    urns.take(MOST_SIMILAR).collect()
}
