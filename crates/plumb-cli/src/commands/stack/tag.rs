//! `stack tag`.

use clap::{ArgGroup, Args, Subcommand};
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::table::Table;
use plumb_operate::{Context, Error};

use super::{TargetArgs, stack_of};

/// Manage stack tags
///
/// Stacks have associated metadata in the form of tags. Each tag consists of a name and value.
#[derive(Args, Debug)]
pub struct TagArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: TagVerb,
}

/// What to do with tags.
#[derive(Subcommand, Debug)]
pub enum TagVerb {
    /// Get a single stack tag value
    Get(NameArgs),
    /// List all stack tags
    #[command(alias = "ls")]
    List(ListArgs),
    /// Remove a stack tag
    #[command(aliases = ["rm", "delete"])]
    Remove(NameArgs),
    /// Set a stack tag
    Set(SetArgs),
}

/// Which tag is meant.
#[derive(Args, Debug)]
pub struct NameArgs {
    /// The name of the tag
    #[arg(required = true)]
    pub name: String,
}

/// Arguments of `set`.
#[derive(Args, Debug)]
pub struct SetArgs {
    /// The name of the tag
    #[arg(required = true)]
    pub name: String,
    /// Its value
    #[arg(required = true)]
    pub value: String,
}

/// Arguments of `ls`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("tags-format").args(["output", "json"]).multiple(false))]
pub struct ListArgs {
    /// Emit output as JSON
    #[arg(short, long, hide = true)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
}

pub(super) fn run(args: TagArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(target, ctx)?;
    let mut tags = stack.backend.tags(&stack.reference)?;
    let missing = |name: &str| {
        Error::user(format!(
            "stack tag '{name}' not found for stack '{}'",
            stack.shown
        ))
    };
    match args.verb {
        TagVerb::Get(NameArgs { name }) => {
            let value = tags.get(&name).ok_or_else(|| missing(&name))?;
            ctx.printer.line(value);
        }
        TagVerb::List(list) if wants_json(list.json, &list.output)? => {
            ctx.printer.data(&pretty(&tags, Indent::Two));
        }
        TagVerb::List(_) => {
            let mut table = Table::new(["NAME", "VALUE"]);
            for (name, value) in tags {
                table.row([name, value]);
            }
            ctx.printer.styled(&table.render());
        }
        TagVerb::Remove(NameArgs { name }) => {
            tags.remove(&name);
            stack.backend.set_tags(&stack.reference, &tags)?;
        }
        TagVerb::Set(SetArgs { name, value }) => {
            tags.insert(name, value);
            stack.backend.set_tags(&stack.reference, &tags)?;
        }
    }
    Ok(())
}
