//! `stack change-secrets-provider` (`state.md` 5.7).

use std::sync::Arc;

use clap::Args;
use plumb_operate::context::{Stack, StateFallback, secrets_of};
use plumb_operate::{Context, Error};
use plumb_state::CiphertextCache;

use super::{TargetArgs, encrypt, stack_of};
use plumb_automation::codec::{ManagerCodec, provider_of};

/// Change the secrets provider for a stack
///
/// Everything that is encrypted, in the settings and in the state, is decrypted and encrypted again; so is the history of a stack
/// whose state is encrypted as a whole. Naming the provider that
/// the stack has already gives it a new passphrase, or a new data key.
#[derive(Args, Debug)]
pub struct ChangeArgs {
    /// The new provider: default, passphrase, or the address of a key
    #[arg(required = true)]
    pub provider: String,
}

pub(super) fn run(args: ChangeArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    plumb_operate::context::check_provider_name(&args.provider)?;
    ctx.project()?;
    change(&args.provider, &stack_of(target, ctx)?, ctx)
}

/// Encrypts all secrets of a stack with another secrets provider.
pub(super) fn change(provider: &str, stack: &Stack, ctx: &Context) -> Result<(), Error> {
    plumb_operate::context::check_provider_name(provider)?;
    let mut settings = ctx.stack_settings(stack, None)?;
    let state = ctx.load_state(stack)?;
    let old = ctx.stack_secrets(&settings, stack, state.provider(), StateFallback::Always)?;
    old.check()?;
    let new = ctx.new_manager(provider, old.manager().as_deref())?;

    ctx.printer
        .line("Migrating old configuration and state to new secrets provider");
    let mut config = settings.file.config().clone();
    for (key, value) in settings.file.config().iter() {
        let changed = value.try_map_ciphertexts(&mut |ciphertext| {
            let text = old.decrypt(ciphertext)?;
            Ok::<_, plumb_secrets::Error>(new.encrypt(&[text])?.pop().unwrap_or_default())
        })?;
        config.insert(key.clone(), changed);
    }
    let provider = provider_of(new.as_ref());
    let secrets = secrets_of(&provider);
    let codec = ManagerCodec(Arc::clone(&new));
    ctx.edit_state(stack, |snapshot| {
        let recorded = snapshot.opaque().secrets_provider.clone();
        let mut plain = snapshot.decrypt(
            &ctx.codec_of(recorded.as_ref())?,
            &mut CiphertextCache::new(),
        )?;
        plain.secrets_provider = Some(provider);
        *snapshot = plain.encrypt(&codec, &mut CiphertextCache::new())?;
        Ok(())
    })?;
    encrypt::renew_key(stack, new.as_ref(), ctx)?;
    settings.file.set_config(&config);
    settings.file.set_secrets(&secrets);
    settings.save(None)
}
