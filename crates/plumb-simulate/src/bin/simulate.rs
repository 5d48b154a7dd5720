//! `simulate --ops N --seed S [--threads T]`: runs stories and prints statistics; fails if a story violates a rule.
//! `--failures F` continues until F seeds have failed, `--keep-going` until all operations are done.
//! `--no-shrinking` prints failed stories without shrinking them.
//! `--found FILE` runs the stories in a file, each in ten orders of events.
//! `--from-state FILE` starts every story from a deployment that `stack export` has written.
#![expect(clippy::print_stdout, reason = "this program's output")]

use std::process::ExitCode;

use plumb_simulate::coverage::Coverage;
use plumb_simulate::found;
use plumb_simulate::generate::story_on;
use plumb_simulate::origin::Origin;
use plumb_simulate::simulate::{Care, Report, Settings, run_observed, simulate};
use plumb_simulate::story::Story;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: simulate [--ops N] [--seed S] [--threads T] [--failures F | --keep-going] [--no-shrinking] \
    [--from-state FILE] | \
    [--from-state FILE] --story FILE | --found FILE | [--from-state FILE] --show SEED";

const FLAGS: [&str; 10] = [
    "--ops",
    "--seed",
    "--threads",
    "--failures",
    "--keep-going",
    "--no-shrinking",
    "--from-state",
    "--story",
    "--found",
    "--show",
];

/// Command-line arguments.
struct Arguments(Vec<String>);

impl Arguments {
    fn are_known(&self) -> bool {
        let mut flags = self.0.iter().filter(|it| it.starts_with('-'));
        flags.all(|flag| FLAGS.contains(&flag.as_str()))
    }

    fn has(&self, flag: &str) -> bool {
        self.0.iter().any(|argument| argument == flag)
    }

    fn value(&self, flag: &str) -> Option<&String> {
        let at = self.0.iter().position(|argument| argument == flag)?;
        self.0.get(at + 1)
    }

    /// Number given for a flag; `None` if the text is not a number.
    fn number(&self, flag: &str, default: u64) -> Option<u64> {
        match self.value(flag) {
            None => Some(default),
            Some(text) => text.parse().ok(),
        }
    }

    fn settings(&self, origin: Origin) -> Option<Settings> {
        let failures = self.number("--failures", 1)? as usize;
        Some(Settings {
            origin,
            shrinks: !self.has("--no-shrinking"),
            operations: self.number("--ops", 100_000)?,
            seed: self.number("--seed", 0)?,
            threads: self.number("--threads", 1)? as usize,
            failures: if self.has("--keep-going") {
                usize::MAX
            } else {
                failures
            },
        })
    }
}

fn main() -> ExitCode {
    let arguments = Arguments(std::env::args().skip(1).collect());
    run(&arguments).unwrap_or_else(|message| {
        println!("{message}");
        ExitCode::from(2)
    })
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    if !arguments.are_known() {
        return Err(USAGE.to_owned());
    }
    let origin = match arguments.value("--from-state") {
        None => Origin::default(),
        Some(file) => origin_of(file)?,
    };
    if let Some(file) = arguments.value("--story") {
        return Ok(replay(&origin, file));
    }
    if let Some(file) = arguments.value("--found") {
        return replay_all(file);
    }
    if let Some(seed) = arguments.value("--show") {
        let seed = seed.parse().map_err(|_| USAGE.to_owned())?;
        println!("{}", story_on(seed, origin.program));
        return Ok(ExitCode::SUCCESS);
    }
    let settings = arguments.settings(origin).ok_or(USAGE)?;
    std::panic::set_hook(Box::new(|_| {}));
    let seed = settings.seed;
    let report = simulate(settings);
    print(seed, &report);
    Ok(if report.failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn print(seed: u64, report: &Report) {
    let seconds = report.elapsed.as_secs_f64();
    println!(
        "{} operations in {seconds:.1} s, {:.0} per second; seeds from {seed}, before {}",
        report.operations,
        report.operations as f64 / seconds,
        report.next
    );
    println!("{} behaviours reached:", report.coverage.len());
    let counts = |pairs: &mut dyn Iterator<Item = (&'static str, u64)>, between: &str| {
        let texts: Vec<String> = pairs.map(|(id, times)| format!("{id}:{times}")).collect();
        texts.join(between)
    };
    println!("{}", counts(&mut report.coverage.iter(), " "));
    let second_runs = counts(&mut report.coverage.second_runs(), ", ");
    println!("second runs: {second_runs}");
    for (seed, story, failed) in &report.failed {
        println!("\nseed {seed} fails: {}\n\n{story}", failed.violation);
    }
}

fn origin_of(file: &str) -> Result<Origin, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    Origin::from_export(&text).map_err(|error| format!("{file}: {error}"))
}

fn replay_all(file: &str) -> Result<ExitCode, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let stories = found::stories(&text).map_err(|error| format!("{file}: {error}"))?;
    for (title, story) in &stories {
        if let Err(failed) = found::holds(story, 10) {
            println!("{title}: {}", failed.violation);
            return Ok(ExitCode::FAILURE);
        }
    }
    println!("{} stories, nothing broken", stories.len());
    Ok(ExitCode::SUCCESS)
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
