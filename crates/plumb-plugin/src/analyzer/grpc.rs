//! Client for policy packs that speak the protocol: in processes of their own, or in this one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use ecow::EcoString;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::analyzer_client::AnalyzerClient;
use plumb_resource::policy::{Analysis, AnalyzedResource, Remedies, StackResource};
use plumb_wire::analyzer as wire;
use plumb_wire::analyzer::{AnalyzerInfo, PolicyConfig};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tonic::{Code, Response, Status};

use super::linked::{LinkedPack, Transport, remote};
use super::{AnalyzedStack, Analyzer, AnalyzerError};
use crate::process::{Indented, PluginTimeouts, Process};
use crate::trace_context::Connection;

/// Time for the process to be reaped after its connection broke.
const END_GRACE: Duration = Duration::from_secs(1);

type Client = AnalyzerClient<Transport>;

/// A policy pack, called over gRPC.
pub struct GrpcAnalyzer {
    name: String,
    /// `None` for a pack that is part of this process.
    process: Option<Process>,
    /// `None` after the shutdown.
    client: Mutex<Option<Client>>,
    /// Limit for the answer to Cancel, and for the end of the process after an interrupt.
    grace: Duration,
    /// Version in `PulumiPolicy.yaml`, which overrides the pack's own.
    version: Option<String>,
}

/// Data for the handshake with a pack.
pub(crate) struct Greeting<'a> {
    pub(crate) engine: &'a str,
    pub(crate) directory: PathBuf,
    pub(crate) stack: &'a AnalyzedStack,
}

impl GrpcAnalyzer {
    /// Performs the handshake with a started pack and sends the data of the stack.
    pub(crate) async fn from_started(
        name: &str,
        version: Option<String>,
        (process, channel): (Process, Connection),
        timeouts: PluginTimeouts,
        greeting: Greeting<'_>,
    ) -> Result<Self, AnalyzerError> {
        let analyzer = GrpcAnalyzer {
            process: Some(process),
            version,
            ..GrpcAnalyzer::over(name, remote(channel), timeouts)
        };
        let greeted = analyzer.greet(greeting, timeouts.connect).await;
        if let (Err(_), Some(process)) = (&greeted, &analyzer.process) {
            process.kill().await;
            process.wait().await;
        }
        greeted.map(|()| analyzer)
    }

    /// Performs the handshake with a pack of this process and sends the data of the stack.
    pub(crate) async fn linked(
        name: &str,
        pack: &LinkedPack,
        timeouts: PluginTimeouts,
        greeting: Greeting<'_>,
    ) -> Result<Self, AnalyzerError> {
        let analyzer = GrpcAnalyzer::over(name, pack.service(), timeouts);
        analyzer.greet(greeting, timeouts.connect).await?;
        Ok(analyzer)
    }

    fn over(name: &str, transport: Transport, timeouts: PluginTimeouts) -> Self {
        let client = AnalyzerClient::new(transport)
            .max_decoding_message_size(plumb_proto::MAX_MESSAGE_SIZE)
            .max_encoding_message_size(plumb_proto::MAX_SENT_MESSAGE_SIZE);
        GrpcAnalyzer {
            name: name.to_owned(),
            process: None,
            client: Mutex::new(Some(client)),
            grace: timeouts.stop,
            version: None,
        }
    }

    async fn greet(&self, greeting: Greeting<'_>, limit: Duration) -> Result<(), AnalyzerError> {
        let directory = greeting.directory.to_string_lossy().into_owned();
        let handshake = pb::AnalyzerHandshakeRequest {
            engine_address: greeting.engine.to_owned(),
            root_directory: Some(directory.clone()),
            program_directory: Some(directory),
        };
        let deadline = Instant::now() + limit;
        loop {
            let mut client = self.client("Handshake")?;
            match timeout_at(deadline, client.handshake(handshake.clone())).await {
                Ok(Err(status)) if is_not_ready(&status) && Instant::now() < deadline => {
                    sleep(Duration::from_millis(10)).await;
                }
                Ok(answer) => {
                    self.unless_unknown("Handshake", answer).await?;
                    break;
                }
                Err(_) => {
                    let message = "it did not begin responding to RPC connections".to_owned();
                    return Err(self.failed("Handshake", message));
                }
            }
        }
        let stack = greeting.stack;
        let request = pb::AnalyzerStackConfigureRequest {
            stack: stack.stack.clone(),
            project: stack.project.clone(),
            organization: stack.organization.clone(),
            dry_run: stack.dry_run,
            config_secret_keys: stack.config_secret_keys.clone(),
            config: stack.config.clone(),
            tags: stack.tags.clone(),
        };
        let answer = self
            .client("ConfigureStack")?
            .configure_stack(request)
            .await;
        self.unless_unknown("ConfigureStack", answer).await?;
        Ok(())
    }

    fn client(&self, call: &'static str) -> Result<Client, AnalyzerError> {
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let client = client.clone();
        client.ok_or_else(|| self.failed(call, "it has been shut down".to_owned()))
    }

    fn failed(&self, call: &'static str, message: String) -> AnalyzerError {
        AnalyzerError::Call {
            pack: self.name.clone(),
            call,
            message,
        }
    }

    fn unsendable(&self, call: &'static str, source: plumb_wire::Error) -> AnalyzerError {
        AnalyzerError::Value {
            pack: self.name.clone(),
            call,
            source,
        }
    }

    async fn unwrap<M>(
        &self,
        call: &'static str,
        answer: Result<Response<M>, Status>,
    ) -> Result<M, AnalyzerError> {
        match answer {
            Ok(response) => Ok(response.into_inner()),
            Err(status) => Err(self.failed(call, self.explain(&status).await)),
        }
    }

    /// [`Self::unwrap`] for calls that older packs do not know: `None` if the pack does not implement the call.
    async fn unless_unknown<M>(
        &self,
        call: &'static str,
        answer: Result<Response<M>, Status>,
    ) -> Result<Option<M>, AnalyzerError> {
        match answer {
            Err(status) if status.code() == Code::Unimplemented => Ok(None),
            answer => self.unwrap(call, answer).await.map(Some),
        }
    }

    /// Message of a failed call for the user: that of the pack, or the exit of its process.
    async fn explain(&self, status: &Status) -> String {
        // Statuses sent by the peer have no source; the transport's failures have one.
        let is_transports = std::error::Error::source(status).is_some();
        let Some(process) = self.process.as_ref().filter(|_| is_transports) else {
            return status.message().to_owned();
        };
        let Ok(exit) = timeout(END_GRACE, process.wait()).await else {
            return status.message().to_owned();
        };
        let output = process.last_output();
        if output.is_empty() {
            return format!("it ended during the call: {exit}");
        }
        format!(
            "it ended during the call: {exit}\nIts last output was:{}",
            Indented(&output)
        )
    }
}

#[async_trait]
impl Analyzer for GrpcAnalyzer {
    async fn plugin_version(&self) -> Result<Option<String>, AnalyzerError> {
        let answer = self.client("GetPluginInfo")?.get_plugin_info(()).await;
        let info = self.unless_unknown("GetPluginInfo", answer).await?;
        Ok(info
            .map(|info| info.version)
            .filter(|version| !version.is_empty()))
    }

    async fn info(&self) -> Result<AnalyzerInfo, AnalyzerError> {
        let answer = self.client("GetAnalyzerInfo")?.get_analyzer_info(()).await;
        let response = self.unwrap("GetAnalyzerInfo", answer).await?;
        let info = wire::analyzer_info(&response);
        Ok(AnalyzerInfo {
            version: match &self.version {
                Some(version) => version.as_str().into(),
                None => info.version,
            },
            ..info
        })
    }

    async fn configure(
        &self,
        configs: &BTreeMap<EcoString, PolicyConfig>,
    ) -> Result<(), AnalyzerError> {
        let request = wire::configure_request(configs);
        let answer = self.client("Configure")?.configure(request).await;
        self.unwrap("Configure", answer).await?;
        Ok(())
    }

    async fn remediate(&self, resource: &AnalyzedResource) -> Result<Remedies, AnalyzerError> {
        const CALL: &str = "Remediate";
        let request = wire::remediate_request(resource).map_err(|it| self.unsendable(CALL, it))?;
        let answer = self.client(CALL)?.remediate(request).await;
        match self.unless_unknown(CALL, answer).await? {
            Some(response) => wire::remediate_response(&response, resource)
                .map_err(|it| self.unsendable(CALL, it)),
            None => Ok(Remedies::default()),
        }
    }

    async fn analyze(&self, resource: &AnalyzedResource) -> Result<Analysis, AnalyzerError> {
        const CALL: &str = "Analyze";
        let request = wire::analyze_request(resource).map_err(|it| self.unsendable(CALL, it))?;
        let answer = self.client(CALL)?.analyze(request).await;
        let response = self.unwrap(CALL, answer).await?;
        Ok(wire::analyze_response(&response))
    }

    async fn analyze_stack(&self, resources: &[StackResource]) -> Result<Analysis, AnalyzerError> {
        const CALL: &str = "AnalyzeStack";
        let request =
            wire::analyze_stack_request(resources).map_err(|it| self.unsendable(CALL, it))?;
        let answer = self.client(CALL)?.analyze_stack(request).await;
        let response = self.unless_unknown(CALL, answer).await?;
        Ok(response.map_or_else(Analysis::default, |it| wire::analyze_response(&it)))
    }

    async fn cancel(&self) {
        let Ok(mut client) = self.client("Cancel") else {
            return;
        };
        match timeout(self.grace, client.cancel(())).await {
            Ok(Err(status)) if status.code() != Code::Unimplemented => {
                tracing::debug!(pack = self.name, %status, "a policy pack did not take the cancellation");
            }
            Ok(_) => {}
            Err(_) => tracing::debug!(
                pack = self.name,
                "a policy pack did not answer the cancellation"
            ),
        }
    }

    async fn shutdown(&self) {
        let process = self.process.as_ref();
        if process.is_none_or(|process| process.try_exit().is_none()) {
            self.cancel().await;
        }
        let client = self
            .client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(client);
        if let Some(process) = process {
            process.stop(self.grace).await;
        }
    }
}

fn is_not_ready(status: &Status) -> bool {
    status.code() == Code::Unavailable
}

impl std::fmt::Debug for GrpcAnalyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GrpcAnalyzer")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
