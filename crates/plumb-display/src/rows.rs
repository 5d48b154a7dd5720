//! State of each resource during an operation, one row per resource.

use std::collections::HashMap;
use std::time::Duration;

use plumb_events::{Diagnostic, Event, Metadata, Severity, strip_color};
use plumb_resource::{StepOp, Urn};

use crate::color::{BOLD, ERROR, INFO, RESET, WARNING, paint};
use crate::diff_view::retained;
use crate::options::Options;
use crate::policies::is_mandatory;
use crate::steps::RowDifference;
use crate::text::short_type;
use crate::{ops, steps};

/// Row of a resource.
#[derive(Debug)]
pub(crate) struct Row {
    /// `None` for the placeholder of the stack, until its resource has an event.
    pub(crate) urn: Option<Urn>,
    type_name: String,
    name: String,
    pub(crate) parent: Option<Urn>,
    pub(crate) op: StepOp,
    /// Whether a step of the resource has begun.
    pub(crate) has_step: bool,
    /// `[retain]` if the object is kept when the resource is deleted from the state.
    retained: &'static str,
    /// Whether the resource is managed by a provider.
    pub(crate) is_custom: bool,
    /// Difference of the last step.
    difference: RowDifference,
    /// Difference that requires a replacement, for the parts of that replacement.
    replacement: Option<RowDifference>,
    /// Whether the row is hidden until it has a message.
    hidden: bool,
    /// Finished steps.
    ended: Vec<StepOp>,
    pub(crate) failed: bool,
    pub(crate) started: Option<Duration>,
    stopped: Option<Duration>,
    errors: usize,
    warnings: usize,
    infos: usize,
    debugs: usize,
    last: Option<Message>,
    worst: Option<Message>,
    /// Messages that are repeated at the end, by stream.
    pub(crate) streams: Vec<(i32, String)>,
}

#[derive(Clone, Debug)]
struct Message {
    severity: Severity,
    text: String,
}

impl Row {
    /// Whether the row is that of the root stack or its placeholder.
    pub(crate) fn is_root(&self) -> bool {
        self.urn.as_ref().is_none_or(Urn::is_root_stack)
    }

    /// Whether the row has errors.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Displayed type and name.
    pub(crate) fn labels(&self) -> (&str, &str) {
        (&self.type_name, &self.name)
    }

    /// Whether the last step has finished.
    fn has_outputs(&self) -> bool {
        self.ended.contains(&self.op)
    }

    /// Text of the difference; `values`: whether a short one has its values.
    fn difference(&self, values: bool) -> &str {
        let is_part = matches!(self.op, StepOp::CreateReplacement | StepOp::DeleteReplaced);
        let replacement = self.replacement.as_ref().filter(|_| is_part);
        let difference = replacement.unwrap_or(&self.difference);
        let short = difference.short.as_ref().filter(|_| values);
        short.unwrap_or(&difference.summary)
    }

    /// Text of the info column; `values`: whether a short difference has its values.
    fn info(&self, all_done: bool, tree: bool, values: bool) -> String {
        let difference = self.difference(values);
        let mut parts = Vec::new();
        if !difference.is_empty() {
            parts.push(difference.to_owned());
        }
        if all_done {
            let counts = [
                (self.errors, "error", ERROR),
                (self.warnings, "warning", crate::color::WARNING),
                (self.infos, "message", INFO),
                (self.debugs, "debug", RESET),
            ];
            let counts = counts.into_iter().filter(|(count, _, _)| *count > 0);
            parts.extend(counts.map(|(count, noun, style)| {
                let plural = if count == 1 { "" } else { "s" };
                format!("{count} {}", paint(style, format!("{noun}{plural}")))
            }));
        } else if let Some(message) = if tree { &self.worst } else { &self.last } {
            parts.push(message.text.trim_end().to_owned());
        }
        let text = parts.join("; ");
        text.lines().next().unwrap_or_default().to_owned()
    }

    /// Whether the row has a message or has failed.
    pub(crate) fn has_info(&self) -> bool {
        self.last.is_some() || self.failed
    }

    fn add(&mut self, diagnostic: &Diagnostic, text: String) {
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

/// Effect of an event on the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    /// No visible change.
    Nothing,
    /// Change of the row at this index.
    Row(usize),
}

/// All rows, in the order of their first event.
#[derive(Debug)]
pub(crate) struct Rows {
    options: Options,
    pub(crate) list: Vec<Row>,
    by_urn: HashMap<Urn, usize>,
    /// Row for events without a resource.
    stack_row: Option<usize>,
    /// URN of the root stack, if it had an event.
    stack_urn: Option<Urn>,
    pub(crate) done: bool,
    /// Whether a step has failed.
    failed: bool,
    /// Whether a mandatory policy is violated.
    is_violated: bool,
    /// Whether the run has failed because of errors that rows have, or of policies.
    run_failed: bool,
    pub(crate) stack_outputs: Option<Metadata>,
}

impl Rows {
    pub(crate) fn new(options: Options) -> Self {
        Rows {
            options,
            list: Vec::new(),
            by_urn: HashMap::new(),
            stack_row: None,
            stack_urn: None,
            done: false,
            failed: false,
            is_violated: false,
            run_failed: false,
            stack_outputs: None,
        }
    }

    /// Handles an event.
    pub(crate) fn handle(&mut self, event: &Event, now: Duration) -> Touched {
        match event {
            Event::ResourcePre(step) if !step.internal => self.begin(&step.metadata, now),
            Event::ResourceOutputs(step) if !step.internal => self.end(&step.metadata, now),
            Event::ResourceFailed(step) if !step.internal => self.fail(&step.metadata),
            Event::Diagnostic(diagnostic) => self.diagnose(diagnostic),
            Event::PolicyViolation(violation) => {
                self.is_violated |= is_mandatory(violation);
                let idx = self.row_of(violation.urn.as_ref());
                self.touched_if_visible(idx)
            }
            Event::PolicyRemediation(remediation) => {
                let idx = self.row_of(remediation.urn.as_ref());
                self.list[idx].hidden = false;
                self.touched_if_visible(idx)
            }
            Event::Progress(_) => {
                self.ensure_stack_row();
                Touched::Nothing
            }
            _ => Touched::Nothing,
        }
    }

    /// Handles a read if reads are not shown: as a message, or not at all.
    fn read_aside(&mut self, metadata: &Metadata) -> Option<Touched> {
        if self.options.show_reads {
            return None;
        }
        match metadata.op {
            StepOp::Discard | StepOp::ReadReplacement => Some(Touched::Nothing),
            StepOp::Read => {
                let (kind, name) = (short_type(metadata.urn.type_text()), metadata.urn.name());
                let diagnostic = Diagnostic {
                    ephemeral: true,
                    ..Diagnostic::new(Severity::Info, None, format!("read {kind} {name}"))
                };
                Some(self.diagnose(&diagnostic))
            }
            _ => None,
        }
    }

    fn begin(&mut self, metadata: &Metadata, now: Duration) -> Touched {
        if let Some(touched) = self.read_aside(metadata) {
            return touched;
        }
        let is_known_root = self.is_stack(&metadata.urn);
        let idx = self.row_for(metadata);
        let before = self.shown_op(&self.list[idx]);
        self.set_step(idx, metadata, is_known_root);
        // One row for a replacement has the time of all its parts.
        let goes_on = before == StepOp::Replace && self.shown_op(&self.list[idx]) == before;
        let row = &mut self.list[idx];
        row.started = row.started.filter(|_| goes_on).or(Some(now));
        row.stopped = None;
        self.touched_if_visible(idx)
    }

    fn end(&mut self, metadata: &Metadata, now: Duration) -> Touched {
        if let Some(touched) = self.read_aside(metadata) {
            return touched;
        }
        let is_known_root = self.is_stack(&metadata.urn);
        let idx = self.row_for(metadata);
        let was_refresh = self.list[idx].op == StepOp::Refresh && self.list[idx].has_step;
        self.set_step(idx, metadata, is_known_root);
        let row = &mut self.list[idx];
        row.ended.push(metadata.op);
        row.stopped = Some(now);
        if metadata.op == StepOp::Replace {
            row.replacement = Some(row.difference.clone());
        }
        // In other cases the line would repeat the previous one.
        let is_custom = metadata.state().is_none_or(|state| state.is_custom());
        let is_news =
            was_refresh || (!self.options.preview && is_custom && metadata.op != StepOp::Same);
        if is_news || self.is_tree() {
            self.touched_if_visible(idx)
        } else {
            Touched::Nothing
        }
    }

    fn fail(&mut self, metadata: &Metadata) -> Touched {
        self.failed = true;
        if let Some(touched) = self.read_aside(metadata) {
            return touched;
        }
        let idx = self.row_for(metadata);
        if !self.list[idx].has_step {
            self.set_step(idx, metadata, false);
        }
        self.list[idx].failed = true;
        self.touched_if_visible(idx)
    }

    fn diagnose(&mut self, diagnostic: &Diagnostic) -> Touched {
        let text = self.options.text_of(diagnostic);
        let is_hidden = diagnostic.severity == Severity::Debug && !self.options.debug;
        if is_hidden || text.trim_end().is_empty() {
            return Touched::Nothing;
        }
        if self.repeats_errors(diagnostic) {
            self.run_failed = true;
            return Touched::Nothing;
        }
        let idx = self.row_of(diagnostic.urn.as_ref());
        self.list[idx].hidden = false;
        self.list[idx].add(diagnostic, text);
        self.touched_if_visible(idx)
    }

    /// Whether a message says no more than that the run has failed, which errors of resources or policies have shown. The
    /// reference has such a message after each failure.
    fn repeats_errors(&self, diagnostic: &Diagnostic) -> bool {
        self.options.has_own_name()
            && says_only_that_it_failed(diagnostic)
            && (self.is_violated || self.errored() > 0)
    }

    /// Ends the operation: nothing is under way any more.
    pub(crate) fn end_all(&mut self) {
        self.done = true;
        if let Some(idx) = self.stack_row.filter(|_| self.run_failed) {
            self.list[idx].failed = true;
        }
    }

    /// Index of the row for a diagnostic of a resource or of the stack.
    fn row_of(&mut self, urn: Option<&Urn>) -> usize {
        match urn {
            Some(urn) => self.row_for_urn(urn),
            None => self.ensure_stack_row(),
        }
    }

    fn is_stack(&self, urn: &Urn) -> bool {
        self.stack_urn.as_ref() == Some(urn)
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

    /// Whether the row is shown.
    pub(crate) fn is_visible(&self, idx: usize) -> bool {
        let row = &self.list[idx];
        !row.hidden || (self.is_tree() && (row.is_root() || row.has_info()))
    }

    /// Sets the step of a row. `is_known_root`: whether the event is for the root stack, and not its first.
    fn set_step(&mut self, idx: usize, metadata: &Metadata, is_known_root: bool) {
        let shows_values = self.is_tree() && self.options.is_for_people();
        let difference = steps::row_difference(metadata, shows_values);
        let row = &mut self.list[idx];
        if steps::is_shown(metadata, &self.options) || is_known_root {
            row.hidden = false;
        }
        row.difference = difference;
        row.op = metadata.op;
        row.parent = metadata.parent().cloned().or_else(|| row.parent.take());
        row.has_step = true;
        row.retained = retained(metadata);
        row.is_custom = metadata.state().is_some_and(|state| state.is_custom());
        if self.is_stack(&metadata.urn) {
            self.stack_outputs = Some(metadata.clone());
        }
    }

    /// Index of the row for events without a resource.
    pub(crate) fn ensure_stack_row(&mut self) -> usize {
        if let Some(idx) = self.stack_row {
            return idx;
        }
        let name = format!("{}-{}", self.options.project, self.stack_name());
        let idx = self.push(None, plumb_resource::ROOT_STACK_TYPE.to_owned(), name);
        self.stack_row = Some(idx);
        idx
    }

    /// URN of a row; the row for events without a resource has that of the root stack, before its first event too.
    pub(crate) fn urn_of(&self, row: &Row) -> Urn {
        row.urn
            .clone()
            .unwrap_or_else(|| Urn::root_stack(self.stack_name(), &self.options.project))
    }

    /// Name of the stack, which may be shown with its organization and project before it.
    fn stack_name(&self) -> &str {
        self.options.stack.rsplit('/').next().unwrap_or_default()
    }

    fn row_for(&mut self, metadata: &Metadata) -> usize {
        let idx = self.row_for_urn(&metadata.urn);
        // The parent may have no event of its own yet, for example when its children are deleted first.
        if let Some(parent) = metadata.parent().filter(|parent| !self.is_stack(parent))
            && !self.by_urn.contains_key(parent)
        {
            self.push_parent(parent);
        }
        self.ensure_stack_row();
        idx
    }

    /// Adds the row of a parent without an event. A tree has one row for the root stack and for what is about no resource.
    fn push_parent(&mut self, parent: &Urn) {
        if self.is_tree() && parent.is_root_stack() {
            let idx = self.ensure_stack_row();
            self.list[idx].urn = Some(parent.clone());
            self.by_urn.insert(parent.clone(), idx);
        } else {
            self.push_resource(parent);
        }
    }

    fn row_for_urn(&mut self, urn: &Urn) -> usize {
        if let Some(idx) = self.by_urn.get(urn) {
            return *idx;
        }
        if !urn.is_root_stack() {
            let idx = self.push_resource(urn);
            self.ensure_stack_row();
            return idx;
        }
        // The placeholder becomes the row of the root stack.
        self.stack_urn = Some(urn.clone());
        let Some(idx) = self.stack_row else {
            let idx = self.push_resource(urn);
            self.stack_row = Some(idx);
            return idx;
        };
        self.list[idx].urn = Some(urn.clone());
        urn.name().clone_into(&mut self.list[idx].name);
        self.by_urn.insert(urn.clone(), idx);
        idx
    }

    fn push_resource(&mut self, urn: &Urn) -> usize {
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
            retained: "",
            is_custom: false,
            difference: RowDifference::default(),
            replacement: None,
            ended: Vec::new(),
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

    /// Whether no further changes of the row are expected.
    pub(crate) fn is_done(&self, row: &Row) -> bool {
        row.failed || self.done || (!row.is_root() && row.has_outputs())
    }

    /// Unfinished rows at the end of the operation, sorted by URN; the stack's placeholder comes last.
    pub(crate) fn unfinished(&self) -> Vec<usize> {
        let is_unfinished = |idx: &usize| self.is_visible(*idx) && !self.is_done(&self.list[*idx]);
        let mut rows: Vec<usize> = (0..self.list.len()).filter(is_unfinished).collect();
        rows.sort_by_key(|idx| {
            let urn = self.list[*idx].urn.as_ref();
            (urn.is_none(), urn.map(Urn::as_str))
        });
        rows
    }

    /// Number of rows with errors.
    pub(crate) fn errored(&self) -> usize {
        self.list.iter().filter(|row| row.has_errors()).count()
    }

    /// Displayed operation. The tree shows parts of a replacement as the whole, unless a step has failed.
    pub(crate) fn shown_op(&self, row: &Row) -> StepOp {
        if !self.is_tree() || self.options.show_replacement_steps || self.failed {
            return row.op;
        }
        match row.op {
            StepOp::CreateReplacement | StepOp::DeleteReplaced | StepOp::DiscardReplaced => {
                StepOp::Replace
            }
            op => op,
        }
    }

    /// Sign column: space and sign, in the colour of the operation.
    pub(crate) fn sign_text(&self, row: &Row) -> String {
        let op = self.shown_op(row);
        let bold = if self.is_done(row) { "" } else { BOLD };
        format!(" {bold}{}{}{RESET}", ops::line_color(op), ops::sign(op))
    }

    /// Status column.
    pub(crate) fn status_text(&self, row: &Row, now: Duration) -> String {
        self.status_with(row, Some(now), &time_text(&[row], self.shown_op(row)))
    }

    /// Status column of rows at these indices, which are finished and alike, as one.
    pub(crate) fn status_of_all(&self, alike: &[usize]) -> String {
        let list: Vec<&Row> = alike.iter().map(|idx| &self.list[*idx]).collect();
        let Some(first) = list.first() else {
            return String::new();
        };
        self.status_with(first, None, &time_text(&list, self.shown_op(first)))
    }

    /// Status column with `time` behind the word of a finished step. `now`: for the duration of a running one.
    pub(crate) fn status_with(&self, row: &Row, now: Option<Duration>, time: &str) -> String {
        let op = self.shown_op(row);
        let failed = row.failed || row.has_errors();
        let color = ops::line_color(op);
        let text = if !failed && self.is_interrupted(row) {
            format!(
                "{WARNING}{} (interrupted){RESET}",
                ops::progress_word(op, false)
            )
        } else if !self.is_done(row) {
            if op == StepOp::Same && row.urn.is_some() && row.is_root() {
                "running".to_owned()
            } else {
                format!("{BOLD}{color}{}{RESET}", self.running_text(row, op, now))
            }
        } else if self.options.preview {
            format!("{color}{}{RESET}", ops::done_word(op, true))
        } else if failed {
            format!("{ERROR}**{}{time}**{RESET}", ops::failed_word(op))
        } else {
            format!("{color}{}{time}{RESET}", ops::done_word(op, false))
        };
        format!("{text}{}", row.retained)
    }

    /// Whether the operation ended during the row's step. Not for components, which may end without an event.
    fn is_interrupted(&self, row: &Row) -> bool {
        let changes_nothing = matches!(row.op, StepOp::Same | StepOp::RemovePendingReplace);
        self.done && row.is_custom && !changes_nothing && !row.has_outputs()
    }

    fn running_text(&self, row: &Row, op: StepOp, now: Option<Duration>) -> String {
        let word = ops::progress_word(op, self.options.preview);
        match row.started.zip(now) {
            Some((started, now)) if !self.options.preview && op != StepOp::Same => {
                format!("{word} ({}s)", now.saturating_sub(started).as_secs())
            }
            _ => word.to_owned(),
        }
    }

    /// Info column.
    pub(crate) fn info_text(&self, row: &Row) -> String {
        // In a log, messages have had lines of their own.
        let is_end = !self.is_tree() && !self.done && self.is_done(row) && !row.failed;
        if is_end && self.options.has_own_name() {
            return row.difference(true).to_owned();
        }
        row.info(self.done, self.is_tree(), true)
    }

    /// Info column of rows that may differ in the values of a difference.
    pub(crate) fn info_without_values(&self, row: &Row) -> String {
        row.info(self.done, self.is_tree(), false)
    }

    /// Info column of rows at these indices, which are alike, as one.
    pub(crate) fn info_of_all(&self, alike: &[usize]) -> String {
        let mut texts = alike.iter().map(|idx| self.info_text(&self.list[*idx]));
        let first = texts.next().unwrap_or_default();
        if texts.all(|text| text == first) {
            return first;
        }
        let row = alike.first().map(|idx| &self.list[*idx]);
        row.map_or_else(String::new, |row| self.info_without_values(row))
    }

    /// Options of the display.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Index of the row for `urn`.
    pub(crate) fn index_of(&self, urn: &Urn) -> Option<usize> {
        self.by_urn.get(urn).copied()
    }
}

/// Whether a message is the one that follows each failure, and that has no cause.
pub(crate) fn says_only_that_it_failed(diagnostic: &Diagnostic) -> bool {
    let message = strip_color(&diagnostic.message);
    diagnostic.severity == Severity::Error
        && diagnostic.urn.is_none()
        && matches!(message.trim(), "update failed" | "preview failed")
}

/// Durations of finished steps, from the shortest to the longest, with a leading space.
fn time_text(rows: &[&Row], op: StepOp) -> String {
    let times = rows.iter().filter_map(|row| {
        let (started, stopped) = row.started.zip(row.stopped)?;
        Some(stopped.saturating_sub(started))
    });
    let Some((least, most)) = times.clone().min().zip(times.max()) else {
        return String::new();
    };
    let (least, most) = (short_time(least), short_time(most));
    match op {
        StepOp::Same => String::new(),
        _ if least == most => format!(" ({least})"),
        _ => format!(" ({least} to {most})"),
    }
}

/// Duration, such as `0.12s` below a second, otherwise in whole seconds.
fn short_time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{:.2}s", time.as_secs_f64())
    } else {
        format!("{}s", time.as_secs())
    }
}
