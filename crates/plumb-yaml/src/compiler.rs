//! Programs written by a command: `runtime.options.compiler` (`yaml-runtime.md` 1).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Stdio;
use std::sync::Arc;

use plumb_engine::program::ProgramContext;
use tokio::process::Command;

use crate::load::Loaded;
use crate::syntax::program;
use crate::syntax::source::SourceFile;

/// A command whose output is the program.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// Command line, in shell syntax.
    pub command: String,
    /// Its environment, which takes precedence over the variables that describe the stack.
    pub environment: BTreeMap<OsString, OsString>,
}

/// Error of a compiler command.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// The option is not a string.
    #[error(
        "the runtime option `compiler` in Pulumi.yaml has to be text, a command that prints the program, but it is {value}"
    )]
    NotACommand {
        /// Value of the option.
        value: String,
    },
    /// The command line cannot be parsed.
    #[error(
        "the runtime option compiler ({command}) is not a valid command: its quotes do not match"
    )]
    Malformed {
        /// The command line.
        command: String,
    },
    /// The command cannot be started.
    #[error("could not run the compiler {command}: {source}")]
    Start {
        /// The command line.
        command: String,
        /// Cause.
        source: std::io::Error,
    },
    /// The command failed.
    #[error("the compiler {command} ended with {status}:\n{output}")]
    Failed {
        /// The command line.
        command: String,
        /// Its exit status.
        status: std::process::ExitStatus,
        /// Its standard error.
        output: String,
    },
    /// The output is not UTF-8.
    #[error("the compiler {command} wrote something that is not UTF-8")]
    NotText {
        /// The command line.
        command: String,
    },
}

impl Compiler {
    /// Compiler in the runtime options of a project; `None` if there is none.
    pub fn of_options(
        options: &serde_json::Map<String, serde_json::Value>,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<Option<Self>, CompilerError> {
        let command = match options.get("compiler") {
            None | Some(serde_json::Value::Null) => return Ok(None),
            Some(serde_json::Value::String(command)) if command.is_empty() => return Ok(None),
            Some(serde_json::Value::String(command)) => command.clone(),
            Some(other) => {
                return Err(CompilerError::NotACommand {
                    value: other.to_string(),
                });
            }
        };
        Ok(Some(Compiler {
            command,
            environment: environment.clone(),
        }))
    }

    /// Runs the command in the program's folder, and parses its output.
    pub(crate) async fn compile(&self, info: &ProgramContext) -> Result<Loaded, CompilerError> {
        let command = || self.command.clone();
        let words = shlex::split(&self.command).unwrap_or_default();
        let Some((program, args)) = words.split_first() else {
            return Err(CompilerError::Malformed { command: command() });
        };
        let mut process = Command::new(program);
        process
            .args(args)
            .env_clear()
            .envs(facts(info))
            .envs(&self.environment)
            .current_dir(&info.program_directory)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let done = process
            .output()
            .await
            .map_err(|source| CompilerError::Start {
                command: command(),
                source,
            })?;
        if !done.status.success() {
            return Err(CompilerError::Failed {
                command: command(),
                status: done.status,
                output: String::from_utf8_lossy(&done.stderr).trim_end().to_owned(),
            });
        }
        let text = String::from_utf8(done.stdout)
            .map_err(|_| CompilerError::NotText { command: command() })?;
        let path = info.program_directory.join("Pulumi.yaml");
        let source = Arc::new(SourceFile::new("<compiler output>", path, text));
        let (syntax, diagnostics) = program::parse(&source);
        Ok(Loaded {
            directory: info.program_directory.clone(),
            syntax,
            diagnostics,
        })
    }
}

/// Environment variables that describe the stack.
fn facts(info: &ProgramContext) -> [(&'static str, OsString); 5] {
    let config: serde_json::Map<_, _> = info
        .config
        .iter()
        .map(|(key, value)| (key.clone(), value.clone().into()))
        .collect();
    let config = serde_json::Value::Object(config).to_string();
    [
        ("PULUMI_STACK", info.stack.clone().into()),
        ("PULUMI_ORGANIZATION", info.organization.clone().into()),
        ("PULUMI_PROJECT", info.project.clone().into()),
        ("PULUMI_CONFIG", config.into()),
        ("PULUMI_ROOT_DIRECTORY", info.root_directory.clone().into()),
    ]
}
