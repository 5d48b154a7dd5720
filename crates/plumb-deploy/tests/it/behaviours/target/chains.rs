//! Chains of resources that are not targeted, of which the program forgets some.

use crate::world::{Ran, Res, World, res, targets};

/// Ties between each resource of the chain and the one before.
#[derive(Clone, Copy, Debug)]
enum Link {
    Dependency,
    Property,
    DeletedWith,
    Parent,
}

const LINKS: [Link; 4] = [
    Link::Dependency,
    Link::Property,
    Link::DeletedWith,
    Link::Parent,
];

fn tied(name: &str, link: Link, to: &str) -> Res {
    let new = res(name).with("value", name);
    match link {
        Link::Dependency => new.depends_on(to),
        Link::Property => new.uses("link", to),
        Link::DeletedWith => new.deleted_with(to),
        Link::Parent => new.parent(to),
    }
}

/// `a <- b <- c` without `removed`; what was tied to something that is not there is tied to what is before that. With
/// `renames`, each goes under another name and says so.
fn chain(link: Link, removed: &[&str], renames: bool) -> Vec<Res> {
    let mut program: Vec<Res> = Vec::new();
    for name in ["a", "b", "c"] {
        if removed.contains(&name) {
            continue;
        }
        let new_name = if renames {
            format!("{name}{name}")
        } else {
            name.to_owned()
        };
        let mut new = match program.last() {
            Some(before) => tied(&new_name, link, &before.name),
            None => res(&new_name).with("value", name),
        };
        new.properties.insert("value", name);
        if renames {
            new = new.alias(name);
        }
        program.push(new);
    }
    program
}

fn update_of_the_target(world: &mut World, program: &[Res]) -> Ran {
    let mut program = program.to_vec();
    program.push(res("target").with("x", "2"));
    world.up_with(&program, |options| options.targets = targets(&["target"]))
}

/// TARGET-39: whatever is forgotten stays, and the state stays valid, in every kind of run.
#[test]
fn chains_that_are_not_targeted_are_kept() {
    let removals: [&[&str]; 5] = [&["a"], &["b"], &["c"], &["a", "b"], &["a", "b", "c"]];
    for link in LINKS {
        for removed in removals {
            for renames in [false, true] {
                let case = format!("{link:?} without {removed:?}, renamed: {renames}");
                for seed in 0..3 {
                    check_chain(seed, link, removed, renames, &case);
                }
            }
        }
    }
}

fn check_chain(seed: u64, link: Link, removed: &[&str], renames: bool, case: &str) {
    let mut world = World::new(seed);
    let mut before = chain(link, &[], false);
    before.push(res("target").with("x", "1"));
    world.up(&before).succeeded();
    let program = chain(link, removed, renames);
    let ran = update_of_the_target(&mut world, &program);
    assert!(ran.errors.is_empty(), "{case}: {:?}", ran.errors);
    assert_eq!(ran.steps("target"), ["update"], "{case}");
    assert_eq!(world.names().len(), 4, "{case}");
    world
        .refresh_with(&[], |options| options.targets = targets(&["target"]))
        .succeeded();
    world
        .destroy_with(&[], |options| options.targets = targets(&["target"]))
        .succeeded();
    assert_eq!(world.names().len(), 3, "{case}");
    world.up(&program).succeeded();
    assert_eq!(world.names().len(), program.len(), "{case}");
}
