//! Comparison of the core with the reference, operation by operation.
//!
//! 1. [`admit`] removes features that the harness around the reference does not support, and names them.
//! 2. [`case`] is an operation with its initial state and cloud, as JSON. Each operation starts from the state that the
//!    *core* left, so differences do not cause further ones.
//! 3. [`ours`] is the account of the core, in the JSON form of the harness ([`seen`]).
//! 4. [`compare`] finds the first difference, and gives it a signature, by which differences are counted. [`rules`]
//!    covers the intended differences.
//!
//! The reference sometimes iterates over a hash map: if one of several parallel steps fails, it is random which of the
//! others have begun. A case that differs is therefore repeated, and agrees if one of the accounts does.
//!
//! Both sides run in a fixed order of events ([`World::run_in_order`]), so the order of arrival does not matter.

mod admit;
pub mod compare;
mod kept;
mod normal;
pub mod rules;
mod seen;
mod wire;

use serde_json::Value as Json;

use crate::simulate::fresh_world;
use crate::story::{Operation, Story};
use crate::world::{Trace, Violation, World};

pub use admit::admit;
pub use compare::Difference;
pub use kept::Kept;

/// Number of repetitions for a case that differs. Random agreement is unlikely: of six deletions in one layer, any may
/// be the one that fails.
const AGAIN: usize = 20;

/// Runs operations on the reference.
pub trait Reference {
    /// Runs a case; returns the account of the reference.
    fn perform(&mut self, case: &Json) -> Json;

    /// Another account of the same case; `None` if the reference has only one.
    fn perform_again(&mut self, _case: &Json) -> Option<Json> {
        None
    }
}

/// Account of the core, with the case.
#[derive(Debug)]
pub struct Ours {
    /// Case for the reference.
    pub case: Json,
    /// Account of the core.
    pub seen: Json,
    /// Trace of the run.
    pub trace: Trace,
}

/// Runs an operation on the core.
pub fn ours(world: &mut World, operation: &Operation) -> Result<Ours, Violation> {
    let mut before = world.clone();
    before.before(operation);
    let case = wire::case(&before, operation);
    let trace = world.run_in_order(operation)?;
    let seen = seen::seen(operation, &trace);
    Ok(Ours { case, seen, trace })
}

/// Accounts of both sides, normalized so that equivalent facts are equal.
#[derive(Clone, Debug)]
pub struct Both {
    /// The case.
    pub case: Json,
    /// Account of the core.
    pub ours: Json,
    /// Account of the reference.
    pub theirs: Json,
}

impl Both {
    /// Normalizes both accounts of an operation.
    pub fn new(ours: Ours, theirs: Json) -> Self {
        let known = normal::Known::of(&ours.case);
        Both {
            ours: known.normal(ours.seen),
            theirs: known.normal(theirs),
            case: ours.case,
        }
    }

    fn normal(&self, account: Json) -> Json {
        normal::Known::of(&self.case).normal(account)
    }

    /// Whether all differences are intended.
    fn is_settled(&self) -> bool {
        let difference = self.difference();
        difference.is_none_or(|it| rules::rule_of(self, &it).is_some())
    }

    /// First difference.
    pub fn difference(&self) -> Option<Difference> {
        compare::compare(&self.case, &self.ours, &self.theirs)
    }
}

/// Both accounts of an operation; of those of the reference, one that agrees if there is one.
fn both(ours: Ours, reference: &mut dyn Reference) -> Both {
    let theirs = reference.perform(&ours.case);
    let first = Both::new(ours, theirs);
    for _ in 0..AGAIN {
        if first.is_settled() {
            break;
        }
        let Some(theirs) = reference.perform_again(&first.case) else {
            break;
        };
        let other = Both {
            theirs: first.normal(theirs),
            ..first.clone()
        };
        if other.is_settled() {
            return other;
        }
    }
    first
}

/// Runs a story on both sides; `look` sees each operation and returns whether to continue.
pub fn run(
    story: &Story,
    reference: &mut dyn Reference,
    mut look: impl FnMut(usize, &Both) -> bool,
) -> Result<(), (usize, Violation)> {
    let mut world = fresh_world();
    for (index, operation) in story.operations.iter().enumerate() {
        let ours = ours(&mut world, operation).map_err(|violation| (index, violation))?;
        let both = both(ours, reference);
        if !look(index, &both) {
            break;
        }
    }
    Ok(())
}
