//! Programs in Python (`languages.md` 4).

mod debugging;
mod dependencies;
mod error;
mod executor;
mod install;
mod link;
mod packages;
mod plugin;
mod project_file;
mod run;
mod site;
mod toolchain;
mod version;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use plumb_plugin::language::{
    AboutLanguage, InstallRequest, LinkRequest, OptionPrompt, PackRequest, PluginLaunch,
    ProgramDependency, ProgramInfo, RequiredPackages, RunOutcome, RunPluginRequest, RunRequest,
};
use plumb_plugin::{LanguageError, LanguageRuntime, OutputSink};
use tokio_util::sync::CancellationToken;

use crate::LanguageOptions;
use crate::debugging::Announcements;
use crate::stopping::Stopping;

pub use error::PythonError;
pub use plugin::dynamic_provider;

/// Host of Python programs.
pub struct PythonHost {
    options: Arc<LanguageOptions>,
    running: Stopping,
    announcements: Announcements,
}

impl PythonHost {
    /// Creates a host; does not start or read anything yet.
    pub fn new(options: LanguageOptions) -> Self {
        PythonHost {
            options: Arc::new(options),
            running: Stopping::default(),
            announcements: Announcements::default(),
        }
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
        let program = |cancel| run::run(&self.options, request, cancel);
        Ok(self.running.run(cancel, program).await?)
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
        Ok(plugin::launch(&self.options, &self.announcements, request).await?)
    }

    async fn pack(&self, request: PackRequest) -> Result<PathBuf, LanguageError> {
        Ok(link::pack(&self.options, &request).await?)
    }

    async fn link(&self, request: LinkRequest) -> Result<String, LanguageError> {
        Ok(link::link(&self.options, &request).await?)
    }

    async fn cancel(&self) {
        self.running.stop_all();
    }

    async fn shutdown(&self) {
        self.running.stop_all();
    }
}
