//! What there is to say about one step.

use ecow::EcoString;
use plumb_events::Metadata;
use plumb_resource::{ProviderRef, StepOp};
use plumb_value::PropertyMap;

use crate::diff::{Change, ObjectDiff, diff_objects, visible};
use crate::ops;
use crate::options::Options;
use crate::values::{ValuePrinter, ValueStyle};

/// Whether the step is shown to people at all; the root stack always is.
pub(crate) fn is_shown(metadata: &Metadata, options: &Options) -> bool {
    match metadata.op {
        StepOp::Same => options.show_sames,
        op if ops::is_read(op) => options.show_reads,
        _ => true,
    }
}

/// Which properties of a resource are compared.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    /// What the program wants.
    Inputs,
    /// What the world is like.
    Outputs,
}

/// `[diff: +a,b-c~d]`: which top-level properties differ; empty when none does.
pub(crate) fn difference_summary(metadata: &Metadata, side: Side) -> String {
    let (Some(old), Some(new)) = (&metadata.old, &metadata.new) else {
        return String::new();
    };
    if metadata.op == StepOp::Same {
        return String::new();
    }
    let difference = match side {
        Side::Outputs => diff_objects(&visible(&old.outputs, false), &visible(&new.outputs, false)),
        Side::Inputs => diff_objects(&unwrapped(&old.inputs), &unwrapped(&new.inputs)),
    };
    let (mut added, mut deleted, mut updated) = (Vec::new(), Vec::new(), Vec::new());
    for (key, change) in &difference.0 {
        if !metadata.diffs.is_empty() && !metadata.diffs.iter().any(|name| name == key.as_str()) {
            continue;
        }
        match change {
            Change::Add(_) => added.push(key.as_str()),
            Change::Delete(_) => deleted.push(key.as_str()),
            Change::Update(_) => updated.push(key.as_str()),
            Change::Same(_) => {}
        }
    }
    let changed_flags = [
        (
            "provider",
            provider_urn(old.provider.as_ref()) != provider_urn(new.provider.as_ref()),
        ),
        ("protect", old.protect != new.protect),
        ("taint", old.taint != new.taint),
    ];
    updated.extend(
        changed_flags
            .into_iter()
            .filter(|(_, differs)| *differs)
            .map(|(name, _)| name),
    );
    updated.sort_unstable();
    let groups = [
        (StepOp::Create, added),
        (StepOp::Delete, deleted),
        (StepOp::Update, updated),
    ];
    let text: String = groups
        .into_iter()
        .filter(|(_, keys)| !keys.is_empty())
        .map(|(op, keys)| {
            crate::color::paint(
                ops::color(op),
                format!("{}{}", ops::sign(op).trim(), keys.join(",")),
            )
        })
        .collect();
    if text.is_empty() {
        text
    } else {
        format!("[diff: {text}]")
    }
}

/// Secrets opened: which secret differs is no secret, only its value is.
fn unwrapped(map: &PropertyMap) -> PropertyMap {
    visible(map, true)
}

fn provider_urn(provider: Option<&ProviderRef>) -> Option<&str> {
    provider.map(|provider| provider.urn().as_str())
}

/// How outputs of the stack are shown.
#[derive(Clone, Copy)]
pub(crate) struct OutputView {
    pub(crate) indent: usize,
    pub(crate) show_sames: bool,
    /// Whether to leave out known outputs that a preview does not know any more.
    pub(crate) skip_unknown_updates: bool,
}

/// The outputs of a step: as they are, or how they differ from what they were.
pub(crate) fn outputs_text(metadata: &Metadata, options: &Options, view: OutputView) -> String {
    let Some(new) = &metadata.new else {
        return String::new();
    };
    let shown = visible(&new.outputs, options.show_secrets);
    let mut style = ValueStyle {
        full: options.full_output,
        hidden: &new.hide_diff,
        ..ValueStyle::default()
    };
    let Some(old) = &metadata.old else {
        let mut printer = ValuePrinter::new(style);
        printer.object(&shown, view.indent);
        return printer.finish();
    };
    let mut difference = diff_objects(&visible(&old.outputs, options.show_secrets), &shown);
    if view.skip_unknown_updates {
        drop_unknown_updates(&mut difference);
    }
    if !view.show_sames && !difference.has_changes() {
        return String::new();
    }
    style.only_changes = !view.show_sames;
    let mut printer = ValuePrinter::new(style);
    printer.object_diff(&difference, view.indent);
    printer.finish()
}

fn drop_unknown_updates(difference: &mut ObjectDiff) {
    difference.0.retain(|_, change| match change {
        Change::Update(crate::diff::ValueDiff::Plain { new, .. }) => {
            !matches!(new, plumb_value::Value::Computed(_))
        }
        _ => true,
    });
}

/// The properties that force a replacement, as far as the step says, by their paths.
pub(crate) fn replacing_paths(metadata: &Metadata) -> Vec<EcoString> {
    let is_replacement = matches!(
        metadata.op,
        StepOp::Replace
            | StepOp::CreateReplacement
            | StepOp::ImportReplacement
            | StepOp::ReadReplacement
    );
    if !is_replacement {
        return Vec::new();
    }
    let reported = metadata.detailed_diff.iter().flatten();
    let forcing = reported.filter(|(_, difference)| difference.kind.is_replace());
    let mut paths: Vec<EcoString> = forcing.map(|(path, _)| path.clone()).collect();
    for key in &metadata.keys {
        if !paths.contains(key) {
            paths.push(key.clone());
        }
    }
    paths
}
