//! Installation of a program's dependencies (`languages.md` 3.5).

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use plumb_plugin::language::{
    InstallRequest, OptionChoice, OptionPrompt, OptionValue, ProgramInfo,
};
use plumb_plugin::{OutputLevel, OutputLine, OutputSink, OutputStream};

use super::manager::{Choice, PackageManager, choose};
use super::settings::{Engine, Settings};
use super::workspace::{self, read_json};
use super::{NodeError, manager};
use crate::installing::announced;
use crate::tool::{Tool, find_executable};
use crate::{LanguageOptions, ToolError};

/// Delays before yarn is run again, because its downloads can fail when several instances run at once.
const YARN_WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

/// Installs the dependencies, with a message before and after.
pub(super) async fn install(
    engine: Engine,
    options: &LanguageOptions,
    request: &InstallRequest,
    output: OutputSink,
) -> Result<(), NodeError> {
    let settings = Settings::of(engine, &request.info)?;
    if request.use_language_version_tools {
        install_engine(options, &settings, &output).await?;
    }
    announced(
        engine.runtime(),
        &output,
        install_packages(options, &settings, &output),
    )
    .await
}

async fn install_packages(
    options: &LanguageOptions,
    settings: &Settings,
    output: &OutputSink,
) -> Result<(), NodeError> {
    let program_directory = &settings.program_directory;
    let root = workspace::root_of(program_directory);
    if let Some(root) = &root {
        say(
            output,
            OutputLevel::Info,
            format!("Detected workspace root at {}", root.display()),
        );
    }
    let directory = root.as_ref().unwrap_or(program_directory);
    let choice = choose(settings, &options.environment, directory)?;
    for warning in &choice.warnings {
        say(output, OutputLevel::Warning, format!("warning: {warning}"));
    }
    let tool = Tool {
        program: choice.program.clone(),
        args: args_of(&choice, settings),
        environment: options.environment.clone(),
        working_directory: directory.clone(),
    };
    match choice.manager {
        PackageManager::Yarn => run_yarn(&tool, output).await?,
        PackageManager::Npm | PackageManager::Pnpm | PackageManager::Bun => {
            tool.run(output, OutputLevel::Info).await?;
        }
    }
    check_modules(choice.manager, program_directory)
}

fn args_of(choice: &Choice, settings: &Settings) -> Vec<OsString> {
    let args = choice.manager.install_args(settings.production);
    args.into_iter().map(OsString::from).collect()
}

fn say(output: &OutputSink, level: OutputLevel, text: String) {
    output(OutputLine {
        source: "nodejs".into(),
        stream: match level {
            OutputLevel::Warning | OutputLevel::Error => OutputStream::Stderr,
            OutputLevel::Debug | OutputLevel::Info => OutputStream::Stdout,
        },
        level,
        text,
    });
}

/// Runs yarn up to three times. Its standard error is shown only as part of the final error.
async fn run_yarn(tool: &Tool, output: &OutputSink) -> Result<(), ToolError> {
    let all = output.clone();
    let stdout: OutputSink = Arc::new(move |line| {
        if line.stream == OutputStream::Stdout {
            all(line);
        }
    });
    for wait in YARN_WAITS {
        if tool.run(&stdout, OutputLevel::Info).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(wait).await;
    }
    tool.run(&stdout, OutputLevel::Info).await
}

/// Checks that `node_modules` exists, because a package manager can succeed and install where the interpreter does not
/// search.
fn check_modules(manager: PackageManager, directory: &Path) -> Result<(), NodeError> {
    let has_modules = directory
        .ancestors()
        .any(|folder| folder.join("node_modules").is_dir());
    if has_modules || !has_dependencies(directory) {
        return Ok(());
    }
    Err(NodeError::NoModules {
        manager,
        directory: directory.to_owned(),
    })
}

fn has_dependencies(directory: &Path) -> bool {
    read_json(&directory.join("package.json")).is_none_or(|manifest| {
        ["dependencies", "devDependencies"].iter().any(|key| {
            manifest[key]
                .as_object()
                .is_some_and(|listed| !listed.is_empty())
        })
    })
}

/// Installs the Node.js version that the program's folder specifies, if `fnm` is available.
async fn install_engine(
    options: &LanguageOptions,
    settings: &Settings,
    output: &OutputSink,
) -> Result<(), NodeError> {
    let directory = &settings.program_directory;
    let version = directory.ancestors().find_map(|folder| {
        let files = [".nvmrc", ".node-version"];
        files
            .iter()
            .find_map(|name| fs::read_to_string(folder.join(name)).ok())
    });
    let version = version
        .as_deref()
        .map(str::trim)
        .filter(|version| !version.is_empty());
    let fnm = find_executable("fnm", &options.environment, directory);
    let (Some(version), Some(fnm)) = (version, fnm) else {
        return Ok(());
    };
    for args in [
        ["use", version, "--install-if-missing"],
        ["alias", version, "default"],
    ] {
        let tool = Tool {
            program: fnm.clone(),
            args: args.map(OsString::from).to_vec(),
            environment: options.environment.clone(),
            working_directory: directory.clone(),
        };
        tool.run(output, OutputLevel::Info).await?;
    }
    Ok(())
}

/// Prompts for the options of a new project.
pub(super) fn option_prompts(
    engine: Engine,
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Vec<OptionPrompt> {
    if engine == Engine::Bun || info.options.contains_key("packagemanager") {
        return Vec::new();
    }
    let choice = |manager: PackageManager| OptionChoice {
        value: OptionValue::Text(manager.command().to_owned()),
        display_name: manager.command().to_owned(),
    };
    let is_there = |manager: &PackageManager| {
        *manager == PackageManager::Npm
            || find_executable(
                manager.command(),
                &options.environment,
                &info.root_directory,
            )
            .is_some()
    };
    vec![OptionPrompt {
        key: "packagemanager".to_owned(),
        description: "The package manager to use for installing dependencies".to_owned(),
        choices: manager::PackageManager::ALL
            .into_iter()
            .filter(is_there)
            .map(choice)
            .collect(),
        default: Some(choice(PackageManager::Npm)),
    }]
}

/// Adapts the files of a new project to its package manager.
pub(super) fn template(engine: Engine, info: &ProgramInfo) -> Result<(), NodeError> {
    const FILE: &str = "pnpm-workspace.yaml";
    let settings = Settings::of(engine, info)?;
    let path = settings.program_directory.join(FILE);
    if settings.package_manager != Some(PackageManager::Pnpm) || path.exists() {
        return Ok(());
    }
    // pnpm would prompt about this dependency's build script in every installation; the SDK does not need its result.
    fs::write(&path, "allowBuilds:\n  protobufjs: false\n")
        .map_err(|source| NodeError::Write { path, source })
}
