//! The resource monitor as an interface, independent of the transport of requests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use plumb_deploy::request::{Reply, Request, RequestError, RequestErrorKind};
use plumb_events::{Diagnostic, Severity};
use plumb_resource::Urn;
use plumb_value::PropertyMap;
use tokio::sync::{mpsc, oneshot};

/// Passes requests of a program to the deployment.
#[async_trait]
pub trait ResourceMonitor: Send + Sync {
    /// Sends `request` and waits for the answer. Requests may run at the same time; they take effect in the order in
    /// which this is called (first poll).
    async fn request(&self, request: Request) -> Reply;

    /// Sends a message to the user, about a resource if there is one. One line or more, without the last line end.
    fn log(&self, severity: Severity, urn: Option<&Urn>, message: &str);

    /// [`Self::log`] for a passing status, which is of no interest later.
    fn log_status(&self, severity: Severity, urn: Option<&Urn>, message: &str) {
        self.log(severity, urn, message);
    }
}

/// Messages of programs and plugins to the deployment.
pub(crate) enum Incoming {
    /// A request and the receiver of its answer.
    Request(Request, oneshot::Sender<Reply>),
    /// A message for the user.
    Log(LogMessage),
    /// A process waits for a debugger; these are the debugger's parameters.
    Debugging(PropertyMap),
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
    /// The event for the message.
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

/// Treatment of debug messages. SDKs send several per resource, and wait until each has been accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugMessages {
    /// Debug messages are sent to the subscriber.
    Told,
    /// Debug messages are dropped.
    Dropped,
}

/// Sender to a running deployment. Clones share it.
#[derive(Clone)]
pub(crate) struct MonitorHandle {
    incoming: mpsc::UnboundedSender<Incoming>,
    debug: DebugMessages,
    /// Folder in which relative paths of assets start.
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
        // Fails after the end of the deployment, and then the message is not needed.
        let _ = self.incoming.send(Incoming::Log(message));
    }

    /// Reports that a process waits for a debugger.
    pub(crate) fn waits_for_debugger(&self, config: PropertyMap) {
        let _ = self.incoming.send(Incoming::Debugging(config));
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
