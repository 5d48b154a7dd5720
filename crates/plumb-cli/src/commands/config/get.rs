//! `config get`.

use clap::Args;
use plumb_operate::context::ConfigCheck;
use plumb_operate::identity::Code;
use plumb_operate::json::{Indent, escape_html, pretty};
use plumb_operate::{Context, Error};

use super::shown::{self, Secrets};
use super::{Target, TargetArgs};

/// Get a single configuration value
#[derive(Args, Debug)]
pub struct GetArgs {
    /// The key contains a path to a property in a map or list to get
    #[arg(long)]
    pub path: bool,
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Open and resolve any environments listed in the stack configuration
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1)]
    pub open: bool,
    /// The key
    #[arg(required = true)]
    pub key: String,
}

pub(super) fn run(args: GetArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let key = args.key;
    let target = Target::open_for(&[&key], args.path, target, ctx)?;
    ctx.check_environments(&target.stack, &target.settings)?;
    let path = target.path(&key, args.path)?;
    let config = ctx.config_with_defaults(
        &target.stack,
        &target.settings,
        &target.secrets,
        ConfigCheck::Skipped,
    )?;
    let Some(value) = config.get_path(&path) else {
        return Err(Error::user(format!(
            "configuration key '{}' not found for stack '{}'",
            target.shown(&key, &path, args.path),
            target.stack.shown
        ))
        .known(Code::MissingConfig));
    };
    let secrets = Secrets::Shown(&target.secrets);
    if args.json {
        ctx.printer.data(&escape_html(&pretty(
            &shown::json(&value, secrets)?,
            Indent::Two,
        )));
    } else {
        ctx.printer.line(&shown::text(&value, secrets)?);
    }
    Ok(())
}
