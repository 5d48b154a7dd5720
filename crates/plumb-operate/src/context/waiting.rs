//! Waiting for a stack that is locked.

use std::thread;
use std::time::{Duration, Instant};

use super::{Context, Stack};
use crate::Error;
use crate::identity::Code;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Context {
    /// Calls `take`, which locks `stack`, and returns its result. While another process holds the lock, calls it again at
    /// growing intervals, until the time of `--lock-timeout` has passed.
    pub fn when_unlocked<T>(
        &self,
        stack: &Stack,
        take: impl Fn() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let left = self.globals.lock_timeout.saturating_sub(started.elapsed());
            let locked = match take() {
                Err(error) if is_locked(&error) && !left.is_zero() => error,
                other => return other,
            };
            if pause == FIRST_PAUSE {
                self.tell_waiting(stack, &locked);
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn tell_waiting(&self, stack: &Stack, locked: &Error) {
        self.printer.warning(&format!(
            "waiting for up to {} s for stack '{}': {}",
            self.globals.lock_timeout.as_secs_f64(),
            stack.shown,
            locked.text().unwrap_or_default()
        ));
    }
}

fn is_locked(error: &Error) -> bool {
    error.identity().is_some_and(|it| it.code == Code::Locked)
}
