//! Registered packages, and resources of their types.

use std::collections::BTreeMap;

use crate::dice::Dice;
use crate::story::{Package, Program, Res, Story, Verb};

/// Names of the packages: with versions, with extensions, and one with a parameter.
const NAMES: [&str; 5] = ["A", "B", "E", "F", "S"];

/// Adds packages to a story, if its seed selects them.
pub(super) fn add(seed: u64, story: &mut Story) {
    let mut dice = Dice::new(seed ^ 0x7061_636b_6167_6573);
    if !dice.one_in(5) {
        return;
    }
    let mut packages: Vec<Package> = NAMES.map(fresh).into();
    let mut present: BTreeMap<String, &str> = BTreeMap::new();
    for operation in &mut story.operations {
        if operation.verb != Verb::Up && !operation.flags.run_program {
            continue;
        }
        let program = &mut operation.program;
        for _ in 0..dice.below(3) {
            let Some(res) = dice.pick(&program.resources) else {
                break;
            };
            if dice.one_in(4) {
                present.remove(&res.name);
            } else {
                present.insert(res.name.clone(), NAMES[dice.below(NAMES.len())]);
            }
        }
        if dice.one_in(4) {
            change(&mut dice, &mut packages);
        }
        program.packages.clone_from(&packages);
        for res in &mut program.resources {
            if let Some(name) = present.get(&res.name) {
                assign(res, name);
            }
        }
        program.tidy();
        drop_unused(program);
    }
}

fn fresh(name: &str) -> Package {
    let version = if name == "B" { "2.0.0" } else { "1.0.0" };
    let text = |of: &str, text: &str| (name == of).then(|| text.to_owned());
    Package {
        name: name.to_owned(),
        plugin: "test".to_owned(),
        version: version.to_owned(),
        parameter: text("S", "one@0.1.0"),
        extension: text("E", "one@0.1.0").or(text("F", "two@0.1.0")),
    }
}

/// Changes the version of a plugin, the parameter, or the version of the parameterized package.
fn change(dice: &mut Dice, packages: &mut [Package]) {
    let at = dice.below(packages.len());
    let package = &mut packages[at];
    let texts = ["one@0.1.0", "two@0.1.0", "one@0.2.0"];
    let text = texts[dice.below(texts.len())].to_owned();
    match dice.below(3) {
        0 => ["1.0.0", "2.0.0"][dice.below(2)].clone_into(&mut package.version),
        _ if package.parameter.is_some() => package.parameter = Some(text),
        // Sometimes the plugin does not know the extension.
        _ if package.extension.is_some() && dice.one_in(4) => {
            package.extension = Some("none@0.1.0".to_owned());
        }
        _ if package.extension.is_some() => package.extension = Some(text),
        _ => {}
    }
}

fn assign(res: &mut Res, name: &str) {
    res.package = Some(name.to_owned());
    let parameterized = match res.type_name.as_str() {
        "Thing" | "Other" => "Sub",
        "P.test" => "P.sub",
        _ => return,
    };
    if name == "S" {
        parameterized.clone_into(&mut res.type_name);
    }
}

fn drop_unused(program: &mut Program) {
    let resources = &program.resources;
    let is_used = |package: &Package| {
        let mut named = resources.iter().filter_map(|res| res.package.as_ref());
        named.any(|name| *name == package.name)
    };
    program.packages.retain(is_used);
}
