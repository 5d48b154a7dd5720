//! Downloads as events of a run, so that the display of the run includes them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ecow::eco_format;
use jiff::Timestamp;
use plumb_acquire::Progress;
use plumb_engine::Subscriber;
use plumb_events::{Event, ProgressKind};
use tokio::sync::mpsc::WeakUnboundedSender;

/// Minimum interval between progress events of a download.
const INTERVAL: Duration = Duration::from_millis(100);

type Listening = WeakUnboundedSender<Vec<(Timestamp, Event)>>;

/// Forwards downloads to the display of a run.
#[derive(Default)]
pub struct DownloadListener(Mutex<State>);

#[derive(Default)]
struct State {
    subscriber: Option<Listening>,
    running: HashMap<String, Download>,
}

/// Progress in the last event of a download.
struct Download {
    told: Option<Instant>,
    received: u64,
    total: u64,
    /// Whether the download is complete.
    is_complete: bool,
}

impl DownloadListener {
    /// Sends downloads to `subscriber` from now on, as long as it receives them.
    pub fn follow(&self, subscriber: &Subscriber) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.subscriber = Some(subscriber.downgrade());
    }

    /// Handles progress of `plugin`; returns false if there is no subscriber.
    pub(super) fn hear(&self, plugin: &str, progress: &Progress) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(subscriber) = state.subscriber.as_ref().and_then(Listening::upgrade) else {
            return false;
        };
        for event in state.events(plugin, progress) {
            // Fails only if the subscriber has gone.
            let _ = subscriber.send(vec![(Timestamp::now(), event)]);
        }
        true
    }
}

impl State {
    fn events(&mut self, plugin: &str, progress: &Progress) -> Vec<Event> {
        match progress {
            Progress::Started => {
                let download = Download {
                    told: None,
                    received: 0,
                    total: 0,
                    is_complete: false,
                };
                self.running.insert(plugin.to_owned(), download);
                Vec::new()
            }
            Progress::Bytes(received, total) => {
                let Some(download) = self.running.get_mut(plugin) else {
                    return Vec::new();
                };
                download.received = *received;
                download.total = total.unwrap_or_default();
                if download.told.is_some_and(|told| told.elapsed() < INTERVAL) {
                    return Vec::new();
                }
                download.told = Some(Instant::now());
                vec![download.event(plugin, ProgressKind::PluginDownload, false)]
            }
            Progress::Unpacking => {
                let Some(download) = self.running.get_mut(plugin) else {
                    return Vec::new();
                };
                download.is_complete = true;
                vec![
                    download.event(plugin, ProgressKind::PluginDownload, true),
                    download.event(plugin, ProgressKind::PluginInstall, false),
                ]
            }
            Progress::Done | Progress::Failed => {
                let ended = self.running.remove(plugin);
                ended.map_or_else(Vec::new, |download| vec![download.end(plugin)])
            }
        }
    }
}

impl Download {
    fn end(&self, plugin: &str) -> Event {
        let kind = if self.is_complete {
            ProgressKind::PluginInstall
        } else {
            ProgressKind::PluginDownload
        };
        self.event(plugin, kind, true)
    }

    fn event(&self, plugin: &str, kind: ProgressKind, done: bool) -> Event {
        let verb = match kind {
            ProgressKind::PluginInstall => "Installing",
            _ => "Downloading",
        };
        let received = match kind {
            ProgressKind::PluginInstall if !done => 0,
            _ => self.received,
        };
        Event::Progress(plumb_events::Progress {
            kind,
            id: eco_format!("{}:{plugin}", kind.as_str()),
            message: eco_format!("{verb} plugin {plugin}"),
            received,
            total: self.total,
            done,
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    fn told(events: &mut mpsc::UnboundedReceiver<Vec<(Timestamp, Event)>>) -> Vec<String> {
        let mut told = Vec::new();
        while let Ok(batch) = events.try_recv() {
            for (_, event) in batch {
                let Event::Progress(it) = event else {
                    panic!("{event:?} is no progress");
                };
                let (received, total) = (it.received, it.total);
                told.push(format!("{} {received}/{total} {}", it.id, it.done));
            }
        }
        told
    }

    #[test]
    fn a_download_is_told_from_its_first_byte_to_the_end_of_its_installation() {
        let (subscriber, mut events) = mpsc::unbounded_channel();
        let listener = DownloadListener::default();
        assert!(!listener.hear("aws-1.0.0", &Progress::Started));
        listener.follow(&subscriber);
        for progress in [
            Progress::Started,
            Progress::Bytes(10, Some(40)),
            // Too soon after the first.
            Progress::Bytes(20, Some(40)),
            Progress::Bytes(40, Some(40)),
            Progress::Unpacking,
            Progress::Done,
        ] {
            assert!(listener.hear("aws-1.0.0", &progress));
        }
        assert_eq!(
            told(&mut events),
            [
                "plugin-download:aws-1.0.0 10/40 false",
                "plugin-download:aws-1.0.0 40/40 true",
                "plugin-install:aws-1.0.0 0/40 false",
                "plugin-install:aws-1.0.0 40/40 true",
            ]
        );
        drop(subscriber);
        assert!(!listener.hear("aws-1.0.0", &Progress::Started));
    }

    #[test]
    fn a_download_that_fails_is_over() {
        let (subscriber, mut events) = mpsc::unbounded_channel();
        let listener = DownloadListener::default();
        listener.follow(&subscriber);
        for progress in [
            Progress::Started,
            Progress::Bytes(1, None),
            Progress::Failed,
        ] {
            listener.hear("aws-1.0.0", &progress);
        }
        assert_eq!(
            told(&mut events),
            [
                "plugin-download:aws-1.0.0 1/0 false",
                "plugin-download:aws-1.0.0 1/0 true"
            ]
        );
    }
}
