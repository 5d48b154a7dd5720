//! What plugins and programs write to their standard streams, line by line.

use std::sync::Arc;

/// Which stream a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputLevel {
    /// Only for debugging: the chatter of resource plugins.
    Debug,
    /// For the user: what programs and language hosts print.
    Info,
    /// Something looks wrong, but the work goes on.
    Warning,
    /// Something is wrong with a plugin.
    Error,
}

/// One line of output, without its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputLine {
    /// Who wrote it: the file name of the plugin, or the program.
    pub source: Arc<str>,
    /// Where it was written.
    pub stream: OutputStream,
    /// How much it matters.
    pub level: OutputLevel,
    /// The text.
    pub text: String,
}

/// Takes lines of output. It is called from the tasks that read them and must not block for long.
pub type OutputSink = Arc<dyn Fn(OutputLine) + Send + Sync>;
