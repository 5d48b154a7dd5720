//! Programs in Go (`languages.md` 5).

mod binary;
mod build;
mod debugging;
mod dependencies;
mod link;
mod module;
mod packages;
mod remembered;
mod settings;

use std::path::PathBuf;

use async_trait::async_trait;
use plumb_plugin::language::{
    AboutLanguage, InstallRequest, LinkRequest, PackRequest, PackageDependency, ProgramDependency,
    ProgramInfo,
};
use plumb_plugin::{OutputLevel, OutputSink};

use crate::LanguageOptions;
use crate::compiled::{CompiledError, Compiler, Executable, Purpose};
use crate::debugging::Waiting;
use settings::Form;

/// The tool chain of Go.
#[derive(Default)]
pub(crate) struct Go;

#[async_trait]
impl Compiler for Go {
    const NAME: &'static str = "go";

    async fn required_packages(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<Vec<PackageDependency>, CompiledError> {
        packages::required(options, info).await
    }

    async fn executable(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        _: Purpose,
    ) -> Result<Executable, CompiledError> {
        build::executable(options, info, Form::Small).await
    }

    async fn debugged(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        _: Purpose,
    ) -> Result<(Executable, Waiting), CompiledError> {
        let debugger = debugging::find(options, info)?;
        let executable = build::executable(options, info, Form::Debugged).await?;
        debugging::wait(options, debugger, executable)
    }

    async fn install(
        &self,
        options: &LanguageOptions,
        request: &InstallRequest,
        output: &OutputSink,
    ) -> Result<(), CompiledError> {
        let directory = &request.info.program_directory;
        let args = ["mod", "tidy", "-compat=1.18"];
        let tidy = settings::go(&args, &options.environment, directory)?;
        Ok(tidy.run(output, OutputLevel::Info).await?)
    }

    async fn about(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<AboutLanguage, CompiledError> {
        dependencies::about(options, info).await
    }

    async fn dependencies(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, CompiledError> {
        dependencies::list(options, info, transitive).await
    }

    async fn pack(
        &self,
        options: &LanguageOptions,
        request: &PackRequest,
    ) -> Result<PathBuf, CompiledError> {
        link::pack(options, request).await
    }

    async fn link(
        &self,
        options: &LanguageOptions,
        request: &LinkRequest,
    ) -> Result<String, CompiledError> {
        link::link(options, request).await
    }
}
