//! Options of resources.

use plumb_resource::HookType;

use super::{Features, NAMES, prop};
use crate::dice::Dice;
use crate::story::{Hook, Program, Prop, Res};

/// Sets or removes one option of a resource.
pub(super) fn option(dice: &mut Dice, features: Features<'_>, res: &mut Res, earlier: &Program) {
    let others: Vec<&Res> = earlier
        .resources
        .iter()
        .filter(|other| !other.is_stack())
        .collect();
    let other = dice.pick(&others).map(|res| res.name.clone());
    let managed = res.is_managed();
    match dice.below(26) {
        0..=2 if features.links => res.parent = other,
        3 if features.links => res.depends_on.extend(other),
        4 if features.links && managed => res.deleted_with = other,
        5 if features.links && managed => res.replace_with.extend(other),
        6 => res.delete_before_replace = [None, Some(true), Some(false), Some(true)][dice.below(4)],
        7 if features.protect => res.protect = [None, Some(true), Some(false)][dice.below(3)],
        8 => res.retain = [None, Some(true), Some(false)][dice.below(3)],
        which @ (9..=12) => property_option(dice, features, res, which),
        13 if managed => {
            let value = prop(dice, features, earlier);
            res.trigger = if dice.one_in(3) { None } else { Some(value) };
        }
        14 if features.providers && !res.is_provider() => provider(dice, res, &others),
        15 if features.versions && managed => {
            let version = ["1.0.0", "2.0.0"].get(dice.below(3));
            res.version = version.map(|it| (*it).to_owned());
        }
        16 if managed && features.imports && res.read.is_none() => {
            res.import = planted(&res.name).filter(|_| !dice.one_in(3));
        }
        17 if managed && features.reads => {
            let ceases = res.read.is_some() && dice.one_in(2);
            res.read = planted(&res.name).filter(|_| !ceases);
        }
        18 => res.timeout = [None, Some(5)][dice.below(2)],
        19 => res.loose = !res.loose,
        20..=22 if features.oddities && !res.is_component() => be_odd(dice, res),
        23 | 24 if managed && features.hooks => bind_hook(dice, res),
        _ if res.is_component() => {
            let value = prop(dice, features, earlier);
            res.outputs.insert("x".to_owned(), value);
        }
        _ => {
            let value = prop(dice, features, earlier);
            res.properties.insert("w".to_owned(), value);
        }
    }
    if res.import.is_some() && res.read.is_some() {
        res.import = None;
    }
}

/// Sets or removes an option with property paths.
fn property_option(dice: &mut Dice, features: Features<'_>, res: &mut Res, which: usize) {
    let managed = res.is_managed();
    match which {
        9 if managed => {
            res.ignore_changes = toggled(dice, &res.ignore_changes, &["v", "r", "w", "*"]);
        }
        10 if managed => {
            let paths = ["v", "w", "*", "#initerror"];
            res.replace_on_changes = toggled(dice, &res.replace_on_changes, &paths);
        }
        11 if managed && features.secrets => {
            res.secret_outputs = toggled(dice, &res.secret_outputs, &["v", "oid"]);
        }
        _ => res.hide_diffs = toggled(dice, &res.hide_diffs, &["v"]),
    }
}

fn provider(dice: &mut Dice, res: &mut Res, others: &[&Res]) {
    let providers: Vec<&&Res> = others.iter().filter(|res| res.is_provider()).collect();
    let provider = dice.pick(&providers).map(|res| res.name.clone());
    if res.type_name == "Group" && dice.one_in(2) {
        res.providers.extend(provider);
        res.providers.dedup();
    } else {
        res.provider = provider;
    }
}

/// Sets or removes a property with a special behaviour of the provider.
fn be_odd(dice: &mut Dice, res: &mut Res) {
    let odd = [
        "always", "vague", "detail", "dbr", "named", "fresh", "q", "rr", "blind",
    ];
    let key = odd[dice.below(odd.len())].to_owned();
    if res.properties.remove(&key).is_none() {
        let value = Prop::text(dice.below(3).to_string());
        res.properties.insert(key, value);
    }
}

/// Adds or removes a hook.
pub(super) fn bind_hook(dice: &mut Dice, res: &mut Res) {
    let at = if dice.one_in(3) {
        HookType::OnError
    } else {
        HookType::ALL[dice.below(HookType::ALL.len())]
    };
    let names: &[&str] = match at {
        HookType::OnError => &["again", "again", "enough"],
        HookType::BeforeCreate | HookType::BeforeUpdate | HookType::BeforeDelete => {
            &["fine", "fine", "fine", "lenient", "bad", "missing"]
        }
        _ => &["fine", "fine", "fine", "lenient", "bad"],
    };
    let name = names[dice.below(names.len())].to_owned();
    let before = res.hooks.len();
    res.hooks.retain(|hook| hook.at != at || hook.name != name);
    if res.hooks.len() == before {
        res.hooks.push(Hook { at, name });
    }
}

/// Object that a resource may import; each name has its own.
fn planted(name: &str) -> Option<String> {
    let number = NAMES.iter().position(|other| *other == name)?;
    Some(format!("planted-{number}"))
}

fn toggled(dice: &mut Dice, present: &[String], choices: &[&str]) -> Vec<String> {
    let choice = choices[dice.below(choices.len())].to_owned();
    if present.contains(&choice) {
        return present
            .iter()
            .filter(|it| **it != choice)
            .cloned()
            .collect();
    }
    let mut all = present.to_vec();
    all.push(choice);
    all
}
