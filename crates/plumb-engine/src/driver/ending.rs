//! End of a run: late messages of the program, and the tasks to stop.

use plumb_deploy::{Outcome, ProgramEnd};
use plumb_events::{Diagnostic, OperationResult, Severity};
use tokio::sync::{mpsc, watch};

use super::{Driver, program_end};
use crate::monitor::Incoming;
use crate::shell::Ended;

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
        // Dropping the senders fails the requests that still wait for an answer.
        self.answers.clear();
        if !succeeded {
            self.program_cancel.cancel();
            self.tasks.calls.abort_all();
        }
        let failure = self.hear_out(&mut incoming, &mut interrupts).await;
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
    ) -> Option<String> {
        let mut failure = None;
        loop {
            tokio::select! {
                biased;
                Some(one) = incoming.recv() => self.take_late(one, &mut failure),
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
                    Some(_) => {}
                    None => return failure,
                },
                Ok(()) = interrupts.changed() => self.program_cancel.cancel(),
            }
            self.flush_all();
        }
    }

    /// Handles a message after the end of the deployment. Requests come too late; dropping them makes them fail.
    fn take_late(&mut self, incoming: Incoming, failure: &mut Option<String>) {
        let Incoming::Log(message) = incoming else {
            return;
        };
        if message.severity == Severity::Error {
            *failure = Some("an error was logged".to_owned());
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
