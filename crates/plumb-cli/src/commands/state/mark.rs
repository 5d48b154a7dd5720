//! `state protect`, `unprotect`, `taint`, `untaint`.

use clap::Args;
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus};
use plumb_state::Snapshot;
use plumb_state::edit::{Missing, Selection, set_protect, set_taint};

use super::{TargetArgs, choose, confirm, not_found, require_words, stack_of};

/// Arguments of the verbs that can be told to take everything.
#[derive(Args, Debug)]
pub struct AllArgs {
    /// Shared flags.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Select all resources in the checkpoint
    #[arg(long)]
    pub all: bool,
    /// URNs of resources
    pub urns: Vec<String>,
}

/// Arguments of `taint`.
#[derive(Args, Debug)]
pub struct TaintArgs {
    /// Shared flags.
    #[command(flatten)]
    pub target: TargetArgs,
    /// URNs of resources
    pub urns: Vec<String>,
}

impl From<TaintArgs> for AllArgs {
    fn from(args: TaintArgs) -> Self {
        AllArgs {
            target: args.target,
            all: false,
            urns: args.urns,
        }
    }
}

/// Change of a resource's flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Protect,
    Unprotect,
    Taint,
    Untaint,
}

impl Mark {
    fn done(self) -> &'static str {
        match self {
            Mark::Protect => "protected",
            Mark::Unprotect => "unprotected",
            Mark::Taint => "tainted",
            Mark::Untaint => "untainted",
        }
    }
}

pub(super) fn run(mark: Mark, args: AllArgs, ctx: &Context) -> Result<(), Error> {
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
    let count = ctx.edit_state(&stack, |snapshot| {
        let selection = if args.all {
            Selection::All
        } else {
            Selection::Named(&targets)
        };
        let marked = match mark {
            Mark::Protect => set_protect(snapshot, selection, true),
            Mark::Unprotect => set_protect(snapshot, selection, false),
            Mark::Taint => set_taint(snapshot, selection, true),
            Mark::Untaint => set_taint(snapshot, selection, false),
        };
        marked.map_err(|Missing(names)| missing(&names, snapshot.opaque()))
    })?;
    ctx.printer.line(&if args.all {
        format!("All resources {}", mark.done())
    } else {
        format!("{count} resources {}", mark.done())
    });
    Ok(())
}

/// Error that lists all names without a live resource.
fn missing(names: &[String], snapshot: &Snapshot) -> Error {
    let live = || {
        let all = snapshot.resources.iter().filter(|state| !state.delete);
        all.map(|state| state.urn.as_str())
    };
    let texts: Vec<String> = names.iter().map(|name| not_found(name, live())).collect();
    Error::user(texts.join("\n")).known(Code::NoResource)
}
