//! What can go wrong in a store.

use std::io;
use std::path::PathBuf;

use plumb_project::name::{NameError, ReferenceError};
use plumb_state::file::ParseError;
use plumb_state::journal::{FoldError, ReplayError};

use crate::lock::HeldLock;
use crate::rescue::Rescued;

/// An operation on stored objects failed.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// The key is not one that a store may hold.
    #[error("{key:?} is not a legal key")]
    IllegalKey {
        /// The key.
        key: String,
    },
    /// The file system refused.
    #[error("could not {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A store answered with an error, or not at all.
    #[error("could not {action} {address}{}", hint_text(hint.as_ref()))]
    Store {
        /// What was tried.
        action: &'static str,
        /// With which object.
        address: String,
        /// What the answer means.
        kind: StoreErrorKind,
        /// What the user can do.
        hint: Option<String>,
        /// What the store said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Meaning of an error that a store answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The store did not answer in time, or answered that it could not do the work now. A write may have been carried
    /// out.
    Transient,
    /// The credentials are missing, or do not allow the action.
    Denied,
    /// Any other refusal.
    Refused,
}

impl BucketError {
    /// Whether trying again may help. A write that failed like that may have been carried out.
    pub fn is_transient(&self) -> bool {
        use io::ErrorKind;
        match self {
            BucketError::IllegalKey { .. } => false,
            BucketError::Io { source, .. } => !matches!(
                source.kind(),
                ErrorKind::PermissionDenied | ErrorKind::NotFound | ErrorKind::ReadOnlyFilesystem
            ),
            BucketError::Store { kind, .. } => *kind == StoreErrorKind::Transient,
        }
    }

    /// The message with those of its causes.
    pub(crate) fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text += ": ";
            text += &error.to_string();
            cause = error.source();
        }
        text
    }
}

fn hint_text(hint: Option<&String>) -> String {
    hint.map_or_else(String::new, |hint| format!("; {hint}"))
}

/// The journal cannot be written any more.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The file system refused.
    #[error("could not write the journal: {message}")]
    Io {
        /// Why not.
        message: String,
    },
    /// Another process took over.
    #[error(transparent)]
    Fenced(#[from] Fenced),
    /// The writer has ended.
    #[error("the journal is closed")]
    Closed,
}

/// This process no longer owns the stack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("another process took over the stack ({reason}); nothing more is written")]
pub struct Fenced {
    /// How that was noticed.
    pub reason: String,
}

/// An operation on a backend failed.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The state that an operation reached is not one to go on from; it is not written.
    #[error(
        "the new state of stack {stack} is invalid and was not written; what happened is kept in its journal"
    )]
    Invalid {
        /// The stack.
        stack: String,
        /// What is wrong with it.
        #[source]
        source: plumb_state::integrity::IntegrityError,
    },
    /// Stored objects could not be read or written.
    #[error(transparent)]
    Bucket(#[from] BucketError),
    /// The address has an unknown scheme.
    #[error(
        "unknown backend cloudUrl format '{url}' (supported Url formats are: \
         azblob://, gs://, s3://, file://, https://, http:// and postgres://)"
    )]
    UnknownUrl {
        /// The address.
        url: String,
    },
    /// The store cannot do writes that depend on what is there.
    #[error(
        "the store {url} does not support conditional writes ({missing}), which keep two updates from overwriting each \
         other; use a store that supports them, or a newer version of its software"
    )]
    NoConditionalWrites {
        /// The address.
        url: String,
        /// What did not work.
        missing: &'static str,
    },
    /// The address of a store is not one that it can have.
    #[error("the backend address {url} cannot be used: {detail}")]
    StoreUrl {
        /// The address.
        url: String,
        /// Why not.
        detail: String,
    },
    /// The folder of a file store is missing.
    #[error("unable to open bucket {url}: the folder {} does not exist", path.display())]
    NoFolder {
        /// The address.
        url: String,
        /// The folder.
        path: PathBuf,
    },
    /// `meta.yaml` cannot be used.
    #[error("the store's .pulumi/meta.yaml is corrupt: {detail}")]
    CorruptMeta {
        /// What is wrong.
        detail: String,
    },
    /// A store of a version to come.
    #[error(
        "state store unsupported: 'meta.yaml' version ({version}) is not supported by this version of the CLI"
    )]
    UnsupportedMeta {
        /// The version.
        version: i128,
    },
    /// A store in the legacy layout.
    #[error(
        "the state store has the legacy layout, which is not supported any more; run `plumb state upgrade`, \
         or set PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR"
    )]
    LegacyLayout,
    /// A stack of that name is missing.
    #[error("no stack named '{stack}' found")]
    NoStack {
        /// The stack.
        stack: String,
    },
    /// No removed stack of that name is kept.
    #[error("no removed stack named '{stack}' is kept")]
    NotRemoved {
        /// The stack.
        stack: String,
    },
    /// A stack of that name is there.
    #[error("stack '{stack}' already exists")]
    StackExists {
        /// The stack.
        stack: String,
    },
    /// The stack still has resources.
    #[error(
        "'{stack}' still has resources; removal rejected. Possible actions:\n\
         - Make sure that '{stack}' is the stack that you want to destroy\n\
         - Run `pulumi destroy` to delete the resources, then run `pulumi stack rm`\n\
         - Run `pulumi stack rm --force` to override this error"
    )]
    HasResources {
        /// The stack.
        stack: String,
    },
    /// Somebody else works on the stack.
    #[error("{}", locked_text(locks))]
    Locked {
        /// Who.
        locks: Vec<HeldLock>,
    },
    /// Somebody took the stack over.
    #[error(transparent)]
    Fenced(#[from] Fenced),
    /// A state file cannot be read.
    #[error("the checkpoint {key} cannot be read")]
    Checkpoint {
        /// The file.
        key: String,
        /// Why not.
        #[source]
        source: Box<ParseError>,
    },
    /// A compressed file cannot be unpacked.
    #[error("{key} cannot be unpacked")]
    Unpack {
        /// The file.
        key: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A small file of the store is malformed.
    #[error("{key} is malformed")]
    Json {
        /// The file.
        key: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A tag file of a version to come.
    #[error("{key} has unsupported version {version}")]
    TagVersion {
        /// The file.
        key: String,
        /// The version.
        version: i64,
    },
    /// A name is not legal.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A reference is not legal.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A leftover journal matches, and its entries do not fit.
    #[error("the journal {key} of an interrupted update cannot be replayed")]
    Replay {
        /// The journal.
        key: String,
        /// Why not.
        #[source]
        source: Box<ReplayError>,
    },
    /// What the journal says makes no snapshot.
    #[error("the journal {key} makes no snapshot")]
    Fold {
        /// The journal.
        key: String,
        /// Why not.
        #[source]
        source: Box<FoldError>,
    },
    /// The store is full or gone, and has not everything that happened.
    #[error("the state could not be saved, and the store has not all of the journal; {rescued}")]
    Rescued {
        /// What it has not.
        rescued: Rescued,
        /// Why the state could not be saved.
        #[source]
        source: Box<BackendError>,
    },
    /// The state file holds secrets in the clear, so nothing can be written on top of it without encrypting them.
    #[error(
        "the checkpoint of '{stack}' holds secrets in plain text; export it, and import it again, to encrypt them"
    )]
    Plaintext {
        /// The stack.
        stack: String,
    },
    /// The caller could not rewrite the state for its new name.
    #[error("the state could not be rewritten")]
    Rewrite(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Both compressions were asked for.
    #[error("only one of PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD may be set")]
    TwoCompressions,
    /// The store is not in the legacy layout.
    #[error("the state store has the present layout already")]
    NotLegacy,
}

fn locked_text(locks: &[HeldLock]) -> String {
    let mut text = format!(
        "the stack is currently locked by {} lock(s). Either wait for the other process(es) to end or delete the lock \
         file with `pulumi cancel`.",
        locks.len()
    );
    for lock in locks {
        text += "\n  ";
        text += &lock.to_string();
    }
    text
}
