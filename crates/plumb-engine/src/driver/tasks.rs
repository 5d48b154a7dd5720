//! What runs beside the loop, and what the loop waits for.

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

/// A call and what the provider answered.
pub(super) type Answered = (CallId, Result<ProviderReply, ProviderError>);

/// How far the journal is durable.
pub(super) type Durable = watch::Receiver<Result<Seq, JournalError>>;

/// Everything that is under way.
#[derive(Default)]
pub(super) struct Tasks {
    /// Calls that were answered as soon as they were made.
    pub(super) answered: VecDeque<Answered>,
    pub(super) calls: JoinSet<Answered>,
    pub(super) callbacks: JoinSet<(CallId, Result<CallbackReply, String>)>,
    /// Policy packs that are being loaded, and what they are asked.
    pub(super) loading: JoinSet<Result<Loaded, String>>,
    pub(super) consultations: JoinSet<(CallId, Result<PolicyReply, String>)>,
    pub(super) program: JoinSet<ProgramResult>,
    pub(super) snippets: JoinSet<(EcoString, ProgramResult)>,
}

impl Tasks {
    /// Ends everything but the program.
    pub(super) async fn stop(&mut self) {
        self.snippets.shutdown().await;
        self.calls.shutdown().await;
        self.callbacks.shutdown().await;
        self.loading.shutdown().await;
        self.consultations.shutdown().await;
    }
}

/// What the loop waits for.
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
    /// It is time to see which calls take long.
    Late,
    /// Nothing, for the moment.
    Idle,
    /// Events have waited long enough.
    Due,
}

/// What a task came to: a defect of ours stays one.
fn result_of<T>(ended: Result<T, JoinError>) -> T {
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// What became of a program whose task did not end: a defect of ours stays one.
fn without_end(error: JoinError) -> ProgramResult {
    match error.try_into_panic() {
        Ok(defect) => std::panic::resume_unwind(defect),
        Err(error) => ProgramResult::Failed {
            message: error.to_string(),
        },
    }
}

/// Waits until the journal is durable further than before; for ever where there is none.
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
    /// Waits until something happens. What comes first here is heard first when several things have.
    pub(super) async fn next(
        &mut self,
        incoming: &mut mpsc::UnboundedReceiver<Incoming>,
        durable: &mut Option<Durable>,
        interrupts: &mut watch::Receiver<u32>,
    ) -> DriverEvent {
        let mut batch = Vec::new();
        let tasks = &mut self.tasks;
        let has_collected = self.journal.has_collected() || self.outbox.has_replies();
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
            // The driver's own handle keeps the channel open.
            _ = incoming.recv_many(&mut batch, 256) => DriverEvent::Incoming(batch),
            Some(ended) = tasks.program.join_next(), if !tasks.program.is_empty() => {
                DriverEvent::Program(ended.unwrap_or_else(without_end))
            }
            Some(ended) = tasks.snippets.join_next(), if !tasks.snippets.is_empty() => {
                let (uuid, result) = result_of(ended);
                DriverEvent::Snippet(uuid, result)
            }
            () = tokio::task::yield_now(), if has_collected => DriverEvent::Idle,
            () = self.outbox.until_due() => DriverEvent::Due,
        }
    }
}
