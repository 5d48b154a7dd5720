//! The event log: every engine event, for programs that drive this one (`cli.md` 2.5).
//!
//! It is a file that such a program reads while it grows, or a stream to a server of that program. **A stream is complete
//! when [`Delivery`] has ended**; what listens must have heard the last event before this process is gone.

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

/// How addresses of servers begin.
const SERVER: &str = "tcp://";

/// Carries what is written to a stream; ends when everything has arrived, or cannot.
pub(super) type Delivery = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What gets every engine event.
pub(super) struct EventLog {
    target: Target,
    lines: EventLines,
}

enum Target {
    File(File),
    Stream(mpsc::UnboundedSender<EventRequest>),
}

impl EventLog {
    /// Opens a log: a file below `directory`, whose content before is gone, or a stream with what delivers it.
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

    /// The same log for the next run. A file begins anew: an update follows its preview.
    pub(super) fn restarted(mut self) -> Self {
        if let Target::File(file) = &self.target {
            // Pipes and terminals have no length.
            let _ = file.set_len(0);
            self.lines = empty_lines();
        }
        self
    }

    /// Writes an event. A log that cannot be written must not stop the operation.
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
/// Opens a log to be appended to. A new one is for its owner alone; who reads along has made it, with the permissions it needs.
fn opened(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
