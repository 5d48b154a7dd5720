//! The corpus of the readers with some mutations; `examples/readers.rs` runs for longer.

use std::path::Path;
use std::thread;

use plumb_state::journal::disk::{self, Tail};

use crate::readers::{Reader, STACK, run, samples};

const INPUTS: u64 = 1500;

#[test]
fn no_input_stops_a_reader() {
    // Use the stack size with which the program reads files, for the deepest values.
    let thread = thread::Builder::new().stack_size(STACK);
    let read = thread.spawn(read_inputs).unwrap().join();
    if let Err(panic) = read {
        std::panic::resume_unwind(panic);
    }
}

fn read_inputs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/readers");
    for reader in Reader::ALL {
        let samples = samples(reader, &folder).unwrap();
        let mut accepted = 0;
        for sample in &samples {
            let read = reader.check(sample);
            assert!(read.is_ok(), "{reader:?}: {read:?}");
            accepted += usize::from(read == Ok(true));
        }
        assert!(accepted > 0, "no sample of {reader:?} is accepted");
        for seed in 0..INPUTS {
            if let Err(violation) = run(reader, &samples, seed) {
                panic!("{reader:?}, seed {seed}: {}", violation.text);
            }
        }
    }
}

#[test]
fn journals_of_both_versions_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/readers/journal");
    for (name, version, entries) in [("all-kinds", 1, 16), ("packed", 2, 13)] {
        let sample = std::fs::read(folder.join(name)).unwrap();
        let header = format!("\"version\":{version}");
        assert!(String::from_utf8_lossy(&sample).contains(&header), "{name}");
        let journal = disk::read(&sample).unwrap();
        assert_eq!(
            (journal.entries.len(), journal.tail),
            (entries, Tail::Clean),
            "{name}"
        );
    }
}
