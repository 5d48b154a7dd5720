//! The secrets manager of a stack (`state.md` 5.6).
//!
//! A stack without secrets has none. It is made when the first secret must be encrypted, and then its salt is written to the
//! stack's settings file before anything else happens.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plumb_project::SecretsSettings;
use plumb_secrets::{
    Error as SecretsError, LockReason, LockedManager, PASSPHRASE, Passphrases, Plaintext,
    SecretsManager,
};
use plumb_state::{CodecError, RawJson, SecretCodec, SecretsProvider};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::passphrase::Source;
use super::{Context, Stack, StackSettings};
use crate::Error;

/// Schemes of providers that exist elsewhere.
const CLOUD: [&str; 4] = ["awskms", "azurekeyvault", "gcpkms", "hashivault"];

/// Whether the manager recorded in the state may be used when the settings name none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateFallback {
    /// Only when the user switched it on.
    IfEnabled,
    /// Always, as `destroy` does.
    Always,
}

/// The secrets manager of a stack, made when it is needed.
pub struct StackSecrets {
    passphrases: Passphrases,
    source: Source,
    /// The settings file and the project's name, for the salt of a new manager.
    file: Option<(PathBuf, String)>,
    state: Mutex<Managed>,
    /// Whether it is known that secrets can be encrypted.
    is_prepared: AtomicBool,
    /// Whether something has passed that needs secrets to be encrypted later.
    is_wanted: AtomicBool,
}

struct Managed {
    manager: Option<Arc<dyn SecretsManager>>,
    settings: SecretsSettings,
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
        let manager = self.manager().ok_or_else(no_manager)?;
        let mut texts = manager.decrypt(&[ciphertext])?;
        Ok(texts.pop().unwrap_or_else(|| "".into()))
    }

    /// The manager; one for a new passphrase if there is none.
    pub fn manager_or_new(&self) -> Result<Arc<dyn SecretsManager>, SecretsError> {
        let mut managed = self.lock();
        if let Some(manager) = &managed.manager {
            return Ok(Arc::clone(manager));
        }
        let created = self
            .passphrases
            .create(&self.source.new_passphrase(false)?)?;
        managed.settings = SecretsSettings {
            salt: Some(created.salt().to_owned()),
            ..SecretsSettings::default()
        };
        self.write_settings(&managed.settings).map_err(|error| {
            SecretsError::PassphraseSource(error.text().unwrap_or_default().into())
        })?;
        let manager: Arc<dyn SecretsManager> = Arc::new(created);
        managed.manager = Some(Arc::clone(&manager));
        Ok(manager)
    }

    /// Makes sure that secrets can be encrypted, and asks for what that takes. A stack without a manager gets one when the
    /// first secret comes, if the passphrase for that is given.
    pub fn prepare(&self) -> Result<(), SecretsError> {
        match self.manager() {
            Some(manager) => manager.check()?,
            None if self.source.has_given()? => {}
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
        let manager = self.manager();
        manager.is_none_or(|manager| manager.kind() == PASSPHRASE)
    }

    /// Makes sure that the passphrase, if one is needed, is right. Without a manager there is nothing to check.
    pub fn check(&self) -> Result<(), SecretsError> {
        let salt = self.lock().settings.salt.clone();
        match salt {
            Some(salt) => self.passphrases.open(&salt)?.unlock(),
            None => Ok(()),
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
            .ok_or_else(no_manager)
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

fn no_manager() -> SecretsError {
    SecretsError::PassphraseSource("the stack has no secrets provider".into())
}

pub(crate) fn provider_of(manager: &dyn SecretsManager) -> SecretsProvider {
    SecretsProvider {
        type_name: manager.kind().into(),
        state: RawJson::parse(manager.state().get()).ok(),
    }
}

/// A manager that is known by its address and not built.
fn cloud_manager(settings: &SecretsSettings) -> Arc<dyn SecretsManager> {
    let state = json!({ "url": settings.provider, "encryptedkey": settings.encrypted_key });
    let state = to_raw_value(&state).expect("texts are valid JSON");
    Arc::new(LockedManager::new("cloud", &state, LockReason::NotBuilt))
}

impl Context {
    /// The secrets of a stack, as its settings say; `recorded` is what its state says.
    pub fn stack_secrets(
        &self,
        settings: &StackSettings,
        stack: &Stack,
        recorded: Option<&SecretsProvider>,
        fallback: StateFallback,
    ) -> Result<StackSecrets, Error> {
        let mut secrets = settings.file.secrets();
        let wants_cloud = secrets
            .provider
            .as_deref()
            .is_some_and(|name| name != PASSPHRASE && name != "default");
        let may_fall_back = fallback == StateFallback::Always
            || self
                .environment
                .is_on("PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER");
        let manager: Option<Arc<dyn SecretsManager>> = match (&secrets.salt, recorded) {
            _ if wants_cloud => Some(cloud_manager(&secrets)),
            (Some(salt), _) => Some(Arc::new(self.passphrases().open(salt)?)),
            (None, Some(provider)) if may_fall_back => {
                secrets.salt = salt_of(provider);
                Some(self.open_provider(provider)?)
            }
            (None, _) => None,
        };
        Ok(StackSecrets {
            passphrases: self.passphrases().clone(),
            source: self.passphrase_source(),
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

    /// The manager that a snapshot records.
    pub fn open_provider(
        &self,
        provider: &SecretsProvider,
    ) -> Result<Arc<dyn SecretsManager>, Error> {
        let state = provider.state.as_ref().map_or("null", RawJson::as_str);
        let state = RawValue::from_string(state.to_owned())?;
        Ok(plumb_secrets::open(
            &provider.type_name,
            &state,
            self.passphrases(),
        )?)
    }

    /// Whether a passphrase can be had without asking.
    pub fn has_passphrase(&self) -> Result<bool, Error> {
        Ok(Source::given(&self.environment)?.is_some())
    }

    /// A manager for a new passphrase, which is asked for even when one is given by the environment.
    pub fn new_passphrase_manager(
        &self,
        ignore_given: bool,
    ) -> Result<plumb_secrets::PassphraseManager, Error> {
        let passphrase = self.passphrase_source().new_passphrase(ignore_given)?;
        Ok(self.passphrases().create(&passphrase)?)
    }
}

/// The salt in the state of a passphrase manager.
pub(super) fn salt_of(provider: &SecretsProvider) -> Option<String> {
    let state: serde_json::Value = serde_json::from_str(provider.state.as_ref()?.as_str()).ok()?;
    Some(state.get("salt")?.as_str()?.to_owned())
}

/// Refuses names of secrets providers that do not exist or are not built.
pub(crate) fn check_provider_name(name: &str) -> Result<(), Error> {
    if matches!(name, "" | "default" | PASSPHRASE) {
        return Ok(());
    }
    let scheme = name.split_once("://").map_or(name, |(scheme, _)| scheme);
    if CLOUD.contains(&scheme) {
        return Err(Error::unsupported(format!("secrets provider `{scheme}`")));
    }
    Err(Error::user(format!(
        "unknown secrets provider type '{scheme}' (supported values: \
         default,passphrase,awskms,azurekeyvault,gcpkms,hashivault)"
    )))
}
