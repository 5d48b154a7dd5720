//! The event log: every engine event, for programs that run this one (`cli.md` 2.5).
//!
//! It is a file that the other program reads while it grows, or a stream to a server in that program. **A stream is complete
//! when [`Delivery`] has ended**: the server must have received the last event before this process exits.

use std::fs::File;
use std::future::Future;
use std::io::Write as _;
use std::path::Path;
use std::pin::Pin;

use jiff::Timestamp;
use plumb_events::json::{Encoding, EventLines};
use plumb_events::{Event, Filter};
use plumb_proto::pulumirpc::EventRequest;
use plumb_proto::pulumirpc::events_client::EventsClient;
use tokio::sync::mpsc;
use tonic::transport::{Channel, Endpoint};

use crate::Error;

/// Scheme of server addresses.
const SERVER: &str = "tcp://";

/// Sends the events of a stream; ends when all have been received, or the server cannot be reached.
pub(super) type Delivery = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Writer of all engine events to a file or a stream.
pub(super) struct EventLog {
    target: Target,
    lines: EventLines,
}

enum Target {
    File(File),
    Stream(mpsc::UnboundedSender<EventRequest>),
}

impl EventLog {
    /// Opens a log: a file relative to `directory`, which is truncated, or a stream together with its delivery.
    pub(super) fn open(target: &str, directory: &Path) -> Result<(Self, Delivery), Error> {
        if let Some(address) = target.strip_prefix(SERVER) {
            let (sender, events) = mpsc::unbounded_channel();
            let log = EventLog {
                target: Target::Stream(sender),
                lines: empty_lines(),
            };
            return Ok((log, Box::pin(deliver(address.to_owned(), events))));
        }
        let path = directory.join(target);
        let file = opened(&path).map_err(|error| {
            Error::user(format!(
                "could not open the event log {}: {error}",
                path.display()
            ))
        })?;
        let log = EventLog {
            target: Target::File(file),
            lines: empty_lines(),
        };
        Ok((log.restarted(), Box::pin(std::future::ready(()))))
    }

    /// The log for the next run. A file is truncated, because the log of an update replaces that of its preview.
    pub(super) fn restarted(mut self) -> Self {
        if let Target::File(file) = &self.target {
            // Fails for pipes and terminals, which have no length.
            let _ = file.set_len(0);
            self.lines = empty_lines();
        }
        self
    }

    /// Writes an event. Errors are ignored, because they must not stop the operation.
    pub(super) fn write(&mut self, event: &Event, at: Timestamp) {
        let line = self.lines.line(event, at.as_second());
        if line.is_empty() {
            return;
        }
        let line = format!("{}\n", line.trim_end());
        match &mut self.target {
            Target::File(file) => {
                let _ = file.write_all(line.as_bytes());
            }
            Target::Stream(stream) => {
                let _ = stream.send(EventRequest { event: line });
            }
        }
    }
}

fn empty_lines() -> EventLines {
    EventLines::new(Encoding {
        filter: Filter::hiding_secrets(),
        keep_color: false,
    })
}

async fn deliver(address: String, events: mpsc::UnboundedReceiver<EventRequest>) {
    if let Err(error) = stream(&address, events).await {
        tracing::debug!(address, %error, "nobody gets the engine events");
    }
}

async fn stream(
    address: &str,
    mut events: mpsc::UnboundedReceiver<EventRequest>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let channel: Channel = Endpoint::from_shared(format!("http://{address}"))?
        .connect()
        .await?;
    let events = futures::stream::poll_fn(move |cx| events.poll_recv(cx));
    EventsClient::new(channel).stream_events(events).await?;
    Ok(())
}
/// Opens a log for appending. A new file is readable only by its owner; a program that reads the log creates the file
/// itself, with the permissions it needs.
fn opened(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
