//! The resource monitor as programs see it, whatever carries the requests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use plumb_deploy::request::{Reply, Request, RequestError, RequestErrorKind};
use plumb_events::{Diagnostic, Severity};
use plumb_resource::Urn;
use tokio::sync::{mpsc, oneshot};

/// Takes requests of a program to the deployment.
#[async_trait]
pub trait ResourceMonitor: Send + Sync {
    /// Sends `request` and waits for the answer. Requests may run at the same time; they take effect in the order in
    /// which this is called (first poll).
    async fn request(&self, request: Request) -> Reply;

    /// Tells the user something, on behalf of a resource if there is one. One line or more, without the last line end.
    fn log(&self, severity: Severity, urn: Option<&Urn>, message: &str);

    /// The same for something that is of interest only while it is new.
    fn log_status(&self, severity: Severity, urn: Option<&Urn>, message: &str) {
        self.log(severity, urn, message);
    }
}

/// Something that programs and plugins say, on its way to the deployment.
pub(crate) enum Incoming {
    /// A request and where its answer goes.
    Request(Request, oneshot::Sender<Reply>),
    /// A message for the user.
    Log(LogMessage),
}

/// A message for the user.
pub(crate) struct LogMessage {
    pub(crate) severity: Severity,
    pub(crate) urn: Option<Urn>,
    pub(crate) message: String,
    pub(crate) stream_id: i32,
    pub(crate) ephemeral: bool,
}

impl LogMessage {
    /// The event that tells it.
    pub(crate) fn into_event(self) -> plumb_events::Event {
        plumb_events::Event::Diagnostic(Diagnostic {
            stream_id: self.stream_id,
            ephemeral: self.ephemeral,
            ..Diagnostic::new(self.severity, self.urn, format!("{}\n", self.message))
        })
    }

    fn new(severity: Severity, urn: Option<&Urn>, message: &str) -> Self {
        LogMessage {
            severity,
            urn: urn.cloned(),
            message: message.to_owned(),
            stream_id: 0,
            ephemeral: false,
        }
    }
}

/// What becomes of messages for developers. SDKs send several for each resource, and wait until each of them was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugMessages {
    /// The subscriber hears of them.
    Told,
    /// Nobody wants them.
    Dropped,
}

/// The way into a running deployment; clones share it.
#[derive(Clone)]
pub(crate) struct MonitorHandle {
    incoming: mpsc::UnboundedSender<Incoming>,
    debug: DebugMessages,
    /// Where paths of assets are seen from.
    working_directory: Arc<Path>,
}

impl MonitorHandle {
    pub(crate) fn new(
        working_directory: PathBuf,
        debug: DebugMessages,
    ) -> (Self, mpsc::UnboundedReceiver<Incoming>) {
        let (incoming, receiver) = mpsc::unbounded_channel();
        (
            MonitorHandle {
                incoming,
                debug,
                working_directory: working_directory.into(),
            },
            receiver,
        )
    }

    pub(crate) fn say(&self, message: LogMessage) {
        if message.severity == Severity::Debug && self.debug == DebugMessages::Dropped {
            return;
        }
        // After the end of the deployment there is nobody to tell.
        let _ = self.incoming.send(Incoming::Log(message));
    }
}

#[async_trait]
impl ResourceMonitor for MonitorHandle {
    async fn request(&self, request: Request) -> Reply {
        let request = match crate::assets::with_hashes(request, &self.working_directory).await {
            Ok(request) => request,
            Err(error) => {
                return Reply::Failed(RequestError::new(
                    RequestErrorKind::InvalidArgument,
                    error.to_string(),
                ));
            }
        };
        let (reply, answer) = oneshot::channel();
        let gone = || {
            let message = "resource monitor shut down while waiting for the deployment to complete";
            Reply::Failed(RequestError::new(RequestErrorKind::Unavailable, message))
        };
        if self
            .incoming
            .send(Incoming::Request(request, reply))
            .is_err()
        {
            return gone();
        }
        answer.await.unwrap_or_else(|_| gone())
    }

    fn log(&self, severity: Severity, urn: Option<&Urn>, message: &str) {
        self.say(LogMessage::new(severity, urn, message));
    }

    fn log_status(&self, severity: Severity, urn: Option<&Urn>, message: &str) {
        self.say(LogMessage {
            ephemeral: true,
            ..LogMessage::new(severity, urn, message)
        });
    }
}
