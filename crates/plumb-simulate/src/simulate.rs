//! Runs and checks many stories.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use plumb_state::Snapshot;
use plumb_value::PropertyMap;

use crate::coverage::Coverage;
use crate::origin::Origin;
use crate::story::{Operation, Story};
use crate::world::{Trace, Violation, World};
use crate::{checks, generate, model, plans, settled, shrink};

/// A story that violated a rule.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Index of the operation.
    pub operation: usize,
    /// The violation.
    pub violation: Violation,
}

/// Thoroughness of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Replays and second runs of some operations.
    Usual,
    /// Replays and second runs of all operations.
    Full,
}

/// Runs a story; returns the number of operations.
pub fn run(story: &Story, care: Care, coverage: &mut Coverage) -> Result<u64, Failed> {
    run_observed(&fresh_world(), story, care, coverage, |_, _| {})
}

/// Runs a story on the stack in `start`; `observe` sees each operation's trace and the world after it.
pub fn run_observed(
    start: &World,
    story: &Story,
    care: Care,
    coverage: &mut Coverage,
    mut observe: impl FnMut(&Trace, &World),
) -> Result<u64, Failed> {
    let mut world = start.clone();
    let mut operations = 0;
    for (index, operation) in story.operations.iter().enumerate() {
        let failed = |violation| Failed {
            operation: index,
            violation,
        };
        let full = care == Care::Full;
        let second = full || operation.seed.is_multiple_of(2);
        if full || operation.seed % 8 == 1 {
            caught(|| plans::check(&world, operation, coverage)).map_err(failed)?;
        }
        let before = world.snapshot.clone();
        let trace = step(
            &mut world,
            operation,
            full || operation.seed.is_multiple_of(3),
            coverage,
            &mut observe,
        )
        .map_err(failed)?;
        operations += 1;
        if second {
            operations += settles(&before, &world, operation, &trace, coverage).map_err(failed)?;
        }
    }
    Ok(operations)
}

/// An empty stack, with a few unmanaged objects in the cloud.
pub fn fresh_world() -> World {
    let mut world = World::default();
    for number in 0..generate::PLANTED {
        let inputs = PropertyMap::new().with("v", number.to_string());
        world.cloud.plant(&format!("planted-{number}"), inputs);
    }
    world
}

/// Runs and checks one operation.
fn step(
    world: &mut World,
    operation: &Operation,
    replay: bool,
    coverage: &mut Coverage,
    observe: &mut impl FnMut(&Trace, &World),
) -> Result<Trace, Violation> {
    let mut before = world.clone();
    before.before(operation);
    let trace = caught(|| world.run(operation))?;
    observe(&trace, world);
    checks::check(&before, world, operation, &trace)?;
    if replay {
        checks::replays(&before, operation, &trace)?;
    }
    if trace.can_be_followed() {
        model::check(&before, world, operation, &trace, coverage)?;
    }
    Ok(trace)
}

/// Result of `run`, with panics as violations.
fn caught<T>(run: impl FnOnce() -> Result<T, Violation>) -> Result<T, Violation> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Violation::new("panic", text.unwrap_or_default()))
    })
}

/// Checks that a second run has nothing to do, if `unsettled` has no objection; first runs the operation again if
/// versions may have changed. Returns the number of operations.
fn settles(
    before: &Snapshot,
    world: &World,
    operation: &Operation,
    trace: &Trace,
    coverage: &mut Coverage,
) -> Result<u64, Violation> {
    let reason = settled::unsettled(before, world, operation, trace);
    coverage.demand(reason.unwrap_or("demanded"));
    match reason {
        None => second_run(before, world, operation, trace, coverage),
        Some(settled::OTHER_VERSIONS) => {
            let before = &world.snapshot;
            let mut world = world.clone();
            let again = settled::again(&world, operation);
            let trace = step(&mut world, &again, false, coverage, &mut |_, _| {})?;
            if settled::unsettled(before, &world, &again, &trace).is_some() {
                return Ok(1);
            }
            coverage.demand("demanded later");
            Ok(1 + second_run(before, &world, &again, &trace, coverage)?)
        }
        Some(_) => Ok(0),
    }
}

/// Runs the same program again, which must change nothing, except that it may delete resources kept for others; then a
/// further run must do nothing. Returns the number of operations.
fn second_run(
    before: &Snapshot,
    world: &World,
    operation: &Operation,
    trace: &Trace,
    coverage: &mut Coverage,
) -> Result<u64, Violation> {
    let mut world = world.clone();
    let mut kept = settled::kept_for_others(before, operation, trace);
    for number in 1.. {
        let again = settled::again(&world, operation);
        let found = world.snapshot.clone();
        let trace = step(&mut world, &again, false, coverage, &mut |_, _| {})?;
        if settled::found_nothing(&trace) {
            return Ok(number);
        }
        if let Some(reason) = settled::refusal(operation, &trace) {
            coverage.demand(reason);
            return Ok(number);
        }
        if kept.is_empty() || !settled::only_lets_go(&trace, &kept) {
            let steps = trace.steps_told();
            let errors = trace.errors;
            let what = format!("run {} makes changes: {steps} {errors:?}", number + 1);
            return Err(Violation::new("convergence", what));
        }
        coverage.demand("lets go of what was kept");
        let is_last = settled::targets_went(operation, &trace)
            || settled::left_out_went(&found, operation, &trace);
        if is_last {
            return Ok(number);
        }
        kept.clear();
    }
    Ok(0)
}

/// Settings of a simulation.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Initial state of every story, with a program that could have produced it.
    pub origin: Origin,
    /// Minimum number of operations.
    pub operations: u64,
    /// First seed.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
    /// Whether failed stories are shrunk.
    pub shrinks: bool,
    /// Number of failed seeds after which to stop.
    pub failures: usize,
}

/// Result of a simulation.
#[derive(Debug)]
pub struct Report {
    /// Number of operations run.
    pub operations: u64,
    /// First seed that was not run, for later simulations.
    pub next: u64,
    /// Elapsed time.
    pub elapsed: Duration,
    /// Behaviours reached.
    pub coverage: Coverage,
    /// Failed seeds with their shrunk stories.
    pub failed: Vec<(u64, Story, Failed)>,
}

/// Runs stories of consecutive seeds until enough operations were run, or too many seeds have failed.
pub fn simulate(settings: Settings) -> Report {
    let started = Instant::now();
    let threads = settings.threads.max(1);
    let shared = Shared {
        next: AtomicU64::new(settings.seed),
        settings,
        done: AtomicU64::new(0),
        failed: Mutex::default(),
    };
    let mut coverage = Coverage::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| shared.work()))
            .collect();
        for worker in workers {
            coverage.add(&worker.join().expect("workers catch the panics of the core"));
        }
    });
    let elapsed = started.elapsed();
    let mut failed = shared.failed.into_inner().unwrap_or_default();
    failed.sort_by_key(|(seed, _)| *seed);
    failed.truncate(shared.settings.failures);
    let Origin { world, program } = &shared.settings.origin;
    let smaller = failed.into_iter().map(|(seed, failure)| {
        let story = generate::story_on(seed, program.clone());
        let (story, failure) = if shared.settings.shrinks {
            shrink::shrink(world, story, failure)
        } else {
            (story, failure)
        };
        (seed, story, failure)
    });
    Report {
        failed: smaller.collect(),
        operations: shared.done.into_inner(),
        next: shared.next.into_inner(),
        elapsed,
        coverage,
    }
}

/// State shared by the threads of a simulation.
struct Shared {
    settings: Settings,
    next: AtomicU64,
    done: AtomicU64,
    failed: Mutex<Vec<(u64, Failed)>>,
}

impl Shared {
    fn work(&self) -> Coverage {
        let mut coverage = Coverage::default();
        while !self.is_over() {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            let Origin { world, program } = &self.settings.origin;
            let story = generate::story_on(seed, program.clone());
            match run_observed(world, &story, Care::Usual, &mut coverage, |_, _| {}) {
                Ok(count) => drop(self.done.fetch_add(count, Ordering::Relaxed)),
                Err(failed) => {
                    let mut all = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((seed, failed));
                }
            }
        }
        coverage
    }

    fn is_over(&self) -> bool {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.len() >= self.settings.failures
            || self.done.load(Ordering::Relaxed) >= self.settings.operations
    }
}
