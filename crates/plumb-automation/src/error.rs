//! Errors of the library.

use std::path::PathBuf;

use plumb_backend::BackendError;
use plumb_project::name::NameError;

use crate::codec::RecordedError;
use crate::report::Report;

/// Errors of operations and stores.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operation ran, and something in it failed. The state has what was done.
    #[error("{}", .0.failure())]
    Failed(Box<Report>),
    /// The operation was interrupted. The state has what was done.
    #[error("the operation was canceled")]
    Canceled(Box<Report>),
    /// The operation was refused before it began.
    #[error("{0}")]
    Refused(String),
    /// A stack with this name exists already.
    #[error("the stack {0} exists already")]
    StackExists(String),
    /// There is no stack with this name.
    #[error("there is no stack {0}")]
    NoStack(String),
    /// The name of a project or stack is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The store could not be read or written.
    #[error(transparent)]
    Store(Box<BackendError>),
    /// The store could not be reached.
    #[cfg(feature = "stores")]
    #[error(transparent)]
    Open(#[from] plumb_stores::OpenError),
    /// Secrets cannot be encrypted or decrypted.
    #[error("the secrets of the stack cannot be used")]
    Secrets(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The state that was read or given is invalid.
    #[error("the state of the stack is invalid: {0}")]
    State(String),
    /// A folder has no program that can be run.
    #[error("{} cannot be run: {reason}", folder.display())]
    Folder {
        /// Folder of the program.
        folder: PathBuf,
        /// Cause.
        reason: String,
    },
    /// A program, its language or one of its plugins could not be prepared.
    #[error("the program could not be prepared: {0}")]
    Program(String),
    /// The workspace cannot be made with these settings.
    #[error("{0}")]
    Workspace(String),
    /// The journal could not be written. What the store did not take is kept in memory or in the home folder.
    #[error(transparent)]
    Journal(#[from] plumb_engine::journal::JournalError),
    /// A folder of the machine could not be used.
    #[error("{what}")]
    Io {
        /// Action that failed.
        what: String,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
}

impl Error {
    /// Report of an operation that began.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Error::Failed(report) | Error::Canceled(report) => Some(report),
            _ => None,
        }
    }

    /// Whether another operation holds the stack, so that the same one may succeed later.
    pub fn is_locked(&self) -> bool {
        matches!(self, Error::Store(error) if matches!(**error, BackendError::Locked { .. }))
    }

    pub(crate) fn secrets(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Error::Secrets(Box::new(error))
    }
}

impl From<BackendError> for Error {
    fn from(error: BackendError) -> Self {
        Error::Store(Box::new(error))
    }
}

impl From<RecordedError> for Error {
    fn from(error: RecordedError) -> Self {
        Error::secrets(error)
    }
}

impl From<plumb_state::SecretsError> for Error {
    fn from(error: plumb_state::SecretsError) -> Self {
        Error::secrets(error)
    }
}
