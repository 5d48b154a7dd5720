//! Ctrl-C, counted: the first stops new steps, the second asks providers to stop, the third ends the run.

use std::sync::Arc;

use tokio::sync::watch;

use crate::Printer;

/// Counts interrupts for as long as the process lives; says what each of them does.
pub(super) fn listen(printer: Arc<Printer>) -> watch::Receiver<u32> {
    let (sender, receiver) = watch::channel(0);
    tokio::spawn(async move {
        let mut count = 0;
        while signal().await {
            count += 1;
            let text = match count {
                1 => {
                    "^C received; stopping: what runs will be finished. Press ^C again to ask providers to stop."
                }
                2 => "^C received; asking providers to stop. Press ^C again to stop at once.",
                _ => "^C received; stopping at once.",
            };
            printer.info(text);
            if sender.send(count).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(unix)]
async fn signal() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return tokio::signal::ctrl_c().await.is_ok();
    };
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.is_ok(),
        terminated = terminate.recv() => terminated.is_some(),
    }
}

#[cfg(not(unix))]
async fn signal() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}
