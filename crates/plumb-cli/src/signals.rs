//! Signals by which a process is asked to stop: Ctrl-C, and where there is one, the signal to terminate.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// Hears what comes from the moment it is made, even if nobody waits yet.
#[derive(Debug)]
pub(crate) struct StopSignals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(windows)]
    interrupt: CtrlC,
}

impl StopSignals {
    /// Listens from now on, on the runtime that this is called in.
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(StopSignals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Listens from now on, on the runtime that this is called in.
    #[cfg(windows)]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(StopSignals {
            interrupt: ctrl_c()?,
        })
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(windows)]
        self.interrupt.recv().await;
    }
}
