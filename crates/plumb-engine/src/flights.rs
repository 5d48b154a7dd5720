//! Which calls to providers are under way, and which of them take long.
//!
//! The subscriber hears of a call when it has taken some seconds, and when it is over; of most calls it never hears.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use plumb_deploy::CallId;
use plumb_events::{Event, Wait, WaitSubject};
use plumb_resource::provider::ProviderCall;
use tokio::time::{Interval, MissedTickBehavior};

/// How long a call has taken when the subscriber hears of it: before people are told, so that they are told in time.
const LATE: Duration = Duration::from_secs(5);

/// How far a call has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<AtomicU8>);

impl Progress {
    const STARTING: u8 = 0;
    const CONFIGURING: u8 = 1;
    const CALLING: u8 = 2;

    /// The provider runs, and its configuration is sent.
    pub(crate) fn configuring(&self) {
        self.0.store(Self::CONFIGURING, Ordering::Relaxed);
    }

    /// The call itself is sent.
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

/// A call that is under way.
struct Flight {
    subject: WaitSubject,
    name: &'static str,
    progress: Progress,
    began: Instant,
    /// What the subscriber has heard that the call waits for.
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

/// The calls that are under way.
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

    /// A call begins, which tells by `progress` how far it has come.
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

    /// A call has ended; what there is to tell of that.
    pub(crate) fn end(&mut self, id: CallId) -> Option<Event> {
        let flight = self.by_call.remove(&id)?;
        flight.told.is_some().then(|| flight.event(id, true))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_call.is_empty()
    }

    /// Returns about once a second; to be asked for [`Flights::late`] then.
    pub(crate) async fn tick(&mut self) {
        self.ticks.tick().await;
    }

    /// What there is to tell of calls that take long.
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

/// What a call is about.
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
