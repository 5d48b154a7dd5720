//! `simulate --ops N --seed S [--threads T]`: runs stories, prints how it went; fails if one broke a rule.
//! `--failures F` goes on until so many seeds have failed.
#![expect(clippy::print_stdout, reason = "this program's output")]

use std::process::ExitCode;

use plumb_simulate::coverage::Coverage;
use plumb_simulate::simulate::{Care, Settings, run_observed, simulate};
use plumb_simulate::story::Story;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: simulate [--ops N] [--seed S] [--threads T] [--failures F] | --story FILE | --show SEED";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1).cloned()
    };
    let number = |flag: &str, default: u64| match value(flag) {
        None => Some(default),
        Some(text) => text.parse().ok(),
    };
    if let Some(file) = value("--story") {
        return replay(&file);
    }
    if let Some(seed) = value("--show").and_then(|text| text.parse().ok()) {
        println!("{}", plumb_simulate::generate::story(seed));
        return ExitCode::SUCCESS;
    }
    let (Some(operations), Some(seed), Some(threads), Some(failures)) = (
        number("--ops", 100_000),
        number("--seed", 0),
        number("--threads", 1),
        number("--failures", 1),
    ) else {
        println!("{USAGE}");
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|_| {}));
    let report = simulate(Settings {
        operations,
        seed,
        threads: threads as usize,
        failures: failures as usize,
    });
    let seconds = report.elapsed.as_secs_f64();
    println!(
        "{} operations in {seconds:.1} s, {:.0} per second; seeds from {seed}",
        report.operations,
        report.operations as f64 / seconds
    );
    println!("{} behaviours reached:", report.coverage.len());
    let reached: Vec<String> = report
        .coverage
        .iter()
        .map(|(id, times)| format!("{id}:{times}"))
        .collect();
    println!("{}", reached.join(" "));
    for (seed, story, failed) in &report.failed {
        println!("\nseed {seed} fails: {}\n\n{story}", failed.violation);
    }
    if report.failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn replay(file: &str) -> ExitCode {
    let Ok(text) = std::fs::read_to_string(file) else {
        println!("{file} cannot be read");
        return ExitCode::from(2);
    };
    let story: Story = match text.parse() {
        Ok(story) => story,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut number = 0;
    let result = run_observed(
        &story,
        Care::Full,
        &mut Coverage::default(),
        |trace, world| {
            println!(
                "operation {number}: {:?} {:?}",
                trace.outcome.as_ref().map(|it| it.result),
                trace.errors
            );
            number += 1;
            for step in &trace.steps {
                println!("    {} {}", step.op.as_str(), step.urn.name());
            }
            for state in &world.snapshot.resources {
                let provider = state.provider.as_ref().map(ToString::to_string);
                println!(
                    "  {} {} {}{} {}",
                    state.urn.qualified_type(),
                    state.urn.name(),
                    state.id.as_str(),
                    if state.delete { " delete" } else { "" },
                    provider
                        .as_deref()
                        .and_then(|text| text.rsplit("::").next())
                        .unwrap_or("")
                );
            }
        },
    );
    match result {
        Ok(operations) => {
            println!("{operations} operations, nothing broken");
            ExitCode::SUCCESS
        }
        Err(failed) => {
            println!("operation {}: {}", failed.operation, failed.violation);
            ExitCode::FAILURE
        }
    }
}
