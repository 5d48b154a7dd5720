//! Event logs, shown again and filtered (`cli.md` 12).

use std::fs;
use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use plumb_display::{Action, Options as DisplayOptions, View};
use plumb_events::{Event, ReadEvent};
use plumb_resource::{StepOp, Urn};

use super::screen::{self, Form, ScreenSetup};
use crate::{Context, Error, ExitStatus};

/// Show a recorded event log
///
/// The events of an operation that `--event-log` kept are shown as if the operation ran now.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// Must be set for events of a preview
    #[arg(short, long)]
    pub preview: bool,
    /// Print detailed debugging output during resource operations
    #[arg(short, long)]
    pub debug: bool,
    /// Display the operation as a rich diff showing the overall change
    #[arg(long)]
    pub diff: bool,
    /// Emit every event as a line of JSON
    #[arg(short, long)]
    pub json: bool,
    /// Show configuration keys and values
    #[arg(long)]
    pub show_config: bool,
    /// Show detailed resource replacement creates and deletes instead of a single step
    #[arg(long)]
    pub show_replacement_steps: bool,
    /// Show resources that needn't be updated because they haven't changed, alongside those that do
    #[arg(long)]
    pub show_sames: bool,
    /// Show resources that are being read in, alongside those being managed directly in the stack
    #[arg(long)]
    pub show_reads: bool,
    /// Suppress display of stack outputs (in case they contain sensitive values)
    #[arg(long)]
    pub suppress_outputs: bool,
    /// Suppress display of periodic progress dots
    #[arg(long)]
    pub suppress_progress: bool,
    /// How long to wait before the first event, as 1s or 100ms
    #[arg(long, default_value = "0s")]
    pub delay: String,
    /// How long to wait between events, as 1s or 100ms
    #[arg(long, default_value = "0s")]
    pub period: String,
    /// The kind of operation: update, refresh, destroy, import
    pub kind: String,
    /// The event log
    pub file: String,
}

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
pub(super) fn filter(args: &EventsArgs) -> Result<ExitStatus, Error> {
    let EventsVerb::Filter(args) = &args.verb;
    let mut out = std::io::stdout().lock();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let read = read(&line, number)?;
        if args.changes_only && !is_of_interest(&read.event) {
            continue;
        }
        if writeln!(out, "{line}").is_err() {
            // Nobody reads any more.
            break;
        }
    }
    Ok(ExitStatus::Success)
}

fn read(line: &str, index: usize) -> Result<ReadEvent, Error> {
    ReadEvent::from_line(line)
        .map_err(|error| Error::from(error).context(format!("line {}", index + 1)))
}

/// Everything but steps that leave a resource as it is.
fn is_of_interest(event: &Event) -> bool {
    let op = match event {
        Event::ResourcePre(step) | Event::ResourceOutputs(step) => step.metadata.op,
        _ => return true,
    };
    !matches!(op, StepOp::Same | StepOp::Read | StepOp::ReadReplacement)
}

/// Runs `replay-events`.
pub(super) fn run(args: &ReplayArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let action = match args.kind.as_str() {
        "update" | "up" | "preview" => Action::Update,
        "refresh" => Action::Refresh,
        "destroy" => Action::Destroy,
        "import" | "resource-import" => Action::Import,
        other => {
            return Err(Error::user(format!(
                "unrecognized update kind '{other}'; it can be update, refresh, destroy or import"
            )));
        }
    };
    let (delay, period) = (duration(&args.delay)?, duration(&args.period)?);
    let path = ctx.environment.cwd.join(&args.file);
    let text =
        fs::read_to_string(&path).map_err(|error| Error::from(error).context(path.display()))?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let events = lines
        .map(|(index, line)| read(line, index))
        .collect::<Result<Vec<_>, _>>()?;
    let setup = ScreenSetup {
        options: options(args, action, &events, ctx),
        form: if args.json {
            Form::EventLines
        } else {
            Form::Human
        },
        event_log: None,
        keeps_events: false,
        show_secrets: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (subscriber, shown) = screen::start(setup);
        tokio::time::sleep(delay).await;
        for read in events {
            let at = Timestamp::from_second(read.timestamp).unwrap_or_default();
            if subscriber.send(vec![(at, read.event)]).is_err() {
                break;
            }
            if !period.is_zero() {
                tokio::time::sleep(period).await;
            }
        }
        drop(subscriber);
        // What there is has been shown; a display that fails has nobody to tell.
        let _ = shown.await;
    });
    Ok(ExitStatus::Success)
}

fn options(
    args: &ReplayArgs,
    action: Action,
    events: &[ReadEvent],
    ctx: &Context,
) -> DisplayOptions {
    let urn = events.iter().find_map(|read| match &read.event {
        Event::ResourcePre(step) | Event::ResourceOutputs(step) => Some(&step.metadata.urn),
        _ => None,
    });
    let is_preview = args.preview || args.kind == "preview";
    let is_tree = ctx.is_interactive() && !args.diff && !args.json;
    DisplayOptions {
        view: match (args.diff, is_tree) {
            (true, _) => View::Diff,
            (false, true) => View::Tree,
            (false, false) => View::Progress,
        },
        color: ctx.printer.color(),
        show_config: args.show_config,
        show_sames: args.show_sames,
        show_reads: args.show_reads,
        show_replacement_steps: args.show_replacement_steps,
        suppress_outputs: args.suppress_outputs,
        suppress_progress: args.suppress_progress,
        debug: args.debug,
        emoji: ctx.globals.emoji,
        ..DisplayOptions::new(
            action,
            is_preview,
            urn.map_or("", Urn::stack),
            urn.map_or("", Urn::project),
        )
    }
}

/// A time such as `1.5s` or `200ms`.
fn duration(text: &str) -> Result<Duration, Error> {
    let wrong = || {
        Error::user(format!(
            "invalid duration {text:?}; write it as 1s or 200ms"
        ))
    };
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.strip_suffix('s').ok_or_else(wrong)?, 1.0),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| wrong())
}
