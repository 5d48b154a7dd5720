//! Client of a resource monitor in another process.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use plumb_deploy::request::{Reply, Request, RequestError, RequestErrorKind};
use plumb_engine::monitor::ResourceMonitor;
use plumb_events::Severity;
use plumb_proto::pulumirpc::engine_client::EngineClient;
use plumb_proto::pulumirpc::resource_monitor_client::ResourceMonitorClient;
use plumb_proto::pulumirpc::{
    LogRequest, LogSeverity, ResourceMonitorFeature, SupportsFeatureRequest,
};
use plumb_proto::{MAX_MESSAGE_SIZE, MAX_SENT_MESSAGE_SIZE};
use plumb_resource::Urn;
use plumb_wire::MarshalOptions;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tonic::transport::Channel;
use tonic::{Code, Status};

use super::encode::{self, Form};

/// Sends the requests of a program to an engine.
pub(super) struct RemoteMonitor {
    client: ResourceMonitorClient<Channel>,
    root: PathBuf,
    values: MarshalOptions,
    resource_references: bool,
    log: Mutex<Option<Log>>,
}

/// Queue of log messages, which keeps their order.
struct Log {
    messages: mpsc::UnboundedSender<LogRequest>,
    task: JoinHandle<()>,
}

impl RemoteMonitor {
    /// Asks the engine for its features; `root` is the folder of the project file.
    pub(super) async fn connect(monitor: Channel, engine: Channel, root: &Path) -> Self {
        let client = ResourceMonitorClient::new(monitor)
            .max_decoding_message_size(MAX_MESSAGE_SIZE)
            .max_encoding_message_size(MAX_SENT_MESSAGE_SIZE);
        let features = features(client.clone()).await;
        let byte_strings = features.contains(&ResourceMonitorFeature::ByteString);
        let (messages, receiver) = mpsc::unbounded_channel();
        // Joined by `flush`.
        let task = tokio::spawn(forward(EngineClient::new(engine), receiver));
        RemoteMonitor {
            client,
            root: root.to_owned(),
            values: MarshalOptions::RICH.byte_strings(byte_strings),
            resource_references: features.contains(&ResourceMonitorFeature::ResourceReferences),
            log: Mutex::new(Some(Log { messages, task })),
        }
    }

    /// Whether the engine accepts resource references.
    pub(super) fn has_resource_references(&self) -> bool {
        self.resource_references
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
            Severity::Info => LogSeverity::Info,
            // The protocol has no such severity: engines show the error stream of a host so.
            Severity::InfoErr => return write_error_stream(message),
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
        let form = Form {
            root: &self.root,
            values: self.values,
        };
        match request {
            Request::Register(request) => {
                let wire = encode::register(&request, form)?;
                let response = client.register_resource(wire).await?;
                encode::registered(response.into_inner(), request.custom)
            }
            Request::Read(request) => {
                let wire = encode::read(&request, form)?;
                let response = client.read_resource(wire).await?;
                encode::was_read(response.into_inner(), &request.id)
            }
            Request::RegisterOutputs(request) => {
                let wire = encode::outputs(&request, form)?;
                client.register_resource_outputs(wire).await?;
                Ok(Reply::Done)
            }
            Request::Invoke(request) => {
                let wire = encode::invoke(&request, form)?;
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

/// Features of the engine. Older engines do not list them, and answer for single ones by name.
async fn features(mut client: ResourceMonitorClient<Channel>) -> Vec<ResourceMonitorFeature> {
    if let Ok(info) = client.get_deployment_info(()).await {
        return info.into_inner().supported_features().collect();
    }
    let id = "resourceReferences".to_owned();
    let answer = client.supports_feature(SupportsFeatureRequest { id }).await;
    let has_support = answer.is_ok_and(|answer| answer.into_inner().has_support);
    let features = has_support.then_some(ResourceMonitorFeature::ResourceReferences);
    features.into_iter().collect()
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

fn write_error_stream(line: &str) {
    // An engine that has closed the stream wants no more of it.
    let _ = writeln!(std::io::stderr(), "{line}");
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
