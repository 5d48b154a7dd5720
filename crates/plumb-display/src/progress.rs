//! Plain progress: one line for each visible change of a row (`cli.md` 18.2).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use ecow::EcoString;
use indexmap::IndexSet;
use plumb_events::{Event, Progress, Severity};
use plumb_resource::StepOp;

use crate::options::Options;
use crate::rows::{Row, Rows, Touched};
use crate::sections;
use crate::text::lines;

/// Shortest step whose start has a line in the program's own output. That of a shorter one would only double the log.
const SAID_WHEN_STARTED: Duration = Duration::from_secs(1);

/// Builds progress lines from events.
#[derive(Debug)]
pub(crate) struct ProgressLines {
    pub(crate) rows: Rows,
    /// Whether text was written since the last tick.
    active: bool,
    /// Whether the cursor is after a progress indicator.
    waiting: bool,
    downloads: BTreeSet<EcoString>,
    /// Rows whose step has begun without a line.
    unsaid: IndexSet<usize>,
}

impl ProgressLines {
    pub(crate) fn new(options: Options) -> Self {
        ProgressLines {
            rows: Rows::new(options),
            active: false,
            waiting: false,
            downloads: BTreeSet::new(),
            unsaid: IndexSet::new(),
        }
    }

    pub(crate) fn handle(&mut self, event: &Event, now: Duration) -> String {
        let mut out = String::new();
        match event {
            Event::Prelude { config } => {
                out.push_str(&sections::configuration(config, self.rows.options()));
                out.push('\n');
            }
            Event::Stdout { message, .. } => out.push_str(message),
            Event::Progress(progress) => {
                self.rows.handle(event, now);
                self.download(progress, &mut out);
            }
            _ => {
                if let Touched::Row(idx) = self.rows.handle(event, now)
                    && !self.is_said_later(event, idx)
                {
                    self.say(idx, now, &mut out);
                }
            }
        }
        self.after_waiting(out)
    }

    /// Whether an event has no line of its own: errors stand at the end, and the start of a step has a line if the step
    /// takes long.
    fn is_said_later(&mut self, event: &Event, idx: usize) -> bool {
        let options = self.rows.options();
        if !options.has_own_name() {
            return false;
        }
        match event {
            Event::Diagnostic(it) => it.severity == Severity::Error && !it.ephemeral,
            // The parts of a replacement say what happens to it; in a preview, the whole does.
            Event::ResourcePre(step) | Event::ResourceOutputs(step)
                if !options.show_replacement_steps
                    && is_said_by_others(step.metadata.op, options.preview) =>
            {
                true
            }
            Event::ResourcePre(_) if !options.preview && self.rows.list[idx].is_custom => {
                self.unsaid.insert(idx);
                true
            }
            _ => false,
        }
    }

    fn say(&mut self, idx: usize, now: Duration, out: &mut String) {
        self.unsaid.swap_remove(&idx);
        let _ = writeln!(out, "{}", self.line(&self.rows.list[idx], now));
    }

    /// Lines for steps that have become long.
    fn starts(&mut self, now: Duration) -> String {
        let is_long = |idx: &usize| {
            let started = self.rows.list[*idx].started;
            started.is_some_and(|it| now.saturating_sub(it) >= SAID_WHEN_STARTED)
        };
        let due: Vec<usize> = self.unsaid.iter().copied().filter(is_long).collect();
        let mut out = String::new();
        for idx in due {
            self.say(idx, now, &mut out);
        }
        out
    }

    /// Text for a tick: starts of long steps, `waits`, or a progress indicator if nothing was written since the last tick. No dots in CI logs and
    /// for screen readers.
    pub(crate) fn tick(&mut self, waits: &[String], now: Duration) -> String {
        if self.rows.done {
            return String::new();
        }
        let mut news = self.starts(now);
        let options = self.rows.options();
        if !options.suppress_progress {
            news.push_str(&lines("    ", waits));
        }
        if !news.is_empty() {
            return self.after_waiting(news);
        }
        let has_no_dots = options.suppress_progress || options.ci.is_some() || options.read_aloud;
        if std::mem::take(&mut self.active) || has_no_dots {
            return String::new();
        }
        if std::mem::replace(&mut self.waiting, true) {
            return ".".to_owned();
        }
        let mark = if self.rows.options().emoji {
            "✨"
        } else {
            "@"
        };
        format!("{mark} {}....", self.rows.options().title().to_lowercase())
    }

    /// Lines for unfinished rows, after the end of the operation.
    pub(crate) fn finish(&mut self, now: Duration) -> String {
        let unfinished = self.rows.unfinished();
        self.rows.end_all();
        let mut out = String::new();
        for idx in unfinished {
            let _ = writeln!(out, "{}", self.line(&self.rows.list[idx], now));
        }
        self.after_waiting(out)
    }

    fn after_waiting(&mut self, out: String) -> String {
        if out.is_empty() {
            return out;
        }
        self.active = true;
        if std::mem::take(&mut self.waiting) {
            format!("\n{out}")
        } else {
            out
        }
    }

    fn line(&self, row: &Row, now: Duration) -> String {
        let sign = self.rows.sign_text(row);
        let (status, info) = (self.rows.status_text(row, now), self.rows.info_text(row));
        if self.rows.options().show_urns {
            format!("{sign} {} {status} {info}", self.rows.urn_of(row))
        } else {
            let (type_name, name) = row.labels();
            format!("{sign} {type_name} {name} {status} {info}")
        }
    }

    fn download(&mut self, progress: &Progress, out: &mut String) {
        if self.rows.options().suppress_progress {
            return;
        }
        if progress.done {
            self.downloads.remove(&progress.id);
            let _ = writeln!(out, "{}: done", progress.message);
        } else if self.downloads.insert(progress.id.clone()) {
            let _ = writeln!(out, "{}: starting", progress.message);
        }
    }
}

/// Whether a step of a replacement needs no line beside the others.
fn is_said_by_others(op: StepOp, preview: bool) -> bool {
    match op {
        StepOp::Replace => !preview,
        StepOp::CreateReplacement | StepOp::DeleteReplaced => preview,
        _ => false,
    }
}
