//! Verification of plugins by the lock file: by name before any request is sent, by archive and files at installation, and
//! by files at each start.

use std::path::Path;
use std::sync::PoisonError;

use plumb_plugin::PluginKind;
use semver::Version;

use crate::AcquireError;
use crate::acquirer::{Acquirer, Wanted, blocking};
use crate::content::Contents;
use crate::install::checksum_of;
use crate::lock_file::{Digests, LockMode, Locked};

impl Acquirer {
    /// Whether only plugins in the lock file may be used.
    pub fn is_frozen(&self) -> bool {
        let lock_file = self.options.lock_file.as_ref();
        lock_file.is_some_and(|it| it.mode() == LockMode::Frozen)
    }

    /// The newest version of a plugin in a frozen lock file, which is used for requests without a version.
    pub fn locked_version(
        &self,
        kind: PluginKind,
        name: &str,
    ) -> Result<Option<Version>, AcquireError> {
        let lock_file = self.options.lock_file.as_ref();
        let Some(lock_file) = lock_file.filter(|_| self.is_frozen()) else {
            return Ok(None);
        };
        Ok(Some(lock_file.newest(kind, name, self.platform)?))
    }

    /// Verifies the cached plugin that owns `file`: its executable, or the place where that would be in a plugin in source
    /// form.
    ///
    /// A frozen lock file must contain the plugin, and the digest of its files must match. Otherwise a plugin missing from
    /// the lock file is added, and one in it must not come from a different archive, as far as the origin is known.
    pub async fn verify(&self, file: &Path) -> Result<(), AcquireError> {
        let Some(lock_file) = &self.options.lock_file else {
            return Ok(());
        };
        let Some(plugin) = self.options.cache.owner_of(file) else {
            return Ok(());
        };
        let Some(version) = &plugin.version else {
            return Ok(());
        };
        if self.is_verified(file) {
            return Ok(());
        }
        let locked = Locked::new(plugin.kind, &plugin.name, version, self.platform);
        let known = lock_file.known(&locked)?;
        let archive = checksum_of(&plugin.directory);
        if lock_file.mode() == LockMode::Update {
            if let Some(archive) = &archive {
                lock_file.admit_archive(&locked, archive)?;
            }
            if known.content.is_some() {
                return Ok(());
            }
        }
        let (folder, run) = (plugin.directory.clone(), file.to_owned());
        let content = blocking(move || Contents::digest_now(&folder, &run)).await;
        let content = content.map_err(|source| AcquireError::Content {
            folder: plugin.directory.clone(),
            source,
        });
        match lock_file.mode() {
            LockMode::Frozen => {
                lock_file.admit_content(&locked, &plugin.directory, content?.as_deref())?;
            }
            LockMode::Update => {
                let content = content.ok().flatten();
                lock_file.note(&locked, Digests { archive, content })?;
            }
        }
        self.remember_verified(file);
        Ok(())
    }

    fn is_verified(&self, file: &Path) -> bool {
        let verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        verified.iter().any(|it| it == file)
    }

    fn remember_verified(&self, file: &Path) {
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        verified.push(file.to_owned());
    }

    /// Fails if the lock file is frozen and does not contain the plugin.
    pub(crate) fn check_named(
        &self,
        kind: PluginKind,
        name: &str,
        version: &Version,
    ) -> Result<(), AcquireError> {
        if let Some(lock_file) = &self.options.lock_file {
            lock_file.known(&Locked::new(kind, name, version, self.platform))?;
        }
        Ok(())
    }

    pub(crate) fn locked(&self, wanted: &Wanted, version: &Version) -> Locked {
        Locked::new(wanted.kind, &wanted.name, version, self.platform)
    }

    /// Verifies an unpacked plugin before it counts as installed, and adds it to the lock file if it is missing there.
    pub(crate) fn admit(
        &self,
        locked: &Locked,
        folder: &Path,
        archive: Option<String>,
        content: String,
    ) -> Result<(), AcquireError> {
        let Some(lock_file) = &self.options.lock_file else {
            return Ok(());
        };
        let known = lock_file.known(locked)?;
        if known.content.is_some() || lock_file.mode() == LockMode::Frozen {
            lock_file.admit_content(locked, folder, Some(&content))?;
        }
        let content = Some(content);
        if lock_file.mode() == LockMode::Update {
            lock_file.note(locked, Digests { archive, content })?;
        }
        Ok(())
    }
}
