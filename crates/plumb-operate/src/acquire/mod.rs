//! Acquisition of plugins for commands: settings from the environment, and messages to the user.

mod listener;
mod meter;

use std::path::Path;
use std::sync::Arc;

use plumb_acquire::{Acquirer, AcquirerOptions, LockFile, LockMode, Overrides, Tokens};
use plumb_automation::acquiring::{PluginSource, prepare};
use plumb_language::LanguageOptions;
use plumb_plugin::discovery::Cache;
use plumb_plugin::{Acquire, OutputLevel, OutputSink, OutputStream};

use crate::{Environment, Error, Printer, VERSION};

pub use listener::DownloadListener;

/// Default number of concurrent downloads.
const PARALLEL: usize = 4;

/// Options for the acquisition of plugins.
pub struct Demands<'a> {
    /// Folder of the project, whose lock file applies.
    pub project: Option<&'a Path>,
    /// Permitted changes of the lock file.
    pub lock_mode: LockMode,
    /// Whether to download plugins that are already installed.
    pub reinstall: bool,
    /// Number of concurrent downloads.
    pub parallel: usize,
    /// Receiver of download progress while a run is displayed.
    pub listener: Arc<DownloadListener>,
}

impl Default for Demands<'_> {
    fn default() -> Self {
        Demands {
            project: None,
            lock_mode: LockMode::Update,
            reinstall: false,
            parallel: PARALLEL,
            listener: Arc::default(),
        }
    }
}

/// Source that downloads missing plugins automatically, unless the user has disabled that, and verifies others
/// against the lock file.
pub fn unasked(
    environment: &Environment,
    printer: &Arc<Printer>,
    demands: &Demands<'_>,
) -> Result<Arc<dyn Acquire>, Error> {
    let is_off = environment.is_on("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION");
    let source = source(environment, printer, demands)?.downloads(!is_off);
    Ok(Arc::new(source))
}

/// Source of plugins according to the environment. Reads the settings; does not make requests yet.
pub fn source(
    environment: &Environment,
    printer: &Arc<Printer>,
    demands: &Demands<'_>,
) -> Result<PluginSource, Error> {
    let overrides = environment.get("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES");
    let token = |name| environment.non_empty(name).map(ToOwned::to_owned);
    let acquirer = Acquirer::new(AcquirerOptions {
        cache: Cache::new(environment.pulumi_home.join("plugins")),
        overrides: Overrides::parse(overrides.unwrap_or_default())?,
        tokens: Tokens {
            github: token("GITHUB_TOKEN"),
            gitlab: token("GITLAB_TOKEN"),
        },
        environment: environment.variables().clone(),
        program_version: VERSION.to_owned(),
        lock_file: demands
            .project
            .map(|root| LockFile::in_folder(root, demands.lock_mode)),
        prepare: Some(prepare(language_options(
            environment,
            progress_to(printer.clone()),
        ))),
        watcher: meter::watcher(printer.clone(), demands.listener.clone()),
    });
    let source = PluginSource::new(acquirer).parallel(demands.parallel);
    Ok(source.reinstall(demands.reinstall))
}

/// Options for a language host outside of an engine run.
pub fn language_options(environment: &Environment, output: OutputSink) -> LanguageOptions {
    LanguageOptions {
        environment: environment.variables().clone(),
        engine_address: String::new(),
        debug_messages: false,
        cache_directory: environment.pulumi_home.join("plumb"),
        version: crate::semantic_version(),
        output,
    }
}

/// Sink for the output of auxiliary tools: informational messages, because standard output is for the command's
/// result.
fn progress_to(printer: Arc<Printer>) -> OutputSink {
    Arc::new(move |line| {
        if line.level != OutputLevel::Debug {
            printer.info(&line.text);
        }
    })
}

/// Sink that writes the output of tools and programs to the matching stream, except for debug messages.
pub fn output_to(printer: Arc<Printer>) -> OutputSink {
    Arc::new(move |line| match (line.level, line.stream) {
        (OutputLevel::Debug, _) => {}
        (_, OutputStream::Stdout) => printer.line(&line.text),
        (_, OutputStream::Stderr) => printer.info(&line.text),
    })
}
