//! Cancellation of programs by their caller or by their host.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// Stops all running programs of a host at once; programs that start later are not affected.
#[derive(Default)]
pub(crate) struct Stopping {
    /// Cancelled to stop the running programs, and then replaced.
    current: Mutex<CancellationToken>,
}

impl Stopping {
    fn token(&self) -> CancellationToken {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.child_token()
    }

    /// Cancels all running programs.
    pub(crate) fn stop_all(&self) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *current).cancel();
    }

    /// Runs the future of `start` with a token that is cancelled by `caller` or by
    /// [`stop_all`](Stopping::stop_all).
    pub(crate) async fn run<F: Future>(
        &self,
        caller: CancellationToken,
        start: impl FnOnce(CancellationToken) -> F,
    ) -> F::Output {
        let either = self.token();
        let running = start(either.clone());
        let forward = async {
            caller.cancelled().await;
            either.cancel();
            std::future::pending().await
        };
        tokio::select! {
            outcome = running => outcome,
            outcome = forward => outcome,
        }
    }
}
