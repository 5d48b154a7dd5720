//! The files of an archive, in the order required by its hash.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{ArchiveFormat, AssetError, AssetReader, Content, FileKind};
use crate::{Archive, ArchiveSource, Asset, AssetSource, EMPTY_TEXT_HASH, Value};

/// Directory of the engine's own files, which are never part of an archive.
const OWN_DIRECTORY: &str = ".pulumi";

/// A file of an archive.
pub struct Member {
    /// Name of the file in the archive.
    pub name: String,
    /// Content of the file.
    pub content: Content,
}

/// Calls `found` once for each file name of the archive, in order.
pub fn for_each_member(
    archive: &Archive,
    reader: &dyn AssetReader,
    found: &mut dyn FnMut(Member) -> Result<(), AssetError>,
) -> Result<(), AssetError> {
    Walk {
        reader,
        found,
        seen: BTreeSet::new(),
        outer: Vec::new(),
    }
    .archive(archive)
}

/// The content of an asset; `name` identifies it in error messages.
pub(super) fn asset_content(
    asset: &Asset,
    name: &str,
    reader: &dyn AssetReader,
) -> Result<Content, AssetError> {
    match &asset.source {
        AssetSource::Text(text) => Ok(Content::from_bytes(text.clone())),
        AssetSource::Path(path) => reader.open(path),
        AssetSource::Uri(uri) => uri_content(uri, HostRule::EmptyOrLocal, reader),
        AssetSource::Elided if asset.hash == EMPTY_TEXT_HASH => Ok(Content::from_bytes([])),
        AssetSource::Elided => Err(AssetError::NoContent {
            name: name.to_owned(),
        }),
    }
}

/// The format and content of an archive file; `None` when the archive is a directory or a map.
pub(super) fn archive_file(
    archive: &Archive,
    reader: &dyn AssetReader,
) -> Result<Option<(ArchiveFormat, Content)>, AssetError> {
    match &archive.source {
        ArchiveSource::Path(path) => match ArchiveFormat::of_name(path) {
            Some(format) => Ok(Some((format, reader.open(path)?))),
            None => Ok(None),
        },
        ArchiveSource::Uri(uri) => {
            let format = ArchiveFormat::of_name(path_of_uri(uri)).ok_or_else(|| {
                AssetError::NotAnArchive {
                    location: uri.to_string(),
                }
            })?;
            Ok(Some((format, uri_content(uri, HostRule::Empty, reader)?)))
        }
        ArchiveSource::Assets(_) | ArchiveSource::Elided => Ok(None),
    }
}

struct Walk<'a> {
    reader: &'a dyn AssetReader,
    found: &'a mut dyn FnMut(Member) -> Result<(), AssetError>,
    seen: BTreeSet<String>,
    /// Keys of the enclosing archives, outermost first.
    outer: Vec<String>,
}

impl Walk<'_> {
    fn archive(&mut self, archive: &Archive) -> Result<(), AssetError> {
        if let Some((format, content)) = archive_file(archive, self.reader)? {
            let location = location(archive);
            for (name, bytes) in self.reader.unpack(format, content, location)? {
                self.member(clean_path(&name), |_| Ok(Content::from_bytes(bytes)))?;
            }
            return Ok(());
        }
        match &archive.source {
            ArchiveSource::Assets(members) => members
                .iter()
                .try_for_each(|(name, value)| self.map_entry(name, value)),
            ArchiveSource::Path(path) => self.root(path),
            ArchiveSource::Elided if archive.hash == crate::EMPTY_ARCHIVE_HASH => Ok(()),
            ArchiveSource::Elided | ArchiveSource::Uri(_) => Err(AssetError::NoContent {
                name: self.outer.join("/"),
            }),
        }
    }

    fn map_entry(&mut self, name: &str, value: &Value) -> Result<(), AssetError> {
        match value {
            Value::Asset(asset) => {
                self.member(name.to_owned(), |reader| asset_content(asset, name, reader))
            }
            Value::Archive(archive) => {
                self.outer.push(name.to_owned());
                self.archive(archive)?;
                self.outer.pop();
                Ok(())
            }
            Value::Secret(inner) => self.map_entry(name, inner),
            _ => Err(AssetError::NotAnAsset {
                name: name.to_owned(),
            }),
        }
    }

    /// upstream: a directory behind a link has no members.
    fn root(&mut self, path: &str) -> Result<(), AssetError> {
        match self.reader.kind(path)? {
            FileKind::Directory => self.directory(path, ""),
            FileKind::LinkToDirectory => Ok(()),
            FileKind::File | FileKind::LinkToFile => Err(AssetError::NotAnArchive {
                location: path.to_owned(),
            }),
        }
    }

    fn directory(&mut self, path: &str, below: &str) -> Result<(), AssetError> {
        let mut entries = self.reader.list(path)?;
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        for entry in entries.iter().filter(|entry| entry.name != OWN_DIRECTORY) {
            let entry_path = format!("{}/{}", path.trim_end_matches('/'), entry.name);
            let name = if below.is_empty() {
                entry.name.clone()
            } else {
                format!("{below}/{}", entry.name)
            };
            match entry.kind {
                FileKind::Directory => self.directory(&entry_path, &name)?,
                FileKind::File | FileKind::LinkToFile => {
                    self.member(name, |reader| reader.open(&entry_path))?;
                }
                FileKind::LinkToDirectory => {}
            }
        }
        Ok(())
    }

    fn member(
        &mut self,
        name: String,
        open: impl FnOnce(&dyn AssetReader) -> Result<Content, AssetError>,
    ) -> Result<(), AssetError> {
        let name = self
            .outer
            .iter()
            .rev()
            .fold(name, |inner, key| join_paths(key, &inner));
        if self.seen.contains(&name) {
            return Ok(());
        }
        let content = open(self.reader)?;
        self.seen.insert(name.clone());
        (self.found)(Member { name, content })
    }
}

fn location(archive: &Archive) -> &str {
    match &archive.source {
        ArchiveSource::Path(location) | ArchiveSource::Uri(location) => location,
        ArchiveSource::Assets(_) | ArchiveSource::Elided => "",
    }
}

/// Hosts that a `file` address may have.
#[derive(Clone, Copy)]
enum HostRule {
    Empty,
    EmptyOrLocal,
}

fn uri_content(uri: &str, rule: HostRule, reader: &dyn AssetReader) -> Result<Content, AssetError> {
    let unsupported = || AssetError::UnsupportedUri {
        uri: uri.to_owned(),
    };
    let (scheme, rest) = uri.split_once(':').ok_or_else(unsupported)?;
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => reader.fetch(uri),
        "file" => {
            let host = rest.strip_prefix("//").map_or("", |rest| {
                rest.split(['/', '?', '#']).next().unwrap_or_default()
            });
            let host_allowed =
                host.is_empty() || (host == "localhost" && matches!(rule, HostRule::EmptyOrLocal));
            if !host_allowed {
                return Err(unsupported());
            }
            reader.open(&percent_decoded(path_of_uri(uri)).ok_or_else(unsupported)?)
        }
        _ => Err(unsupported()),
    }
}

/// The path of an address, without query and fragment.
fn path_of_uri(uri: &str) -> &str {
    let uri = uri.split(['?', '#']).next().unwrap_or_default();
    let rest = uri.split_once(':').map_or(uri, |(_, rest)| rest);
    match rest.strip_prefix("//") {
        Some(authority) => authority.find('/').map_or("", |slash| &authority[slash..]),
        None => rest,
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = after;
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok()
}

/// The cleaned path `outer/inner`; an empty part is ignored.
fn join_paths(outer: &str, inner: &str) -> String {
    match (outer.is_empty(), inner.is_empty()) {
        (true, true) => String::new(),
        (true, false) => clean_path(inner),
        (false, true) => clean_path(outer),
        (false, false) => clean_path(&format!("{outer}/{inner}")),
    }
}

/// The shortest equivalent path: no `.`, no double slash, `..` only at the start.
pub(super) fn clean_path(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if is_rooted => {}
            part => parts.push(part),
        }
    }
    match (is_rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

/// Content of shared bytes.
impl From<Arc<[u8]>> for Content {
    fn from(bytes: Arc<[u8]>) -> Self {
        Content::from_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        for (path, expected) in [
            ("a/b", "a/b"),
            ("./a//b/", "a/b"),
            ("a/../b", "b"),
            ("../a/../../b", "../../b"),
            ("/../a", "/a"),
            ("", "."),
            ("/", "/"),
            ("a/..", "."),
        ] {
            assert_eq!(clean_path(path), expected, "{path}");
        }
    }

    #[test]
    fn the_path_of_an_address_has_no_host_and_no_query() {
        assert_eq!(path_of_uri("https://host/a/b.zip?x=y.tar#z"), "/a/b.zip");
        assert_eq!(path_of_uri("https://host"), "");
        assert_eq!(path_of_uri("file:///tmp/a%20b"), "/tmp/a%20b");
        assert_eq!(percent_decoded("/tmp/a%20b").as_deref(), Some("/tmp/a b"));
        assert_eq!(percent_decoded("%zz"), None);
        assert_eq!(percent_decoded("%2"), None);
    }
}
