//! Copies of stacks in other backends.
//!
//! 1. The history is copied, object by object. Objects that the copy has already are skipped.
//! 2. The state is written in one request, so a stack exists only when its copy is complete. A copy that was interrupted before
//!    that is continued by the next attempt.
//! 3. The state of the copy is read and compared.

use plumb_operate::context::{Stack, StackState};
use plumb_operate::{Context, Error};
use plumb_project::StackReference;
use plumb_state::edit::{StackIdentity, rename_stack};
use plumb_state::file::Layout;
use plumb_state::{EncryptedSnapshot, Snapshot};

/// Stack of the copy's name before the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Former {
    /// No stack.
    Missing,
    /// A stack with the same state.
    Same,
    /// A stack with another state.
    Other,
}

/// Fails if a stack of the copy's name exists and may not be replaced.
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

/// Copies a stack with the state `state`. Returns the previous contents of the other backend.
pub(super) fn copy(
    source: &Stack,
    state: StackState,
    copy: &Stack,
    force: bool,
    ctx: &Context,
) -> Result<Former, Error> {
    let snapshot = renamed(state, &copy.reference, ctx)?;
    let former = former(&snapshot, copy, ctx)?;
    if former == Former::Other {
        check_target(copy, force)?;
    }
    // The copy of a stack that is encrypted as a whole is encrypted with the same key. A new copy gets the key before its first
    // object is written.
    if let Some(key) = source.backend.stack_key(&source.reference)? {
        copy.backend.set_stack_key(&copy.reference, Some(key))?;
    }
    copy_history(source, copy)?;
    match former {
        Former::Missing => copy
            .backend
            .create_stack(&copy.reference, Some(&snapshot))?,
        Former::Other => ctx.take_stack(copy)?.replace(&snapshot)?,
        Former::Same => {}
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
    Ok(former)
}

fn former(snapshot: &EncryptedSnapshot, copy: &Stack, ctx: &Context) -> Result<Former, Error> {
    if !copy.backend.stack_exists(&copy.reference)? {
        return Ok(Former::Missing);
    }
    Ok(if is_same(snapshot, copy, ctx)? {
        Former::Same
    } else {
        Former::Other
    })
}

/// The state with the names of the copy.
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

/// Whether a stack has the given state.
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
        // Objects deleted since the listing are no longer part of the history.
        if let Some(content) = source.backend.history_object(&source.reference, &name)? {
            let to = &copy.backend;
            to.put_history_object(&copy.reference, &name, &content)?;
        }
    }
    Ok(())
}
