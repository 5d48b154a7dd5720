//! Runs a program against an engine that answers everything at once and does nothing.
//!
//! What such a run takes is what the interpreter, the SDK and the program need by themselves. No engine can be faster, so
//! `benches/run` compares engines with it. The program is started as Plumb's language hosts start it: the same
//! arguments, the same environment, and for Python the same executor script.
//!
//! Prints how many resources were registered, and exits as the program does.

mod service;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use anyhow::Context;
use clap::Parser;
use tokio::process::Command;

use crate::service::NullEngine;

#[derive(Parser)]
struct Args {
    /// Virtual environment with the SDK, for a program in Python.
    #[arg(long, requires = "executor", required_unless_present = "program")]
    virtualenv: Option<PathBuf>,
    /// The executor script, for a program in Python.
    #[arg(long)]
    executor: Option<PathBuf>,
    /// A program that is compiled already.
    #[arg(long, conflicts_with = "virtualenv")]
    program: Option<PathBuf>,
    /// How many resource operations the program may have under way; the engine's default if not given.
    #[arg(long)]
    parallel: Option<usize>,
    /// Folder of the program.
    project: PathBuf,
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
    let mut command = match (&args.program, &args.virtualenv, &args.executor) {
        (Some(program), ..) => compiled(program, args, address, parallel),
        (None, Some(virtualenv), Some(executor)) => {
            python(virtualenv, executor, args, address, parallel)?
        }
        _ => anyhow::bail!("there is no program"),
    };
    command
        .env("PULUMI_CONFIG_SECRET_KEYS", "[]")
        .env_remove("PULUMI_CONFIG")
        .current_dir(&args.project)
        .kill_on_drop(true);
    let mut child = command.spawn().context("cannot start the program")?;
    child.wait().await.context("cannot wait for the program")
}

/// A program that learns everything from its environment.
fn compiled(program: &Path, args: &Args, address: &str, parallel: usize) -> Command {
    let mut command = Command::new(program);
    command
        .env("PULUMI_MONITOR", address)
        .env("PULUMI_ENGINE", address)
        .env("PULUMI_PROJECT", service::PROJECT)
        .env("PULUMI_STACK", service::STACK)
        .env("PULUMI_ORGANIZATION", service::ORGANIZATION)
        .env("PULUMI_DRY_RUN", "false")
        .env("PULUMI_PARALLEL", parallel.to_string())
        .env("PULUMI_ROOT_DIRECTORY", &args.project);
    command
}

fn python(
    virtualenv: &Path,
    executor: &Path,
    args: &Args,
    address: &str,
    parallel: usize,
) -> anyhow::Result<Command> {
    let binaries = virtualenv.join("bin");
    let mut command = Command::new(binaries.join("python"));
    command
        .arg(executor)
        .args(["--monitor", address, "--engine", address])
        .args(["--project", service::PROJECT, "--stack", service::STACK])
        .args([
            "--organization",
            service::ORGANIZATION,
            "--debug_messages",
            "false",
            "--dry_run",
            "false",
        ])
        .args(["--parallel", &parallel.to_string()])
        .arg("--root_directory")
        .arg(&args.project)
        .arg("--pwd")
        .arg(&args.project)
        .args(["--", "."])
        .env("PATH", search_path(&binaries)?)
        .env("VIRTUAL_ENV", virtualenv)
        .env_remove("PYTHONHOME");
    Ok(command)
}

/// The search path of the environment, with the virtual environment before the rest.
fn search_path(binaries: &Path) -> anyhow::Result<std::ffi::OsString> {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(binaries.to_owned()).chain(std::env::split_paths(&rest));
    Ok(std::env::join_paths(folders)?)
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
