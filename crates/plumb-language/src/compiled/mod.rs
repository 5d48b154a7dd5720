//! Shared part of the hosts of compiled languages.
//!
//! A [`Compiler`] knows the tool chain of one language; it returns the [`Executable`] for a program or a plugin. The
//! [`CompiledHost`] runs the executable. Such programs take no arguments; they get all settings from their environment
//! (`sdk-model.md` 7.1).

mod debugging;
mod environment;
mod error;
mod folders;
mod status;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use plumb_plugin::language::{
    AboutLanguage, InstallRequest, LinkRequest, OptionPrompt, PackRequest, PackageDependency,
    PluginLaunch, ProgramDependency, ProgramInfo, RequiredPackages, RunOutcome, RunPluginRequest,
    RunRequest,
};
use plumb_plugin::process::Launch;
use plumb_plugin::{LanguageError, LanguageRuntime, OutputLevel, OutputSink};
use serde_json::Value;
use tempfile::TempPath;
use tokio_util::sync::CancellationToken;

use crate::debugging::{Announcements, Waiting};
use crate::installing::announced;
use crate::stopping::Stopping;
use crate::{LanguageOptions, ToolError, program};

pub(crate) use debugging::new_debugger_log;
pub use error::CompiledError;
pub(crate) use folders::copy_sources;
pub(crate) use status::say;

/// Use of an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To run a program.
    Program,
    /// To run a plugin. The first line on its standard output must be the plugin's port.
    Plugin,
}

impl Purpose {
    pub(crate) fn described(self) -> &'static str {
        match self {
            Purpose::Program => "program",
            Purpose::Plugin => "plugin",
        }
    }
}

/// An executable program or plugin.
#[derive(Debug, Default)]
pub(crate) struct Executable {
    pub(crate) path: PathBuf,
    /// Arguments before those of a plugin.
    pub(crate) args: Vec<OsString>,
    /// Required working directory, if there is one.
    pub(crate) directory: Option<PathBuf>,
    /// Temporary file of the executable, deleted when this is dropped.
    pub(crate) kept: Option<TempPath>,
    /// Form in which the arguments of a plugin are passed.
    pub(crate) style: ArgumentStyle,
    /// Source of error reports.
    pub(crate) failures: Failures,
    /// Environment variables besides those of every program.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

/// Form in which the arguments of a plugin are appended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ArgumentStyle {
    /// As separate arguments.
    #[default]
    Separate,
    /// Appended to the last argument, separated by spaces.
    Joined,
}

/// Source of error reports to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Failures {
    /// The program, if its exit code says that it has reported its error.
    #[default]
    ByExitCode,
    /// The tool that runs the program reports every error.
    AllReported,
    /// The tool that runs the program always exits successfully, and writes the program's outcome to this log.
    InLog(PathBuf),
}

impl Executable {
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Executable {
            path: path.into(),
            ..Executable::default()
        }
    }

    fn arguments(&self, of_plugin: &[String]) -> Vec<OsString> {
        let mut args = self.args.clone();
        match self.style {
            ArgumentStyle::Separate => args.extend(of_plugin.iter().map(OsString::from)),
            ArgumentStyle::Joined => {
                if let Some(last) = args.last_mut() {
                    last.push(of_plugin.join(" "));
                }
            }
        }
        args
    }
}

/// The tool chain of a language.
#[async_trait]
pub(crate) trait Compiler: Default + Send + Sync + 'static {
    /// Name of the language in project files.
    const NAME: &'static str;

    /// Packages that a program needs. Omits those that cannot be determined, because a program may run without its
    /// sources.
    async fn required_packages(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<Vec<PackageDependency>, CompiledError>;

    /// Builds a program or a plugin if necessary.
    async fn executable(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        purpose: Purpose,
    ) -> Result<Executable, CompiledError>;

    /// Builds a program or a plugin that waits for a debugger.
    async fn debugged(
        &self,
        _: &LanguageOptions,
        _: &ProgramInfo,
        purpose: Purpose,
    ) -> Result<(Executable, Waiting), CompiledError> {
        Err(CompiledError::NoDebugger {
            language: Self::NAME,
            what: purpose.described(),
            advice: "set `--attach-debugger` for programs and plugins in Python, Node.js, Bun, Go, Java and Rust",
        })
    }

    /// Additional environment variables for programs.
    fn variables(&self, _: &RunRequest) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Installs the dependencies of a program.
    async fn install(
        &self,
        options: &LanguageOptions,
        request: &InstallRequest,
        output: &OutputSink,
    ) -> Result<(), CompiledError>;

    /// Compiler and its version.
    async fn about(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
    ) -> Result<AboutLanguage, CompiledError>;

    /// Libraries that a program is compiled with.
    async fn dependencies(
        &self,
        options: &LanguageOptions,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, CompiledError>;

    /// Packages the library in a folder in a form that [`link`](Compiler::link) accepts.
    async fn pack(
        &self,
        options: &LanguageOptions,
        request: &PackRequest,
    ) -> Result<PathBuf, CompiledError>;

    /// Adds local libraries to a program's dependencies; returns instructions for their use.
    async fn link(
        &self,
        options: &LanguageOptions,
        request: &LinkRequest,
    ) -> Result<String, CompiledError>;
}

/// The host of a compiled language.
pub(crate) struct CompiledHost<C> {
    options: Arc<LanguageOptions>,
    compiler: C,
    running: Stopping,
    announcements: Announcements,
    /// Executables of plugins, which the caller runs; kept until the host is dropped.
    kept: Mutex<Vec<TempPath>>,
}

impl<C: Compiler> CompiledHost<C> {
    /// Creates a host; does not start or read anything yet.
    pub(crate) fn new(options: LanguageOptions) -> Self {
        CompiledHost {
            options: Arc::new(options),
            compiler: C::default(),
            running: Stopping::default(),
            announcements: Announcements::default(),
            kept: Mutex::default(),
        }
    }

    async fn run_program(
        &self,
        request: RunRequest,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, CompiledError> {
        let built = self.built(&request.info, Purpose::Program, request.attach_debugger);
        let Some(built) = cancel.run_until_cancelled(built).await else {
            return Ok(RunOutcome::Bailed);
        };
        let (executable, waiting) = built?;
        let launch = self.launch(&executable, &request);
        let engine = self.options.engine_address.as_str();
        let ended = program::run_debugged(launch, waiting, engine, cancel).await;
        let outcome = ended.map_err(|source| {
            CompiledError::Executor(ToolError::Spawn {
                program: executable.path.clone(),
                source,
            })
        })?;
        Ok(match (outcome, executable.failures) {
            (RunOutcome::Failed(_), Failures::AllReported) => RunOutcome::Bailed,
            (RunOutcome::Succeeded, Failures::InLog(log)) => debugging::outcome(&log),
            (outcome, _) => outcome,
        })
    }

    /// Executable, and the debugger that it waits for.
    async fn built(
        &self,
        info: &ProgramInfo,
        purpose: Purpose,
        attach_debugger: bool,
    ) -> Result<(Executable, Option<Waiting>), CompiledError> {
        if attach_debugger {
            let debugged = self.compiler.debugged(&self.options, info, purpose);
            let (executable, waiting) = debugged.await?;
            return Ok((executable, Some(waiting)));
        }
        let executable = self.compiler.executable(&self.options, info, purpose);
        Ok((executable.await?, None))
    }

    fn launch(&self, executable: &Executable, request: &RunRequest) -> Launch {
        let mut environment = self.options.environment.clone();
        environment::add_settings(&mut environment, &self.options.engine_address, request);
        for (name, value) in self.compiler.variables(request) {
            environment.insert(name.into(), value.into());
        }
        environment.extend(executable.variables.iter().cloned());
        Launch {
            source: C::NAME.into(),
            program: executable.path.clone(),
            args: executable.arguments(&[]),
            environment,
            working_directory: executable
                .directory
                .clone()
                .unwrap_or_else(|| request.working_directory.clone()),
            level: OutputLevel::Info,
            keep_blank_lines: false,
            output: self.options.output.clone(),
        }
    }

    async fn launch_plugin(
        &self,
        request: RunPluginRequest,
    ) -> Result<PluginLaunch, CompiledError> {
        let built = self.built(&request.info, Purpose::Plugin, request.attach_debugger);
        let (executable, waiting) = built.await?;
        if let Some(waiting) = waiting {
            let engine = self.options.engine_address.clone();
            self.announcements.add(waiting, engine);
        }
        let args = executable.arguments(&request.args);
        let mut environment = request.environment;
        environment.extend(executable.variables.iter().cloned());
        if let Some(kept) = executable.kept {
            let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(kept);
        }
        Ok(PluginLaunch::Command {
            program: executable.path,
            args,
            environment,
            working_directory: executable.directory.unwrap_or(request.working_directory),
        })
    }
}

#[async_trait]
impl<C: Compiler> LanguageRuntime for CompiledHost<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }

    async fn version(&self) -> Result<Option<semver::Version>, LanguageError> {
        Ok(Some(self.options.version.clone()))
    }

    async fn required_packages(
        &self,
        info: &ProgramInfo,
    ) -> Result<RequiredPackages, LanguageError> {
        let packages = self.compiler.required_packages(&self.options, info).await;
        Ok(RequiredPackages {
            packages: packages.unwrap_or_else(|error| {
                tracing::debug!(
                    language = C::NAME,
                    error = &error as &dyn std::error::Error,
                    "the packages of a program are not known"
                );
                Vec::new()
            }),
            unresolved: Vec::new(),
        })
    }

    async fn run(
        &self,
        request: RunRequest,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, LanguageError> {
        let program = |cancel| self.run_program(request, cancel);
        Ok(self.running.run(cancel, program).await?)
    }

    async fn install_dependencies(
        &self,
        request: InstallRequest,
        output: OutputSink,
    ) -> Result<(), LanguageError> {
        let work = self.compiler.install(&self.options, &request, &output);
        Ok(announced(C::NAME, &output, work).await?)
    }

    async fn about(&self, info: &ProgramInfo) -> Result<AboutLanguage, LanguageError> {
        Ok(self.compiler.about(&self.options, info).await?)
    }

    async fn program_dependencies(
        &self,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, LanguageError> {
        let dependencies = self.compiler.dependencies(&self.options, info, transitive);
        Ok(dependencies.await?)
    }

    async fn option_prompts(&self, _: &ProgramInfo) -> Result<Vec<OptionPrompt>, LanguageError> {
        Ok(Vec::new())
    }

    async fn template(&self, _: &ProgramInfo, _: &str) -> Result<(), LanguageError> {
        Ok(())
    }

    async fn run_plugin(&self, request: RunPluginRequest) -> Result<PluginLaunch, LanguageError> {
        Ok(self.launch_plugin(request).await?)
    }

    async fn pack(&self, request: PackRequest) -> Result<PathBuf, LanguageError> {
        Ok(self.compiler.pack(&self.options, &request).await?)
    }

    async fn link(&self, request: LinkRequest) -> Result<String, LanguageError> {
        Ok(self.compiler.link(&self.options, &request).await?)
    }

    async fn cancel(&self) {
        self.running.stop_all();
    }

    async fn shutdown(&self) {
        self.running.stop_all();
    }
}

/// String value of a runtime option; an empty string counts as not given.
pub(crate) fn text_option<'a>(
    info: &'a ProgramInfo,
    option: &'static str,
) -> Result<Option<&'a str>, CompiledError> {
    match info.options.get(option) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(other) => Err(CompiledError::BadOption {
            option,
            value: other.to_string(),
        }),
    }
}

/// The prebuilt program named by the option `binary`: a file next to the program or in the project, or a command on the
/// PATH.
pub(crate) fn prebuilt(
    name: &str,
    info: &ProgramInfo,
    options: &LanguageOptions,
) -> Result<PathBuf, CompiledError> {
    let beside = |directory: &Path| Some(directory.join(name)).filter(|path| path.is_file());
    beside(&info.program_directory)
        .or_else(|| beside(&info.root_directory))
        .or_else(|| {
            crate::tool::find_executable(name, &options.environment, &info.program_directory)
        })
        .ok_or_else(|| CompiledError::NoBinary {
            binary: name.to_owned(),
            directory: info.program_directory.clone(),
        })
}
