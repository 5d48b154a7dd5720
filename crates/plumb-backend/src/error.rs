//! Errors of stores, journals and backends.

use std::io;
use std::path::PathBuf;

use plumb_project::name::{NameError, ReferenceError};
use plumb_state::file::ParseError;
use plumb_state::journal::{FoldError, ReplayError};

use crate::lock::HeldLock;
use crate::rescue::Rescued;

/// Error of an operation on stored objects.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// The key is illegal.
    #[error("{key:?} is not a legal key")]
    IllegalKey {
        /// The key.
        key: String,
    },
    /// An operation on the file system failed.
    #[error("could not {action} {}", path.display())]
    Io {
        /// Action, as a verb.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// A store returned an error, or did not respond.
    #[error("could not {action} {address}{}", hint_text(hint.as_ref()))]
    Store {
        /// Action, as a verb.
        action: &'static str,
        /// Address of the object.
        address: String,
        /// Kind of error.
        kind: StoreErrorKind,
        /// Advice for the user.
        hint: Option<String>,
        /// Message of the store.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An object is encrypted, and cannot be decrypted or encrypted.
    #[error("{address} is encrypted as a whole, and its key cannot be used")]
    Encrypted {
        /// Address of the object.
        address: String,
        /// Cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Kind of error of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The store did not respond in time, or asked for a retry. A write may have had its effect.
    Transient,
    /// The credentials are missing, or do not allow the action.
    Denied,
    /// Any other error.
    Refused,
}

impl BucketError {
    /// Whether a retry may help. A failed write may nevertheless have had its effect.
    pub fn is_transient(&self) -> bool {
        use io::ErrorKind;
        match self {
            BucketError::IllegalKey { .. } | BucketError::Encrypted { .. } => false,
            BucketError::Io { source, .. } => !matches!(
                source.kind(),
                ErrorKind::PermissionDenied | ErrorKind::NotFound | ErrorKind::ReadOnlyFilesystem
            ),
            BucketError::Store { kind, .. } => *kind == StoreErrorKind::Transient,
        }
    }

    /// Message with those of its causes.
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

/// The journal can no longer be written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// An operation on the file system failed.
    #[error("could not write the journal: {message}")]
    Io {
        /// Cause.
        message: String,
    },
    /// Another process took over the stack.
    #[error(transparent)]
    Fenced(#[from] Fenced),
    /// The writer was closed.
    #[error("the journal is closed")]
    Closed,
}

/// This process no longer owns the stack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("another process took over the stack ({reason}); nothing more is written")]
pub struct Fenced {
    /// Evidence for that.
    pub reason: String,
}

/// Error of an operation on a backend.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The resulting state is invalid and was not written.
    #[error(
        "the new state of stack {stack} is invalid and was not written; what happened is kept in its journal"
    )]
    Invalid {
        /// Name of the stack.
        stack: String,
        /// Integrity error of the state.
        #[source]
        source: plumb_state::integrity::IntegrityError,
    },
    /// An operation on stored objects failed.
    #[error(transparent)]
    Bucket(#[from] BucketError),
    /// The scheme of the address is unknown.
    #[error(
        "unknown backend cloudUrl format '{format}' (supported Url formats are: \
         azblob://, gs://, s3://, file://, https://, http:// and postgres://)"
    )]
    UnknownUrl {
        /// The text before the first colon, so that no password is shown.
        format: String,
    },
    /// The address of a store is invalid.
    #[error("the backend address {url} cannot be used: {detail}")]
    StoreUrl {
        /// The address.
        url: String,
        /// Cause.
        detail: String,
    },
    /// The folder of a file store does not exist.
    #[error("unable to open bucket {url}: the folder {} does not exist", path.display())]
    NoFolder {
        /// The address.
        url: String,
        /// The folder.
        path: PathBuf,
    },
    /// `meta.yaml` is invalid.
    #[error("the store's .pulumi/meta.yaml is corrupt: {detail}")]
    CorruptMeta {
        /// Error in the file.
        detail: String,
    },
    /// The version of the store is newer than supported.
    #[error(
        "state store unsupported: 'meta.yaml' version ({version}) is not supported by this version of the CLI"
    )]
    UnsupportedMeta {
        /// The version.
        version: i128,
    },
    /// The store has the legacy layout.
    #[error(
        "the state store has the legacy layout, which is not supported any more; run `plumb state upgrade`, \
         or set PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR"
    )]
    LegacyLayout,
    /// The stack does not exist.
    #[error("no stack named '{stack}' found")]
    NoStack {
        /// Name of the stack.
        stack: String,
    },
    /// No removed stack of that name is kept.
    #[error("no removed stack named '{stack}' is kept")]
    NotRemoved {
        /// Name of the stack.
        stack: String,
    },
    /// The stack already exists.
    #[error("stack '{stack}' already exists")]
    StackExists {
        /// Name of the stack.
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
        /// Name of the stack.
        stack: String,
    },
    /// The stack is locked.
    #[error("{}", locked_text(locks))]
    Locked {
        /// Its locks.
        locks: Vec<HeldLock>,
    },
    /// Another process took over the stack.
    #[error(transparent)]
    Fenced(#[from] Fenced),
    /// A state file is invalid.
    #[error("the checkpoint {key} cannot be read")]
    Checkpoint {
        /// Key of the file.
        key: String,
        /// Cause.
        #[source]
        source: Box<ParseError>,
    },
    /// A compressed file cannot be decompressed.
    #[error("{key} cannot be unpacked")]
    Unpack {
        /// Key of the file.
        key: String,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// A small JSON file of the store is malformed.
    #[error("{key} is malformed")]
    Json {
        /// Key of the file.
        key: String,
        /// Cause.
        #[source]
        source: serde_json::Error,
    },
    /// The version of a tag file is newer than supported.
    #[error("{key} has unsupported version {version}")]
    TagVersion {
        /// Key of the file.
        key: String,
        /// The version.
        version: i64,
    },
    /// A name is illegal.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A stack reference is illegal.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A leftover journal matches the state, but its entries do not.
    #[error("the journal {key} of an interrupted update cannot be replayed")]
    Replay {
        /// Key of the journal.
        key: String,
        /// Cause.
        #[source]
        source: Box<ReplayError>,
    },
    /// The entries of a journal give no valid snapshot.
    #[error("the journal {key} makes no snapshot")]
    Fold {
        /// Key of the journal.
        key: String,
        /// Cause.
        #[source]
        source: Box<FoldError>,
    },
    /// The store is full or unreachable, and lacks some recorded outcomes.
    #[error("the state could not be saved, and the store has not all of the journal; {rescued}")]
    Rescued {
        /// The missing outcomes.
        rescued: Rescued,
        /// Reason why the state could not be saved.
        #[source]
        source: Box<BackendError>,
    },
    /// The state file holds plaintext secrets, which would have to be encrypted before anything is written.
    #[error(
        "the checkpoint of '{stack}' holds secrets in plain text; export it, and import it again, to encrypt them"
    )]
    Plaintext {
        /// Name of the stack.
        stack: String,
    },
    /// The state could not be rewritten for its new name.
    #[error("the state could not be rewritten")]
    Rewrite(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Two compressions were requested.
    #[error("only one of PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD may be set")]
    TwoCompressions,
    /// States in the legacy layout cannot be encrypted as a whole.
    #[error(
        "stacks in the legacy layout cannot be encrypted as a whole; run `plumb state upgrade` first"
    )]
    LegacyEncryption,
    /// The backend was opened without access to the keys of states.
    #[error("this backend does not encrypt whole states")]
    NoEncryption,
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
