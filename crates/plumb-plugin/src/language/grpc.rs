//! Client for language hosts in processes of their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::language_runtime_client::LanguageRuntimeClient;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status};

use super::{
    AboutLanguage, InstallRequest, LanguageError, LanguageRuntime, LinkRequest, OptionPrompt,
    PackRequest, PluginEvent, PluginLaunch, ProgramDependency, ProgramInfo, RequiredPackages,
    RunOutcome, RunPluginRequest, RunRequest, convert,
};
use crate::discovery::parse_tolerant;
use crate::output::{OutputLevel, OutputLine, OutputSink, OutputStream};
use crate::process::{Launch, PluginTimeouts, Process, connect, start_with_port};
use crate::trace_context::Connection;

/// Limit for the answer to Cancel, and for the end of the host.
const GRACE: Duration = Duration::from_secs(5);

/// Time for a program to end after a cancellation that its host cannot pass on. Requests of the program fail by then, so it
/// usually ends soon after cleaning up; a program that hangs is abandoned.
const GRACE_WITHOUT_CANCEL: Duration = Duration::from_secs(2);
const HANDSHAKE_TRIES: u32 = 1000;

/// A language host in a process of its own, or at an address.
pub struct GrpcLanguageHost {
    name: String,
    client: LanguageRuntimeClient<Connection>,
    process: Option<Process>,
}

impl GrpcLanguageHost {
    /// Starts the host called `name`.
    pub async fn start(
        name: &str,
        launch: Launch,
        timeouts: PluginTimeouts,
    ) -> Result<Self, LanguageError> {
        let (process, channel) = start_with_port(&format!("{name} (language)"), launch, timeouts)
            .await
            .map_err(Box::new)?;
        Ok(GrpcLanguageHost {
            name: name.to_owned(),
            client: client(channel),
            process: Some(process),
        })
    }

    /// Connects to a host at `address` (`host:port`) that the engine did not start: an SDK that runs a program in its own
    /// process.
    pub async fn dial(name: &str, address: &str, limit: Duration) -> Result<Self, LanguageError> {
        let channel = connect(address, limit)
            .await
            .map_err(|reason| LanguageError::Connect {
                address: address.to_owned(),
                reason,
            })?;
        Ok(GrpcLanguageHost {
            name: name.to_owned(),
            client: client(channel),
            process: None,
        })
    }

    /// Asks the host to end its programs. Returns whether the host confirmed.
    async fn ask_to_end(&self) -> bool {
        let mut client = self.client.clone();
        match tokio::time::timeout(GRACE, client.cancel(())).await {
            Ok(Ok(_)) => true,
            Ok(Err(status)) => {
                tracing::debug!(host = self.name, %status, "a language host did not take the cancellation");
                false
            }
            Err(_) => {
                tracing::debug!(
                    host = self.name,
                    "a language host did not answer the cancellation"
                );
                false
            }
        }
    }

    /// [`GrpcLanguageHost::dial`] for a host under a debugger, which needs the engine's address in a handshake.
    pub async fn attach(
        name: &str,
        address: &str,
        engine_address: &str,
        limit: Duration,
    ) -> Result<Self, LanguageError> {
        let host = Self::dial(name, address, limit).await?;
        for _ in 0..HANDSHAKE_TRIES {
            let request = pb::LanguageHandshakeRequest {
                engine_address: engine_address.to_owned(),
                ..Default::default()
            };
            match host.client.clone().handshake(request).await {
                Ok(_) => return Ok(host),
                Err(status) if status.code() == Code::Unavailable => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Err(status) => return Err(host.failure("handshake", status).await),
            }
        }
        Err(LanguageError::Connect {
            address: address.to_owned(),
            reason: "it does not answer".to_owned(),
        })
    }

    async fn failure(&self, operation: &'static str, status: Status) -> LanguageError {
        let host = self.name.clone();
        if let Some(process) = &self.process
            && status.code() == Code::Unavailable
            && let Ok(exit) = tokio::time::timeout(Duration::from_secs(1), process.wait()).await
        {
            return LanguageError::Ended {
                host,
                operation,
                exit,
                output: process.last_output(),
            };
        }
        if status.code() == Code::Unimplemented {
            return LanguageError::Unsupported { host, operation };
        }
        LanguageError::Call {
            host,
            operation,
            message: status.message().to_owned(),
        }
    }

    async fn required_plugins(
        &self,
        info: &ProgramInfo,
    ) -> Result<RequiredPackages, LanguageError> {
        #[expect(
            deprecated,
            reason = "older hosts know only this call and these fields"
        )]
        let request = pb::GetRequiredPluginsRequest {
            project: "deprecated".to_owned(),
            pwd: info.program_directory.to_string_lossy().into_owned(),
            program: info.entry_point.clone(),
            info: Some(convert::program_info(info)),
        };
        #[expect(deprecated, reason = "older hosts know only this call")]
        let answer = self.client.clone().get_required_plugins(request).await;
        match answer {
            Ok(response) => {
                let plugins = response.into_inner().plugins;
                let packages = plugins
                    .into_iter()
                    .filter_map(convert::plugin_dependency)
                    .collect();
                Ok(RequiredPackages {
                    packages,
                    unresolved: Vec::new(),
                })
            }
            Err(status) if status.code() == Code::Unimplemented => Ok(RequiredPackages::default()),
            Err(status) => Err(self.failure("listing required plugins", status).await),
        }
    }
}

fn client(channel: Connection) -> LanguageRuntimeClient<Connection> {
    LanguageRuntimeClient::new(channel)
        .max_decoding_message_size(plumb_proto::MAX_MESSAGE_SIZE)
        .max_encoding_message_size(plumb_proto::MAX_SENT_MESSAGE_SIZE)
}

#[async_trait]
impl LanguageRuntime for GrpcLanguageHost {
    fn is_in_process(&self) -> bool {
        false
    }

    fn name(&self) -> &str {
        &self.name
    }

    async fn version(&self) -> Result<Option<semver::Version>, LanguageError> {
        match self.client.clone().get_plugin_info(()).await {
            Ok(response) => Ok(parse_tolerant(&response.into_inner().version)),
            Err(status) if status.code() == Code::Unimplemented => Ok(None),
            Err(status) => Err(self.failure("asking for the version", status).await),
        }
    }

    async fn required_packages(
        &self,
        info: &ProgramInfo,
    ) -> Result<RequiredPackages, LanguageError> {
        let request = pb::GetRequiredPackagesRequest {
            info: Some(convert::program_info(info)),
        };
        match self.client.clone().get_required_packages(request).await {
            Ok(response) => Ok(convert::required_packages(response.into_inner())),
            Err(status) if status.code() == Code::Unimplemented => {
                self.required_plugins(info).await
            }
            Err(status) => Err(self.failure("listing required packages", status).await),
        }
    }

    async fn run(
        &self,
        request: RunRequest,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, LanguageError> {
        let mut client = self.client.clone();
        let run = client.run(convert::run_request(request));
        tokio::pin!(run);
        let answer = tokio::select! {
            answer = &mut run => answer,
            () = cancel.cancelled() => {
                let grace = if self.ask_to_end().await {
                    GRACE
                } else {
                    GRACE_WITHOUT_CANCEL
                };
                match tokio::time::timeout(grace, &mut run).await {
                    Ok(answer) => answer,
                    Err(_) => return Ok(RunOutcome::Bailed),
                }
            }
        };
        match answer {
            Ok(response) => {
                let response = response.into_inner();
                Ok(match (response.bail, response.error.is_empty()) {
                    (true, _) => RunOutcome::Bailed,
                    (false, true) => RunOutcome::Succeeded,
                    (false, false) => RunOutcome::Failed(response.error),
                })
            }
            Err(_) if cancel.is_cancelled() => Ok(RunOutcome::Bailed),
            Err(status) => Err(self.failure("running the program", status).await),
        }
    }

    async fn install_dependencies(
        &self,
        request: InstallRequest,
        output: OutputSink,
    ) -> Result<(), LanguageError> {
        const OPERATION: &str = "installing dependencies";
        #[expect(deprecated, reason = "older hosts read the deprecated fields")]
        let message = pb::InstallDependenciesRequest {
            directory: request
                .info
                .program_directory
                .to_string_lossy()
                .into_owned(),
            is_terminal: request.is_terminal,
            info: Some(convert::program_info(&request.info)),
            use_language_version_tools: request.use_language_version_tools,
            is_plugin: request.is_plugin,
        };
        let mut stream = match self.client.clone().install_dependencies(message).await {
            Ok(response) => response.into_inner(),
            Err(status) if status.code() == Code::Unimplemented => return Ok(()),
            Err(status) => return Err(self.failure(OPERATION, status).await),
        };
        let mut stdout = LineSplitter::new(&self.name, OutputStream::Stdout, output.clone());
        let mut stderr = LineSplitter::new(&self.name, OutputStream::Stderr, output);
        while let Some(chunk) = stream.next().await {
            match chunk {
                Ok(chunk) => {
                    stdout.take(&chunk.stdout);
                    stderr.take(&chunk.stderr);
                }
                Err(status) if status.code() == Code::Unimplemented => break,
                Err(status) => return Err(self.failure(OPERATION, status).await),
            }
        }
        stdout.finish();
        stderr.finish();
        Ok(())
    }

    async fn about(&self, info: &ProgramInfo) -> Result<AboutLanguage, LanguageError> {
        let request = pb::AboutRequest {
            info: Some(convert::program_info(info)),
        };
        match self.client.clone().about(request).await {
            Ok(response) => {
                let response = response.into_inner();
                Ok(AboutLanguage {
                    executable: response.executable,
                    version: response.version,
                    metadata: response.metadata,
                })
            }
            Err(status) => Err(self.failure("about", status).await),
        }
    }

    async fn program_dependencies(
        &self,
        info: &ProgramInfo,
        transitive: bool,
    ) -> Result<Vec<ProgramDependency>, LanguageError> {
        #[expect(deprecated, reason = "older hosts read the deprecated fields")]
        let request = pb::GetProgramDependenciesRequest {
            project: "deprecated".to_owned(),
            pwd: info.program_directory.to_string_lossy().into_owned(),
            program: info.entry_point.clone(),
            transitive_dependencies: transitive,
            info: Some(convert::program_info(info)),
        };
        match self.client.clone().get_program_dependencies(request).await {
            Ok(response) => Ok(response
                .into_inner()
                .dependencies
                .into_iter()
                .map(|dependency| ProgramDependency {
                    name: dependency.name,
                    version: dependency.version,
                })
                .collect()),
            Err(status) => Err(self.failure("listing dependencies", status).await),
        }
    }

    async fn option_prompts(&self, info: &ProgramInfo) -> Result<Vec<OptionPrompt>, LanguageError> {
        let request = pb::RuntimeOptionsRequest {
            info: Some(convert::program_info(info)),
        };
        match self.client.clone().runtime_options_prompts(request).await {
            Ok(response) => Ok(response
                .into_inner()
                .prompts
                .into_iter()
                .map(convert::option_prompt)
                .collect()),
            Err(status) if status.code() == Code::Unimplemented => Ok(Vec::new()),
            Err(status) => Err(self.failure("listing runtime options", status).await),
        }
    }

    async fn template(&self, info: &ProgramInfo, project: &str) -> Result<(), LanguageError> {
        let request = pb::TemplateRequest {
            info: Some(convert::program_info(info)),
            project_name: project.to_owned(),
        };
        match self.client.clone().template(request).await {
            Ok(_) => Ok(()),
            Err(status) if status.code() == Code::Unimplemented => Ok(()),
            Err(status) => Err(self.failure("preparing the project", status).await),
        }
    }

    async fn run_plugin(&self, request: RunPluginRequest) -> Result<PluginLaunch, LanguageError> {
        let environment = request.environment.iter();
        let message = pb::RunPluginRequest {
            pwd: request.working_directory.to_string_lossy().into_owned(),
            args: request.args,
            env: environment
                .map(|(key, value)| {
                    format!("{}={}", key.to_string_lossy(), value.to_string_lossy())
                })
                .collect(),
            info: Some(convert::program_info(&request.info)),
            kind: request.kind.as_str().to_owned(),
            attach_debugger: request.attach_debugger,
            loader_target: request.loader_target,
            ..Default::default()
        };
        match self.client.clone().run_plugin(message).await {
            Ok(response) => Ok(PluginLaunch::Running(
                response.into_inner().filter_map(plugin_event).boxed(),
            )),
            Err(status) => Err(self.failure("running a plugin", status).await),
        }
    }

    async fn pack(&self, request: PackRequest) -> Result<PathBuf, LanguageError> {
        let message = pb::PackRequest {
            package_directory: text(&request.package_directory),
            destination_directory: text(&request.destination_directory),
        };
        match self.client.clone().pack(message).await {
            Ok(response) => Ok(response.into_inner().artifact_path.into()),
            Err(status) => Err(self.failure("packing a library", status).await),
        }
    }

    async fn link(&self, request: LinkRequest) -> Result<String, LanguageError> {
        let message = convert::link_request(request);
        match self.client.clone().link(message).await {
            Ok(response) => Ok(response.into_inner().import_instructions),
            Err(status) => Err(self.failure("linking libraries", status).await),
        }
    }

    async fn cancel(&self) {
        self.ask_to_end().await;
    }

    async fn shutdown(&self) {
        if let Some(process) = &self.process {
            self.cancel().await;
            process.stop(GRACE).await;
        }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

async fn plugin_event(message: Result<pb::RunPluginResponse, Status>) -> Option<PluginEvent> {
    use pb::run_plugin_response::Output;
    match message {
        Ok(message) => message.output.map(|output| match output {
            Output::Stdout(bytes) => PluginEvent::Stdout(bytes),
            Output::Stderr(bytes) => PluginEvent::Stderr(bytes),
            Output::Exitcode(code) => PluginEvent::Exited(code),
        }),
        Err(status) => Some(PluginEvent::Failed(status.message().to_owned())),
    }
}

/// Splits chunks of output into lines.
struct LineSplitter {
    source: std::sync::Arc<str>,
    stream: OutputStream,
    output: OutputSink,
    rest: Vec<u8>,
}

impl LineSplitter {
    fn new(source: &str, stream: OutputStream, output: OutputSink) -> Self {
        LineSplitter {
            source: source.into(),
            stream,
            output,
            rest: Vec::new(),
        }
    }

    fn take(&mut self, chunk: &[u8]) {
        self.rest.extend_from_slice(chunk);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.emit(&line);
        }
    }

    fn finish(&mut self) {
        if !self.rest.is_empty() {
            let line = std::mem::take(&mut self.rest);
            self.emit(&line);
        }
    }

    fn emit(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        (self.output)(OutputLine {
            source: self.source.clone(),
            stream: self.stream,
            level: OutputLevel::Info,
            text: text.trim_end_matches(['\n', '\r']).to_owned(),
        });
    }
}
