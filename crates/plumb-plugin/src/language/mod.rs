//! The interface to a language host (`protocol.md` 13).

mod convert;
mod grpc;

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use ecow::EcoString;
use futures::stream::BoxStream;
use plumb_resource::provider::{Parameterization, PluginSpec};
use tokio_util::sync::CancellationToken;

use crate::discovery::{FindError, PluginKind};
use crate::output::OutputSink;
use crate::process::{Environment, Indented, StartError};
pub use grpc::GrpcLanguageHost;

/// Where a program is and how it is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramInfo {
    /// Folder of the project file. Absolute.
    pub root_directory: PathBuf,
    /// Folder of the program. Absolute.
    pub program_directory: PathBuf,
    /// `.`, or a file or folder relative to the program's folder.
    pub entry_point: String,
    /// Runtime options of the project file.
    pub options: serde_json::Map<String, serde_json::Value>,
}

impl ProgramInfo {
    /// The runtime option `key`, if it is text.
    pub fn text_option(&self, key: &str) -> Option<&str> {
        self.options.get(key).and_then(serde_json::Value::as_str)
    }
}

/// One run of a program.
#[derive(Clone, PartialEq)]
pub struct RunRequest {
    /// Where the program is.
    pub info: ProgramInfo,
    /// Working directory of the program. Absolute.
    pub working_directory: PathBuf,
    /// Project name.
    pub project: String,
    /// Stack name.
    pub stack: String,
    /// Organization name; may be empty.
    pub organization: String,
    /// Arguments for the program.
    pub args: Vec<String>,
    /// Configuration, `namespace:key` to plain text; structured values as JSON. Holds secrets in the clear.
    pub config: BTreeMap<String, String>,
    /// Keys of the configuration that are secret.
    pub config_secret_keys: Vec<String>,
    /// Whether this is a preview.
    pub dry_run: bool,
    /// How many operations may run at once.
    pub parallel: i32,
    /// `host:port` of the resource monitor.
    pub monitor_address: String,
    /// `host:port` of the schema loader; may be empty.
    pub loader_target: String,
    /// `host:port` of the mapper; may be empty.
    pub mapper_target: String,
    /// Whether the program is to wait for a debugger.
    pub attach_debugger: bool,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// Well.
    Succeeded,
    /// Not well, and the user has been told why.
    Bailed,
    /// Not well, for this reason.
    Failed(String),
}

/// A package that a program needs.
#[derive(Clone, Debug, PartialEq)]
pub struct PackageDependency {
    /// Name of the plugin.
    pub name: String,
    /// Kind of the plugin.
    pub kind: PluginKind,
    /// Version of the plugin.
    pub version: Option<semver::Version>,
    /// Where to download it from.
    pub server: Option<String>,
    /// Checksums of the archives by platform, lowercase hex.
    pub checksums: BTreeMap<EcoString, EcoString>,
    /// Parameter that makes the plugin serve another package.
    pub parameterization: Option<Parameterization>,
    /// Parameter that makes the plugin serve more of its own package.
    pub extension: Option<Parameterization>,
}

impl PackageDependency {
    /// The plugin to run for this package.
    pub fn plugin_spec(&self) -> PluginSpec {
        PluginSpec {
            version: self.version.clone(),
            download_url: self.server.as_deref().map(Into::into),
            checksums: self.checksums.clone(),
            parameterization: self.parameterization.clone(),
            ..PluginSpec::named(&self.name)
        }
    }
}

/// A package that must be resolved before its plugin is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageSource {
    /// Name, address or path.
    pub source: String,
    /// Version, if one is asked for.
    pub version: String,
    /// Parameters.
    pub parameters: Vec<String>,
    /// Where to download the plugin from, if not from the usual places.
    pub server: Option<String>,
    /// Checksums of the archives by platform, lowercase hex.
    pub checksums: BTreeMap<EcoString, EcoString>,
}

/// What a program needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequiredPackages {
    /// Packages.
    pub packages: Vec<PackageDependency>,
    /// Packages still to be resolved; only an installation can do that.
    pub unresolved: Vec<PackageSource>,
}

/// A wish to install what a program depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct InstallRequest {
    /// Where the program is.
    pub info: ProgramInfo,
    /// Whether the output goes to a terminal.
    pub is_terminal: bool,
    /// Whether to install the language itself with a version manager.
    pub use_language_version_tools: bool,
    /// Whether the program is a plugin.
    pub is_plugin: bool,
}

/// What `about` shows of a language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AboutLanguage {
    /// The interpreter or compiler.
    pub executable: String,
    /// Its version.
    pub version: String,
    /// Anything else.
    pub metadata: BTreeMap<String, String>,
}

/// A library that a program depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramDependency {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A question about a runtime option of a new project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionPrompt {
    /// The option.
    pub key: String,
    /// What to ask.
    pub description: String,
    /// Values to choose from; any value is allowed when there are none.
    pub choices: Vec<OptionChoice>,
    /// The value to suggest.
    pub default: Option<OptionChoice>,
}

/// A value of a runtime option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionChoice {
    /// What goes into the project file.
    pub value: OptionValue,
    /// What to show.
    pub display_name: String,
}

/// Text or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// Text.
    Text(String),
    /// A number.
    Number(i32),
}

/// A plugin written in the language, to be run.
#[derive(Clone, PartialEq)]
pub struct RunPluginRequest {
    /// Where its sources are; root and program folder are the same.
    pub info: ProgramInfo,
    /// What it is for.
    pub kind: PluginKind,
    /// Working directory. Absolute.
    pub working_directory: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub environment: Environment,
    /// `host:port` of the schema loader; may be empty.
    pub loader_target: String,
    /// Whether it is to wait for a debugger.
    pub attach_debugger: bool,
}

/// A library to be made into something that can be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackRequest {
    /// Folder of the library. Absolute.
    pub package_directory: PathBuf,
    /// Where to put what is made. Absolute.
    pub destination_directory: PathBuf,
}

/// Libraries of this machine that a program is to depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRequest {
    /// Where the program is.
    pub info: ProgramInfo,
    /// `host:port` of the schema loader; may be empty.
    pub loader_target: String,
    /// The libraries.
    pub packages: Vec<LinkDependency>,
}

/// A library that a program is to depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDependency {
    /// The package that it is for.
    pub package: PackageDependency,
    /// Where it is; relative to the root folder of the program if it is not absolute.
    pub path: PathBuf,
}

/// How to run a plugin written in the language.
pub enum PluginLaunch {
    /// As a process that the caller starts.
    Command {
        /// The executable.
        program: PathBuf,
        /// Its arguments.
        args: Vec<std::ffi::OsString>,
        /// Its whole environment.
        environment: Environment,
        /// Its working directory.
        working_directory: PathBuf,
    },
    /// It runs already, below the language host; dropping the stream ends it.
    Running(BoxStream<'static, PluginEvent>),
}

/// What a plugin below a language host does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginEvent {
    /// It wrote to standard output.
    Stdout(Vec<u8>),
    /// It wrote to standard error.
    Stderr(Vec<u8>),
    /// It ended with this code.
    Exited(i32),
    /// The language host failed.
    Failed(String),
}

/// Why a language host could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    /// There is no such host.
    #[error(transparent)]
    NotFound(#[from] FindError),
    /// It does not start.
    #[error(transparent)]
    Start(#[from] Box<StartError>),
    /// It cannot be reached at the address given.
    #[error("could not connect to the language host at {address}: {reason}")]
    Connect {
        /// The address.
        address: String,
        /// The last failure.
        reason: String,
    },
    /// It answered with an error.
    #[error("language host {host}: {operation} failed: {message}")]
    Call {
        /// Name of the host.
        host: String,
        /// What was asked.
        operation: &'static str,
        /// What it said.
        message: String,
    },
    /// It ended in the middle of a call.
    #[error("language host {host} ended during {operation}: {exit}{}", Indented(.output))]
    Ended {
        /// Name of the host.
        host: String,
        /// What was asked.
        operation: &'static str,
        /// How it ended.
        exit: crate::process::Exit,
        /// Its last lines of output.
        output: Vec<String>,
    },
    /// It cannot do this at all.
    #[error("the language host {host} does not support {operation}")]
    Unsupported {
        /// Name of the host.
        host: String,
        /// What was asked.
        operation: &'static str,
    },
    /// A host inside this program failed.
    #[error(transparent)]
    Native(Box<dyn std::error::Error + Send + Sync>),
}

/// A language host: it knows how programs of one language are installed, inspected and run.
#[async_trait]
pub trait LanguageRuntime: Send + Sync {
    /// Name of the language, as in project files.
    fn name(&self) -> &str;
    /// Version of the host.
    async fn version(&self) -> Result<Option<semver::Version>, LanguageError>;
    /// The packages that a program needs. Nothing is installed.
    async fn required_packages(
        &self,
        info: &ProgramInfo,
    ) -> Result<RequiredPackages, LanguageError>;
    /// Runs a program to its end. When `cancel` fires the program is interrupted, killed after five seconds, and the
    /// result is what became of it.
    async fn run(
        &self,
        request: RunRequest,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, LanguageError>;
    /// Installs what a program depends on; `output` gets what the tools print.
    async fn install_dependencies(
        &self,
        request: InstallRequest,
        output: OutputSink,
    ) -> Result<(), LanguageError>;
    /// What `about` shows.
    async fn about(&self, info: &ProgramInfo) -> Result<AboutLanguage, LanguageError>;
    /// The libraries that a program depends on: directly, or all of them.
    async fn program_dependencies(
        &self,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, LanguageError>;
    /// Questions to ask about a new project.
    async fn option_prompts(&self, info: &ProgramInfo) -> Result<Vec<OptionPrompt>, LanguageError>;
    /// Adapts the files of a new project to its runtime options.
    async fn template(&self, info: &ProgramInfo, project: &str) -> Result<(), LanguageError>;
    /// Says how to run a plugin written in the language, or runs it.
    async fn run_plugin(&self, request: RunPluginRequest) -> Result<PluginLaunch, LanguageError>;
    /// Makes something that can be linked of a library; answers where it is.
    async fn pack(&self, request: PackRequest) -> Result<PathBuf, LanguageError> {
        let _ = request;
        Err(LanguageError::Unsupported {
            host: self.name().to_owned(),
            operation: "packing libraries",
        })
    }
    /// Makes a program depend on libraries of this machine; answers how to use them in the program.
    async fn link(&self, request: LinkRequest) -> Result<String, LanguageError> {
        let _ = request;
        Err(LanguageError::Unsupported {
            host: self.name().to_owned(),
            operation: "linking libraries",
        })
    }
    /// Asks running programs to end soon. Advisory.
    async fn cancel(&self);
    /// Ends the host.
    async fn shutdown(&self);
}
