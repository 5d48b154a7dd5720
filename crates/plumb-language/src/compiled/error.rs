//! What can go wrong with compiled languages.

use std::io;
use std::path::PathBuf;

use plumb_plugin::LanguageError;
use plumb_plugin::process::Indented;

use super::Compiler;
use crate::{PluginFileError, ToolError};

/// Why a program of a compiled language could not be built, run, installed or inspected.
#[derive(Debug, thiserror::Error)]
pub enum CompiledError {
    /// A tool of the tool chain is missing.
    #[error("could not find `{tool}` on the PATH; {advice}")]
    NoTool {
        /// The tool.
        tool: &'static str,
        /// What to do.
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
    /// An option has a value that means nothing.
    #[error(
        "unknown value {value:?} of the runtime option `{option}` in Pulumi.yaml; it can be {expected}"
    )]
    UnknownValue {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// What it can be.
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
    /// There is no prebuilt program.
    #[error(
        "could not find the program {binary:?} that the runtime option `binary` in Pulumi.yaml names: it is neither in {} \
         nor on the PATH; build it first, or remove the option to have it built",
        directory.display()
    )]
    NoBinary {
        /// What the project file says.
        binary: String,
        /// Folder of the program.
        directory: PathBuf,
    },
    /// There is nothing to build.
    #[error("could not find {wanted} in {}; there is no program to build there", directory.display())]
    NoSources {
        /// What was looked for.
        wanted: &'static str,
        /// The folder.
        directory: PathBuf,
    },
    /// There is more than one program.
    #[error(
        "the crate in {} has more than one binary; name the program with the runtime option `bin` in Pulumi.yaml",
        directory.display()
    )]
    ManyBinaries {
        /// The folder.
        directory: PathBuf,
    },
    /// The program has errors.
    #[error("could not compile the program in {}{}", directory.display(), Indented(.output))]
    Compile {
        /// Folder of the program.
        directory: PathBuf,
        /// What the compiler said last.
        output: Vec<String>,
    },
    /// A tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A tool printed something unexpected.
    #[error("`{command}` printed something that could not be understood")]
    ToolOutput {
        /// What was run.
        command: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A file could not be used.
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
    /// No debugger can attach.
    #[error("a {language} {what} cannot wait for a debugger; {advice}")]
    NoDebugger {
        /// Name of the language.
        language: &'static str,
        /// What was to wait.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// No debugger could listen.
    #[error("there is no free port for a debugger")]
    NoPort(#[source] io::Error),
    /// Something that a host does not do.
    #[error("{what} is not supported for {language} programs yet")]
    Unsupported {
        /// What was asked for.
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
