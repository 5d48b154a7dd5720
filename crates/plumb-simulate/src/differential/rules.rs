//! Differences that are meant to be: each is a rule of `docs/compatibility.md`.

use super::{Both, Difference};

/// A difference that is meant to be.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Whether a difference is of its kind.
    pub covers: fn(&Both, &Difference) -> bool,
}

/// Every rule.
pub const RULES: &[Rule] = &[];

/// The rule that a difference falls under.
pub fn rule_of(both: &Both, difference: &Difference) -> Option<&'static str> {
    let mut rules = RULES.iter();
    let rule = rules.find(|rule| (rule.covers)(both, difference));
    rule.map(|rule| rule.name)
}
