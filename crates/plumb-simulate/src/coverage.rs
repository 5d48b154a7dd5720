//! Which behaviours of the specification were reached.

use std::collections::BTreeMap;

/// Behaviours by id, with how often each was reached.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    reached: BTreeMap<&'static str, u64>,
    second_runs: BTreeMap<&'static str, u64>,
}

impl Coverage {
    /// Notes that a behaviour was reached.
    pub fn reach(&mut self, id: &'static str) {
        *self.reached.entry(id).or_default() += 1;
    }

    /// Adds what others reached.
    pub fn add(&mut self, other: &Coverage) {
        for (id, times) in &other.reached {
            *self.reached.entry(id).or_default() += times;
        }
        for (fate, times) in &other.second_runs {
            *self.second_runs.entry(fate).or_default() += times;
        }
    }

    /// Notes that a second run is demanded after an operation, or why none is.
    pub fn demand(&mut self, fate: &'static str) {
        *self.second_runs.entry(fate).or_default() += 1;
    }

    /// After how many operations a second run was demanded, and for what reasons after how many none was.
    pub fn second_runs(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let fates = self.second_runs.iter();
        fates.map(|(fate, times)| (*fate, *times))
    }

    /// Behaviours in order, with how often each was reached.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.reached.iter().map(|(id, times)| (*id, *times))
    }

    /// Number of behaviours that were reached.
    pub fn len(&self) -> usize {
        self.reached.len()
    }

    /// Whether none was reached.
    pub fn is_empty(&self) -> bool {
        self.reached.is_empty()
    }
}
