//! `state move`.

use clap::Args;
use plumb_operate::context::{IfMissing, Stack, StackState};
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus, Printer, VERSION, prompt};
use plumb_resource::Urn;
use plumb_state::edit::{Broken, MoveError, Moved, Parents, StackIdentity, move_resources};
use plumb_state::{CiphertextCache, EncryptedSnapshot, Manifest, Snapshot};

use plumb_automation::codec::ManagerCodec;

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
    #[arg(required = true)]
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
    let parents = if args.include_parents {
        Parents::Move
    } else {
        Parents::Stay
    };
    let mut both = Both::load(&source, &dest, ctx)?;
    let urns = both.named(&args.urns, ctx);
    let moved = both.change(&urns, parents, ctx)?;
    show(&moved, &both, ctx);
    if source.reference == dest.reference {
        return Err(Error::user(
            "source and destination stack must be different",
        ));
    }
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
    ctx.printer.styled_line(&Printer::headline(&format!(
        "Successfully moved resources from {} to {}",
        source.reference.qualified(),
        dest.reference.qualified()
    )));
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

    /// URNs of the named resources, with a warning for each unknown name.
    fn named(&self, words: &[String], ctx: &Context) -> Vec<Urn> {
        let resources = &self.from.snapshot.resources;
        let mut urns: Vec<Urn> = Vec::new();
        let mut missing: Vec<&str> = Vec::new();
        for word in words {
            match resources.iter().find(|state| state.urn.as_str() == word) {
                Some(state) => urns.push(state.urn.clone()),
                None if !missing.contains(&word.as_str()) => missing.push(word),
                None => {}
            }
        }
        let is_provider = |urn: &Urn| {
            resources
                .iter()
                .any(|it| it.urn == *urn && it.type_token.is_provider())
        };
        if !urns.iter().any(is_provider) {
            for word in missing {
                ctx.printer.styled_line(&format!(
                    "{} Resource {word} not found in source stack",
                    Printer::caution("warning:")
                ));
            }
        }
        urns
    }

    fn show_plan<'u>(&self, urns: impl IntoIterator<Item = &'u Urn>, ctx: &Context) {
        ctx.printer.styled_line(&Printer::headline(&format!(
            "Planning to move the following resources from {} to {}:\n",
            self.source.reference.qualified(),
            self.dest.reference.qualified()
        )));
        for urn in urns {
            ctx.printer.line(&format!("  - {urn}"));
        }
        ctx.printer.line("");
    }

    /// Moves the resources in memory.
    fn change(&mut self, urns: &[Urn], parents: Parents, ctx: &Context) -> Result<Moved, Error> {
        let identity = StackIdentity {
            stack: self.dest.name().into(),
            project: Some(self.dest.project_name().into()),
        };
        let (from, to) = (&mut self.from.snapshot, &mut self.to.snapshot);
        let moved = match move_resources(from, to, urns, parents, &identity) {
            Ok(moved) => moved,
            Err(MoveError::Nothing) => {
                let hint = super::listing_hint(Some(&self.source.reference.qualified()));
                return Err(Error::user(format!("{}\n{hint}", MoveError::Nothing)));
            }
            Err(error) => {
                if let MoveError::Taken { planned, .. } = &error {
                    self.show_plan(planned, ctx);
                }
                return Err(error.into());
            }
        };
        let to = &self.to.snapshot;
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

    /// Saves both stacks, the destination first: if the source cannot be saved, the resources are in both stacks, and
    /// nothing is lost.
    fn save(self, urns: &[Urn], parents: Parents, ctx: &Context) -> Result<(), Error> {
        let (source, dest) = (self.source, self.dest);
        let taken_from = ctx.take_stack(source)?;
        let taken_to = ctx.take_stack(dest)?;
        let mut both = Both::load(source, dest, ctx)?;
        both.change(urns, parents, ctx)?;
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

/// Shows the resources to move, and the dependencies that will be removed.
fn show(moved: &Moved, both: &Both<'_>, ctx: &Context) {
    let (source, dest) = (
        both.source.reference.qualified(),
        both.dest.reference.qualified(),
    );
    both.show_plan(moved.resources.iter().map(|(former, _)| former), ctx);
    let list = |title: String, all: &[Broken]| {
        if !all.is_empty() {
            ctx.printer
                .styled_line(&Printer::caution(&format!("{title}\n")));
        }
        for it in all {
            ctx.printer.line(&format!("  - {it}"));
        }
    };
    list(
        format!(
            "The following resources remaining in {source} have dependencies on resources moved to {dest}:"
        ),
        &moved.broken_behind,
    );
    if !moved.broken_behind.is_empty() && !moved.broken_ahead.is_empty() {
        ctx.printer.line("");
    }
    list(
        format!(
            "The following resources being moved to {dest} have dependencies on resources in {source}:"
        ),
        &moved.broken_ahead,
    );
    if !moved.broken_ahead.is_empty() || !moved.broken_behind.is_empty() {
        ctx.printer.line(
            "\nIf you go ahead with moving these dependencies, it will be necessary to create the appropriate inputs and \
             outputs in the program for the stack the resources are moved to.\n",
        );
    }
}
