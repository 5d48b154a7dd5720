//! What can go wrong with Python.

use std::io;
use std::path::PathBuf;

use plumb_plugin::LanguageError;
use plumb_plugin::process::Indented;

use crate::{PluginFileError, ToolError};

/// Why a Python program could not be run, installed or inspected.
#[derive(Debug, thiserror::Error)]
pub enum PythonError {
    /// There is no interpreter.
    #[error(
        "could not find a Python interpreter: looked for {} on the PATH; install Python 3, or set PULUMI_PYTHON_CMD to \
         the path of an interpreter",
        .looked_for.join(" and ")
    )]
    NoInterpreter {
        /// The names that were looked for.
        looked_for: Vec<String>,
    },
    /// A tool of the tool chain is missing.
    #[error(
        "could not find `{tool}` on the PATH; install it, or choose another `toolchain` under `runtime.options` in Pulumi.yaml"
    )]
    NoTool {
        /// The tool.
        tool: &'static str,
    },
    /// The virtual environment is not there.
    #[error(
        "the 'virtualenv' option in Pulumi.yaml is set to {option:?}, but {} does not exist; run `plumb install` to \
         create it and install the dependencies",
        path.display()
    )]
    NoVirtualEnvironment {
        /// What the project file says.
        option: String,
        /// The folder.
        path: PathBuf,
    },
    /// The folder is something else.
    #[error(
        "the 'virtualenv' option in Pulumi.yaml is set to {option:?}, but {} is not a virtual environment; remove it \
         and run `plumb install` to create a new one",
        path.display()
    )]
    NotAVirtualEnvironment {
        /// What the project file says.
        option: String,
        /// The folder.
        path: PathBuf,
    },
    /// A plugin has no virtual environment yet.
    #[error(
        "the plugin in {} is not installed: there is no virtual environment in {}; run `plumb install` in the plugin's \
         folder to create it and install the dependencies",
        plugin.display(), path.display()
    )]
    NoEnvironmentOfPlugin {
        /// Folder of the plugin.
        plugin: PathBuf,
        /// Where its environment should be.
        path: PathBuf,
    },
    /// An option has a value that means nothing.
    #[error(
        "unknown value {value} of the runtime option `{option}` in Pulumi.yaml; it can be {expected}"
    )]
    BadOption {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// What it can be.
        expected: &'static str,
    },
    /// A tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A tool printed something unexpected.
    #[error("`{command}` printed something unexpected: {text:?}")]
    ToolOutput {
        /// What was run.
        command: String,
        /// What it printed.
        text: String,
    },
    /// A file could not be read or written.
    #[error("could not {action} {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// A `pulumi-plugin.json` cannot be used.
    #[error(transparent)]
    PluginFile(#[from] PluginFileError),
    /// The program could not be started.
    #[error("Problem executing program (could not run language executor)")]
    Executor(#[source] ToolError),
    /// The type checker is not content.
    #[error("the type checker {checker} found problems{}", Indented(.output))]
    TypeCheck {
        /// Which checker.
        checker: &'static str,
        /// What it said last.
        output: Vec<String>,
    },
    /// The type checker is not there.
    #[error(
        "the runtime option `typechecker` in Pulumi.yaml is {checker}, which is not installed for {}; add it to what the \
         program depends on and run `plumb install`",
        program.display()
    )]
    NoTypeChecker {
        /// Which checker.
        checker: &'static str,
        /// The interpreter.
        program: PathBuf,
    },
    /// A library was built, and there is nothing to show for it.
    #[error("building {} left no wheel", directory.display())]
    NoWheel {
        /// Folder of the library.
        directory: PathBuf,
    },
    /// The sources of a plugin cannot be run.
    #[error(
        "plugin is not runnable, it provides neither __main__.py nor a buildable pyproject.toml"
    )]
    PluginNotRunnable,
    /// A line that has no place in a project file.
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
    /// Something that this host does not do.
    #[error("{what} is not supported for Python programs yet")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
    },
    /// There is no debugger.
    #[error(
        "a debugger can only attach when the package debugpy is installed for {}; install it there with \
         `pip install debugpy`",
        program.display()
    )]
    NoDebugger {
        /// The interpreter.
        program: PathBuf,
    },
    /// No debugger could attach.
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
