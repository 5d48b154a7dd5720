//! Reports of operations in files: a page of HTML (`--html`), and Markdown for comments and summaries (`--markdown`).
//!
//! 1. [`ChangeReport::handle`] collects the shown steps of each resource from events, in the rendering of the diff view ([`DiffView`]), so
//!    that values look as they do in the terminal, and secrets are masked by the same code.
//! 2. [`ChangeReport::to_html`] arranges resources below their parents and writes the page ([`html`]). Components without a change below
//!    them are left out. The page needs no network. Without its script it shows everything, with folds; the script adds the filter.
//! 3. [`ChangeReport::to_markdown`] writes a table of the changes and their details, up to a limit ([`markdown`]).
//! 4. [`Browser`] shows the changes on a terminal, to look around in them.

mod arrangement;
mod browser;
mod html;
mod markdown;
mod tags;

pub use browser::{Browser, BrowserKey};
pub use markdown::fenced;

use std::fmt::Write as _;

use ecow::EcoString;
use indexmap::IndexMap;
use plumb_events::{
    Diagnostic, Event, Metadata, OperationResult, Severity, StepEvent, Summary, strip_color,
};
use plumb_resource::{StepOp, Urn};

use crate::diff_view::DiffView;
use crate::options::{Options, View};
use crate::reasons::causes;
use crate::steps::{OUTPUTS, OutputView, is_shown, outputs_text};
use crate::text::short_type;
use crate::{policies, sections};

/// Maximum number of changes that are all unfolded at first.
const MOST_OPEN: usize = 30;

/// Builds a report from events.
#[derive(Debug)]
pub struct ChangeReport {
    options: Options,
    view: DiffView,
    /// Resources in the order of their first event.
    resources: IndexMap<Urn, Resource>,
    messages: Vec<Message>,
    /// Outputs of the stack, with colour tags.
    outputs: String,
    failed: usize,
    summary: Option<Summary>,
}

/// A resource with its shown steps; there are several if the parts of a replacement are shown.
#[derive(Debug)]
struct Resource {
    parent: Option<Urn>,
    refreshing: bool,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    op: StepOp,
    type_name: String,
    /// Id, URN, provider and differences, with colour tags.
    text: String,
    causes: Vec<String>,
    is_protected: bool,
}

#[derive(Debug)]
struct Message {
    class: &'static str,
    urn: Option<Urn>,
    text: String,
}

impl ChangeReport {
    /// A report without events.
    pub fn new(options: Options) -> Self {
        let options = Options {
            view: View::Diff,
            // A report has room for words and for the reasons.
            explain: true,
            link: None,
            ..options
        };
        ChangeReport {
            view: DiffView::new(options.clone()),
            options,
            resources: IndexMap::new(),
            messages: Vec::new(),
            outputs: String::new(),
            failed: 0,
            summary: None,
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, event: &Event) {
        match event {
            Event::ResourcePre(step) => self.begin(step),
            Event::ResourceOutputs(step) if !step.internal => self.end(step),
            Event::ResourceFailed(_) => self.failed += 1,
            Event::Diagnostic(diagnostic) => self.diagnose(diagnostic),
            Event::Stdout { message, .. } => self.message("info", None, message),
            Event::PolicyViolation(violation) => {
                let mut text = String::new();
                policies::write_with_pack(violation, &mut text);
                self.message("policy", violation.urn.clone(), &text);
            }
            Event::Error { error } => self.message("error", None, error),
            Event::Summary(summary) => self.summary = Some(summary.clone()),
            _ => {}
        }
    }

    fn begin(&mut self, step: &StepEvent) {
        let metadata = &step.metadata;
        let resource = self.resource(metadata);
        resource.refreshing = metadata.op == StepOp::Refresh;
        // The results of refreshes and imports are known at their end.
        let is_later = matches!(metadata.op, StepOp::Refresh | StepOp::Import);
        if !step.internal && !is_later && is_shown(metadata, &self.options) {
            self.add(metadata, step.planning, false);
        }
    }

    fn end(&mut self, step: &StepEvent) {
        let metadata = &step.metadata;
        let refreshed = self.resource(metadata).refreshing;
        if !is_shown(metadata, &self.options) && !metadata.urn.is_root_stack() {
            return;
        }
        if metadata.op == StepOp::Import || (refreshed && metadata.op == StepOp::Update) {
            self.add(metadata, step.planning, refreshed);
            return;
        }
        let view = OutputView {
            indent: 1,
            planning: step.planning,
            refreshed,
        };
        let outputs = outputs_text(metadata, &self.options, view);
        if self.options.suppress_outputs || outputs.is_empty() {
            return;
        }
        if metadata.urn.is_root_stack() {
            self.outputs = outputs;
        } else if let Some(step) = self.resource(metadata).steps.last_mut() {
            let _ = write!(step.text, "<{{%reset%}}>    {OUTPUTS}\n{outputs}");
        } else if metadata.op != StepOp::Refresh {
            self.add(metadata, step.planning, refreshed);
        }
    }

    fn resource(&mut self, metadata: &Metadata) -> &mut Resource {
        let parent = metadata.parent();
        self.resources
            .entry(metadata.urn.clone())
            .or_insert_with(|| Resource {
                parent: parent.cloned(),
                refreshing: false,
                steps: Vec::new(),
            })
    }

    fn add(&mut self, metadata: &Metadata, planning: bool, refreshed: bool) {
        let block = self.view.change(metadata, planning, refreshed);
        // The first line names type and operation, which the page shows elsewhere.
        let text = block
            .split_once('\n')
            .map_or("", |(_, rest)| rest)
            .to_owned();
        let step = Step {
            op: metadata.op,
            type_name: short_type(metadata.type_token.as_str()),
            text,
            causes: match metadata.op {
                StepOp::Same => Vec::new(),
                _ => causes(metadata, self.options.action),
            },
            is_protected: metadata.state().is_some_and(|state| state.protect),
        };
        self.resource(metadata).steps.push(step);
    }

    fn diagnose(&mut self, diagnostic: &Diagnostic) {
        let is_debug = diagnostic.severity == Severity::Debug;
        if diagnostic.ephemeral || (is_debug && !self.options.debug) {
            return;
        }
        let class = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            _ => "info",
        };
        let text = self.options.text_of(diagnostic);
        self.message(class, diagnostic.urn.clone(), &text);
    }

    /// Adds a message. Messages that a program writes piece by piece become one.
    fn message(&mut self, class: &'static str, urn: Option<Urn>, text: &str) {
        let text = strip_color(text);
        match self.messages.last_mut() {
            Some(last) if last.class == class && last.urn == urn && class == "info" => {
                last.text.push_str(&text);
            }
            _ => self.messages.push(Message {
                class,
                urn,
                text: text.into_owned(),
            }),
        }
    }

    /// Number of shown steps.
    fn count(&self) -> usize {
        let steps = self.resources.values().map(|resource| resource.steps.len());
        steps.sum()
    }

    /// The report as a page of HTML.
    pub fn to_html(&self) -> String {
        html::page(self)
    }

    /// The report as Markdown of at most `most` bytes. Details come last and are left out first, from the end.
    pub fn to_markdown(&self, most: usize) -> String {
        markdown::report(self, most)
    }

    /// Why the report is not complete, if the operation did not reach its end.
    fn incompleteness(&self) -> Option<String> {
        let end = match self.summary.as_ref().map(|summary| summary.result) {
            Some(OperationResult::Succeeded) => return None,
            Some(OperationResult::Failed) => "failed",
            Some(OperationResult::Canceled) | None => "was stopped",
        };
        let (noun, shown) = if self.options.preview {
            ("preview", "found")
        } else {
            (self.options.action.noun(), "done")
        };
        Some(format!(
            "The {noun} {end}. This shows what was {shown} until then."
        ))
    }

    fn title(&self) -> String {
        let project: &EcoString = &self.options.project;
        format!(
            "{} ({project}/{})",
            self.options.title(),
            self.options.stack
        )
    }

    /// Counts of changes, with colour tags.
    fn counts(&self) -> String {
        let summary = self.summary.as_ref();
        summary
            .map(|summary| sections::resources(summary, self.failed))
            .unwrap_or_default()
    }
}
