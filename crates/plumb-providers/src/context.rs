//! Environment of built-in providers.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use plumb_resource::Urn;

use crate::StackReader;

/// Environment of a built-in provider.
#[derive(Clone)]
pub struct BuiltinContext {
    /// Absolute working directory of programs; base of relative paths in inputs.
    pub working_dir: PathBuf,
    /// Environment of the processes that `command` starts; `None` inherits that of this process.
    pub environment: Option<Arc<[(OsString, OsString)]>>,
    /// Sink for messages to the user.
    pub log: Arc<dyn LogSink>,
    /// Reader of other stacks, for `pulumi`.
    pub stacks: Option<Arc<dyn StackReader>>,
}

impl fmt::Debug for BuiltinContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltinContext")
            .field("working_dir", &self.working_dir)
            .finish_non_exhaustive()
    }
}

/// Severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSeverity {
    /// Information.
    Info,
    /// Warning.
    Warning,
}

/// A message for the user.
#[derive(Clone, Copy, Debug)]
pub struct LogRecord<'a> {
    /// Its severity.
    pub severity: LogSeverity,
    /// Resource to which it is attached.
    pub urn: Option<&'a Urn>,
    /// One line, without the line end.
    pub message: &'a str,
    /// Whether it is relevant only while the operation runs.
    pub ephemeral: bool,
}

/// Sink for messages to the user. Must not block.
pub trait LogSink: Send + Sync {
    /// Receives a message.
    fn log(&self, record: LogRecord<'_>);
}
