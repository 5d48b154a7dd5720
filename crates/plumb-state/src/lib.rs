//! What is known of a stack: the snapshot, its file formats, its journal, its integrity, and edits to it.
//!
//! [`Snapshot`] is the decrypted form that the engine works on; it cannot be written. [`EncryptedSnapshot`] can, and most
//! things can be done to it without the secrets manager. [`file`] holds the formats, [`journal`] the records of one run
//! and their replay, [`integrity`] what a snapshot must fulfil, [`edit`] the changes that people make by hand, [`plan`]
//! what a preview planned.
//! This crate does not know where bytes live, how secrets are encrypted, or what time it is; callers bring those.

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
