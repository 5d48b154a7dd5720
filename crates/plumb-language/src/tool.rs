//! Commands of a language's tool chain.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use plumb_plugin::process::{Environment, Indented, Launch, Process, retry_busy};
use plumb_plugin::{OutputLevel, OutputSink};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

/// Error of a tool.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The tool cannot be started.
    #[error("could not run {}", program.display())]
    Spawn {
        /// Path of the executable.
        program: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The tool failed.
    #[error("`{command}` failed: {exit}{}", Indented(.output))]
    Failed {
        /// The command.
        command: String,
        /// Exit status.
        exit: String,
        /// Last lines of its output.
        output: Vec<String>,
    },
}

/// A command line with its environment and working directory.
#[derive(Clone)]
pub(crate) struct Tool {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) environment: Environment,
    pub(crate) working_directory: PathBuf,
}

impl Tool {
    /// Command line for messages.
    pub(crate) fn display(&self) -> String {
        let args = self
            .args
            .iter()
            .map(|arg| format!(" {}", arg.to_string_lossy()));
        format!("{}{}", self.program.display(), args.collect::<String>())
    }

    /// Runs the tool and returns its standard output.
    pub(crate) async fn capture(&self) -> Result<String, ToolError> {
        let mut command = self.command();
        let spawn_error = |source| ToolError::Spawn {
            program: self.program.clone(),
            source,
        };
        let child = retry_busy(|| command.spawn()).map_err(spawn_error)?;
        let output = child.wait_with_output().await.map_err(spawn_error)?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
            return Err(ToolError::Failed {
                command: self.display(),
                exit: output.status.to_string(),
                output: lines[lines.len().saturating_sub(20)..].to_vec(),
            });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the tool and gives each line of its standard error to `heard`; returns its exit status and standard output.
    pub(crate) async fn converse(
        &self,
        mut heard: impl FnMut(String) + Send,
    ) -> Result<(ExitStatus, String), ToolError> {
        let mut command = self.command();
        let spawn_error = |source| ToolError::Spawn {
            program: self.program.clone(),
            source,
        };
        let mut child = retry_busy(|| command.spawn()).map_err(spawn_error)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let printed = async {
            let mut printed = Vec::new();
            if let Some(mut stdout) = stdout {
                stdout.read_to_end(&mut printed).await?;
            }
            Ok::<_, io::Error>(printed)
        };
        let listening = async {
            if let Some(stderr) = stderr {
                let mut lines = BufReader::new(stderr).split(b'\n');
                while let Some(line) = lines.next_segment().await? {
                    let line = String::from_utf8_lossy(&line);
                    heard(line.trim_end_matches('\r').to_owned());
                }
            }
            Ok::<_, io::Error>(())
        };
        let (printed, ()) = tokio::try_join!(printed, listening).map_err(spawn_error)?;
        let exit = child.wait().await.map_err(spawn_error)?;
        Ok((exit, String::from_utf8_lossy(&printed).into_owned()))
    }

    fn command(&self) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(&self.environment)
            .current_dir(&self.working_directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs the tool and forwards its output.
    pub(crate) async fn run(
        &self,
        output: &OutputSink,
        level: OutputLevel,
    ) -> Result<(), ToolError> {
        let source: Arc<str> = self
            .program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into();
        let process = Process::spawn(Launch {
            source,
            program: self.program.clone(),
            args: self.args.clone(),
            environment: self.environment.clone(),
            working_directory: self.working_directory.clone(),
            level,
            keep_blank_lines: true,
            output: output.clone(),
        })
        .map_err(|source| ToolError::Spawn {
            program: self.program.clone(),
            source,
        })?;
        let exit = process.wait().await;
        if exit.is_success() {
            return Ok(());
        }
        Err(ToolError::Failed {
            command: self.display(),
            exit: exit.to_string(),
            output: process.last_output(),
        })
    }
}

/// Executable `name` on the PATH of `environment`; `name` itself if it is a path.
pub(crate) fn find_executable(
    name: &str,
    environment: &Environment,
    directory: &Path,
) -> Option<PathBuf> {
    let path = environment.get(&OsString::from("PATH"));
    which::which_in(name, path, directory).ok()
}

/// Value of an environment variable; an empty one counts as unset.
pub(crate) fn variable<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment
        .get(&OsString::from(name))
        .and_then(|value| value.to_str())
        .filter(|value| !value.is_empty())
}
