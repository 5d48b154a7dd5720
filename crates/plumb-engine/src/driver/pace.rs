//! Measurement of how far steps should begin ahead of their calls.
//!
//! A call waits until the intent of its step is durable. In a distant store that takes long, and calls would wait for it
//! although there is room for them. So steps begin ahead: by the time that a call ends, the intents of those that follow
//! are durable. How many, depends on the time of a commit compared with that of a call. More would be worse: after a
//! crash, nobody knows of an intent whether its call was made.

use std::time::{Duration, Instant};

use plumb_backend::Seq;
use plumb_deploy::CallId;
use plumb_resource::provider::ProviderCall;

/// Commits that take less are not worth beginning ahead.
const QUICK: Duration = Duration::from_millis(4);
/// Times of calls below this count as this.
const SHORT: Duration = Duration::from_millis(1);
/// Assumed time of a call before one was measured.
const UNKNOWN: Duration = Duration::from_millis(100);
/// Maximum of steps that begin ahead, for each call that there is room for.
const MOST: u32 = 3;
/// Times vary, and records wait for each other, so nine steps begin ahead where four would do on average.
const RESERVE: (u32, u32) = (9, 4);

/// Times of commits and calls. One of each is measured at a time.
pub(super) struct Pace {
    /// Maximum number of calls in flight.
    calls: u32,
    commit: Average,
    call: Average,
    committing: Option<(Seq, Instant)>,
    calling: Option<(CallId, Instant)>,
    /// Number of steps that begin ahead, as the core was told.
    ahead: u32,
}

/// Average of durations, in which the latest count most.
#[derive(Default)]
struct Average(Option<Duration>);

impl Average {
    fn add(&mut self, sample: Duration) {
        self.0 = Some(match self.0 {
            Some(average) => (average + sample) / 2,
            None => sample,
        });
    }
}

impl Pace {
    pub(super) fn new(calls: u32) -> Self {
        Pace {
            calls,
            commit: Average::default(),
            call: Average::default(),
            committing: None,
            calling: None,
            ahead: 0,
        }
    }

    /// Records that entries up to `seq` were handed to the journal.
    pub(super) fn submitted(&mut self, seq: Seq) {
        self.committing.get_or_insert_with(|| (seq, Instant::now()));
    }

    /// Records that entries up to `seq` are durable. Returns the number of steps that should begin ahead, if it has
    /// changed much.
    pub(super) fn durable(&mut self, seq: Seq) -> Option<u32> {
        let (_, began) = self.committing.take_if(|(awaited, _)| *awaited <= seq)?;
        self.commit.add(began.elapsed());
        let ahead = self.wanted();
        if ahead.abs_diff(self.ahead) <= self.ahead / 4 {
            return None;
        }
        self.ahead = ahead;
        Some(ahead)
    }

    /// Records the start of a call.
    pub(super) fn called(&mut self, call: CallId, request: &ProviderCall) {
        let is_of_step = matches!(
            request,
            ProviderCall::Create(_) | ProviderCall::Update(_) | ProviderCall::Delete(_)
        );
        if is_of_step {
            self.calling.get_or_insert_with(|| (call, Instant::now()));
        }
    }

    /// Records the end of a call.
    pub(super) fn answered(&mut self, call: CallId) {
        if let Some((_, began)) = self.calling.take_if(|(awaited, _)| *awaited == call) {
            self.call.add(began.elapsed());
        }
    }

    /// As many as fill the time of a commit with calls.
    fn wanted(&self) -> u32 {
        let Some(commit) = self.commit.0 else {
            return 0;
        };
        let call = self.call.0.unwrap_or(UNKNOWN);
        if self.calls < 2 || commit < QUICK {
            return 0;
        }
        let (begun, needed) = RESERVE;
        let commits = u128::from(self.calls) * u128::from(begun) * commit.as_micros();
        let wanted = commits.div_ceil(u128::from(needed) * call.max(SHORT).as_micros());
        let limit = self.calls.saturating_mul(MOST);
        u32::try_from(wanted).unwrap_or(limit).min(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(calls: u32, commit: u64, call: u64) -> Pace {
        let mut pace = Pace::new(calls);
        pace.commit.add(Duration::from_millis(commit));
        pace.call.add(Duration::from_millis(call));
        pace
    }

    #[test]
    fn as_many_steps_begin_ahead_as_calls_fit_into_a_commit() {
        for (calls, commit, call, wanted) in [
            (64, 40, 60, 96),
            (16, 40, 2_000, 1),
            (16, 3, 1, 0),
            (16, 160, 50, 48),
            (16, 160, 0, 48),
            (1, 160, 50, 0),
        ] {
            assert_eq!(
                with(calls, commit, call).wanted(),
                wanted,
                "{calls} {commit} {call}"
            );
        }
        assert_eq!(Pace::new(16).wanted(), 0);
    }

    #[test]
    fn only_a_change_of_more_than_a_quarter_is_told() {
        let mut pace = with(100, 100, 100);
        pace.ahead = 225;
        pace.submitted(Seq(3));
        assert_eq!(pace.durable(Seq(2)), None, "not durable yet");
        assert!(pace.committing.is_some());
        pace.commit.0 = Some(Duration::from_millis(120));
        pace.committing = Instant::now()
            .checked_sub(Duration::from_millis(120))
            .map(|began| (Seq(3), began));
        assert_eq!(pace.durable(Seq(4)), None);
        pace.submitted(Seq(5));
        pace.commit.0 = Some(Duration::from_millis(16));
        assert!(pace.durable(Seq(5)).is_some_and(|ahead| ahead < 120));
    }
}
