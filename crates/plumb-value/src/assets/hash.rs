//! Hashes of assets and archives.

use std::io::Read;
use std::sync::Arc;

use ecow::EcoString;
use sha2::{Digest, Sha256};

use super::members::{archive_file, asset_content};
use super::tar::TarStream;
use super::{AssetError, AssetReader, Content, for_each_member};
use crate::{Archive, ArchiveSource, Asset, AssetSource, Output, PropertyMap, PropertyPath, Value};

/// Error for an asset or archive in a property map whose hash cannot be computed.
#[derive(Debug, thiserror::Error)]
#[error("could not compute the hash of the asset or archive at `{path}`")]
pub struct HashError {
    /// Path of the asset or archive.
    pub path: PropertyPath,
    /// Cause.
    #[source]
    pub source: AssetError,
}

/// Hash of an asset's content.
pub fn hash_asset(asset: &Asset, reader: &dyn AssetReader) -> Result<EcoString, AssetError> {
    let name = match &asset.source {
        AssetSource::Path(location) | AssetSource::Uri(location) => location.as_str(),
        AssetSource::Text(_) | AssetSource::Elided => "asset",
    };
    hash_content(asset_content(asset, name, reader)?, name)
}

/// Hash of an archive's content.
pub fn hash_archive(archive: &Archive, reader: &dyn AssetReader) -> Result<EcoString, AssetError> {
    if let Some((_, content)) = archive_file(archive, reader)? {
        return hash_content(content, "archive");
    }
    let mut digest = Sha256::new();
    let mut tar = TarStream::new(|bytes: &[u8]| digest.update(bytes));
    for_each_member(archive, reader, &mut |member| {
        tar.add(&member.name, member.content)
    })?;
    tar.finish();
    Ok(hex::encode(digest.finalize()).into())
}

/// The map with a hash on every asset and archive at any depth. Existing hashes are kept. Assets without hash and content
/// are left unchanged.
pub fn compute_hashes(
    map: &PropertyMap,
    reader: &dyn AssetReader,
) -> Result<PropertyMap, HashError> {
    if !map.values().any(lacks_hash) {
        return Ok(map.clone());
    }
    with_hashes_in_map(map, &PropertyPath::default(), reader)
}

/// [`compute_hashes`] for a single value.
pub fn compute_hashes_in(value: &Value, reader: &dyn AssetReader) -> Result<Value, HashError> {
    with_hashes(value, &PropertyPath::default(), reader)
}

fn hash_content(mut content: Content, location: &str) -> Result<EcoString, AssetError> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match content.reader.read(&mut buffer) {
            Ok(0) => return Ok(hex::encode(digest.finalize()).into()),
            Ok(count) => digest.update(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(AssetError::Read {
                    location: location.to_owned(),
                    source,
                });
            }
        }
    }
}

/// Whether any asset or archive in the value lacks a hash.
fn lacks_hash(value: &Value) -> bool {
    value.any(&mut |value| match value {
        Value::Asset(asset) => asset.hash.is_empty(),
        Value::Archive(archive) => match &archive.source {
            ArchiveSource::Assets(members) => {
                archive.hash.is_empty() || members.values().any(lacks_hash)
            }
            ArchiveSource::Path(_) | ArchiveSource::Uri(_) | ArchiveSource::Elided => {
                archive.hash.is_empty()
            }
        },
        _ => false,
    })
}

fn with_hashes_in_map(
    map: &PropertyMap,
    at: &PropertyPath,
    reader: &dyn AssetReader,
) -> Result<PropertyMap, HashError> {
    let entry = |(key, value): (&crate::PropertyKey, &Value)| {
        Ok((
            key.clone(),
            with_hashes(value, &at.join_key(key.to_text()), reader)?,
        ))
    };
    map.iter().map(entry).collect()
}

fn with_hashes(
    value: &Value,
    at: &PropertyPath,
    reader: &dyn AssetReader,
) -> Result<Value, HashError> {
    if !lacks_hash(value) {
        return Ok(value.clone());
    }
    Ok(match value {
        Value::Asset(asset) => Value::Asset(Arc::new(hashed_asset(asset, at, reader)?)),
        Value::Archive(archive) => Value::Archive(Arc::new(hashed_archive(archive, at, reader)?)),
        Value::Array(values) => {
            let element = |(idx, value)| with_hashes(value, &at.join_index(idx), reader);
            Value::Array(Arc::new(
                values
                    .iter()
                    .enumerate()
                    .map(element)
                    .collect::<Result<_, _>>()?,
            ))
        }
        Value::Object(map) => with_hashes_in_map(map, at, reader)?.into(),
        Value::Secret(inner) => Value::secret(with_hashes(inner, at, reader)?),
        Value::Output(output) => Value::Output(Arc::new(Output {
            value: output
                .value
                .as_ref()
                .map(|value| with_hashes(value, at, reader))
                .transpose()?,
            secret: output.secret,
            dependencies: output.dependencies.clone(),
        })),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Computed(_)
        | Value::Resource(_) => value.clone(),
    })
}

fn hashed_asset(
    asset: &Asset,
    at: &PropertyPath,
    reader: &dyn AssetReader,
) -> Result<Asset, HashError> {
    let mut hashed = asset.clone();
    if asset.hash.is_empty() && asset.source != AssetSource::Elided {
        hashed.hash = hash_asset(asset, reader).map_err(|source| HashError {
            path: at.clone(),
            source,
        })?;
    }
    Ok(hashed)
}

fn hashed_archive(
    archive: &Archive,
    at: &PropertyPath,
    reader: &dyn AssetReader,
) -> Result<Archive, HashError> {
    let mut hashed = archive.clone();
    if let ArchiveSource::Assets(members) = &mut hashed.source {
        for (name, member) in members {
            *member = with_hashes(member, &at.join_key(name.clone()), reader)?;
        }
    }
    if archive.hash.is_empty() && archive.source != ArchiveSource::Elided {
        hashed.hash = hash_archive(archive, reader).map_err(|source| HashError {
            path: at.clone(),
            source,
        })?;
    }
    Ok(hashed)
}

#[cfg(test)]
mod tests;
