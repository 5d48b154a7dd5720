//! `project`.

use std::collections::BTreeMap;

use clap::{ArgGroup, Args, Subcommand};
use plumb_backend::StackFilter;
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error, ExitStatus};
use serde::Serialize;

use super::new;

/// Manage projects
#[derive(Args, Debug)]
pub struct ProjectArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: ProjectVerb,
}

/// What to do with projects.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum ProjectVerb {
    /// List the projects that have stacks
    #[command(alias = "ls")]
    List(ListArgs),
    New(new::NewArgs),
}

/// Arguments of `project ls`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("projects-format").args(["output", "json"]).multiple(false))]
pub struct ListArgs {
    /// The organization whose projects to list
    #[arg(short, long)]
    pub organization: Option<String>,
    /// Emit output as JSON
    #[arg(short, long, hide = true)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
}

/// Runs `project`.
pub fn run(args: ProjectArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    match args.verb {
        ProjectVerb::New(args) => new::run(args, ctx),
        ProjectVerb::List(args) => list(&args, ctx),
    }
}

/// A project as JSON has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    name: &'a str,
    stack_count: usize,
}

fn list(args: &ListArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let as_json = wants_json(args.json, &args.output)?;
    let backend = ctx.backend()?;
    if args.organization.is_some() {
        return Err(Error::user(format!(
            "organizations are not supported by the current backend ({})",
            backend.name()
        )));
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for stack in backend.stack_names(&StackFilter::default())? {
        let project = stack
            .project
            .map(|project| project.to_string())
            .unwrap_or_default();
        *counts.entry(project).or_default() += 1;
    }
    if as_json {
        let all = counts.iter().map(|(name, count)| Listed {
            name,
            stack_count: *count,
        });
        let all: Vec<Listed<'_>> = all.collect();
        ctx.printer.data(&pretty(&all, Indent::Four));
        return Ok(ExitStatus::Success);
    }
    if counts.is_empty() {
        ctx.printer.line("No projects found");
        return Ok(ExitStatus::Success);
    }
    ctx.printer.line("PROJECTS:");
    for (name, count) in counts {
        ctx.printer.line(&format!("  {name} (stacks: {count})"));
    }
    Ok(ExitStatus::Success)
}
