//! What is known of each resource while an operation goes on: one row each.

use std::collections::HashMap;
use std::time::Duration;

use plumb_events::{Diagnostic, Event, Metadata, Severity, strip_color};
use plumb_resource::{StepOp, Urn};

use crate::color::{BOLD, ERROR, paint};
use crate::options::{Action, Options};
use crate::steps::Side;
use crate::text::{counted, short_type};
use crate::{ops, steps};

/// One resource.
#[derive(Debug)]
pub(crate) struct Row {
    /// `None` for the row that stands for the stack before its resource is heard of.
    pub(crate) urn: Option<Urn>,
    type_name: String,
    name: String,
    pub(crate) parent: Option<Urn>,
    pub(crate) op: StepOp,
    /// Whether any step of the resource has begun.
    pub(crate) has_step: bool,
    /// Whether the object stays when the resource goes.
    is_retained: bool,
    /// Summary of the difference, kept while the parts of a replacement follow each other.
    difference: String,
    /// Whether the row counts only if there is something to say about it.
    hidden: bool,
    has_outputs: bool,
    pub(crate) failed: bool,
    pub(crate) started: Option<Duration>,
    stopped: Option<Duration>,
    errors: usize,
    warnings: usize,
    infos: usize,
    debugs: usize,
    last: Option<Message>,
    worst: Option<Message>,
    /// Messages to repeat at the end, by stream.
    pub(crate) streams: Vec<(i32, String)>,
}

#[derive(Clone, Debug)]
struct Message {
    severity: Severity,
    text: String,
}

impl Row {
    /// Whether the row is the root stack's, or stands in for it.
    pub(crate) fn is_root(&self) -> bool {
        self.urn.as_ref().is_none_or(Urn::is_root_stack)
    }

    /// Whether the row has reported any error.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Type and name, as people see them.
    pub(crate) fn labels(&self) -> (&str, &str) {
        (&self.type_name, &self.name)
    }

    fn info(&self, all_done: bool, tree: bool) -> String {
        let mut parts = Vec::new();
        if !self.difference.is_empty() {
            parts.push(self.difference.clone());
        }
        if all_done {
            let counts = [
                (self.errors, "error", ERROR),
                (self.warnings, "warning", crate::color::WARNING),
                (self.infos, "message", ""),
                (self.debugs, "debug", ""),
            ];
            let counts = counts.into_iter().filter(|(count, _, _)| *count > 0);
            parts.extend(counts.map(|(count, noun, style)| paint(style, counted(count, noun))));
        } else if let Some(message) = if tree { &self.worst } else { &self.last } {
            parts.push(message.text.trim_end().to_owned());
        }
        let text = parts.join("; ");
        text.lines().next().unwrap_or_default().to_owned()
    }

    /// Whether there is more to say about the row than what its step does.
    pub(crate) fn has_info(&self) -> bool {
        self.last.is_some() || self.failed
    }

    fn add(&mut self, diagnostic: &Diagnostic) {
        let text = format!("{}{}", diagnostic.prefix, diagnostic.message);
        let message = Message {
            severity: diagnostic.severity,
            text: text.clone(),
        };
        if !strip_color(&diagnostic.message).trim().is_empty() {
            if self
                .worst
                .as_ref()
                .is_none_or(|worst| worst.severity <= message.severity)
            {
                self.worst = Some(message.clone());
            }
            self.last = Some(message);
        }
        if diagnostic.ephemeral {
            return;
        }
        match diagnostic.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info | Severity::InfoErr => self.infos += 1,
            Severity::Debug => self.debugs += 1,
        }
        match self
            .streams
            .iter_mut()
            .find(|(stream, _)| *stream == diagnostic.stream_id)
        {
            Some((_, texts)) => texts.push_str(&text),
            None => self.streams.push((diagnostic.stream_id, text)),
        }
    }
}

/// What an event did to the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    /// Nothing that anybody should see.
    Nothing,
    /// The row with this index.
    Row(usize),
}

/// All rows, in the order in which they were first heard of.
#[derive(Debug)]
pub(crate) struct Rows {
    options: Options,
    pub(crate) list: Vec<Row>,
    by_urn: HashMap<Urn, usize>,
    /// The row for whatever is not about a resource.
    stack_row: Option<usize>,
    pub(crate) done: bool,
    /// Whether the operation was stopped or failed before everything was done.
    pub(crate) interrupted: bool,
    pub(crate) stack_outputs: Option<Metadata>,
}

impl Rows {
    pub(crate) fn new(options: Options) -> Self {
        Rows {
            options,
            list: Vec::new(),
            by_urn: HashMap::new(),
            stack_row: None,
            done: false,
            interrupted: false,
            stack_outputs: None,
        }
    }

    /// Takes an event in.
    pub(crate) fn handle(&mut self, event: &Event, now: Duration) -> Touched {
        match event {
            Event::ResourcePre(step) if !step.internal => self.begin(&step.metadata, now),
            Event::ResourceOutputs(step) if !step.internal => self.end(&step.metadata, now),
            Event::ResourceFailed(step) if !step.internal => self.fail(&step.metadata, now),
            Event::Diagnostic(diagnostic) => self.diagnose(diagnostic),
            Event::PolicyViolation(violation) => {
                self.ensure_stack_row();
                violation
                    .urn
                    .as_ref()
                    .and_then(|urn| self.by_urn.get(urn).copied())
                    .map_or(Touched::Nothing, Touched::Row)
            }
            _ => Touched::Nothing,
        }
    }

    fn begin(&mut self, metadata: &Metadata, now: Duration) -> Touched {
        self.ensure_stack_row();
        if ops::is_read(metadata.op) && !self.options.show_reads {
            return Touched::Nothing;
        }
        let idx = self.row_for(metadata);
        self.set_step(idx, metadata, false);
        let row = &mut self.list[idx];
        row.has_outputs = false;
        row.started = Some(now);
        row.stopped = None;
        self.touched_if_visible(idx)
    }

    fn end(&mut self, metadata: &Metadata, now: Duration) -> Touched {
        self.ensure_stack_row();
        if metadata.urn.is_root_stack() && metadata.op != StepOp::Delete {
            self.stack_outputs = Some(metadata.clone());
        }
        if ops::is_read(metadata.op) && !self.options.show_reads {
            return Touched::Nothing;
        }
        let idx = self.row_for(metadata);
        let was_refresh = self.list[idx].op == StepOp::Refresh;
        self.set_step(idx, metadata, was_refresh);
        let row = &mut self.list[idx];
        row.has_outputs = true;
        row.stopped = Some(now);
        let is_custom = metadata.state().is_none_or(|state| state.is_custom());
        // Elsewhere the line would only repeat the one before it.
        let is_news =
            was_refresh || (!self.options.preview && is_custom && metadata.op != StepOp::Same);
        if is_news || self.is_tree() {
            self.touched_if_visible(idx)
        } else {
            Touched::Nothing
        }
    }

    fn fail(&mut self, metadata: &Metadata, now: Duration) -> Touched {
        self.ensure_stack_row();
        let idx = self.row_for(metadata);
        self.set_step(idx, metadata, false);
        let row = &mut self.list[idx];
        row.failed = true;
        row.stopped = Some(now);
        Touched::Row(idx)
    }

    fn diagnose(&mut self, diagnostic: &Diagnostic) -> Touched {
        if diagnostic.severity == Severity::Debug && !self.options.debug {
            return Touched::Nothing;
        }
        let stack_row = self.ensure_stack_row();
        let idx = match &diagnostic.urn {
            Some(urn) if self.has_own_row(urn) => self.row_for_urn(urn),
            _ => stack_row,
        };
        self.list[idx].add(diagnostic);
        if self.list[idx].last.is_some() {
            Touched::Row(idx)
        } else {
            Touched::Nothing
        }
    }

    /// The stack's own messages go to the row that stands in for it until its resource is heard of.
    fn has_own_row(&self, urn: &Urn) -> bool {
        !urn.is_root_stack() || self.by_urn.contains_key(urn)
    }

    fn is_tree(&self) -> bool {
        self.options.view == crate::View::Tree
    }

    fn touched_if_visible(&self, idx: usize) -> Touched {
        if self.is_visible(idx) {
            Touched::Row(idx)
        } else {
            Touched::Nothing
        }
    }

    /// Whether there is anything to say about the row.
    pub(crate) fn is_visible(&self, idx: usize) -> bool {
        let row = &self.list[idx];
        row.is_root() || !row.hidden || row.has_info()
    }

    fn set_step(&mut self, idx: usize, metadata: &Metadata, refreshed: bool) {
        let of_outputs = refreshed || self.options.action == Action::Refresh;
        let side = if of_outputs {
            Side::Outputs
        } else {
            Side::Inputs
        };
        let difference = steps::difference_summary(metadata, side);
        let hidden = !steps::is_shown(metadata, &self.options);
        let row = &mut self.list[idx];
        let follows_replacement = matches!(
            metadata.op,
            StepOp::DeleteReplaced | StepOp::DiscardReplaced
        );
        if !follows_replacement {
            row.difference = difference;
        }
        // Once a row was worth showing it stays, whatever its last step is.
        row.hidden = hidden && (!row.has_step || row.hidden);
        row.op = metadata.op;
        row.parent = metadata.parent().cloned().or_else(|| row.parent.take());
        row.has_step = true;
        row.is_retained = metadata.state().is_some_and(|state| state.retain_on_delete);
    }

    /// Index of the row for what is not about a resource.
    pub(crate) fn ensure_stack_row(&mut self) -> usize {
        if let Some(idx) = self.stack_row {
            return idx;
        }
        let name = format!("{}-{}", self.options.project, self.options.stack);
        let idx = self.push(None, plumb_resource::ROOT_STACK_TYPE.to_owned(), name);
        self.stack_row = Some(idx);
        idx
    }

    fn row_for(&mut self, metadata: &Metadata) -> usize {
        let urn = &metadata.urn;
        if let Some(idx) = self.by_urn.get(urn) {
            return *idx;
        }
        // The stack's resource takes over the row that stood in for it; its deletion comes last and gets its own.
        if urn.is_root_stack() && metadata.op != StepOp::Delete {
            let idx = self.ensure_stack_row();
            self.list[idx].urn = Some(urn.clone());
            urn.name().clone_into(&mut self.list[idx].name);
            self.by_urn.insert(urn.clone(), idx);
            return idx;
        }
        self.row_for_urn(urn)
    }

    fn row_for_urn(&mut self, urn: &Urn) -> usize {
        if let Some(idx) = self.by_urn.get(urn) {
            return *idx;
        }
        let idx = self.push(
            Some(urn.clone()),
            short_type(urn.type_text()),
            urn.name().to_owned(),
        );
        self.by_urn.insert(urn.clone(), idx);
        idx
    }

    fn push(&mut self, urn: Option<Urn>, type_name: String, name: String) -> usize {
        self.list.push(Row {
            hidden: urn.is_some(),
            urn,
            type_name,
            name,
            parent: None,
            op: StepOp::Same,
            has_step: false,
            is_retained: false,
            difference: String::new(),
            has_outputs: false,
            failed: false,
            started: None,
            stopped: None,
            errors: 0,
            warnings: 0,
            infos: 0,
            debugs: 0,
            last: None,
            worst: None,
            streams: Vec::new(),
        });
        self.list.len() - 1
    }

    /// Whether nothing more is expected of the row.
    pub(crate) fn is_done(&self, row: &Row) -> bool {
        row.failed || self.done || (!row.is_root() && row.has_outputs)
    }

    /// Rows that were still expected to change when everything ended.
    pub(crate) fn unfinished(&self) -> Vec<usize> {
        (0..self.list.len())
            .filter(|idx| self.is_visible(*idx) && !self.is_done(&self.list[*idx]))
            .collect()
    }

    /// Number of rows that reported errors.
    pub(crate) fn errored(&self) -> usize {
        self.list.iter().filter(|row| row.has_errors()).count()
    }

    /// The kind of step to show; in the tree, the parts of a replacement are shown as the whole.
    pub(crate) fn shown_op(&self, row: &Row) -> StepOp {
        if !self.is_tree() || self.options.show_replacement_steps {
            return row.op;
        }
        match row.op {
            StepOp::CreateReplacement | StepOp::DeleteReplaced | StepOp::DiscardReplaced => {
                StepOp::Replace
            }
            op => op,
        }
    }

    /// The sign column: blank, sign, in the colour of the step.
    pub(crate) fn sign_text(&self, row: &Row) -> String {
        let op = self.shown_op(row);
        let style = if self.is_done(row) {
            ops::color(op).to_owned()
        } else {
            format!("{BOLD}{}", ops::color(op))
        };
        format!(
            " {}",
            paint(if op == StepOp::Same { "" } else { &style }, ops::sign(op))
        )
    }

    /// The status column.
    pub(crate) fn status_text(&self, row: &Row, now: Duration) -> String {
        let op = self.shown_op(row);
        let (word, style) = if self.is_done(row) {
            if row.failed || row.has_errors() {
                return paint(ERROR, format!("**{}**", ops::failed_word(op)));
            }
            (self.done_text(row, op), ops::color(op).to_owned())
        } else {
            (
                self.running_text(row, op, now),
                format!("{BOLD}{}", ops::color(op)),
            )
        };
        paint(&style, word)
    }

    fn done_text(&self, row: &Row, op: StepOp) -> String {
        let retain = if row.is_retained && matches!(op, StepOp::Delete | StepOp::DeleteReplaced) {
            "[retain]"
        } else {
            ""
        };
        if self.interrupted && !row.has_outputs && row.has_step && !self.options.preview {
            let word = ops::progress_word(op, false);
            return if word.is_empty() {
                String::new()
            } else {
                format!("{word} (interrupted)")
            };
        }
        let word = ops::done_word(op, self.options.preview);
        let time = match (row.started, row.stopped) {
            (Some(started), Some(stopped)) if !self.options.preview && !word.is_empty() => {
                format!(" ({})", short_time(stopped.saturating_sub(started)))
            }
            _ => String::new(),
        };
        format!("{word}{time}{retain}")
    }

    fn running_text(&self, row: &Row, op: StepOp, now: Duration) -> String {
        if op == StepOp::Same {
            return if row.is_root() && row.has_step {
                "running".to_owned()
            } else {
                String::new()
            };
        }
        let word = ops::progress_word(op, self.options.preview);
        let until = row.stopped.unwrap_or(now);
        match row.started {
            Some(started) if !self.options.preview && !word.is_empty() => {
                format!("{word} ({}s)", until.saturating_sub(started).as_secs())
            }
            _ => word.to_owned(),
        }
    }

    /// The info column.
    pub(crate) fn info_text(&self, row: &Row) -> String {
        row.info(self.done, self.is_tree())
    }

    /// What to show.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Index of the row of `urn`.
    pub(crate) fn index_of(&self, urn: &Urn) -> Option<usize> {
        self.by_urn.get(urn).copied()
    }
}

/// `0.12s` below a second, otherwise whole seconds.
fn short_time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{:.2}s", time.as_secs_f64())
    } else {
        format!("{}s", time.as_secs())
    }
}
