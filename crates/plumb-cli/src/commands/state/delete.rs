//! `state remove`.

use std::fmt::Write as _;
use std::sync::Arc;

use clap::Args;
use plumb_operate::{Context, Error, ExitStatus};
use plumb_resource::ResourceState;
use plumb_state::EncryptedSnapshot;
use plumb_state::edit::{self, DeleteError, DeleteOptions, Dependents, Protected};

use super::{TargetArgs, choose, confirm, not_located, parse_urn, require_words, stack_of};

/// Remove resources from a stack's state
///
/// Resources are only taken out of the state; what they stand for stays as it is.
#[derive(Args, Debug)]
pub struct DeleteArgs {
    /// Shared flags.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Force deletion of protected resources
    #[arg(long)]
    pub force: bool,
    /// Delete all resources in the stack
    #[arg(long)]
    pub all: bool,
    /// Delete the URN and all its dependents
    #[arg(long)]
    pub target_dependents: bool,
    /// URNs of resources
    pub urns: Vec<String>,
}

pub(super) fn run(args: DeleteArgs, ctx: &Context) -> Result<(), Error> {
    if args.all && !args.urns.is_empty() {
        return Err(Error::user(
            "cannot specify a resource URN when deleting all resources",
        ));
    }
    require_words(args.all || !args.urns.is_empty(), "<resource URN>", ctx)?;
    let stack = stack_of(&args.target, ctx)?;
    let targets = if args.all || !args.urns.is_empty() {
        args.urns
    } else {
        vec![choose(&stack, ctx)?.to_string()]
    };
    if !confirm(&args.target, ctx)? {
        return Err(Error::shown(ExitStatus::Failure));
    }
    let protected = if args.force {
        Protected::Delete
    } else {
        Protected::Refuse
    };
    let dependents = if args.target_dependents {
        Dependents::Delete
    } else {
        Dependents::Refuse
    };
    let deleted = ctx.edit_state(&stack, |snapshot| {
        if args.all {
            let deleted = edit::delete_all(snapshot, protected).map_err(refusal)?;
            warn_of_force(deleted.protected().rev(), ctx);
            return Ok(0);
        }
        let options = DeleteOptions {
            protected,
            dependents,
        };
        delete_named(snapshot, &targets, options, ctx)
    })?;
    ctx.printer.line(&match deleted {
        _ if args.all => "Resources deleted".to_owned(),
        1 => "Resource deleted".to_owned(),
        count => format!("{count} resources deleted"),
    });
    Ok(())
}

/// Deletes the resources `targets`, dependents first. Returns the number of named resources.
fn delete_named(
    snapshot: &mut EncryptedSnapshot,
    targets: &[String],
    options: DeleteOptions,
    ctx: &Context,
) -> Result<usize, Error> {
    let mut places = Vec::new();
    for name in targets {
        let urn = parse_urn(name)?;
        let place =
            edit::locate(snapshot, &urn).map_err(|error| not_located(error, snapshot.opaque()))?;
        places.push((place, urn));
    }
    // Dependents come after their dependencies in the state.
    places.sort_unstable_by(|left, right| right.cmp(left));
    places.dedup();
    for (_, urn) in &places {
        // A dependent may already have been deleted together with another target.
        let Ok(place) = edit::locate(snapshot, urn) else {
            continue;
        };
        let target = Arc::clone(&snapshot.opaque().resources[place]);
        if options.protected == Protected::Delete && target.protect {
            warn_of_force([&target], ctx);
        }
        let deleted = edit::delete(snapshot, place, options).map_err(refusal)?;
        let others = deleted.protected().filter(|state| state.urn != target.urn);
        warn_of_force(others, ctx);
    }
    Ok(places.len())
}

fn warn_of_force<'s>(states: impl IntoIterator<Item = &'s Arc<ResourceState>>, ctx: &Context) {
    for state in states {
        ctx.printer.warning(&format!(
            "deleting protected resource {} due to presence of --force",
            state.urn
        ));
    }
}

fn refusal(error: DeleteError) -> Error {
    let DeleteError::HasDependents { urn, dependents } = error else {
        return Error::from(error);
    };
    let mut text =
        format!("{urn} can't be safely deleted because the following resources depend on it:\n");
    for dependent in dependents {
        let _ = writeln!(
            text,
            " * {:<15} ({dependent})",
            format!("\"{}\"", dependent.name())
        );
    }
    text.push_str("\nDelete those resources first or pass --target-dependents.");
    Error::user(text)
}
