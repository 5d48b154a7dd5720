//! Random histories, few enough for every test run; `tests/run.sh` runs many more.

use plumb_simulate::origin::Origin;
use plumb_simulate::simulate::{Settings, simulate};

/// FUZZ-01
#[test]
fn generated_histories_do_what_the_model_says() {
    holds(Origin::default(), 3_000);
}

/// FUZZ-02
#[test]
fn histories_that_start_from_the_state_of_a_stack_do_what_the_model_says() {
    for file in [
        "vectors/deployment-v3.json",
        "vectors/deployment-v4.json",
        "recordings/python/3-up-same.state.json",
        "recordings/command/2-up.state.json",
    ] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/");
        let text = std::fs::read_to_string(format!("{folder}{file}")).expect("it is there");
        let origin = Origin::from_export(&text).expect("it is an export");
        assert!(origin.world.snapshot.resources.len() > 4, "{file}");
        assert!(origin.program.resources.len() > 2, "{file}");
        holds(origin, 1_000);
    }
}

/// Runs histories that start with the state of `origin`.
#[track_caller]
fn holds(origin: Origin, operations: u64) {
    let settings = Settings {
        origin,
        operations,
        seed: 0,
        threads: 2,
        shrinks: true,
        failures: 1,
    };
    let report = simulate(settings);
    if let Some((seed, story, failed)) = report.failed.first() {
        panic!("seed {seed}: {}\n\n{story}", failed.violation);
    }
    assert!(report.operations >= operations);
    assert!(report.coverage.len() > 30, "{:?}", report.coverage);
}
