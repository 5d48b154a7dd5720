//! Runs the readers of files on mutated samples: `readers SECONDS [FIRST-SEED]`. Inputs that violate a rule are written
//! to the folder of samples, to be fixed and kept.
//!
//! `cargo run --release -p plumb-backend --features conformance --example readers -- 600`

#![allow(clippy::print_stdout, clippy::print_stderr)] // The report is the output.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use plumb_backend::readers::{Reader, STACK, run, samples};

fn main() -> ExitCode {
    let thread = thread::Builder::new().stack_size(STACK);
    let read = thread.spawn(read).expect("it can be started").join();
    read.unwrap_or(ExitCode::FAILURE)
}

fn read() -> ExitCode {
    let number = |at: usize, default: u64| {
        let text = std::env::args().nth(at);
        text.map_or(default, |text| text.parse().expect("it is a number"))
    };
    let (seconds, first) = (number(1, 10), number(2, 0));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/readers");
    std::panic::set_hook(Box::new(|_| {}));
    let mut failed = 0;
    for reader in Reader::ALL {
        let samples = samples(reader, &folder).expect("there are samples");
        let until = Instant::now() + Duration::from_secs(seconds) / 6;
        let (mut inputs, mut accepted, mut found) = (0_u64, 0_u64, 0);
        while Instant::now() < until && found < 5 {
            match run(reader, &samples, first + inputs) {
                Ok(is_accepted) => accepted += u64::from(is_accepted),
                Err(violation) => {
                    found += 1;
                    let name = format!("found-{}", violation.seed);
                    let path = folder.join(reader.name()).join(name);
                    eprintln!("seed {}: {}", violation.seed, violation.text);
                    fs::write(path, &violation.input).expect("it can be written");
                }
            }
            inputs += 1;
        }
        failed += found;
        println!(
            "{}: {inputs} inputs from seed {first}, {accepted} accepted, {found} violations",
            reader.name()
        );
    }
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
