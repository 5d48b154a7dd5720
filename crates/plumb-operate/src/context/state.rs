//! Access to the state of a stack.

use plumb_automation::codec::{ManagerCodec, recorded_manager};
use plumb_backend::{Loaded, Update};
use plumb_state::file::{Deployment, Layout, no_deployment};
use plumb_state::{CiphertextCache, EncryptedSnapshot, SecretsProvider, Snapshot};
use uuid::Uuid;

use super::{Context, Stack};
use crate::Error;

/// State of a stack, as stored.
pub enum StackState {
    /// No state: the stack was never updated, and has no secrets manager.
    Nothing,
    /// The state file.
    File(Box<Deployment>),
    /// The state file merged with an update's journal.
    Folded(Box<EncryptedSnapshot>),
}

impl StackState {
    /// State at the start of an update.
    pub fn of_update(update: &Update) -> Self {
        match &update.base().latest {
            Some(deployment) => StackState::File(Box::new(deployment.clone())),
            None => StackState::Nothing,
        }
    }

    /// Snapshot with encrypted secrets.
    pub fn opaque(&self) -> Option<&Snapshot> {
        match self {
            StackState::Nothing => None,
            StackState::File(deployment) => Some(deployment.opaque()),
            StackState::Folded(snapshot) => Some(snapshot.opaque()),
        }
    }

    /// Secrets provider of the state.
    pub fn provider(&self) -> Option<&SecretsProvider> {
        self.opaque()
            .and_then(|snapshot| snapshot.secrets_provider.as_ref())
    }
}

impl Context {
    /// Reads the state of a stack without locking it.
    pub fn load_state(&self, stack: &Stack) -> Result<StackState, Error> {
        Ok(match stack.backend.load(&stack.reference)? {
            Loaded::Checkpoint(checkpoint) => match checkpoint.latest {
                Some(deployment) => StackState::File(Box::new(deployment)),
                None => StackState::Nothing,
            },
            Loaded::Folded(snapshot) => StackState::Folded(snapshot),
        })
    }

    /// Codec for the secrets of a state with this provider.
    pub fn codec_of(&self, provider: Option<&SecretsProvider>) -> Result<ManagerCodec, Error> {
        let manager = recorded_manager(provider, self.passphrases(), self.cloud_keys())?;
        Ok(ManagerCodec(manager))
    }

    /// Decrypts a state with its recorded provider.
    pub fn decrypt_state(&self, state: &StackState) -> Result<Snapshot, Error> {
        let codec = self.codec_of(state.provider())?;
        let mut cache = CiphertextCache::new();
        Ok(match state {
            StackState::Nothing => Snapshot::default(),
            StackState::File(deployment) => deployment.decrypt(&codec, &mut cache)?,
            StackState::Folded(snapshot) => snapshot.decrypt(&codec, &mut cache)?,
        })
    }

    /// State in encrypted form; plaintext secrets in a file are encrypted.
    pub fn encrypted_state(&self, state: StackState) -> Result<EncryptedSnapshot, Error> {
        Ok(match state {
            StackState::Nothing => EncryptedSnapshot::default(),
            StackState::Folded(snapshot) => *snapshot,
            StackState::File(deployment) => {
                let codec = self.codec_of(deployment.opaque().secrets_provider.as_ref())?;
                deployment.into_encrypted(&codec)?
            }
        })
    }

    /// JSON text for an export.
    pub fn export_text(&self, state: StackState, show_secrets: bool) -> Result<String, Error> {
        if let StackState::Nothing = state {
            return Ok(no_deployment(Layout::Indented));
        }
        if show_secrets {
            return Ok(self
                .decrypt_state(&state)?
                .deployment_with_secrets_exposed(Layout::Indented));
        }
        Ok(self.encrypted_state(state)?.deployment(Layout::Indented))
    }

    /// Locks a stack for an update.
    pub fn take_stack(&self, stack: &Stack) -> Result<Update, Error> {
        let update = self.when_unlocked(stack, || {
            let id = Uuid::new_v4().to_string();
            Ok(stack.backend.begin_update(&stack.reference, &id)?)
        })?;
        for note in update.notes() {
            self.printer.warning(&note.to_string());
        }
        Ok(update)
    }

    /// Locks a stack, changes its state, validates it and releases the lock. After an error, the state is
    /// unchanged.
    pub fn edit_state<T>(
        &self,
        stack: &Stack,
        edit: impl FnOnce(&mut EncryptedSnapshot) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let update = self.take_stack(stack)?;
        let mut snapshot = self.encrypted_state(StackState::of_update(&update))?;
        let edited = edit(&mut snapshot)?;
        snapshot.normalize_urns()?;
        if !self.globals.disable_integrity_checking {
            snapshot.opaque().verify()?;
        }
        update.replace(&snapshot)?;
        Ok(edited)
    }
}
