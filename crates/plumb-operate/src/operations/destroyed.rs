//! Protected resources that a destroy keeps, and the end of a destroy (`cli.md` 3.3).

use std::collections::BTreeSet;

use plumb_backend::{BackendError, RemoveOptions};
use plumb_resource::Urn;
use plumb_state::Snapshot;
use rustc_hash::FxHashMap;

use super::request::OperationRequest;
use crate::context::Stack;
use crate::{Context, Error};

/// URNs of the protected resources and their dependencies, and the number of their states.
pub(super) struct Kept {
    pub(super) urns: Vec<String>,
    pub(super) count: usize,
}

impl Kept {
    /// Computes the kept part of a state. A reference from a state that is pending deletion is resolved among
    /// those states first.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let resources = &snapshot.resources;
        let mut live: FxHashMap<&Urn, usize> = FxHashMap::default();
        let mut due: FxHashMap<&Urn, usize> = FxHashMap::default();
        for (idx, state) in resources.iter().enumerate() {
            let of_its_age = if state.delete { &mut due } else { &mut live };
            of_its_age.entry(&state.urn).or_insert(idx);
        }
        let mut kept = BTreeSet::new();
        let mut open: Vec<usize> = (0..resources.len())
            .filter(|idx| resources[*idx].protect)
            .collect();
        while let Some(idx) = open.pop() {
            if kept.insert(idx) {
                let from = &resources[idx];
                let [first, second] = if from.delete {
                    [&due, &live]
                } else {
                    [&live, &due]
                };
                let needed = from.references_and_provider();
                open.extend(needed.filter_map(|urn| first.get(urn).or_else(|| second.get(urn))));
            }
        }
        Kept {
            urns: kept
                .iter()
                .map(|idx| resources[*idx].urn.to_string())
                .collect(),
            count: kept.len(),
        }
    }
}

/// Whether `--exclude-protected` leaves nothing to destroy; prints a message if so.
pub(super) fn is_all_protected(
    ctx: &Context,
    request: &OperationRequest,
    snapshot: &Snapshot,
) -> Result<bool, Error> {
    if !request.scope.exclude_protected {
        return Ok(false);
    }
    if request.scope.has_targets() {
        return Err(Error::user(
            "you cannot specify --target and --exclude-protected",
        ));
    }
    let kept = Kept::of(snapshot).count;
    if kept != snapshot.resources.len() {
        return Ok(false);
    }
    if !request.is_json() {
        ctx.printer.line(&format!(
            "There were no unprotected resources to destroy. There are still {kept} protected resources associated with \
             this stack."
        ));
    }
    // A stack without resources is destroyed like any other, and removed with `--remove`.
    Ok(kept != 0)
}

/// Prints what is left of the stack after a destroy or its preview; with `--remove`, removes the stack.
pub(super) fn conclude(
    ctx: &Context,
    request: &OperationRequest,
    stack: &Stack,
    before: &Snapshot,
) -> Result<(), Error> {
    let say = |text: &str| {
        if !request.is_json() {
            ctx.printer.note(text);
        }
    };
    let kept = if request.scope.exclude_protected {
        Kept::of(before).count
    } else {
        0
    };
    if kept > 0 {
        say(&format!(
            "All unprotected resources were destroyed. There are still {kept} protected resources associated with this stack."
        ));
        return Ok(());
    }
    if request.scope.has_targets() || request.preview_only {
        return Ok(());
    }
    if !request.remove {
        say(&format!(
            "The resources in the stack have been deleted, but the history and configuration associated with the stack are \
             still maintained. \nIf you want to remove the stack completely, run `pulumi stack rm {}`.",
            stack.shown
        ));
        return Ok(());
    }
    let removed = stack
        .backend
        .remove_stack(&stack.reference, RemoveOptions::default());
    removed.map_err(|error| match error {
        BackendError::HasResources { .. } => {
            Error::user("refusing to remove stack because it still contains resources")
        }
        other => other.into(),
    })?;
    if let Some(path) = ctx.settings_path(stack, request.stack.config_file.as_deref())? {
        plumb_project::files::remove(&path)?;
    }
    say("The resources in the stack have been deleted, and the history and configuration removed.");
    Ok(())
}
