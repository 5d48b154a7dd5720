//! Encryption of the secrets of stacks.

use std::sync::{Arc, Mutex, PoisonError};

use plumb_backend::{StackKey, StateKeys};
use plumb_secrets::{CloudKeys, Error as SecretsError, Passphrases, Plaintext, SecretsManager};
use plumb_state::{CodecError, SecretCodec, SecretsProvider};

use crate::Error;
use crate::codec::{self, ManagerCodec, provider_of, recorded_manager};

/// Encryption of the secrets of new stacks. Stacks that exist keep what their state records.
#[derive(Clone, Default)]
pub enum Encryption {
    /// A passphrase made by chance for the workspace, which nobody knows: states cannot be read without it. For stores in
    /// memory.
    #[default]
    InProcess,
    /// A key derived from this passphrase, one for all stacks that the workspace creates.
    Passphrase(Arc<Plaintext>),
    /// A data key for each stack, wrapped by the key at this address, such as `awskms://…`. Needs the cargo feature of
    /// the cloud.
    Key(String),
}

impl Encryption {
    /// A key derived from `passphrase`.
    pub fn passphrase(passphrase: impl Into<String>) -> Self {
        Encryption::Passphrase(Arc::new(Plaintext::new(passphrase.into())))
    }
}

/// Kind of the manager that a new stack gets.
#[derive(Clone)]
enum NewManager {
    Passphrase(Arc<Plaintext>),
    Key(String),
}

/// Secrets managers of a workspace.
#[derive(Clone)]
pub(crate) struct Managers {
    new_manager: NewManager,
    passphrases: Passphrases,
    keys: CloudKeys,
    /// Manager of all new stacks, for passphrases.
    shared: Arc<Mutex<Option<Arc<dyn SecretsManager>>>>,
}

impl Managers {
    /// `variable` looks up settings of the clouds, such as credentials.
    pub(crate) fn new(
        encryption: Encryption,
        variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let new_manager = match encryption {
            Encryption::InProcess => {
                let mut chance = [0; 32];
                getrandom::fill(&mut chance)
                    .map_err(|error| Error::Workspace(error.to_string()))?;
                NewManager::Passphrase(Arc::new(Plaintext::new(hex::encode(chance))))
            }
            Encryption::Passphrase(passphrase) => NewManager::Passphrase(passphrase),
            Encryption::Key(url) => NewManager::Key(url),
        };
        let known = match &new_manager {
            NewManager::Passphrase(passphrase) => Some(passphrase.clone()),
            NewManager::Key(_) => None,
        };
        let passphrases = Passphrases::new(move || match &known {
            Some(passphrase) => Ok(Plaintext::new(passphrase.expose().to_owned())),
            None => Err(SecretsError::NoPassphrase),
        });
        Ok(Managers {
            new_manager,
            passphrases,
            keys: cloud_keys(variable),
            shared: Arc::default(),
        })
    }

    /// Codec of a stack, whose state records `recorded`.
    pub(crate) fn codec(&self, recorded: Option<&SecretsProvider>) -> Result<StackCodec, Error> {
        let manager = match recorded {
            Some(_) => Some(self.recorded(recorded)?),
            None => None,
        };
        Ok(StackCodec {
            managers: self.clone(),
            manager: Mutex::new(manager),
        })
    }

    /// Manager that a state records.
    pub(crate) fn recorded(
        &self,
        provider: Option<&SecretsProvider>,
    ) -> Result<Arc<dyn SecretsManager>, Error> {
        Ok(recorded_manager(provider, &self.passphrases, &self.keys)?)
    }

    /// Key for a state that is encrypted as a whole, encrypted by the manager that the state records or by a new one.
    pub(crate) fn new_state_key(
        &self,
        recorded: Option<&SecretsProvider>,
    ) -> Result<StackKey, Error> {
        let manager = match recorded {
            Some(_) => self.recorded(recorded)?,
            None => self.create().map_err(Error::secrets)?,
        };
        let key = manager.check().and_then(|()| StackKey::create(&*manager));
        key.map_err(Error::secrets)
    }

    /// Access to the keys of states that are encrypted as a whole.
    pub(crate) fn state_keys(&self) -> Arc<dyn StateKeys> {
        codec::state_keys(self.passphrases.clone(), self.keys.clone())
    }

    /// Manager for a stack without one.
    fn create(&self) -> Result<Arc<dyn SecretsManager>, SecretsError> {
        match &self.new_manager {
            NewManager::Key(url) => Ok(Arc::new(self.keys.create(url)?)),
            NewManager::Passphrase(passphrase) => {
                // Deriving a key takes long, and one salt is enough for what one passphrase opens anyway.
                let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(manager) = &*shared {
                    return Ok(manager.clone());
                }
                let manager: Arc<dyn SecretsManager> =
                    Arc::new(self.passphrases.create(passphrase)?);
                *shared = Some(manager.clone());
                Ok(manager)
            }
        }
    }
}

#[cfg(feature = "keys")]
fn cloud_keys(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> CloudKeys {
    CloudKeys::new(plumb_cloud::keys::Keys::new(variable))
}

/// Without the features of the clouds, every key is refused with a message that says so.
#[cfg(not(feature = "keys"))]
fn cloud_keys(_: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> CloudKeys {
    CloudKeys::new(())
}

/// Codec of one stack, which gets its manager with its first secret.
pub(crate) struct StackCodec {
    managers: Managers,
    manager: Mutex<Option<Arc<dyn SecretsManager>>>,
}

impl StackCodec {
    /// Checks that secrets can be encrypted. May take long.
    pub(crate) fn prepare(&self) -> Result<(), SecretsError> {
        self.manager()?.check()
    }

    fn manager(&self) -> Result<Arc<dyn SecretsManager>, SecretsError> {
        let mut manager = self.manager.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(manager) = &*manager {
            return Ok(manager.clone());
        }
        Ok(manager.insert(self.managers.create()?).clone())
    }
}

impl SecretCodec for StackCodec {
    fn encrypt_batch(
        &self,
        plaintexts: &[&plumb_state::Plaintext],
    ) -> Result<Vec<String>, CodecError> {
        ManagerCodec(self.manager().map_err(CodecError::new)?).encrypt_batch(plaintexts)
    }

    fn decrypt_batch(
        &self,
        ciphertexts: &[&str],
    ) -> Result<Vec<plumb_state::Plaintext>, CodecError> {
        ManagerCodec(self.manager().map_err(CodecError::new)?).decrypt_batch(ciphertexts)
    }

    fn provider(&self) -> Option<SecretsProvider> {
        let manager = self.manager.lock().unwrap_or_else(PoisonError::into_inner);
        manager.as_deref().map(provider_of)
    }
}
