//! Display of downloads: a line per plugin, and on a terminal the total progress.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plumb_acquire::{Progress, Watcher};

use super::listener::DownloadListener;
use crate::Printer;
use crate::table::human_size;

/// Minimum interval between redraws of the line.
const INTERVAL: Duration = Duration::from_millis(100);

/// Running downloads, with received and total bytes.
#[derive(Default)]
struct Meter {
    running: BTreeMap<String, (u64, Option<u64>)>,
    drawn: Option<Instant>,
}

/// Watcher that shows downloads on standard error, unless the display of a run shows them.
pub(super) fn watcher(printer: Arc<Printer>, listener: Arc<DownloadListener>) -> Watcher {
    let draws = std::io::stderr().is_terminal();
    let meter: Mutex<Meter> = Mutex::default();
    Arc::new(move |kind, name, version, progress| {
        let plugin = format!("{name}-{version}");
        if listener.hear(&plugin, &progress) {
            return;
        }
        let mut meter = meter.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Progress::Started => {
                meter.clear();
                printer.info(&format!("[{kind} plugin {plugin}] installing"));
            }
            Progress::Bytes(done, total) if draws && !printer.is_painting() => {
                meter.running.insert(plugin, (done, total));
                meter.draw();
            }
            Progress::Bytes(..) | Progress::Unpacking => {}
            Progress::Done | Progress::Failed => {
                meter.running.remove(&plugin);
                meter.clear();
            }
        }
    })
}

impl Meter {
    fn draw(&mut self) {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < INTERVAL) {
            return;
        }
        self.drawn = Some(Instant::now());
        write(&format!("\r\x1b[2K{}", self.line()));
    }

    /// Erases the line, so that other text can be written.
    fn clear(&mut self) {
        if self.drawn.take().is_some() {
            write("\r\x1b[2K");
        }
    }

    fn line(&self) -> String {
        let done: u64 = self.running.values().map(|(done, _)| done).sum();
        let totals = self.running.values().map(|(_, total)| *total);
        let total: Option<u64> = totals.sum();
        let of = total.map_or_else(String::new, |total| format!(" of {}", human_size(total)));
        let names: Vec<&str> = self.running.keys().map(String::as_str).collect();
        format!("Downloading {}: {}{of}", names.join(", "), human_size(done))
    }
}

/// Writes to standard error; ignores errors, because the line is only informative.
fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_downloads_share_a_line() {
        let mut meter = Meter::default();
        meter
            .running
            .insert("aws-1.0.0".to_owned(), (1_000_000, Some(3_000_000)));
        assert_eq!(meter.line(), "Downloading aws-1.0.0: 1.0 MB of 3.0 MB");
        meter
            .running
            .insert("random-2.0.0".to_owned(), (500_000, None));
        assert_eq!(meter.line(), "Downloading aws-1.0.0, random-2.0.0: 1.5 MB");
    }
}
