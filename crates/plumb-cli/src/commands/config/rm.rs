//! `config remove` and `config remove-all`.

use clap::Args;
use plumb_operate::{Context, Error};

use super::{Target, TargetArgs};

/// Remove configuration value
#[derive(Args, Debug)]
pub struct RemoveArgs {
    /// The key contains a path to a property in a map or list to remove
    #[arg(long)]
    pub path: bool,
    /// The key
    #[arg(required = true)]
    pub key: String,
}

/// Remove multiple configuration values
#[derive(Args, Debug)]
pub struct RemoveAllArgs {
    /// Parse the keys as paths in a map or list rather than raw strings
    #[arg(long)]
    pub path: bool,
    /// The keys
    #[arg(required = true)]
    pub keys: Vec<String>,
}

pub(super) fn run(
    keys: Vec<String>,
    is_path: bool,
    target: &TargetArgs,
    ctx: &Context,
) -> Result<(), Error> {
    let named: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut target = Target::open_for(&named, is_path, target, ctx)?;
    let mut config = target.settings.file.config().clone();
    for key in keys {
        config.remove_path(&target.path(&key, is_path)?)?;
    }
    target.settings.file.set_config(&config);
    target.save()
}
