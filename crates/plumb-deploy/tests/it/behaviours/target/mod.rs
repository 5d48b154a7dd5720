//! TARGET: operations that are about some resources only.

mod chains;
mod circles;
mod creates;
mod destroys;
mod excludes;
mod providers;
mod updates;

use std::collections::BTreeSet;

use crate::world::{Res, World, component, provider, res};

/// Providers A, C and D; B, E and H use them; the others depend through properties, of which those in `r` force replacements.
///
/// ```text
/// A <- C <- F <- K          B is made by A
///      C <- G <- L          E is made by C
/// A <- D <- I               H is made by D
///      D <- J
/// ```
fn graph_1(x: &str) -> Vec<Res> {
    let custom = |name: &str| res(name).with("value", name).with("x", x);
    let own_provider = |name: &str| provider(name).with("value", name);
    vec![
        own_provider("A"),
        custom("B").provider("A"),
        own_provider("C").uses("ra", "A"),
        own_provider("D").uses("b", "A"),
        custom("E").provider("C"),
        custom("F").uses("ra", "C"),
        custom("G").uses("b", "C"),
        custom("H").provider("D"),
        custom("I").uses("ra", "D"),
        custom("J").uses("b", "D"),
        custom("K").uses("ra", "F"),
        custom("L").uses("b", "G"),
    ]
}

/// Components A(D(G, H), I) and B(E(J, K), F(L, M)); customs C and N. I depends on G; K and N depend on H.
fn graph_2() -> Vec<Res> {
    vec![
        component("A"),
        component("B"),
        res("C"),
        component("D").parent("A"),
        component("E").parent("B"),
        component("F").parent("B"),
        res("G").parent("D").with("value", "g"),
        res("H").parent("D").with("value", "h"),
        res("I").parent("A").uses("value", "G"),
        res("J").parent("E"),
        res("K").parent("E").uses("value", "H"),
        res("L").parent("F"),
        res("M").parent("F"),
        res("N").uses("value", "H"),
    ]
}

/// A world in which `program` has run.
fn world_of(program: &[Res]) -> World {
    let mut world = World::new(0);
    world.up(program).succeeded();
    world
}

/// `names`, and whatever of the program needs any of them.
fn with_dependents<'a>(program: &'a [Res], names: &[&'a str]) -> BTreeSet<&'a str> {
    let mut all: BTreeSet<&str> = names.iter().copied().collect();
    for item in program {
        if item.needs().any(|need| all.contains(need.as_str())) {
            all.insert(&item.name);
        }
    }
    all
}

/// Every set of up to `size` names of the program.
fn subsets(program: &[Res], size: usize) -> Vec<Vec<&str>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    for item in program {
        let name = item.name.as_str();
        let mut larger: Vec<Vec<&str>> = all
            .iter()
            .filter(|names| names.len() < size)
            .map(|names| [names.as_slice(), &[name]].concat())
            .collect();
        all.append(&mut larger);
    }
    all.retain(|names| !names.is_empty());
    all
}
