//! Order of the rows in a tree, the branches before them, and rows that are alike as one line.

use std::collections::{HashMap, HashSet};

use plumb_resource::StepOp;

use super::select::parent_of;
use crate::options::Action;
use crate::rows::{Row, Rows};

/// Fewest siblings that become one line.
const FEWEST: usize = 4;
/// Fewest siblings that become one line if they are to be deleted or replaced, and a question about that follows: fewer keep
/// their names, so that people can read what they agree to.
const FEWEST_TO_ASK_ABOUT: usize = 20;

/// A line of the tree.
pub(super) struct Placed {
    /// The row that is shown.
    pub(super) idx: usize,
    /// All rows that the line stands for, the shown one first.
    pub(super) alike: Vec<usize>,
    /// Branch characters before the row.
    pub(super) branches: String,
}

/// A line for each of the rows in `shown`; children stand in the order of their first event.
pub(super) fn place(rows: &Rows, shown: &HashSet<usize>) -> Vec<Placed> {
    Forest::new(rows, shown).place()
}

/// As [`place`], with one line for siblings that are alike, and have children that are alike.
pub(super) fn place_folded(rows: &Rows, shown: &HashSet<usize>) -> Vec<Placed> {
    let mut forest = Forest::new(rows, shown);
    forest.shapes = Some(Shapes::new(rows, &forest));
    forest.place()
}

/// Children of each row, and those without a parent.
struct Forest {
    children: HashMap<Option<usize>, Vec<usize>>,
    /// Shapes of the rows, if alike ones are to be folded.
    shapes: Option<Shapes>,
}

impl Forest {
    fn new(rows: &Rows, shown: &HashSet<usize>) -> Self {
        let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        let mut order: Vec<usize> = shown.iter().copied().collect();
        order.sort_unstable();
        for idx in order {
            let parent = parent_of(rows, &rows.list[idx])
                .filter(|parent| shown.contains(parent) && *parent != idx);
            children.entry(parent).or_default().push(idx);
        }
        Forest {
            children,
            shapes: None,
        }
    }

    fn children(&self, parent: Option<usize>) -> &[usize] {
        self.children.get(&parent).map_or(&[], Vec::as_slice)
    }

    fn place(&self) -> Vec<Placed> {
        let mut placed = Vec::new();
        for root in self.children(None) {
            placed.push(Placed {
                idx: *root,
                alike: vec![*root],
                branches: String::new(),
            });
            self.place_below(&[*root], "", &mut placed);
        }
        placed
    }

    /// Lines for the children of rows that share a line.
    fn place_below(&self, parents: &[usize], branches: &str, placed: &mut Vec<Placed>) {
        let lines = self.lines_below(parents);
        let count = lines.len();
        for (nth, alike) in lines.into_iter().enumerate() {
            let is_last = nth + 1 == count;
            let below = format!("{branches}{}", if is_last { "   " } else { "│  " });
            placed.push(Placed {
                idx: alike[0],
                alike: alike.clone(),
                branches: format!("{branches}{}", if is_last { "└─ " } else { "├─ " }),
            });
            self.place_below(&alike, &below, placed);
        }
    }

    /// The children of rows that share a line, by the lines that they get.
    fn lines_below(&self, parents: &[usize]) -> Vec<Vec<usize>> {
        let all = parents.iter().flat_map(|it| self.children(Some(*it)));
        let Some(shapes) = &self.shapes else {
            return all.map(|idx| vec![*idx]).collect();
        };
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for idx in all.clone() {
            *counts.entry(shapes.of[idx]).or_default() += 1;
        }
        let mut lines: Vec<Vec<usize>> = Vec::new();
        let mut line_of: HashMap<u32, usize> = HashMap::new();
        for idx in all {
            let shape = shapes.of[idx];
            // Rows below several parents stand for those of each.
            let folds = parents.len() > 1 || counts[&shape] >= shapes.fewest(shape);
            match line_of.get(&shape) {
                Some(line) if folds => lines[*line].push(*idx),
                _ => {
                    line_of.insert(shape, lines.len());
                    lines.push(vec![*idx]);
                }
            }
        }
        lines
    }
}

/// All that rows must have in common to be alike.
#[derive(PartialEq, Eq, Hash)]
struct Shape {
    type_name: String,
    status: String,
    info: String,
    /// Shapes of the children, sorted.
    children: Vec<u32>,
}

/// The shape of each row, as a number: rows with the same number are alike.
#[derive(Default)]
struct Shapes {
    of: HashMap<usize, u32>,
    /// Shapes of rows that somebody is asked about, or that have such rows below them.
    asked_about: HashSet<u32>,
    known: HashMap<Shape, u32>,
    count: u32,
}

impl Shapes {
    fn new(rows: &Rows, forest: &Forest) -> Self {
        let mut shapes = Shapes::default();
        for root in forest.children(None) {
            shapes.visit(*root, rows, forest);
        }
        shapes
    }

    /// Fewest rows of a shape that become one line.
    fn fewest(&self, shape: u32) -> usize {
        if self.asked_about.contains(&shape) {
            FEWEST_TO_ASK_ABOUT
        } else {
            FEWEST
        }
    }

    fn visit(&mut self, idx: usize, rows: &Rows, forest: &Forest) -> u32 {
        let below = forest.children(Some(idx)).iter();
        let mut children: Vec<u32> = below
            .map(|child| self.visit(*child, rows, forest))
            .collect();
        children.sort_unstable();
        let row = &rows.list[idx];
        let is_asked_about = is_asked_about(rows, row)
            || children
                .iter()
                .any(|child| self.asked_about.contains(child));
        self.count += 1;
        let number = if stands_alone(row) {
            self.count
        } else {
            let shape = Shape {
                type_name: row.labels().0.to_owned(),
                status: rows.status_with(row, None, ""),
                info: rows.info_without_values(row),
                children,
            };
            *self.known.entry(shape).or_insert(self.count)
        };
        if is_asked_about {
            self.asked_about.insert(number);
        }
        self.of.insert(idx, number);
        number
    }
}

/// Whether a row is never folded: it has messages of its own.
fn stands_alone(row: &Row) -> bool {
    row.is_root() || row.has_info() || row.has_errors()
}

/// Whether a row is a deletion or replacement that a question follows. A destroy is left out: it asks about everything.
fn is_asked_about(rows: &Rows, row: &Row) -> bool {
    let options = rows.options();
    let goes_away = matches!(
        row.op,
        StepOp::Delete | StepOp::Replace | StepOp::DeleteReplaced | StepOp::CreateReplacement
    );
    options.preview && goes_away && options.action != Action::Destroy
}
