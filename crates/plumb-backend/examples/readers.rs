//! Runs the readers of files on mutated samples: `readers SECONDS [FIRST-SEED [READER..]]`, each reader for so many
//! seconds and as many of them at a time as there are cores. Inputs that violate a rule are written to the folder of
//! samples, to be fixed and kept.
//!
//! `cargo run --release -p plumb-backend --features conformance --example readers -- 1800 1 schema journal`

#![allow(clippy::print_stdout, clippy::print_stderr)] // The report is the output.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use plumb_backend::readers::{Reader, STACK, run, samples};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| {
        let text: Option<&String> = arguments.get(at);
        text.map_or(default, |text| text.parse().expect("it is a number"))
    };
    let (time, first) = (Duration::from_secs(number(0, 10)), number(1, 0));
    let names = arguments.get(2..).unwrap_or_default();
    let is_wanted =
        |reader: &Reader| names.is_empty() || names.iter().any(|it| it == reader.name());
    let left: Mutex<Vec<Reader>> = Mutex::new(Reader::ALL.into_iter().filter(is_wanted).collect());
    std::panic::set_hook(Box::new(|_| {}));
    let work = || {
        let next = || left.lock().expect("nobody panics with it").pop();
        std::iter::from_fn(next)
            .map(|reader| read(reader, time, first))
            .sum::<u64>()
    };
    let found = thread::scope(|scope| {
        let start = || {
            thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, work)
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..cores)
            .map(|_| start().expect("it can be started"))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or(1))
            .sum::<u64>()
    });
    if found == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Number of violations found in this time.
fn read(reader: Reader, time: Duration, first: u64) -> u64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/readers");
    let samples = samples(reader, &folder).expect("there are samples");
    let until = Instant::now() + time;
    let (mut inputs, mut accepted, mut found) = (0_u64, 0_u64, 0_u64);
    while Instant::now() < until && found < 5 {
        match run(reader, &samples, first + inputs) {
            Ok(is_accepted) => accepted += u64::from(is_accepted),
            Err(violation) => {
                found += 1;
                let name = format!("found-{}", violation.seed);
                let path = folder.join(reader.name()).join(name);
                eprintln!(
                    "{}, seed {}: {}",
                    reader.name(),
                    violation.seed,
                    violation.text
                );
                fs::write(path, &violation.input).expect("it can be written");
            }
        }
        inputs += 1;
    }
    println!(
        "{}: {inputs} inputs from seed {first}, {accepted} accepted, {found} violations",
        reader.name()
    );
    found
}
