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

/// Location of a program, and its options.
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
    /// Location of the program.
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
    /// Maximum number of parallel operations.
    pub parallel: i32,
    /// `host:port` of the resource monitor.
    pub monitor_address: String,
    /// `host:port` of the schema loader; may be empty.
    pub loader_target: String,
    /// `host:port` of the mapper; may be empty.
    pub mapper_target: String,
    /// Whether the program waits for a debugger.
    pub attach_debugger: bool,
}

/// Result of a program's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// The program succeeded.
    Succeeded,
    /// The program failed and has already reported the error to the user.
    Bailed,
    /// The program failed with this message.
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
    /// Address to download it from.
    pub server: Option<String>,
    /// Checksums of the archives by platform, lowercase hex.
    pub checksums: BTreeMap<EcoString, EcoString>,
    /// Parameter that makes the plugin serve another package.
    pub parameterization: Option<Parameterization>,
    /// Parameter that makes the plugin serve further types of its own package.
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
    /// Requested version; may be empty.
    pub version: String,
    /// Parameters.
    pub parameters: Vec<String>,
    /// Address to download the plugin from, if it differs from the default.
    pub server: Option<String>,
    /// Checksums of the archives by platform, lowercase hex.
    pub checksums: BTreeMap<EcoString, EcoString>,
}

/// Packages that a program needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequiredPackages {
    /// Packages.
    pub packages: Vec<PackageDependency>,
    /// Packages that only an installation can resolve.
    pub unresolved: Vec<PackageSource>,
}

/// Request to install the dependencies of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct InstallRequest {
    /// Location of the program.
    pub info: ProgramInfo,
    /// Whether the output goes to a terminal.
    pub is_terminal: bool,
    /// Whether to install the language itself with a version manager.
    pub use_language_version_tools: bool,
    /// Whether the program is a plugin.
    pub is_plugin: bool,
}

/// Information about a language for `about`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AboutLanguage {
    /// The interpreter or compiler.
    pub executable: String,
    /// Version of the interpreter or compiler.
    pub version: String,
    /// Further information.
    pub metadata: BTreeMap<String, String>,
}

/// A library that a program depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramDependency {
    /// Name of the library.
    pub name: String,
    /// Version of the library.
    pub version: String,
}

/// A question about a runtime option of a new project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionPrompt {
    /// The option.
    pub key: String,
    /// Text of the question.
    pub description: String,
    /// Values to choose from; if empty, any value is allowed.
    pub choices: Vec<OptionChoice>,
    /// The value to suggest.
    pub default: Option<OptionChoice>,
}

/// A value of a runtime option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionChoice {
    /// Value for the project file.
    pub value: OptionValue,
    /// Text to show.
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
    /// Location of its sources; root folder and program folder are the same.
    pub info: ProgramInfo,
    /// Kind of the plugin.
    pub kind: PluginKind,
    /// Working directory. Absolute.
    pub working_directory: PathBuf,
    /// Arguments of the plugin.
    pub args: Vec<String>,
    /// Complete environment of the plugin.
    pub environment: Environment,
    /// `host:port` of the schema loader; may be empty.
    pub loader_target: String,
    /// Whether the plugin waits for a debugger.
    pub attach_debugger: bool,
}

/// Request to build a linkable artifact from a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackRequest {
    /// Folder of the library. Absolute.
    pub package_directory: PathBuf,
    /// Folder for the artifact. Absolute.
    pub destination_directory: PathBuf,
}

/// Request to make local libraries dependencies of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRequest {
    /// Location of the program.
    pub info: ProgramInfo,
    /// `host:port` of the schema loader; may be empty.
    pub loader_target: String,
    /// The libraries.
    pub packages: Vec<LinkDependency>,
}

/// A local library for a program.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDependency {
    /// Package that the library is the SDK of.
    pub package: PackageDependency,
    /// Path of the library; a relative path starts at the root folder of the program.
    pub path: PathBuf,
}

/// Instructions to run a plugin in source form.
pub enum PluginLaunch {
    /// The caller starts this process.
    Command {
        /// The executable.
        program: PathBuf,
        /// Arguments of the process.
        args: Vec<std::ffi::OsString>,
        /// Complete environment of the process.
        environment: Environment,
        /// Working directory of the process.
        working_directory: PathBuf,
    },
    /// The plugin already runs as a child of the language host; dropping the stream ends it.
    Running(BoxStream<'static, PluginEvent>),
}

/// Event of a plugin that runs as a child of a language host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginEvent {
    /// Standard output.
    Stdout(Vec<u8>),
    /// Standard error.
    Stderr(Vec<u8>),
    /// Exit code.
    Exited(i32),
    /// Failure of the language host.
    Failed(String),
}

/// Errors of language hosts.
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    /// The host was not found.
    #[error(transparent)]
    NotFound(#[from] FindError),
    /// The host does not start.
    #[error(transparent)]
    Start(#[from] Box<StartError>),
    /// The host cannot be reached at its address.
    #[error("could not connect to the language host at {address}: {reason}")]
    Connect {
        /// The address.
        address: String,
        /// Error of the last attempt.
        reason: String,
    },
    /// A call returned an error.
    #[error("language host {host}: {operation} failed: {message}")]
    Call {
        /// Name of the host.
        host: String,
        /// Name of the call.
        operation: &'static str,
        /// Message of the host.
        message: String,
    },
    /// The host ended during a call.
    #[error("language host {host} ended during {operation}: {exit}{}", Indented(.output))]
    Ended {
        /// Name of the host.
        host: String,
        /// Name of the call.
        operation: &'static str,
        /// Exit of the process.
        exit: crate::process::Exit,
        /// Last lines of output of the host.
        output: Vec<String>,
    },
    /// The host does not support the operation.
    #[error("the language host {host} does not support {operation}")]
    Unsupported {
        /// Name of the host.
        host: String,
        /// Name of the operation.
        operation: &'static str,
    },
    /// A host in this process failed.
    #[error(transparent)]
    Native(Box<dyn std::error::Error + Send + Sync>),
}

/// A language host, which installs, inspects and runs programs of one language.
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
    /// Whether the host is part of this process, so that calls to it are not requests.
    fn is_in_process(&self) -> bool {
        true
    }
    /// Runs a program to its end. When `cancel` fires, the program is interrupted and, after five seconds, killed; the
    /// result is that of the interrupted program.
    async fn run(
        &self,
        request: RunRequest,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, LanguageError>;
    /// Installs the dependencies of a program; `output` receives the output of the tools.
    async fn install_dependencies(
        &self,
        request: InstallRequest,
        output: OutputSink,
    ) -> Result<(), LanguageError>;
    /// Information for `about`.
    async fn about(&self, info: &ProgramInfo) -> Result<AboutLanguage, LanguageError>;
    /// The libraries that a program depends on, either direct ones only or transitive ones too.
    async fn program_dependencies(
        &self,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, LanguageError>;
    /// Questions about a new project.
    async fn option_prompts(&self, info: &ProgramInfo) -> Result<Vec<OptionPrompt>, LanguageError>;
    /// Adapts the files of a new project to its runtime options.
    async fn template(&self, info: &ProgramInfo, project: &str) -> Result<(), LanguageError>;
    /// Describes how to run a plugin in source form, or runs it.
    async fn run_plugin(&self, request: RunPluginRequest) -> Result<PluginLaunch, LanguageError>;
    /// Builds a linkable artifact from a library; returns its path.
    async fn pack(&self, request: PackRequest) -> Result<PathBuf, LanguageError> {
        let _ = request;
        Err(LanguageError::Unsupported {
            host: self.name().to_owned(),
            operation: "packing libraries",
        })
    }
    /// Makes local libraries dependencies of a program; returns instructions to use them in the program.
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
