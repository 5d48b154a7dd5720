//! Runs of a program (`languages.md` 3.2).
//!
//! The program connects to the resource monitor directly; the monitor recognizes programs of this SDK by their client's
//! user agent. No server for synchronous invokes exists, because no published SDK since 2.0 uses them.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plumb_plugin::language::{RunOutcome, RunRequest};
use plumb_plugin::process::{Environment, Launch};
use plumb_plugin::{OutputLevel, OutputLine, OutputSink, OutputStream};
use tokio_util::sync::CancellationToken;

use super::NodeError;
use super::debugging;
use super::modules::{self, Script};
use super::settings::{Engine, Settings};
use crate::{LanguageOptions, ToolError, program};

/// Messages of the interpreter on standard error when it runs out of memory.
const OUT_OF_MEMORY: [&str; 2] = [
    "<--- Last few GCs --->",
    "Check failed: needs_context && current_scope_ == closure_scope_",
];

/// Variables in which the SDK stores the settings of a run. They are removed, because they may belong to an outer run.
const FACTS: [&str; 9] = [
    "PULUMI_NODEJS_ORGANIZATION",
    "PULUMI_NODEJS_PROJECT",
    "PULUMI_NODEJS_ROOT_DIRECTORY",
    "PULUMI_NODEJS_STACK",
    "PULUMI_NODEJS_DRY_RUN",
    "PULUMI_NODEJS_PARALLEL",
    "PULUMI_NODEJS_MONITOR",
    "PULUMI_NODEJS_ENGINE",
    "PULUMI_NODEJS_SYNC",
];

/// Runs the program until it ends or `cancel` fires.
pub(super) async fn run(
    engine: Engine,
    options: &LanguageOptions,
    request: RunRequest,
    cancel: CancellationToken,
) -> Result<RunOutcome, NodeError> {
    let settings = Settings::of(engine, &request.info)?;
    let has_exhausted_memory = Arc::new(AtomicBool::new(false));
    let mut launch = launch(&settings, options, &request).await?;
    launch.output = watching(launch.output, has_exhausted_memory.clone());
    let executable = launch.program.clone();
    let waiting = request
        .attach_debugger
        .then(|| debugging::wait(engine, &mut launch.args))
        .transpose()?;
    let address = options.engine_address.as_str();
    let ended = program::run_debugged(launch, waiting, address, cancel).await;
    let outcome = ended.map_err(|source| {
        NodeError::Executor(ToolError::Spawn {
            program: executable,
            source,
        })
    })?;
    Ok(match outcome {
        RunOutcome::Failed(reason) => RunOutcome::Failed(explained(
            &reason,
            has_exhausted_memory.load(Ordering::Relaxed),
        )),
        other => other,
    })
}

async fn launch(
    settings: &Settings,
    options: &LanguageOptions,
    request: &RunRequest,
) -> Result<Launch, NodeError> {
    let directory = settings.program_directory.clone();
    let program = settings.engine.find(&options.environment, &directory)?;
    let environment = &options.environment;
    let script = modules::find(
        Script::Program,
        settings.engine,
        &program,
        environment,
        &directory,
    );
    let mut args = settings.script(script.await?, &options.cache_directory)?;
    args.extend(arguments(options, request));
    Ok(Launch {
        source: settings.engine.runtime().into(),
        program,
        args,
        environment: environment_of(settings, options, request),
        working_directory: directory,
        level: OutputLevel::Info,
        keep_blank_lines: false,
        output: options.output.clone(),
    })
}

fn environment_of(
    settings: &Settings,
    options: &LanguageOptions,
    request: &RunRequest,
) -> Environment {
    let mut environment = options.environment.clone();
    for name in FACTS {
        environment.remove(&OsString::from(name));
    }
    settings.announce(&mut environment);
    program::add_configuration(&mut environment, request, |key| {
        key.replacen(':', ":config:", 1)
    });
    environment
}

/// Arguments of the SDK's script; omits flags without a value.
fn arguments(options: &LanguageOptions, request: &RunRequest) -> Vec<OsString> {
    let root = request.info.root_directory.to_string_lossy();
    let directory = request.working_directory.to_string_lossy();
    let parallel = request.parallel.to_string();
    let flags: [(&str, &str); 8] = [
        ("--monitor", &request.monitor_address),
        ("--engine", &options.engine_address),
        ("--organization", &request.organization),
        ("--project", &request.project),
        ("--root-directory", &root),
        ("--stack", &request.stack),
        ("--pwd", &directory),
        ("--parallel", &parallel),
    ];
    let mut args: Vec<OsString> = Vec::new();
    for (flag, value) in flags.into_iter().filter(|(_, value)| !value.is_empty()) {
        args.push(flag.into());
        args.push(value.into());
    }
    if request.dry_run {
        args.push("--dry-run".into());
    }
    // After the entry point, the script does not parse flags.
    args.push(request.info.entry_point.clone().into());
    args.extend(request.args.iter().map(OsString::from));
    args
}

/// Sink that forwards to `output`, and records whether the interpreter has run out of memory.
fn watching(output: OutputSink, has_exhausted_memory: Arc<AtomicBool>) -> OutputSink {
    Arc::new(move |line: OutputLine| {
        if line.stream == OutputStream::Stderr
            && OUT_OF_MEMORY.iter().any(|mark| line.text.contains(mark))
        {
            has_exhausted_memory.store(true, Ordering::Relaxed);
        }
        output(line);
    })
}

/// Failure reason for the user.
fn explained(reason: &str, has_exhausted_memory: bool) -> String {
    let mut chars = reason.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    let reason: String = first.into_iter().chain(chars).collect();
    if !has_exhausted_memory {
        return reason;
    }
    format!(
        "{reason}\nDetected a possible out of memory error. Give the program more with `nodeargs: --max-old-space-size=8192` \
         under `runtime.options` in Pulumi.yaml; the number is in megabytes"
    )
}
