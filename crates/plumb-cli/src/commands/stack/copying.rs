//! Copies of stacks in other backends.
//!
//! The history comes first, object by object, then the state, in one write: a stack is there when its copy is complete. A copy
//! that was interrupted goes on with the objects that are missing. At the end the copy is read and compared.

use plumb_backend::Update;
use plumb_project::StackReference;
use plumb_state::edit::{StackIdentity, rename_stack};
use plumb_state::file::Layout;
use plumb_state::{EncryptedSnapshot, Snapshot};

use crate::context::{Stack, StackState};
use crate::{Context, Error};

/// What happened to a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copied {
    /// Its state was written.
    Written,
    /// The same state was there.
    WasThere,
}

/// The state of a stack that was taken.
pub(super) fn state_of(update: &Update) -> StackState {
    match &update.base().latest {
        Some(deployment) => StackState::File(Box::new(deployment.clone())),
        None => StackState::Nothing,
    }
}

/// Whether there may be a copy of this name: there is no such stack, or it may be replaced.
pub(super) fn check_target(copy: &Stack, force: bool) -> Result<(), Error> {
    if force || !copy.backend.stack_exists(&copy.reference)? {
        return Ok(());
    }
    Err(Error::user(format!(
        "stack '{}' already exists in {}; replace its state with --force, or give the copy another name with --target",
        copy.shown,
        copy.backend.shown_url()
    )))
}

/// Copies a stack, whose state is `state`.
pub(super) fn copy(
    source: &Stack,
    state: StackState,
    copy: &Stack,
    force: bool,
    ctx: &Context,
) -> Result<Copied, Error> {
    let snapshot = renamed(state, &copy.reference, ctx)?;
    let exists = copy.backend.stack_exists(&copy.reference)?;
    let is_there = exists && is_same(&snapshot, copy, ctx)?;
    if !is_there {
        check_target(copy, force)?;
    }
    copy_history(source, copy)?;
    if !is_there && exists {
        ctx.take_stack(copy)?.replace(&snapshot)?;
    } else if !is_there {
        copy.backend
            .create_stack(&copy.reference, Some(&snapshot))?;
    }
    let tags = source.backend.tags(&source.reference)?;
    copy.backend.set_tags(&copy.reference, &tags)?;
    if !is_same(&snapshot, copy, ctx)? {
        return Err(Error::user(format!(
            "the copy of stack '{}' in {} is not the same; did somebody update it in the meantime?",
            source.shown,
            copy.backend.shown_url()
        )));
    }
    Ok(if is_there {
        Copied::WasThere
    } else {
        Copied::Written
    })
}

/// The state under the names that the copy has.
fn renamed(
    state: StackState,
    copy: &StackReference,
    ctx: &Context,
) -> Result<EncryptedSnapshot, Error> {
    if state
        .opaque()
        .is_some_and(|snapshot: &Snapshot| !snapshot.pending_operations.is_empty())
    {
        ctx.printer.warning(
            "an operation on the stack was interrupted; what it left is copied too, and is settled by the next refresh",
        );
    }
    let mut snapshot = ctx.encrypted_state(state)?;
    let identity = StackIdentity {
        stack: copy.stack.as_str().into(),
        project: copy.project.as_ref().map(|it| it.as_str().into()),
    };
    rename_stack(&mut snapshot, &identity);
    Ok(snapshot)
}

/// Whether the state of a stack is this one.
fn is_same(snapshot: &EncryptedSnapshot, stack: &Stack, ctx: &Context) -> Result<bool, Error> {
    let there = ctx.encrypted_state(ctx.load_state(stack)?)?;
    Ok(there.deployment(Layout::Indented) == snapshot.deployment(Layout::Indented))
}

fn copy_history(source: &Stack, copy: &Stack) -> Result<(), Error> {
    let there = copy.backend.history_objects(&copy.reference)?;
    for name in source.backend.history_objects(&source.reference)? {
        if there.binary_search(&name).is_ok() {
            continue;
        }
        // What is gone in the meantime is not part of the history any more.
        if let Some(content) = source.backend.history_object(&source.reference, &name)? {
            let to = &copy.backend;
            to.put_history_object(&copy.reference, &name, &content)?;
        }
    }
    Ok(())
}
