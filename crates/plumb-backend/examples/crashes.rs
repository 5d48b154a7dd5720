//! Checks crashes of random histories on a file store: `crashes POINTS [FIRST-SEED [ONE-IN]]` runs histories until
//! POINTS crashes have been checked, one in ONE-IN of each history.
//!
//! `cargo run --release -p plumb-backend --features conformance --example crashes -- 100000`

#![allow(clippy::print_stdout, clippy::print_stderr)] // The report is the output.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use plumb_backend::crashes::{self, Counts, Scope};

fn main() -> ExitCode {
    let number = |at: usize, default: u64| {
        let text = std::env::args().nth(at);
        text.map_or(default, |text| text.parse().expect("it is a number"))
    };
    let (points, first, one_in) = (number(1, 10_000), number(2, 0), number(3, 1));
    let share = Scope {
        one_in: u32::try_from(one_in).expect("it is a small number"),
        omitted: None,
    };
    let next = AtomicU64::new(first);
    let is_over = AtomicBool::new(false);
    let (counts, failed) = (Mutex::new(Counts::default()), Mutex::new(None));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    match crashes::run(seed, share) {
                        Ok(found) => {
                            let mut counts = counts.lock().expect("nobody panics");
                            *counts += found;
                            is_over.fetch_or(counts.checked >= points, Ordering::SeqCst);
                        }
                        Err(text) => {
                            is_over.store(true, Ordering::SeqCst);
                            *failed.lock().expect("nobody panics") = Some((seed, text));
                        }
                    }
                }
            });
        }
    });
    let last = next.load(Ordering::SeqCst);
    println!(
        "seeds {first} to {last}: {:#?}",
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
