//! `replay-events`: displays a recorded event log as if the operation ran now.

use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgAction, Args};
use plumb_display::{Action, Display, Explanations, Options, ResultSummary, View};
use plumb_events::json::{Encoding, EventLines};
use plumb_events::{Event, Filter, ReadEvent, StateView};
use plumb_operate::output::terminal_size;
use plumb_operate::{Context, Error, ExitStatus};
use plumb_resource::StepOp;

/// Show a recorded event log
///
/// Reads a file of engine events, JSON objects one behind the other, as `--event-log` and `up --json` write it, and shows it in any of
/// the ways in which the operation itself could have been shown.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// Display the operation as a rich diff showing the overall change
    #[arg(long)]
    pub diff: bool,
    /// Display the operation as the tree that it ends with
    #[arg(long)]
    pub tree: bool,
    /// Print the events again, one JSON object to a line
    #[arg(short, long)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
    /// Show the operation as a preview, whatever the events say
    #[arg(short, long)]
    pub preview: bool,
    /// How long to wait before the first event, as 1s or 100ms
    #[arg(long, default_value = "0s")]
    pub delay: String,
    /// How long to wait between events, as 1s or 100ms
    #[arg(long, default_value = "0s")]
    pub period: String,
    /// Say why resources are replaced or deleted
    #[arg(long)]
    pub explain: bool,
    /// Wait between events as long as the operation did
    #[arg(long)]
    pub wait: bool,
    /// Print debugging messages
    #[arg(short, long)]
    pub debug: bool,
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
    /// Show per-resource policy remediation details instead of a summary
    #[arg(long)]
    pub show_policy_remediations: bool,
    /// Show secret values, as far as the log has them
    #[arg(long)]
    pub show_secrets: bool,
    /// Display full length of values; with `=false`, long ones are cut
    #[arg(long, default_value_t = true, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub show_full_output: bool,
    /// Display full resource URNs
    #[arg(long)]
    pub urns: bool,
    /// Suppress display of stack outputs
    #[arg(long)]
    pub suppress_outputs: bool,
    /// Suppress display of downloads
    #[arg(long)]
    pub suppress_progress: bool,
    /// What the operation was, if the events are not to say so: update, refresh, destroy or import
    #[arg(
        value_name = "kind",
        required_unless_present = "file",
        hide_default_value = true
    )]
    pub kind: Option<String>,
    /// The file; `-` is standard input
    #[arg(value_name = "file")]
    pub file: Option<String>,
}

impl ReplayArgs {
    /// Kind of operation, if given, and file.
    fn kind_and_file(&self) -> (Option<&str>, &str) {
        match (&self.kind, &self.file) {
            (Some(kind), Some(file)) => (Some(kind), file),
            (Some(only), None) | (None, Some(only)) => (None, only),
            (None, None) => (None, "-"),
        }
    }
}

/// Runs `replay-events`.
pub fn run(args: ReplayArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let as_summary = plumb_operate::json::wants_json(false, &args.output)?;
    let (kind, file) = args.kind_and_file();
    let action = kind.map(action_of).transpose()?;
    let mut events = read(file, ctx)?;
    if args.json {
        again(&args, &events, ctx);
    } else if as_summary {
        let mut summary = ResultSummary::new(args.show_sames);
        for read in &events {
            summary.handle(&read.event);
        }
        ctx.printer.line(summary.to_line().trim_end());
    } else {
        // upstream: with a given kind, maps that contain a secret are empty.
        if action.is_some() {
            for read in &mut events {
                drop_secret_maps(&mut read.event);
            }
        }
        show(&args, action, &events, ctx)?;
    }
    Ok(ExitStatus::Success)
}

/// Empties inputs and outputs that contain a secret.
fn drop_secret_maps(event: &mut Event) {
    let metadata = match event {
        Event::ResourcePre(step) | Event::ResourceOutputs(step) => &mut step.metadata,
        Event::ResourceFailed(step) => &mut step.metadata,
        _ => return,
    };
    for view in [&mut metadata.old, &mut metadata.new].into_iter().flatten() {
        let (inputs, outputs) = (
            view.inputs.contains_secrets(),
            view.outputs.contains_secrets(),
        );
        if !(inputs || outputs) {
            continue;
        }
        let mut state = view.shared().as_ref().clone();
        if inputs {
            state.inputs = Arc::default();
        }
        if outputs {
            state.outputs = Arc::default();
        }
        *view = StateView::new(state);
    }
}

fn read(file: &str, ctx: &Context) -> Result<Vec<ReadEvent>, Error> {
    let text = if file == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else {
        std::fs::read_to_string(ctx.environment.cwd.join(file))
            .map_err(|error| Error::from(error).context(format!("could not read {file}")))?
    };
    let mut events = Vec::new();
    for event in ReadEvent::stream(&text) {
        let at = events.len() + 1;
        events.push(event.map_err(|error| {
            Error::from(error).context(format!("{file}, event {at}, is no engine event"))
        })?);
    }
    Ok(events)
}

fn again(args: &ReplayArgs, events: &[ReadEvent], ctx: &Context) {
    let mut lines = EventLines::new(Encoding {
        filter: Filter::of_recorded(args.show_secrets),
        keep_color: false,
    });
    for read in events {
        ctx.printer
            .line(lines.line(&read.event, read.timestamp).trim_end());
    }
}

fn show(
    args: &ReplayArgs,
    action: Option<Action>,
    events: &[ReadEvent],
    ctx: &Context,
) -> Result<(), Error> {
    let options = options(args, action, events, ctx);
    let period = duration(&args.period)?;
    std::thread::sleep(duration(&args.delay)?);
    let mut display = Display::new(options.clone());
    let mut explanations = Explanations::new(&options);
    if action.is_none() {
        // No event contains the title of the operation.
        ctx.printer.data(&display.start());
    }
    let began = events.first().map_or(0, |read| read.timestamp);
    let mut now = Duration::ZERO;
    for read in events {
        let at = Duration::from_secs(u64::try_from(read.timestamp - began).unwrap_or(0));
        if args.wait {
            std::thread::sleep(at.saturating_sub(now));
        }
        now = at.max(now);
        std::thread::sleep(period);
        explanations.handle(&read.event);
        let output = display.handle(&read.event, now);
        if matches!(read.event, Event::Cancel) {
            frame(&display, now, ctx);
        }
        ctx.printer.data(&output.stdout);
        ctx.printer.stderr(&output.stderr);
    }
    let output = display.finish(now);
    if !events
        .iter()
        .any(|read| matches!(read.event, Event::Cancel))
    {
        frame(&display, now, ctx);
    }
    ctx.printer.data(&output.stdout);
    ctx.printer.stderr(&output.stderr);
    if args.explain {
        ctx.printer.data(&explanations.destructive(&options));
    }
    Ok(())
}

fn frame(display: &Display, now: Duration, ctx: &Context) {
    let size = terminal_size();
    for line in display.last_frame(size.width, size.height, now) {
        ctx.printer.line(&line);
    }
}

/// Operation named by `kind`.
fn action_of(kind: &str) -> Result<Action, Error> {
    match kind {
        "update" | "up" | "preview" => Ok(Action::Update),
        "refresh" => Ok(Action::Refresh),
        "destroy" => Ok(Action::Destroy),
        "import" | "resource-import" => Ok(Action::Import),
        other => Err(Error::user(format!(
            "unrecognized update kind '{other}'; it can be update, refresh, destroy or import"
        ))),
    }
}

/// Parses a duration such as `1.5s` or `200ms`.
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

/// Kind of the operation, derived from its steps.
fn found_out(events: &[ReadEvent]) -> Action {
    let all = |op: StepOp| {
        let mut ops = events.iter().filter_map(|read| match &read.event {
            Event::ResourcePre(step) if !step.metadata.urn.is_root_stack() => {
                Some(step.metadata.op)
            }
            _ => None,
        });
        let mut any = false;
        ops.all(|it| {
            any = true;
            it == op
        }) && any
    };
    if all(StepOp::Refresh) {
        Action::Refresh
    } else if all(StepOp::Delete) {
        Action::Destroy
    } else if all(StepOp::Import) {
        Action::Import
    } else {
        Action::Update
    }
}

fn options(
    args: &ReplayArgs,
    action: Option<Action>,
    events: &[ReadEvent],
    ctx: &Context,
) -> Options {
    let steps = || {
        events.iter().filter_map(|read| match &read.event {
            Event::ResourcePre(step) | Event::ResourceOutputs(step) => Some(step),
            _ => None,
        })
    };
    let first = steps().next().map(|step| &step.metadata.urn);
    // With an explicit kind, only `--preview` decides.
    let is_found_out = action.is_none();
    let is_preview = args.preview
        || is_found_out && steps().any(|step| step.planning)
        || is_found_out
            && events
                .iter()
                .any(|read| matches!(&read.event, Event::Summary(summary) if summary.is_preview));
    let action = action.unwrap_or_else(|| found_out(events));
    let (stack, project) = first.map_or(("", ""), |urn| (urn.stack(), urn.project()));
    Options {
        view: match (args.diff, args.tree) {
            (true, _) => View::Diff,
            (false, true) => View::Tree,
            (false, false) => View::Progress,
        },
        program: ctx.printer.program().into(),
        color: ctx.printer.color(),
        show_config: args.show_config,
        show_sames: args.show_sames,
        show_reads: args.show_reads,
        show_secrets: args.show_secrets,
        whole_asset_texts: true,
        show_replacement_steps: args.show_replacement_steps,
        show_policy_remediations: args.show_policy_remediations,
        suppress_outputs: args.suppress_outputs,
        suppress_progress: args.suppress_progress,
        show_urns: args.urns,
        full_output: args.show_full_output,
        debug: args.debug,
        emoji: ctx.globals.emoji,
        explain: args.explain,
        ..Options::new(action, is_preview, stack, project)
    }
}
