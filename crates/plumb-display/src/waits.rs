//! What is being waited for, and for how long.
//!
//! A step that takes long is named after ten seconds and then once a minute, and so is a program while which nothing else
//! goes on. Nothing is kept of steps that are done.

use std::time::Duration;

use ecow::EcoString;
use indexmap::IndexMap;
use plumb_events::{Event, Metadata};
use plumb_resource::{StepOp, Urn};

use crate::ops;
use crate::text::{go_duration, short_type};

/// How long a wait is before anything is said about it.
pub(crate) const LONG: Duration = Duration::from_secs(10);
/// How often it is said again.
const AGAIN: Duration = Duration::from_mins(1);
/// How many waits are named at a time.
const MOST: usize = 5;

/// A step under way.
#[derive(Debug)]
struct Flight {
    op: StepOp,
    label: EcoString,
    since: Duration,
    said: Option<Duration>,
}

/// Folds events to what is under way.
#[derive(Debug)]
pub(crate) struct Waits {
    preview: bool,
    flights: IndexMap<Urn, Flight>,
    /// When anything happened last.
    last_news: Duration,
    said_idle: Option<Duration>,
    over: bool,
}

impl Waits {
    pub(crate) fn new(preview: bool) -> Self {
        Waits {
            preview,
            flights: IndexMap::new(),
            last_news: Duration::ZERO,
            said_idle: None,
            over: false,
        }
    }

    pub(crate) fn handle(&mut self, event: &Event, now: Duration) {
        self.last_news = now;
        self.said_idle = None;
        match event {
            Event::ResourcePre(step) => self.begin(&step.metadata, now),
            Event::ResourceOutputs(step) => self.end(&step.metadata),
            Event::ResourceFailed(step) => self.end(&step.metadata),
            Event::Summary(_) | Event::Cancel => self.over = true,
            _ => {}
        }
    }

    fn begin(&mut self, metadata: &Metadata, now: Duration) {
        let is_custom = metadata.state().is_none_or(|state| state.is_custom());
        if !is_custom || call(metadata.op).is_none() {
            return;
        }
        let urn = &metadata.urn;
        let flight = Flight {
            op: metadata.op,
            label: format!("{} {}", short_type(urn.type_text()), urn.name()).into(),
            since: now,
            said: None,
        };
        self.flights.insert(urn.clone(), flight);
    }

    fn end(&mut self, metadata: &Metadata) {
        self.flights.swap_remove(&metadata.urn);
    }

    /// Lines to write now, mostly none; to be called about once a second.
    pub(crate) fn report(&mut self, now: Duration) -> Vec<String> {
        if self.over {
            return Vec::new();
        }
        let is_due = |said: Option<Duration>| said.is_none_or(|said| now >= said + AGAIN);
        if self.flights.is_empty() {
            let quiet = now.saturating_sub(self.last_news);
            if quiet < LONG || !is_due(self.said_idle) {
                return Vec::new();
            }
            self.said_idle = Some(now);
            return vec![format!(
                "waiting for the program: no resource has been under way for {}",
                go_duration(quiet)
            )];
        }
        let mut lines = Vec::new();
        let mut left_out = 0;
        for flight in self.flights.values_mut() {
            let took = now.saturating_sub(flight.since);
            if took < LONG || !is_due(flight.said) {
                continue;
            }
            flight.said = Some(now);
            if lines.len() == MOST {
                left_out += 1;
                continue;
            }
            let word = ops::progress_word(flight.op, false);
            let call = call(flight.op).unwrap_or_default();
            let kind = if self.preview { " of the preview" } else { "" };
            lines.push(format!(
                "waiting for {}: {word} for {} (call {call} to its provider{kind})",
                flight.label,
                go_duration(took)
            ));
        }
        if left_out > 0 {
            lines.push(format!("waiting for {left_out} other resources"));
        }
        lines
    }
}

/// The call that a step makes to its provider; none for steps that make none.
pub(crate) fn call(op: StepOp) -> Option<&'static str> {
    Some(match op {
        StepOp::Create | StepOp::CreateReplacement => "Create",
        StepOp::Update => "Update",
        StepOp::Delete | StepOp::DeleteReplaced => "Delete",
        StepOp::Read
        | StepOp::ReadReplacement
        | StepOp::Refresh
        | StepOp::Import
        | StepOp::ImportReplacement => "Read",
        StepOp::Same
        | StepOp::Replace
        | StepOp::Discard
        | StepOp::DiscardReplaced
        | StepOp::RemovePendingReplace => return None,
    })
}
