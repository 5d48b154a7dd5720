//! Secrets managers of stacks: selection, opening and creation (`state.md` 5.6).

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use plumb_automation::codec::recorded_manager;
use plumb_project::SecretsSettings;
use plumb_secrets::{CLOUD, CloudKeys, PASSPHRASE, SecretsManager};
use plumb_state::SecretsProvider;

use super::passphrase::Source;
use super::secrets::{Managed, NewManager};
use super::{Context, Stack, StackSecrets, StackSettings};
use crate::Error;

/// Use of the manager recorded in the state if the settings name none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateFallback {
    /// Only if the user has enabled it.
    IfEnabled,
    /// Always, as `destroy` does.
    Always,
}

impl Context {
    /// Cache of managers with encrypted data keys, so that each key is decrypted only once per process.
    pub fn cloud_keys(&self) -> &CloudKeys {
        self.cloud_keys.get_or_init(|| {
            let environment = self.environment.clone();
            CloudKeys::new(plumb_cloud::keys::Keys::new(move |name| {
                environment.get(name).map(ToOwned::to_owned)
            }))
        })
    }

    /// Secrets of a stack according to its settings; `recorded` is the provider in its state.
    pub fn stack_secrets(
        &self,
        settings: &StackSettings,
        stack: &Stack,
        recorded: Option<&SecretsProvider>,
        fallback: StateFallback,
    ) -> Result<StackSecrets, Error> {
        let mut secrets = settings.file.secrets();
        let may_fall_back = fallback == StateFallback::Always
            || self
                .environment
                .is_on("PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER");
        let mut new_manager = NewManager::Passphrase;
        let manager: Option<Arc<dyn SecretsManager>> = match (cloud_url(&secrets), recorded) {
            (Some(stored), _) => {
                let url = self.overridden(stored);
                new_manager = NewManager::Cloud(url.to_owned());
                self.cloud_manager(&secrets, url)
            }
            (None, Some(provider)) if secrets.salt.is_none() && may_fall_back => {
                let recorded = secrets_of(provider);
                if recorded.provider.is_some() {
                    secrets = recorded;
                } else {
                    secrets.salt = recorded.salt;
                }
                Some(self.open_provider(provider)?)
            }
            (None, _) => match &secrets.salt {
                Some(salt) => Some(Arc::new(self.passphrases().open(salt)?)),
                None => None,
            },
        };
        Ok(StackSecrets {
            passphrases: self.passphrases().clone(),
            keys: self.cloud_keys().clone(),
            source: self.passphrase_source(),
            new_manager,
            file: settings
                .path
                .clone()
                .map(|path| (path, stack.project_name().to_owned())),
            state: Mutex::new(Managed {
                manager,
                settings: secrets,
            }),
            is_prepared: AtomicBool::new(false),
            is_wanted: AtomicBool::new(false),
        })
    }

    /// Manager for settings with an encrypted key, unless the key was encrypted with another URL than `url`.
    fn cloud_manager(
        &self,
        secrets: &SecretsSettings,
        url: &str,
    ) -> Option<Arc<dyn SecretsManager>> {
        let key = secrets.encrypted_key.as_deref()?;
        let is_same = secrets.provider.as_deref() == Some(url);
        is_same.then(|| Arc::new(self.cloud_keys().open(url, key)) as Arc<dyn SecretsManager>)
    }

    /// URL of a key, or the one that overrides it for this run.
    fn overridden<'u>(&'u self, url: &'u str) -> &'u str {
        self.environment
            .non_empty("PULUMI_CLOUD_SECRET_OVERRIDE")
            .unwrap_or(url)
    }

    /// Opens the manager recorded in a snapshot.
    pub fn open_provider(
        &self,
        provider: &SecretsProvider,
    ) -> Result<Arc<dyn SecretsManager>, Error> {
        let (passphrases, keys) = (self.passphrases(), self.cloud_keys());
        Ok(recorded_manager(Some(provider), passphrases, keys)?)
    }

    /// Whether the passphrase is available without a prompt.
    pub fn has_passphrase(&self) -> Result<bool, Error> {
        Ok(Source::given(&self.environment)?.is_some())
    }

    /// New manager of the provider named by the user, which replaces `old`.
    pub fn new_manager(
        &self,
        provider: &str,
        old: Option<&dyn SecretsManager>,
    ) -> Result<Arc<dyn SecretsManager>, Error> {
        if is_cloud(provider) {
            let url = self.overridden(provider);
            return Ok(Arc::new(self.cloud_keys().create(url)?));
        }
        // A rotation always prompts for the new passphrase, because the one in the environment decrypts the existing
        // values.
        let is_rotation = old.is_some_and(|manager| manager.kind() == PASSPHRASE);
        let passphrase = self.passphrase_source().new_passphrase(is_rotation)?;
        Ok(Arc::new(self.passphrases().create(&passphrase)?))
    }

    /// Manager of a new stack: that of its settings file, or a new one if it needs no prompt or was requested.
    pub(super) fn first_manager(
        &self,
        settings: &StackSettings,
        provider: &str,
    ) -> Result<Option<Arc<dyn SecretsManager>>, Error> {
        let secrets = settings.file.secrets();
        if let Some(name) = secrets.provider.as_deref() {
            check_provider_name(name)?;
        }
        let named = match provider {
            "" | "default" => cloud_url(&secrets),
            other => Some(other).filter(|name| is_cloud(name)),
        };
        if let Some(url) = named {
            let present = self.cloud_manager(&secrets, self.overridden(url));
            return match present {
                Some(manager) => Ok(Some(manager)),
                None => self.new_manager(url, None).map(Some),
            };
        }
        if let Some(salt) = &secrets.salt {
            let manager = self.passphrases().open(salt)?;
            if self.has_passphrase()? {
                manager.unlock()?;
            }
            return Ok(Some(Arc::new(manager)));
        }
        if provider == PASSPHRASE || self.has_passphrase()? {
            return self.new_manager(PASSPHRASE, None).map(Some);
        }
        Ok(None)
    }
}

/// Settings for a manager that is recorded in a state.
pub fn secrets_of(provider: &SecretsProvider) -> SecretsSettings {
    let state = provider
        .state
        .as_ref()
        .and_then(|state| serde_json::from_str(state.as_str()).ok());
    let state: serde_json::Value = state.unwrap_or_default();
    let text = |key: &str| {
        state
            .get(key)
            .and_then(serde_json::Value::as_str)
            .map(ToOwned::to_owned)
    };
    match provider.type_name.as_str() {
        CLOUD => SecretsSettings {
            provider: text("url"),
            encrypted_key: text("encryptedkey"),
            salt: None,
        },
        _ => SecretsSettings {
            provider: None,
            encrypted_key: None,
            salt: text("salt"),
        },
    }
}

/// URL of the key in the settings.
fn cloud_url(secrets: &SecretsSettings) -> Option<&str> {
    secrets.provider.as_deref().filter(|name| is_cloud(name))
}

/// Whether a provider name is the URL of a key.
fn is_cloud(provider: &str) -> bool {
    !matches!(provider, "" | "default" | PASSPHRASE)
}

/// Rejects unknown names of secrets providers.
pub fn check_provider_name(name: &str) -> Result<(), Error> {
    let scheme = name.split_once(':').map_or(name, |(scheme, _)| scheme);
    if !is_cloud(name) || plumb_cloud::keys::SCHEMES.contains(&scheme) {
        return Ok(());
    }
    Err(Error::user(format!(
        "unknown secrets provider type '{scheme}' (supported values: \
         default,passphrase,awskms,azurekeyvault,gcpkms,hashivault)"
    )))
}
