//! Ending programs early, from two sides.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// Ends the programs that a host runs, all at once; those that start later are not concerned.
#[derive(Default)]
pub(crate) struct Stopping {
    /// Fires when running programs are to end; replaced then.
    current: Mutex<CancellationToken>,
}

impl Stopping {
    fn token(&self) -> CancellationToken {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.child_token()
    }

    /// Asks everything that runs to end.
    pub(crate) fn stop_all(&self) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *current).cancel();
    }

    /// Runs what `start` makes, with a token that fires when the caller's does and when everything is to end.
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
