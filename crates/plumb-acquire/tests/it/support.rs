//! A cache, a project folder and an acquirer for both.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;
use plumb_acquire::{
    AcquireError, Acquirer, AcquirerOptions, LockFile, LockMode, Overrides, Platform, Progress,
    Tokens, Wanted,
};
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::Cache;
use plumb_plugin::process::Environment;
use semver::Version;
use sha2::{Digest, Sha256};

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) overrides: String,
    pub(crate) tokens: Tokens,
    pub(crate) mode: LockMode,
    pub(crate) environment: Environment,
    pub(crate) seen: Arc<Mutex<Vec<Progress>>>,
}

impl World {
    pub(crate) fn new() -> Self {
        World {
            folder: tempfile::tempdir().unwrap(),
            overrides: String::new(),
            tokens: Tokens::default(),
            mode: LockMode::Update,
            environment: Environment::new(),
            seen: Arc::default(),
        }
    }

    pub(crate) fn cache(&self) -> Cache {
        Cache::new(self.folder.path().join("plugins"))
    }

    pub(crate) fn installed(&self) -> PathBuf {
        self.cache().directory().join("resource-pet-v1.0.0")
    }

    pub(crate) fn acquirer(&self) -> Acquirer {
        let seen = self.seen.clone();
        Acquirer::new(AcquirerOptions {
            cache: self.cache(),
            overrides: Overrides::parse(&self.overrides).unwrap(),
            tokens: self.tokens.clone(),
            environment: self.environment.clone(),
            program_version: "v1.2.3".to_owned(),
            lock_file: Some(LockFile::in_folder(self.folder.path(), self.mode)),
            prepare: None,
            watcher: Arc::new(move |_, _, _, progress| seen.lock().unwrap().push(progress)),
        })
    }

    pub(crate) async fn acquire(&self, url: &str) -> Result<Version, AcquireError> {
        self.acquirer().acquire(&wanted(url)).await
    }

    pub(crate) fn lock_file(&self) -> String {
        std::fs::read_to_string(self.folder.path().join(LockFile::NAME)).unwrap_or_default()
    }

    /// Names in the cache, without lock files.
    pub(crate) fn left(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.cache().directory()) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names
            .filter(|name| Path::new(name).extension() != Some("lock".as_ref()))
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn wanted(url: &str) -> Wanted {
    Wanted {
        kind: PluginKind::Resource,
        name: "pet".to_owned(),
        version: Some(Version::new(1, 0, 0)),
        url: Some(url.to_owned()),
        checksums: BTreeMap::new(),
        reinstall: false,
    }
}

/// Name of the archive of `wanted`.
pub(crate) fn asset() -> String {
    let Platform { os, arch } = Platform::current();
    format!("pulumi-resource-pet-v1.0.0-{os}-{arch}.tar.gz")
}

/// The archive of a plugin whose program contains `text`.
pub(crate) fn plugin(text: &str) -> Vec<u8> {
    archive(|tar| {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o755);
        tar.append_data(&mut header, "pulumi-resource-pet", text.as_bytes())
            .unwrap();
    })
}

pub(crate) fn archive(fill: impl FnOnce(&mut tar::Builder<Vec<u8>>)) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    fill(&mut tar);
    pack(&tar.into_inner().unwrap())
}

pub(crate) fn pack(tar: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(tar).unwrap();
    packed.finish().unwrap()
}

pub(crate) fn checksum(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}
