//! `config copy`.

use clap::Args;
use plumb_operate::context::IfMissing;
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error};
use plumb_project::config::{ConfigMap, KeyPath, NewValue, Tree, Value};

use super::{Target, TargetArgs};

/// Copy config to another stack
#[derive(Args, Debug)]
pub struct CopyArgs {
    /// The key contains a path to a property in a map or list to set
    #[arg(long)]
    pub path: bool,
    /// The name of the new stack to copy the config to
    #[arg(short, long)]
    pub dest: Option<String>,
    /// The key; all of them without one
    pub key: Option<String>,
}

pub(super) fn run(args: CopyArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let source = Target::open_or(target, IfMissing::Fail, ctx)?;
    let Some(dest) = args.dest else {
        if let Some(key) = &args.key {
            value_at(&source, key, args.path)?;
        }
        // On a terminal, tell the user that nothing was copied; scripts continue without the
        // message.
        if ctx.is_interactive() {
            ctx.printer
                .warning("nothing is copied: `--dest STACK` says where to");
        }
        return Ok(());
    };
    let named = dest;
    // A longer name of the same stack is accepted: nothing changes then.
    if named == source.stack.name() {
        return Err(Error::user(
            "current stack and destination stack are the same",
        ));
    }
    let dest = ctx.stack_named(&named)?;
    if !dest.backend.stack_exists(&dest.reference)? {
        return Err(Error::no_stack(&named));
    }
    let mut dest = Target::of(dest, None, ctx)?;
    let mut config = dest.settings.file.config().clone();
    match &args.key {
        Some(key) => copy_one(&source, &dest, key, args.path, &mut config)?,
        None => {
            for (key, value) in source.settings.file.config().iter() {
                config.insert(key.clone(), reencrypt(value, &source, &dest)?);
            }
        }
    }
    dest.settings.file.set_config(&config);
    dest.save()
}

fn value_at(source: &Target, key: &str, is_path: bool) -> Result<(KeyPath, Value), Error> {
    let path = source.path(key, is_path)?;
    let value = source
        .settings
        .file
        .config()
        .get_path(&path)
        .ok_or_else(|| {
            Error::user(format!(
                "configuration key '{}' not found for stack '{}'",
                source.shown(key, &path, is_path),
                source.stack.shown
            ))
            .known(Code::MissingConfig)
        })?;
    Ok((path, value))
}

fn copy_one(
    source: &Target,
    dest: &Target,
    key: &str,
    is_path: bool,
    config: &mut ConfigMap,
) -> Result<(), Error> {
    let (path, value) = value_at(source, key, is_path)?;
    let value = match reencrypt(&value, source, dest)? {
        Value::Text(text) => NewValue::Untyped(text),
        Value::Secure(ciphertext) => NewValue::Secure(ciphertext),
        Value::Object(tree) => NewValue::Typed(tree),
    };
    if let NewValue::Typed(Tree::Null) = value {
        return Ok(());
    }
    Ok(config.set_path(&path, value)?)
}

/// The value with its secrets encrypted for the other stack.
pub(super) fn reencrypt(value: &Value, source: &Target, dest: &Target) -> Result<Value, Error> {
    Ok(value.try_map_ciphertexts(&mut |ciphertext| {
        source
            .secrets
            .decrypt(ciphertext)
            .and_then(|text| dest.secrets.encrypt(text.expose()))
    })?)
}
