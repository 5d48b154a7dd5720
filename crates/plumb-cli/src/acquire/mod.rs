//! Acquisition of plugins for commands: settings from the environment, and messages to the user.

mod listener;
mod meter;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use plumb_acquire::{
    Acquirer, AcquirerOptions, LockFile, LockMode, Overrides, Prepare, Tokens, Wanted,
};
use plumb_language::LanguageOptions;
use plumb_plugin::discovery::{Cache, FoundPlugin, PluginManifest, PluginSource as FoundIn};
use plumb_plugin::language::{InstallRequest, ProgramInfo};
use plumb_plugin::{Acquire, AcquireFailure, OutputLevel, OutputSink, OutputStream, PluginKind};
use plumb_resource::provider::PluginSpec;
use tokio::sync::Semaphore;

use crate::{Environment, Error, Printer, VERSION};

pub(crate) use listener::DownloadListener;

/// Default number of concurrent downloads.
const PARALLEL: usize = 4;

/// Gets plugins for a command.
pub(crate) struct PluginSource {
    acquirer: Acquirer,
    turns: Semaphore,
    reinstall: bool,
    downloads: bool,
}

/// Options for the acquisition of plugins.
pub(crate) struct Demands<'a> {
    /// Folder of the project, whose lock file applies.
    pub(crate) project: Option<&'a Path>,
    /// Permitted changes of the lock file.
    pub(crate) lock_mode: LockMode,
    /// Whether to download plugins that are already installed.
    pub(crate) reinstall: bool,
    /// Number of concurrent downloads.
    pub(crate) parallel: usize,
    /// Receiver of download progress while a run is displayed.
    pub(crate) listener: Arc<DownloadListener>,
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
pub(crate) fn unasked(
    environment: &Environment,
    printer: &Arc<Printer>,
    demands: &Demands<'_>,
) -> Result<Arc<dyn Acquire>, Error> {
    let is_off = environment.is_on("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION");
    let source = PluginSource {
        downloads: !is_off,
        ..PluginSource::new(environment, printer, demands)?
    };
    Ok(Arc::new(source))
}

impl PluginSource {
    /// Reads the settings; does not make requests yet.
    pub(crate) fn new(
        environment: &Environment,
        printer: &Arc<Printer>,
        demands: &Demands<'_>,
    ) -> Result<Self, Error> {
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
            prepare: Some(prepare(environment, printer)),
            watcher: meter::watcher(printer.clone(), demands.listener.clone()),
        });
        Ok(PluginSource {
            acquirer,
            turns: Semaphore::new(demands.parallel.max(1)),
            reinstall: demands.reinstall,
            downloads: true,
        })
    }

    /// Acquires a plugin; returns its version.
    pub(crate) async fn get(
        &self,
        kind: PluginKind,
        spec: &PluginSpec,
    ) -> Result<semver::Version, AcquireFailure> {
        let _turn = self.turns.acquire().await?;
        let checksums = spec.checksums.iter();
        let wanted = Wanted {
            kind,
            name: spec.name.to_string(),
            version: spec.version.clone(),
            url: spec.download_url.as_deref().map(ToOwned::to_owned),
            checksums: checksums
                .map(|(platform, sum)| (platform.to_string(), sum.to_string()))
                .collect(),
            reinstall: self.reinstall,
        };
        Ok(self.acquirer.acquire(&wanted).await?)
    }
}

#[async_trait]
impl Acquire for PluginSource {
    fn gets_plugins(&self) -> bool {
        self.downloads
    }

    fn takes_only_locked(&self) -> bool {
        self.acquirer.is_frozen()
    }

    fn locked_version(&self, kind: PluginKind, name: &str) -> Option<semver::Version> {
        self.acquirer.locked_version(kind, name).ok().flatten()
    }

    async fn verify(&self, plugin: &FoundPlugin) -> Result<(), AcquireFailure> {
        if self.acquirer.is_frozen() && plugin.source == FoundIn::Path {
            let path = plugin.executable.display();
            return Err(
                format!("{path} is on the PATH, and --locked takes nothing from there").into(),
            );
        }
        Ok(self.acquirer.verify(&plugin.executable).await?)
    }

    async fn locate(&self, address: &str) -> Result<PluginSpec, AcquireFailure> {
        let (repository, version) = self.acquirer.locate(address).await?;
        Ok(PluginSpec {
            version: Some(version),
            download_url: Some(repository.download_url().as_str().into()),
            ..PluginSpec::named(&repository.plugin_name())
        })
    }

    async fn acquire(&self, kind: PluginKind, spec: &PluginSpec) -> Result<(), AcquireFailure> {
        self.get(kind, spec).await.map(drop)
    }
}

/// Function that installs the dependencies of source plugins with the host of their language.
fn prepare(environment: &Environment, printer: &Arc<Printer>) -> Prepare {
    let (environment, printer) = (environment.clone(), printer.clone());
    Arc::new(move |folder: PathBuf| {
        let options = language_options(&environment, progress_to(printer.clone()));
        Box::pin(async move {
            let manifest = PluginManifest::read(&folder)?;
            let language = plumb_language::language(&manifest.runtime).ok_or_else(|| {
                format!(
                    "the plugin is written in {}, whose dependencies cannot be installed here",
                    manifest.runtime
                )
            })?;
            let output = options.output.clone();
            let request = InstallRequest {
                info: ProgramInfo {
                    root_directory: folder.clone(),
                    program_directory: folder,
                    entry_point: ".".to_owned(),
                    options: manifest.options,
                },
                is_terminal: false,
                use_language_version_tools: false,
                is_plugin: true,
            };
            let host = (language.host)(options);
            Ok(host.install_dependencies(request, output).await?)
        })
    })
}

/// Options for a language host outside of an engine run.
pub(crate) fn language_options(environment: &Environment, output: OutputSink) -> LanguageOptions {
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
pub(crate) fn output_to(printer: Arc<Printer>) -> OutputSink {
    Arc::new(move |line| match (line.level, line.stream) {
        (OutputLevel::Debug, _) => {}
        (_, OutputStream::Stdout) => printer.line(&line.text),
        (_, OutputStream::Stderr) => printer.info(&line.text),
    })
}
