//! Runs a program with an engine that answers every request immediately and does nothing.
//!
//! The duration of such a run is that of the interpreter, the SDK and the program, a lower bound for every engine, with
//! which `benches/run` compares them. The program is started like by Plumb's language host: with the same scripts,
//! arguments and environment.
//!
//! Prints the number of registered resources, and exits with the status of the program.

mod service;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use anyhow::Context;
use clap::{Parser, Subcommand};
use tokio::process::Command;

use crate::service::NullEngine;

#[derive(Parser)]
struct Args {
    /// Maximum number of concurrent resource operations; default: that of the engine.
    #[arg(long)]
    parallel: Option<usize>,
    #[command(subcommand)]
    language: Language,
}

#[derive(Subcommand)]
enum Language {
    /// A program in Python.
    Python {
        /// Virtual environment with the SDK.
        #[arg(long)]
        virtualenv: PathBuf,
        /// The executor script.
        #[arg(long)]
        executor: PathBuf,
        /// Folder of the program.
        project: PathBuf,
    },
    /// A program for Node.js.
    Nodejs {
        /// Folder with the SDK in its `node_modules`.
        #[arg(long)]
        sdk: PathBuf,
        /// Script that is loaded before the SDK.
        #[arg(long)]
        first: PathBuf,
        /// Folder of the program.
        project: PathBuf,
    },
    /// A compiled program.
    Compiled {
        /// The executable.
        program: PathBuf,
        /// Folder of the program.
        project: PathBuf,
    },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let engine = NullEngine::new(args.parallel.unwrap_or_else(default_parallel));
    let address = engine
        .serve()
        .await
        .context("cannot listen on the loopback interface")?;
    let status = run_program(&args, &address, engine.parallel()).await?;
    writeln!(
        std::io::stdout(),
        "{} resources registered",
        engine.registered()
    )?;
    Ok(exit_code(status))
}

fn default_parallel() -> usize {
    std::thread::available_parallelism().map_or(4, |count| count.get() * 4)
}

async fn run_program(args: &Args, address: &str, parallel: usize) -> anyhow::Result<ExitStatus> {
    let mut command = match &args.language {
        Language::Python {
            virtualenv,
            executor,
            project,
        } => python(virtualenv, executor, project)?,
        Language::Nodejs {
            sdk,
            first,
            project,
        } => nodejs(sdk, first, project),
        Language::Compiled { program, project } => compiled(program, project, address, parallel),
    };
    if !matches!(args.language, Language::Compiled { .. }) {
        interpreted(&mut command, args, address, parallel);
    }
    command
        .env("PULUMI_CONFIG_SECRET_KEYS", "[]")
        .env_remove("PULUMI_CONFIG")
        .kill_on_drop(true);
    let mut child = command.spawn().context("cannot start the program")?;
    child.wait().await.context("cannot wait for the program")
}

/// Adds the arguments from which interpreted programs get their settings.
fn interpreted(command: &mut Command, args: &Args, address: &str, parallel: usize) {
    command
        .args(["--monitor", address, "--engine", address])
        .args(["--project", service::PROJECT, "--stack", service::STACK])
        .args(["--organization", service::ORGANIZATION])
        .args(["--parallel", &parallel.to_string()])
        .args(matches!(args.language, Language::Python { .. }).then_some("--"))
        .arg(".");
}

/// Command for a program that gets all settings from its environment.
fn compiled(program: &Path, project: &Path, address: &str, parallel: usize) -> Command {
    let mut command = Command::new(program);
    command
        .env("PULUMI_MONITOR", address)
        .env("PULUMI_ENGINE", address)
        .env("PULUMI_PROJECT", service::PROJECT)
        .env("PULUMI_STACK", service::STACK)
        .env("PULUMI_ORGANIZATION", service::ORGANIZATION)
        .env("PULUMI_DRY_RUN", "false")
        .env("PULUMI_PARALLEL", parallel.to_string())
        .env("PULUMI_ROOT_DIRECTORY", project)
        .current_dir(project);
    command
}

fn python(virtualenv: &Path, executor: &Path, project: &Path) -> anyhow::Result<Command> {
    let binaries = virtualenv.join("bin");
    let mut command = Command::new(binaries.join("python"));
    command
        .arg(executor)
        .args(["--debug_messages", "false", "--dry_run", "false"])
        .arg("--root_directory")
        .arg(project)
        .arg("--pwd")
        .arg(project)
        .env("PATH", search_path(&binaries)?)
        .env("VIRTUAL_ENV", virtualenv)
        .env_remove("PYTHONHOME")
        .current_dir(project);
    Ok(command)
}

fn nodejs(sdk: &Path, first: &Path, project: &Path) -> Command {
    let mut command = Command::new("node");
    command
        .arg("-r")
        .arg(first)
        .arg(sdk.join("node_modules/@pulumi/pulumi/cmd/run/index.js"))
        .arg("--root-directory")
        .arg(project)
        .arg("--pwd")
        .arg(project)
        .env("PULUMI_NODEJS_TYPESCRIPT", "true")
        .current_dir(project);
    command
}

/// Search path of the environment, with the virtual environment first.
fn search_path(binaries: &Path) -> anyhow::Result<std::ffi::OsString> {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(binaries.to_owned()).chain(std::env::split_paths(&rest));
    Ok(std::env::join_paths(folders)?)
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
