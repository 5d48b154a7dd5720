//! `state move`.

use clap::Args;
use plumb_resource::Urn;
use plumb_state::edit::{Broken, MoveError, Moved, Parents, StackIdentity, move_resources};
use plumb_state::{CiphertextCache, EncryptedSnapshot, Manifest, Snapshot};

use super::parse_urn;
use crate::context::{IfMissing, ManagerCodec, Stack, StackState};
use crate::identity::Code;
use crate::{Context, Error, ExitStatus, VERSION, prompt};

/// Move resources from one stack to another
///
/// What is below the named resources moves with them, and so do copies of their providers. The stack that is not named is the
/// current one. Dependencies between what moves and what stays are dropped; they are shown before anything happens. The
/// programs have to be changed by hand, before the next update of either stack.
#[derive(Args, Debug)]
pub struct MoveArgs {
    /// The name of the stack to move resources from
    #[arg(long)]
    pub source: Option<String>,
    /// The name of the stack to move resources to
    #[arg(long)]
    pub dest: Option<String>,
    /// Include all the parents of the moved resources as well
    #[arg(long)]
    pub include_parents: bool,
    /// Automatically approve and perform the move
    #[arg(short, long)]
    pub yes: bool,
    /// URNs of resources
    pub urns: Vec<String>,
}

pub(super) fn run(args: MoveArgs, ctx: &Context) -> Result<(), Error> {
    if args.source.is_none() && args.dest.is_none() {
        return Err(Error::user(
            "at least one of --source or --dest must be provided",
        ));
    }
    if args.urns.is_empty() {
        return Err(Error::user("requires at least 1 arg(s), only received 0"));
    }
    let source = ctx.require_stack(args.source.as_deref(), IfMissing::Fail)?;
    let dest = ctx.require_stack(args.dest.as_deref(), IfMissing::Fail)?;
    if source.reference == dest.reference {
        return Err(Error::user(
            "source and destination stack must be different",
        ));
    }
    let urns = args
        .urns
        .iter()
        .map(|text| parse_urn(text))
        .collect::<Result<Vec<_>, _>>()?;
    let parents = if args.include_parents {
        Parents::Move
    } else {
        Parents::Stay
    };
    let mut both = Both::load(&source, &dest, ctx)?;
    let moved = both.change(&urns, parents)?;
    show(&moved, &both, ctx);
    if !args.yes {
        if !ctx.is_interactive() {
            return Err(
                Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
            );
        }
        if !prompt::confirm("Do you want to move these resources?")? {
            return Err(Error::shown(ExitStatus::Failure));
        }
    }
    both.save(&urns, parents, ctx)?;
    ctx.printer.line(&format!(
        "Successfully moved resources from {} to {}",
        source.shown, dest.shown
    ));
    Ok(())
}

/// Both stacks, decrypted.
struct Both<'s> {
    source: &'s Stack,
    dest: &'s Stack,
    from: Opened,
    to: Opened,
}

struct Opened {
    snapshot: Snapshot,
    codec: ManagerCodec,
    cache: CiphertextCache,
}

impl Opened {
    fn load(stack: &Stack, ctx: &Context) -> Result<Self, Error> {
        let state = ctx.load_state(stack)?;
        let codec = ctx.codec_of(state.provider())?;
        let mut cache = CiphertextCache::new();
        let snapshot = match &state {
            StackState::Nothing => Snapshot {
                manifest: Manifest::new(jiff::Timestamp::now(), VERSION),
                ..Snapshot::default()
            },
            StackState::File(deployment) => deployment.decrypt(&codec, &mut cache)?,
            StackState::Folded(snapshot) => snapshot.decrypt(&codec, &mut cache)?,
        };
        Ok(Opened {
            snapshot,
            codec,
            cache,
        })
    }

    fn encrypted(&mut self) -> Result<EncryptedSnapshot, Error> {
        Ok(self.snapshot.encrypt(&self.codec, &mut self.cache)?)
    }
}

impl<'s> Both<'s> {
    fn load(source: &'s Stack, dest: &'s Stack, ctx: &Context) -> Result<Self, Error> {
        Ok(Both {
            source,
            dest,
            from: Opened::load(source, ctx)?,
            to: Opened::load(dest, ctx)?,
        })
    }

    /// Moves the resources, in memory.
    fn change(&mut self, urns: &[Urn], parents: Parents) -> Result<Moved, Error> {
        let identity = StackIdentity {
            stack: self.dest.name().into(),
            project: Some(self.dest.project_name().into()),
        };
        let (from, to) = (&mut self.from.snapshot, &mut self.to.snapshot);
        let before = from.clone();
        let moved =
            move_resources(from, to, urns, parents, &identity).map_err(|error| match error {
                MoveError::NotFound { urn } => {
                    super::not_located(plumb_state::edit::LocateError::NotFound { urn }, &before)
                }
                other => Error::from(other),
            })?;
        if to.secrets_provider.is_none() {
            let has_secrets = to
                .resources
                .iter()
                .any(|state| state.inputs.contains_secrets() || state.outputs.contains_secrets());
            if has_secrets {
                return Err(Error::user(
                    "destination stack has no secret manager. To move resources either initialize the stack with a secret \
                     manager, or run an update that has secrets",
                ));
            }
        }
        Ok(moved)
    }

    /// Moves the resources in the stores. The destination comes first: if the source then cannot be saved, the resources are in
    /// both, and nothing is lost.
    fn save(self, urns: &[Urn], parents: Parents, ctx: &Context) -> Result<(), Error> {
        let (source, dest) = (self.source, self.dest);
        let taken_from = ctx.take_stack(source)?;
        let taken_to = ctx.take_stack(dest)?;
        let mut both = Both::load(source, dest, ctx)?;
        both.change(urns, parents)?;
        let (from, to) = (both.from.encrypted()?, both.to.encrypted()?);
        for snapshot in [&from, &to] {
            if !ctx.globals.disable_integrity_checking {
                snapshot.opaque().verify()?;
            }
        }
        taken_to.replace(&to)?;
        taken_from.replace(&from).map_err(|error| {
            Error::from(error).context(format!(
                "the resources are in {} now, and could not be removed from {}; remove them there with `plumb state remove`",
                dest.shown, source.shown
            ))
        })
    }
}

fn show(moved: &Moved, both: &Both<'_>, ctx: &Context) {
    let (source, dest) = (&both.source.shown, &both.dest.shown);
    let list = |title: String, lines: Vec<String>| {
        if !lines.is_empty() {
            ctx.printer.line(&title);
            for line in lines {
                ctx.printer.line(&format!("  - {line}"));
            }
            ctx.printer.line("");
        }
    };
    let urns = moved.resources.iter().map(|(former, _)| former.to_string());
    list(
        format!("Planning to move the following resources from {source} to {dest}:\n"),
        urns.chain(moved.providers.iter().map(ToString::to_string))
            .collect(),
    );
    let broken = |all: &[Broken]| -> Vec<String> {
        let line = |it: &Broken| format!("{} has a dependency on {}", it.resource, it.dependency);
        all.iter().map(line).collect()
    };
    list(
        format!(
            "The following resources remaining in {source} have dependencies on resources moved to {dest}:\n"
        ),
        broken(&moved.broken_behind),
    );
    list(
        format!(
            "The following resources being moved to {dest} have dependencies on resources in {source}:\n"
        ),
        broken(&moved.broken_ahead),
    );
    if !moved.broken_ahead.is_empty() || !moved.broken_behind.is_empty() {
        ctx.printer.line(
            "These dependencies will be dropped. The programs have to hand such values over as outputs and configuration, or \
             with stack references.\n",
        );
    }
}
