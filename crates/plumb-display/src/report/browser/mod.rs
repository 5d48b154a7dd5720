//! A browser of changes for terminals: pages, folds by component or by kind of change, and a filter.
//!
//! [`Browser::press`] changes the state, and [`Browser::frame`] is the screen for it. Reading keys and painting are the
//! caller's.

mod rows;
mod wrap;

use std::collections::HashSet;

use plumb_resource::StepOp;

use self::rows::{Row, Rows};
use super::arrangement::Arrangement;
use super::{ChangeReport, MOST_OPEN};
use crate::color::{BOLD, HEADLINE, RESOURCE, paint};
use crate::options::Options;
use crate::text::{counted, cut, pad, short_type};
use crate::{colorize, ops};

/// A key of the keyboard, as far as it means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserKey {
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow to the left.
    Left,
    /// Arrow to the right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Erases the last letter.
    Backspace,
    /// A letter.
    Letter(char),
}

/// How changes are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grouping {
    /// Resources below their parents.
    Component,
    /// Resources by the operation.
    Kind,
}

/// A part of the list that opens and closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fold {
    /// The differences of a resource.
    Details(usize),
    /// The resources below one.
    Below(usize),
    /// The resources of a kind of change.
    Kind(StepOp),
}

/// Lines that are not rows: title and keys.
const AROUND: usize = 2;

/// A report on a terminal.
#[derive(Debug)]
pub struct Browser<'r> {
    report: &'r ChangeReport,
    order: Arrangement,
    grouping: Grouping,
    open: HashSet<Fold>,
    filter: String,
    /// Whether letters go into the filter.
    is_typing: bool,
    rows: Rows,
    /// The row that keys are about.
    cursor: usize,
    /// The first row on the screen.
    top: usize,
    width: usize,
    height: usize,
}

impl<'r> Browser<'r> {
    /// A browser on a terminal of this size. Few changes are unfolded.
    pub fn new(report: &'r ChangeReport, width: usize, height: usize) -> Self {
        let mut browser = Browser {
            order: Arrangement::of(report),
            report,
            grouping: Grouping::Component,
            open: HashSet::new(),
            filter: String::new(),
            is_typing: false,
            rows: Rows::default(),
            cursor: 0,
            top: 0,
            width,
            height,
        };
        if report.count() <= MOST_OPEN {
            browser.open_all();
        } else {
            // The components show where the changes are.
            let parents = (0..report.resources.len()).map(Fold::Below);
            browser.open.extend(parents);
        }
        browser.arrange();
        browser
    }

    /// Adapts to another size of the terminal.
    pub fn resize(&mut self, width: usize, height: usize) {
        (self.width, self.height) = (width, height);
        self.arrange();
    }

    /// Handles a key; answers whether the reader goes on looking.
    pub fn press(&mut self, key: BrowserKey) -> bool {
        if self.is_typing && self.typed(key) {
            self.arrange();
            return true;
        }
        let page = self.room();
        match key {
            BrowserKey::Up | BrowserKey::Letter('k') => self.go(self.cursor.saturating_sub(1)),
            BrowserKey::Down | BrowserKey::Letter('j') => self.go(self.cursor + 1),
            BrowserKey::PageUp | BrowserKey::Letter('b') => {
                self.go(self.cursor.saturating_sub(page));
            }
            BrowserKey::PageDown | BrowserKey::Letter(' ') => self.go(self.cursor + page),
            BrowserKey::Home | BrowserKey::Letter('g') => self.go(0),
            BrowserKey::End | BrowserKey::Letter('G') => self.go(usize::MAX),
            BrowserKey::Right | BrowserKey::Letter('l') => self.fold(Some(true)),
            BrowserKey::Left | BrowserKey::Letter('h') => self.fold(Some(false)),
            BrowserKey::Enter => self.fold(None),
            BrowserKey::Letter('a') => self.fold_all(),
            BrowserKey::Letter('c') => self.regroup(),
            BrowserKey::Letter('/') => self.is_typing = true,
            BrowserKey::Escape if !self.filter.is_empty() => {
                self.filter.clear();
                self.arrange();
            }
            BrowserKey::Letter('q') | BrowserKey::Escape => return false,
            BrowserKey::Backspace | BrowserKey::Letter(_) => {}
        }
        true
    }

    /// Handles a key for the filter; `false` if the key is none of it.
    fn typed(&mut self, key: BrowserKey) -> bool {
        match key {
            BrowserKey::Letter(letter) => self.filter.push(letter),
            BrowserKey::Backspace => drop(self.filter.pop()),
            BrowserKey::Enter => self.is_typing = false,
            BrowserKey::Escape => {
                self.is_typing = false;
                self.filter.clear();
            }
            _ => {
                self.is_typing = false;
                return false;
            }
        }
        true
    }

    /// Number of rows on the screen.
    fn room(&self) -> usize {
        self.height.saturating_sub(AROUND).max(1)
    }

    fn go(&mut self, to: usize) {
        let last = self.rows.list.len().saturating_sub(1);
        self.cursor = to.min(last);
        let room = self.room();
        let lowest = (self.cursor + 1).saturating_sub(room);
        self.top = self.top.clamp(lowest, self.cursor.max(lowest));
    }

    /// Opens or closes the row at the cursor; `None` opens a closed row and closes an open one.
    fn fold(&mut self, opens: Option<bool>) {
        let Some(row) = self.rows.list.get(self.cursor) else {
            return;
        };
        let (folds, owner, is_open) = (row.folds.clone(), row.owner, row.is_open);
        match (opens, owner) {
            // A line of a difference closes its resource.
            (Some(false) | None, Some(owner)) if folds.is_empty() => {
                self.go(owner);
                self.fold(Some(false));
            }
            // The cursor moves from a closed row to the row that it belongs to.
            (Some(false), Some(owner)) if !is_open => self.go(owner),
            _ => {
                for fold in folds {
                    if opens.unwrap_or(!is_open) {
                        self.open.insert(fold);
                    } else {
                        self.open.remove(&fold);
                    }
                }
                self.arrange();
            }
        }
    }

    /// Opens all, or closes all if all are open.
    fn fold_all(&mut self) {
        let before = self.open.len();
        self.open_all();
        if self.open.len() == before {
            self.open.clear();
        }
        self.arrange();
    }

    fn open_all(&mut self) {
        let numbers = 0..self.report.resources.len();
        self.open
            .extend(numbers.flat_map(|at| [Fold::Details(at), Fold::Below(at)]));
        self.open.extend(StepOp::ALL.map(Fold::Kind));
    }

    fn regroup(&mut self) {
        self.grouping = match self.grouping {
            Grouping::Component => Grouping::Kind,
            Grouping::Kind => Grouping::Component,
        };
        self.arrange();
        self.go(0);
    }

    /// Makes the rows again after a change.
    fn arrange(&mut self) {
        self.rows = Rows::of(self);
        self.go(self.cursor);
    }

    /// Lines of the screen, from top to bottom.
    pub fn frame(&self) -> Vec<String> {
        let mut lines = vec![self.title()];
        let shown = self.rows.list.iter().enumerate().skip(self.top);
        lines.extend(shown.take(self.room()).map(|(at, row)| self.line(at, row)));
        if self.rows.list.is_empty() {
            let nothing = if self.filter.is_empty() {
                "no changes"
            } else {
                "nothing matches"
            };
            lines.push(format!("  {nothing}"));
        }
        lines.resize(self.height.saturating_sub(1), String::new());
        lines.push(self.keys());
        let color = self.options().color;
        let lines = lines.iter().map(|line| cut(line, self.width));
        lines
            .map(|line| colorize(&line, color).into_owned())
            .collect()
    }

    fn options(&self) -> &Options {
        &self.report.options
    }

    fn title(&self) -> String {
        let count = counted(self.report.count(), "change");
        let matching = if self.filter.is_empty() {
            String::new()
        } else {
            format!(", {} with `{}`", self.rows.matching, self.filter)
        };
        paint(
            HEADLINE,
            format!("{}: {count}{matching}", self.report.title()),
        )
    }

    fn keys(&self) -> String {
        if self.is_typing {
            return format!("/{}_  (enter: look around, esc: all)", self.filter);
        }
        let other = match self.grouping {
            Grouping::Component => "kind",
            Grouping::Kind => "component",
        };
        let keys = format!("enter: fold, a: fold all, c: by {other}, /: filter, q: back");
        let place = format!("{}/{}", self.cursor + 1, self.rows.list.len());
        let room = self.width.saturating_sub(place.len() + 1);
        paint(BOLD, format!("{} {place}", pad(&cut(&keys, room), room)))
    }

    fn line(&self, at: usize, row: &Row) -> String {
        let mark = if at == self.cursor { "> " } else { "  " };
        let fold = match (row.folds.is_empty(), row.is_open) {
            (true, _) => "",
            (false, true) => "▾ ",
            (false, false) => "▸ ",
        };
        let indent = " ".repeat(2 * row.depth);
        format!("{}{indent}{fold}{}", paint(BOLD, mark), row.text)
    }

    /// Sign, type and name of a resource with what happens to it.
    fn head(&self, at: usize) -> String {
        let Some((urn, resource)) = self.report.resources.get_index(at) else {
            return String::new();
        };
        let type_name = resource.steps.first().map_or_else(
            || short_type(urn.type_text()),
            |step| step.type_name.clone(),
        );
        let subject = format!("{} {}", paint(RESOURCE, type_name), paint(BOLD, urn.name()));
        let steps: Vec<String> = resource.steps.iter().map(|step| op_text(step.op)).collect();
        let protected = resource.steps.iter().any(|step| step.is_protected);
        let protected = if protected { " (protected)" } else { "" };
        if steps.is_empty() {
            subject
        } else {
            format!("{subject}  {}{protected}", steps.join(", "))
        }
    }
}

/// Sign and name of an operation.
fn op_text(op: StepOp) -> String {
    let text = format!("{} {}", ops::sign(op).trim(), op.as_str());
    paint(ops::color(op), text.trim())
}
