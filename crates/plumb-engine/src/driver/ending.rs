//! End of a run: late messages of the program, and the tasks to stop.

use std::time::Duration;

use plumb_deploy::request::Reply;
use plumb_deploy::{Outcome, ProgramEnd};
use plumb_events::{Diagnostic, OperationResult, Severity};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::{Driver, program_end};
use crate::monitor::Incoming;
use crate::shell::Ended;

/// Time for the host of a cancelled program to interrupt it before its requests fail. Without it the SDK may see a failed
/// request first, and report it as one more error, because the interruption comes through the host and takes longer.
const INTERRUPTION: Duration = Duration::from_millis(100);

/// Requests that come after the end of a deployment, or that it left without an answer. They fail when this is dropped.
struct LateRequests {
    unanswered: Vec<oneshot::Sender<Reply>>,
    /// Time until which requests wait; `None` when they fail at once.
    kept_until: Option<Instant>,
}

impl LateRequests {
    fn new(unanswered: Vec<oneshot::Sender<Reply>>, is_cancelled: bool) -> Self {
        let mut requests = LateRequests {
            unanswered,
            kept_until: Some(Instant::now() + INTERRUPTION),
        };
        if !is_cancelled {
            requests.fail();
        }
        requests
    }

    fn add(&mut self, request: oneshot::Sender<Reply>) {
        if self.kept_until.is_some() {
            self.unanswered.push(request);
        }
    }

    /// Waits until the requests are due to fail; for ever if they have failed.
    async fn due(&self) {
        match self.kept_until {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    fn have_failed(&self) -> bool {
        self.kept_until.is_none()
    }

    /// Fails the requests, and those that still come.
    fn fail(&mut self) {
        self.kept_until = None;
        self.unanswered.clear();
    }
}

impl Driver {
    /// Ends a run whose deployment is over. After a success the program may go on to its own end; otherwise it is cancelled.
    pub(super) async fn end(
        mut self,
        mut incoming: mpsc::UnboundedReceiver<Incoming>,
        mut interrupts: watch::Receiver<u32>,
    ) -> Ended {
        let succeeded = self
            .outcome
            .as_ref()
            .is_some_and(|outcome| outcome.result == OperationResult::Succeeded);
        self.flush_all();
        if !succeeded {
            self.program_cancel.cancel();
            self.tasks.calls.abort_all();
        }
        let unanswered = std::mem::take(&mut self.answers).into_values().collect();
        let late = LateRequests::new(unanswered, !succeeded);
        let failure = self.hear_out(&mut incoming, &mut interrupts, late).await;
        self.tasks.stop().await;
        let mut outcome = self.outcome.take().unwrap_or_else(|| Outcome {
            result: OperationResult::Canceled,
            has_begun: true,
            has_changes: false,
            error: Some("canceled".to_owned()),
            root_stack: None,
        });
        if let (true, Some(message)) = (succeeded, failure) {
            outcome.result = OperationResult::Failed;
            outcome.error = Some(message);
        }
        // The error may contain the last words of a plugin, which has printed a secret.
        outcome.error = outcome.error.map(|message| self.masks.plain(&message));
        self.close(outcome.result);
        Ended {
            plan: self
                .plan
                .filter(|_| outcome.result == OperationResult::Succeeded),
            outcome,
            journal: self.journal,
        }
    }

    /// Forwards messages of the program until it has ended; returns its error, if it failed.
    async fn hear_out(
        &mut self,
        incoming: &mut mpsc::UnboundedReceiver<Incoming>,
        interrupts: &mut watch::Receiver<u32>,
        mut late: LateRequests,
    ) -> Option<String> {
        let mut failure = None;
        loop {
            tokio::select! {
                biased;
                Some(one) = incoming.recv() => self.take_late(one, &mut late),
                ended = self.tasks.program.join_next() => match ended.map(|it| it.map(program_end)) {
                    // The error of a cancelled program is ignored, because the cancellation caused it.
                    Some(Ok(ProgramEnd::Failed { message })) if !self.program_cancel.is_cancelled() => {
                        self.emit(plumb_events::Event::Diagnostic(Diagnostic::new(
                            Severity::Error,
                            None,
                            format!("{message}\n"),
                        )));
                        failure = Some(message);
                    }
                    Some(Ok(ProgramEnd::Bailed)) if !self.program_cancel.is_cancelled() => {
                        failure.get_or_insert_with(|| "the program failed".to_owned());
                    }
                    Some(_) => {}
                    None => return failure,
                },
                () = late.due() => late.fail(),
                Ok(()) = interrupts.changed() => self.program_cancel.cancel(),
            }
            self.flush_all();
        }
    }

    /// Handles a message after the end of the deployment. Requests come too late, and fail.
    fn take_late(&mut self, incoming: Incoming, late: &mut LateRequests) {
        let message = match incoming {
            Incoming::Log(message) => message,
            Incoming::Request(_, answer) => return late.add(answer),
            Incoming::Debugging(_) => return,
        };
        if message.severity == Severity::Error {
            // SDKs report failed requests as errors of their own.
            if self.program_cancel.is_cancelled() && late.have_failed() {
                tracing::debug!(
                    "an error of a cancelled program, after its requests failed, is left out"
                );
                return;
            }
        }
        self.log(message);
    }

    /// Tells the subscriber that nothing more comes, and how it went in the end.
    fn close(&mut self, result: OperationResult) {
        self.flush_all();
        for (at, mut event) in std::mem::take(&mut self.closing) {
            if let plumb_events::Event::Summary(summary) = &mut event {
                summary.result = result;
            }
            self.outbox.emit(at, event);
        }
        self.flush_all();
    }
}
