//! Lines that plugins and programs write to their standard streams.

use std::sync::Arc;

/// Stream that a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Importance of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputLevel {
    /// Debug output: the output of resource plugins.
    Debug,
    /// Output for the user: that of programs and language hosts.
    Info,
    /// A warning.
    Warning,
    /// An error of a plugin.
    Error,
}

/// One line of output, without its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputLine {
    /// Writer of the line: the file name of the plugin, or the program.
    pub source: Arc<str>,
    /// Stream that the line was written to.
    pub stream: OutputStream,
    /// Importance of the line.
    pub level: OutputLevel,
    /// The text.
    pub text: String,
}

/// Receiver of lines. Called from the tasks that read the streams, so it must not block for long.
pub type OutputSink = Arc<dyn Fn(OutputLine) + Send + Sync>;
