//! Coverage of the specification's behaviours.

use std::collections::BTreeMap;

/// Number of times that each behaviour was reached, by id.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    reached: BTreeMap<&'static str, u64>,
    second_runs: BTreeMap<&'static str, u64>,
}

impl Coverage {
    /// Counts a behaviour.
    pub fn reach(&mut self, id: &'static str) {
        *self.reached.entry(id).or_default() += 1;
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Coverage) {
        for (id, times) in &other.reached {
            *self.reached.entry(id).or_default() += times;
        }
        for (fate, times) in &other.second_runs {
            *self.second_runs.entry(fate).or_default() += times;
        }
    }

    /// Counts that a second run was required after an operation, or the reason why not.
    pub fn demand(&mut self, fate: &'static str) {
        *self.second_runs.entry(fate).or_default() += 1;
    }

    /// Number of operations after which a second run was required, and of those after which it was not, by reason.
    pub fn second_runs(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let fates = self.second_runs.iter();
        fates.map(|(fate, times)| (*fate, *times))
    }

    /// Counts by behaviour, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.reached.iter().map(|(id, times)| (*id, *times))
    }

    /// Number of behaviours reached.
    pub fn len(&self) -> usize {
        self.reached.len()
    }

    /// Whether no behaviour was reached.
    pub fn is_empty(&self) -> bool {
        self.reached.is_empty()
    }
}
