//! Outgoing effects, in their order, and the counters of their numbers.

use plumb_state::journal::{Entry, EntryKind, OperationId};

use crate::event::{CallId, Effect, Fence};
use crate::request::{Callback, CallbackRequest};

/// Effects to be handed out, and the counters behind them.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) effects: Vec<Effect>,
    journal_entries: u64,
    next_call: u64,
    next_operation: u64,
}

impl Outbox {
    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Emits a journal entry and returns its fence.
    pub(crate) fn journal(&mut self, operation: OperationId, kind: EntryKind) -> Fence {
        self.effects
            .push(Effect::Journal(Entry { operation, kind }));
        self.journal_entries += 1;
        self.journaled()
    }

    /// The fence behind all entries so far.
    pub(crate) fn journaled(&self) -> Fence {
        Fence::behind(self.journal_entries)
    }

    pub(crate) fn operation(&mut self) -> OperationId {
        self.next_operation += 1;
        OperationId(self.next_operation)
    }

    pub(crate) fn call_id(&mut self) -> CallId {
        self.next_call += 1;
        CallId(self.next_call)
    }

    /// Calls a function of the program, behind `fence`.
    pub(crate) fn call_back(
        &mut self,
        callback: Callback,
        request: CallbackRequest,
        fence: Fence,
    ) -> CallId {
        let call = self.call_id();
        self.push(Effect::Callback {
            call,
            callback,
            request,
            fence,
        });
        call
    }
}
