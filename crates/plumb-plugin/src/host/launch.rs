//! Starting discovered plugins.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use plumb_resource::provider::PluginSpec;

use super::{CommandFactory, HostError, PluginHost, environment};
use crate::discovery::{FoundPlugin, PluginKind, PluginManifest};
use crate::grpc::GrpcProvider;
use crate::language::{PluginLaunch, ProgramInfo, RunPluginRequest};
use crate::output::OutputLevel;
use crate::process::{
    Environment, Launch, PluginTimeouts, Process, StartError, start_from_stream, start_with_port,
};
use crate::trace_context::Connection;

/// Providers of dynamic resources. Their output is shown to the user, because they run code of the program.
const TALKATIVE: [&str; 2] = ["pulumi-nodejs", "pulumi-python"];

fn level_of(name: &str) -> OutputLevel {
    if TALKATIVE.contains(&name) {
        OutputLevel::Info
    } else {
        OutputLevel::Debug
    }
}

/// A plugin in source form.
pub(crate) struct Sources<'a> {
    pub(crate) kind: PluginKind,
    pub(crate) name: &'a str,
    /// Folder of its `PulumiPlugin.yaml`.
    pub(crate) directory: &'a Path,
    pub(crate) args: Vec<String>,
    pub(crate) environment: Environment,
    pub(crate) attach_debugger: bool,
}

impl PluginHost {
    pub(super) async fn start_found(
        &self,
        spec: &PluginSpec,
        found: &FoundPlugin,
    ) -> Result<GrpcProvider, HostError> {
        if let Some(directory) = found.source_directory() {
            return self.start_sources(spec, directory).await;
        }
        let launch = self.provider_launch(spec, &found.executable);
        let started = GrpcProvider::start(
            &spec.name,
            launch,
            self.options.timeouts,
            &self.handshake_options(),
        )
        .await;
        Ok(started.map_err(Box::new)?)
    }

    /// The arguments of an executable, after the flags for its logging.
    pub(crate) fn arguments(&self, arguments: Vec<OsString>) -> Vec<OsString> {
        let mut all = self.options.log_arguments.clone();
        all.extend(arguments);
        all
    }

    fn provider_launch(&self, spec: &PluginSpec, executable: &Path) -> Launch {
        Launch {
            source: file_name(executable),
            program: executable.to_owned(),
            args: self.arguments(vec![self.options.services.engine.clone().into()]),
            environment: environment::of_provider(&self.options, spec),
            working_directory: self.options.working_directory.clone(),
            level: level_of(&spec.name),
            keep_blank_lines: false,
            output: self.options.output.clone(),
        }
    }

    pub(super) fn language_launch(&self, name: &str, found: &FoundPlugin) -> Launch {
        Launch {
            source: PluginKind::Language.file_name(name).into(),
            program: found.executable.clone(),
            args: self.arguments(vec![self.options.services.engine.clone().into()]),
            environment: environment::with_runtime_options(&self.options),
            working_directory: self.options.working_directory.clone(),
            level: OutputLevel::Info,
            keep_blank_lines: false,
            output: self.options.output.clone(),
        }
    }

    pub(super) async fn start_command(
        &self,
        spec: &PluginSpec,
        factory: &CommandFactory,
    ) -> Result<GrpcProvider, HostError> {
        let environment = environment::of_provider(&self.options, spec);
        let (program, mut args, environment) =
            factory(environment)
                .await
                .map_err(|source| HostError::Command {
                    plugin: spec.name.to_string(),
                    source,
                })?;
        args.push(self.options.services.engine.clone().into());
        let launch = Launch {
            source: PluginKind::Resource.file_name(&spec.name).into(),
            program: program.clone(),
            args,
            environment,
            ..self.provider_launch(spec, &program)
        };
        let started = GrpcProvider::start(
            &spec.name,
            launch,
            self.options.timeouts,
            &self.handshake_options(),
        )
        .await;
        Ok(started.map_err(Box::new)?)
    }

    /// Starts a plugin in source form through its language host.
    async fn start_sources(
        &self,
        spec: &PluginSpec,
        directory: &Path,
    ) -> Result<GrpcProvider, HostError> {
        let sources = Sources {
            kind: PluginKind::Resource,
            name: &spec.name,
            directory,
            args: vec![self.options.services.engine.clone()],
            environment: environment::of_provider(&self.options, spec),
            attach_debugger: self.debugged.include(&spec.name),
        };
        let run = self.run_sources(sources).await?;
        self.start_run(spec, directory, run).await
    }

    /// Lets the language host run a plugin in source form.
    pub(crate) async fn run_sources(
        &self,
        sources: Sources<'_>,
    ) -> Result<PluginLaunch, HostError> {
        let directory = sources.directory.to_owned();
        let manifest = PluginManifest::read(&directory)?;
        let host = Box::pin(self.language(&manifest.runtime)).await?;
        let request = RunPluginRequest {
            info: ProgramInfo {
                root_directory: directory.clone(),
                program_directory: directory.clone(),
                entry_point: ".".to_owned(),
                options: manifest.options,
            },
            kind: sources.kind,
            working_directory: self.options.working_directory.clone(),
            args: sources.args,
            environment: sources.environment,
            loader_target: self.options.services.loader.clone().unwrap_or_default(),
            attach_debugger: sources.attach_debugger,
        };
        let run = host.run_plugin(request).await;
        run.map_err(|source| HostError::Language {
            plugin: sources.name.to_owned(),
            directory,
            source,
        })
    }

    async fn start_run(
        &self,
        spec: &PluginSpec,
        directory: &Path,
        run: PluginLaunch,
    ) -> Result<GrpcProvider, HostError> {
        let options = self.handshake_options();
        let mut timeouts = self.options.timeouts.for_sources();
        if self.debugged.include(&spec.name) {
            timeouts = timeouts.for_debuggers();
        }
        let output = self.options.output.clone();
        let started = match run {
            PluginLaunch::Command {
                program,
                args,
                environment,
                working_directory,
            } => {
                let launch = Launch {
                    source: PluginKind::Resource.file_name(&spec.name).into(),
                    args,
                    environment,
                    working_directory,
                    ..self.provider_launch(spec, &program)
                };
                GrpcProvider::start(&spec.name, launch, timeouts, &options).await
            }
            PluginLaunch::Running(events) => {
                let name = format!("{} (resource)", spec.name);
                let sink = (level_of(&spec.name), output.clone());
                let path = directory.join(PluginKind::Resource.file_name(&spec.name));
                let started = start_from_stream(&name, path.clone(), events, sink, timeouts).await;
                match started {
                    Ok(started) => {
                        GrpcProvider::from_started(
                            &spec.name, path, started, output, timeouts, &options,
                        )
                        .await
                    }
                    Err(error) => Err(error),
                }
            }
        };
        Ok(started.map_err(Box::new)?)
    }
}

/// Starts a plugin by the answer of its language host. `launch` supplies the treatment of output and the path for messages.
pub(crate) async fn start_run(
    title: &str,
    launch: Launch,
    run: PluginLaunch,
    timeouts: PluginTimeouts,
) -> Result<(Process, Connection), StartError> {
    match run {
        PluginLaunch::Command {
            program,
            args,
            environment,
            working_directory,
        } => {
            let launch = Launch {
                program,
                args,
                environment,
                working_directory,
                ..launch
            };
            start_with_port(title, launch, timeouts).await
        }
        PluginLaunch::Running(events) => {
            let output = (launch.level, launch.output);
            start_from_stream(title, launch.program, events, output, timeouts).await
        }
    }
}

fn file_name(path: &Path) -> Arc<str> {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into()
}
