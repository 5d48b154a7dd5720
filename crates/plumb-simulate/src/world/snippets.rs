//! Snippets in the state, and the URNs that they request.
//!
//! The resources of a snippet are part of the program of an operation, but used only if the snippet runs.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_deploy::snippets::SnippetChanges;
use plumb_resource::Urn;
use plumb_state::Snippet;

use crate::story::{Flags, Operation, Program, Res, Verb, urn_of_path};

/// Stored form of a snippet.
fn snippet(program: &Program, uuid: &str) -> Snippet {
    let references = program.awaited_by(uuid).into_iter().filter_map(|name| {
        let urn = program.urn_of(program.get(name)?);
        Some((name.as_str().into(), urn.as_str().into()))
    });
    Snippet {
        uuid: uuid.into(),
        name: uuid.into(),
        references: references.collect(),
        ..Snippet::default()
    }
}

/// Changes of an operation to the stored snippets; `None` for those to be removed.
pub(crate) fn wanted(
    stored: &[Snippet],
    operation: &Operation,
) -> BTreeMap<EcoString, Option<Snippet>> {
    let Flags {
        stores, removes, ..
    } = &operation.flags;
    let mut wanted = BTreeMap::new();
    if operation.verb != Verb::Up {
        return wanted;
    }
    for uuid in stores {
        let snippet = snippet(&operation.program, uuid);
        wanted.insert(uuid.as_str().into(), Some(snippet));
    }
    for uuid in removes {
        if stored.iter().any(|it| it.uuid == *uuid) {
            wanted.insert(uuid.as_str().into(), None);
        }
    }
    wanted
}

/// Changes in the form that the core expects.
pub(super) fn changes(stored: &[Snippet], operation: &Operation) -> Option<SnippetChanges> {
    let wanted = wanted(stored, operation);
    let changes = SnippetChanges::new(stored, wanted).expect("only what is stored is removed");
    (!operation.flags.stores.is_empty() || !operation.flags.removes.is_empty()).then_some(changes)
}

/// URN by which a snippet requests a resource: a former one, if no other resource has or had it.
pub(super) fn reference(program: &Program, name: &str) -> Option<Urn> {
    let res = program.get(name)?;
    let former_of = |res: &Res| {
        let mut aliases = res.aliases.iter();
        aliases.find_map(|alias| urn_of_path(alias.urn.as_deref()?))
    };
    let is_taken = |urn: &Urn| {
        let mut others = program.resources.iter().filter(|it| it.name != name);
        others.any(|it| program.urn_of(it) == *urn || !it.aliases.is_empty())
    };
    let former = former_of(res).filter(|urn| !is_taken(urn));
    Some(former.unwrap_or_else(|| program.urn_of(res)))
}
