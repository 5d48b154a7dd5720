//! Host of YAML programs for engines in other processes, and of component plugins (`languages.md` 8).
//!
//! Plumb's own engine evaluates YAML in its process and does not need this host. The host uses the same evaluator,
//! with the resource monitor and the schema loader at addresses that the engine provides.

mod components;
mod decode;
mod encode;
mod monitor;
mod schemas;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use plumb_engine::program::{Program, ProgramContext, ProgramResult};
use plumb_plugin::language::{
    AboutLanguage, InstallRequest, LinkRequest, OptionPrompt, PackRequest, PackageDependency,
    PluginLaunch, ProgramDependency, ProgramInfo, RequiredPackages, RunOutcome, RunPluginRequest,
    RunRequest,
};
use plumb_plugin::{LanguageError, LanguageRuntime, OutputSink, PluginKind};
use plumb_yaml::component::{ComponentPackage, ComponentsError};
use plumb_yaml::{Compiler, CompilerError, RequiredPackage, YamlProgram};
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};

use crate::LanguageOptions;
use crate::compiled::CompiledError;
use crate::stopping::Stopping;
use components::Components;
use monitor::RemoteMonitor;
pub(crate) use schemas::RemoteSchemas;

/// Timeout for connecting to an engine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Error of a YAML program.
#[derive(Debug, thiserror::Error)]
pub enum YamlError {
    /// The engine cannot be reached.
    #[error("could not connect to the engine at {address}")]
    Connect {
        /// Its address.
        address: String,
        /// Cause.
        #[source]
        source: tonic::transport::Error,
    },
    /// The `compiler` option is invalid.
    #[error(transparent)]
    Compiler(#[from] CompilerError),
    /// The components of a plugin cannot be read.
    #[error(transparent)]
    Components(#[from] ComponentsError),
    /// A plugin cannot be served.
    #[error("could not serve the components")]
    Serve(#[source] std::io::Error),
}

impl From<YamlError> for LanguageError {
    fn from(error: YamlError) -> Self {
        LanguageError::Native(Box::new(error))
    }
}

/// Host of YAML programs.
pub(crate) struct YamlHost {
    options: LanguageOptions,
    running: Stopping,
}

impl YamlHost {
    /// Creates a host; does not read anything yet.
    pub(crate) fn new(options: LanguageOptions) -> Self {
        YamlHost {
            options,
            running: Stopping::default(),
        }
    }

    async fn run_program(
        &self,
        request: RunRequest,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, YamlError> {
        let schemas = match request.loader_target.as_str() {
            "" => RemoteSchemas::none(),
            address => RemoteSchemas::new(connect(address).await?),
        };
        let monitor = RemoteMonitor::connect(
            connect(&request.monitor_address).await?,
            connect(&self.options.engine_address).await?,
            &request.info.root_directory,
        )
        .await;
        let compiler = Compiler::of_options(&request.info.options, &self.options.environment)?;
        let program = YamlProgram::new(Arc::new(schemas))
            .with_compiler(compiler)
            .with_engine_version(self.options.version.clone());
        let info = ProgramContext {
            resource_references: monitor.has_resource_references(),
            ..program_info(request, &self.options)
        };
        let monitor = Arc::new(monitor);
        let result = program.run(info, monitor.clone(), cancel).await;
        // Messages must reach the engine before the outcome.
        monitor.flush().await;
        Ok(match result {
            ProgramResult::Finished => RunOutcome::Succeeded,
            ProgramResult::Bailed => RunOutcome::Bailed,
            ProgramResult::Failed { message } => RunOutcome::Failed(message),
        })
    }
}

pub(crate) async fn connect(address: &str) -> Result<Channel, YamlError> {
    let failed = |source| YamlError::Connect {
        address: address.to_owned(),
        source,
    };
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .map_err(failed)?
        .connect_timeout(PATIENCE);
    endpoint.connect().await.map_err(failed)
}

fn program_info(request: RunRequest, options: &LanguageOptions) -> ProgramContext {
    ProgramContext {
        project: request.project,
        stack: request.stack,
        organization: request.organization,
        config: Arc::new(request.config),
        config_secret_keys: Arc::new(request.config_secret_keys),
        dry_run: request.dry_run,
        parallel: request.parallel,
        resource_references: true,
        root_directory: request.info.root_directory,
        program_directory: request.info.program_directory,
        monitor_address: request.monitor_address,
        engine_address: options.engine_address.clone(),
    }
}

fn dependency(package: RequiredPackage) -> PackageDependency {
    PackageDependency {
        name: package.name,
        kind: PluginKind::Resource,
        version: plumb_plugin::discovery::parse_tolerant(&package.version),
        server: Some(package.download_url).filter(|url| !url.is_empty()),
        checksums: std::collections::BTreeMap::new(),
        parameterization: package.parameterization,
        extension: None,
    }
}

#[async_trait]
impl LanguageRuntime for YamlHost {
    fn name(&self) -> &'static str {
        "yaml"
    }

    async fn version(&self) -> Result<Option<semver::Version>, LanguageError> {
        Ok(Some(self.options.version.clone()))
    }

    async fn required_packages(
        &self,
        info: &ProgramInfo,
    ) -> Result<RequiredPackages, LanguageError> {
        let program = YamlProgram::new(Arc::new(RemoteSchemas::none()));
        let required = program
            .required_packages(&info.program_directory)
            .map_err(|error| LanguageError::Native(Box::new(error)))?;
        Ok(RequiredPackages {
            packages: required.into_iter().map(dependency).collect(),
            unresolved: Vec::new(),
        })
    }

    async fn run(
        &self,
        request: RunRequest,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, LanguageError> {
        let program = |cancel| self.run_program(request, cancel);
        Ok(self.running.run(cancel, program).await?)
    }

    async fn install_dependencies(
        &self,
        _: InstallRequest,
        _: OutputSink,
    ) -> Result<(), LanguageError> {
        Ok(())
    }

    async fn about(&self, _: &ProgramInfo) -> Result<AboutLanguage, LanguageError> {
        Ok(AboutLanguage::default())
    }

    /// The dependencies of YAML programs are their packages.
    async fn program_dependencies(
        &self,
        info: &ProgramInfo,
        _: bool,
    ) -> Result<Vec<ProgramDependency>, LanguageError> {
        let required = self.required_packages(info).await?.packages.into_iter();
        Ok(required.map(listed).collect())
    }

    async fn option_prompts(&self, _: &ProgramInfo) -> Result<Vec<OptionPrompt>, LanguageError> {
        Ok(Vec::new())
    }

    async fn template(&self, _: &ProgramInfo, _: &str) -> Result<(), LanguageError> {
        Ok(())
    }

    /// Serves a plugin in YAML in this process, while the returned stream is polled.
    async fn run_plugin(&self, request: RunPluginRequest) -> Result<PluginLaunch, LanguageError> {
        let directory = request.info.program_directory;
        let package = ComponentPackage::load(&directory).map_err(YamlError::from)?;
        let told = request.args.into_iter().next();
        let components = Components {
            package,
            directory,
            engine_address: told.unwrap_or_else(|| self.options.engine_address.clone()),
            loader_target: request.loader_target,
            version: self.options.version.clone(),
        };
        let served = components::serve(components).await;
        Ok(PluginLaunch::Running(served.map_err(YamlError::Serve)?))
    }

    /// Copies the declaration of a package: the only file in the folder.
    async fn pack(&self, request: PackRequest) -> Result<std::path::PathBuf, LanguageError> {
        let source = declaration_in(&request.package_directory)
            .map_err(CompiledError::file("read", &request.package_directory))?;
        let name = source.file_name().unwrap_or_default();
        let target = request.destination_directory.join(name);
        std::fs::create_dir_all(&request.destination_directory)
            .and_then(|()| std::fs::copy(&source, &target))
            .map_err(CompiledError::file("copy", &source))?;
        Ok(target)
    }

    /// No changes are needed, because the project file lists the packages.
    async fn link(&self, _: LinkRequest) -> Result<String, LanguageError> {
        Ok(String::new())
    }

    async fn cancel(&self) {
        self.running.stop_all();
    }

    async fn shutdown(&self) {
        self.running.stop_all();
    }
}

/// The only file in `path`, or `path` itself if it is a file.
fn declaration_in(path: &std::path::Path) -> std::io::Result<std::path::PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let mut files = std::fs::read_dir(path)?;
    match (files.next().transpose()?, files.next()) {
        (Some(only), None) => Ok(only.path()),
        (None, _) => Err(std::io::Error::other("there is no file in the folder")),
        (Some(_), Some(_)) => Err(std::io::Error::other(
            "there is more than one file in the folder",
        )),
    }
}

/// Name and version of a package; those of the parameterization, if there is one.
fn listed(package: PackageDependency) -> ProgramDependency {
    if let Some(made) = package.parameterization.or(package.extension) {
        return ProgramDependency {
            name: made.name.to_string(),
            version: made.version.to_string(),
        };
    }
    ProgramDependency {
        name: package.name,
        version: package
            .version
            .map(|version| version.to_string())
            .unwrap_or_default(),
    }
}
