//! Acquisition of missing plugins (`protocol.md` 14.5 and 14.6).
//!
//! [`Acquirer::acquire`] installs one plugin:
//! 1. [`source`] lists the places that may publish it, in order; the user's [`overrides`] can replace each of them.
//! 2. [`http`] downloads the archive into a file beside the cache and hashes it meanwhile.
//! 3. The hash must match that of the program and of the project's [`lock_file`]; the unpacked files must match the
//!    [`content`] digest in the lock file.
//! 4. [`install`] unpacks the archive ([`archive`]) into the cache, so that no process ever sees a partial plugin, even
//!    after crashes and with concurrent installations.
//!
//! [`git`] fetches plugins in source form from their repositories. [`admission`] verifies each plugin again before its
//! start.
//!
//! This crate knows archives and where they are published. It does not know which plugins a program needs, nor how they are
//! run.

mod acquirer;
mod admission;
mod archive;
mod content;
mod error;
mod git;
mod http;
mod install;
mod lock_file;
mod overrides;
mod source;

pub use acquirer::{Acquirer, AcquirerOptions, Prepare, Progress, Wanted, Watcher};
pub use archive::ArchiveError;
pub use error::AcquireError;
pub use git::GitError;
pub use http::{DownloadError, Tokens};
pub use install::{InstallError, Package, install};
pub use lock_file::{LockFile, LockFileError, LockMode};
pub use overrides::{OverrideError, Overrides};
pub use source::{Platform, SourceError};
