//! Histories by chance, few enough for every run of the tests; `tests/run.sh` runs many more.

use plumb_simulate::simulate::{Settings, simulate};

/// FUZZ-01
#[test]
fn generated_histories_do_what_the_model_says() {
    let settings = Settings {
        operations: 3_000,
        seed: 0,
        threads: 2,
        failures: 1,
    };
    let report = simulate(settings);
    if let Some((seed, story, failed)) = report.failed.first() {
        panic!("seed {seed}: {}\n\n{story}", failed.violation);
    }
    assert!(report.operations >= settings.operations);
    assert!(report.coverage.len() > 30, "{:?}", report.coverage);
}
