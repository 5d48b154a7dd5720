//! Changes to the names, parents and types of resources.

use super::{Features, name};
use crate::dice::Dice;
use crate::story::{AliasDecl, Program, Source, path_of_urn};

fn follow(program: &mut Program, from: &str, to: &str) {
    let rename = |name: &mut String| {
        if name == from {
            to.clone_into(name);
        }
    };
    for res in &mut program.resources {
        for prop in res
            .properties
            .values_mut()
            .chain(res.outputs.values_mut())
            .chain(&mut res.trigger)
        {
            if let Source::Output { name, .. } = &mut prop.source {
                rename(name);
            }
        }
        res.parent.iter_mut().for_each(rename);
        res.depends_on.iter_mut().for_each(rename);
        res.provider.iter_mut().for_each(rename);
        res.providers.iter_mut().for_each(rename);
        res.deleted_with.iter_mut().for_each(rename);
        res.replace_with.iter_mut().for_each(rename);
    }
}

/// Renames a resource, mostly with an alias.
pub(super) fn rename(dice: &mut Dice, features: Features<'_>, program: &mut Program) {
    let at = dice.below(program.resources.len());
    let to = name(dice, features);
    let res = &program.resources[at];
    if res.is_stack() || program.get(&to).is_some() {
        return;
    }
    let from = res.name.clone();
    let path = path_of_urn(&program.urn_of(res));
    follow(program, &from, &to);
    let res = &mut program.resources[at];
    to.clone_into(&mut res.name);
    res.import = None;
    res.read = None;
    match dice.below(8) {
        0 => {}
        1 | 2 => res.aliases.push(AliasDecl {
            urn: Some(path),
            ..AliasDecl::default()
        }),
        _ => res.aliases.push(AliasDecl {
            name: Some(from),
            ..AliasDecl::default()
        }),
    }
}

/// Changes the parent or type of a resource, mostly with an alias.
pub(super) fn move_below(dice: &mut Dice, program: &mut Program) {
    let at = dice.below(program.resources.len());
    let res = &program.resources[at];
    if res.is_stack() {
        return;
    }
    let path = path_of_urn(&program.urn_of(res));
    let parent_path = program
        .parent_of(res)
        .and_then(|name| program.get(name))
        .map(|parent| path_of_urn(&program.urn_of(parent)));
    let earlier: Vec<String> = program.resources[..at]
        .iter()
        .map(|res| res.name.clone())
        .collect();
    let other = dice.pick(&earlier).filter(|name| *name != "stack").cloned();
    let res = &mut program.resources[at];
    let alias = if dice.one_in(4) {
        let other_type = match res.type_name.as_str() {
            "Thing" => "Other",
            "Other" => "Thing",
            "Group" => "Pack",
            "Pack" => "Group",
            _ => return,
        };
        let former = std::mem::replace(&mut res.type_name, other_type.to_owned());
        AliasDecl {
            type_name: Some(former),
            ..AliasDecl::default()
        }
    } else {
        res.parent = if dice.one_in(3) { None } else { other };
        let former = parent_path.filter(|path| !path.starts_with("Stack"));
        AliasDecl {
            parent: Some(former.unwrap_or_else(|| "none".to_owned())),
            ..AliasDecl::default()
        }
    };
    match dice.below(6) {
        0 => {}
        1 => res.aliases.push(AliasDecl {
            urn: Some(path),
            ..AliasDecl::default()
        }),
        _ => res.aliases.push(alias),
    }
}

pub(super) fn drop_aliases(dice: &mut Dice, program: &mut Program) {
    let at = dice.below(program.resources.len());
    program.resources[at].aliases.clear();
}
