//! Programs in JavaScript and TypeScript, for Node.js and for Bun (`languages.md` 3).

mod builds;
mod debugging;
mod dependencies;
mod error;
mod install;
mod link;
mod lock_file;
mod manager;
mod modules;
mod pack;
mod packages;
mod plugin;
mod run;
mod settings;
mod workspace;

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
use settings::Engine;

pub use error::NodeError;
pub use plugin::dynamic_provider;

/// Runtime options of programs; Bun ignores some of them.
pub(crate) const OPTIONS: [&str; 5] = [
    "nodeargs",
    "packagemanager",
    "production",
    "tsconfig",
    "typescript",
];

/// Host of JavaScript and TypeScript programs.
pub struct NodeHost {
    engine: Engine,
    options: Arc<LanguageOptions>,
    running: Stopping,
    announcements: Announcements,
}

impl NodeHost {
    /// Host for programs that run on Node.js; does not start or read anything yet.
    pub fn for_node(options: LanguageOptions) -> Self {
        Self::new(Engine::Node, options)
    }

    /// Host for programs that run on Bun.
    pub fn for_bun(options: LanguageOptions) -> Self {
        Self::new(Engine::Bun, options)
    }

    fn new(engine: Engine, options: LanguageOptions) -> Self {
        NodeHost {
            engine,
            options: Arc::new(options),
            running: Stopping::default(),
            announcements: Announcements::default(),
        }
    }
}

#[async_trait]
impl LanguageRuntime for NodeHost {
    fn name(&self) -> &'static str {
        self.engine.runtime()
    }

    async fn version(&self) -> Result<Option<semver::Version>, LanguageError> {
        Ok(Some(self.options.version.clone()))
    }

    async fn required_packages(
        &self,
        info: &ProgramInfo,
    ) -> Result<RequiredPackages, LanguageError> {
        Ok(packages::required(&self.options, info).await)
    }

    async fn run(
        &self,
        request: RunRequest,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, LanguageError> {
        let program = |cancel| run::run(self.engine, &self.options, request, cancel);
        Ok(self.running.run(cancel, program).await?)
    }

    async fn install_dependencies(
        &self,
        request: InstallRequest,
        output: OutputSink,
    ) -> Result<(), LanguageError> {
        Ok(install::install(self.engine, &self.options, &request, output).await?)
    }

    async fn about(&self, info: &ProgramInfo) -> Result<AboutLanguage, LanguageError> {
        Ok(dependencies::about(self.engine, &self.options, info).await?)
    }

    async fn program_dependencies(
        &self,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, LanguageError> {
        Ok(dependencies::list(info, transitive)?)
    }

    async fn option_prompts(&self, info: &ProgramInfo) -> Result<Vec<OptionPrompt>, LanguageError> {
        Ok(install::option_prompts(self.engine, &self.options, info))
    }

    async fn template(&self, info: &ProgramInfo, _project: &str) -> Result<(), LanguageError> {
        Ok(install::template(self.engine, info)?)
    }

    async fn run_plugin(&self, request: RunPluginRequest) -> Result<PluginLaunch, LanguageError> {
        let launch = plugin::launch(self.engine, &self.options, &self.announcements, request);
        Ok(launch.await?)
    }

    async fn pack(&self, request: PackRequest) -> Result<PathBuf, LanguageError> {
        Ok(pack::pack(&self.options, &request).await?)
    }

    async fn link(&self, request: LinkRequest) -> Result<String, LanguageError> {
        Ok(link::link(self.engine, &self.options, &request).await?)
    }

    async fn cancel(&self) {
        self.running.stop_all();
    }

    async fn shutdown(&self) {
        self.running.stop_all();
    }
}
