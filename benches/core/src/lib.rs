//! Benchmarks of the deployment core alone on generated stacks: no processes, no files, a provider that answers in no
//! time.

mod drive;
mod shape;

pub use drive::{Answers, Measured, run};
pub use shape::{Shape, Stack};

use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_deploy::target::UrnSet;
use plumb_state::Snapshot;

/// Measured operations, in order; each starts from the state after creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Task {
    /// All resources are new.
    Create,
    /// No resource has changed.
    Same,
    /// One resource in a hundred has changed.
    Change,
    /// One resource is targeted.
    Target,
    /// All resources are deleted.
    Destroy,
}

impl Task {
    /// All tasks, in order.
    pub const ALL: [Task; 5] = [
        Task::Create,
        Task::Same,
        Task::Change,
        Task::Target,
        Task::Destroy,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Task::Create => "create",
            Task::Same => "nothing to do",
            Task::Change => "1 % changed",
            Task::Target => "one target",
            Task::Destroy => "destroy",
        }
    }

    /// Runs the task on `count` resources in `shape`; `base` is the state after creation.
    pub fn run(self, shape: Shape, count: usize, base: &Snapshot, answers: Answers) -> Measured {
        let stack = Stack::new(shape, count, self == Task::Change);
        let mut options = Options::new(Phase::Execute);
        options.parallel = 64;
        if self == Task::Target {
            options.targets = UrnSet::new([stack.last_urn()]);
        }
        match self {
            Task::Destroy => run(Operation::Destroy, options, base, &Stack::empty(), answers),
            _ => run(Operation::Update, options, base, &stack, answers),
        }
    }
}
