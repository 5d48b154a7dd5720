//! Large programs.

use std::fmt::Write as _;

use crate::fake::Case;

fn program(count: usize) -> String {
    let mut text = String::from("resources:\n");
    for index in 0..count {
        let value = if index == 0 {
            "first".to_owned()
        } else {
            format!("${{r{}.separator}}", index - 1)
        };
        let _ = write!(
            text,
            "  r{index}:\n    type: random:RandomPet\n    properties:\n      length: 3\n      separator: \"{value}\"\n"
        );
    }
    text
}

#[test]
fn ten_thousand_resources_in_a_chain_evaluate() {
    let started = std::time::Instant::now();
    let ran = Case::of(&program(10_000)).run().finished();
    assert_eq!(ran.registrations().count(), 10_001);
    // A generous limit: unoptimized builds on busy machines are many times slower than the goal, but quadratic
    // work is slower still.
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
