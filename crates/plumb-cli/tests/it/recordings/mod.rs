//! Complete runs of the engine against recordings of the reference.
//!
//! A recording (`tests/data/recordings`) contains all calls between the reference, a program and providers. Here the
//! built binary takes the place of the reference; all others are doubles that send the recorded messages:
//!
//! 1. `recording` reads the steps of a program, and the calls of each.
//! 2. `stage` starts the doubles, puts plugins that lead to them on the search path, and runs the command of the
//!    step.
//! 3. `program` makes the recorded requests of the program and takes callbacks; `provider` answers as the plugin did.
//!    Both use `script`, which finds the recorded call that matches a call of the engine. Calls about one resource must
//!    arrive in the recorded order, independent calls in any order.
//! 4. `compare` compares every request to a provider, every reply to the program, the events of the run and the state
//!    after it, field by field. Each difference must be in `explained`.
//!
//! **Every recording is replayed, or is listed in [`NOT_REPLAYED`] with a reason.**

mod compare;
mod events;
mod explained;
pub(crate) mod grpc;
mod names;
mod program;
mod protocol;
mod provider;
mod recording;
mod script;
mod stage;
mod state;

use std::collections::BTreeSet;
use std::path::PathBuf;

use program::Pace;
use stage::{Providers, Stage};

/// Programs that are replayed.
const REPLAYED: [&str; 5] = ["command", "go", "node", "python", "random"];

/// Programs that cannot be replayed, and why.
const NOT_REPLAYED: [(&str, &str); 0] = [];

fn data(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data")).join(name)
}

/// Replays all steps of a program.
fn replay(program: &str, pace: Pace, providers: Providers) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut stage = Stage::new(program, pace, providers);
        let mut differences = Vec::new();
        for name in recording::step_names(program) {
            let step = recording::step(program, &name);
            differences.extend(stage.replay(&step).await);
        }
        explained::check(program, pace, providers, &differences);
    });
}

fn replay_with_doubles(program: &str) {
    replay(program, Pace::OneByOne, Providers::Doubles);
    replay(program, Pace::Eager, Providers::Doubles);
}

#[test]
fn command_runs_as_recorded() {
    replay_with_doubles("command");
}

#[test]
fn go_runs_as_recorded() {
    replay_with_doubles("go");
}

#[test]
fn node_runs_as_recorded() {
    replay_with_doubles("node");
}

#[test]
fn python_runs_as_recorded() {
    replay_with_doubles("python");
}

#[test]
fn random_runs_as_recorded() {
    replay_with_doubles("random");
}

/// Replays with built-in providers: same decisions, and results of the same shape.
#[test]
fn built_in_providers_stand_in_for_those_that_were_recorded() {
    for program in ["command", "node", "python", "random"] {
        replay(program, Pace::Eager, Providers::BuiltIn);
    }
}

#[test]
fn every_recording_is_replayed_or_listed() {
    let folders = std::fs::read_dir(data("recordings")).unwrap();
    let recorded: BTreeSet<String> = folders
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let left_out = NOT_REPLAYED.map(|(program, _)| program);
    let known = REPLAYED.iter().chain(&left_out).map(ToString::to_string);
    assert_eq!(recorded, known.collect());
    for program in REPLAYED {
        for step in recording::step_names(program) {
            assert!(recording::command(&step).is_some(), "{program}/{step}");
        }
    }
}
