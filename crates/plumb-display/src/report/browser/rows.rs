//! The rows of a browser: those of the resources that match the filter, with what is open.

use std::collections::HashSet;

use plumb_events::strip_color;
use plumb_resource::StepOp;

use super::wrap::wrapped;
use super::{Browser, Fold, Grouping, op_text};
use crate::report::Step;
use crate::text::counted;

/// Deepest indentation; what is deeper stands beside each other.
const DEEPEST: usize = 12;
/// Columns before the text of a row that is not indented.
const BEFORE: usize = 4;

/// A line below the title.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) depth: usize,
    pub(super) text: String,
    /// Parts that the row opens and closes; none for a line of a difference.
    pub(super) folds: Vec<Fold>,
    pub(super) is_open: bool,
    /// The row that this one is folded into.
    pub(super) owner: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) list: Vec<Row>,
    /// Number of changes that match the filter.
    pub(super) matching: usize,
}

impl Rows {
    pub(super) fn of(browser: &Browser<'_>) -> Self {
        let mut maker = Maker::new(browser);
        match browser.grouping {
            Grouping::Component => {
                for root in &browser.order.roots {
                    maker.component(*root, 0, None);
                }
            }
            Grouping::Kind => maker.kinds(),
        }
        maker.rows
    }
}

struct Maker<'b, 'r> {
    browser: &'b Browser<'r>,
    /// Resources that match, and those above them.
    shown: HashSet<usize>,
    matching: HashSet<usize>,
    rows: Rows,
}

impl<'b, 'r> Maker<'b, 'r> {
    fn new(browser: &'b Browser<'r>) -> Self {
        let mut maker = Maker {
            browser,
            shown: HashSet::new(),
            matching: HashSet::new(),
            rows: Rows::default(),
        };
        let wanted = browser.filter.to_lowercase();
        for (at, resource) in browser.report.resources.values().enumerate() {
            if !resource.steps.is_empty() && maker.matches(at, &wanted) {
                maker.rows.matching += resource.steps.len();
                maker.matching.insert(at);
                maker.show(at);
            }
        }
        maker
    }

    /// Whether the name, the type, the operation or the differences have the text.
    fn matches(&self, at: usize, wanted: &str) -> bool {
        let resources = &self.browser.report.resources;
        let Some((urn, resource)) = resources.get_index(at) else {
            return false;
        };
        let has = |text: &str| text.to_lowercase().contains(wanted);
        let of_step = |step: &Step| has(step.op.as_str()) || has(&strip_color(&step.text));
        wanted.is_empty() || has(urn.as_str()) || resource.steps.iter().any(of_step)
    }

    /// Marks a resource and those above it.
    fn show(&mut self, at: usize) {
        let resources = &self.browser.report.resources;
        let mut above = Some(at);
        while let Some(at) = above.filter(|at| self.shown.insert(*at)) {
            let parent = resources[at].parent.as_ref();
            above = parent.and_then(|parent| resources.get_index_of(parent));
        }
    }

    fn is_open(&self, fold: Fold) -> bool {
        self.browser.open.contains(&fold)
    }

    /// A resource with its differences, and those below it.
    fn component(&mut self, at: usize, depth: usize, owner: Option<usize>) {
        if !self.shown.contains(&at) {
            return;
        }
        let children = &self.browser.order.children[at];
        let has_children = !children.is_empty();
        let below = Fold::Below(at);
        // With a filter, all matches are visible, so the rows above them are open.
        let is_open = self.is_open(below) || !self.browser.filter.is_empty();
        let row = self.resource(at, depth, owner, has_children.then_some(below));
        if !is_open {
            return;
        }
        for child in children {
            self.component(*child, (depth + 1).min(DEEPEST), Some(row));
        }
    }

    /// The row of a resource, and its differences; answers the number of the row.
    fn resource(
        &mut self,
        at: usize,
        depth: usize,
        owner: Option<usize>,
        below: Option<Fold>,
    ) -> usize {
        let report = self.browser.report;
        let details = Fold::Details(at);
        let steps = &report.resources[at].steps;
        let has_details = !steps.is_empty();
        let folds: Vec<Fold> = has_details
            .then_some(details)
            .into_iter()
            .chain(below)
            .collect();
        let is_open = folds.iter().all(|fold| self.is_open(*fold));
        let changes = self.browser.order.changes[at] - steps.len();
        let count = match below {
            Some(_) => format!("  ({} below)", counted(changes, "change")),
            None => String::new(),
        };
        let row = self.rows.list.len();
        self.rows.list.push(Row {
            depth,
            text: format!("{}{count}", self.browser.head(at)),
            folds,
            is_open,
            owner,
        });
        if has_details && self.is_open(details) {
            self.differences(at, depth, row);
        }
        row
    }

    fn differences(&mut self, at: usize, depth: usize, owner: usize) {
        let columns = self.browser.width.saturating_sub(2 * depth + BEFORE);
        for step in &self.browser.report.resources[at].steps {
            let because = match step.causes.as_slice() {
                [] => String::new(),
                causes => format!("    because {}\n", causes.join("; ")),
            };
            for text in wrapped(&format!("{because}{}", step.text), columns) {
                self.rows.list.push(Row {
                    depth: depth + 1,
                    text,
                    folds: Vec::new(),
                    is_open: false,
                    owner: Some(owner),
                });
            }
        }
    }

    /// The resources by the first of their operations.
    fn kinds(&mut self) {
        let mut kinds = StepOp::ALL;
        // Deletions and replacements come first.
        kinds.sort_by_key(|op| match op {
            StepOp::Delete | StepOp::DeleteReplaced => 0,
            StepOp::Replace | StepOp::CreateReplacement => 1,
            StepOp::Update => 2,
            StepOp::Create => 3,
            _ => 4,
        });
        for op in kinds {
            let resources = self.browser.report.resources.values().enumerate();
            let of_kind: Vec<usize> = resources
                .filter(|(at, resource)| {
                    let is_first = resource.steps.first().is_some_and(|step| step.op == op);
                    is_first && self.matching.contains(at)
                })
                .map(|(at, _)| at)
                .collect();
            if of_kind.is_empty() {
                continue;
            }
            let fold = Fold::Kind(op);
            let is_open = self.is_open(fold) || !self.browser.filter.is_empty();
            let row = self.rows.list.len();
            self.rows.list.push(Row {
                depth: 0,
                text: format!("{}  ({})", op_text(op), counted(of_kind.len(), "resource")),
                folds: vec![fold],
                is_open,
                owner: None,
            });
            if is_open {
                for at in of_kind {
                    self.resource(at, 1, Some(row), None);
                }
            }
        }
    }
}
