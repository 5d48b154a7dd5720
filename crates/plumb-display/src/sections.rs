//! The sections after the last step: diagnostics, outputs, resources, duration (`cli.md` 18.5).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ecow::EcoString;
use plumb_events::{Metadata, Summary, strip_color};
use plumb_resource::StepOp;

use crate::color::{BOLD, ERROR, HEADLINE, RESET, RESOURCE, paint};
use crate::ops;
use crate::options::Options;
use crate::rows::{Row, Rows};
use crate::steps::{OutputView, outputs_text};
use crate::text::{go_duration, linked};

/// A heading with its line break.
pub(crate) fn heading(text: &str) -> String {
    format!("{}\n", paint(HEADLINE, text))
}

/// Configuration, if it is shown; ends with a line break unless it is empty.
pub(crate) fn configuration(config: &BTreeMap<EcoString, EcoString>, options: &Options) -> String {
    if !options.show_config {
        return String::new();
    }
    let mut out = format!("{}\n", paint(RESET, "Configuration:"));
    for (key, value) in config {
        let _ = writeln!(out, "    {key}: {value}");
    }
    out
}

/// All messages except ephemeral ones, by resource and stream; resources with errors come last.
pub(crate) fn diagnostics(rows: &Rows) -> String {
    let mut out = String::new();
    let mut told: Vec<&Row> = rows
        .list
        .iter()
        .filter(|row| !row.streams.is_empty())
        .collect();
    if rows.options().has_own_name() {
        told.sort_by_key(|row| row.has_errors());
    }
    for row in told {
        if out.is_empty() {
            out.push_str(&heading("Diagnostics:"));
        }
        let (type_name, name) = row.labels();
        let link = rows.options().link.as_deref().filter(|_| row.urn.is_some());
        let title = if rows.options().show_urns {
            format!("{}:", linked(rows.urn_of(row).as_str(), link))
        } else {
            format!("{type_name} ({}):", linked(name, link))
        };
        let _ = writeln!(out, "  {}", paint(RESOURCE, title));
        for (_, text) in &row.streams {
            for line in text.trim_end_matches('\n').split('\n') {
                let line = line.trim_end();
                let _ = writeln!(
                    out,
                    "{}",
                    if strip_color(line).is_empty() {
                        String::new()
                    } else {
                        format!("    {line}")
                    }
                );
            }
            out.push('\n');
        }
    }
    out
}

/// Outputs of the stack.
pub(crate) fn stack_outputs(metadata: Option<&Metadata>, options: &Options) -> String {
    let Some(metadata) = metadata.filter(|_| !options.suppress_outputs) else {
        return String::new();
    };
    let view = OutputView {
        indent: 1,
        planning: options.preview,
        refreshed: false,
    };
    let text = outputs_text(metadata, options, view);
    if text.is_empty() {
        text
    } else {
        format!("{}{text}\n", heading("Outputs:"))
    }
}

/// Changes by operation, without reads: how many there are, and words such as `to create` or `created`.
pub(crate) fn changes(summary: &Summary) -> Vec<(StepOp, u32, String)> {
    let mut changes = Vec::new();
    for op in StepOp::ALL {
        let count = summary.resource_changes.get(&op).copied().unwrap_or(0);
        if count == 0 || op == StepOp::Same || ops::is_read(op) {
            continue;
        }
        let words = if summary.is_preview {
            format!("to {}", op.as_str())
        } else {
            ops::past_tense(op).to_owned()
        };
        changes.push((op, count, words));
    }
    changes
}

/// Number of resources that do not change.
pub(crate) fn unchanged(summary: &Summary) -> u32 {
    summary
        .resource_changes
        .get(&StepOp::Same)
        .copied()
        .unwrap_or(0)
}

/// Counts of changed, unchanged and failed resources, with a final line break.
pub(crate) fn resources(summary: &Summary, errored: usize) -> String {
    let mut out = heading("Resources:");
    let changes = changes(summary);
    for (op, count, words) in &changes {
        let line = format!("{}{count} {words}", ops::sign(*op));
        let _ = writeln!(out, "    {}", paint(ops::color(*op), line));
    }
    let mut totals = Vec::new();
    if changes.len() > 1 {
        let changed: u32 = changes.iter().map(|(_, count, _)| count).sum();
        totals.push(paint(BOLD, format!("{changed} changes")));
    }
    let same = unchanged(summary);
    if same > 0 {
        totals.push(format!("{same} unchanged"));
    }
    if !totals.is_empty() {
        let _ = writeln!(out, "    {}", totals.join(". "));
    }
    if errored > 0 {
        let _ = writeln!(out, "    {}", paint(ERROR, format!("{errored} errored")));
    }
    out
}

/// Duration of the operation; empty for previews.
pub(crate) fn duration(summary: &Summary) -> String {
    if summary.is_preview {
        return String::new();
    }
    format!(
        "\n{} {}\n",
        paint(HEADLINE, "Duration:"),
        go_duration(summary.duration)
    )
}
