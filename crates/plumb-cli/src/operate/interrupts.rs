//! Handling of Ctrl-C: the first stops new steps, the second asks providers to stop, the third ends the
//! run.

use std::io;
use std::sync::Arc;

use tokio::sync::watch;

use crate::Printer;
use crate::signals::StopSignals;

/// Counts interrupts until the end of the process, and prints the effect of each.
pub(super) fn listen(printer: Arc<Printer>) -> io::Result<watch::Receiver<u32>> {
    let (sender, receiver) = watch::channel(0);
    let mut signals = StopSignals::listen()?;
    tokio::spawn(async move {
        let mut count = 0;
        loop {
            signals.next().await;
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
    Ok(receiver)
}
