//! Errors of Python.

use std::io;
use std::path::PathBuf;

use plumb_plugin::LanguageError;
use plumb_plugin::process::Indented;

use crate::{PluginFileError, ToolError};

/// Error while running, installing or inspecting a Python program.
#[derive(Debug, thiserror::Error)]
pub enum PythonError {
    /// No interpreter is installed.
    #[error(
        "could not find a Python interpreter: looked for {} on the PATH; install Python 3, or set PULUMI_PYTHON_CMD to \
         the path of an interpreter",
        .looked_for.join(" and ")
    )]
    NoInterpreter {
        /// Names that were searched for.
        looked_for: Vec<String>,
    },
    /// A tool of the tool chain is not installed.
    #[error(
        "could not find `{tool}` on the PATH; install it, or choose another `toolchain` under `runtime.options` in Pulumi.yaml"
    )]
    NoTool {
        /// The tool.
        tool: &'static str,
    },
    /// The virtual environment does not exist.
    #[error(
        "the 'virtualenv' option in Pulumi.yaml is set to {option:?}, but {} does not exist; run `plumb install` to \
         create it and install the dependencies",
        path.display()
    )]
    NoVirtualEnvironment {
        /// Value of the option.
        option: String,
        /// The folder.
        path: PathBuf,
    },
    /// The folder is not a virtual environment.
    #[error(
        "the 'virtualenv' option in Pulumi.yaml is set to {option:?}, but {} is not a virtual environment; remove it \
         and run `plumb install` to create a new one",
        path.display()
    )]
    NotAVirtualEnvironment {
        /// Value of the option.
        option: String,
        /// The folder.
        path: PathBuf,
    },
    /// A plugin's virtual environment does not exist.
    #[error(
        "the plugin in {} is not installed: there is no virtual environment in {}; run `plumb install` in the plugin's \
         folder to create it and install the dependencies",
        plugin.display(), path.display()
    )]
    NoEnvironmentOfPlugin {
        /// Folder of the plugin.
        plugin: PathBuf,
        /// Path of the missing environment.
        path: PathBuf,
    },
    /// An option has an unknown value.
    #[error(
        "unknown value {value} of the runtime option `{option}` in Pulumi.yaml; it can be {expected}"
    )]
    BadOption {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// Allowed values.
        expected: &'static str,
    },
    /// A tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The output of a tool cannot be parsed.
    #[error("`{command}` printed something unexpected: {text:?}")]
    ToolOutput {
        /// The command.
        command: String,
        /// Its output.
        text: String,
    },
    /// A file operation failed.
    #[error("could not {action} {}", path.display())]
    File {
        /// The operation.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// A `pulumi-plugin.json` cannot be used.
    #[error(transparent)]
    PluginFile(#[from] PluginFileError),
    /// The program could not be started.
    #[error("Problem executing program (could not run language executor)")]
    Executor(#[source] ToolError),
    /// A `pyproject.toml` has nothing that uv can install.
    #[error(
        "{} is missing a [project] section, which uv requires to install dependencies; add one with a name and dependencies",
        path.display()
    )]
    NoProjectSection {
        /// Path of the file.
        path: PathBuf,
    },
    /// The type checker found errors.
    #[error("the type checker {checker} found problems{}", Indented(.output))]
    TypeCheck {
        /// The type checker.
        checker: &'static str,
        /// Last lines of its output.
        output: Vec<String>,
    },
    /// The type checker is not installed.
    #[error(
        "The typechecker option is set to {checker}, but {checker} is not installed. Please add an entry for {checker} to \
         {requirements} and run `plumb install`; the interpreter of the program is {}",
        program.display()
    )]
    NoTypeChecker {
        /// The type checker.
        checker: &'static str,
        /// File with what the program depends on.
        requirements: &'static str,
        /// The interpreter.
        program: PathBuf,
    },
    /// The build of a library produced no wheel.
    #[error("building {} left no wheel", directory.display())]
    NoWheel {
        /// Folder of the library.
        directory: PathBuf,
    },
    /// The sources of a plugin are not runnable.
    #[error(
        "plugin is not runnable, it provides neither __main__.py nor a buildable pyproject.toml"
    )]
    PluginNotRunnable,
    /// A line of a `requirements.txt` cannot be converted for a `pyproject.toml`.
    #[error(
        "{} has the line {line:?}, which cannot be moved to a pyproject.toml; write a pyproject.toml by hand, or use the \
         pip toolchain",
        path.display()
    )]
    Requirement {
        /// The line.
        line: String,
        /// The file.
        path: PathBuf,
    },
    /// A feature that this host does not support.
    #[error("{what} is not supported for Python programs yet")]
    Unsupported {
        /// The feature.
        what: &'static str,
    },
    /// debugpy is not installed.
    #[error(
        "a debugger can only attach when the package debugpy is installed for {}; install it there with \
         `pip install debugpy`",
        program.display()
    )]
    NoDebugger {
        /// The interpreter.
        program: PathBuf,
    },
    /// No port is free for a debugger.
    #[error("there is no free port for a debugger")]
    NoPort(#[source] io::Error),
}

impl PythonError {
    pub(super) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> PythonError {
        let path = path.into();
        move |source| PythonError::File {
            action,
            path,
            source,
        }
    }
}

impl From<PythonError> for LanguageError {
    fn from(error: PythonError) -> Self {
        LanguageError::Native(Box::new(error))
    }
}
