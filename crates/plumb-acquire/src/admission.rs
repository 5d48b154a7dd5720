//! Whether the lock file of the project admits a plugin: by its name before anybody is asked for it, by its archive and its
//! files when it is installed, and by its files each time that it is started.

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
    /// Whether only plugins may be used that the lock file names.
    pub fn is_frozen(&self) -> bool {
        let lock_file = self.options.lock_file.as_ref();
        lock_file.is_some_and(|it| it.mode() == LockMode::Frozen)
    }

    /// The version of a plugin that stands for it where none is asked for: the newest one that a frozen lock file names.
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

    /// Whether the lock file admits the plugin of the cache that `file` belongs to: its executable, or the place where that
    /// would be in a plugin in source form.
    ///
    /// Frozen, it must name the plugin, and the files must be those that it names. Otherwise a plugin that it does not name is
    /// noted, and one that it names must not come from another archive, as far as that is known.
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

    /// An error if a frozen lock file does not name a plugin.
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

    /// Whether what was just unpacked may be installed; it is noted if it is the first of its kind.
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
