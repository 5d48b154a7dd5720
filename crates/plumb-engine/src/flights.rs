//! Calls to providers in flight, and the detection of those that take long.
//!
//! The subscriber gets an event when a call has taken some seconds, and another when it has ended. Short calls cause no
//! events.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use plumb_deploy::CallId;
use plumb_events::{Event, Wait, WaitSubject};
use plumb_resource::provider::ProviderCall;
use tokio::time::{Interval, MissedTickBehavior};

/// Age of a call at its first event. Shorter than the age at which displays mention it, so that they are not late.
const LATE: Duration = Duration::from_secs(5);

/// Progress of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<AtomicU8>);

impl Progress {
    const STARTING: u8 = 0;
    const CONFIGURING: u8 = 1;
    const CALLING: u8 = 2;

    /// The provider is running, and its configuration is being sent.
    pub(crate) fn configuring(&self) {
        self.0.store(Self::CONFIGURING, Ordering::Relaxed);
    }

    /// The call itself is being sent.
    pub(crate) fn calling(&self) {
        self.0.store(Self::CALLING, Ordering::Relaxed);
    }

    fn call(&self, name: &'static str) -> &'static str {
        match self.0.load(Ordering::Relaxed) {
            Self::STARTING => Wait::STARTING,
            Self::CONFIGURING => "Configure",
            _ => name,
        }
    }
}

/// A call in flight.
struct Flight {
    subject: WaitSubject,
    name: &'static str,
    progress: Progress,
    began: Instant,
    /// Name of the call in the last event, if there was one.
    told: Option<&'static str>,
}

impl Flight {
    fn event(&self, id: CallId, over: bool) -> Event {
        Event::Wait(Wait {
            id: id.0,
            subject: self.subject.clone(),
            call: self.told.unwrap_or(self.name),
            took: self.began.elapsed(),
            over,
        })
    }
}

/// All calls in flight.
pub(crate) struct Flights {
    by_call: HashMap<CallId, Flight>,
    ticks: Interval,
}

impl Flights {
    pub(crate) fn new() -> Self {
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Flights {
            by_call: HashMap::new(),
            ticks,
        }
    }

    /// Records the start of a call; `progress` is updated by the call.
    pub(crate) fn begin(
        &mut self,
        id: CallId,
        subject: WaitSubject,
        name: &'static str,
        progress: Progress,
    ) {
        let flight = Flight {
            subject,
            name,
            progress,
            began: Instant::now(),
            told: None,
        };
        self.by_call.insert(id, flight);
    }

    /// Records the end of a call; returns its event, if the subscriber knows of the call.
    pub(crate) fn end(&mut self, id: CallId) -> Option<Event> {
        let flight = self.by_call.remove(&id)?;
        flight.told.is_some().then(|| flight.event(id, true))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_call.is_empty()
    }

    /// Returns about once a second; then [`Flights::late`] is due.
    pub(crate) async fn tick(&mut self) {
        self.ticks.tick().await;
    }

    /// Events for calls that have become late since the last tick, or have changed their progress.
    pub(crate) fn late(&mut self) -> Vec<Event> {
        let mut late = Vec::new();
        for (id, flight) in &mut self.by_call {
            let call = flight.progress.call(flight.name);
            if flight.began.elapsed() >= LATE && flight.told != Some(call) {
                flight.told = Some(call);
                late.push((*id, flight.event(*id, false)));
            }
        }
        late.sort_by_key(|(id, _)| *id);
        late.into_iter().map(|(_, event)| event).collect()
    }
}

/// Subject of a call in events.
pub(crate) fn subject(request: &ProviderCall) -> WaitSubject {
    match request {
        ProviderCall::Invoke(request) => WaitSubject::Function(request.token.clone()),
        ProviderCall::Call(request) => WaitSubject::Function(request.token.clone()),
        ProviderCall::Construct(request) => WaitSubject::Component {
            type_token: request.goal.type_token.clone(),
            name: request.goal.name.clone(),
        },
        other => other.urn().map_or(WaitSubject::Provider, |urn| {
            WaitSubject::Resource(urn.clone())
        }),
    }
}
