//! Programs in Java and other languages of the Java virtual machine (`languages.md` 7).
//!
//! A build tool compiles and runs them. An [`Executor`](executor::Executor) is such a tool, recognized by its files.

mod debugging;
mod dependencies;
mod executor;
mod link;
mod packages;
mod pom;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use plumb_plugin::language::{
    AboutLanguage, InstallRequest, LinkRequest, PackRequest, PackageDependency, ProgramDependency,
    ProgramInfo, RunRequest,
};
use plumb_plugin::{OutputLevel, OutputSink};

use crate::LanguageOptions;
use crate::compiled::{CompiledError, Compiler, Executable, Purpose};
use crate::debugging::Waiting;
use crate::tool::{Tool, find_executable};
use executor::Executor;

/// The tool chains of Java.
#[derive(Default)]
pub(crate) struct Java;

#[async_trait]
impl Compiler for Java {
    const NAME: &'static str = "java";

    async fn required_packages(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<Vec<PackageDependency>, CompiledError> {
        let executor = Executor::find(info, options)?;
        let tool = executor.packages(options)?;
        packages::read(&tool.capture().await?, &tool.display())
    }

    async fn executable(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        purpose: Purpose,
    ) -> Result<Executable, CompiledError> {
        let executor = Executor::find(info, options)?;
        executor.executable(options, purpose)
    }

    async fn debugged(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        purpose: Purpose,
    ) -> Result<(Executable, Waiting), CompiledError> {
        Executor::find(info, options)?.debugged(options, purpose)
    }

    fn variables(&self, request: &RunRequest) -> Vec<(&'static str, String)> {
        let directory = request.working_directory.to_string_lossy();
        vec![("PULUMI_PWD", directory.into_owned())]
    }

    async fn install(
        &self,
        options: &LanguageOptions,
        request: &InstallRequest,
        output: &OutputSink,
    ) -> Result<(), CompiledError> {
        match Executor::find(&request.info, options)?.build(options)? {
            Some(tool) => Ok(tool.run(output, OutputLevel::Info).await?),
            None => Ok(()),
        }
    }

    async fn about(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<AboutLanguage, CompiledError> {
        let tool = java(&["--version"], options, &info.program_directory)?;
        let said = tool.capture().await?;
        Ok(AboutLanguage {
            executable: tool.program.to_string_lossy().into_owned(),
            version: said.lines().next().unwrap_or_default().trim().to_owned(),
            ..AboutLanguage::default()
        })
    }

    async fn dependencies(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, CompiledError> {
        let executor = Executor::find(info, options)?;
        let mut found =
            dependencies::list(&executor, options, &info.program_directory, transitive).await?;
        found.sort();
        found.dedup();
        Ok(found)
    }

    async fn pack(
        &self,
        options: &LanguageOptions,
        request: &PackRequest,
    ) -> Result<PathBuf, CompiledError> {
        let info = ProgramInfo {
            root_directory: request.package_directory.clone(),
            program_directory: request.package_directory.clone(),
            entry_point: ".".to_owned(),
            options: serde_json::Map::new(),
        };
        let repository = &request.destination_directory;
        let tool = Executor::find(&info, options)?.publish(options, repository)?;
        tool.run(&options.output, OutputLevel::Debug).await?;
        let artifact = packages::artifact(repository).ok_or(CompiledError::NoSources {
            wanted: "a published library",
            directory: repository.clone(),
        })?;
        Ok(artifact.into())
    }

    async fn link(
        &self,
        options: &LanguageOptions,
        request: &LinkRequest,
    ) -> Result<String, CompiledError> {
        link::link(options, request)
    }
}

/// The `java` command with `args`, run in `directory`.
fn java(args: &[&str], options: &LanguageOptions, directory: &Path) -> Result<Tool, CompiledError> {
    let program =
        find_executable("java", &options.environment, directory).ok_or(CompiledError::NoTool {
            tool: "java",
            advice: "install a Java development kit, version 11 or newer, for example from https://adoptium.net",
        })?;
    Ok(Tool {
        program,
        args: args.iter().map(Into::into).collect(),
        environment: options.environment.clone(),
        working_directory: directory.to_owned(),
    })
}
