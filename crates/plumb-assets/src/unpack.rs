//! Reading archive files.

use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;
use plumb_value::assets::{ArchiveFormat, AssetError, Content, UnpackedFiles};

pub(crate) fn unpack(
    format: ArchiveFormat,
    content: Content,
    location: &str,
) -> Result<UnpackedFiles, AssetError> {
    match format {
        ArchiveFormat::Tar => tar_files(content.reader, location),
        ArchiveFormat::TarGz => tar_files(MultiGzDecoder::new(content.reader), location),
        ArchiveFormat::Zip => zip_files(content, location),
    }
}

fn damaged(
    location: &str,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> AssetError {
    AssetError::Unpack {
        location: location.to_owned(),
        source: source.into(),
    }
}

fn tar_files(reader: impl Read, location: &str) -> Result<UnpackedFiles, AssetError> {
    let mut archive = tar::Archive::new(reader);
    let mut files = UnpackedFiles::new();
    for entry in archive
        .entries()
        .map_err(|error| damaged(location, error))?
    {
        let mut entry = entry.map_err(|error| damaged(location, error))?;
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
                location: location.to_owned(),
                name,
            });
        }
        let mut bytes = Vec::new();
        entry
            .read_to_end(&mut bytes)
            .map_err(|error| damaged(location, error))?;
        files.push((name, bytes.into()));
    }
    Ok(files)
}

fn zip_files(mut content: Content, location: &str) -> Result<UnpackedFiles, AssetError> {
    let mut packed = Vec::new();
    content
        .reader
        .read_to_end(&mut packed)
        .map_err(|error| damaged(location, error))?;
    let mut archive =
        zip::ZipArchive::new(Cursor::new(packed)).map_err(|error| damaged(location, error))?;
    let mut files = UnpackedFiles::new();
    for idx in 0..archive.len() {
        let mut entry = archive
            .by_index(idx)
            .map_err(|error| damaged(location, error))?;
        if entry.is_dir() {
            continue;
        }
        let mut bytes = Vec::new();
        entry
            .read_to_end(&mut bytes)
            .map_err(|error| damaged(location, error))?;
        let name = entry
            .name()
            .map_err(|error| damaged(location, error))?
            .into_owned();
        files.push((name, bytes.into()));
    }
    Ok(files)
}
