//! What is known of the state, whoever writes it.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Counts, LEASE};

/// Somebody who may write to the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Holder {
    name: String,
    /// Until when its lease lasts for sure; none if only a cancellation ends it.
    until: Option<Duration>,
}

#[derive(Default)]
pub(super) struct Model {
    /// The time that passed.
    pub(super) now: Duration,
    /// What is in the state, since its writer was told so.
    pub(super) certain: BTreeSet<String>,
    /// What may be in the state: somebody tried to record it.
    possible: BTreeSet<String>,
    holders: Vec<Holder>,
    /// How many cancellations are under way: each may stop whoever holds the stack, at any time, and also if it fails.
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

    /// A new name that somebody is about to record.
    pub(super) fn new_name(&mut self) -> String {
        self.names += 1;
        let name = format!("r{}", self.names);
        self.possible.insert(name.clone());
        name
    }

    /// A writer was told that these are recorded.
    pub(super) fn recorded(&mut self, names: &[String]) {
        self.counts.recorded += names.len() as u64;
        self.certain.extend(names.iter().cloned());
    }

    /// `name` holds the stack since some time after `since`, with a lease or without.
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

    /// `name` is at its end: it ends its lease before it removes its lock.
    pub(super) fn ends(&mut self, name: &str) {
        let now = self.now;
        for holder in &mut self.holders {
            if holder.name == name {
                holder.until = Some(now);
            }
        }
    }

    /// `name` does not hold the stack any more, as far as it is concerned.
    pub(super) fn lets_go(&mut self, name: &str) {
        self.holders.retain(|holder| holder.name != name);
    }

    /// Nobody holds the stack any more.
    pub(super) fn cancelled(&mut self) {
        self.holders.clear();
    }

    /// The state has `names`, and had all of `certain` before it was read.
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
