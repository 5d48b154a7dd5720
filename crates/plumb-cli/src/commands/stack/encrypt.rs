//! `stack encrypt` and `stack decrypt`.

use std::sync::Arc;

use clap::Args;
use plumb_backend::StackKey;
use plumb_operate::context::{Stack, StateFallback};
use plumb_operate::{Context, Error};
use plumb_secrets::SecretsManager;

use super::{TargetArgs, stack_of};

/// Encrypt the whole state of a stack
///
/// State, journals, history and backups are encrypted with a key that only the stack's secrets provider can decrypt, including
/// everything that is there already. From now on each command that reads the state needs the secrets provider, and other
/// programs refuse the stack. `plumb stack decrypt` undoes this.
///
/// Names of stacks, the number of resources, times, tags and locks stay readable.
#[derive(Args, Debug)]
pub struct EncryptArgs {}

/// Decrypt the whole state of a stack
///
/// Undoes `plumb stack encrypt`, also for history and backups. Secrets in the state stay encrypted.
#[derive(Args, Debug)]
pub struct DecryptArgs {}

pub(super) fn encrypt(target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(target, ctx)?;
    // A key that is there already continues a conversion that was interrupted.
    let key = match stack.backend.stack_key(&stack.reference)? {
        Some(key) => key,
        None => new_key(secrets_manager(&stack, ctx)?.as_ref())?,
    };
    set_key(&stack, Some(key), ctx)?;
    ctx.printer.line(&format!(
        "The state of stack '{}' is encrypted as a whole, with its history and backups",
        stack.shown
    ));
    Ok(())
}

pub(super) fn decrypt(target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(target, ctx)?;
    set_key(&stack, None, ctx)?;
    ctx.printer.line(&format!(
        "The state of stack '{}' is not encrypted as a whole any more; secrets in it still are",
        stack.shown
    ));
    Ok(())
}

/// Encrypts the state of a stack with a new key of `manager`, if it is encrypted at all.
pub(super) fn renew_key(
    stack: &Stack,
    manager: &dyn SecretsManager,
    ctx: &Context,
) -> Result<(), Error> {
    match stack.backend.stack_key(&stack.reference)? {
        Some(_) => set_key(stack, Some(new_key(manager)?), ctx),
        None => Ok(()),
    }
}

fn new_key(manager: &dyn SecretsManager) -> Result<StackKey, Error> {
    manager.check()?;
    Ok(StackKey::create(manager)?)
}

/// Secrets manager of a stack; the stack gets one if it has none.
fn secrets_manager(stack: &Stack, ctx: &Context) -> Result<Arc<dyn SecretsManager>, Error> {
    let settings = ctx.stack_settings(stack, None)?;
    let state = ctx.load_state(stack)?;
    let secrets = ctx.stack_secrets(&settings, stack, state.provider(), StateFallback::Always)?;
    Ok(secrets.manager_or_new()?)
}

fn set_key(stack: &Stack, key: Option<StackKey>, ctx: &Context) -> Result<(), Error> {
    ctx.when_unlocked(stack, || {
        let backend = &stack.backend;
        Ok(backend.set_stack_key(&stack.reference, key.clone())?)
    })
}
