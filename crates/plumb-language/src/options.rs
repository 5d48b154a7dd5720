//! Surroundings of a language host.

use std::path::PathBuf;

use plumb_plugin::OutputSink;
use plumb_plugin::process::Environment;

/// Surroundings of a language host.
#[derive(Clone)]
pub struct LanguageOptions {
    /// Complete environment for interpreters, compilers and tools.
    pub environment: Environment,
    /// `host:port` of the engine service.
    pub engine_address: String,
    /// Whether debug messages of programs are shown or logged.
    pub debug_messages: bool,
    /// Plumb's cache folder, which outlives the run.
    pub cache_directory: PathBuf,
    /// Version of Plumb to report.
    pub version: semver::Version,
    /// Sink for the output of programs.
    pub output: OutputSink,
}
