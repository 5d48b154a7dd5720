//! `simulate --ops N --seed S [--threads T]`: runs stories, prints how it went; fails if one broke a rule.
//! `--failures F` goes on until so many seeds have failed, `--keep-going` whatever happens.
//! `--no-shrinking` prints what was found as it was found.
//! `--from-state FILE` has every story start from the deployment that `stack export` wrote to a file.
#![expect(clippy::print_stdout, reason = "this program's output")]

use std::process::ExitCode;

use plumb_simulate::coverage::Coverage;
use plumb_simulate::generate::story_on;
use plumb_simulate::origin::Origin;
use plumb_simulate::simulate::{Care, Settings, run_observed, simulate};
use plumb_simulate::story::Story;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: simulate [--ops N] [--seed S] [--threads T] [--failures F | --keep-going] [--no-shrinking] \
    [--from-state FILE] | \
    [--from-state FILE] --story FILE | [--from-state FILE] --show SEED";

const FLAGS: [&str; 9] = [
    "--ops",
    "--seed",
    "--threads",
    "--failures",
    "--keep-going",
    "--no-shrinking",
    "--from-state",
    "--story",
    "--show",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut flags = arguments.iter().filter(|it| it.starts_with('-'));
    if !flags.all(|flag| FLAGS.contains(&flag.as_str())) {
        println!("{USAGE}");
        return ExitCode::from(2);
    }
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1).cloned()
    };
    let number = |flag: &str, default: u64| match value(flag) {
        None => Some(default),
        Some(text) => text.parse().ok(),
    };
    let origin = match value("--from-state").map(|file| origin_of(&file)) {
        None => Origin::default(),
        Some(Ok(origin)) => origin,
        Some(Err(message)) => {
            println!("{message}");
            return ExitCode::from(2);
        }
    };
    if let Some(file) = value("--story") {
        return replay(&origin, &file);
    }
    if let Some(seed) = value("--show").and_then(|text| text.parse().ok()) {
        println!("{}", story_on(seed, origin.program));
        return ExitCode::SUCCESS;
    }
    let shrinks = !arguments
        .iter()
        .any(|argument| argument == "--no-shrinking");
    let keeps_going = arguments.iter().any(|argument| argument == "--keep-going");
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
        origin,
        shrinks,
        operations,
        seed,
        threads: threads as usize,
        failures: if keeps_going {
            usize::MAX
        } else {
            failures as usize
        },
    });
    let seconds = report.elapsed.as_secs_f64();
    println!(
        "{} operations in {seconds:.1} s, {:.0} per second; seeds from {seed}, before {}",
        report.operations,
        report.operations as f64 / seconds,
        report.next
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

fn origin_of(file: &str) -> Result<Origin, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    Origin::from_export(&text).map_err(|error| format!("{file}: {error}"))
}

fn replay(origin: &Origin, file: &str) -> ExitCode {
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
        &origin.world,
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
