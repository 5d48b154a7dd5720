//! Programs in Python (`languages.md` 4).

mod dependencies;
mod error;
mod executor;
mod install;
mod packages;
mod plugin;
mod run;
mod site;
mod tool;
mod toolchain;
mod version;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use plumb_plugin::language::{
    AboutLanguage, InstallRequest, OptionPrompt, PluginLaunch, ProgramDependency, ProgramInfo,
    RequiredPackages, RunOutcome, RunPluginRequest, RunRequest,
};
use plumb_plugin::process::Environment;
use plumb_plugin::{LanguageError, LanguageRuntime, OutputSink};
use tokio_util::sync::CancellationToken;

pub use error::PythonError;
pub use plugin::dynamic_provider;

/// What the Python host needs to know of its surroundings.
#[derive(Clone)]
pub struct PythonOptions {
    /// The whole environment for interpreters and tools.
    pub environment: Environment,
    /// `host:port` of the engine service.
    pub engine_address: String,
    /// Whether anybody hears what programs say for developers.
    pub debug_messages: bool,
    /// A folder of our own that outlives the run; the executor script is written there.
    pub cache_directory: PathBuf,
    /// Version to report.
    pub version: semver::Version,
    /// Takes what programs print.
    pub output: OutputSink,
}

/// The Python host.
pub struct PythonHost {
    options: Arc<PythonOptions>,
    /// Fires when running programs are to end; replaced then.
    cancel: Mutex<CancellationToken>,
}

impl PythonHost {
    /// A host; nothing is started or read yet.
    pub fn new(options: PythonOptions) -> Self {
        PythonHost {
            options: Arc::new(options),
            cancel: Mutex::default(),
        }
    }

    fn current_cancel(&self) -> CancellationToken {
        self.cancel
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn cancel_programs(&self) {
        let mut current = self.cancel.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *current).cancel();
    }
}

#[async_trait]
impl LanguageRuntime for PythonHost {
    fn name(&self) -> &'static str {
        "python"
    }

    async fn version(&self) -> Result<Option<semver::Version>, LanguageError> {
        Ok(Some(self.options.version.clone()))
    }

    async fn required_packages(
        &self,
        info: &ProgramInfo,
    ) -> Result<RequiredPackages, LanguageError> {
        Ok(packages::required(&self.options, info).await?)
    }

    async fn run(
        &self,
        request: RunRequest,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, LanguageError> {
        let either = self.current_cancel().child_token();
        let stop = either.clone();
        let forward = async move {
            cancel.cancelled().await;
            stop.cancel();
            std::future::pending::<RunOutcome>().await
        };
        tokio::select! {
            outcome = run::run(&self.options, request, either) => Ok(outcome?),
            outcome = forward => Ok(outcome),
        }
    }

    async fn install_dependencies(
        &self,
        request: InstallRequest,
        output: OutputSink,
    ) -> Result<(), LanguageError> {
        Ok(install::install(&self.options, &request, output).await?)
    }

    async fn about(&self, info: &ProgramInfo) -> Result<AboutLanguage, LanguageError> {
        Ok(dependencies::about(&self.options, info).await?)
    }

    async fn program_dependencies(
        &self,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, LanguageError> {
        Ok(dependencies::list(&self.options, info, transitive).await?)
    }

    async fn option_prompts(&self, info: &ProgramInfo) -> Result<Vec<OptionPrompt>, LanguageError> {
        Ok(toolchain::option_prompts(&self.options.environment, info))
    }

    async fn template(&self, info: &ProgramInfo, project: &str) -> Result<(), LanguageError> {
        Ok(install::template(info, project)?)
    }

    async fn run_plugin(&self, request: RunPluginRequest) -> Result<PluginLaunch, LanguageError> {
        Ok(plugin::launch(&self.options, request).await?)
    }

    async fn cancel(&self) {
        self.cancel_programs();
    }

    async fn shutdown(&self) {
        self.cancel_programs();
    }
}
