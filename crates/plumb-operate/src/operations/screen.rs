//! Subscribers of engine events: the display, the event log, JSON documents.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use plumb_display::{
    ChangeReport, Display, Explanations, Options, PreviewDigest, ResultSummary, RunExplanation,
    View, WatchLines,
};
use plumb_engine::Subscriber;
use plumb_engine::monitor::DebugMessages;
use plumb_events::json::{Encoding, EventLines};
use plumb_events::{ColorMode, Diagnostic, Event, Filter, Severity, StepEvent, Summary};
use plumb_stores::StoreWatch;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::advice::Advice;
use super::event_log::EventLog;
use super::keys::Keys;
use super::runs;
use crate::Printer;
use crate::output::{RESET, terminal_size};

/// Minimum time between two frames.
const FRAME: Duration = Duration::from_millis(60);
/// Limit for slow frames: drawing takes at most one part in this many of the time.
const SHARE: u32 = 10;

/// Output form of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text for people.
    Human,
    /// One line of JSON with the result on stdout; errors and warnings on stderr.
    ResultLine {
        /// Whether to list unchanged resources.
        show_sames: bool,
    },
    /// One line per notable event, for users who work on something else meanwhile.
    Watch,
    /// No output; the caller uses what was collected.
    Quiet,
    /// One line of JSON per engine event.
    EventLines,
    /// One document for a preview.
    Digest {
        /// Whether to list the single steps of a replacement.
        show_replacement_steps: bool,
    },
}

/// Output settings of one run.
pub(super) struct ScreenSetup {
    pub(super) printer: Arc<Printer>,
    pub(super) store: Arc<StoreWatch>,
    /// Whether to explain at the end why resources are deleted or replaced.
    pub(super) explains: bool,
    /// File in which to record the changes to each resource.
    pub(super) record: Option<PathBuf>,
    pub(super) options: Options,
    pub(super) form: Form,
    pub(super) event_log: Option<EventLog>,
    /// Whether to keep the events, for details on request.
    pub(super) keeps_events: bool,
    /// Whether to make a report.
    pub(super) reports: bool,
    pub(super) show_secrets: bool,
    /// Whether to print hints for errors.
    pub(super) advises: bool,
}

impl ScreenSetup {
    /// Whether the output shows downloads as events; otherwise they are printed separately.
    pub(super) fn has_downloads(&self) -> bool {
        let is_listed = self.form == Form::Human && self.options.view != View::Diff;
        is_listed || self.form == Form::EventLines || self.event_log.is_some()
    }

    /// Prints the banner of the operation, or an empty document, before an error that prevents its start.
    pub(super) fn announce(&self) {
        let banner = self.options.banner();
        match self.form {
            Form::Human => self.printer.data(&banner),
            Form::ResultLine { .. } => self.printer.stderr(&banner),
            Form::Digest { .. } => self.printer.line("{}"),
            Form::EventLines | Form::Watch | Form::Quiet => {}
        }
    }

    /// Whether the output uses debug messages.
    pub(super) fn debug_messages(&self) -> DebugMessages {
        if self.options.debug || self.event_log.is_some() || self.form == Form::EventLines {
            DebugMessages::Told
        } else {
            DebugMessages::Dropped
        }
    }
}

/// Data collected from the events of a run.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) summary: Option<Summary>,
    /// Whether a resource has secrets after its step, or will have secrets that are not known yet.
    pub(super) has_secrets: bool,
    pub(super) events: Vec<Event>,
    /// Report of what changed, if it is wanted.
    pub(super) report: Option<ChangeReport>,
    /// Changes to each resource, with their reasons.
    pub(super) run: Option<RunExplanation>,
    /// Event log, for the next run.
    pub(super) event_log: Option<EventLog>,
}

/// Starts the subscribers of a run. They end when the run drops its sender.
pub(super) fn start(setup: ScreenSetup) -> (Subscriber, JoinHandle<Seen>) {
    let (subscriber, events) = mpsc::unbounded_channel();
    (subscriber, tokio::spawn(Screen::new(setup).show(events)))
}

fn leaves_secrets(step: &StepEvent) -> bool {
    let new = step.metadata.new.as_ref();
    new.is_some_and(|state| state.has_secrets())
}

/// Whether an event is about a resource that the engine itself created. Such events count, but only
/// event logs show them.
fn is_internal(event: &Event) -> bool {
    match event {
        Event::ResourcePre(step) | Event::ResourceOutputs(step) => step.internal,
        Event::ResourceFailed(failed) => failed.internal,
        _ => false,
    }
}

struct Screen {
    printer: Arc<Printer>,
    store: Arc<StoreWatch>,
    options: Options,
    display: Option<Display>,
    view: View,
    shows_problems_only: bool,
    keys: Option<Keys>,
    next_frame: Instant,
    lines: Option<EventLines>,
    digest: Option<PreviewDigest>,
    result: Option<ResultSummary>,
    report: Option<ChangeReport>,
    explanations: Option<Explanations>,
    explains: bool,
    advice: Option<Advice>,
    record: Option<PathBuf>,
    keeps_events: bool,
    is_watch: bool,
    seen: Seen,
    began: Instant,
}

impl Screen {
    fn new(mut setup: ScreenSetup) -> Self {
        let form = setup.form;
        let is_result = matches!(form, Form::ResultLine { .. });
        if is_result {
            // The diff view writes problems to stderr as they occur; its other output is dropped.
            setup.options.view = View::Diff;
        }
        let is_human = matches!(form, Form::Human | Form::ResultLine { .. });
        let is_tree = is_human && setup.options.view == View::Tree;
        // Programs that parse the output get only text they expect.
        let explains = setup.explains && is_human && setup.options.explain;
        let filter = Filter::new(setup.show_secrets);
        Screen {
            view: setup.options.view,
            display: is_human.then(|| Display::new(setup.options.clone())),
            shows_problems_only: is_result,
            keys: is_tree.then(Keys::take).flatten(),
            next_frame: Instant::now(),
            lines: (form == Form::EventLines).then(|| {
                EventLines::new(Encoding {
                    filter,
                    keep_color: setup.options.color != ColorMode::Never,
                })
            }),
            digest: match form {
                Form::Digest {
                    show_replacement_steps,
                } => Some(PreviewDigest::new(
                    Box::new(super::state_json::resource_json),
                    show_replacement_steps,
                )),
                _ => None,
            },
            result: match form {
                Form::ResultLine { show_sames } => Some(ResultSummary::new(show_sames)),
                _ => None,
            },
            report: setup
                .reports
                .then(|| ChangeReport::new(setup.options.clone())),
            is_watch: setup.form == Form::Watch,
            explanations: (is_human || setup.record.is_some() || form == Form::Quiet)
                .then(|| Explanations::new(&setup.options)),
            explains,
            advice: (setup.advises && is_human).then(Advice::default),
            record: setup.record,
            keeps_events: setup.keeps_events,
            seen: Seen {
                event_log: setup.event_log,
                ..Seen::default()
            },
            began: Instant::now(),
            options: setup.options,
            printer: setup.printer,
            store: setup.store,
        }
    }

    async fn show(mut self, mut events: mpsc::UnboundedReceiver<Vec<(Timestamp, Event)>>) -> Seen {
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tick.reset();
        let mut frame = tokio::time::interval(FRAME);
        frame.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if let Some(display) = &self.display {
            let start = display.start();
            self.print(&start, "");
        }
        self.store
            .set_shown(self.display.is_some() && !self.shows_problems_only);
        loop {
            tokio::select! {
                batch = events.recv() => match batch {
                    Some(batch) => self.take(batch),
                    None => break,
                },
                _ = tick.tick(), if self.view != View::Tree => {
                    let now = self.began.elapsed();
                    let display = self.display.as_mut();
                    let output = display.map(|display| {
                        display.set_store_wait(self.store.waiting());
                        display.tick(now)
                    });
                    let output = output.unwrap_or_default();
                    self.print(&output.stdout, &output.stderr);
                }
                _ = frame.tick(), if self.view == View::Tree => self.paint(),
            }
        }
        self.store.set_shown(false);
        self.finish();
        std::mem::take(&mut self.seen)
    }

    fn take(&mut self, batch: Vec<(Timestamp, Event)>) {
        let now = self.began.elapsed();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        for (at, event) in batch {
            let event = self.named(event);
            let shown = self.dressed(&event);
            if let Some(log) = &mut self.seen.event_log {
                log.write(&event, at);
            }
            if self.is_watch {
                let lines = WatchLines::new(&self.options);
                stdout.push_str(&lines.event(&event, &super::watch::clock()));
            }
            if let Some(lines) = &mut self.lines {
                let line = lines.line(&shown, at.as_second());
                if !line.is_empty() && !is_internal(&event) {
                    stdout.extend([line.trim_end(), "\n"]);
                }
            }
            if let Some(digest) = &mut self.digest {
                digest.handle(&event);
            }
            if let Some(result) = &mut self.result {
                result.handle(&event);
            }
            if let Some(report) = &mut self.report {
                report.handle(&event);
            }
            if let Some(explanations) = &mut self.explanations {
                explanations.handle(&event);
            }
            if let Some(advice) = &mut self.advice {
                advice.handle(&event);
            }
            if self.display.is_some() {
                let display = self.display.as_mut();
                let output = display.map(|it| it.handle(&shown, now)).unwrap_or_default();
                if matches!(event, Event::Cancel) && self.view == View::Tree {
                    self.painter_finish(now);
                }
                stdout.push_str(&output.stdout);
                stderr.push_str(&output.stderr);
            }
            match &event {
                Event::Summary(summary) => self.seen.summary = Some(summary.clone()),
                Event::ResourcePre(step) | Event::ResourceOutputs(step) => {
                    let has_secrets =
                        self.seen.has_secrets || step.planning && leaves_secrets(step);
                    self.seen.has_secrets = has_secrets;
                }
                _ => {}
            }
            if self.keeps_events {
                self.seen.events.push(event);
            }
        }
        self.print(&stdout, &stderr);
    }

    /// Replaces `plumb` in our own errors and warnings by the name the program was started with.
    fn named(&self, event: Event) -> Event {
        match event {
            Event::Diagnostic(mut diagnostic)
                if matches!(diagnostic.severity, Severity::Error | Severity::Warning) =>
            {
                if let Cow::Owned(message) = self.printer.named(&diagnostic.message) {
                    diagnostic.message = message.into();
                }
                Event::Diagnostic(diagnostic)
            }
            other => other,
        }
    }

    /// Wraps a message in tags that end colours, if there are any, so that it does not take on those of the text before it.
    fn dressed<'e>(&self, event: &'e Event) -> Cow<'e, Event> {
        match event {
            Event::Diagnostic(diagnostic)
                if self.options.color != ColorMode::Never
                    && !diagnostic.message.starts_with(RESET) =>
            {
                let message = &diagnostic.message;
                let text = message.strip_suffix('\n').unwrap_or(message);
                Cow::Owned(Event::Diagnostic(Diagnostic {
                    message: format!("{RESET}{text}{RESET}\n").into(),
                    ..diagnostic.clone()
                }))
            }
            other => Cow::Borrowed(other),
        }
    }

    /// Paints the complete tree a last time, and leaves it on the screen.
    fn painter_finish(&mut self, now: Duration) {
        self.keys = None;
        let size = terminal_size();
        let lines = self
            .display
            .as_ref()
            .map(|display| display.last_frame(size.width, size.height, now))
            .unwrap_or_default();
        self.printer.paint(lines, size);
        self.printer.end_painting();
        self.view = View::Diff;
    }

    fn paint(&mut self) {
        let began = Instant::now();
        if began < self.next_frame {
            return;
        }
        let size = terminal_size();
        let height = size.height.saturating_sub(1);
        let pressed = self.keys.as_ref().map(|keys| keys.pressed(height / 2));
        let now = self.began.elapsed();
        let Some(display) = &mut self.display else {
            return;
        };
        for scroll in pressed.into_iter().flatten() {
            display.scroll(scroll, height);
        }
        display.set_store_wait(self.store.waiting());
        self.printer
            .paint(display.frame(size.width, height, now), size);
        self.next_frame = Instant::now() + began.elapsed() * SHARE;
    }

    fn print(&self, stdout: &str, stderr: &str) {
        if !stdout.is_empty() && !self.shows_problems_only {
            self.printer.data(stdout);
        }
        if !stderr.is_empty() {
            self.printer.stderr(stderr);
        }
    }

    fn finish(&mut self) {
        let now = self.began.elapsed();
        let output = self.display.as_mut().map(|display| display.finish(now));
        if self.view == View::Tree {
            self.painter_finish(now);
        }
        if let Some(output) = output {
            self.print(&output.stdout, &output.stderr);
        }
        self.explain();
        if let Some(advice) = &self.advice {
            advice.give(&self.printer);
        }
        self.seen.report = self.report.take();
        let mut document = String::new();
        if let Some(digest) = &self.digest {
            document = digest.to_json();
        }
        if let Some(result) = &self.result {
            document = result.to_line();
        }
        if !document.is_empty() {
            self.printer.line(document.trim_end());
        }
    }

    fn explain(&mut self) {
        let Some(explanations) = self.explanations.take() else {
            return;
        };
        if self.explains {
            let text = explanations.destructive(&self.options);
            if !text.is_empty() {
                self.printer.stderr(&text);
            }
        }
        if let Some(path) = &self.record {
            runs::write(path, explanations.run());
        }
        self.seen.run = Some(explanations.into_run());
    }
}

impl Drop for Screen {
    /// Restores the terminal, after a panic too.
    fn drop(&mut self) {
        self.printer.end_painting();
    }
}
