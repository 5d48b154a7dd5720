//! Updates of snippets in the state. Their changes are computed once the stack is locked and its state is known.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_deploy::snippets::SnippetChanges;
use plumb_state::{Snapshot, Snippet};

use super::course;
use super::request::{DisplayFlags, Kind, OperationRequest, check_confirmed};
use super::screen::Form;
use super::session::Session;
use crate::context::Stack;
use crate::{Context, Error, ExitStatus};

/// Computes the new and changed snippets from the state of a stack; `None` stands for a snippet to remove.
pub type SnippetOrder =
    Box<dyn Fn(&Snapshot, &Stack) -> Result<BTreeMap<EcoString, Option<Snippet>>, Error>>;

/// An update limited to some snippets.
pub struct SnippetUpdate {
    /// Changes to the snippets.
    pub order: SnippetOrder,
    /// Whether to run only a preview.
    pub dry_run: bool,
    /// Whether to skip the confirmation.
    pub yes: bool,
    /// Whether to show secrets.
    pub show_secrets: bool,
    /// Whether to print the result as one line of JSON.
    pub is_json: bool,
}

/// Updates the resources of some snippets, and nothing else.
pub fn update_snippets(update: SnippetUpdate, ctx: &Context) -> Result<ExitStatus, Error> {
    check_confirmed(ctx, Kind::Up, update.yes || update.dry_run)?;
    let request = OperationRequest {
        form: if update.is_json {
            Form::ResultLine { show_sames: false }
        } else {
            Form::Human
        },
        display: DisplayFlags {
            diff: !update.is_json,
            show_secrets: update.show_secrets,
            ..DisplayFlags::default()
        },
        preview_only: update.dry_run,
        yes: update.yes,
        snippets: Some(update.order),
        ..OperationRequest::new(Kind::Up)
    };
    course::run(ctx, &request)
}

impl Session<'_> {
    /// Limits all following runs to the changes of `order`.
    pub(super) fn change_snippets(&mut self, order: &SnippetOrder) -> Result<(), Error> {
        let changes = order(&self.base, &self.stack)?;
        self.target_snippets = changes.keys().cloned().collect();
        let changes = SnippetChanges::new(&self.base.snippets, changes)?;
        self.snippet_changes = Some(changes);
        Ok(())
    }
}
