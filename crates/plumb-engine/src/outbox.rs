//! Buffer of outgoing replies and events, so that many are sent at once.
//!
//! Replies wait until no other work is ready. Requests that arrive meanwhile can be answered together with them, which saves
//! a write and a wake-up for each reply. Events wait for at most [`PAUSE`], which is too short to be noticed.

use std::time::Duration;

use jiff::Timestamp;
use plumb_deploy::request::Reply;
use plumb_events::Event;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::shell::Subscriber;

/// Maximum number of collected events, or replies.
const BATCH: usize = 256;
/// Maximum delay of events.
const PAUSE: Duration = Duration::from_millis(10);

/// Outgoing events and replies.
pub(crate) struct Outbox {
    subscriber: Subscriber,
    events: Vec<(Timestamp, Event)>,
    /// Time at which the collected events are sent, if there are any.
    due: Option<Instant>,
    replies: Vec<(oneshot::Sender<Reply>, Reply)>,
}

impl Outbox {
    pub(crate) fn new(subscriber: Subscriber) -> Self {
        Outbox {
            subscriber,
            events: Vec::new(),
            due: None,
            replies: Vec::new(),
        }
    }

    pub(crate) fn emit(&mut self, at: Timestamp, event: Event) {
        self.events.push((at, event));
        if self.events.len() >= BATCH {
            self.tell();
        } else if self.due.is_none() {
            self.due = Some(Instant::now() + PAUSE);
        }
    }

    pub(crate) fn reply(&mut self, answer: oneshot::Sender<Reply>, reply: Reply) {
        self.replies.push((answer, reply));
        if self.replies.len() >= BATCH {
            self.answer();
        }
    }

    /// Whether replies have been collected.
    pub(crate) fn has_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Returns when [`Outbox::tell`] is due; never, if there are no events.
    pub(crate) async fn until_due(&self) {
        match self.due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    /// Sends the collected replies.
    pub(crate) fn answer(&mut self) {
        for (answer, reply) in self.replies.drain(..) {
            // Fails if the program was dropped, and then the reply is not needed.
            let _ = answer.send(reply);
        }
    }

    /// Sends the collected events to the subscriber.
    pub(crate) fn tell(&mut self) {
        self.due = None;
        if !self.events.is_empty() {
            // Fails if the subscriber was dropped, and then the events are not needed.
            let _ = self.subscriber.send(std::mem::take(&mut self.events));
        }
    }
}

#[cfg(test)]
mod tests {
    use plumb_deploy::request::{RequestError, RequestErrorKind};
    use tokio::sync::mpsc;

    use super::*;

    fn outbox() -> (Outbox, mpsc::UnboundedReceiver<Vec<(Timestamp, Event)>>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Outbox::new(sender), receiver)
    }

    #[tokio::test]
    async fn events_go_out_together() {
        let (mut outbox, mut heard) = outbox();
        assert_eq!(outbox.due, None);
        outbox.emit(Timestamp::UNIX_EPOCH, Event::Cancel);
        let due = outbox.due;
        assert!(due.is_some());
        outbox.emit(Timestamp::UNIX_EPOCH, Event::Cancel);
        assert_eq!(outbox.due, due);
        assert!(heard.try_recv().is_err());
        outbox.tell();
        assert_eq!(heard.try_recv().unwrap().len(), 2);
        assert_eq!(outbox.due, None);
        for _ in 0..BATCH {
            outbox.emit(Timestamp::UNIX_EPOCH, Event::Cancel);
        }
        assert_eq!(heard.try_recv().unwrap().len(), BATCH);
    }

    #[test]
    fn replies_go_out_together() {
        let (mut outbox, _heard) = outbox();
        let (answer, mut receiver) = oneshot::channel();
        let error = RequestError::new(RequestErrorKind::Unavailable, "gone");
        outbox.reply(answer, Reply::Failed(error));
        assert!(outbox.has_replies() && receiver.try_recv().is_err());
        outbox.answer();
        assert!(!outbox.has_replies() && receiver.try_recv().is_ok());
    }
}
