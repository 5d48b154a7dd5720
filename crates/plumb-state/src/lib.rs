//! State of a stack: the snapshot, its file formats, its journal, its integrity, and manual edits.
//!
//! [`Snapshot`] is the decrypted form that the engine uses; it cannot be written. [`EncryptedSnapshot`] can be written,
//! and most edits of it need no secrets manager. [`file`] holds the file formats, [`journal`] the records of a run and
//! their replay, [`integrity`] the rules for valid snapshots, [`edit`] the manual edits, [`plan`] the update plans.
//! This crate does no I/O, has no encryption of its own and reads no clock; callers supply these.

pub mod edit;
mod encrypted;
mod error;
pub mod file;
pub mod integrity;
pub mod journal;
mod json;
mod manifest;
mod normalize;
pub mod plan;
mod sealing;
mod secrets;
mod snapshot;
pub mod upgrade;
mod value;
mod views;

pub use encrypted::EncryptedSnapshot;
pub use error::AliasConflict;
pub use manifest::{Manifest, ManifestPlugin, magic_of};
pub use secrets::{BATCH_SIZE, CiphertextCache, CodecError, Plaintext, SecretCodec, SecretsError};
pub use snapshot::{
    Extension, IntegrityErrorRecord, Metadata, PendingOperation, RawJson, SecretsProvider,
    Snapshot, Snippet, SnippetDescriptor, SnippetParameterization, UnknownMembers,
};
pub use views::owners_of_views;
