//! Secrets manager of a stack (`state.md` 5.6).
//!
//! A stack without secrets has no manager. One is created for the first secret, and its salt or its encrypted data key is
//! immediately written to the stack's settings file.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plumb_automation::codec::{ManagerCodec, provider_of};
use plumb_project::SecretsSettings;
use plumb_secrets::{
    CloudKeys, Error as SecretsError, PASSPHRASE, Passphrases, Plaintext, SecretsManager,
};
use plumb_state::{CodecError, SecretCodec, SecretsProvider};

use super::StackSettings;
use super::managers::secrets_of;
use super::passphrase::Source;
use crate::Error;

/// Secrets manager of a stack, created on demand.
pub struct StackSecrets {
    pub(super) passphrases: Passphrases,
    pub(super) keys: CloudKeys,
    pub(super) source: Source,
    /// Manager to create for the first secret, if the stack has none.
    pub(super) new_manager: NewManager,
    /// Settings file and project name, for the salt of a new manager.
    pub(super) file: Option<(PathBuf, String)>,
    pub(super) state: Mutex<Managed>,
    /// Whether encryption is known to work.
    pub(super) is_prepared: AtomicBool,
    /// Whether a secret has occurred that must be encrypted later.
    pub(super) is_wanted: AtomicBool,
}

pub(super) struct Managed {
    pub(super) manager: Option<Arc<dyn SecretsManager>>,
    pub(super) settings: SecretsSettings,
}

/// Kind of a new manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NewManager {
    /// With a key derived from a passphrase.
    Passphrase,
    /// With a data key encrypted by the key at this URL.
    Cloud(String),
}

impl StackSecrets {
    fn lock(&self) -> MutexGuard<'_, Managed> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Encryption settings for the settings file.
    pub fn settings(&self) -> SecretsSettings {
        self.lock().settings.clone()
    }

    /// The manager, if the stack has one.
    pub fn manager(&self) -> Option<Arc<dyn SecretsManager>> {
        self.lock().manager.clone()
    }

    /// Record of the manager for snapshots.
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

    /// The manager; creates one if there is none.
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

    /// Checks that secrets can be encrypted, and prompts for the passphrase if necessary. A stack without a manager gets one
    /// only for its first secret, if the passphrase is given.
    pub fn prepare(&self) -> Result<(), SecretsError> {
        match self.manager() {
            Some(manager) => manager.check()?,
            None if self.needs_passphrase() && self.source.has_given()? => {}
            None => self.manager_or_new()?.check()?,
        }
        self.is_prepared.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// [`StackSecrets::prepare`] during an operation, without prompts. A preview postpones the prompt to its end, because it
    /// records nothing before.
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

    /// Whether a preview needs secrets to be encrypted.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    /// Whether a passphrase is needed and has been given. It may be wrong.
    pub fn is_given(&self) -> Result<bool, SecretsError> {
        Ok(self.needs_passphrase() && self.source.has_given()?)
    }

    /// Whether [`StackSecrets::prepare`] would prompt.
    pub fn would_ask(&self) -> Result<bool, SecretsError> {
        Ok(self.needs_passphrase() && self.source.would_ask()?)
    }

    fn needs_passphrase(&self) -> bool {
        match self.manager() {
            Some(manager) => manager.kind() == PASSPHRASE,
            None => self.new_manager == NewManager::Passphrase,
        }
    }

    /// Checks the passphrase, if one is needed. Succeeds without a manager.
    pub fn check(&self) -> Result<(), SecretsError> {
        let salt = self.lock().settings.salt.clone();
        match salt {
            Some(salt) => self.passphrases.open(&salt)?.unlock(),
            None => Ok(()),
        }
    }

    /// Error for ciphertexts without a manager that can decrypt them.
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
