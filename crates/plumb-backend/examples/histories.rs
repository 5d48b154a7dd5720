//! Runs random histories of several writers on one stack: `histories COUNT [FIRST-SEED]`.
//!
//! `cargo run --release -p plumb-backend --features conformance --example histories -- 100000`

#![allow(clippy::print_stdout, clippy::print_stderr)] // The report is the output.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use plumb_backend::histories::{self, Counts};

fn main() -> ExitCode {
    let number = |at: usize, default: u64| {
        let text = std::env::args().nth(at);
        text.map_or(default, |text| text.parse().expect("it is a number"))
    };
    let (count, first) = (number(1, 10_000), number(2, 0));
    let next = AtomicU64::new(first);
    let (counts, failed) = (Mutex::new(Counts::default()), Mutex::new(None));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= first + count {
                        return;
                    }
                    match histories::run(seed) {
                        Ok(found) => *counts.lock().expect("nobody panics") += found,
                        Err(text) => {
                            next.store(first + count, Ordering::SeqCst);
                            *failed.lock().expect("nobody panics") = Some((seed, text));
                        }
                    }
                }
            });
        }
    });
    println!(
        "{count} histories from seed {first}: {:?}",
        counts.lock().expect("nobody panics")
    );
    match failed.into_inner().expect("nobody panics") {
        Some((seed, text)) => {
            eprintln!("seed {seed}: {text}");
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}
