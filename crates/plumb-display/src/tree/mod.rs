//! Repainted tree of an operation (`cli.md` 18.3).
//!
//! [`Tree::frame`] is a pure function of the rows, the size and the time:
//!
//! 1. Select the visible rows and their ancestors.
//! 2. Order them as a tree, children in the order of their first event.
//! 3. If they do not fit, drop finished rows without unfinished descendants, oldest first, and show the number of
//!    dropped rows instead.
//! 4. Pad columns to the widest cell, and cut lines to the width.
//!
//! The last frame, which stays on the terminal, has all rows. For people, siblings that are alike are one line if the
//! rows do not fit on the screen.

mod pace;
mod place;
mod select;

use std::time::Duration;

use plumb_events::{Event, Progress};
use plumb_resource::StepOp;

pub use self::pace::expected_changes;
use self::place::{Placed, place, place_folded};
use self::select::{fit, shown_rows};
use crate::color::{COLUMN_HEADER, HEADLINE, paint};
use crate::display::Scroll;
use crate::options::Options;
use crate::rows::{Row, Rows};
use crate::text::{cut, linked, pad, width};
use crate::waits::{self, Waits};

/// Lines of the sections below the rows, about: an operation fits on a screen if its rows and these do.
const BELOW_ROWS: usize = 10;
/// Least columns of a type or a name that has to give way.
const LEAST_WIDTH: usize = 16;
/// Columns of the information that types and names give way for.
const INFO_WIDTH: usize = 20;
const GAP: &str = "  ";
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

/// Size of a frame.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: usize,
    /// Number of lines; `None` for no limit.
    pub(crate) height: Option<usize>,
}

/// The rows, and the downloads below them.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) rows: Rows,
    downloads: Vec<Progress>,
    /// First visible row after scrolling; `None` while following the running steps.
    first: Option<usize>,
}

impl Tree {
    pub(crate) fn new(options: Options) -> Self {
        Tree {
            rows: Rows::new(options),
            downloads: Vec::new(),
            first: None,
        }
    }

    /// Scrolls the rows.
    pub(crate) fn scroll(&mut self, to: Scroll, height: usize) {
        let window = height.saturating_sub(2).max(1);
        let last = shown_rows(&self.rows).len().saturating_sub(window);
        let at = self.first.unwrap_or(last);
        self.first = match to {
            _ if last == 0 => None,
            Scroll::Follow => None,
            Scroll::Up(lines) => Some(at.saturating_sub(lines)),
            Scroll::Down(lines) => Some((at + lines).min(last)),
            Scroll::First => Some(0),
            Scroll::Last => Some(last),
        };
    }

    pub(crate) fn handle(&mut self, event: &Event, now: Duration) {
        self.rows.handle(event, now);
        let Event::Progress(progress) = event else {
            return;
        };
        self.downloads.retain(|download| download.id != progress.id);
        if !progress.done && !self.rows.options().suppress_progress {
            self.downloads.push(progress.clone());
        }
    }

    /// Lines of the frame, with colour tags.
    pub(crate) fn frame(&self, size: Size, waits: &Waits, now: Duration) -> Vec<String> {
        let mut below = Vec::new();
        // Somebody who looks around sees rows only.
        if !self.rows.done && self.first.is_none() {
            below = self.download_lines(size);
            let waiting = waits.without_rows(now).into_iter();
            let pace = pace::line(&self.rows, now);
            below.extend(
                waiting
                    .chain(pace)
                    .map(|line| cut(&format!("     {line}"), size.width)),
            );
            // At most half of the height, because rows are more important, on small terminals too.
            below.truncate(size.height.map_or(usize::MAX, |height| height / 2));
        }
        let height = size.height.map(|height| height.saturating_sub(below.len()));
        let size = Size { height, ..size };
        let mut lines = match (self.first, height) {
            (Some(first), Some(height)) => self.window(first, height, size.width, waits, now),
            _ => row_lines(&self.rows, size, waits, now),
        };
        lines.extend(below);
        lines
    }

    /// Lines that stay on a screen of this height, with colour tags: all rows, alike ones folded if there are many.
    pub(crate) fn last_frame(
        &self,
        width: usize,
        height: usize,
        waits: &Waits,
        now: Duration,
    ) -> Vec<String> {
        let (rows, options) = (&self.rows, self.rows.options());
        let shown = shown_rows(rows);
        let folds = options.is_for_people() && !options.all_rows && !options.show_urns;
        let room = height.saturating_sub(BELOW_ROWS).max(height / 2);
        if !folds || shown.len() <= room {
            let size = Size {
                width,
                height: None,
            };
            return self.frame(size, waits, now);
        }
        let placed = place_folded(rows, &shown);
        let mut lines = table(rows, &placed, width, waits, now);
        if placed.len() < shown.len() {
            let hint = format!(
                "     {} resources in {} rows (--all-rows: one for each)",
                shown.len(),
                placed.len()
            );
            lines.push(cut(&hint, width));
        }
        lines
    }

    /// Rows starting at index `first`, and a line with their position.
    fn window(
        &self,
        first: usize,
        height: usize,
        width: usize,
        waits: &Waits,
        now: Duration,
    ) -> Vec<String> {
        let placed = place(&self.rows, &shown_rows(&self.rows));
        let room = height.saturating_sub(2).max(1);
        let first = first.min(placed.len().saturating_sub(room));
        let end = (first + room).min(placed.len());
        let mut lines = table(&self.rows, &placed[first..end], width, waits, now);
        let place = format!("     rows {} to {end} of {}", first + 1, placed.len());
        lines.push(cut(&format!("{place} (q: back to what goes on)"), width));
        lines.truncate(height);
        lines
    }

    fn download_lines(&self, size: Size) -> Vec<String> {
        // Rows are more important, so downloads get at most half of the height.
        let room = size
            .height
            .map_or(usize::MAX, |height| height / 2)
            .saturating_sub(1);
        if self.downloads.is_empty() || room == 0 {
            return Vec::new();
        }
        let lines = self
            .downloads
            .iter()
            .take(room)
            .map(|download| cut(&download_line(download), size.width));
        std::iter::once(paint(HEADLINE, "Downloads:"))
            .chain(lines)
            .collect()
    }
}

/// Progress line ` MESSAGE [===== ] 50%`.
fn download_line(download: &Progress) -> String {
    if download.total == 0 {
        return format!("    {}", download.message);
    }
    let done = download.received.min(download.total);
    format!(
        "    {} {} {}%",
        download.message,
        bar(done, download.total),
        done * 100 / download.total
    )
}

/// A bar for `done` of `total`, which is not zero.
fn bar(done: u64, total: u64) -> String {
    const LENGTH: u64 = 20;
    let filled = (done.min(total) * LENGTH / total) as usize;
    let left = LENGTH as usize - filled;
    format!("[{}{}]", "=".repeat(filled), " ".repeat(left))
}

fn row_lines(rows: &Rows, size: Size, waits: &Waits, now: Duration) -> Vec<String> {
    let shown = shown_rows(rows);
    if shown.is_empty() {
        return Vec::new();
    }
    // One line is for the header; `fit` reserves another for the number of dropped rows.
    let room = size.height.map(|height| height.saturating_sub(1).max(1));
    let (kept, left_out) = fit(rows, shown, room);
    let placed = place(rows, &kept);
    let mut lines = table(rows, &placed, size.width, waits, now);
    if left_out > 0 {
        let hint = if rows.options().explain {
            " (arrow keys: look around)"
        } else {
            ""
        };
        lines.push(cut(&format!("     … {left_out} more{hint}"), size.width));
    }
    lines.truncate(size.height.unwrap_or(usize::MAX));
    lines
}

/// A header, and a line for each of `placed`. If no row has information, its column has no header.
fn table(
    rows: &Rows,
    placed: &[Placed],
    width: usize,
    waits: &Waits,
    now: Duration,
) -> Vec<String> {
    let mut table = vec![header(rows)];
    let cells = placed.iter().map(|it| cells_of(rows, it, waits, now));
    table.extend(cells);
    let has_info = |row: &Vec<String>| row.last().is_some_and(|cell| !cell.is_empty());
    if !table.iter().skip(1).any(has_info) {
        table[0].pop();
    }
    align(&table, width, rows.options().is_for_people())
}

fn header(rows: &Rows) -> Vec<String> {
    let options = rows.options();
    let status = if options.preview { "Plan" } else { "Status" };
    let names: &[&str] = if options.show_urns {
        &["URN", status, "Info"]
    } else {
        &["Type", "Name", status, "Info"]
    };
    std::iter::once("   ".to_owned())
        .chain(names.iter().map(|name| paint(COLUMN_HEADER, name)))
        .collect()
}

fn cells_of(rows: &Rows, placed: &Placed, waits: &Waits, now: Duration) -> Vec<String> {
    let row = &rows.list[placed.idx];
    let mut cells = vec![rows.sign_text(row)];
    let link = rows.options().link.as_deref().filter(|_| row.urn.is_some());
    if let (Some(urn), true) = (&row.urn, rows.options().show_urns) {
        cells.push(format!("{}{}", placed.branches, linked(urn.as_str(), link)));
    } else {
        let (type_name, name) = row.labels();
        cells.push(format!("{}{type_name}", placed.branches));
        let others = match placed.alike.len() {
            0 | 1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        cells.push(format!("{}{others}", linked(name, link)));
    }
    cells.push(if placed.alike.len() > 1 {
        rows.status_of_all(&placed.alike)
    } else {
        status_cell(rows, row, now)
    });
    let info = rows.info_of_all(&placed.alike);
    cells.push(if info.is_empty() {
        waiting_text(rows, row, waits, now)
    } else {
        info
    });
    cells
}

/// Call that a row without other information is waiting for, if that takes long.
fn waiting_text(rows: &Rows, row: &Row, waits: &Waits, now: Duration) -> String {
    let is_long = |started: &Duration| now.saturating_sub(*started) >= waits::LONG;
    if rows.is_done(row) || row.started.as_ref().is_none_or(|it| !is_long(it)) {
        return String::new();
    }
    let call = row.urn.as_ref().and_then(|urn| waits.call_of(urn));
    call.map_or_else(String::new, |call| {
        format!("waiting for the {}", waits::way(call))
    })
}

/// Status cell, with a spinner for running steps.
fn status_cell(rows: &Rows, row: &Row, now: Duration) -> String {
    let status = rows.status_text(row, now);
    if width(&status) == 0 {
        return String::new();
    }
    let is_under_way = !rows.is_done(row) && row.has_step && row.op != StepOp::Same;
    if !is_under_way || rows.options().preview {
        return status;
    }
    let turn = (now.as_millis() / 100) as usize;
    let mark = if rows.options().emoji {
        SPINNER[turn % SPINNER.len()]
    } else {
        PLAIN_SPINNER[turn % PLAIN_SPINNER.len()]
    };
    format!("{mark} {status}")
}

/// Lines of a table of this width. For people, long types and names give way to what happens to the resource.
fn align(table: &[Vec<String>], columns: usize, shrinks: bool) -> Vec<String> {
    let count = table.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width(cell)).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..count).map(widest).collect();
    if shrinks {
        shrink(&mut widths, columns);
    }
    let line = |row: &Vec<String>| {
        let last = row.len().saturating_sub(1);
        let cells = row.iter().enumerate().map(|(column, cell)| {
            if column == last {
                cell.clone()
            } else {
                pad(&cut(cell, widths[column]), widths[column])
            }
        });
        let cells: Vec<String> = cells.collect();
        cut(cells.join(GAP).trim_end(), columns)
    };
    table.iter().map(line).collect()
}

/// Makes the columns before the status narrower: first that of names, then that of types (or that of URNs alone), until the
/// status and the beginning of the information fit.
fn shrink(widths: &mut [usize], columns: usize) {
    let Some((info, before)) = widths.split_last_mut() else {
        return;
    };
    let info = (*info).min(INFO_WIDTH);
    let gaps = GAP.len() * before.len();
    for column in (1..before.len().saturating_sub(1)).rev() {
        let total: usize = before.iter().sum::<usize>() + info + gaps;
        let excess = total.saturating_sub(columns);
        let least = before[column].min(LEAST_WIDTH);
        before[column] = before[column].saturating_sub(excess).max(least);
    }
}
