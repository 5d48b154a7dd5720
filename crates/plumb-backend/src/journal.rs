//! Writer of the journal of an update.
//!
//! One thread owns the log. Callers submit records and get their numbers immediately; the thread encodes all waiting
//! records and commits them together (**group commit**), so a slower store gets more records per commit. If commits
//! take long, it also [waits](Pace) for records that arrive at about the same time, such as the outcomes of calls that
//! began together: if the first were committed alone, the others would wait for two commits.
//!
//! After the first failure every waiter gets the error, and no further record becomes durable. Records submitted later,
//! such as results of provider calls in progress, are still kept: in the log if possible, otherwise in the
//! [recovery file](crate::rescue).
//!
//! If the store has files, a [`FileLog`] checks that the stack is still owned, appends the batch, syncs once, and
//! checks again: **a record counts as durable only if the stack was still owned after the sync**, because the next
//! owner reads the journal after taking the lease. Before it writes, it reserves room for the outcomes of the
//! operations that the records begin: **on a full disk, no operation begins whose outcome cannot be written.** Other
//! stores use a [`SegmentLog`](crate::segments::SegmentLog), which writes one object per commit. Both [pack](Packer)
//! the records of a commit.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plumb_state::journal::disk::Packer;
use tokio::sync::watch;

use crate::bucket::JournalFile;
use crate::error::{Fenced, JournalError};
use crate::rescue::{Rescue, Rescued};

/// Number of a record, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Seq(pub u64);

/// Number of the last durable record, or the error of the journal.
pub type Progress = Result<Seq, JournalError>;

/// Destination of records.
pub(crate) trait Log: Send {
    /// Begins the log before the first commit. The update does not wait for it.
    fn begin(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    /// Returns when the records are durable, and the stack was still owned after that.
    fn commit(&mut self, batch: &[u8]) -> Result<(), JournalError>;

    /// Keeps records after a failed commit; returns whether that succeeded.
    fn salvage(&mut self, batch: &[u8]) -> bool {
        let _ = batch;
        false
    }

    /// Ends the log after the last commit.
    fn end(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
}

/// Check before each commit that the stack is still owned.
pub(crate) type Guard = Box<dyn Fn() -> Result<(), Fenced> + Send>;

/// Open journal of an update. Shared by reference; dropping it closes the file.
pub struct JournalWriter {
    queue: Mutex<Queue>,
    progress: watch::Receiver<Progress>,
    rescue: Rescue,
    thread: Option<JoinHandle<()>>,
}

struct Queue {
    sender: Option<Sender<Records>>,
    last: Seq,
}

/// Records submitted together.
struct Records {
    first: Seq,
    last: Seq,
    encode: Encode,
}

/// Encoder of records; gets the number of the first.
type Encode = Box<dyn FnOnce(Seq) -> Vec<u8> + Send>;

/// Stack size for the deepest values that a state may hold. Only used pages take memory.
const STACK: usize = 64 << 20;

impl JournalWriter {
    /// Starts the thread, which begins the log.
    pub(crate) fn start(log: Box<dyn Log>, rescue: Rescue) -> Result<Self, JournalError> {
        let (sender, records) = mpsc::channel();
        let (report, progress) = watch::channel(Ok(Seq(0)));
        let kept = rescue.clone();
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .stack_size(STACK)
            .spawn(move || run(log, &records, &report, &kept))
            .map_err(cannot_write)?;
        let queue = Mutex::new(Queue {
            sender: Some(sender),
            last: Seq(0),
        });
        Ok(JournalWriter {
            queue,
            progress,
            rescue,
            thread: Some(thread),
        })
    }

    /// Submits a record. It is durable when [`JournalWriter::durable`] has reached the returned number.
    pub fn append(&self, bytes: Vec<u8>) -> Seq {
        self.append_all(1, move |_| bytes)
    }

    /// Submits `count` records at once and returns the number of the last. `encode` gets the number of the first, and
    /// runs on the thread of the journal.
    pub fn append_all(
        &self,
        count: usize,
        encode: impl FnOnce(Seq) -> Vec<u8> + Send + 'static,
    ) -> Seq {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let first = Seq(queue.last.0 + 1);
        queue.last = Seq(queue.last.0 + count as u64);
        if let Some(sender) = &queue.sender {
            // If the thread has ended, waiters see that in the progress.
            let _ = sender.send(Records {
                first,
                last: queue.last,
                encode: Box::new(encode),
            });
        }
        queue.last
    }

    /// Returns when the log has begun: the stack was owned after that. Cancel-safe.
    pub async fn begun(&self) -> Result<(), JournalError> {
        // The thread reports the beginning first, and this receiver has not seen any report.
        let mut progress = self.durable();
        progress.changed().await.map_err(|_| JournalError::Closed)?;
        progress.borrow().clone().map(drop)
    }

    /// Whether a record was submitted.
    pub fn has_records(&self) -> bool {
        self.queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .last
            > Seq(0)
    }

    /// Number of the last durable record, or the error of the journal.
    pub fn durable(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// Returns when record `seq` is durable. Cancel-safe.
    pub async fn wait(&self, seq: Seq) -> Result<(), JournalError> {
        let mut progress = self.durable();
        let reached = progress
            .wait_for(|progress| progress.as_ref().map_or(true, |durable| *durable >= seq))
            .await;
        match reached {
            Ok(progress) => progress.clone().map(|_| ()),
            Err(_) => Err(JournalError::Closed),
        }
    }

    /// Records that the log did not take after it failed.
    pub fn rescued(&self) -> Option<Rescued> {
        self.rescue.rescued()
    }

    /// Writes all waiting records, ends the thread, and returns the last number.
    pub fn close(mut self) -> Progress {
        self.finish()
    }

    fn finish(&mut self) -> Progress {
        self.queue
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            return Err(JournalError::Closed);
        }
        self.progress.borrow().clone()
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        if let Err(error) = self.finish() {
            tracing::warn!(%error, "the journal was not written to its end");
        }
    }
}

fn run(
    mut log: Box<dyn Log>,
    records: &Receiver<Records>,
    report: &watch::Sender<Progress>,
    rescue: &Rescue,
) {
    let begun = log.begin();
    let mut is_broken = begun.is_err();
    let _ = report.send_replace(begun.map(|()| Seq(0)));
    let mut pace = Pace::default();
    while let Ok(waiting) = records.recv() {
        let first = waiting.first;
        let mut last = waiting.last;
        let mut batch = (waiting.encode)(waiting.first);
        pace.gather(records, |waiting| {
            last = waiting.last;
            batch.extend((waiting.encode)(waiting.first));
        });
        pace.records = last.0 - first.0 + 1;
        let committed = if is_broken {
            None
        } else {
            Some(pace.time(|| log.commit(&batch)))
        };
        if let Some(Ok(())) = committed {
            let _ = report.send_replace(Ok(last));
            continue;
        }
        is_broken = true;
        // Do this before waiters see the failed commit.
        if !log.salvage(&batch) {
            rescue.add(&batch);
        }
        if let Some(Err(error)) = committed {
            let _ = report.send_replace(Err(error));
        }
    }
    if is_broken {
        return;
    }
    if let Err(error) = log.end() {
        let _ = report.send_replace(Err(error));
    }
}

/// Commits that take less are not worth waiting for.
const QUICK: Duration = Duration::from_millis(4);
/// Number of records in a commit after which the next one waits longer: many calls are in flight, so steps have begun
/// ahead and do not wait for it.
const MANY: u64 = 16;
/// Maximum time to wait for all records of a commit.
const LONGEST_WAIT: Duration = Duration::from_millis(30);
/// Maximum time to wait for the next record after a commit of few.
const LONGEST_GAP: Duration = Duration::from_millis(3);

/// Time of the latest commits, and the number of records in the last one.
#[derive(Default)]
struct Pace {
    commit: Duration,
    records: u64,
}

impl Pace {
    /// Takes the records that are there, and after slow commits also those that come soon.
    fn gather(&self, records: &Receiver<Records>, mut take: impl FnMut(Records)) {
        let (all, gap) = self.waits();
        let until = Instant::now() + all;
        loop {
            while let Ok(waiting) = records.try_recv() {
                take(waiting);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            match records.recv_timeout(gap.min(left)) {
                Ok(waiting) => take(waiting),
                Err(_) => return,
            }
        }
    }

    /// Maximum time to wait for all records of a commit, and for the next one.
    fn waits(&self) -> (Duration, Duration) {
        if self.commit < QUICK {
            (Duration::ZERO, Duration::ZERO)
        } else if self.records < MANY {
            let all = (self.commit / 4).min(LONGEST_WAIT);
            (all, (self.commit / 16).min(LONGEST_GAP))
        } else {
            let all = self.commit.min(LONGEST_WAIT);
            (all, all)
        }
    }

    fn time<T>(&mut self, commit: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = commit();
        self.commit = (self.commit + start.elapsed()) / 2;
        result
    }
}

pub(crate) fn cannot_write(error: io::Error) -> JournalError {
    JournalError::Io {
        message: error.to_string(),
    }
}

/// Packer of a new journal.
pub(crate) fn new_packer() -> Result<Packer, JournalError> {
    Packer::new().map_err(cannot_write)
}

/// A log in an append-only file.
pub(crate) struct FileLog {
    file: Box<dyn JournalFile>,
    guard: Guard,
    packer: Packer,
    /// Bytes written.
    written: u64,
    /// Bytes of the records before they were packed.
    plain: u64,
    /// Bytes reserved, including those written.
    reserved: u64,
    /// State of the file after a failed commit.
    state: FileState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    Whole,
    /// The batch whose commit failed is in the file.
    Kept,
    /// The batch whose commit failed is not in the file, which is intact.
    Refused,
    /// A write failed, so the end of the file is unknown.
    Torn,
}

/// Room to reserve beyond what the outcomes take. An outcome is about as long as its intent, and may not be packed.
const ROOM: u64 = 64 << 10;

impl FileLog {
    pub(crate) fn new(file: Box<dyn JournalFile>, guard: Guard) -> Result<Self, JournalError> {
        Ok(FileLog {
            file,
            guard,
            packer: new_packer()?,
            written: 0,
            plain: 0,
            reserved: 0,
            state: FileState::Whole,
        })
    }

    /// Reserves room for a batch, and for the outcomes of all operations begun.
    fn reserve(&mut self, batch: u64) -> io::Result<()> {
        self.plain += batch;
        let needed = self.written + batch + self.plain + ROOM;
        if needed <= self.reserved {
            return Ok(());
        }
        let target = needed + needed / 2;
        self.file.reserve(target - self.written)?;
        self.reserved = target;
        Ok(())
    }

    fn write(&mut self, batch: &[u8]) -> io::Result<()> {
        self.state = FileState::Torn;
        self.file.append(batch)?;
        self.file.sync()?;
        self.written += batch.len() as u64;
        self.state = FileState::Kept;
        Ok(())
    }
}

impl Log for FileLog {
    fn commit(&mut self, batch: &[u8]) -> Result<(), JournalError> {
        self.state = FileState::Torn;
        (self.guard)()?;
        self.state = FileState::Refused;
        self.reserve(batch.len() as u64).map_err(cannot_write)?;
        let packed = self.packer.pack(batch).map_err(cannot_write)?;
        self.write(&packed).map_err(cannot_write)?;
        (self.guard)()?;
        self.state = FileState::Whole;
        Ok(())
    }

    /// Writes into the reserved room, as long as the stack is owned. The records are not packed, because the packer
    /// may have learnt from a batch that is not in the file.
    fn salvage(&mut self, batch: &[u8]) -> bool {
        match self.state {
            FileState::Torn => false,
            FileState::Kept => {
                // The commit wrote the batch, and then found that the stack is lost.
                self.state = FileState::Torn;
                false
            }
            FileState::Whole | FileState::Refused => {
                let is_kept =
                    (self.guard)().is_ok() && self.write(batch).is_ok() && (self.guard)().is_ok();
                self.state = if is_kept {
                    FileState::Refused
                } else {
                    FileState::Torn
                };
                is_kept
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(commit: u64, records: u64) -> Pace {
        Pace {
            commit: Duration::from_millis(commit),
            records,
        }
    }

    #[test]
    fn a_slow_commit_waits_longer_when_many_calls_are_in_flight() {
        for (commit, records, all, gap) in [
            (3, 100, 0, 0),
            (16, MANY - 1, 4, 1),
            (800, MANY - 1, 30, 3),
            (16, MANY, 16, 16),
            (800, MANY, 30, 30),
        ] {
            let waits = (Duration::from_millis(all), Duration::from_millis(gap));
            assert_eq!(pace(commit, records).waits(), waits, "{commit} {records}");
        }
    }
}
