//! Client of a resource monitor in another process.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use plumb_deploy::request::{Reply, Request, RequestError, RequestErrorKind};
use plumb_engine::monitor::ResourceMonitor;
use plumb_events::Severity;
use plumb_proto::pulumirpc::engine_client::EngineClient;
use plumb_proto::pulumirpc::resource_monitor_client::ResourceMonitorClient;
use plumb_proto::pulumirpc::{LogRequest, LogSeverity, SupportsFeatureRequest};
use plumb_proto::{MAX_MESSAGE_SIZE, MAX_SENT_MESSAGE_SIZE};
use plumb_resource::Urn;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tonic::transport::Channel;
use tonic::{Code, Status};

use super::encode;

/// Sends the requests of a program to an engine.
pub(super) struct RemoteMonitor {
    client: ResourceMonitorClient<Channel>,
    root: PathBuf,
    log: Mutex<Option<Log>>,
}

/// Queue of log messages, which keeps their order.
struct Log {
    messages: mpsc::UnboundedSender<LogRequest>,
    task: JoinHandle<()>,
}

impl RemoteMonitor {
    /// Creates a monitor; `root` is the folder of the project file.
    pub(super) fn new(monitor: Channel, engine: Channel, root: &Path) -> Self {
        let (messages, receiver) = mpsc::unbounded_channel();
        // Joined by `flush`.
        let task = tokio::spawn(forward(EngineClient::new(engine), receiver));
        RemoteMonitor {
            client: ResourceMonitorClient::new(monitor)
                .max_decoding_message_size(MAX_MESSAGE_SIZE)
                .max_encoding_message_size(MAX_SENT_MESSAGE_SIZE),
            root: root.to_owned(),
            log: Mutex::new(Some(Log { messages, task })),
        }
    }

    /// Whether the engine accepts resource references.
    pub(super) async fn has_resource_references(&self) -> bool {
        let request = SupportsFeatureRequest {
            id: "resourceReferences".to_owned(),
        };
        let answer = self.client.clone().supports_feature(request).await;
        answer.is_ok_and(|answer| answer.into_inner().has_support)
    }

    /// Waits until the engine has received all messages. Later messages are dropped.
    pub(super) async fn flush(&self) {
        let log = self
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(Log { messages, task }) = log {
            drop(messages);
            // The task does not fail; messages that the engine rejects are dropped.
            let _ = task.await;
        }
    }

    fn say(&self, severity: Severity, urn: Option<&Urn>, message: &str, ephemeral: bool) {
        let severity = match severity {
            Severity::Debug => LogSeverity::Debug,
            Severity::Info | Severity::InfoErr => LogSeverity::Info,
            Severity::Warning => LogSeverity::Warning,
            Severity::Error => LogSeverity::Error,
        };
        let request = LogRequest {
            severity: severity.into(),
            message: message.to_owned(),
            urn: urn.map(ToString::to_string).unwrap_or_default(),
            stream_id: 0,
            ephemeral,
        };
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = log.as_ref() {
            // Fails only after the engine has gone.
            let _ = log.messages.send(request);
        }
    }

    async fn ask(&self, request: Request) -> Result<Reply, Status> {
        let mut client = self.client.clone();
        match request {
            Request::Register(request) => {
                let wire = encode::register(&request, &self.root)?;
                let response = client.register_resource(wire).await?;
                encode::registered(response.into_inner(), request.custom)
            }
            Request::Read(request) => {
                let wire = encode::read(&request, &self.root)?;
                let response = client.read_resource(wire).await?;
                encode::was_read(response.into_inner(), &request.id)
            }
            Request::RegisterOutputs(request) => {
                let wire = encode::outputs(&request)?;
                client.register_resource_outputs(wire).await?;
                Ok(Reply::Done)
            }
            Request::Invoke(request) => {
                let wire = encode::invoke(&request)?;
                let response = client.invoke(wire).await?;
                encode::invoked(response.into_inner())
            }
            Request::RegisterPackage(request) => {
                let wire = encode::package(&request);
                let response = client.register_package(wire).await?;
                Ok(Reply::Package(response.into_inner().r#ref.into()))
            }
            Request::SignalAndWaitForShutdown => {
                client.signal_and_wait_for_shutdown(()).await?;
                Ok(Reply::Done)
            }
            // YAML programs have no methods, transforms, hooks or views, and do not wait for snippets.
            Request::Call(_)
            | Request::RegisterStackTransform(_)
            | Request::RegisterStackInvokeTransform(_)
            | Request::RegisterHook(_)
            | Request::PublishViewSteps { .. }
            | Request::Await(_) => Err(Status::unimplemented(
                "the host of YAML programs does not send requests of this kind",
            )),
        }
    }
}

async fn forward(
    mut engine: EngineClient<Channel>,
    mut messages: mpsc::UnboundedReceiver<LogRequest>,
) {
    while let Some(message) = messages.recv().await {
        if let Err(status) = engine.log(message).await {
            tracing::debug!(%status, "the engine did not take a message");
        }
    }
}

#[async_trait]
impl ResourceMonitor for RemoteMonitor {
    async fn request(&self, request: Request) -> Reply {
        self.ask(request).await.unwrap_or_else(failed)
    }

    fn log(&self, severity: Severity, urn: Option<&Urn>, message: &str) {
        self.say(severity, urn, message, false);
    }

    fn log_status(&self, severity: Severity, urn: Option<&Urn>, message: &str) {
        self.say(severity, urn, message, true);
    }
}

fn failed(status: Status) -> Reply {
    let kind = match status.code() {
        Code::InvalidArgument => RequestErrorKind::InvalidArgument,
        Code::Unavailable | Code::Cancelled => RequestErrorKind::Unavailable,
        Code::FailedPrecondition => RequestErrorKind::FailedPrecondition,
        Code::Unimplemented => RequestErrorKind::Unimplemented,
        _ => RequestErrorKind::Unknown,
    };
    Reply::Failed(RequestError::new(kind, status.message()))
}
