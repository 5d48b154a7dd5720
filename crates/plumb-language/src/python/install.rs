//! Installation of a program's dependencies (`languages.md` 4.5).

use std::fs;
use std::path::Path;

use plumb_plugin::language::{InstallRequest, ProgramInfo};
use plumb_plugin::{OutputLevel, OutputSink};

use super::toolchain::{Settings, Toolchain, system_interpreter};
use super::{PythonError, project_file};
use crate::files::is_missing_or_empty;
use crate::installing::{announced, say};
use crate::{LanguageOptions, ToolError};

/// Number of attempts with pip when an index returns a wrong content type.
const PIP_TRIES: u32 = 3;
const PIP_BAD_ANSWER: &str = "because the GET request got Content-Type";

/// Installs the dependencies, with a message before and after.
pub(super) async fn install(
    options: &LanguageOptions,
    request: &InstallRequest,
    output: OutputSink,
) -> Result<(), PythonError> {
    if request.use_language_version_tools {
        return Err(PythonError::Unsupported {
            what: "installing Python itself with a version manager",
        });
    }
    let settings = if request.is_plugin {
        Settings::of_plugin(&request.info)?
    } else {
        Settings::of(&request.info)?
    };
    announced("python", &output, async {
        install_packages(options, &settings, &output, OutputLevel::Info).await?;
        if !request.is_plugin
            || settings.toolchain != Toolchain::Pip
            || !is_buildable(&settings.program_directory)
        {
            return Ok(());
        }
        let interpreter = settings.interpreter(&options.environment).await?;
        let directory = settings.program_directory.as_path();
        let shown = directory.to_string_lossy();
        let tool = interpreter.tool(&["-m", "pip", "install", &shown], directory);
        Ok(tool.run(&output, OutputLevel::Info).await?)
    })
    .await
}

/// Creates the environment if it is missing, and installs the dependencies listed in the program's
/// files.
pub(super) async fn install_packages(
    options: &LanguageOptions,
    settings: &Settings,
    output: &OutputSink,
    level: OutputLevel,
) -> Result<(), PythonError> {
    match settings.toolchain {
        Toolchain::Pip => install_with_pip(options, settings, output, level).await,
        Toolchain::Poetry => {
            project_file::prepare(settings, None)?;
            let tool =
                settings.external("poetry", &["install", "--no-ansi"], &options.environment)?;
            Ok(tool.run(output, level).await?)
        }
        Toolchain::Uv => install_with_uv(options, settings, output, level).await,
    }
}

/// Whether a virtual environment is without pip, as those made by `uv venv` are.
fn lacks_pip(environment: &Path) -> bool {
    let programs = ["bin/pip", "bin/pip3", "Scripts/pip.exe"];
    !programs
        .iter()
        .any(|program| environment.join(program).exists())
}

async fn install_with_pip(
    options: &LanguageOptions,
    settings: &Settings,
    output: &OutputSink,
    level: OutputLevel,
) -> Result<(), PythonError> {
    let directory = settings.program_directory.as_path();
    // Before a run, install silently; the output of the program follows.
    let report = |text: &str| {
        if level == OutputLevel::Info {
            say("python", output, text);
        }
    };
    if let Some(environment) = settings
        .virtualenv_directory()
        .filter(|directory| is_missing_or_empty(directory))
    {
        let interpreter = system_interpreter(&options.environment, directory)?;
        let shown = environment.to_string_lossy();
        report("Creating virtual environment...");
        interpreter
            .tool(&["-m", "venv", &shown], &settings.root)
            .run(output, level)
            .await?;
        report("Finished creating virtual environment");
    }
    let interpreter = settings.interpreter(&options.environment).await?;
    if settings
        .virtualenv_directory()
        .is_some_and(|it| lacks_pip(&it))
    {
        interpreter
            .tool(&["-m", "ensurepip", "--default-pip"], directory)
            .run(output, level)
            .await?;
    }
    let upgrade = [
        "-m",
        "pip",
        "install",
        "--upgrade",
        "pip",
        "setuptools",
        "wheel",
    ];
    report("Updating pip, setuptools, and wheel in virtual environment...");
    interpreter
        .tool(&upgrade, directory)
        .run(output, level)
        .await?;
    report("Finished updating");
    if !directory.join("requirements.txt").is_file() {
        return Ok(());
    }
    let requirements = interpreter.tool(
        &["-m", "pip", "install", "-r", "requirements.txt"],
        directory,
    );
    report("Installing dependencies in virtual environment...");
    for attempt in 1.. {
        match requirements.run(output, level).await {
            Err(ToolError::Failed { output, .. })
                if attempt < PIP_TRIES
                    && output.iter().any(|line| line.contains(PIP_BAD_ANSWER)) => {}
            result => {
                result?;
                break;
            }
        }
    }
    report("Finished installing dependencies");
    Ok(())
}

async fn install_with_uv(
    options: &LanguageOptions,
    settings: &Settings,
    output: &OutputSink,
    level: OutputLevel,
) -> Result<(), PythonError> {
    let environment = settings.uv_directory(&options.environment);
    project_file::prepare(settings, None)?;
    if is_missing_or_empty(&environment) {
        let shown = environment.to_string_lossy();
        settings
            .uv(
                &["venv", "--quiet", "--allow-existing", &shown],
                &options.environment,
            )?
            .run(output, level)
            .await?;
    }
    let sync = settings.uv(&["sync"], &options.environment)?;
    Ok(sync.run(output, level).await?)
}

/// Whether the folder contains a project that can be built into a package.
pub(super) fn is_buildable(directory: &Path) -> bool {
    fs::read_to_string(directory.join(project_file::FILE)).is_ok_and(|text| {
        let mut tables = ["[build-system]", "[project]"].into_iter();
        tables.all(|table| project_file::has_table(&text, table))
    })
}

/// Adapts the files of a new project to its tool chain.
pub(super) fn template(info: &ProgramInfo, project: &str) -> Result<(), PythonError> {
    let settings = Settings::of(info)?;
    match settings.toolchain {
        Toolchain::Pip => Ok(()),
        Toolchain::Poetry | Toolchain::Uv => project_file::prepare(&settings, Some(project)),
    }
}
