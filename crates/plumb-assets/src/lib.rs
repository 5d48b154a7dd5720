//! Content of assets and archives from this machine and from remote addresses.
//!
//! [`FsReader`] is the [`AssetReader`] of real programs. Files and directories come from a folder, archive files are
//! unpacked in memory, and remote addresses are fetched by a [`UriFetcher`], such as [`HttpFetcher`], if there is one. The
//! order of members and the hashes are determined by `plumb_value::assets`.

mod remote;
mod unpack;

use std::fs::{File, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use remote::{FetchLimits, HttpFetcher};

use plumb_value::assets::{
    ArchiveFormat, AssetError, AssetReader, Content, DirEntry, FileKind, UnpackedFiles,
};

/// Fetches remote assets. Called where blocking is allowed; an implementation with an async client blocks on it.
pub trait UriFetcher: Send + Sync {
    /// The content at an `http` or `https` address.
    fn fetch(&self, uri: &str) -> Result<Content, Box<dyn std::error::Error + Send + Sync>>;
}

/// Reads assets from the file system.
#[derive(Clone)]
pub struct FsReader {
    root: PathBuf,
    fetcher: Option<Arc<dyn UriFetcher>>,
}

impl FsReader {
    /// A reader whose relative paths start at `root`. Remote addresses are an error.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        FsReader {
            root: root.into(),
            fetcher: None,
        }
    }

    /// The reader with `fetcher` for remote addresses.
    #[must_use]
    pub fn with_fetcher(mut self, fetcher: Arc<dyn UriFetcher>) -> Self {
        self.fetcher = Some(fetcher);
        self
    }

    fn resolve(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

impl AssetReader for FsReader {
    fn kind(&self, path: &str) -> Result<FileKind, AssetError> {
        let resolved = self.resolve(path);
        resolved
            .symlink_metadata()
            .and_then(|metadata| kind_of(metadata.file_type(), &resolved))
            .map_err(|source| unreadable(&resolved, source))
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, AssetError> {
        let resolved = self.resolve(path);
        let entries = resolved
            .read_dir()
            .map_err(|source| unreadable(&resolved, source))?;
        entries
            .map(|entry| {
                let entry = entry.map_err(|source| unreadable(&resolved, source))?;
                let path = entry.path();
                let kind = entry
                    .file_type()
                    .and_then(|file_type| kind_of(file_type, &path))
                    .map_err(|source| unreadable(&path, source))?;
                let name =
                    entry
                        .file_name()
                        .into_string()
                        .map_err(|_| AssetError::NameNotUtf8 {
                            location: path.display().to_string(),
                        })?;
                Ok(DirEntry { name, kind })
            })
            .collect()
    }

    fn open(&self, path: &str) -> Result<Content, AssetError> {
        let resolved = self.resolve(path);
        let open = || {
            let file = File::open(&resolved)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(io::Error::from(io::ErrorKind::IsADirectory));
            }
            Ok(Content {
                size: metadata.len(),
                reader: Box::new(file),
            })
        };
        open().map_err(|source| unreadable(&resolved, source))
    }

    fn fetch(&self, uri: &str) -> Result<Content, AssetError> {
        let fetcher = self.fetcher.as_ref().ok_or_else(|| AssetError::NoFetcher {
            uri: uri.to_owned(),
        })?;
        match fetcher.fetch(uri) {
            Ok(content) => Ok(content),
            Err(source) => Err(AssetError::Fetch {
                uri: without_credentials(uri),
                source,
            }),
        }
    }

    fn unpack(
        &self,
        format: ArchiveFormat,
        content: Content,
        location: &str,
    ) -> Result<UnpackedFiles, AssetError> {
        unpack::unpack(format, content, location)
    }
}

fn kind_of(file_type: FileType, path: &Path) -> io::Result<FileKind> {
    if !file_type.is_symlink() {
        return Ok(if file_type.is_dir() {
            FileKind::Directory
        } else {
            FileKind::File
        });
    }
    Ok(if path.metadata()?.is_dir() {
        FileKind::LinkToDirectory
    } else {
        FileKind::LinkToFile
    })
}

/// An address without credentials, query and fragment, for messages.
fn without_credentials(uri: &str) -> String {
    let uri = uri.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = uri.split_once("://") else {
        return uri.to_owned();
    };
    let (authority, path) = rest
        .find('/')
        .map_or((rest, ""), |slash| rest.split_at(slash));
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

fn unreadable(path: &Path, source: io::Error) -> AssetError {
    AssetError::Read {
        location: path.display().to_string(),
        source,
    }
}

#[cfg(test)]
mod remote_tests;
#[cfg(test)]
mod tests;
