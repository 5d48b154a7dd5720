//! Blocking calls over an async client.

use std::io;
use std::sync::mpsc;

use tokio::runtime::{Builder, Runtime};

use crate::error::OpenError;

/// A runtime with one thread, on which requests run. Callers may therefore block on any thread, also inside another
/// runtime.
#[derive(Debug)]
pub(crate) struct Worker(Option<Runtime>);

impl Worker {
    pub(crate) fn start() -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(1).thread_name("store");
        builder.enable_all().build().map(Some).map(Worker)
    }

    /// Runs a request to completion.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        request: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let runtime = self
            .0
            .as_ref()
            .expect("it is there until the worker is dropped");
        let (sender, receiver) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            let _ = sender.send(request.await);
        });
        receiver.recv().expect("requests do not panic")
    }
}

impl Drop for Worker {
    /// Does not wait for the runtime, because async threads must not block.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Error for a store whose thread cannot be started.
pub(crate) fn no_worker(url: &str) -> impl Fn(io::Error) -> OpenError {
    let url = url.to_owned();
    move |source| OpenError::Connect {
        url: url.clone(),
        source: Box::new(source),
    }
}
