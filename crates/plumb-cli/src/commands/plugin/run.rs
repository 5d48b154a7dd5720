//! `plugin run`.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use futures::StreamExt;
use futures::stream::BoxStream;
use plumb_operate::acquire::{self, Demands, output_to};
use plumb_operate::packages::discovery;
use plumb_operate::signals::StopSignals;
use plumb_operate::{Context, Error, ExitStatus};
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::PluginManifest;
use plumb_plugin::discovery::parse_tolerant;
use plumb_plugin::language::{PluginEvent, PluginLaunch, ProgramInfo, RunPluginRequest};
use plumb_resource::provider::PluginSpec;

use super::parse_kind;
use crate::commands::language;

/// Run a command on a plugin binary
///
/// The plugin is a path, or a name with a version (`NAME@VERSION`) or without; one that is missing is downloaded. It gets the
/// words behind it, and input and output of this command; how it ends is how this command ends.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The plugin kind
    #[arg(long, default_value = "tool")]
    pub kind: String,
    /// The plugin
    pub plugin: String,
    /// Arguments for the plugin
    pub arguments: Vec<String>,
}

pub(super) fn run(args: &RunArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let kind = parse_kind(&args.kind)?;
    let path = ctx.environment.cwd.join(&args.plugin);
    let executable = if args.plugin.contains(['/', '\\']) && path.exists() {
        path
    } else {
        find(kind, &args.plugin, ctx)?
    };
    let folder = if executable.is_dir() {
        Some(executable.as_path())
    } else {
        executable
            .parent()
            .filter(|folder| !executable.exists() && folder.join("PulumiPlugin.yaml").is_file())
    };
    let mut command = if let Some(folder) = folder {
        match from_sources(kind, folder, args, ctx)? {
            Sources::Command(command) => command,
            Sources::Ended(status) => return Ok(status),
        }
    } else {
        let mut command = Command::new(&executable);
        command.args(&args.arguments);
        command
    };
    command.env("PULUMI_HOME", &ctx.environment.pulumi_home);
    let status = command.status().map_err(|error| {
        Error::from(error).context(format!("could not run the plugin {}", executable.display()))
    })?;
    Ok(exit_status(status.code()))
}

fn exit_status(code: Option<i32>) -> ExitStatus {
    match code {
        Some(0) => ExitStatus::Success,
        Some(code) => ExitStatus::Other(u8::try_from(code).unwrap_or(1)),
        None => ExitStatus::Failure,
    }
}

/// Result for a source plugin.
enum Sources {
    /// Command that runs the plugin.
    Command(Command),
    /// The language host has run the plugin, with this exit status.
    Ended(ExitStatus),
}

/// Executable of a plugin, by name; downloaded if it is missing.
fn find(kind: PluginKind, text: &str, ctx: &Context) -> Result<PathBuf, Error> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => {
            let parsed = parse_tolerant(version);
            (
                name,
                Some(
                    parsed
                        .ok_or_else(|| Error::user(format!("invalid plugin semver: {version}")))?,
                ),
            )
        }
        None => (text, None),
    };
    let discovery = discovery(&ctx.environment, ctx.find_project()?);
    if let Ok(found) = discovery.find(kind, name, version.as_ref(), None) {
        return Ok(found.executable);
    }
    let is_off = ctx
        .environment
        .is_on("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION");
    if !is_off {
        let source = acquire::source(&ctx.environment, &ctx.printer, &Demands::default())?;
        let spec = PluginSpec {
            version: version.clone(),
            ..PluginSpec::named(name)
        };
        let got = language::block_on(source.get(kind, &spec))?;
        got.map_err(|failure| Error::user(plumb_operate::error::chain(failure.as_ref())))?;
    }
    let found = discovery.find(kind, name, version.as_ref(), None);
    let found = found.map_err(|error| Error::from(error).context("could not get plugin path"))?;
    Ok(found.executable)
}

/// Runs a source plugin, or returns the command for it, depending on its language host.
fn from_sources(
    kind: PluginKind,
    folder: &Path,
    args: &RunArgs,
    ctx: &Context,
) -> Result<Sources, Error> {
    let manifest = PluginManifest::read(folder)
        .map_err(|error| Error::user(plumb_operate::error::chain(&error)))?;
    let host = language::host(&manifest.runtime, output_to(ctx.printer.clone()), ctx);
    let host = host.ok_or_else(|| {
        Error::user(format!(
            "the plugin is written in {}, which cannot be run here",
            manifest.runtime
        ))
    })?;
    let request = RunPluginRequest {
        info: ProgramInfo {
            root_directory: folder.to_owned(),
            program_directory: folder.to_owned(),
            entry_point: ".".to_owned(),
            options: manifest.options,
        },
        kind,
        working_directory: ctx.environment.cwd.clone(),
        args: args.arguments.clone(),
        environment: ctx.environment.variables().clone(),
        loader_target: String::new(),
        attach_debugger: false,
    };
    language::block_on(async {
        match host.run_plugin(request).await? {
            PluginLaunch::Command {
                program,
                args,
                environment,
                working_directory,
            } => {
                let mut command = Command::new(program);
                command
                    .args(args)
                    .env_clear()
                    .envs(environment)
                    .current_dir(working_directory);
                Ok(Sources::Command(command))
            }
            PluginLaunch::Running(events) => {
                let mut signals = StopSignals::listen()?;
                let ended = follow(events, ctx);
                tokio::select! {
                    status = ended => Ok(Sources::Ended(status)),
                    () = signals.next() => Ok(Sources::Ended(ExitStatus::Success)),
                }
            }
        }
    })?
}

/// Prints the output of a plugin until it ends.
async fn follow(mut events: BoxStream<'static, PluginEvent>, ctx: &Context) -> ExitStatus {
    while let Some(event) = events.next().await {
        match event {
            PluginEvent::Stdout(bytes) => ctx.printer.data(&String::from_utf8_lossy(&bytes)),
            PluginEvent::Stderr(bytes) => ctx.printer.stderr(&String::from_utf8_lossy(&bytes)),
            PluginEvent::Exited(code) => return exit_status(Some(code)),
            PluginEvent::Failed(message) => {
                ctx.printer.error(&message);
                return ExitStatus::Failure;
            }
        }
    }
    ExitStatus::Failure
}
