//! Content of assets and archives, and its hashes (`state.md` 1.7, `protocol.md` 2.6).
//!
//! 1. The hash of an asset is the SHA-256 of its bytes.
//! 2. The hash of an archive that is one file (`.tar`, `.tgz`, `.tar.gz`, `.zip`, `.jar`) is that of the file's bytes.
//! 3. The hash of any other archive is that of a tar stream of its members, see [`tar::TarStream`]. **The order of
//!    members is part of the hash:** by key in an assets map, by name within each directory of a folder, in the order of
//!    the archive for an archive file. Of several members with one name the first counts.
//!
//! Nothing here touches files: content comes from an [`AssetReader`].

mod hash;
mod members;
pub mod tar;

use std::io::Read;
use std::sync::Arc;

pub use hash::{HashError, compute_hashes, compute_hashes_in, hash_archive, hash_asset};
pub use members::{Member, for_each_member};

/// Source of content. Relative paths are relative to the program's working directory.
pub trait AssetReader {
    /// Kind of the file at `path`; links are reported, not followed.
    fn kind(&self, path: &str) -> Result<FileKind, AssetError>;

    /// Entries of the directory `path`, in any order.
    fn list(&self, path: &str) -> Result<Vec<DirEntry>, AssetError>;

    /// The content of the file `path`; links are followed.
    fn open(&self, path: &str) -> Result<Content, AssetError>;

    /// The content of an `http` or `https` address.
    fn fetch(&self, uri: &str) -> Result<Content, AssetError>;

    /// The files in an archive file, without directories, with the names and in the order of the archive. `location` is used
    /// in error messages.
    fn unpack(
        &self,
        format: ArchiveFormat,
        content: Content,
        location: &str,
    ) -> Result<UnpackedFiles, AssetError>;
}

/// Names and contents of the files in an archive file.
pub type UnpackedFiles = Vec<(String, Arc<[u8]>)>;

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link to a file.
    LinkToFile,
    /// A link to a directory.
    LinkToDirectory,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Name of the entry, without the directory.
    pub name: String,
    /// Kind of the entry.
    pub kind: FileKind,
}

/// A stream of bytes of known length.
pub struct Content {
    /// Number of bytes.
    pub size: u64,
    /// The bytes.
    pub reader: Box<dyn Read + Send>,
}

impl Content {
    /// Content in memory.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        let size = bytes.as_ref().len() as u64;
        Content {
            size,
            reader: Box::new(std::io::Cursor::new(bytes)),
        }
    }
}

/// Errors of reading and hashing content.
#[derive(Debug, thiserror::Error)]
pub enum AssetError {
    /// Reading failed.
    #[error("could not read `{location}`")]
    Read {
        /// Path or address.
        location: String,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// Fetching failed.
    #[error("could not fetch `{uri}`")]
    Fetch {
        /// Address.
        uri: String,
        /// Cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The reader cannot fetch remote addresses.
    #[error("assets at remote addresses are not available here: `{uri}`")]
    NoFetcher {
        /// Address.
        uri: String,
    },
    /// The scheme of the address is not supported.
    #[error("unsupported URI `{uri}`: only http, https and local file URIs are supported")]
    UnsupportedUri {
        /// Address.
        uri: String,
    },
    /// An archive is neither a directory nor an archive file.
    #[error("`{location}` is neither a directory nor an archive (.tar, .tgz, .tar.gz, .zip, .jar)")]
    NotAnArchive {
        /// Path or address.
        location: String,
    },
    /// An archive file is damaged.
    #[error("could not unpack `{location}`")]
    Unpack {
        /// Path or address.
        location: String,
        /// Cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An archive file unpacks to more than the limit.
    #[error("`{location}` unpacks to more than {limit} bytes or {entries} files")]
    TooBig {
        /// Path or address.
        location: String,
        /// Limit in bytes.
        limit: u64,
        /// Limit in files.
        entries: usize,
    },
    /// A tar file has an entry that is neither a file nor a directory.
    #[error("`{name}` in `{location}` is neither a file nor a directory")]
    UnsupportedEntry {
        /// Path or address.
        location: String,
        /// Name of the entry.
        name: String,
    },
    /// A name is not UTF-8.
    #[error("the name of `{location}` is not valid UTF-8")]
    NameNotUtf8 {
        /// The path, with invalid bytes replaced.
        location: String,
    },
    /// An archive member cannot have this name.
    #[error("an archive cannot have a member named {name:?}")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// A file became longer or shorter while it was read.
    #[error("`{name}` changed while it was read")]
    SizeChanged {
        /// Name of the member or path of the file.
        name: String,
    },
    /// The content of a member is missing, because the sender left it out.
    #[error("the content of `{name}` is not available")]
    NoContent {
        /// Name of the member.
        name: String,
    },
    /// A member is neither an asset nor an archive.
    #[error("archive member `{name}` is neither an asset nor an archive")]
    NotAnAsset {
        /// Name of the member.
        name: String,
    },
}

/// Format of an archive file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// `.tar`.
    Tar,
    /// `.tgz` or `.tar.gz`.
    TarGz,
    /// `.zip` or `.jar`.
    Zip,
}

impl ArchiveFormat {
    /// The format for the extension of `name`.
    pub fn of_name(name: &str) -> Option<Self> {
        let suffixes = [
            (".tar.gz", ArchiveFormat::TarGz),
            (".tgz", ArchiveFormat::TarGz),
            (".tar", ArchiveFormat::Tar),
            (".zip", ArchiveFormat::Zip),
            (".jar", ArchiveFormat::Zip),
        ];
        suffixes
            .into_iter()
            .find(|(suffix, _)| name.ends_with(suffix))
            .map(|(_, format)| format)
    }
}
