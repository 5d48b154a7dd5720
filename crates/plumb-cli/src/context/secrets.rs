//! The secrets manager of a stack (`state.md` 5.6).
//!
//! A stack without secrets has none. It is made when the first secret must be encrypted, and then its salt, or its encrypted
//! data key, is written to the stack's settings file before anything else happens.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plumb_project::SecretsSettings;
use plumb_secrets::{
    CloudKeys, Error as SecretsError, PASSPHRASE, Passphrases, Plaintext, SecretsManager,
};
use plumb_state::{CodecError, SecretCodec, SecretsProvider};

use super::StackSettings;
use super::managers::{provider_of, secrets_of};
use super::passphrase::Source;
use crate::Error;

/// The secrets manager of a stack, made when it is needed.
pub struct StackSecrets {
    pub(super) passphrases: Passphrases,
    pub(super) keys: CloudKeys,
    pub(super) source: Source,
    /// The manager that is made for the first secret of a stack without one.
    pub(super) new_manager: NewManager,
    /// The settings file and the project's name, for the salt of a new manager.
    pub(super) file: Option<(PathBuf, String)>,
    pub(super) state: Mutex<Managed>,
    /// Whether it is known that secrets can be encrypted.
    pub(super) is_prepared: AtomicBool,
    /// Whether something has passed that needs secrets to be encrypted later.
    pub(super) is_wanted: AtomicBool,
}

pub(super) struct Managed {
    pub(super) manager: Option<Arc<dyn SecretsManager>>,
    pub(super) settings: SecretsSettings,
}

/// A kind of manager that can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NewManager {
    /// One whose key comes from a passphrase.
    Passphrase,
    /// One whose data key is encrypted with the key at this address.
    Cloud(String),
}

impl StackSecrets {
    fn lock(&self) -> MutexGuard<'_, Managed> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the settings file must say about secrets.
    pub fn settings(&self) -> SecretsSettings {
        self.lock().settings.clone()
    }

    /// The manager, if the stack has one.
    pub fn manager(&self) -> Option<Arc<dyn SecretsManager>> {
        self.lock().manager.clone()
    }

    /// What a snapshot records of the manager, if there is one.
    pub fn provider(&self) -> Option<SecretsProvider> {
        self.manager().map(|manager| provider_of(manager.as_ref()))
    }

    /// Encrypts one text.
    pub fn encrypt(&self, text: &str) -> Result<String, SecretsError> {
        let mut ciphertexts = self.manager_or_new()?.encrypt(&[text.into()])?;
        Ok(ciphertexts.pop().unwrap_or_default())
    }

    /// Decrypts one ciphertext.
    pub fn decrypt(&self, ciphertext: &str) -> Result<Plaintext, SecretsError> {
        let manager = self.manager().ok_or_else(|| self.no_manager())?;
        let mut texts = manager.decrypt(&[ciphertext])?;
        Ok(texts.pop().unwrap_or_else(|| "".into()))
    }

    /// The manager; a new one if there is none.
    pub fn manager_or_new(&self) -> Result<Arc<dyn SecretsManager>, SecretsError> {
        let mut managed = self.lock();
        if let Some(manager) = &managed.manager {
            return Ok(Arc::clone(manager));
        }
        let manager: Arc<dyn SecretsManager> = match &self.new_manager {
            NewManager::Passphrase => {
                let passphrase = self.source.new_passphrase(false)?;
                Arc::new(self.passphrases.create(&passphrase)?)
            }
            NewManager::Cloud(url) => Arc::new(self.keys.create(url)?),
        };
        managed.settings = secrets_of(&provider_of(manager.as_ref()));
        self.write_settings(&managed.settings).map_err(|error| {
            SecretsError::PassphraseSource(error.text().unwrap_or_default().into())
        })?;
        managed.manager = Some(Arc::clone(&manager));
        Ok(manager)
    }

    /// Makes sure that secrets can be encrypted, and asks for what that takes. A stack without a manager gets one when the
    /// first secret comes, if the passphrase for that is given.
    pub fn prepare(&self) -> Result<(), SecretsError> {
        match self.manager() {
            Some(manager) => manager.check()?,
            None if self.needs_passphrase() && self.source.has_given()? => {}
            None => self.manager_or_new()?.check()?,
        }
        self.is_prepared.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// [`StackSecrets::prepare`] while something is running: nobody can be asked. In a preview the question is put off
    /// until its end, since nothing is recorded before.
    pub fn prepare_unasked(&self, is_preview: bool) -> Result<(), SecretsError> {
        if self.is_prepared.load(Ordering::Relaxed) {
            return Ok(());
        }
        if !self.would_ask()? {
            return self.prepare();
        }
        self.is_wanted.store(true, Ordering::Relaxed);
        if is_preview {
            Ok(())
        } else {
            Err(SecretsError::NoPassphrase)
        }
    }

    /// Whether a preview has passed something that needs secrets to be encrypted.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    /// Whether the passphrase, if one is needed, is given. It may still be wrong.
    pub fn is_given(&self) -> Result<bool, SecretsError> {
        Ok(self.needs_passphrase() && self.source.has_given()?)
    }

    /// Whether [`StackSecrets::prepare`] would ask the user.
    pub fn would_ask(&self) -> Result<bool, SecretsError> {
        Ok(self.needs_passphrase() && self.source.would_ask()?)
    }

    fn needs_passphrase(&self) -> bool {
        match self.manager() {
            Some(manager) => manager.kind() == PASSPHRASE,
            None => self.new_manager == NewManager::Passphrase,
        }
    }

    /// Makes sure that the passphrase, if one is needed, is right. Without a manager there is nothing to check.
    pub fn check(&self) -> Result<(), SecretsError> {
        let salt = self.lock().settings.salt.clone();
        match salt {
            Some(salt) => self.passphrases.open(&salt)?.unlock(),
            None => Ok(()),
        }
    }

    /// The error about ciphertexts without a manager that could have made them.
    fn no_manager(&self) -> SecretsError {
        match &self.new_manager {
            NewManager::Passphrase => {
                SecretsError::PassphraseSource("the stack has no secrets provider".into())
            }
            NewManager::Cloud(url) => SecretsError::OtherKey { url: url.clone() },
        }
    }

    fn write_settings(&self, settings: &SecretsSettings) -> Result<(), Error> {
        let Some((path, project)) = &self.file else {
            return Ok(());
        };
        let mut file = StackSettings::read(path, project)?;
        file.file.set_secrets(settings);
        file.save(None)
    }
}

impl SecretCodec for StackSecrets {
    fn encrypt_batch(
        &self,
        plaintexts: &[&plumb_state::Plaintext],
    ) -> Result<Vec<String>, CodecError> {
        ManagerCodec(self.manager_or_new().map_err(CodecError::new)?).encrypt_batch(plaintexts)
    }

    fn decrypt_batch(
        &self,
        ciphertexts: &[&str],
    ) -> Result<Vec<plumb_state::Plaintext>, CodecError> {
        let manager = self
            .manager()
            .ok_or_else(|| self.no_manager())
            .map_err(CodecError::new)?;
        ManagerCodec(manager).decrypt_batch(ciphertexts)
    }

    fn provider(&self) -> Option<SecretsProvider> {
        StackSecrets::provider(self)
    }
}

/// A secrets manager as snapshots use it.
pub struct ManagerCodec(pub Arc<dyn SecretsManager>);

impl SecretCodec for ManagerCodec {
    fn encrypt_batch(
        &self,
        plaintexts: &[&plumb_state::Plaintext],
    ) -> Result<Vec<String>, CodecError> {
        let texts: Vec<Plaintext> = plaintexts.iter().map(|text| text.reveal().into()).collect();
        self.0.encrypt(&texts).map_err(CodecError::new)
    }

    fn decrypt_batch(
        &self,
        ciphertexts: &[&str],
    ) -> Result<Vec<plumb_state::Plaintext>, CodecError> {
        let texts = self.0.decrypt(ciphertexts).map_err(CodecError::new)?;
        Ok(texts
            .iter()
            .map(|text| plumb_state::Plaintext::new(text.expose().to_owned()))
            .collect())
    }
}
