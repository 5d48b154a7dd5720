//! `stack ls`.

use clap::{ArgGroup, Args};
use jiff::Timestamp;
use plumb_backend::{StackFilter, StackSummary};
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::table::Table;
use plumb_operate::{Context, Error};
use plumb_project::ProjectName;
use serde::Serialize;

use crate::times;

/// List stacks
///
/// Lists the stacks of the current project; with --all, those of every project.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("ls-format").args(["output", "json"]).multiple(false))]
pub struct ListArgs {
    /// List all stacks instead of just stacks for the current project
    #[arg(short, long)]
    pub all: bool,
    /// Filter returned stacks to those in a specific organization
    #[arg(short, long)]
    pub organization: Option<String>,
    /// Filter returned stacks to those with a specific project name
    #[arg(short, long)]
    pub project: Option<String>,
    /// Filter returned stacks to those in a specific tag (tag-name or tag-name=tag-value)
    #[arg(short, long)]
    pub tag: Option<String>,
    /// Emit output as JSON
    #[arg(short, long, hide = true)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
}

pub(super) fn run(args: ListArgs, ctx: &Context) -> Result<(), Error> {
    let as_json = wants_json(args.json, &args.output)?;
    // File-based backends have one organization, so `--organization` does not filter.
    let filter = filter_of(&args, ctx)?;
    let stacks = ctx.backend()?.list_stacks(&filter)?;
    let selected = ctx.selected_stack()?.map(|stack| stack.reference);
    let mut listed = Vec::new();
    for summary in stacks {
        let is_current = selected.as_ref() == Some(&summary.stack);
        let name = ctx.shown_name(&summary.stack)?;
        listed.push((name, is_current, summary));
    }
    listed.sort_by(|left, right| left.0.cmp(&right.0));
    if as_json {
        let all: Vec<Listed<'_>> = listed
            .iter()
            .map(|(name, is_current, summary)| Listed::new(name, *is_current, summary))
            .collect();
        ctx.printer.data(&pretty(&all, Indent::Two));
        return Ok(());
    }
    let mut table = Table::new(["NAME", "LAST UPDATE", "RESOURCE COUNT"]);
    for (name, is_current, summary) in listed {
        let mark = if is_current { "*" } else { "" };
        let updated = last_update(&summary).map_or_else(|| "n/a".to_owned(), times::time_ago);
        let count = summary
            .resource_count
            .map_or_else(|| "n/a".to_owned(), |count| count.to_string());
        table.row([format!("{name}{mark}"), updated, count]);
    }
    ctx.printer.styled(&table.render());
    Ok(())
}

fn filter_of(args: &ListArgs, ctx: &Context) -> Result<StackFilter, Error> {
    let project = match &args.project {
        Some(name) => Some(ProjectName::unchecked(name)),
        None if args.all => None,
        None => {
            let read = ctx.find_project();
            read.map_err(|error| error.context("could not load current project"))?;
            let found = ctx.project();
            let loaded =
                found.map_err(|error| error.context("could not detect current project"))?;
            Some(loaded.name.clone())
        }
    };
    let tag = args.tag.as_deref().map(|tag| match tag.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (tag.to_owned(), None),
    });
    Ok(StackFilter { project, tag })
}

/// A stack as JSON has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    name: &'a str,
    current: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_update: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_count: Option<usize>,
}

impl<'a> Listed<'a> {
    fn new(name: &'a str, current: bool, summary: &StackSummary) -> Self {
        Listed {
            name,
            current,
            last_update: last_update(summary).map(times::json_time),
            resource_count: summary.resource_count,
        }
    }
}

/// Time of the last update; `None` for the zero time, which means never.
fn last_update(summary: &StackSummary) -> Option<Timestamp> {
    let time: Timestamp = summary.last_update.as_deref()?.parse().ok()?;
    (time.as_second() > 0).then_some(time)
}
