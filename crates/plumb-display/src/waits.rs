//! Current waits and their durations.
//!
//! A wait is reported after ten seconds, and then once a minute: a step; a call to a provider outside of a step (Check,
//! Diff, functions); and the program or a component, while nothing else is running. Finished waits are not stored.

use std::time::Duration;

use ecow::EcoString;
use indexmap::IndexMap;
use plumb_events::{Event, Metadata, Wait, WaitSubject};
use plumb_resource::{StepOp, Urn};

use crate::ops;
use crate::text::{go_duration, short_type};

/// Minimum duration of a reported wait.
pub(crate) const LONG: Duration = Duration::from_secs(10);
/// Interval between reports of the same wait.
const AGAIN: Duration = Duration::from_mins(1);
/// Maximum number of waits in a report.
pub(crate) const MOST: usize = 5;

/// Identity of a wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// Step of a resource.
    Step(Urn),
    /// Call to a provider.
    Call(u64),
}

/// A running step or call.
#[derive(Debug)]
struct Flight {
    label: EcoString,
    /// Word for the activity, such as `creating`.
    doing: &'static str,
    call: &'static str,
    /// Whether it waits for others: a component waits for its children.
    is_component: bool,
    since: Duration,
    said: Option<Duration>,
}

/// Tracks running steps and calls from events.
#[derive(Debug)]
pub(crate) struct Waits {
    preview: bool,
    flights: IndexMap<Key, Flight>,
    /// Time of the last event.
    last_news: Duration,
    said_idle: Option<Duration>,
    over: bool,
    /// Line about the store of the state, if the run waits for it.
    store: Option<String>,
    said_store: Option<Duration>,
}

impl Waits {
    pub(crate) fn new(preview: bool) -> Self {
        Waits {
            preview,
            flights: IndexMap::new(),
            last_news: Duration::ZERO,
            said_idle: None,
            over: false,
            store: None,
            said_store: None,
        }
    }

    pub(crate) fn set_store_wait(&mut self, line: Option<String>) {
        self.said_store = self.said_store.filter(|_| line.is_some());
        self.store = line;
    }

    pub(crate) fn handle(&mut self, event: &Event, now: Duration) {
        if let Event::Wait(wait) = event {
            // A repeated wait is not progress.
            return self.wait(wait, now);
        }
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

    fn wait(&mut self, wait: &Wait, now: Duration) {
        let key = Key::Call(wait.id);
        if wait.over {
            self.flights.swap_remove(&key);
            return;
        }
        if let WaitSubject::Resource(urn) = &wait.subject
            && let Some(step) = self.flights.get_mut(&Key::Step(urn.clone()))
        {
            step.call = wait.call;
            return;
        }
        let flight = Flight {
            label: label(&wait.subject),
            doing: doing(wait.call),
            call: wait.call,
            is_component: matches!(wait.subject, WaitSubject::Component { .. }),
            since: now.saturating_sub(wait.took),
            said: None,
        };
        self.flights.insert(key, flight);
    }

    fn begin(&mut self, metadata: &Metadata, now: Duration) {
        let is_custom = metadata.state().is_none_or(|state| state.is_custom());
        let Some(call) = call(metadata.op).filter(|_| is_custom) else {
            return;
        };
        let flight = Flight {
            label: label_of(&metadata.urn),
            doing: ops::progress_word(metadata.op, false),
            call,
            is_component: false,
            since: now,
            said: None,
        };
        self.flights.insert(Key::Step(metadata.urn.clone()), flight);
    }

    fn end(&mut self, metadata: &Metadata) {
        self.flights.swap_remove(&Key::Step(metadata.urn.clone()));
    }

    /// Lines to write now, usually none. Must be called about once per second.
    pub(crate) fn report(&mut self, now: Duration) -> Vec<String> {
        let is_due = |said: Option<Duration>| said.is_none_or(|said| now >= said + AGAIN);
        if let Some(store) = self.store.as_ref().filter(|_| is_due(self.said_store)) {
            self.said_store = Some(now);
            return vec![store.clone()];
        }
        if let Some(line) = self.idle_line(now).filter(|_| is_due(self.said_idle)) {
            self.said_idle = Some(now);
            return vec![line];
        }
        let mut due = Vec::new();
        for (at, flight) in self.flights.values().enumerate() {
            if flight.is_long(now) && is_due(flight.said) && !self.over {
                due.push(at);
            }
        }
        let mut lines: Vec<String> = Vec::new();
        for at in &due {
            self.flights[*at].said = Some(now);
            if lines.len() < MOST {
                lines.push(self.flights[*at].line(now, self.preview));
            }
        }
        if due.len() > MOST {
            lines.push(format!("waiting for {} other resources", due.len() - MOST));
        }
        lines
    }

    /// Current waits that have no row of their own, for a repainted frame.
    pub(crate) fn without_rows(&self, now: Duration) -> Vec<String> {
        let idle = self.idle_line(now);
        if let Some(line) = self.store.clone().or(idle) {
            return vec![line];
        }
        let flights = self.flights.iter().filter(|(key, flight)| {
            matches!(key, Key::Call(_)) && flight.is_long(now) && !self.over
        });
        flights
            .take(MOST)
            .map(|(_, flight)| flight.line(now, self.preview))
            .collect()
    }

    /// Call that the step of a resource waits for.
    pub(crate) fn call_of(&self, urn: &Urn) -> Option<&'static str> {
        let flight = self.flights.get(&Key::Step(urn.clone()));
        flight.map(|flight| flight.call)
    }

    /// Line about the program or component that the run waits for while no step is running. It does not wait for them
    /// while the store does not answer.
    fn idle_line(&self, now: Duration) -> Option<String> {
        let quiet = now.saturating_sub(self.last_news);
        let is_idle = self.flights.values().all(|flight| flight.is_component);
        if self.over || self.store.is_some() || !is_idle || quiet < LONG {
            return None;
        }
        let who = match self.flights.values().next_back() {
            Some(component) => format!("{} ({})", component.label, way(component.call)),
            None => "the program".to_owned(),
        };
        Some(format!(
            "waiting for {who}: no resource has been under way for {}",
            go_duration(quiet)
        ))
    }
}

impl Flight {
    fn is_long(&self, now: Duration) -> bool {
        !self.is_component && now.saturating_sub(self.since) >= LONG
    }

    fn line(&self, now: Duration, preview: bool) -> String {
        let kind = if preview { " of the preview" } else { "" };
        format!(
            "waiting for {}: {} for {} ({}{kind})",
            self.label,
            self.doing,
            go_duration(now.saturating_sub(self.since)),
            way(self.call)
        )
    }
}

/// Text for a call, such as `call Check to its provider`.
pub(crate) fn way(call: &str) -> String {
    if call == Wait::STARTING {
        "start of its provider".to_owned()
    } else {
        format!("call {call} to its provider")
    }
}

fn label(subject: &WaitSubject) -> EcoString {
    match subject {
        WaitSubject::Resource(urn) => label_of(urn),
        WaitSubject::Component { type_token, name } => {
            format!("{} {name}", short_type(type_token.as_str())).into()
        }
        WaitSubject::Function(token) => {
            format!("the function {}", short_type(token.as_str())).into()
        }
        WaitSubject::Provider => "a provider".into(),
    }
}

fn label_of(urn: &Urn) -> EcoString {
    format!("{} {}", short_type(urn.type_text()), urn.name()).into()
}

/// Word for the activity of a call outside of a step.
fn doing(call: &str) -> &'static str {
    match call {
        "Check" | "CheckConfig" => "checking",
        "Diff" | "DiffConfig" => "comparing",
        "Read" => "reading",
        "Create" => "creating",
        "Update" => "updating",
        "Delete" => "deleting",
        "Configure" => "configuring",
        Wait::STARTING => "starting",
        _ => "running",
    }
}

/// Provider call of a step; `None` for steps without one.
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
