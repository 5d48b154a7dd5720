//! Blocking calls over an async client.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use crate::error::OpenError;
use crate::watch::StoreWatch;

/// Interval at which the watch of a store is called.
const TICK: Duration = Duration::from_secs(1);

/// A runtime with one thread, on which requests to a store run. Callers may therefore block on any thread, also inside
/// another runtime.
#[derive(Debug)]
pub(crate) struct Worker {
    runtime: Option<Runtime>,
    watch: Arc<StoreWatch>,
    /// Address of the store in notices.
    address: String,
}

impl Worker {
    pub(crate) fn start(address: &str, watch: &Arc<StoreWatch>) -> Result<Self, OpenError> {
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(1).thread_name("store");
        let runtime = builder.enable_all().build();
        let runtime = runtime.map_err(|source| OpenError::Connect {
            url: address.to_owned(),
            source: Box::new(source),
        })?;
        Ok(Worker {
            runtime: Some(runtime),
            watch: watch.clone(),
            address: address.trim_end_matches('/').to_owned(),
        })
    }

    /// Runs other work than a request to the store, such as the search for credentials.
    #[cfg(any(feature = "aws", feature = "google"))]
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        self.spawn(work).recv().expect("it does not panic")
    }

    /// Runs a request to the store. Errors for which `is_unanswered` is true are not answers of the store.
    pub(crate) fn request<T: Send + 'static, E: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T, E>> + Send + 'static,
        is_unanswered: impl FnOnce(&E) -> bool,
    ) -> Result<T, E> {
        self.watch.began(&self.address);
        let receiver = self.spawn(request);
        let result = loop {
            match receiver.recv_timeout(TICK) {
                Err(RecvTimeoutError::Timeout) => self.watch.tick(),
                result => break result.expect("requests do not panic"),
            }
        };
        if !result.as_ref().is_err_and(is_unanswered) {
            self.watch.answered();
        }
        result
    }

    /// Waits before a request is repeated.
    pub(crate) fn pause(&self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            thread::sleep(left.min(TICK));
            self.watch.tick();
        }
    }

    fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Receiver<T> {
        let runtime = self
            .runtime
            .as_ref()
            .expect("it is there until the worker is dropped");
        let (sender, receiver) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            let _ = sender.send(work.await);
        });
        receiver
    }
}

impl Drop for Worker {
    /// Does not wait for the runtime, because async threads must not block.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
