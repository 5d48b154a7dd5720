//! Files of a cached plugin: a listing with their hashes, and the digest of the listing.
//!
//! `plumb.lock` contains the digest. For a plugin in source form the cache keeps the listing beside it
//! (`<folder>.contents`), because the package manager of its language adds files to the folder later. The listing itself is
//! verified by the digest, so that changing it is of no use to an attacker.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use plumb_plugin::discovery::MANIFEST_FILE;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::install::beside;

/// A file of a plugin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    /// Path relative to the folder of the plugin, separated by `/`.
    path: String,
    kind: EntryKind,
    /// SHA-256 of the content, or of the target of a link.
    sha256: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EntryKind {
    File,
    Program,
    Link,
}

/// All files of a plugin, sorted by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contents(Vec<Entry>);

impl Contents {
    /// The files in a folder.
    pub(crate) fn of(folder: &Path) -> io::Result<Self> {
        let mut entries = Vec::new();
        collect(folder, "", &mut entries)?;
        entries.sort();
        Ok(Contents(entries))
    }

    /// Digest in the lock file.
    pub(crate) fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.text()))
    }

    /// Text of the listing, one line per file.
    fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.0 {
            let line = serde_json::to_string(entry).expect("strings and a name can be written");
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// Writes the listing beside the folder.
    pub(crate) fn keep(&self, folder: &Path) -> io::Result<()> {
        fs::write(listing_of(folder), self.text())
    }

    /// Digest of the files in the folder that matter for running `file`; `None` if the listing is missing.
    ///
    /// For an executable all files matter, because it may load any of them. For a plugin in source form only published files
    /// matter; `file` and the manifest must be among them, otherwise the digest is that of all files.
    pub(crate) fn digest_now(folder: &Path, file: &Path) -> io::Result<Option<String>> {
        let place = if file.is_dir() {
            Some(file)
        } else {
            file.parent()
        };
        let manifest = place.unwrap_or(folder).join(MANIFEST_FILE);
        if !manifest.is_file() {
            return Ok(Some(Contents::of(folder)?.digest()));
        }
        let Some(kept) = Contents::kept(folder)? else {
            return Ok(None);
        };
        if !kept.has(folder, &manifest) || (file.is_file() && !kept.has(folder, file)) {
            return Ok(Some(Contents::of(folder)?.digest()));
        }
        let now = kept.0.iter().map(|entry| entry_at(folder, &entry.path));
        let now: Vec<Entry> = now.collect::<io::Result<_>>()?;
        Ok(Some(Contents(now).digest()))
    }

    /// A file that was changed, added or removed, if the stored listing has this digest.
    pub(crate) fn first_change(folder: &Path, digest: &str) -> Option<String> {
        let kept = Contents::kept(folder).ok()??;
        if kept.digest() != digest {
            return None;
        }
        let now = Contents::of(folder).ok()?;
        let is_missing = |entry: &&Entry| !now.0.contains(entry);
        let is_new = |entry: &&Entry| !kept.0.contains(entry);
        let changed = kept.0.iter().find(is_missing);
        let changed = changed.or_else(|| now.0.iter().find(is_new));
        changed.map(|entry| entry.path.clone())
    }

    fn has(&self, folder: &Path, file: &Path) -> bool {
        self.0.iter().any(|entry| folder.join(&entry.path) == file)
    }

    /// The listing stored at installation.
    fn kept(folder: &Path) -> io::Result<Option<Self>> {
        let text = match fs::read_to_string(listing_of(folder)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let lines = text.lines().map(serde_json::from_str);
        let entries: Result<_, serde_json::Error> = lines.collect();
        Ok(Some(Contents(entries?)))
    }
}

/// Path of a plugin's listing.
pub(crate) fn listing_of(folder: &Path) -> PathBuf {
    beside(folder, ".contents")
}

fn collect(folder: &Path, prefix: &str, entries: &mut Vec<Entry>) -> io::Result<()> {
    for child in fs::read_dir(folder.join(prefix))? {
        let child = child?;
        let name = child.file_name();
        let Some(name) = name.to_str() else {
            let path = child.path();
            let said = format!("the name of {} is not UTF-8", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, said));
        };
        let path = if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}/{name}")
        };
        if child.file_type()?.is_dir() {
            collect(folder, &path, entries)?;
        } else {
            entries.push(entry_at(folder, &path)?);
        }
    }
    Ok(())
}

fn entry_at(folder: &Path, path: &str) -> io::Result<Entry> {
    let file = folder.join(path);
    let metadata = fs::symlink_metadata(&file)?;
    let entry = |kind, sha256: Vec<u8>| Entry {
        path: path.to_owned(),
        kind,
        sha256: hex::encode(sha256),
    };
    if metadata.is_symlink() {
        let target = fs::read_link(&file)?;
        let digest = Sha256::digest(target.as_os_str().as_encoded_bytes());
        return Ok(entry(EntryKind::Link, digest.to_vec()));
    }
    if !metadata.is_file() {
        let said = format!("{} is neither a file nor a link", file.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, said));
    }
    let mut hasher = Sha256::new();
    let mut content = File::open(&file)?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = io::Read::read(&mut content, &mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    Ok(entry(kind_of(&metadata), hasher.finalize().to_vec()))
}

#[cfg(unix)]
fn kind_of(metadata: &fs::Metadata) -> EntryKind {
    use std::os::unix::fs::PermissionsExt;
    if metadata.permissions().mode() & 0o100 == 0 {
        EntryKind::File
    } else {
        EntryKind::Program
    }
}

#[cfg(not(unix))]
fn kind_of(_metadata: &fs::Metadata) -> EntryKind {
    EntryKind::File
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plugin(tempfile::TempDir);

    impl Plugin {
        fn new() -> Self {
            let plugin = Plugin(tempfile::tempdir().unwrap());
            fs::create_dir_all(plugin.folder().join("lib")).unwrap();
            plugin.write("main", "one");
            plugin.write("lib/x", "two");
            plugin
        }

        fn folder(&self) -> PathBuf {
            self.0.path().join("plugin")
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.folder().join(path), text).unwrap();
        }

        fn digest(&self) -> Option<String> {
            Contents::digest_now(&self.folder(), &self.folder().join("main")).unwrap()
        }
    }

    #[test]
    fn every_file_counts_for_an_executable() {
        let plugin = Plugin::new();
        let first = plugin.digest();
        plugin.write("lib/x", "2");
        assert_ne!(plugin.digest(), first);
        plugin.write("lib/x", "two");
        assert_eq!(plugin.digest(), first);
        plugin.write("lib/y", "");
        assert_ne!(plugin.digest(), first);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_count() {
        use std::os::unix::fs::PermissionsExt;
        let plugin = Plugin::new();
        let first = plugin.digest();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(plugin.folder().join("main"), executable).unwrap();
        let second = plugin.digest();
        assert_ne!(second, first);
        let linked = |target: &str| {
            fs::remove_file(plugin.folder().join("lib/x")).unwrap();
            std::os::unix::fs::symlink(target, plugin.folder().join("lib/x")).unwrap();
            plugin.digest()
        };
        let third = linked("../main");
        assert_ne!(third, second);
        assert_ne!(linked("/main"), third);
    }

    #[test]
    fn what_was_installed_for_sources_does_not_count() {
        let plugin = Plugin::new();
        plugin.write(MANIFEST_FILE, "runtime: python");
        assert_eq!(plugin.digest(), None);
        let published = Contents::of(&plugin.folder()).unwrap();
        published.keep(&plugin.folder()).unwrap();
        plugin.write("lib/installed", "");
        assert_eq!(plugin.digest(), Some(published.digest()));
        plugin.write("main", "1");
        assert_ne!(plugin.digest(), Some(published.digest()));
    }

    #[test]
    fn nothing_is_run_that_was_not_published() {
        let plugin = Plugin::new();
        let published = Contents::of(&plugin.folder()).unwrap();
        published.keep(&plugin.folder()).unwrap();
        plugin.write(MANIFEST_FILE, "runtime: python");
        assert_ne!(plugin.digest(), Some(published.digest()));

        let sources = Contents::of(&plugin.folder()).unwrap();
        sources.keep(&plugin.folder()).unwrap();
        plugin.write("pulumi-resource-x", "");
        let folder = plugin.folder();
        let digest = Contents::digest_now(&folder, &folder.join("pulumi-resource-x")).unwrap();
        assert_ne!(digest, Some(sources.digest()));
    }
}
