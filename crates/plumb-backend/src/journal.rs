//! Writing the journal of an update.
//!
//! One thread owns the log. Callers hand over records and get their numbers back at once; the thread takes all records
//! that wait, encodes them, and commits them together (**group commit**): the slower the store, the more records share a
//! commit. After the first failure every waiter hears of it, and nothing counts as durable any more. What is still handed over,
//! such as the answers of providers that were under way, is kept nevertheless: by the log if it can, else in the
//! [recovery file](crate::rescue).
//!
//! Where the store has files, a [`FileLog`] checks that the stack is still owned, writes in one go, syncs once, and checks
//! again: **a record counts as durable only if the stack was still owned after it was synced**, because whoever takes over
//! reads the journal after having taken the lease. Before it writes, it reserves room for the outcomes of what the records
//! begin: **on a full disk nothing is begun whose outcome cannot be written.** Elsewhere a [`SegmentLog`](crate::segments::SegmentLog) makes one
//! object of each commit.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::watch;

use crate::bucket::JournalFile;
use crate::error::{Fenced, JournalError};
use crate::rescue::{Rescue, Rescued};

/// The number of a record, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Seq(pub u64);

/// How far the journal is durable.
pub type Progress = Result<Seq, JournalError>;

/// The place where records become durable.
pub(crate) trait Log: Send {
    /// Returns when the records are durable and the stack was still owned then.
    fn commit(&mut self, batch: &[u8]) -> Result<(), JournalError>;

    /// Keeps records after a commit has failed; tells whether it could.
    fn salvage(&mut self, batch: &[u8]) -> bool {
        let _ = batch;
        false
    }

    /// Ends the log after the last commit.
    fn end(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
}

/// Decides before each commit whether it may happen.
pub(crate) type Guard = Box<dyn Fn() -> Result<(), Fenced> + Send>;

/// The open journal of an update. Shared by reference; dropping it closes the file.
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

/// Records that were handed over together.
struct Records {
    first: Seq,
    last: Seq,
    encode: Encode,
}

/// Makes the bytes of records; gets the number of the first.
type Encode = Box<dyn FnOnce(Seq) -> Vec<u8> + Send>;

/// Room for the deepest values that a state may hold. Only what is used of it takes memory.
const STACK: usize = 64 << 20;

impl JournalWriter {
    /// Starts the thread. The log has its header already.
    pub(crate) fn start(log: Box<dyn Log>, rescue: Rescue) -> Result<Self, JournalError> {
        let (sender, records) = mpsc::channel();
        let (report, progress) = watch::channel(Ok(Seq(0)));
        let kept = rescue.clone();
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .stack_size(STACK)
            .spawn(move || run(log, &records, &report, &kept))
            .map_err(|error| JournalError::Io {
                message: error.to_string(),
            })?;
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

    /// Hands a record over. It is durable when [`JournalWriter::durable`] has reached the returned number.
    pub fn append(&self, bytes: Vec<u8>) -> Seq {
        self.append_all(1, move |_| bytes)
    }

    /// Hands over `count` records at once and returns the number of the last. `encode` gets the number of the first; it
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
            // When the thread has ended, waiters learn that from the progress.
            let _ = sender.send(Records {
                first,
                last: queue.last,
                encode: Box::new(encode),
            });
        }
        queue.last
    }

    /// The highest number that is durable, or why there will be no more.
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

    /// What the log did not take, after it has failed.
    pub fn rescued(&self) -> Option<Rescued> {
        self.rescue.rescued()
    }

    /// Writes everything that waits, ends the thread, and returns the last number.
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
    let mut is_broken = false;
    while let Ok(waiting) = records.recv() {
        let mut last = waiting.last;
        let mut batch = (waiting.encode)(waiting.first);
        while let Ok(waiting) = records.try_recv() {
            last = waiting.last;
            batch.extend((waiting.encode)(waiting.first));
        }
        let committed = if is_broken {
            None
        } else {
            Some(log.commit(&batch))
        };
        if let Some(Ok(())) = committed {
            let _ = report.send_replace(Ok(last));
            continue;
        }
        is_broken = true;
        // Before anybody hears that the commit has failed.
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

/// A log in a file that is appended to.
pub(crate) struct FileLog {
    file: Box<dyn JournalFile>,
    guard: Guard,
    /// Bytes that were written, and bytes that there is room for.
    written: u64,
    reserved: u64,
    /// What may be written although a commit has failed.
    state: FileState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    Whole,
    /// The batch whose commit failed is in the file.
    Kept,
    /// The batch whose commit failed is not in the file, which is whole nevertheless.
    Refused,
    /// A write has failed: nobody knows what the file ends with.
    Torn,
}

/// Room that there is besides as much as was written: the outcome of a step is about as long as its intent.
const ROOM: u64 = 64 << 10;

impl FileLog {
    pub(crate) fn new(file: Box<dyn JournalFile>, guard: Guard) -> Self {
        FileLog {
            file,
            guard,
            written: 0,
            reserved: 0,
            state: FileState::Whole,
        }
    }

    /// Makes sure that there is room for the outcomes of everything that was begun.
    fn reserve(&mut self, batch: u64) -> std::io::Result<()> {
        let needed = 2 * (self.written + batch) + ROOM;
        if needed <= self.reserved {
            return Ok(());
        }
        let target = needed + needed / 2;
        self.file.reserve(target - self.written)?;
        self.reserved = target;
        Ok(())
    }

    fn write(&mut self, batch: &[u8]) -> std::io::Result<()> {
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
        let failed = |error: std::io::Error| JournalError::Io {
            message: error.to_string(),
        };
        self.state = FileState::Torn;
        (self.guard)()?;
        self.state = FileState::Refused;
        self.reserve(batch.len() as u64).map_err(failed)?;
        self.write(batch).map_err(failed)?;
        (self.guard)()?;
        self.state = FileState::Whole;
        Ok(())
    }

    /// Writes into the room that was reserved, as long as the stack is owned.
    fn salvage(&mut self, batch: &[u8]) -> bool {
        match self.state {
            FileState::Torn => false,
            FileState::Kept => {
                // The commit wrote it, and then found out that the stack is lost.
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
