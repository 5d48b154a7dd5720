//! Additional features of stories: policy packs, automatic naming, transforms, functions, remote components, views,
//! snippets.
//!
//! They have a random stream of their own, so that the rest of a seed's story does not depend on them.

use std::collections::BTreeSet;

use crate::dice::Dice;
use crate::story::{Ask, CallKind, Fault, FaultKind, Operation, Prop, Story, Verb};

/// Current choices, used for later operations.
#[derive(Default)]
struct Present {
    naming: Option<String>,
    transforms: Vec<String>,
    asks: Vec<Ask>,
    snippets: BTreeSet<&'static str>,
}

/// Names of snippets.
const SNIPPETS: [&str; 3] = ["A", "B", "C"];

/// Features used by a story.
#[derive(Clone, Copy)]
struct Features {
    policies: bool,
    naming: bool,
    transforms: bool,
    asks: bool,
    remote: bool,
    views: bool,
    snippets: bool,
}

/// Adds the extra features for a seed to a story.
pub(super) fn add(seed: u64, story: &mut Story) {
    let mut dice = Dice::new(!seed);
    let mut likely = |n: usize| dice.below(10) < n;
    let features = Features {
        policies: likely(2),
        naming: likely(2),
        transforms: likely(2),
        asks: likely(3),
        remote: likely(3),
        views: likely(2),
        snippets: likely(2),
    };
    let mut present = Present::default();
    for operation in &mut story.operations {
        // Packs are loaded, and transforms there, where a program runs.
        let runs = operation.verb == Verb::Up || operation.flags.run_program;
        if features.policies && dice.one_in(2) {
            let packs = policies(&mut dice);
            operation.flags.policies = if runs { packs } else { Vec::new() };
        }
        if features.naming {
            name(&mut dice, &mut present, operation);
        }
        if features.transforms && runs {
            transform(&mut dice, &mut present.transforms);
            operation.program.transforms.clone_from(&present.transforms);
        }
        if features.asks && runs {
            ask(&mut dice, &mut present.asks, operation);
        }
        for res in &mut operation.program.resources {
            // Mostly the same resources in all operations of a story.
            let is_chosen = res.name.bytes().any(|byte| byte % 2 == 0) != dice.one_in(12);
            if features.views && res.is_managed() && dice.one_in(3) {
                let count = Prop::text(dice.below(4).to_string());
                res.properties.insert("parts".to_owned(), count);
            }
            if features.snippets {
                res.snippet = source(&mut dice, &res.name);
            }
            res.remote = features.remote && is_chosen && res.is_constructible();
        }
        if features.views {
            break_parts(&mut dice, operation);
        }
        operation.program.tidy();
        if features.snippets && operation.verb == Verb::Up {
            keep_snippets(&mut dice, &mut present.snippets, operation);
        }
    }
}

/// Makes views of the story's resources fail, or their owners.
fn break_parts(dice: &mut Dice, operation: &mut Operation) {
    if !dice.one_in(3) {
        return;
    }
    use CallKind::{Create, Delete, Read, Update};
    let call = [Create, Update, Update, Delete, Delete, Read][dice.below(6)];
    let kind = [FaultKind::Part, FaultKind::HalfPart, FaultKind::Told][dice.below(3)];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    for name in names {
        if dice.one_in(3) && !operation.faults.iter().any(|it| it.name == name) {
            let name = name.to_owned();
            operation.faults.push(Fault { call, name, kind });
        }
    }
}

/// Source that registers the resource with a name, mostly the same one in all operations of a story.
fn source(dice: &mut Dice, name: &str) -> Option<String> {
    let number = name.bytes().last().unwrap_or_default() as usize;
    let number = if dice.one_in(12) {
        dice.below(6)
    } else {
        number % 6
    };
    SNIPPETS.get(number).map(|uuid| (*uuid).to_owned())
}

/// Chooses changes to the stored snippets, and the snippets to target.
fn keep_snippets(dice: &mut Dice, present: &mut BTreeSet<&'static str>, operation: &mut Operation) {
    for uuid in SNIPPETS {
        let flags = &mut operation.flags;
        if present.contains(uuid) && dice.one_in(6) {
            flags.removes.push(uuid.to_owned());
            present.remove(uuid);
        } else if dice.one_in(if present.contains(uuid) { 5 } else { 2 }) {
            flags.stores.push(uuid.to_owned());
            present.insert(uuid);
        }
        if dice.one_in(16) {
            flags.target_snippets.push(uuid.to_owned());
        }
    }
}

fn policies(dice: &mut Dice) -> Vec<String> {
    let often = ["notes", "remediates", "forbids"];
    let seldom = ["breaks", "strict", "absent"];
    let mut packs: Vec<String> = Vec::new();
    for _ in 0..=dice.below(2) {
        let from = if dice.one_in(8) { seldom } else { often };
        packs.extend(dice.pick(&from).map(|it| (*it).to_owned()));
    }
    packs.sort();
    packs.dedup();
    packs
}

fn name(dice: &mut Dice, present: &mut Present, operation: &mut Operation) {
    if dice.one_in(4) {
        let rules = [None, Some("verbatim"), Some("pattern"), Some("chance")];
        let rule = if dice.one_in(8) {
            Some("disabled")
        } else {
            rules[dice.below(rules.len())]
        };
        present.naming = rule.map(str::to_owned);
    }
    operation.flags.naming.clone_from(&present.naming);
    // Only resources that ask for a name show which name they get.
    for res in &mut operation.program.resources {
        if res.is_managed() && res.read.is_none() && dice.one_in(4) {
            let value = Prop::text("1");
            res.properties.insert("named".to_owned(), value);
        }
    }
}

fn transform(dice: &mut Dice, present: &mut Vec<String>) {
    if !dice.one_in(4) {
        return;
    }
    let all = ["marks", "slows", "frees"];
    let name = all[dice.below(all.len())];
    if present.iter().any(|it| it == name) {
        present.retain(|it| it != name);
    } else {
        present.push(name.to_owned());
    }
}

fn ask(dice: &mut Dice, present: &mut Vec<Ask>, operation: &mut Operation) {
    let resources = &operation.program.resources;
    if dice.one_in(2) && !present.is_empty() {
        present.remove(dice.below(present.len()));
    }
    if dice.one_in(2) && present.len() < 3 {
        let mut ask = Ask {
            package: ["test", "test", "two"][dice.below(3)].to_owned(),
            ..Ask::default()
        };
        for _ in 0..dice.below(3) {
            ask.needs
                .extend(dice.pick(resources).map(|res| res.name.clone()));
        }
        let providers: Vec<_> = resources.iter().filter(|res| res.is_provider()).collect();
        if dice.one_in(2) {
            ask.provider = dice.pick(&providers).map(|res| res.name.clone());
        }
        present.push(ask);
    }
    operation.program.asks.clone_from(present);
}
