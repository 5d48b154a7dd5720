//! Choices that are the same for every command.

use std::collections::BTreeMap;
use std::time::Duration;

/// Choices of the user that every command knows (`cli.md` 1.2).
#[derive(Clone, Debug, Default)]
pub struct Globals {
    /// Folder to run in, instead of the one of the process.
    pub cwd: Option<String>,
    /// Whether the output has emoji.
    pub emoji: bool,
    /// Whether names of stacks are shown with their organization and project.
    pub fully_qualify_stack_names: bool,
    /// Whether nothing is asked.
    pub non_interactive: bool,
    /// Whether states are read that fail their integrity check.
    pub disable_integrity_checking: bool,
    /// Maximum time to wait for a locked stack.
    pub lock_timeout: Duration,
    /// Level of the log: from 0, which writes none, to 11.
    pub verbose: i32,
    /// Whether the log goes to stderr instead of to a file.
    pub logtostderr: bool,
    /// Whether plugins get the same log settings.
    pub logflow: bool,
    /// Path that a trace is written to, as `file:PATH`.
    pub tracing: Option<String>,
    /// Path or collector that a trace is written to.
    pub otel_traces: Option<String>,
    /// Prefix of the path that a trace is written to.
    pub profiling: Option<String>,
    /// The flags that the user set, on the command line or through `PULUMI_OPTION_*`: `true`, `false`, or `set`.
    pub user_flags: BTreeMap<String, String>,
    /// Names of the command and of those above it.
    pub command: Vec<String>,
}
