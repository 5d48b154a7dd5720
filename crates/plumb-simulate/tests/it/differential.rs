//! Comparison of the core with recorded answers of the reference (`tests/differential`).

use std::path::Path;

use plumb_simulate::differential::rules::rule_of;
use plumb_simulate::differential::{Kept, run};

#[test]
fn the_core_does_what_the_reference_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/differential/stories");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let kept = Kept::parse(&std::fs::read_to_string(&file).unwrap());
        let kept = kept.unwrap_or_else(|| panic!("{} is no kept story", file.display()));
        let mut answers = kept.answers.clone().into_iter();
        let result = run(&kept.story, &mut answers, |operation, both| {
            count += 1;
            let difference = both.difference();
            let difference = difference.filter(|it| rule_of(both, it).is_none());
            assert_eq!(None, difference, "{} {operation}", file.display());
            true
        });
        result.unwrap();
    }
    assert!(count > 0);
}
