//! Content of assets and archives, and its hashes (`state.md` 1.7, `protocol.md` 2.6).
//!
//! 1. The hash of an asset is the SHA-256 of its bytes.
//! 2. The hash of an archive that is one file (`.tar`, `.tgz`, `.tar.gz`, `.zip`, `.jar`) is that of the file's bytes.
//! 3. The hash of any other archive is that of a tar stream of its members, see [`tar::TarStream`]. **The order of
//!    members is part of the hash:** by key in an assets map, by name directory by directory in a folder, as they come
//!    in a file. Of members with the same name the first counts.
//!
//! Nothing here touches files: content comes from an [`AssetReader`].

mod hash;
mod members;
pub mod tar;

use std::io::Read;
use std::sync::Arc;

pub use hash::{HashError, compute_hashes, compute_hashes_in, hash_archive, hash_asset};
pub use members::{Member, for_each_member};

/// Where content is read from. Relative paths are relative to the program's working directory.
pub trait AssetReader {
    /// What is at `path`; links are looked at, not followed.
    fn kind(&self, path: &str) -> Result<FileKind, AssetError>;

    /// What is in the directory `path`, in any order.
    fn list(&self, path: &str) -> Result<Vec<DirEntry>, AssetError>;

    /// The content of the file `path`; links are followed.
    fn open(&self, path: &str) -> Result<Content, AssetError>;

    /// The content of an `http` or `https` address.
    fn fetch(&self, uri: &str) -> Result<Content, AssetError>;

    /// The files in an archive file, in its own order; directories are left out. Names are as they are in the file.
    /// `location` is for error messages.
    fn unpack(
        &self,
        format: ArchiveFormat,
        content: Content,
        location: &str,
    ) -> Result<UnpackedFiles, AssetError>;
}

/// Names and contents of the files in an archive file.
pub type UnpackedFiles = Vec<(String, Arc<[u8]>)>;

/// What is at a path.
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
    /// Its name, without the directory.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
}

/// Bytes to be read, and how many there are.
pub struct Content {
    /// Number of bytes.
    pub size: u64,
    /// The bytes.
    pub reader: Box<dyn Read + Send>,
}

impl Content {
    /// Content that is in memory already.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        let size = bytes.as_ref().len() as u64;
        Content {
            size,
            reader: Box::new(std::io::Cursor::new(bytes)),
        }
    }
}

/// Content cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AssetError {
    /// Reading failed.
    #[error("could not read `{location}`")]
    Read {
        /// Path or address.
        location: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Fetching failed.
    #[error("could not fetch `{uri}`")]
    Fetch {
        /// Address.
        uri: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is nothing that could fetch.
    #[error("assets at remote addresses are not available here: `{uri}`")]
    NoFetcher {
        /// Address.
        uri: String,
    },
    /// The address is of a kind that cannot be fetched.
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
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An archive file holds too much.
    #[error("`{location}` unpacks to more than {limit} bytes or {entries} files")]
    TooBig {
        /// Path or address.
        location: String,
        /// How many bytes it may hold.
        limit: u64,
        /// How many files it may hold.
        entries: usize,
    },
    /// A tar file has something other than files and directories in it.
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
        /// The path as far as it can be written.
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
    /// The content of a member was left out by the sender.
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

/// The form of an archive file.
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
    /// The form that the end of a name stands for.
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
