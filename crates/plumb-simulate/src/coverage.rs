//! Which behaviours of the specification were reached.

use std::collections::BTreeMap;

/// Behaviours by id, with how often each was reached.
#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeMap<&'static str, u64>);

impl Coverage {
    /// Notes that a behaviour was reached.
    pub fn reach(&mut self, id: &'static str) {
        *self.0.entry(id).or_default() += 1;
    }

    /// Adds what others reached.
    pub fn add(&mut self, other: &Coverage) {
        for (id, times) in &other.0 {
            *self.0.entry(id).or_default() += times;
        }
    }

    /// Behaviours in order, with how often each was reached.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(id, times)| (*id, *times))
    }

    /// Number of behaviours that were reached.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none was reached.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
