//! Programs in Rust.
//!
//! A program is a crate with a binary. Cargo brings it up to date, and the host runs what Cargo made, not Cargo: interrupts
//! and exit codes are the program's own. It learns everything from its environment, as programs in Go do.

mod build;
mod debugging;
mod link;
mod metadata;
mod packages;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use plumb_plugin::language::{
    AboutLanguage, InstallRequest, LinkRequest, PackRequest, PackageDependency, ProgramDependency,
    ProgramInfo,
};
use plumb_plugin::{OutputLevel, OutputSink};

use crate::LanguageOptions;
use crate::compiled::{CompiledError, Compiler, Executable, Purpose, prebuilt, text_option};
use crate::debugging::Waiting;
use crate::tool::{Tool, find_executable};

/// The tool chain of Rust.
#[derive(Default)]
pub(crate) struct Rust;

#[async_trait]
impl Compiler for Rust {
    const NAME: &'static str = "rust";

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
        purpose: Purpose,
    ) -> Result<Executable, CompiledError> {
        let directory = &info.program_directory;
        let path = match text_option(info, "binary")? {
            Some(name) => prebuilt(name, info, options)?,
            None => build::build(options, info).await?,
        };
        Ok(Executable {
            directory: (purpose == Purpose::Program).then(|| directory.clone()),
            ..Executable::at(path)
        })
    }

    async fn debugged(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        purpose: Purpose,
    ) -> Result<(Executable, Waiting), CompiledError> {
        let server = debugging::find(options, info, purpose)?;
        let executable = self.executable(options, info, purpose).await?;
        debugging::wait(options, server, executable)
    }

    async fn install(
        &self,
        options: &LanguageOptions,
        request: &InstallRequest,
        output: &OutputSink,
    ) -> Result<(), CompiledError> {
        let info = &request.info;
        let mut tool = cargo(&["build"], options, info)?;
        tool.args.extend(flags(info)?.iter().map(Into::into));
        Ok(tool.run(output, OutputLevel::Info).await?)
    }

    async fn about(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<AboutLanguage, CompiledError> {
        let tool = cargo(&["--version"], options, info)?;
        Ok(AboutLanguage {
            version: tool.capture().await?.trim().to_owned(),
            executable: tool.program.to_string_lossy().into_owned(),
            ..AboutLanguage::default()
        })
    }

    async fn dependencies(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, CompiledError> {
        packages::dependencies(options, info, transitive).await
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

/// Cargo with `args`, run in the folder of the program.
fn cargo(
    args: &[&str],
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<Tool, CompiledError> {
    cargo_in(args, options, &info.program_directory)
}

/// Cargo with `args`, run in a folder.
fn cargo_in(
    args: &[&str],
    options: &LanguageOptions,
    directory: &Path,
) -> Result<Tool, CompiledError> {
    let program = find_executable("cargo", &options.environment, directory).ok_or(
        CompiledError::NoTool {
            tool: "cargo",
            advice: "install Rust from https://rustup.rs, or name a program that is built already with the runtime option \
                     `binary` in Pulumi.yaml",
        },
    )?;
    Ok(Tool {
        program,
        args: args.iter().map(Into::into).collect(),
        environment: options.environment.clone(),
        working_directory: directory.to_owned(),
    })
}

/// Flags for Cargo that the project file asks for.
fn flags(info: &ProgramInfo) -> Result<Vec<String>, CompiledError> {
    let mut flags = Vec::new();
    for option in ["profile", "features", "bin"] {
        if let Some(value) = text_option(info, option)? {
            flags.extend([format!("--{option}"), value.to_owned()]);
        }
    }
    Ok(flags)
}
