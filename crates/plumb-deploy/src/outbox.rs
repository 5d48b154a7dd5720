//! Outgoing effects, in their order, and the counters of their numbers: journal entries, replies, calls.

use plumb_state::journal::{Entry, EntryKind, OperationId};

use crate::deployment::Deployment;
use crate::event::{Effect, ProviderAction};
use crate::ids::{CallId, Fence, InstanceId, RequestId};
use crate::request::{Callback, CallbackRequest, Reply};

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

impl Deployment {
    /// Answers a request that nobody else waits for, once the entry of number `fence` is durable. Each is answered once.
    pub(crate) fn send_reply(&mut self, id: RequestId, reply: Reply, fence: Fence) {
        if self.unanswered.remove(&id) {
            self.outbox.push(Effect::Reply { id, reply, fence });
        }
    }

    /// Puts an entry into the journal; previews have none.
    pub(crate) fn journal(&mut self, operation: OperationId, kind: EntryKind) -> Fence {
        if self.ctx.options.is_preview() {
            return Fence::NONE;
        }
        self.outbox.journal(operation, kind)
    }

    /// Does something with a provider that answers nothing.
    pub(crate) fn provider_action(&mut self, instance: InstanceId, action: ProviderAction) {
        self.outbox.push(Effect::Provider { instance, action });
    }
}
