//! Files created by a script.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use ecow::EcoString;
use plumb_assets::FsReader;
use plumb_value::assets::{AssetError, hash_archive, hash_asset};
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, Value};

use super::glob;

/// Error while collecting files.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// A pattern is invalid.
    #[error(transparent)]
    Pattern(#[from] glob::Error),
    /// The content of a file cannot be read.
    #[error(transparent)]
    Content(#[from] AssetError),
    /// A directory cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// The directory where a script ran.
pub(super) struct Folder {
    /// Its path.
    path: PathBuf,
    /// Prefix of asset paths: the directory as the program names it, or else the absolute path.
    shown: String,
    /// Reader for asset paths.
    reader: FsReader,
}

impl Folder {
    /// The directory `dir`, or the working directory.
    pub(super) fn new(working_dir: &Path, dir: Option<&str>) -> Self {
        let shown = dir.map_or_else(|| working_dir.to_string_lossy().into_owned(), str::to_owned);
        Folder {
            path: working_dir.join(dir.unwrap_or_default()),
            shown,
            reader: FsReader::new(working_dir),
        }
    }

    /// Files that match the patterns, as assets by path. The last matching pattern decides; patterns that start with
    /// `!` exclude.
    pub(super) fn find(&self, patterns: &[String]) -> Result<BTreeMap<EcoString, Value>, Error> {
        let patterns = patterns
            .iter()
            .map(|pattern| match pattern.strip_prefix('!') {
                Some(excluded) => Ok((false, glob::compile(excluded)?)),
                None => Ok((true, glob::compile(pattern)?)),
            })
            .collect::<Result<Vec<_>, glob::Error>>()?;
        let mut found = BTreeMap::new();
        for file in self.files()? {
            let picked = patterns
                .iter()
                .rev()
                .find(|(_, pattern)| pattern.is_match(&file));
            if picked.is_some_and(|(include, _)| *include) {
                let asset = self.asset(&file)?;
                found.insert(file.into(), asset);
            }
        }
        Ok(found)
    }

    /// An archive of assets found in this directory.
    pub(super) fn archive(&self, assets: BTreeMap<EcoString, Value>) -> Result<Value, Error> {
        let mut archive = Archive {
            hash: EcoString::new(),
            source: ArchiveSource::Assets(assets),
        };
        archive.hash = hash_archive(&archive, &self.reader)?;
        Ok(Value::Archive(Arc::new(archive)))
    }

    fn asset(&self, file: &str) -> Result<Value, Error> {
        let path = clean(&format!("{}/{file}", self.shown));
        let mut asset = Asset {
            hash: EcoString::new(),
            source: AssetSource::Path(path.into()),
        };
        asset.hash = hash_asset(&asset, &self.reader)?;
        Ok(Value::Asset(Arc::new(asset)))
    }

    /// All files below the directory, with `/` as path separator. Symbolic links to directories are not followed.
    fn files(&self) -> Result<Vec<String>, Error> {
        let mut files = Vec::new();
        let mut pending = vec![String::new()];
        while let Some(folder) = pending.pop() {
            let path = self.path.join(&folder);
            let failed = |source| Error::Read {
                path: path.clone(),
                source,
            };
            for entry in fs::read_dir(&path).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let relative = if folder.is_empty() {
                    name.into_owned()
                } else {
                    format!("{folder}/{name}")
                };
                if entry.file_type().map_err(failed)?.is_dir() {
                    pending.push(relative);
                } else if entry.path().is_file() {
                    files.push(relative);
                }
            }
        }
        files.sort();
        Ok(files)
    }
}

/// Shortest equivalent of a path with `/` as separator.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        let cases = [
            ("./a", "a"),
            ("/x//y/../z", "/x/z"),
            ("a/../../b", "../b"),
            (".", "."),
            ("/..", "/"),
        ];
        for (path, expected) in cases {
            assert_eq!(clean(path), expected);
        }
    }

    #[test]
    fn later_patterns_win() {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "assets/logos/logo.svg",
            "src/index.js",
            "src/secret.js",
            "other.txt",
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let folder = Folder::new(root.path(), None);
        let patterns = ["assets/**", "src/**.js", "!**secret.*"].map(str::to_owned);
        let found = folder.find(&patterns).unwrap();
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            ["assets/logos/logo.svg", "src/index.js"]
        );
        let Value::Asset(asset) = &found["src/index.js"] else {
            panic!()
        };
        let shown = format!("{}/src/index.js", root.path().display());
        assert_eq!(asset.source, AssetSource::Path(shown.into()));
    }
}
