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
    /// Half of the resources are targeted, and the program has dropped the dependencies of the others.
    Half,
    /// All resources are deleted.
    Destroy,
    /// All resources are deleted, and the program runs before.
    DestroyWithProgram,
}

impl Task {
    /// All tasks, in order.
    pub const ALL: [Task; 7] = [
        Task::Create,
        Task::Same,
        Task::Change,
        Task::Target,
        Task::Half,
        Task::Destroy,
        Task::DestroyWithProgram,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Task::Create => "create",
            Task::Same => "nothing to do",
            Task::Change => "1 % changed",
            Task::Target => "one target",
            Task::Half => "half targeted",
            Task::Destroy => "destroy",
            Task::DestroyWithProgram => "with program",
        }
    }

    /// Runs the task on `count` resources in `shape`; `base` is the state after creation.
    pub fn run(self, shape: Shape, count: usize, base: &Snapshot, answers: Answers) -> Measured {
        let mut stack = Stack::new(shape, count, self == Task::Change);
        let mut options = Options::new(Phase::Execute);
        options.parallel = 64;
        options.run_program = self == Task::DestroyWithProgram;
        match self {
            Task::Target => options.targets = UrnSet::new([stack.last_urn()]),
            Task::Half => {
                options.targets = UrnSet::new(stack.even_urns());
                stack.free_odd();
            }
            Task::Destroy => stack = Stack::empty(),
            Task::Create | Task::Same | Task::Change | Task::DestroyWithProgram => {}
        }
        let operation = match self {
            Task::Destroy | Task::DestroyWithProgram => Operation::Destroy,
            _ => Operation::Update,
        };
        run(operation, options, base, &stack, answers)
    }
}
