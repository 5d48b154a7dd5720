//! `events`: picks engine events from a stream (`cli.md` 12).

use std::io::{BufRead as _, Write as _};

use clap::{Args, Subcommand};
use plumb_events::{Event, ReadEvent};
use plumb_operate::{Error, ExitStatus};
use plumb_resource::StepOp;

/// Work with recorded events
#[derive(Args, Debug)]
pub struct EventsArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: EventsVerb,
}

/// What to do with events.
#[derive(Subcommand, Debug)]
pub enum EventsVerb {
    /// Read events from standard in, and print those that are wanted
    Filter(FilterArgs),
}

/// Which events are wanted.
#[derive(Args, Debug)]
pub struct FilterArgs {
    /// Leave out steps that change nothing
    #[arg(long)]
    pub changes_only: bool,
}

/// Runs `events filter`.
pub fn run(args: &EventsArgs) -> Result<ExitStatus, Error> {
    let EventsVerb::Filter(args) = &args.verb;
    let mut out = std::io::stdout().lock();
    for (index, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let read = ReadEvent::from_line(&line)
            .map_err(|error| Error::from(error).context(format!("line {}", index + 1)))?;
        if args.changes_only && !is_of_interest(&read.event) {
            continue;
        }
        if writeln!(out, "{line}").is_err() {
            // The reader has closed the pipe.
            break;
        }
    }
    Ok(ExitStatus::Success)
}

/// Whether the event is anything other than an unchanged resource.
fn is_of_interest(event: &Event) -> bool {
    let op = match event {
        Event::ResourcePre(step) | Event::ResourceOutputs(step) => step.metadata.op,
        _ => return true,
    };
    !matches!(op, StepOp::Same | StepOp::Read | StepOp::ReadReplacement)
}
