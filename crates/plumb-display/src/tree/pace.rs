//! How far an operation is: the line below the rows while it runs.

use std::time::Duration;

use plumb_events::Summary;
use plumb_resource::StepOp;

use super::bar;
use crate::ops;
use crate::options::{Action, Options};
use crate::rows::{Row, Rows};
use crate::text::go_duration;
use crate::waits;

/// Shortest operation that has the line, so that it does not flicker.
const SHORTEST: Duration = Duration::from_secs(1);

/// Text such as `[====      ] 20 of 100, 8 under way, 5/s, 4s`; `None` if there is nothing to tell.
pub(super) fn line(rows: &Rows, now: Duration) -> Option<String> {
    let options = rows.options();
    if !options.is_for_people() || options.suppress_progress || now < SHORTEST {
        return None;
    }
    let counts = |row: &&Row| row.has_step && is_counted(row.op, options.preview, options.action);
    let begun: Vec<&Row> = rows.list.iter().filter(counts).collect();
    if begun.is_empty() {
        return None;
    }
    let done = begun.iter().filter(|row| rows.is_done(row)).count();
    let running = begun
        .iter()
        .filter(|row| row.is_custom && !rows.is_done(row));
    let under_way = running.count();
    let mut parts = vec![progress(done, options)];
    if !options.preview && under_way > 0 {
        parts.push(format!("{under_way} under way"));
    }
    parts.extend(rate(done, &begun, now));
    parts.push(go_duration(Duration::from_secs(now.as_secs())));
    parts.extend(longest(rows, &begun, now));
    Some(parts.join(", "))
}

/// Number of resources that an operation will handle, as its preview has found.
pub fn expected_changes(preview: &Summary, action: Action) -> usize {
    let changes = preview.resource_changes.iter();
    let counted = changes.filter(|(op, _)| is_counted(**op, false, action));
    counted.map(|(_, count)| *count as usize).sum()
}

/// Whether a step counts: previews and refreshes look at each resource, the others change some.
fn is_counted(op: StepOp, preview: bool, action: Action) -> bool {
    let looks_at_all = preview || action == Action::Refresh;
    looks_at_all || op != StepOp::Same && !ops::is_read(op)
}

fn progress(done: usize, options: &Options) -> String {
    match options.expected {
        // More may turn out to be needed than was foreseen.
        Some(total) if total > 0 && done <= total => {
            format!("{} {done} of {total}", bar(done as u64, total as u64))
        }
        _ if done == 1 => "1 resource".to_owned(),
        _ => format!("{done} resources"),
    }
}

/// Number of finished rows for each second or minute.
fn rate(done: usize, begun: &[&Row], now: Duration) -> Option<String> {
    let first = begun.iter().filter_map(|row| row.started).min()?;
    let seconds = now.saturating_sub(first).as_secs_f64();
    if done == 0 || seconds < SHORTEST.as_secs_f64() {
        return None;
    }
    let rate = done as f64 / seconds;
    Some(if rate >= 1.0 {
        format!("{rate:.0}/s")
    } else {
        format!("{:.0}/min", rate * 60.0)
    })
}

/// The step that takes longest, if that is long.
fn longest(rows: &Rows, begun: &[&Row], now: Duration) -> Option<String> {
    let running = begun
        .iter()
        .filter(|row| row.is_custom && !rows.is_done(row));
    let (started, row) = running
        .filter_map(|row| Some((row.started?, row)))
        .min_by_key(|(started, _)| *started)?;
    let took = now.saturating_sub(started);
    let (_, name) = row.labels();
    let text = || {
        format!(
            "longest: {name} {}",
            go_duration(Duration::from_secs(took.as_secs()))
        )
    };
    (took >= waits::LONG).then(text)
}
