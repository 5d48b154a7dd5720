//! `stack migrate`.

use std::sync::Arc;

use clap::Args;
use plumb_backend::Backend;
use plumb_project::StackReference;
use plumb_project::files::{self, Access};
use plumb_state::edit::{StackIdentity, rename_stack};
use plumb_state::{EncryptedSnapshot, Snapshot};

use super::{TargetArgs, change_secrets};
use crate::context::{Stack, StackState};
use crate::identity::Code;
use crate::{Context, Error, ExitStatus, prompt};

/// Copy a stack from another backend
///
/// State, tags and settings of a stack of the backend at the given address are copied into the backend that is in use; the stack
/// is selected afterwards. Its secrets stay encrypted as they are unless another provider is named. The history is not copied,
/// and nothing is removed from the other backend.
#[derive(Args, Debug)]
pub struct MigrateArgs {
    /// The name of the stack in this backend; the same as in the other one by default
    #[arg(long)]
    pub target: Option<String>,
    /// The type of the provider that should be used to encrypt and decrypt secrets from now on
    #[arg(long)]
    pub secrets_provider: Option<String>,
    /// Skip confirmation prompts
    #[arg(short, long)]
    pub yes: bool,
    /// Replace the state of a stack that exists already
    #[arg(short, long)]
    pub force: bool,
    /// The address of the other backend
    pub url: String,
    /// The name of the stack there
    pub name: Option<String>,
}

pub(super) fn run(args: MigrateArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let here = ctx.backend()?;
    let there = ctx.open_backend(&args.url, &ctx.environment.cwd)?;
    if here.url() == there.url() {
        return Err(Error::user(format!(
            "source and target backends are the same ({}); nothing to migrate",
            here.shown_url()
        )));
    }
    let name = match (
        args.name.or_else(|| target.stack.clone()),
        ctx.is_interactive(),
    ) {
        (Some(name), _) => name,
        (None, true) => prompt::text("Name of the stack to copy:", None)?,
        (None, false) => return Err(Error::user("missing stack name")),
    };
    let source = there.parse_stack(&name, ctx.project_name()?)?;
    if !there.stack_exists(&source)? {
        return Err(Error::no_stack(&name).context(there.shown_url()));
    }
    let copy = ctx.stack_named(args.target.as_deref().unwrap_or(&name))?;
    let exists = here.stack_exists(&copy.reference)?;
    if exists && !args.force {
        return Err(Error::user(format!(
            "stack '{}' already exists in {}; replace its state with --force, or give the copy another name with --target",
            copy.shown,
            here.shown_url()
        )));
    }
    if !args.yes {
        if !ctx.is_interactive() {
            return Err(
                Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
            );
        }
        let question = format!(
            "Copy stack {name} from {} to {}?",
            there.shown_url(),
            here.shown_url()
        );
        if !prompt::confirm(&question)? {
            return Err(Error::shown(ExitStatus::Failure));
        }
    }
    let snapshot = read(&there, &source, &copy, ctx)?;
    if exists {
        ctx.take_stack(&copy)?.replace(&snapshot)?;
    } else {
        here.create_stack(&copy.reference, Some(&snapshot))?;
    }
    here.set_tags(&copy.reference, &there.tags(&source)?)?;
    copy_settings(&source, &copy, ctx)?;
    ctx.select_stack(&copy)?;
    if let Some(provider) = args.secrets_provider.filter(|name| name != "default") {
        change_secrets::change(&provider, &copy, ctx)?;
    }
    ctx.printer.line(&format!(
        "Migrated stack '{}' from {} to {}",
        copy.shown,
        there.shown_url(),
        here.shown_url()
    ));
    Ok(())
}

/// The state of the source, under the names that the copy has.
fn read(
    backend: &Arc<dyn Backend>,
    source: &StackReference,
    copy: &Stack,
    ctx: &Context,
) -> Result<EncryptedSnapshot, Error> {
    let state = match backend.load(source)? {
        plumb_backend::Loaded::Checkpoint(checkpoint) => match checkpoint.latest {
            Some(deployment) => StackState::File(Box::new(deployment)),
            None => StackState::Nothing,
        },
        plumb_backend::Loaded::Folded(snapshot) => StackState::Folded(snapshot),
    };
    if state
        .opaque()
        .is_some_and(|snapshot: &Snapshot| !snapshot.pending_operations.is_empty())
    {
        ctx.printer.warning(
            "an operation on the stack was interrupted; what it left is copied too, and is settled by the next refresh",
        );
    }
    let mut snapshot = ctx.encrypted_state(state)?;
    let project = copy.reference.project.as_ref();
    let identity = StackIdentity {
        stack: copy.name().into(),
        project: project.map(|project| project.as_str().into()),
    };
    rename_stack(&mut snapshot, &identity);
    Ok(snapshot)
}

/// The copy has the settings of the source, where they are those of the project at hand.
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
