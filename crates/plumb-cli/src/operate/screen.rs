//! What subscribes to engine events: the display, the event log, JSON documents.

use std::io::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use plumb_display::{Display, Options, Painter, PreviewDigest, ResultSummary, View};
use plumb_engine::Subscriber;
use plumb_engine::monitor::DebugMessages;
use plumb_events::json::{Encoding, EventLines};
use plumb_events::{Event, Filter, Summary};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::event_log::EventLog;

/// How the result of an operation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Human,
    /// For people, on stderr; one line of JSON about the result on stdout.
    ResultLine {
        /// Whether resources that did not change are listed.
        show_sames: bool,
    },
    /// One line for each event that people want to know of while they work on something else.
    Watch,
    /// Every engine event, one line of JSON each.
    EventLines,
    /// One document about a preview.
    Digest {
        /// Whether the parts of a replacement are listed each on its own.
        show_replacement_steps: bool,
    },
}

/// What is to be shown of one run.
pub(super) struct ScreenSetup {
    pub(super) options: Options,
    pub(super) form: Form,
    pub(super) event_log: Option<EventLog>,
    /// Whether to keep the events for later questions.
    pub(super) keeps_events: bool,
    pub(super) show_secrets: bool,
}

impl ScreenSetup {
    /// Whether anything is made of messages for developers.
    pub(super) fn debug_messages(&self) -> DebugMessages {
        if self.options.debug || self.event_log.is_some() || self.form == Form::EventLines {
            DebugMessages::Told
        } else {
            DebugMessages::Dropped
        }
    }
}

/// What was seen of a run.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) summary: Option<Summary>,
    pub(super) events: Vec<Event>,
    /// The event log, for the next run.
    pub(super) event_log: Option<EventLog>,
}

/// Starts the subscribers of a run. They end when the run drops its side.
pub(super) fn start(setup: ScreenSetup) -> (Subscriber, JoinHandle<Seen>) {
    let (subscriber, events) = mpsc::unbounded_channel();
    (subscriber, tokio::spawn(Screen::new(setup).show(events)))
}

struct Screen {
    display: Option<Display>,
    view: View,
    human_to_stderr: bool,
    painter: Painter,
    lines: Option<EventLines>,
    digest: Option<PreviewDigest>,
    result: Option<ResultSummary>,
    keeps_events: bool,
    is_watch: bool,
    seen: Seen,
    began: std::time::Instant,
}

impl Screen {
    fn new(setup: ScreenSetup) -> Self {
        let ScreenSetup {
            options,
            form,
            event_log,
            keeps_events,
            show_secrets,
        } = setup;
        let is_human = matches!(form, Form::Human | Form::ResultLine { .. });
        let filter = || Filter::new(show_secrets, []);
        Screen {
            view: options.view,
            display: is_human.then(|| Display::new(options)),
            human_to_stderr: matches!(form, Form::ResultLine { .. }),
            painter: Painter::new(),
            lines: (form == Form::EventLines).then(|| {
                EventLines::new(Encoding {
                    filter: filter(),
                    keep_color: false,
                })
            }),
            digest: match form {
                Form::Digest {
                    show_replacement_steps,
                } => Some(PreviewDigest::new(
                    Box::new(super::state_json::resource_json),
                    filter(),
                    show_replacement_steps,
                )),
                _ => None,
            },
            result: match form {
                Form::ResultLine { show_sames } => Some(ResultSummary::new(show_sames)),
                _ => None,
            },
            keeps_events,
            is_watch: form == Form::Watch,
            seen: Seen {
                event_log,
                ..Seen::default()
            },
            began: std::time::Instant::now(),
        }
    }

    async fn show(mut self, mut events: mpsc::UnboundedReceiver<Vec<(Timestamp, Event)>>) -> Seen {
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tick.reset();
        let mut frame = tokio::time::interval(Duration::from_millis(100));
        frame.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if let Some(display) = &self.display {
            let start = display.start();
            self.print(&start, "");
        }
        loop {
            tokio::select! {
                batch = events.recv() => match batch {
                    Some(batch) => self.take(batch),
                    None => break,
                },
                _ = tick.tick(), if self.view == View::Progress => {
                    let output = self.display.as_mut().map(Display::tick).unwrap_or_default();
                    self.print(&output.stdout, &output.stderr);
                }
                _ = frame.tick(), if self.view == View::Tree => self.paint(),
            }
        }
        self.finish();
        self.seen
    }

    fn take(&mut self, batch: Vec<(Timestamp, Event)>) {
        let now = self.began.elapsed();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        for (at, event) in batch {
            if let Some(log) = &mut self.seen.event_log {
                log.write(&event, at);
            }
            if self.is_watch {
                stdout.push_str(&super::watch::lines(&event));
            }
            if let Some(lines) = &mut self.lines {
                stdout.push_str(lines.line(&event, at.as_second()).trim_end());
                stdout.push('\n');
            }
            if let Some(digest) = &mut self.digest {
                digest.handle(&event);
            }
            if let Some(result) = &mut self.result {
                result.handle(&event);
            }
            if self.display.is_some() {
                let is_last = matches!(event, Event::Cancel);
                if is_last && self.view == View::Tree {
                    self.painter_finish(now);
                }
                let output = match &mut self.display {
                    Some(display) => display.handle(&event, now),
                    None => plumb_display::Output::default(),
                };
                stdout.push_str(&output.stdout);
                stderr.push_str(&output.stderr);
            }
            if let Event::Summary(summary) = &event {
                self.seen.summary = Some(summary.clone());
            }
            if self.keeps_events {
                self.seen.events.push(event);
            }
        }
        self.print(&stdout, &stderr);
    }

    /// Paints the whole tree a last time and leaves it there.
    fn painter_finish(&mut self, now: Duration) {
        let (width, _) = size();
        let lines = self
            .display
            .as_ref()
            .map(|display| display.full_frame(width, now))
            .unwrap_or_default();
        let mut out = std::io::stdout().lock();
        // A terminal that is gone shows nothing.
        let _ = self.painter.repaint(&mut out, &lines);
        self.painter.keep();
        self.view = View::Diff;
    }

    fn paint(&mut self) {
        let (width, height) = size();
        let now = self.began.elapsed();
        let lines = self
            .display
            .as_ref()
            .map(|display| display.frame(width, height.saturating_sub(1), now))
            .unwrap_or_default();
        let mut out = std::io::stdout().lock();
        let _ = self.painter.repaint(&mut out, &lines);
    }

    fn print(&mut self, stdout: &str, stderr: &str) {
        if self.view == View::Tree && !stdout.is_empty() {
            let _ = self.painter.clear(&mut std::io::stdout().lock());
        }
        let write = |stream: &mut dyn std::io::Write, text: &str| {
            // Nobody may be reading any more.
            if !text.is_empty() {
                let _ = stream
                    .write_all(text.as_bytes())
                    .and_then(|()| stream.flush());
            }
        };
        if self.human_to_stderr {
            write(&mut std::io::stderr().lock(), stdout);
        } else {
            write(&mut std::io::stdout().lock(), stdout);
        }
        write(&mut std::io::stderr().lock(), stderr);
    }

    fn finish(&mut self) {
        let now = self.began.elapsed();
        if let Some(output) = self.display.as_mut().map(|display| display.finish(now)) {
            self.print(&output.stdout, &output.stderr);
        }
        let mut document = String::new();
        if let Some(digest) = &self.digest {
            document = digest.to_json();
        }
        if let Some(result) = &self.result {
            document = result.to_line();
        }
        if !document.is_empty() {
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{}", document.trim_end()).and_then(|()| out.flush());
        }
    }
}

/// Columns and lines of the terminal.
fn size() -> (usize, usize) {
    terminal_size::terminal_size().map_or((80, 24), |(width, height)| {
        (usize::from(width.0), usize::from(height.0))
    })
}
