//! Flags that every command knows.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use plumb_operate::context::Globals;

/// Help heading of flags that subcommands inherit.
pub const PERSISTENT: &str = "Global Flags";

/// Flags that every command knows (`cli.md` 1.2).
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = PERSISTENT)]
pub struct GlobalArgs {
    /// Run as if it had been started in another directory
    #[arg(short = 'C', long)]
    pub cwd: Option<String>,
    /// Enable emojis in the output
    #[arg(short, long)]
    pub emoji: bool,
    /// Show fully-qualified stack names
    #[arg(short = 'Q', long)]
    pub fully_qualify_stack_names: bool,
    /// Colorize output. Choices are: always, never, raw, auto
    #[arg(long, default_value = "auto")]
    pub color: String,
    /// Disable interactive mode for all commands
    #[arg(long)]
    pub non_interactive: bool,
    /// Disable integrity checking of checkpoint files
    #[arg(long)]
    pub disable_integrity_checking: bool,
    /// Wait for a locked stack for this long, such as 30s or 10m, before giving up
    #[arg(long, default_value = "0s", value_parser = wait_of, hide_default_value = true)]
    pub lock_timeout: Duration,
    /// Enable verbose logging (e.g., v=3); anything >3 is very verbose
    #[arg(short, long, default_value_t = 0)]
    pub verbose: i32,
    /// Log to stderr instead of to files
    #[arg(long)]
    pub logtostderr: bool,
    /// Flow log settings to child processes (like plugins)
    #[arg(long)]
    pub logflow: bool,
    /// Write what took how long to a file: file:PATH
    #[arg(long)]
    pub tracing: Option<String>,
    /// Write what took how long to a file, file://PATH, or to a collector of OpenTelemetry: grpc://HOST:PORT, https://HOST
    #[arg(long)]
    pub otel_traces: Option<String>,
    /// Include the tracing header with the given contents
    #[arg(long, hide = true)]
    pub tracing_header: Option<String>,
    /// Write what took how long to PREFIX.PID.trace, as --tracing does
    #[arg(long, hide = true)]
    pub profiling: Option<String>,
    /// Rate of memory profiles; none are written
    #[arg(long, hide = true, default_value_t = 0)]
    pub memprofilerate: i32,
    /// The flags that the user set, on the command line or through `PULUMI_OPTION_*`: `true`, `false`, or `set`
    #[arg(skip)]
    pub user_flags: BTreeMap<String, String>,
    /// Names of the command and of those above it
    #[arg(skip)]
    pub command: Vec<String>,
}

impl From<GlobalArgs> for Globals {
    fn from(args: GlobalArgs) -> Self {
        Globals {
            cwd: args.cwd,
            emoji: args.emoji,
            fully_qualify_stack_names: args.fully_qualify_stack_names,
            non_interactive: args.non_interactive,
            disable_integrity_checking: args.disable_integrity_checking,
            lock_timeout: args.lock_timeout,
            verbose: args.verbose,
            logtostderr: args.logtostderr,
            logflow: args.logflow,
            tracing: args.tracing,
            otel_traces: args.otel_traces,
            profiling: args.profiling,
            user_flags: args.user_flags,
            command: args.command,
        }
    }
}

/// Reads a duration such as `30s`.
fn wait_of(text: &str) -> Result<Duration, String> {
    let seconds = plumb_eval::duration::seconds(text);
    let wait = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    wait.ok_or_else(|| "write it as 30s, 10m or 1h30m".to_owned())
}
