//! Getting plugins that are not there (`protocol.md` 14.5 and 14.6).
//!
//! [`Acquirer::acquire`] gets one plugin:
//! 1. [`source`] tells where it may come from, in order; the user's [`overrides`] replace any of these places.
//! 2. [`http`] downloads the archive into a file beside the cache and hashes it on the way.
//! 3. The hash must be what the program and the project's [`lock_file`] say; and what is unpacked must have the [`content`]
//!    that the lock file names.
//! 4. [`install`] unpacks it ([`archive`]) into the cache, so that nobody ever sees half of a plugin, whatever crashes
//!    and however many do the same at once.
//!
//! Plugins in source form are fetched from their repositories by [`git`]. [`admission`] checks each plugin again before it is
//! started.
//!
//! This crate knows archives and where they are published. It does not know which plugins a program needs, nor how they
//! are run.

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
