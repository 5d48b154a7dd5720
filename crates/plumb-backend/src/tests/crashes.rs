//! Every crash of some histories; `examples/crashes.rs` runs more of them.

use std::collections::BTreeSet;

use crate::crashes::{Counts, Scope, run};

/// Classes of syncs whose omission is not noticed, with the reason.
const NOT_NOTICED: [(&str, &str); 2] = [
    (
        "file store/.pulumi/*/*/*.bak",
        "copies beside the state file are not read",
    ),
    (
        "file store/.pulumi/*/*/*/*.json",
        "the length of the history is not checked after a power failure",
    ),
];

#[test]
fn no_crash_loses_what_was_acknowledged() {
    let scope = Scope {
        one_in: 20,
        omitted: None,
    };
    let mut counts = Counts::default();
    let mut seed = 0;
    while counts.checked < 1000 {
        match run(seed, scope) {
            Ok(found) => counts += found,
            Err(violation) => panic!("seed {seed}: {violation}"),
        }
        seed += 1;
    }
}

/// Omits each class of syncs in turn, which the checks must detect.
#[test]
fn a_sync_that_is_left_out_is_noticed() {
    let scope = |one_in, omitted| Scope { one_in, omitted };
    let syncs: Vec<BTreeSet<String>> = (0..20)
        .map(|seed| run(seed, scope(1000, None)).unwrap().syncs)
        .collect();
    let classes: BTreeSet<&String> = syncs.iter().flatten().collect();
    assert!(classes.len() > 5, "{classes:?}");
    let mut unnoticed = Vec::new();
    for class in classes {
        if NOT_NOTICED.iter().any(|(known, _)| known == class) {
            continue;
        }
        // Names of files have times in them, so the sample of a seed differs from run to run.
        let mut seeds = (0..).zip(&syncs).filter(|(_, syncs)| syncs.contains(class));
        if !seeds.any(|(seed, _)| run(seed, scope(10, Some(class))).is_err()) {
            unnoticed.push(class);
        }
    }
    assert!(unnoticed.is_empty(), "nobody needs {unnoticed:#?}");
}
