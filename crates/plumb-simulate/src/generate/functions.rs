//! Transforms of single resources and their descendants, and calls of provider functions.

use std::collections::BTreeMap;

use crate::dice::Dice;
use crate::story::{Story, Verb};

const OFTEN: [&str; 8] = ["x", "y", "z", "marks", "plain", "drops", "guards", "slows"];
const OF_ASKS: [&str; 3] = ["adds", "unbinds", "adds"];

/// Adds functions to a story, if its seed selects them.
pub(super) fn add(seed: u64, story: &mut Story) {
    let mut dice = Dice::new(seed ^ 0x6675_6e63_7469_6f6e);
    if !dice.one_in(5) {
        return;
    }
    let mut present: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut of_asks: Vec<String> = Vec::new();
    for operation in &mut story.operations {
        if operation.verb != Verb::Up && !operation.flags.run_program {
            continue;
        }
        let program = &mut operation.program;
        if dice.one_in(2)
            && let Some(res) = dice.pick(&program.resources)
        {
            let names = present.entry(res.name.clone()).or_default();
            toggle(names, OFTEN[dice.below(OFTEN.len())]);
        }
        if dice.one_in(6) {
            toggle(&mut of_asks, OF_ASKS[dice.below(OF_ASKS.len())]);
        }
        program.ask_transforms.clone_from(&of_asks);
        for res in &mut program.resources {
            res.transforms = present.get(&res.name).cloned().unwrap_or_default();
            if dice.one_in(150) {
                res.transforms.push("bad".to_owned());
            }
        }
        if dice.one_in(30) {
            program.ask_transforms.push("bad".to_owned());
        }
    }
}

fn toggle(names: &mut Vec<String>, name: &str) {
    if names.iter().any(|it| it == name) {
        names.retain(|it| it != name);
    } else {
        names.push(name.to_owned());
    }
}
