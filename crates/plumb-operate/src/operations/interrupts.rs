//! Handling of Ctrl-C: the first stops new steps, the second asks providers to stop, the third ends the
//! run. A request by `plumb cancel` counts as the first.

use std::io;
use std::sync::Arc;

use tokio::sync::watch;

use crate::Printer;
use crate::signals::StopSignals;

/// Counts interrupts until the end of the process, and prints the effect of each. `asked` becomes true when somebody asks for the
/// end of the update.
pub(super) fn listen(
    printer: Arc<Printer>,
    asked: Option<watch::Receiver<bool>>,
) -> io::Result<watch::Receiver<u32>> {
    let (sender, receiver) = watch::channel(0);
    let mut signals = StopSignals::listen()?;
    tokio::spawn(async move {
        let mut count = 0;
        let mut request = Box::pin(requested(asked));
        loop {
            let is_request = tokio::select! {
                () = signals.next() => false,
                () = &mut request, if count == 0 => true,
            };
            count += 1;
            let text = match count {
                1 if is_request => {
                    "`plumb cancel` asks this update to end; stopping: what runs will be finished. Press ^C to ask providers to stop."
                }
                1 => {
                    "^C received; stopping: what runs will be finished. Press ^C again to ask providers to stop."
                }
                2 => "^C received; asking providers to stop. Press ^C again to stop at once.",
                _ => "^C received; stopping at once.",
            };
            printer.info(text);
            printer.show_cursor_again();
            if sender.send(count).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

/// Returns when somebody asks for the end; never if nobody does.
async fn requested(asked: Option<watch::Receiver<bool>>) {
    if let Some(mut asked) = asked
        && asked.wait_for(|is_asked| *is_asked).await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}
