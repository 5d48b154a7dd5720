//! What built-in providers get from outside.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use plumb_resource::Urn;

use crate::StackReader;

/// What a built-in provider needs from whoever starts it.
#[derive(Clone)]
pub struct BuiltinContext {
    /// Where programs run, absolute; relative paths in inputs start here.
    pub working_dir: PathBuf,
    /// Environment of the processes that `command` starts; `None` hands down that of this process.
    pub environment: Option<Arc<[(OsString, OsString)]>>,
    /// Where messages for the user go.
    pub log: Arc<dyn LogSink>,
    /// How `pulumi` reads other stacks.
    pub stacks: Option<Arc<dyn StackReader>>,
}

impl fmt::Debug for BuiltinContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltinContext")
            .field("working_dir", &self.working_dir)
            .finish_non_exhaustive()
    }
}

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSeverity {
    /// For information.
    Info,
    /// Something to look at.
    Warning,
}

/// A message for the user.
#[derive(Clone, Copy, Debug)]
pub struct LogRecord<'a> {
    /// How serious it is.
    pub severity: LogSeverity,
    /// Resource that it is about.
    pub urn: Option<&'a Urn>,
    /// One line, without the line end.
    pub message: &'a str,
    /// Whether it only matters while the operation runs.
    pub ephemeral: bool,
}

/// Takes messages for the user. Must not block.
pub trait LogSink: Send + Sync {
    /// Takes one message.
    fn log(&self, record: LogRecord<'_>);
}
