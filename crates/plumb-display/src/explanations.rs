//! Changes of each resource in a run, with reasons: for `plumb why`, and for confirmations before resources are
//! destroyed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ecow::EcoString;
use indexmap::IndexMap;
use plumb_events::{Event, Filter, Metadata, OperationResult, Severity, strip_color};
use plumb_resource::{StepOp, Urn};
use serde::{Deserialize, Serialize};

use crate::color::{HEADLINE, paint};
use crate::diff::{Change, diff_objects, visible};
use crate::diff_view::DiffView;
use crate::options::{Action, Options, View};
use crate::reasons::{causes, differing_paths};
use crate::text::{counted, linked, short_type};
use crate::unchanged::Unchanged;
use crate::{colorize, ops, steps};

/// Maximum number of lines in a confirmation.
const MOST_NAMED: usize = 30;
/// Fewest resources with the same reasons that are one line.
const FEWEST: usize = 4;

/// Change of a resource in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Operation: `create`, `update`, `replace`, `delete`, …
    pub op: String,
    /// Reasons, the most specific first.
    pub because: Vec<String>,
    /// Paths of properties that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<EcoString>,
    /// Paths whose changes require a replacement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<EcoString>,
    /// Differences as text with colour tags, without secrets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub difference: String,
    /// Errors reported for the resource.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// Explanations for a run. For unchanged resources, only their URNs are recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunExplanation {
    /// `update`, `refresh`, `destroy` or `import`.
    pub operation: String,
    /// Whether the run was a preview.
    pub preview: bool,
    /// Result; `None` before the end.
    pub result: Option<String>,
    /// Changes of resources, by URN.
    pub resources: IndexMap<EcoString, Explanation>,
    /// Unchanged resources.
    #[serde(default, rename = "kept")]
    pub unchanged: Unchanged,
}

/// Builds a [`RunExplanation`] from events.
#[derive(Debug)]
pub struct Explanations {
    action: Action,
    view: DiffView,
    run: RunExplanation,
}

impl Explanations {
    /// Explanations without events.
    pub fn new(options: &Options) -> Self {
        let options = Options {
            view: View::Diff,
            show_secrets: false,
            show_sames: false,
            explain: true,
            ..options.clone()
        };
        let word = match options.action {
            Action::Update => "update",
            Action::Refresh => "refresh",
            Action::Destroy => "destroy",
            Action::Import => "import",
            Action::Analyze => "analyze",
        };
        Explanations {
            action: options.action,
            run: RunExplanation {
                operation: word.to_owned(),
                preview: options.preview,
                result: None,
                resources: IndexMap::new(),
                unchanged: Unchanged::default(),
            },
            view: DiffView::new(options),
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, event: &Event) {
        match event {
            Event::ResourcePre(step) if !step.internal => self.step(&step.metadata),
            // The result of a refresh is known only at its end.
            Event::ResourceOutputs(step) if !step.internal => {
                let known = self.run.resources.get(step.metadata.urn.as_str());
                if known.is_some_and(|known| known.op == StepOp::Refresh.as_str()) {
                    self.run.resources.shift_remove(step.metadata.urn.as_str());
                    self.step(&step.metadata);
                }
            }
            Event::Diagnostic(diagnostic) if diagnostic.severity == Severity::Error => {
                let urn = diagnostic.urn.as_ref().map(Urn::as_str);
                if let Some(known) = urn.and_then(|urn| self.run.resources.get_mut(urn)) {
                    let message = strip_color(diagnostic.message.trim()).into_owned();
                    known.errors.push(message);
                }
            }
            Event::Summary(summary) => {
                self.run.result = Some(
                    match summary.result {
                        OperationResult::Succeeded => "succeeded",
                        OperationResult::Failed => "failed",
                        OperationResult::Canceled => "canceled",
                    }
                    .to_owned(),
                );
            }
            _ => {}
        }
    }

    fn step(&mut self, metadata: &Metadata) {
        let urn = metadata.urn.as_str();
        if metadata.op == StepOp::Same {
            if !self.run.resources.contains_key(urn) {
                self.run.unchanged.push(urn);
            }
            return;
        }
        // Parts of a replacement are covered by the logical `replace` step, which has the most information.
        let is_part = metadata.op.is_replacement() && !metadata.logical;
        if is_part && self.run.resources.contains_key(urn) {
            return;
        }
        let has_two_sides = metadata.old.is_some() && metadata.new.is_some();
        let difference = if has_two_sides {
            self.view
                .difference(metadata, self.action == Action::Refresh)
        } else {
            String::new()
        };
        let op = if is_part {
            StepOp::Replace
        } else {
            metadata.op
        };
        let explanation = Explanation {
            op: op.as_str().to_owned(),
            because: causes(metadata, self.action),
            differs: self.differing(metadata),
            replaces: steps::replacing_paths(metadata),
            difference,
            errors: Vec::new(),
        };
        self.run.resources.insert(urn.into(), explanation);
    }

    /// Paths that differ; top-level properties if the provider has not reported any.
    fn differing(&self, metadata: &Metadata) -> Vec<EcoString> {
        let told = differing_paths(metadata);
        let (Some(old), Some(new), true) = (&metadata.old, &metadata.new, told.is_empty()) else {
            return told;
        };
        let (old, new) = match self.action {
            Action::Refresh => (&old.outputs, &new.outputs),
            _ => (&old.inputs, &new.inputs),
        };
        let filter = Filter::new(true);
        let difference = diff_objects(&visible(old, filter), &visible(new, filter));
        let changes = difference.0.iter();
        changes
            .filter(|(_, change)| !matches!(change, Change::Same(_)))
            .map(|(key, _)| key.as_str().into())
            .collect()
    }

    /// Explanations of the events so far.
    pub fn run(&self) -> &RunExplanation {
        &self.run
    }

    /// Explanations of all events.
    pub fn into_run(self) -> RunExplanation {
        self.run
    }

    /// Replacements and deletions of a preview with their reasons, for a confirmation; empty if there are none.
    pub fn destructive(&self, options: &Options) -> String {
        let told = |it: &Explanation| {
            let is_deletion = it.op == "delete" && self.action != Action::Destroy;
            it.op == "replace" || is_deletion
        };
        let resources = self.run.resources.iter();
        let goes: Vec<(&EcoString, &Explanation)> = resources.filter(|(_, it)| told(it)).collect();
        if goes.is_empty() {
            return String::new();
        }
        let mut out = format!("{}\n", paint(HEADLINE, "Replaced or deleted, and why:"));
        let groups = grouped(&goes, options);
        for group in groups.iter().take(MOST_NAMED) {
            out.push_str(&destructive_line(group, options.link.as_deref()));
        }
        let left = groups.iter().skip(MOST_NAMED).map(Vec::len).sum();
        if left > 0 {
            let _ = writeln!(out, "    … and {}", counted(left, "more resource"));
        }
        out.push('\n');
        colorize(&out, options.color).into_owned()
    }
}

/// A resource that goes away, by its URN.
type Going<'e> = (&'e EcoString, &'e Explanation);

/// The resources for each line. Where many of a type have the same reasons, people read one line for them.
fn grouped<'e>(goes: &[Going<'e>], options: &Options) -> Vec<Vec<Going<'e>>> {
    if !options.is_for_people() {
        return goes.iter().map(|it| vec![*it]).collect();
    }
    let mut groups: IndexMap<_, Vec<Going<'e>>> = IndexMap::new();
    for (urn, explanation) in goes {
        let type_text = Urn::parse(urn).map(|urn| short_type(urn.type_text()));
        let key = (explanation.op.clone(), type_text.ok(), &explanation.because);
        groups.entry(key).or_default().push((*urn, *explanation));
    }
    let lines = groups.into_values().flat_map(|group| {
        if group.len() >= FEWEST {
            vec![group]
        } else {
            group.into_iter().map(|it| vec![it]).collect()
        }
    });
    lines.collect()
}

fn destructive_line(group: &[Going<'_>], link: Option<&str>) -> String {
    let Some((urn, explanation)) = group.first() else {
        return String::new();
    };
    let op = StepOp::from_name(&explanation.op).unwrap_or(StepOp::Delete);
    let others = match group.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    format!(
        "    {} {}{others}: {}\n",
        paint(ops::color(op), ops::sign(op)),
        label(urn, link),
        explanation.because.join("; ")
    )
}

/// Type and name of a URN.
fn label(urn: &str, link: Option<&str>) -> String {
    Urn::parse(urn).map_or_else(
        |_| urn.to_owned(),
        |urn| {
            let name = linked(urn.name(), link);
            format!("{} {name}", short_type(urn.type_text()))
        },
    )
}

/// Counts by operation.
impl RunExplanation {
    /// Number of resources for each operation.
    pub fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for explanation in self.resources.values() {
            *counts.entry(explanation.op.as_str()).or_default() += 1;
        }
        counts
    }
}
