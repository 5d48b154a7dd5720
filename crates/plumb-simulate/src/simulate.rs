//! Many stories, checked.

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

/// A story that broke a rule.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Number of the operation, from zero.
    pub operation: usize,
    /// What it broke.
    pub violation: Violation,
}

/// How thoroughly stories are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Replays and second runs now and then.
    Usual,
    /// Everything after every operation.
    Full,
}

/// Runs a story; answers how many operations ran.
pub fn run(story: &Story, care: Care, coverage: &mut Coverage) -> Result<u64, Failed> {
    run_observed(&fresh_world(), story, care, coverage, |_, _| {})
}

/// The same on a stack as `start` has it; `observe` sees each operation as it ran, and the world after it.
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

/// A stack without state, and a cloud with a few objects that nobody manages yet.
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

/// What `run` comes to; a panic is a violation too.
fn caught<T>(run: impl FnOnce() -> Result<T, Violation>) -> Result<T, Violation> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Violation::new("panic", text.unwrap_or_default()))
    })
}

/// Has an operation run again, if nothing is left to do after it; once more before that, where it may begin with other
/// versions than the first time. Answers how many operations ran.
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

/// Runs the same program again, which must change nothing, but that it may let go of what was kept for others; then
/// nothing is left to do. Answers how many operations ran.
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

/// What a simulation is to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The state that every story starts from, and a program that it may come from.
    pub origin: Origin,
    /// How many operations at least.
    pub operations: u64,
    /// The first seed.
    pub seed: u64,
    /// How many threads.
    pub threads: usize,
    /// Whether stories that failed are made small.
    pub shrinks: bool,
    /// After how many failing seeds to stop.
    pub failures: usize,
}

/// What a simulation found.
#[derive(Debug)]
pub struct Report {
    /// How many operations ran.
    pub operations: u64,
    /// The first seed that was not run; more runs may begin with it.
    pub next: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Which behaviours were reached.
    pub coverage: Coverage,
    /// Seeds that failed, with their stories made small.
    pub failed: Vec<(u64, Story, Failed)>,
}

/// Runs stories of one seed after another until enough operations ran, or too many seeds failed.
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

/// What the threads of a simulation share.
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
