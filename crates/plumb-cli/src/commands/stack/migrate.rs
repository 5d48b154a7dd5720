//! `stack migrate`.

use std::sync::Arc;

use clap::Args;
use plumb_backend::{Backend, StackFilter};
use plumb_operate::context::{IfMissing, Stack, StackState};
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_project::StackReference;
use plumb_project::files::{self, Access};

use super::copying::{self, Former};
use super::{TargetArgs, change_secrets};

/// Copy stacks to or from another backend
///
/// A stack of the backend at the address is copied into the backend that is in use, and selected afterwards. With `--to`, a
/// stack of the backend in use, or all of them, are copied to the backend at the address.
///
/// State, history and tags are copied, and the settings where a stack gets another name. Secrets stay encrypted as they are
/// unless another provider is named. Nothing is removed. What was copied is read back and compared; a copy that was
/// interrupted is completed by the same command.
///
/// Examples:
///   plumb stack migrate file://~ dev            copies the stack dev from the home folder to the backend in use
///   plumb stack migrate --to s3://bucket        copies the current stack to a bucket
///   plumb stack migrate --to s3://bucket --all  copies all stacks of all projects to a bucket
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct MigrateArgs {
    /// Copy to the backend at the address, not from it
    #[arg(long)]
    pub to: bool,
    /// Copy all stacks
    #[arg(long, requires = "to", conflicts_with_all = ["target", "name"])]
    pub all: bool,
    /// The name of the copy; the same as that of the stack by default
    #[arg(long)]
    pub target: Option<String>,
    /// The type of the provider that should be used to encrypt and decrypt secrets from now on
    #[arg(long, conflicts_with = "to")]
    pub secrets_provider: Option<String>,
    /// Skip confirmation prompts
    #[arg(short, long)]
    pub yes: bool,
    /// Replace the state of a stack that exists already
    #[arg(short, long)]
    pub force: bool,
    /// The address of the other backend
    #[arg(required = true)]
    pub url: String,
    /// The name of the stack that is copied
    pub name: Option<String>,
}

pub(super) fn run(args: &MigrateArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    if args.to {
        copy_there(args, target, ctx)
    } else {
        copy_here(args, target, ctx)
    }
}

/// Opens the backend at `url`, which must not be the one in use.
fn other_backend(url: &str, ctx: &Context) -> Result<Arc<dyn Backend>, Error> {
    let here = ctx.backend()?;
    let there = ctx.open_backend(url, &ctx.environment.cwd)?;
    if here.url() == there.url() {
        return Err(Error::user(format!(
            "source and target backends are the same ({}); nothing to migrate",
            here.shown_url()
        )));
    }
    Ok(there)
}

fn copy_here(args: &MigrateArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let there = other_backend(&args.url, ctx)?;
    let name = match (
        args.name.as_ref().or(target.stack.as_ref()),
        ctx.is_interactive(),
    ) {
        (Some(name), _) => name.clone(),
        (None, true) => prompt::text("Name of the stack to copy:", None)?,
        (None, false) => return Err(Error::user("missing stack name")),
    };
    let source = there.parse_stack(&name, ctx.project_name()?)?;
    if !there.stack_exists(&source)? {
        return Err(Error::no_stack(&name).context(there.shown_url()));
    }
    let source = ctx.stack_in(there, source)?;
    let copy = ctx.stack_named(args.target.as_deref().unwrap_or(&name))?;
    copying::check_target(&copy, args.force)?;
    confirm(args, &format!("stack {name}"), &source, &copy, ctx)?;
    let state = ctx.load_state(&source)?;
    copying::copy(&source, state, &copy, args.force, ctx)?;
    copy_settings(&source.reference, &copy, ctx)?;
    ctx.select_stack(&copy)?;
    let provider = args.secrets_provider.as_deref();
    if let Some(provider) = provider.filter(|name| *name != "default") {
        change_secrets::change(provider, &copy, ctx)?;
    }
    ctx.printer.line(&format!(
        "Migrated stack '{}' from {} to {}",
        copy.shown,
        source.backend.shown_url(),
        copy.backend.shown_url()
    ));
    Ok(())
}

fn copy_there(args: &MigrateArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let there = other_backend(&args.url, ctx)?;
    let sources = if args.all {
        let names = ctx.backend()?.stack_names(&StackFilter::default())?;
        let stacks = names.into_iter().map(|name| ctx.stack_of(name));
        stacks.collect::<Result<Vec<_>, _>>()?
    } else {
        let named = args.name.as_ref().or(target.stack.as_ref());
        vec![ctx.require_stack(named.map(String::as_str), IfMissing::Fail)?]
    };
    let Some(first) = sources.first() else {
        return Err(Error::user("there are no stacks to copy"));
    };
    let copies = copies_of(&sources, args.target.as_deref(), &there, ctx)?;
    let what = match sources.len() {
        1 => format!("stack {}", first.shown),
        many => format!("{many} stacks"),
    };
    confirm(args, &what, first, &copies[0], ctx)?;
    for (source, copy) in sources.iter().zip(&copies) {
        // Holds the stack's lock while it is copied.
        let update = ctx.take_stack(source)?;
        let state = StackState::of_update(&update);
        let former = copying::copy(source, state, copy, args.force, ctx)?;
        let name = &source.shown;
        ctx.printer.line(&match former {
            Former::Same => format!("Stack '{name}' is in {} already", there.shown_url()),
            Former::Missing | Former::Other => {
                format!("Migrated stack '{name}' to {}", there.shown_url())
            }
        });
        if copy.name() != source.name() {
            copy_settings(&source.reference, copy, ctx)?;
        }
    }
    ctx.printer.line(&format!(
        "`plumb login {}` makes it the backend in use. The stacks here are unchanged: `plumb stack lock` keeps people from \
         updating them.",
        there.shown_url()
    ));
    Ok(())
}

/// Target stacks in `there` for `sources`.
fn copies_of(
    sources: &[Stack],
    target: Option<&str>,
    there: &Arc<dyn Backend>,
    ctx: &Context,
) -> Result<Vec<Stack>, Error> {
    let copy_of = |source: &Stack| {
        let name = match target {
            Some(name) => name.to_owned(),
            None => source.reference.qualified(),
        };
        let project = ctx.project_name()?;
        let reference = there.parse_stack(&name, project)?;
        ctx.stack_in(there.clone(), reference)
    };
    sources.iter().map(copy_of).collect()
}

fn confirm(
    args: &MigrateArgs,
    what: &str,
    source: &Stack,
    copy: &Stack,
    ctx: &Context,
) -> Result<(), Error> {
    if args.yes {
        return Ok(());
    }
    if !ctx.is_interactive() {
        return Err(
            Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
        );
    }
    let question = format!(
        "Copy {what} from {} to {}?",
        source.backend.shown_url(),
        copy.backend.shown_url()
    );
    if prompt::confirm(&question)? {
        return Ok(());
    }
    Err(Error::shown(ExitStatus::Failure))
}

/// Copies the settings of the source, if they belong to the current project.
fn copy_settings(source: &StackReference, copy: &Stack, ctx: &Context) -> Result<(), Error> {
    let source = ctx.stack_of(source.clone())?;
    let paths = (
        ctx.settings_path(&source, None)?,
        ctx.settings_path(copy, None)?,
    );
    if let (Some(from), Some(to)) = paths
        && from != to
        && let Some(text) = files::read_text(&from)?
    {
        files::write_text(&to, &text, Access::Shared)?;
    }
    Ok(())
}
