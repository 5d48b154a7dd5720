//! Model of the state: certain entries, possible entries, and the holder of the stack.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Counts, LEASE};

/// A writer that may write to the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Holder {
    name: String,
    /// Earliest end of its lease; `None` for the upstream protocol, which has no leases.
    until: Option<Duration>,
}

#[derive(Default)]
pub(super) struct Model {
    /// Time since the start.
    pub(super) now: Duration,
    /// Names that the state must contain, because their recording was acknowledged.
    pub(super) certain: BTreeSet<String>,
    /// Names that the state may contain, because a writer tried to record them.
    possible: BTreeSet<String>,
    holders: Vec<Holder>,
    /// Number of running cancellations. Each may stop the holder at any time, even if the cancellation fails.
    pub(super) cancelling: usize,
    names: usize,
    pub(super) counts: Counts,
    pub(super) log: Vec<String>,
    pub(super) violation: Option<String>,
}

impl Model {
    pub(super) fn note(&mut self, text: &str) {
        self.log
            .push(format!("  {:>4} s  {text}", self.now.as_secs()));
    }

    pub(super) fn violate(&mut self, text: &str) {
        self.note(&format!("VIOLATION: {text}"));
        self.violation.get_or_insert_with(|| text.to_owned());
    }

    /// Returns a new name for a writer that is about to record it.
    pub(super) fn new_name(&mut self) -> String {
        self.names += 1;
        let name = format!("r{}", self.names);
        self.possible.insert(name.clone());
        name
    }

    /// Notes that the recording of these names was acknowledged.
    pub(super) fn recorded(&mut self, names: &[String]) {
        self.counts.recorded += names.len() as u64;
        self.certain.extend(names.iter().cloned());
    }

    /// Notes that `name` holds the stack since `since` or later.
    pub(super) fn holds(&mut self, name: &str, since: Duration, has_lease: bool) {
        self.counts.begun += 1;
        let now = self.now;
        let others: Vec<String> = self
            .holders
            .iter()
            .filter(|holder| holder.until.is_none_or(|until| until > now))
            .map(|holder| holder.name.clone())
            .collect();
        if !others.is_empty() && self.cancelling == 0 {
            self.violate(&format!("{name} holds the stack while {others:?} does"));
        }
        self.counts.taken_over += u64::from(!self.holders.is_empty());
        self.holders.clear();
        self.holders.push(Holder {
            name: name.to_owned(),
            until: has_lease.then_some(since + LEASE),
        });
    }

    /// Notes that `name` finishes. Others may take over from now on, because the lease ends before its lock is removed.
    pub(super) fn ends(&mut self, name: &str) {
        let now = self.now;
        for holder in &mut self.holders {
            if holder.name == name {
                holder.until = Some(now);
            }
        }
    }

    /// Notes that `name` has released the stack.
    pub(super) fn lets_go(&mut self, name: &str) {
        self.holders.retain(|holder| holder.name != name);
    }

    /// Notes that a cancellation has stopped the holder.
    pub(super) fn cancelled(&mut self) {
        self.holders.clear();
    }

    /// Checks the `names` read from the state; `certain` were recorded before the read began.
    pub(super) fn check_state(
        &mut self,
        certain: &BTreeSet<String>,
        names: Result<Vec<String>, String>,
    ) {
        let names: BTreeSet<String> = match names {
            Ok(names) => names.into_iter().collect(),
            Err(error) => return self.violate(&format!("the state cannot be read: {error}")),
        };
        let lost: Vec<&String> = certain.difference(&names).collect();
        if !lost.is_empty() {
            self.violate(&format!("lost {lost:?}"));
        }
        let strange: Vec<&String> = names.difference(&self.possible).collect();
        if !strange.is_empty() {
            self.violate(&format!("nobody recorded {strange:?}"));
        }
    }
}
