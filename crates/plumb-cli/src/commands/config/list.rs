//! `config` without a verb.

use std::collections::BTreeMap;

use plumb_operate::context::ConfigCheck;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::table::Table;
use plumb_operate::{Context, Error};
use plumb_project::config::{Key, Value};

use super::shown::{self, Secrets};
use super::{Target, TargetArgs};

pub(super) fn run(
    target: &TargetArgs,
    show_secrets: bool,
    json: bool,
    ctx: &Context,
) -> Result<(), Error> {
    let target = Target::open(target, ctx)?;
    ctx.check_environments(&target.stack, &target.settings)?;
    let config = ctx.config_with_defaults(
        &target.stack,
        &target.settings,
        &target.secrets,
        ConfigCheck::Skipped,
    )?;
    let mut entries: Vec<(&Key, &Value)> = config.iter().collect();
    entries.sort_by_key(|(key, _)| (*key).clone());
    let secrets = if show_secrets {
        Secrets::Shown(&target.secrets)
    } else {
        Secrets::Hidden
    };
    if json {
        let mut object = BTreeMap::new();
        for (key, value) in entries {
            object.insert(key.to_string(), shown::json(value, secrets)?);
        }
        ctx.printer.data(&pretty(&object, Indent::Two));
        return Ok(());
    }
    let mut table = Table::new(["KEY", "VALUE"]);
    for (key, value) in entries {
        table.row([
            key.display_in(target.stack.project_name()),
            shown::text(value, secrets)?,
        ]);
    }
    ctx.printer.styled(&table.render());
    Ok(())
}
