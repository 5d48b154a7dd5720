//! Storage of stacks.
//!
//! This crate knows the [`Backend`] trait and the store in upstream's bucket layout: state files, locks, tags, history,
//! and, in addition, journals and leases. It does not know the engine, and never sees a plaintext secret: the secrets in the
//! states that it reads and writes are encrypted. Whole states can be encrypted too (`encryption`).
//!
//! Start with [`FileBackend`] and [`Update`]. [`Note`] lists the actions after a crash.

mod backend;
mod bucket;
mod capability;
mod compression;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "conformance"))]
pub mod crashes;
mod disk;
mod encryption;
mod error;
mod file_backend;
#[cfg(any(test, feature = "conformance"))]
pub mod histories;
mod history;
mod journal;
mod keys;
mod lease;
mod local;
mod lock;
mod memory;
mod outlines;
mod process;
#[cfg(any(test, feature = "conformance"))]
pub mod readers;
mod recovery;
mod removed;
mod rescue;
mod segments;
mod state_file;
mod store;
mod stored;
mod summary;
mod tags;
mod unconditional;
mod update;
mod url;
mod versions;

pub use backend::{Backend, Cancelled, Loaded, LoadedRoot, RemoveOptions, Rewrite};
pub use bucket::{Bucket, Entry, JournalFile, JournalFiles, Version, Versioned, check_key};
pub use compression::Compression;
pub use encryption::{KeyRecord, ProviderRecord, StackKey, StateKeys};
pub use error::{BackendError, BucketError, Fenced, JournalError, StoreErrorKind};
pub use file_backend::{FileBackend, LeftBehind, OpenWarning, UpgradeRewrite};
pub use history::{Page, Past, UpdateRecord};
pub use journal::{JournalWriter, Progress, Seq};
pub use keys::StoreLayout;
pub use lease::{CancelProgress, CancelRequest, LeaseContent};
pub use local::LocalBucket;
pub use lock::{ByHand, HeldLock, LockContent};
pub use memory::{Fault, MemoryBucket};
pub use process::ProcessIdentity;
pub use recovery::{Note, SetAsideReason};
pub use rescue::{Rescued, RescuedObject};
pub use store::{Owner, StoreOptions};
pub use summary::{StackFilter, StackSummary};
pub use update::{Finished, Update};
pub use url::{BackendUrl, FileUrl, masked};

#[cfg(test)]
mod tests;
