//! Programs in C#, F# and Visual Basic (`languages.md` 6).

mod packages;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use plumb_plugin::language::{
    AboutLanguage, InstallRequest, LinkRequest, PackRequest, PackageDependency, ProgramDependency,
    ProgramInfo, RunRequest,
};
use plumb_plugin::{OutputLevel, OutputSink};

use crate::compiled::{CompiledError, Compiler, Executable, Purpose, prebuilt, text_option};
use crate::tool::{Tool, find_executable};
use crate::{LanguageOptions, ToolError};

/// The tool chain of .NET.
#[derive(Default)]
pub(crate) struct Dotnet {
    /// Projects that were built to list their packages; the next build of each is skipped.
    built: Mutex<BTreeSet<PathBuf>>,
}

impl Dotnet {
    /// Builds a project, unless it was just built to list its packages.
    async fn build(
        &self,
        options: &LanguageOptions,
        project: &Path,
        directory: &Path,
    ) -> Result<(), CompiledError> {
        let was_built = self.built().remove(project);
        if was_built {
            return Ok(());
        }
        let mut tool = dotnet(&["build", "-nologo"], options, directory)?;
        tool.args.push(project.into());
        match tool.run(&options.output, OutputLevel::Debug).await {
            Err(ToolError::Failed { output, .. }) => Err(CompiledError::Compile {
                directory: directory.to_owned(),
                output,
            }),
            other => Ok(other?),
        }
    }

    fn built(&self) -> std::sync::MutexGuard<'_, BTreeSet<PathBuf>> {
        self.built.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Compiler for Dotnet {
    const NAME: &'static str = "dotnet";

    async fn required_packages(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<Vec<PackageDependency>, CompiledError> {
        if text_option(info, "binary")?.is_some() {
            return Ok(Vec::new());
        }
        let project = project_of(info);
        let directory = &info.program_directory;
        self.build(options, &project, directory).await?;
        self.built().insert(project.clone());
        let listed = packages::list(options, &project, directory, true).await?;
        packages::required(options, directory, &listed).await
    }

    async fn executable(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        purpose: Purpose,
    ) -> Result<Executable, CompiledError> {
        let directory = &info.program_directory;
        let of_program = (purpose == Purpose::Program).then(|| directory.clone());
        if let Some(binary) = text_option(info, "binary")? {
            let path = prebuilt(binary, info, options)?;
            let is_library = path.extension() == Some("dll".as_ref());
            let executable = if is_library {
                let tool = dotnet(&[], options, directory)?;
                Executable {
                    args: vec![path.into()],
                    ..Executable::at(tool.program)
                }
            } else {
                Executable::at(path)
            };
            return Ok(Executable {
                directory: of_program,
                ..executable
            });
        }
        let project = project_of(info);
        self.build(options, &project, directory).await?;
        let mut tool = dotnet(&["run", "--no-build", "--project"], options, directory)?;
        tool.args.push(project.into());
        if purpose == Purpose::Plugin {
            tool.args.push("--".into());
        }
        Ok(Executable {
            args: tool.args,
            directory: of_program,
            ..Executable::at(tool.program)
        })
    }

    fn variables(&self, request: &RunRequest) -> Vec<(&'static str, String)> {
        let directory = request.working_directory.to_string_lossy();
        vec![
            ("PULUMI_PWD", directory.into_owned()),
            // Required by the SDK, although queries no longer exist.
            ("PULUMI_QUERY_MODE", "false".to_owned()),
        ]
    }

    async fn install(
        &self,
        options: &LanguageOptions,
        request: &InstallRequest,
        output: &OutputSink,
    ) -> Result<(), CompiledError> {
        let directory = &request.info.program_directory;
        let mut tool = dotnet(&["build"], options, directory)?;
        tool.args.push(project_of(&request.info).into());
        Ok(tool.run(output, OutputLevel::Info).await?)
    }

    async fn about(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<AboutLanguage, CompiledError> {
        let tool = dotnet(&["--version"], options, &info.program_directory)?;
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
        let project = project_of(info);
        packages::list(options, &project, &info.program_directory, transitive).await
    }

    async fn pack(
        &self,
        options: &LanguageOptions,
        request: &PackRequest,
    ) -> Result<PathBuf, CompiledError> {
        let source = &request.package_directory;
        let project = project_file(source).ok_or_else(|| CompiledError::NoSources {
            wanted: "a project of .NET",
            directory: source.clone(),
        })?;
        for left_over in ["bin", "obj"] {
            let folder = source.join(left_over);
            if folder.is_dir() {
                fs::remove_dir_all(&folder).map_err(CompiledError::file("remove", &folder))?;
            }
        }
        let name = project.file_stem().unwrap_or_default();
        let target = request.destination_directory.join(name);
        let mut build = dotnet(&["build", "-c", "Release"], options, source)?;
        build.args.push(project.clone().into());
        build.run(&options.output, OutputLevel::Debug).await?;
        let mut pack = dotnet(&["pack", "-c", "Release", "-o"], options, source)?;
        let flags = ["-p:IncludeSource=true", "-p:SymbolPackageFormat=snupkg"];
        pack.args.push(target.clone().into());
        pack.args.extend(flags.map(OsString::from));
        pack.args.push(project.into());
        pack.run(&options.output, OutputLevel::Debug).await?;
        with_extension(&target, "nupkg").ok_or(CompiledError::NoSources {
            wanted: "a packed library",
            directory: target,
        })
    }

    async fn link(
        &self,
        options: &LanguageOptions,
        request: &LinkRequest,
    ) -> Result<String, CompiledError> {
        let info = &request.info;
        let mut text = String::from("You can import the SDK in your C# code with:\n\n");
        for dependency in &request.packages {
            let path = info.root_directory.join(&dependency.path);
            let mut add = dotnet(&["add"], options, &info.program_directory)?;
            let words = [project_of(info).into(), "reference".into(), path.into()];
            add.args.extend::<[OsString; 3]>(words);
            add.capture().await?;
            let namespace = packages::namespace(&dependency.package.name);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  using {namespace};");
        }
        Ok(text)
    }
}

/// The `dotnet` command with `args`, run in `directory`.
fn dotnet(
    args: &[&str],
    options: &LanguageOptions,
    directory: &Path,
) -> Result<Tool, CompiledError> {
    let program = find_executable("dotnet", &options.environment, directory).ok_or(
        CompiledError::NoTool {
            tool: "dotnet",
            advice: "install the .NET SDK from https://dotnet.microsoft.com/download, or name a program that is built \
                     already with the runtime option `binary` in Pulumi.yaml",
        },
    )?;
    Ok(Tool {
        program,
        args: args.iter().map(Into::into).collect(),
        environment: options.environment.clone(),
        working_directory: directory.to_owned(),
    })
}

/// The project file if the entry point is one, or else the program's folder.
fn project_of(info: &ProgramInfo) -> PathBuf {
    let entry = info.program_directory.join(&info.entry_point);
    if is_project(&entry) && entry.is_file() {
        entry
    } else {
        info.program_directory.clone()
    }
}

fn is_project(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    matches!(extension.as_ref(), "csproj" | "fsproj" | "vbproj")
}

fn project_file(directory: &Path) -> Option<PathBuf> {
    entries(directory).into_iter().find(|path| is_project(path))
}

fn with_extension(directory: &Path, extension: &str) -> Option<PathBuf> {
    entries(directory)
        .into_iter()
        .find(|path| path.extension() == Some(extension.as_ref()))
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    entries
}
