//! Updates about snippets of the state: what becomes of them is decided when the stack is ours and its state is known.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_deploy::snippets::SnippetChanges;
use plumb_state::{Snapshot, Snippet};

use super::args::{CommonArgs, UpdateArgs};
use super::course;
use super::request::{Kind, OperationRequest};
use super::session::Session;
use crate::context::Stack;
use crate::{Context, Error, ExitStatus};

/// Decides by the state of a stack which snippets are new or different; nothing stands for those that are to go.
pub(crate) type SnippetOrder =
    Box<dyn Fn(&Snapshot, &Stack) -> Result<BTreeMap<EcoString, Option<Snippet>>, Error>>;

/// An update that is about some snippets alone.
pub(crate) struct SnippetUpdate {
    /// Which, and what becomes of them.
    pub(crate) order: SnippetOrder,
    /// Whether a preview is all that is wanted.
    pub(crate) dry_run: bool,
    /// Whether nothing is asked.
    pub(crate) yes: bool,
    /// Whether secrets are shown.
    pub(crate) show_secrets: bool,
    /// Whether the result is one line of JSON.
    pub(crate) is_json: bool,
}

/// Updates what belongs to some snippets; everything else stays as it is.
pub(crate) fn update_snippets(update: SnippetUpdate, ctx: &Context) -> Result<ExitStatus, Error> {
    let output = if update.is_json { "json" } else { "default" };
    let common = CommonArgs {
        diff: !update.is_json,
        output: output.to_owned(),
        parallel: crate::Environment::default_parallel(),
        ..CommonArgs::default()
    };
    let args = UpdateArgs {
        show_secrets: update.show_secrets,
        ..UpdateArgs::default()
    };
    let request = OperationRequest {
        preview_only: update.dry_run,
        yes: update.yes,
        snippets: Some(update.order),
        ..OperationRequest::new(Kind::Up, common).with_update(args)?
    };
    course::run(ctx, &request)
}

impl Session<'_> {
    /// Has every run from here on change the snippets as `order` says, and do nothing else.
    pub(super) fn change_snippets(&mut self, order: &SnippetOrder) -> Result<(), Error> {
        let changes = order(&self.base, &self.stack)?;
        self.target_snippets = changes.keys().cloned().collect();
        let changes = SnippetChanges::new(&self.base.snippets, changes)?;
        self.snippet_changes = Some(changes);
        Ok(())
    }
}
