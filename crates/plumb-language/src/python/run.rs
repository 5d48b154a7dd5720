//! Runs of a program (`languages.md` 4.2).

use std::ffi::OsString;
use std::path::Path;

use plumb_plugin::OutputLevel;
use plumb_plugin::language::{RunOutcome, RunRequest};
use plumb_plugin::process::Launch;
use tokio_util::sync::CancellationToken;

use super::toolchain::{Interpreter, Settings, TypeChecker};
use super::{PythonError, debugging, executor};
use crate::{LanguageOptions, ToolError, program};

/// Runs the program until it ends or `cancel` fires.
pub(super) async fn run(
    options: &LanguageOptions,
    request: RunRequest,
    cancel: CancellationToken,
) -> Result<RunOutcome, PythonError> {
    let settings = Settings::of(&request.info)?;
    let interpreter = settings.interpreter(&options.environment).await?;
    check_types(options, &settings, &interpreter).await?;
    let mut args = vec![executor::script(&options.cache_directory)?.into_os_string()];
    args.extend(arguments(options, &request));
    let waiting = if request.attach_debugger {
        let directory = &settings.program_directory;
        Some(debugging::wait(options, &interpreter, directory, &mut args).await?)
    } else {
        None
    };
    let launch = launch(options, &settings, interpreter, args, &request);
    let executable = launch.program.clone();
    let address = options.engine_address.as_str();
    let ended = program::run_debugged(launch, waiting, address, cancel).await;
    ended.map_err(|source| {
        PythonError::Executor(ToolError::Spawn {
            program: executable,
            source,
        })
    })
}

fn launch(
    options: &LanguageOptions,
    settings: &Settings,
    interpreter: Interpreter,
    args: Vec<OsString>,
    request: &RunRequest,
) -> Launch {
    let mut environment = interpreter.environment;
    program::add_configuration(&mut environment, request, str::to_owned);
    Launch {
        source: "python".into(),
        program: interpreter.program,
        args,
        environment,
        working_directory: settings.program_directory.clone(),
        level: OutputLevel::Info,
        keep_blank_lines: false,
        output: options.output.clone(),
    }
}

/// Arguments of the executor; omits flags without a value.
fn arguments(options: &LanguageOptions, request: &RunRequest) -> Vec<OsString> {
    let root = request.info.root_directory.to_string_lossy();
    let directory = request.working_directory.to_string_lossy();
    let parallel = request.parallel.to_string();
    let flags: [(&str, &str); 10] = [
        ("--monitor", &request.monitor_address),
        ("--engine", &options.engine_address),
        ("--project", &request.project),
        ("--root_directory", &root),
        ("--stack", &request.stack),
        ("--pwd", &directory),
        ("--dry_run", truth(request.dry_run)),
        ("--parallel", &parallel),
        ("--organization", &request.organization),
        ("--debug_messages", truth(options.debug_messages)),
    ];
    let mut args: Vec<OsString> = Vec::new();
    for (flag, value) in flags.into_iter().filter(|(_, value)| !value.is_empty()) {
        args.push(flag.into());
        args.push(value.into());
    }
    // `--`, because arguments of the program can look like flags of the executor.
    args.push("--".into());
    args.push(request.info.entry_point.clone().into());
    args.extend(request.args.iter().map(OsString::from));
    args
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

async fn check_types(
    options: &LanguageOptions,
    settings: &Settings,
    interpreter: &Interpreter,
) -> Result<(), PythonError> {
    let Some(checker) = settings.type_checker else {
        return Ok(());
    };
    let directory = settings.program_directory.as_path();
    let shown = directory.to_string_lossy();
    let excluded = interpreter
        .virtual_environment
        .as_deref()
        .unwrap_or(Path::new("venv"))
        .to_string_lossy();
    let (name, args): (&'static str, Vec<&str>) = match checker {
        TypeChecker::Mypy => ("mypy", vec!["-m", "mypy", "--exclude", &excluded, &shown]),
        TypeChecker::Pyright => ("pyright", vec!["-m", "pyright", &shown]),
    };
    let missing = format!("No module named {name}");
    match interpreter
        .tool(&args, directory)
        .run(&options.output, OutputLevel::Debug)
        .await
    {
        Err(ToolError::Failed { output, .. })
            if output.last().is_some_and(|line| line.ends_with(&missing)) =>
        {
            Err(PythonError::NoTypeChecker {
                checker: name,
                requirements: settings.requirements_file(),
                program: interpreter.program.clone(),
            })
        }
        Err(ToolError::Failed { output, .. }) => Err(PythonError::TypeCheck {
            checker: name,
            output,
        }),
        other => Ok(other?),
    }
}
