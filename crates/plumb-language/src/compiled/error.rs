//! Errors of compiled languages.

use std::io;
use std::path::PathBuf;

use plumb_plugin::LanguageError;
use plumb_plugin::process::Indented;

use super::Compiler;
use crate::{PluginFileError, ToolError};

/// Error while building, running, installing or inspecting a program in a compiled language.
#[derive(Debug, thiserror::Error)]
pub enum CompiledError {
    /// A tool of the tool chain is not installed.
    #[error("could not find `{tool}` on the PATH; {advice}")]
    NoTool {
        /// The tool.
        tool: &'static str,
        /// Advice to the user.
        advice: &'static str,
    },
    /// An option has a value of the wrong type.
    #[error("the runtime option `{option}` in Pulumi.yaml has to be text, but it is {value}")]
    BadOption {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
    },
    /// An option has an unknown value.
    #[error(
        "unknown value {value:?} of the runtime option `{option}` in Pulumi.yaml; it can be {expected}"
    )]
    UnknownValue {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// Allowed values.
        expected: &'static str,
    },
    /// Two options exclude each other.
    #[error(
        "the runtime options `{}` and `{}` in Pulumi.yaml exclude each other; remove one of them",
        .options.0,
        .options.1
    )]
    Exclusive {
        /// The options.
        options: (&'static str, &'static str),
    },
    /// The prebuilt program does not exist.
    #[error(
        "could not find the program {binary:?} that the runtime option `binary` in Pulumi.yaml names: it is neither in {} \
         nor on the PATH; build it first, or remove the option to have it built",
        directory.display()
    )]
    NoBinary {
        /// Value of the option.
        binary: String,
        /// Folder of the program.
        directory: PathBuf,
    },
    /// The folder contains no sources.
    #[error("could not find {wanted} in {}; there is no program to build there", directory.display())]
    NoSources {
        /// Files that were searched for.
        wanted: &'static str,
        /// The folder.
        directory: PathBuf,
    },
    /// The crate has more than one binary.
    #[error(
        "the crate in {} has more than one binary; name the program with the runtime option `bin` in Pulumi.yaml",
        directory.display()
    )]
    ManyBinaries {
        /// The folder.
        directory: PathBuf,
    },
    /// The program does not compile.
    #[error("could not compile the program in {}{}", directory.display(), Indented(.output))]
    Compile {
        /// Folder of the program.
        directory: PathBuf,
        /// Last lines of the compiler's output.
        output: Vec<String>,
    },
    /// A Go package was compiled that is not a program.
    #[error(
        "error in compiling Go: go program is not executable, does your program have a 'main' package? The package in {} has \
         another name",
        directory.display()
    )]
    NotMain {
        /// Folder of the package.
        directory: PathBuf,
    },
    /// A tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The output of a tool cannot be parsed.
    #[error("`{command}` printed something that could not be understood")]
    ToolOutput {
        /// The command.
        command: String,
        /// Cause.
        #[source]
        source: serde_json::Error,
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
    /// Debuggers are not supported here.
    #[error("a {language} {what} cannot wait for a debugger; {advice}")]
    NoDebugger {
        /// Name of the language.
        language: &'static str,
        /// Kind of program that was to wait.
        what: &'static str,
        /// Advice to the user.
        advice: &'static str,
    },
    /// No port is free for a debugger.
    #[error("there is no free port for a debugger")]
    NoPort(#[source] io::Error),
    /// A feature that the host does not support.
    #[error("{what} is not supported for {language} programs yet")]
    Unsupported {
        /// The feature.
        what: &'static str,
        /// Name of the language.
        language: &'static str,
    },
}

impl CompiledError {
    pub(crate) fn unsupported<C: Compiler>(what: &'static str) -> Self {
        CompiledError::Unsupported {
            what,
            language: C::NAME,
        }
    }

    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> CompiledError {
        let path = path.into();
        move |source| CompiledError::File {
            action,
            path,
            source,
        }
    }
}

impl From<CompiledError> for LanguageError {
    fn from(error: CompiledError) -> Self {
        LanguageError::Native(Box::new(error))
    }
}
