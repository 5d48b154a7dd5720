//! Signs, colours and words for step operations (`cli.md` 18.1).

use plumb_resource::StepOp;

/// Two-character sign before a resource or property.
pub(crate) fn sign(op: StepOp) -> &'static str {
    match op {
        StepOp::Same => "  ",
        StepOp::Create => "+ ",
        StepOp::Update | StepOp::Refresh | StepOp::RemovePendingReplace => "~ ",
        StepOp::Delete => "- ",
        StepOp::Replace => "+-",
        StepOp::CreateReplacement => "++",
        StepOp::DeleteReplaced => "--",
        StepOp::Read => "> ",
        StepOp::ReadReplacement => ">>",
        StepOp::Discard => "< ",
        StepOp::DiscardReplaced => "<<",
        StepOp::Import => "= ",
        StepOp::ImportReplacement => "=>",
    }
}

/// Colour tag of an operation; empty for none.
pub(crate) fn color(op: StepOp) -> &'static str {
    match op {
        StepOp::Same | StepOp::RemovePendingReplace => "",
        StepOp::Create | StepOp::Import => "<{%fg 2%}>",
        StepOp::Update | StepOp::Refresh => "<{%fg 3%}>",
        StepOp::Delete | StepOp::Discard | StepOp::DiscardReplaced => "<{%fg 1%}>",
        StepOp::Replace | StepOp::ReadReplacement | StepOp::ImportReplacement => "<{%fg 13%}>",
        StepOp::CreateReplacement => "<{%fg 10%}>",
        StepOp::DeleteReplaced => "<{%fg 9%}>",
        StepOp::Read => "<{%fg 14%}>",
    }
}

/// Colour tag at the start of a piece of text; a reset for operations without a colour.
pub(crate) fn line_color(op: StepOp) -> &'static str {
    match color(op) {
        "" => crate::color::RESET,
        color => color,
    }
}

/// Word for a running step.
pub(crate) fn progress_word(op: StepOp, preview: bool) -> &'static str {
    if preview {
        return match op {
            StepOp::Refresh => "refreshing",
            other => preview_word(other),
        };
    }
    match op {
        StepOp::Same | StepOp::RemovePendingReplace => "",
        StepOp::Create => "creating",
        StepOp::Update => "updating",
        StepOp::Delete => "deleting",
        StepOp::Replace => "replacing",
        StepOp::CreateReplacement => "creating replacement",
        StepOp::DeleteReplaced => "deleting original",
        StepOp::Read => "reading",
        StepOp::ReadReplacement => "reading for replacement",
        StepOp::Refresh => "refreshing",
        StepOp::Discard => "discarding",
        StepOp::DiscardReplaced => "discarding original",
        StepOp::Import => "importing",
        StepOp::ImportReplacement => "importing replacement",
    }
}

fn preview_word(op: StepOp) -> &'static str {
    match op {
        StepOp::Same | StepOp::RemovePendingReplace => "",
        StepOp::Create => "create",
        StepOp::Update => "update",
        StepOp::Delete => "delete",
        StepOp::Replace => "replace",
        StepOp::CreateReplacement => "create replacement",
        StepOp::DeleteReplaced => "delete original",
        StepOp::Read => "read",
        StepOp::ReadReplacement => "read for replacement",
        StepOp::Refresh => "refresh",
        StepOp::Discard => "discard",
        StepOp::DiscardReplaced => "discard original",
        StepOp::Import => "import",
        StepOp::ImportReplacement => "import replacement",
    }
}

/// Word for a finished step; in previews, all parts of a replacement have the word of the whole.
pub(crate) fn done_word(op: StepOp, preview: bool) -> &'static str {
    if preview {
        return match op {
            StepOp::CreateReplacement
            | StepOp::DeleteReplaced
            | StepOp::ReadReplacement
            | StepOp::DiscardReplaced => "replace",
            StepOp::ImportReplacement => "import",
            other => preview_word(other),
        };
    }
    match op {
        StepOp::Same | StepOp::RemovePendingReplace => "",
        StepOp::Create => "created",
        StepOp::Update => "updated",
        StepOp::Delete => "deleted",
        StepOp::Replace => "replaced",
        StepOp::CreateReplacement => "created replacement",
        StepOp::DeleteReplaced => "deleted original",
        StepOp::Read => "read",
        StepOp::ReadReplacement => "read for replacement",
        StepOp::Refresh => "refresh",
        StepOp::Discard => "discarded",
        StepOp::DiscardReplaced => "discarded original",
        StepOp::Import => "imported",
        StepOp::ImportReplacement => "imported replacement",
    }
}

/// Word for a failed step.
pub(crate) fn failed_word(op: StepOp) -> &'static str {
    match op {
        StepOp::Same | StepOp::RemovePendingReplace => "failed",
        StepOp::Create | StepOp::CreateReplacement => "creating failed",
        StepOp::Update => "updating failed",
        StepOp::Delete | StepOp::DeleteReplaced => "deleting failed",
        StepOp::Replace => "replacing failed",
        StepOp::Read | StepOp::ReadReplacement => "reading failed",
        StepOp::Refresh => "refreshing failed",
        StepOp::Discard | StepOp::DiscardReplaced => "discarding failed",
        StepOp::Import | StepOp::ImportReplacement => "importing failed",
    }
}

/// Word for the summary.
pub(crate) fn past_tense(op: StepOp) -> &'static str {
    match op {
        StepOp::Same => "unchanged",
        StepOp::Create => "created",
        StepOp::Update => "updated",
        StepOp::Delete => "deleted",
        StepOp::Replace => "replaced",
        StepOp::CreateReplacement => "created replacement",
        StepOp::DeleteReplaced => "deleted original",
        StepOp::Read | StepOp::ReadReplacement => "read",
        StepOp::Refresh => "refreshed",
        StepOp::Discard | StepOp::DiscardReplaced => "discarded",
        StepOp::RemovePendingReplace => "removed",
        StepOp::Import => "imported",
        StepOp::ImportReplacement => "imported replacement",
    }
}

/// Whether the operation reads an existing resource without changing it.
pub(crate) fn is_read(op: StepOp) -> bool {
    matches!(
        op,
        StepOp::Read | StepOp::ReadReplacement | StepOp::Discard | StepOp::DiscardReplaced
    )
}
