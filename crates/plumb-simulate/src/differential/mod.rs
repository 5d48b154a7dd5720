//! Operations of stories as the reference does them, beside what the core does.
//!
//! 1. [`admit`] takes out of a story what the harness around the reference cannot do yet, and says what that was.
//! 2. [`case`] is an operation with the state and the cloud that it starts from, as JSON. Each operation starts from the
//!    state that the *core* left, so one difference does not bring about the next.
//! 3. [`ours`] is what the core did, in the JSON that the harness writes too ([`seen`]).
//! 4. [`compare`] finds the first fact in which the two differ, and gives it a signature, by which differences are counted.
//!    [`rules`] knows the differences that are meant to be.
//!
//! The reference takes resources in the order of a hash map here and there: steps side by side, of which a failure lets only
//! some begin. It is asked again where it differs, and agrees if one of its accounts does.
//!
//! A fixed order of events ([`World::run_in_order`]) on both sides leaves nothing to the order of arrival.

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

/// How often the reference is asked again where it differs. Few accounts agree by chance: of six deletions in one layer, the
/// one that fails may be any of the six.
const AGAIN: usize = 20;

/// Does operations as the reference does them.
pub trait Reference {
    /// Runs a case on the reference; returns its account.
    fn perform(&mut self, case: &Json) -> Json;

    /// Another account of the same case; none of a reference that has only one.
    fn perform_again(&mut self, _case: &Json) -> Option<Json> {
        None
    }
}

/// The core's account of an operation, and the case that it started from.
#[derive(Debug)]
pub struct Ours {
    /// The case, for the reference.
    pub case: Json,
    /// What happened.
    pub seen: Json,
    /// The whole trace of the run.
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

/// The accounts of both sides, normalised so that equal facts are equal.
#[derive(Clone, Debug)]
pub struct Both {
    /// The case.
    pub case: Json,
    /// The core's side.
    pub ours: Json,
    /// The reference's side.
    pub theirs: Json,
}

impl Both {
    /// The two sides of an operation.
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

    /// Whether nothing differs but what is meant to.
    fn is_settled(&self) -> bool {
        let difference = self.difference();
        difference.is_none_or(|it| rules::rule_of(self, &it).is_some())
    }

    /// The first fact in which they differ.
    pub fn difference(&self) -> Option<Difference> {
        compare::compare(&self.case, &self.ours, &self.theirs)
    }
}

/// The sides of an operation: the account of the reference that agrees, if there is one.
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

/// Runs a story on both; `look` sees each operation and says whether to go on.
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
