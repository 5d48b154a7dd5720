//! Reading of archive files.
//!
//! Content is kept in memory, so a small archive with huge content must not be read to its end. Bytes are counted as they
//! are unpacked, because the sizes in the archive are not trusted.

use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;
use plumb_value::assets::{ArchiveFormat, AssetError, Content, UnpackedFiles};

/// Maximum ratio of content to archive size, in addition to a fixed allowance.
const RATIO: u64 = 200;
const ALWAYS: u64 = 1 << 30;
/// Maximum number of files.
const ENTRIES: usize = 500_000;

pub(crate) fn unpack(
    format: ArchiveFormat,
    content: Content,
    location: &str,
) -> Result<UnpackedFiles, AssetError> {
    let limit = content.size.saturating_mul(RATIO).saturating_add(ALWAYS);
    unpack_within(format, content, location, limit)
}

/// Unpacks an archive with at most `limit` bytes of content.
pub(crate) fn unpack_within(
    format: ArchiveFormat,
    content: Content,
    location: &str,
    limit: u64,
) -> Result<UnpackedFiles, AssetError> {
    let unpacked = Unpacked {
        location,
        limit,
        left: limit,
        files: UnpackedFiles::new(),
    };
    match format {
        ArchiveFormat::Tar => unpacked.tar(content.reader),
        ArchiveFormat::TarGz => unpacked.tar(MultiGzDecoder::new(content.reader)),
        ArchiveFormat::Zip => unpacked.zip(content),
    }
}

/// Files unpacked so far, and the remaining allowance.
struct Unpacked<'a> {
    location: &'a str,
    limit: u64,
    /// Remaining allowance in bytes.
    left: u64,
    files: UnpackedFiles,
}

impl Unpacked<'_> {
    fn damaged(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> AssetError {
        AssetError::Unpack {
            location: self.location.to_owned(),
            source: source.into(),
        }
    }

    fn too_big(&self) -> AssetError {
        AssetError::TooBig {
            location: self.location.to_owned(),
            limit: self.limit,
            entries: ENTRIES,
        }
    }

    fn add(&mut self, name: String, content: impl Read) -> Result<(), AssetError> {
        if self.files.len() >= ENTRIES {
            return Err(self.too_big());
        }
        let mut bytes = Vec::new();
        // One byte more than the allowance is read, so that excess content is detected.
        let read = content.take(self.left + 1).read_to_end(&mut bytes);
        let read = read.map_err(|error| self.damaged(error))? as u64;
        self.left = self.left.checked_sub(read).ok_or_else(|| self.too_big())?;
        self.files.push((name, bytes.into()));
        Ok(())
    }

    fn tar(mut self, reader: impl Read) -> Result<UnpackedFiles, AssetError> {
        // The stream also contains names and padding, which may be as long as the content.
        let all = self.limit.saturating_mul(2).saturating_add(1);
        let mut archive = tar::Archive::new(reader.take(all));
        let result = self.tar_entries(&mut archive);
        if archive.into_inner().limit() == 0 {
            return Err(self.too_big());
        }
        result.map(|()| self.files)
    }

    fn tar_entries(&mut self, archive: &mut tar::Archive<impl Read>) -> Result<(), AssetError> {
        let entries = archive.entries().map_err(|error| self.damaged(error))?;
        for entry in entries {
            let entry = entry.map_err(|error| self.damaged(error))?;
            let name = String::from_utf8(entry.path_bytes().into_owned()).map_err(|error| {
                AssetError::NameNotUtf8 {
                    location: error.to_string(),
                }
            })?;
            let kind = entry.header().entry_type();
            if kind.is_dir() {
                continue;
            }
            if !kind.is_file() {
                return Err(AssetError::UnsupportedEntry {
                    location: self.location.to_owned(),
                    name,
                });
            }
            self.add(name, entry)?;
        }
        Ok(())
    }

    fn zip(mut self, mut content: Content) -> Result<UnpackedFiles, AssetError> {
        let mut packed = Vec::new();
        let read = content.reader.read_to_end(&mut packed);
        read.map_err(|error| self.damaged(error))?;
        let archive = zip::ZipArchive::new(Cursor::new(packed));
        let mut archive = archive.map_err(|error| self.damaged(error))?;
        for idx in 0..archive.len() {
            let entry = archive.by_index(idx).map_err(|error| self.damaged(error))?;
            if entry.is_dir() {
                continue;
            }
            let name = entry.name().map_err(|error| self.damaged(error))?;
            let name = name.into_owned();
            self.add(name, entry)?;
        }
        Ok(self.files)
    }
}
