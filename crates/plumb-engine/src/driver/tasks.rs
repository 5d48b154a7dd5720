//! Tasks beside the event loop, and the events that the loop waits for.

use std::collections::VecDeque;

use ecow::EcoString;
use plumb_backend::{JournalError, Seq};
use plumb_deploy::CallId;
use plumb_deploy::request::CallbackReply;
use plumb_resource::policy::PolicyReply;
use plumb_resource::provider::{ProviderError, ProviderReply};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};

use super::Driver;
use crate::monitor::Incoming;
use crate::policies::Loaded;
use crate::program::ProgramResult;

/// A call and the answer of the provider.
pub(super) type Answered = (CallId, Result<ProviderReply, ProviderError>);

/// Durable part of the journal.
pub(super) type Durable = watch::Receiver<Result<Seq, JournalError>>;

/// All tasks of a run.
#[derive(Default)]
pub(super) struct Tasks {
    /// Calls that were answered immediately.
    pub(super) answered: VecDeque<Answered>,
    pub(super) calls: JoinSet<Answered>,
    pub(super) callbacks: JoinSet<(CallId, Result<CallbackReply, String>)>,
    /// Loading of policy packs, and calls to them.
    pub(super) loading: JoinSet<Result<Loaded, String>>,
    pub(super) consultations: JoinSet<(CallId, Result<PolicyReply, String>)>,
    pub(super) program: JoinSet<ProgramResult>,
    pub(super) snippets: JoinSet<(EcoString, ProgramResult)>,
}

impl Tasks {
    /// Whether nothing is under way.
    fn is_idle(&self) -> bool {
        self.answered.is_empty()
            && self.calls.is_empty()
            && self.callbacks.is_empty()
            && self.loading.is_empty()
            && self.consultations.is_empty()
            && self.program.is_empty()
            && self.snippets.is_empty()
    }

    /// Stops all tasks except the program.
    pub(super) async fn stop(&mut self) {
        self.snippets.shutdown().await;
        self.calls.shutdown().await;
        self.callbacks.shutdown().await;
        self.loading.shutdown().await;
        self.consultations.shutdown().await;
    }
}

/// Event that the loop waits for.
pub(super) enum DriverEvent {
    Incoming(Vec<Incoming>),
    Called(Answered),
    CalledBack(CallId, Result<CallbackReply, String>),
    Loaded(Result<Loaded, String>),
    Consulted(CallId, Result<PolicyReply, String>),
    Program(ProgramResult),
    Snippet(EcoString, ProgramResult),
    Durable(Result<Seq, String>),
    Interrupt(u32),
    /// Time to look for calls that take long.
    Late,
    /// No event is ready, and journal entries or replies have been collected.
    Idle,
    /// Time to send the collected events.
    Due,
    /// Nothing is under way, so nothing but an interrupt could happen any more.
    Stalled,
}

/// The result of a task. A panic in the task is propagated.
fn result_of<T>(ended: Result<T, JoinError>) -> T {
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// The result of a program whose task was cancelled. A panic in the task is propagated.
fn without_end(error: JoinError) -> ProgramResult {
    match error.try_into_panic() {
        Ok(defect) => std::panic::resume_unwind(defect),
        Err(error) => ProgramResult::Failed {
            message: error.to_string(),
        },
    }
}

/// Waits until more of the journal is durable. Never returns if there is no journal.
async fn progress(durable: &mut Option<Durable>) -> Result<Seq, String> {
    let Some(durable) = durable else {
        return std::future::pending().await;
    };
    match durable.changed().await {
        Ok(()) => {
            let seq = durable.borrow_and_update();
            seq.as_ref().copied().map_err(ToString::to_string)
        }
        Err(_) => Err(JournalError::Closed.to_string()),
    }
}

/// Waits for the user's next interrupt.
async fn interrupt(interrupts: &mut watch::Receiver<u32>) -> u32 {
    match interrupts.changed().await {
        Ok(()) => *interrupts.borrow_and_update(),
        Err(_) => std::future::pending().await,
    }
}

impl Driver {
    /// Waits for the next event. Of several ready ones, the first in the order of this `select` is returned.
    pub(super) async fn next(
        &mut self,
        incoming: &mut mpsc::UnboundedReceiver<Incoming>,
        durable: &mut Option<Durable>,
        interrupts: &mut watch::Receiver<u32>,
    ) -> DriverEvent {
        let mut batch = Vec::new();
        let tasks = &mut self.tasks;
        let has_collected = self.journal.has_collected() || self.outbox.has_replies();
        let is_stalled = self.outcome.is_none() && self.fenced.is_free() && tasks.is_idle();
        tokio::select! {
            biased;
            count = interrupt(interrupts) => DriverEvent::Interrupt(count),
            progress = progress(durable) => DriverEvent::Durable(progress),
            () = self.flights.tick(), if !self.flights.is_empty() => DriverEvent::Late,
            () = std::future::ready(()), if !tasks.answered.is_empty() => {
                DriverEvent::Called(tasks.answered.pop_front().expect("there is one"))
            }
            Some(ended) = tasks.calls.join_next(), if !tasks.calls.is_empty() => {
                DriverEvent::Called(result_of(ended))
            }
            Some(ended) = tasks.callbacks.join_next(), if !tasks.callbacks.is_empty() => {
                let (call, result) = result_of(ended);
                DriverEvent::CalledBack(call, result)
            }
            Some(ended) = tasks.loading.join_next(), if !tasks.loading.is_empty() => {
                DriverEvent::Loaded(result_of(ended))
            }
            Some(ended) = tasks.consultations.join_next(), if !tasks.consultations.is_empty() => {
                let (call, result) = result_of(ended);
                DriverEvent::Consulted(call, result)
            }
            // The channel cannot be closed, because the driver has a sender itself.
            _ = incoming.recv_many(&mut batch, 256) => DriverEvent::Incoming(batch),
            Some(ended) = tasks.program.join_next(), if !tasks.program.is_empty() => {
                DriverEvent::Program(ended.unwrap_or_else(without_end))
            }
            Some(ended) = tasks.snippets.join_next(), if !tasks.snippets.is_empty() => {
                let (uuid, result) = result_of(ended);
                DriverEvent::Snippet(uuid, result)
            }
            () = tokio::task::yield_now(), if has_collected => DriverEvent::Idle,
            () = tokio::task::yield_now(), if is_stalled => DriverEvent::Stalled,
            () = self.outbox.until_due() => DriverEvent::Due,
        }
    }
}
