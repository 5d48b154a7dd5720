//! What hosts need to know of their surroundings.

use std::path::PathBuf;

use plumb_plugin::OutputSink;
use plumb_plugin::process::Environment;

/// What a language host needs to know of its surroundings.
#[derive(Clone)]
pub struct LanguageOptions {
    /// The whole environment for interpreters, compilers and tools.
    pub environment: Environment,
    /// `host:port` of the engine service.
    pub engine_address: String,
    /// Whether anybody hears what programs say for developers.
    pub debug_messages: bool,
    /// A folder of our own that outlives the run.
    pub cache_directory: PathBuf,
    /// Version to report.
    pub version: semver::Version,
    /// Takes what programs print.
    pub output: OutputSink,
}
