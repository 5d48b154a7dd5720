//! Notices for the user about a store that does not answer.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time without an answer before the first notice.
const LONG: Duration = Duration::from_secs(10);
/// Time between notices.
const AGAIN: Duration = Duration::from_mins(1);

type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// Knows since when a store has not answered, and says so to the user, or lets a display do that.
///
/// A request without an answer may be in flight, or have failed and be repeated soon. Every answer counts, also one that
/// refuses the request.
pub struct StoreWatch {
    tell: Tell,
    /// Whether a display shows [`StoreWatch::waiting`], so that there are no notices.
    is_shown: AtomicBool,
    wait: Mutex<Option<Wait>>,
}

/// Time without an answer.
struct Wait {
    address: String,
    /// Beginning of the first request since the last answer.
    since: Instant,
    /// Time of the last notice.
    said: Option<Instant>,
}

impl Wait {
    fn notice(&self, now: Instant) -> Option<String> {
        let quiet = now.saturating_duration_since(self.since);
        let Wait { address, .. } = self;
        (quiet >= LONG).then(|| {
            let seconds = quiet.as_secs();
            format!("waiting for the store {address}: no answer for {seconds} s")
        })
    }
}

impl StoreWatch {
    /// A watch that gives its notices to `tell`, on the thread that waits for the store.
    pub fn new(tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        StoreWatch {
            tell: Box::new(tell),
            is_shown: AtomicBool::new(false),
            wait: Mutex::new(None),
        }
    }

    /// A watch without notices.
    pub fn silent() -> Self {
        StoreWatch::new(|_| {})
    }

    /// Notice about the current wait, if it is long.
    pub fn waiting(&self) -> Option<String> {
        self.wait().as_ref()?.notice(Instant::now())
    }

    /// Says whether a display shows [`StoreWatch::waiting`] from now on.
    pub fn set_shown(&self, is_shown: bool) {
        self.is_shown.store(is_shown, Ordering::Relaxed);
    }

    /// A request to the store at this address begins.
    pub(crate) fn began(&self, address: &str) {
        self.wait().get_or_insert_with(|| Wait {
            address: address.to_owned(),
            since: Instant::now(),
            said: None,
        });
    }

    /// The store has answered a request.
    pub(crate) fn answered(&self) {
        let former = self.wait().take();
        if let Some(Wait {
            address,
            said: Some(_),
            ..
        }) = former
        {
            (self.tell)(&format!("the store {address} answers again"));
        }
    }

    /// Must be called about once a second while something waits for the store.
    pub(crate) fn tick(&self) {
        self.tick_at(Instant::now());
    }

    fn tick_at(&self, now: Instant) {
        let notice = match self.wait().as_mut() {
            Some(wait) if wait.said.is_none_or(|said| now >= said + AGAIN) => {
                let notice = wait.notice(now);
                let is_told = notice.is_some() && !self.is_shown.load(Ordering::Relaxed);
                wait.said = if is_told { Some(now) } else { wait.said };
                notice.filter(|_| is_told)
            }
            _ => None,
        };
        if let Some(notice) = notice {
            (self.tell)(&notice);
        }
    }

    fn wait(&self) -> MutexGuard<'_, Option<Wait>> {
        self.wait.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StoreWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreWatch").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A watch, and what it has told.
    fn heard() -> (StoreWatch, Arc<Mutex<Vec<String>>>) {
        let said = Arc::new(Mutex::new(Vec::new()));
        let all = said.clone();
        let watch = StoreWatch::new(move |text| all.lock().unwrap().push(text.to_owned()));
        (watch, said)
    }

    fn after(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[test]
    fn a_quiet_store_is_mentioned_after_ten_seconds_and_then_each_minute() {
        let (watch, said) = heard();
        watch.began("s3://states");
        (0..100).for_each(|second| watch.tick_at(after(second)));
        // A repeated request belongs to the same wait.
        watch.began("s3://states");
        watch.tick_at(after(131));
        watch.answered();
        watch.began("s3://states");
        watch.answered();
        let said = said.lock().unwrap();
        let waits = [10, 70, 131]
            .map(|seconds| format!("waiting for the store s3://states: no answer for {seconds} s"));
        assert_eq!(said[..3], waits);
        assert_eq!(said[3..], ["the store s3://states answers again"]);
    }

    #[test]
    fn a_display_shows_the_wait_instead() {
        let (watch, said) = heard();
        watch.set_shown(true);
        watch.began("s3://states");
        watch.tick_at(after(20));
        assert_eq!(watch.waiting(), None);
        watch.answered();
        assert_eq!(said.lock().unwrap().len(), 0);
    }
}
