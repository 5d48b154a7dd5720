//! Signals that ask the process to stop: Ctrl-C, and on Unix the signal to terminate.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// Listener for stop signals. A signal that arrives before [`next`](Self::next) is called is not lost.
#[derive(Debug)]
pub struct StopSignals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(windows)]
    interrupt: CtrlC,
}

impl StopSignals {
    /// Starts to listen, on the current runtime.
    #[cfg(unix)]
    pub fn listen() -> io::Result<Self> {
        Ok(StopSignals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Starts to listen, on the current runtime.
    #[cfg(windows)]
    pub fn listen() -> io::Result<Self> {
        Ok(StopSignals {
            interrupt: ctrl_c()?,
        })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(windows)]
        self.interrupt.recv().await;
    }
}
