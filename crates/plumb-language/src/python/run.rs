//! Running a program (`languages.md` 4.2).

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use plumb_plugin::OutputLevel;
use plumb_plugin::language::{RunOutcome, RunRequest};
use plumb_plugin::process::{Environment, Exit, Launch, Process};
use tokio_util::sync::CancellationToken;

use super::toolchain::{Interpreter, Settings, TypeChecker};
use super::{PythonError, PythonOptions, executor};

/// The exit code of programs whose failure has been reported.
const REPORTED: i32 = 32;
/// How long an interrupted program may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Runs the program to its end, or until `cancel` fires.
pub(super) async fn run(
    options: &PythonOptions,
    request: RunRequest,
    cancel: CancellationToken,
) -> Result<RunOutcome, PythonError> {
    if request.attach_debugger {
        return Err(PythonError::Unsupported {
            what: "attaching a debugger",
        });
    }
    let settings = Settings::of(&request.info)?;
    let interpreter = settings.interpreter(&options.environment).await?;
    check_types(options, &settings, &interpreter).await?;
    let launch = launch(options, &settings, interpreter, &request)?;
    let program = launch.program.clone();
    let process = Process::spawn(launch).map_err(|source| {
        PythonError::Executor(Box::new(PythonError::Spawn { program, source }))
    })?;
    let exit = tokio::select! {
        exit = process.wait() => exit,
        () = cancel.cancelled() => {
            process.stop(GRACE).await;
            return Ok(RunOutcome::Bailed);
        }
    };
    Ok(match exit {
        Exit::Code(0) => RunOutcome::Succeeded,
        Exit::Code(REPORTED) => RunOutcome::Bailed,
        Exit::Code(code) => {
            RunOutcome::Failed(format!("program exited with non-zero exit code: {code}"))
        }
        Exit::Signal(signal) => RunOutcome::Failed(format!("program was ended by signal {signal}")),
        Exit::Unknown => RunOutcome::Failed("program ended, and nobody knows how".to_owned()),
    })
}

fn launch(
    options: &PythonOptions,
    settings: &Settings,
    interpreter: Interpreter,
    request: &RunRequest,
) -> Result<Launch, PythonError> {
    let script = executor::script(&options.cache_directory)?;
    let mut args = vec![script.into_os_string()];
    args.extend(arguments(options, request));
    let mut environment = interpreter.environment;
    add_configuration(&mut environment, request);
    Ok(Launch {
        source: "python".into(),
        program: interpreter.program,
        args,
        environment,
        working_directory: settings.program_directory.clone(),
        level: OutputLevel::Info,
        keep_blank_lines: false,
        output: options.output.clone(),
    })
}

/// Arguments of the executor; flags without a value are left out.
fn arguments(options: &PythonOptions, request: &RunRequest) -> Vec<OsString> {
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
    // Arguments of the program may look like flags of the executor.
    args.push("--".into());
    args.push(request.info.entry_point.clone().into());
    args.extend(request.args.iter().map(OsString::from));
    args
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn add_configuration(environment: &mut Environment, request: &RunRequest) {
    let json = |value: serde_json::Value| OsString::from(value.to_string());
    if request.config.is_empty() {
        environment.remove(&OsString::from("PULUMI_CONFIG"));
    } else {
        environment.insert(
            "PULUMI_CONFIG".into(),
            json(serde_json::json!(request.config)),
        );
    }
    environment.insert(
        "PULUMI_CONFIG_SECRET_KEYS".into(),
        json(serde_json::json!(request.config_secret_keys)),
    );
}

async fn check_types(
    options: &PythonOptions,
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
    match interpreter
        .tool(&args, directory)
        .run(&options.output, OutputLevel::Debug)
        .await
    {
        Err(PythonError::Tool { output, .. }) => Err(PythonError::TypeCheck {
            checker: name,
            output,
        }),
        other => other,
    }
}
