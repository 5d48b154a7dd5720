//! Running the tools of Python's tool chains.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use plumb_plugin::process::{Environment, Launch, Process};
use plumb_plugin::{OutputLevel, OutputSink};

use super::PythonError;

/// A command line with its surroundings.
#[derive(Clone)]
pub(super) struct Tool {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) environment: Environment,
    pub(super) working_directory: PathBuf,
}

impl Tool {
    /// The command as the user would write it.
    fn display(&self) -> String {
        let args = self
            .args
            .iter()
            .map(|arg| format!(" {}", arg.to_string_lossy()));
        format!("{}{}", self.program.display(), args.collect::<String>())
    }

    /// Runs the tool and answers what it printed on standard output.
    pub(super) async fn capture(&self) -> Result<String, PythonError> {
        let output = tokio::process::Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .envs(&self.environment)
            .current_dir(&self.working_directory)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .map_err(|source| PythonError::Spawn {
                program: self.program.clone(),
                source,
            })?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
            return Err(PythonError::Tool {
                command: self.display(),
                exit: output.status.to_string(),
                output: lines[lines.len().saturating_sub(20)..].to_vec(),
            });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the tool and passes its output on.
    pub(super) async fn run(
        &self,
        output: &OutputSink,
        level: OutputLevel,
    ) -> Result<(), PythonError> {
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
        .map_err(|source| PythonError::Spawn {
            program: self.program.clone(),
            source,
        })?;
        let exit = process.wait().await;
        if exit.is_success() {
            return Ok(());
        }
        Err(PythonError::Tool {
            command: self.display(),
            exit: exit.to_string(),
            output: process.last_output(),
        })
    }
}

/// The executable called `name` on the PATH of `environment`, or `name` itself when it is a path.
pub(super) fn find_executable(
    name: &str,
    environment: &Environment,
    directory: &Path,
) -> Option<PathBuf> {
    let path = environment.get(&OsString::from("PATH"));
    which::which_in(name, path, directory).ok()
}

/// The text of an environment variable; an empty one counts as unset.
pub(super) fn variable<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment
        .get(&OsString::from(name))
        .and_then(|value| value.to_str())
        .filter(|value| !value.is_empty())
}
