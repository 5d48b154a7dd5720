//! Interrupted creates: a refresh can adopt their objects, forget them, or ask.

use plumb_deploy::setup::Adoption;
use plumb_resource::{OperationType, Urn};
use plumb_state::PendingOperation;

use super::session::Session;
use crate::{Context, Error, prompt};

/// Flags about pending creates.
#[derive(Clone, Debug, Default)]
pub struct PendingCreates {
    /// `--skip-pending-creates`: no questions.
    skips: bool,
    /// `--clear-pending-creates`: forget those without an id in `found`.
    clears: bool,
    /// URNs, each with the id of its object (`--import-pending-creates`).
    found: Vec<(String, String)>,
    /// Whether the last of these URNs has no id.
    lacks_id: bool,
}

/// Decision about a pending create.
enum Answer {
    Keep,
    Forget,
    Adopt(String),
}

impl PendingCreates {
    /// `found` has URNs, each followed by the ID of its object.
    pub fn new(skips: bool, clears: bool, found: &[String]) -> Self {
        let (pairs, rest) = found.as_chunks::<2>();
        PendingCreates {
            skips,
            clears,
            found: pairs
                .iter()
                .map(|[urn, id]| (urn.clone(), id.clone()))
                .collect(),
            lacks_id: !rest.is_empty(),
        }
    }

    /// Rejects flags that do not fit together, once the stack is open.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.skips && self.clears {
            return Err(Error::user(
                "cannot set both --skip-pending-creates and --clear-pending-creates",
            ));
        }
        if self.lacks_id {
            return Err(Error::user(
                "each URN must be followed by an ID: found an odd number of entries",
            ));
        }
        Ok(())
    }

    /// Decides about every pending create of the stack: forgotten ones are removed from `session`, adopted ones are
    /// recorded there.
    pub(super) fn settle(&self, ctx: &Context, session: &mut Session<'_>) -> Result<(), Error> {
        let mut found = self.found.clone();
        let asks = ctx.is_interactive() && !self.skips && !self.clears;
        let mut keeps = Vec::new();
        let mut adoptions = Vec::new();
        for pending in &session.base.pending_operations {
            let answer = match named(&mut found, pending) {
                _ if pending.operation != OperationType::Creating => Answer::Keep,
                Some(id) => Answer::Adopt(id),
                None if self.clears => Answer::Forget,
                None if asks => ask(&pending.resource.urn)?,
                None => Answer::Keep,
            };
            keeps.push(!matches!(answer, Answer::Forget));
            if let Answer::Adopt(id) = answer {
                adoptions.push(Adoption {
                    urn: pending.resource.urn.clone(),
                    id: id.into(),
                });
            }
        }
        warn_of_unknown(ctx, &found);
        session.keep_pending(&keeps);
        session.adoptions = adoptions;
        Ok(())
    }
}

/// Removes and returns the id given for a pending create.
fn named(found: &mut Vec<(String, String)>, pending: &PendingOperation) -> Option<String> {
    if pending.operation != OperationType::Creating {
        return None;
    }
    let urn = pending.resource.urn.as_str();
    let place = found.iter().position(|(named, _)| named == urn)?;
    Some(found.remove(place).1)
}

fn warn_of_unknown(ctx: &Context, unknown: &[(String, String)]) {
    match unknown {
        [] => {}
        [(urn, _)] => ctx
            .printer
            .warning(&format!("\"{urn}\" did not correspond to a pending create")),
        several => {
            let mut text = "the following urns did not correspond to a pending create".to_owned();
            for (urn, _) in several {
                text.push_str("\n- \"");
                text.push_str(urn);
                text.push('"');
            }
            ctx.printer.warning(&text);
        }
    }
}

fn ask(urn: &Urn) -> Result<Answer, Error> {
    let choices = [
        "clear (the CREATE failed; remove the pending CREATE)",
        "skip (do nothing)",
        "import (the CREATE succeeded; provide a resource ID and complete the CREATE operation)",
    ];
    let question = format!("Options for pending CREATE of {urn}");
    Ok(
        match prompt::select(&question, choices.map(str::to_owned).to_vec())? {
            0 => Answer::Forget,
            1 => Answer::Keep,
            _ => Answer::Adopt(prompt::text("ID:", None)?),
        },
    )
}
