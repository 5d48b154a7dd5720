//! Runs random histories of several writers in a real store: `store_histories URL COUNT [FIRST-SEED]`.
//!
//! `tests/e2e/stores.py` runs some against each server that it starts.

#![allow(clippy::print_stdout, clippy::print_stderr)] // The report is the output.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use plumb_backend::histories::{self, Counts};
use plumb_stores::{StoreUrl, StoreWatch};

/// Histories that run at once. Most of their time is spent waiting for the server.
const THREADS: usize = 4;

fn main() -> ExitCode {
    let argument = |at: usize| std::env::args().nth(at);
    let url = argument(1).expect("the address is given");
    let url = StoreUrl::parse(&url).expect("it is the address of a store");
    let number = |at| argument(at).map(|text| text.parse::<u64>().expect("it is a number"));
    let (count, first) = (number(2).unwrap_or(20), number(3).unwrap_or(0));
    let next = AtomicU64::new(first);
    let work = || run(&url, &next, first + count);
    let ended = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let ended = workers
            .into_iter()
            .map(|it| it.join().expect("nobody panics"));
        ended.collect::<Result<Vec<Counts>, String>>()
    });
    match ended {
        Ok(all) => {
            let sum = |mut sum: Counts, counts| {
                sum += counts;
                sum
            };
            let counts = all.into_iter().fold(Counts::default(), sum);
            println!("{count} histories from seed {first}: {counts:?}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// Runs histories of the next seeds, each in a folder of its own.
fn run(url: &StoreUrl, next: &AtomicU64, end: u64) -> Result<Counts, String> {
    let variables = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let watch = Arc::new(StoreWatch::silent());
    let bucket = plumb_stores::open(url, &variables, &watch).map_err(|error| error.to_string())?;
    let mut counts = Counts::default();
    loop {
        let seed = next.fetch_add(1, Ordering::SeqCst);
        if seed >= end {
            return Ok(counts);
        }
        let found = histories::run_on(bucket.clone(), &format!("history-{seed}"), seed);
        counts += found.map_err(|text| format!("seed {seed}: {text}"))?;
    }
}
