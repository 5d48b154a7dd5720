//! Many stories, checked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use plumb_value::PropertyMap;

use crate::coverage::Coverage;
use crate::story::{Operation, Story, Verb};
use crate::world::{Mutation, Trace, Violation, World};
use crate::{checks, generate, model, shrink};

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
    run_observed(story, care, coverage, |_, _| {})
}

/// The same; `observe` sees each operation as it ran, and the world after it.
pub fn run_observed(
    story: &Story,
    care: Care,
    coverage: &mut Coverage,
    mut observe: impl FnMut(&Trace, &World),
) -> Result<u64, Failed> {
    let mut world = fresh_world();
    let mut operations = 0;
    for (index, operation) in story.operations.iter().enumerate() {
        let failed = |violation| Failed {
            operation: index,
            violation,
        };
        let full = care == Care::Full;
        let second = full || operation.seed.is_multiple_of(4);
        let trace = step(
            &mut world,
            operation,
            full || operation.seed.is_multiple_of(3),
            coverage,
            &mut observe,
        )
        .map_err(failed)?;
        operations += 1;
        if second && settles(operation, &trace) {
            operations += 1;
            second_run(&world, operation, coverage).map_err(failed)?;
        }
    }
    Ok(operations)
}

/// A stack without state, and a cloud with a few objects that nobody manages yet.
fn fresh_world() -> World {
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
    let trace = match catch_unwind(AssertUnwindSafe(|| world.run(operation))) {
        Ok(result) => result?,
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            return Err(Violation::new("panic", text.unwrap_or_default()));
        }
    };
    observe(&trace, world);
    checks::check(&before, world, operation, &trace)?;
    if replay {
        checks::replays(&before, operation, &trace)?;
    }
    if trace.outcome.is_some() && !trace.journal_failed {
        is_as_predicted(&before, world, operation, &trace, coverage)?;
    }
    Ok(trace)
}

/// Whether a run did what the model says; where the model allows several things, one of them.
fn is_as_predicted(
    before: &World,
    after: &World,
    operation: &Operation,
    trace: &Trace,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    let mut predict = |variant| {
        let prediction = model::predict(before, operation, trace, variant, coverage)?;
        let compare = |it| model::compare(after, operation, trace, &it);
        Ok(prediction.map(compare))
    };
    let Some(Err(violation)) = predict(0)? else {
        return Ok(());
    };
    for variant in 1.. {
        match predict(variant) {
            Ok(Some(Ok(()))) => return Ok(()),
            Ok(None) => break,
            Ok(Some(Err(_))) | Err(_) => {}
        }
    }
    Err(violation)
}

/// Whether another run with the same program must find nothing to do.
fn settles(operation: &Operation, trace: &Trace) -> bool {
    let flags = &operation.flags;
    let mut states = trace.after.resources.iter();
    let restless = states.any(|state| state.inputs.contains_key("always"));
    // What is imported or read may have been managed under another name, and deleted under that.
    let adopts = operation.program.resources.iter().any(|res| {
        let id = res.import.as_ref().or(res.read.as_ref());
        let is_deleted =
            |it: &Mutation| it.call == "delete" && Some(it.id.as_str()) == id.map(String::as_str);
        id.is_some() && trace.mutations.iter().any(is_deleted)
    });
    operation.verb == Verb::Up
        && !adopts
        && !operation.preview
        && operation.stop.is_none()
        && trace.result() == Some(plumb_events::OperationResult::Succeeded)
        && flags.targets.is_empty()
        && flags.excludes.is_empty()
        && !flags.legacy_diff
        && !restless
}

fn second_run(
    world: &World,
    operation: &Operation,
    coverage: &mut Coverage,
) -> Result<(), Violation> {
    let mut world = world.clone();
    let again = Operation {
        verb: Verb::Up,
        seed: operation.seed + 1,
        parallel: operation.parallel,
        program: operation.program.clone(),
        ..Operation::default()
    };
    let trace = step(&mut world, &again, false, coverage, &mut |_, _| {})?;
    let changed = trace.outcome.as_ref().is_none_or(|outcome| {
        outcome.has_changes || outcome.result != plumb_events::OperationResult::Succeeded
    });
    if changed {
        let counts = trace.summary.map(|summary| summary.resource_changes);
        let what = format!("a second run makes changes: {counts:?} {:?}", trace.errors);
        return Err(Violation::new("convergence", what));
    }
    Ok(())
}

/// What a simulation is to do.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many operations at least.
    pub operations: u64,
    /// The first seed.
    pub seed: u64,
    /// How many threads.
    pub threads: usize,
    /// After how many failing seeds to stop.
    pub failures: usize,
}

/// What a simulation found.
#[derive(Debug)]
pub struct Report {
    /// How many operations ran.
    pub operations: u64,
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
    let shared = Shared {
        settings,
        next: AtomicU64::new(settings.seed),
        done: AtomicU64::new(0),
        failed: Mutex::default(),
    };
    let mut coverage = Coverage::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..settings.threads.max(1))
            .map(|_| scope.spawn(|| shared.work()))
            .collect();
        for worker in workers {
            coverage.add(&worker.join().expect("workers catch the panics of the core"));
        }
    });
    let elapsed = started.elapsed();
    let mut failed = shared.failed.into_inner().unwrap_or_default();
    failed.sort_by_key(|(seed, _)| *seed);
    failed.truncate(settings.failures);
    let smaller = failed.into_iter().map(|(seed, failure)| {
        let (story, failure) = shrink::shrink(generate::story(seed), failure);
        (seed, story, failure)
    });
    Report {
        operations: shared.done.into_inner(),
        elapsed,
        coverage,
        failed: smaller.collect(),
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
            match run(&generate::story(seed), Care::Usual, &mut coverage) {
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
