//! Damaged configurations: they are converted or refused, and what is made of them can be read.

use std::fs;

use proptest::prelude::*;

use super::{converted, folder};

fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder().join("cases")).unwrap() {
        let path = entry.unwrap().path();
        for name in ["main.tf", "functions.tf"] {
            texts.extend(fs::read_to_string(path.join(name)));
        }
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn lines_may_be_missing_or_exchanged(
        text in prop::sample::select(texts()),
        at in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        removes in any::<bool>(),
    ) {
        let mut lines: Vec<&str> = text.lines().collect();
        let (at, other) = (at.index(lines.len()), other.index(lines.len()));
        if removes {
            lines.remove(at);
        } else {
            lines.swap(at, other);
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("main.tf"), lines.join("\n") + "\n").unwrap();
        // Reading asserts that the result is in its one form.
        let _ = converted(folder.path(), "");
    }
}
