//! The fence: effects that wait for the journal. No effect is visible to others before the entry that it follows from is
//! durable.

use std::collections::BTreeMap;

use plumb_deploy::request::{Callback, CallbackRequest, Reply};
use plumb_deploy::{CallId, Fence, InstanceId, RequestId};
use plumb_resource::provider::ProviderCall;

/// An effect that may have to wait.
pub(super) enum Fenced {
    Call {
        call: CallId,
        instance: InstanceId,
        request: Box<ProviderCall>,
    },
    Callback {
        call: CallId,
        callback: Callback,
        request: CallbackRequest,
    },
    Reply {
        id: RequestId,
        reply: Box<Reply>,
    },
}

/// Verdict of the fence about an effect.
pub(super) enum FenceVerdict {
    /// The effect may happen now.
    Free(Fenced),
    /// The effect waits for the journal.
    Waits,
    /// The effect must not happen, because the journal is broken.
    Barred(Fenced),
}

/// Effects that wait for the journal, by their fences.
pub(super) struct FencedEffects {
    waiting: BTreeMap<Fence, Vec<Fenced>>,
    /// The last fence that the journal has reached.
    durable: Fence,
    /// Whether there is a journal on a disk to wait for.
    is_kept: bool,
    is_broken: bool,
}

impl FencedEffects {
    pub(super) fn new(is_kept: bool) -> Self {
        FencedEffects {
            waiting: BTreeMap::new(),
            durable: Fence::NONE,
            is_kept,
            is_broken: false,
        }
    }

    /// Whether no effect waits.
    pub(super) fn is_free(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Verdict on an effect behind `fence`; the effect is kept if it must wait.
    pub(super) fn pass(&mut self, fence: Fence, effect: Fenced) -> FenceVerdict {
        if fence <= self.durable || !self.is_kept {
            return FenceVerdict::Free(effect);
        }
        if self.is_broken {
            return FenceVerdict::Barred(effect);
        }
        self.waiting.entry(fence).or_default().push(effect);
        FenceVerdict::Waits
    }

    /// Effects that waited for the first `entries` journal entries, which are durable now.
    pub(super) fn release(&mut self, entries: u64) -> impl Iterator<Item = Fenced> + use<> {
        self.durable = Fence::behind(entries);
        let later = self.waiting.split_off(&Fence::behind(entries + 1));
        let released = std::mem::replace(&mut self.waiting, later);
        released.into_values().flatten()
    }

    /// Records that the journal is broken; returns whether that is news.
    pub(super) fn breaks(&mut self) -> bool {
        !std::mem::replace(&mut self.is_broken, true)
    }

    /// Removes all waiting effects, which must not happen.
    pub(super) fn barred(&mut self) -> impl Iterator<Item = Fenced> + use<> {
        std::mem::take(&mut self.waiting).into_values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(id: u64) -> Fenced {
        Fenced::Reply {
            id: RequestId(id),
            reply: Box::new(Reply::Done),
        }
    }

    fn ids(effects: impl Iterator<Item = Fenced>) -> Vec<u64> {
        let id = |effect| match effect {
            Fenced::Reply { id, .. } => Some(id.0),
            Fenced::Call { .. } | Fenced::Callback { .. } => None,
        };
        effects.filter_map(id).collect()
    }

    #[test]
    fn what_waits_comes_in_order_when_its_entry_is_durable() {
        let mut fence = FencedEffects::new(true);
        assert!(matches!(
            fence.pass(Fence::behind(0), reply(1)),
            FenceVerdict::Free(_)
        ));
        for (seq, id) in [(2, 2), (1, 3), (2, 4), (3, 5)] {
            assert!(matches!(
                fence.pass(Fence::behind(seq), reply(id)),
                FenceVerdict::Waits
            ));
        }
        assert_eq!(ids(fence.release(2)), [3, 2, 4]);
        assert!(matches!(
            fence.pass(Fence::behind(2), reply(6)),
            FenceVerdict::Free(_)
        ));
        assert!(!fence.is_free());
        assert_eq!(ids(fence.release(3)), [5]);
        assert!(fence.is_free());
    }

    #[test]
    fn nothing_waits_without_a_journal() {
        let mut fence = FencedEffects::new(false);
        assert!(matches!(
            fence.pass(Fence::behind(7), reply(1)),
            FenceVerdict::Free(_)
        ));
    }

    #[test]
    fn what_follows_from_a_lost_entry_never_happens() {
        let mut fence = FencedEffects::new(true);
        assert!(matches!(
            fence.pass(Fence::behind(2), reply(1)),
            FenceVerdict::Waits
        ));
        assert!(ids(fence.release(1)).is_empty());
        assert!(fence.breaks() && !fence.breaks());
        assert_eq!(ids(fence.barred()), [1]);
        assert!(matches!(
            fence.pass(Fence::behind(3), reply(2)),
            FenceVerdict::Barred(_)
        ));
        assert!(matches!(
            fence.pass(Fence::behind(1), reply(3)),
            FenceVerdict::Free(_)
        ));
        assert!(fence.is_free());
    }
}
