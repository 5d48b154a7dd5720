//! Measures the time of the deployment core alone.
//!
//! ```sh
//! cargo run --profile bench-fast -p core-bench -- --counts 1000,10000,100000
//! ```
//!
//! Memory freed by one run is reused by the next. Otherwise small runs would use warm memory, and large ones pages that
//! the system provides again, which is not part of the core. `MIMALLOC_PURGE_DELAY=10` returns memory to the system
//! like the product.

#![allow(clippy::print_stdout)] // The table is the output.

use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;
use core_bench::{Answers, Shape, Task};
use plumb_state::Snapshot;

/// Allocator of the product.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Goals, in resources per second and as a ratio.
const SAME_PER_SECOND: f64 = 200_000.0;
const GROWTH: f64 = 1.15;

#[derive(Parser)]
struct Arguments {
    /// Numbers of resources.
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000, 100_000])]
    counts: Vec<usize>,
    /// Dependency structures of the stacks.
    #[arg(long, value_delimiter = ',', default_values = ["wide", "chain", "realistic"])]
    shapes: Vec<Shape>,
    /// Operations to measure.
    #[arg(long, value_delimiter = ',', default_values = [
        "create", "same", "change", "target", "half", "destroy", "destroy-with-program",
    ])]
    tasks: Vec<Task>,
    /// Time of the provider's answers.
    #[arg(long, default_value = "at-once")]
    answers: Answers,
    /// Number of runs, of which the best counts.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Fail if a goal is missed.
    #[arg(long)]
    check: bool,
}

/// Variable with the time in milliseconds for which the allocator keeps free memory; read when a process starts.
const PURGE_DELAY: &str = "MIMALLOC_PURGE_DELAY";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if std::env::var_os(PURGE_DELAY).is_none() {
        return keeping_memory();
    }
    let mut missed = Vec::new();
    println!(
        "{:<10} {:<14} {:>8} {:>10} {:>12} {:>8}",
        "shape", "task", "count", "ms", "per second", "growth"
    );
    for shape in &arguments.shapes {
        for task in arguments.tasks.iter().copied() {
            let mut before: Option<(usize, f64)> = None;
            for count in &arguments.counts {
                let best = best_of(&arguments, *shape, task, *count).as_secs_f64();
                let per_second = *count as f64 / best;
                let growth =
                    before.map(|(fewer, time)| best / time / (*count as f64 / fewer as f64));
                let shown = growth.map(|it| format!("{it:.2}")).unwrap_or_default();
                let (shape, task_name, ms) = (shape.name(), task.name(), best * 1000.0);
                println!(
                    "{shape:<10} {task_name:<14} {count:>8} {ms:>10.2} {per_second:>12.0} {shown:>8}"
                );
                if task == Task::Same && per_second < SAME_PER_SECOND {
                    missed.push(format!(
                        "{shape}, {task_name}, {count}: {per_second:.0} per second"
                    ));
                }
                if *count > 10_000 && growth.is_some_and(|growth| growth > GROWTH) {
                    missed.push(format!("{shape}, {task_name}, {count}: grows by {shown}"));
                }
                before = Some((*count, best));
            }
        }
    }
    for miss in &missed {
        println!("goal missed: {miss}");
    }
    if arguments.check && !missed.is_empty() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs the benchmark in a process that returns no memory to the system.
fn keeping_memory() -> ExitCode {
    let program = std::env::current_exe().expect("a running program has a file");
    let status = Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(PURGE_DELAY, "-1")
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("the benchmark cannot start itself: {error}");
            ExitCode::FAILURE
        }
    }
}

fn best_of(arguments: &Arguments, shape: Shape, task: Task, count: usize) -> Duration {
    let base = match task {
        Task::Create => Snapshot::default(),
        _ => {
            Task::Create
                .run(shape, count, &Snapshot::default(), arguments.answers)
                .snapshot
        }
    };
    (0..arguments.runs)
        .map(|_| task.run(shape, count, &base, arguments.answers).time)
        .min()
        .unwrap_or_default()
}
