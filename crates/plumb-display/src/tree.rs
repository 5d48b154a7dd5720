//! Repainted tree of an operation (`cli.md` 18.3).
//!
//! [`Tree::frame`] is a pure function of the rows, the size and the time:
//!
//! 1. Select the visible rows and their ancestors.
//! 2. Order them as a tree, children in the order of their first event.
//! 3. If they do not fit, drop finished rows without unfinished descendants, oldest first, and show the number of
//!    dropped rows instead.
//! 4. Pad columns to the widest cell, and cut lines to the width.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use plumb_events::{Event, Progress};
use plumb_resource::StepOp;

use crate::color::{COLUMN_HEADER, HEADLINE, paint};
use crate::display::Scroll;
use crate::options::Options;
use crate::rows::{Row, Rows};
use crate::text::{cut, linked, pad, width};
use crate::waits::{self, Waits};

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

/// A row with its position in the tree.
struct Placed {
    idx: usize,
    /// Branch characters before the row.
    branches: String,
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
        if !self.rows.done {
            below = self.download_lines(size);
            let waiting = waits.without_rows(now).into_iter();
            below.extend(waiting.map(|line| cut(&format!("     {line}"), size.width)));
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
        let mut cells = vec![header(&self.rows)];
        let shown = placed[first..end].iter();
        cells.extend(shown.map(|placed| cells_of(&self.rows, placed, waits, now)));
        let mut lines = align(&cells, width);
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

/// Progress line ` MESSAGE [=====> ] 50%`.
fn download_line(download: &Progress) -> String {
    const BAR: u64 = 20;
    if download.total == 0 {
        return format!("    {}", download.message);
    }
    let done = download.received.min(download.total);
    let filled = (done * BAR / download.total) as usize;
    let bar = format!(
        "{}{}",
        "=".repeat(filled),
        " ".repeat(BAR as usize - filled)
    );
    format!(
        "    {} [{bar}] {}%",
        download.message,
        done * 100 / download.total
    )
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
    let mut cells = vec![header(rows)];
    cells.extend(
        placed
            .iter()
            .map(|placed| cells_of(rows, placed, waits, now)),
    );
    let mut lines = align(&cells, size.width);
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

fn shown_rows(rows: &Rows) -> HashSet<usize> {
    let mut shown = HashSet::new();
    for idx in (0..rows.list.len()).filter(|idx| is_worth_showing(rows, *idx)) {
        let mut at = Some(idx);
        while let Some(idx) = at.filter(|idx| shown.insert(*idx)) {
            at = parent_of(rows, &rows.list[idx]);
        }
    }
    shown
}

fn is_worth_showing(rows: &Rows, idx: usize) -> bool {
    let row = &rows.list[idx];
    // The placeholder is hidden when the stack's own row exists.
    let is_spare = row.urn.is_none()
        && row.streams.is_empty()
        && rows
            .list
            .iter()
            .any(|row| row.urn.is_some() && row.is_root());
    let stayed_same = rows.done
        && row.op == StepOp::Same
        && !row.is_root()
        && !row.has_info()
        && !rows.options().show_sames;
    rows.is_visible(idx) && !is_spare && !stayed_same
}

fn parent_of(rows: &Rows, row: &Row) -> Option<usize> {
    if row.is_root() {
        return None;
    }
    let parent = row.parent.as_ref().and_then(|parent| rows.index_of(parent));
    parent.or_else(|| rows.list.iter().position(Row::is_root))
}

/// Rows that fit, and the number of dropped rows.
fn fit(rows: &Rows, mut shown: HashSet<usize>, room: Option<usize>) -> (HashSet<usize>, usize) {
    let Some(room) = room.filter(|room| *room < shown.len()) else {
        return (shown, 0);
    };
    let total = shown.len();
    let wanted = room.saturating_sub(1).max(1);
    drop_leaves(rows, &mut shown, wanted, |row| {
        rows.is_done(row) && !row.failed && !row.has_errors()
    });
    drop_leaves(rows, &mut shown, wanted, |_| true);
    let left_out = total - shown.len();
    (shown, left_out)
}

/// Drops rows without children, oldest first, until `wanted` remain. Keeps the root, and rows for which `may_go` is
/// false.
fn drop_leaves(
    rows: &Rows,
    shown: &mut HashSet<usize>,
    wanted: usize,
    may_go: impl Fn(&Row) -> bool,
) {
    let parent = |idx: usize| parent_of(rows, &rows.list[idx]);
    let may_go = |idx: usize| !rows.list[idx].is_root() && may_go(&rows.list[idx]);
    let mut n_children: HashMap<usize, usize> = HashMap::new();
    for parent in shown.iter().filter_map(|idx| parent(*idx)) {
        *n_children.entry(parent).or_default() += 1;
    }
    let is_leaf = |idx: &usize| !n_children.contains_key(idx);
    let mut leaves: BTreeSet<usize> = shown
        .iter()
        .copied()
        .filter(|idx| is_leaf(idx) && may_go(*idx))
        .collect();
    while shown.len() > wanted {
        let Some(leaf) = leaves.pop_first() else {
            break;
        };
        shown.remove(&leaf);
        let Some(parent) = parent(leaf) else { continue };
        let left = n_children.entry(parent).or_insert(1);
        *left -= 1;
        if *left == 0 && may_go(parent) && shown.contains(&parent) {
            leaves.insert(parent);
        }
    }
}

fn place(rows: &Rows, shown: &HashSet<usize>) -> Vec<Placed> {
    let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    let mut order: Vec<usize> = shown.iter().copied().collect();
    order.sort_unstable();
    for idx in order {
        let parent = parent_of(rows, &rows.list[idx])
            .filter(|parent| shown.contains(parent) && *parent != idx);
        children.entry(parent).or_default().push(idx);
    }
    let mut placed = Vec::new();
    for root in children.remove(&None).unwrap_or_default() {
        placed.push(Placed {
            idx: root,
            branches: String::new(),
        });
        place_children(root, "", &mut children, &mut placed);
    }
    placed
}

fn place_children(
    parent: usize,
    branches: &str,
    children: &mut HashMap<Option<usize>, Vec<usize>>,
    placed: &mut Vec<Placed>,
) {
    let list = children.remove(&Some(parent)).unwrap_or_default();
    for (nth, idx) in list.iter().enumerate() {
        let is_last = nth + 1 == list.len();
        placed.push(Placed {
            idx: *idx,
            branches: format!("{branches}{}", if is_last { "└─ " } else { "├─ " }),
        });
        let below = format!("{branches}{}", if is_last { "   " } else { "│  " });
        place_children(*idx, &below, children, placed);
    }
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
        if !rows.options().show_urns {
            cells.push(linked(name, link));
        }
    }
    cells.push(status_cell(rows, row, now));
    let info = rows.info_text(row);
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

fn align(table: &[Vec<String>], columns: usize) -> Vec<String> {
    let count = table.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|column| {
            table
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| width(cell))
                .max()
                .unwrap_or(0)
        })
        .collect();
    table
        .iter()
        .map(|row| {
            let last = row.len().saturating_sub(1);
            let cells: Vec<String> = row
                .iter()
                .enumerate()
                .map(|(column, cell)| {
                    if column == last {
                        cell.clone()
                    } else {
                        pad(cell, widths[column])
                    }
                })
                .collect();
            cut(cells.join(GAP).trim_end(), columns)
        })
        .collect()
}
