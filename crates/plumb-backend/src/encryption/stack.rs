//! Turning the encryption of a stack's state on and off.

use plumb_project::StackReference;

use super::{EncryptedBucket, StackKey};
use crate::error::BackendError;
use crate::keys;
use crate::store::Store;

impl Store {
    fn can_encrypt(&self, stack: &StackReference) -> Result<&EncryptedBucket, BackendError> {
        if stack.project.is_none() {
            return Err(BackendError::LegacyEncryption);
        }
        self.encryption.as_deref().ok_or(BackendError::NoEncryption)
    }

    /// Key of a stack whose state is encrypted.
    pub(crate) fn stack_key(
        &self,
        stack: &StackReference,
    ) -> Result<Option<StackKey>, BackendError> {
        match &self.encryption {
            Some(bucket) => Ok(bucket.stack_key(&keys::place(stack))?),
            None => Ok(None),
        }
    }

    /// Sets the key for everything that is written for a stack from now on. Its present objects stay as they are.
    pub(crate) fn set_stack_key(
        &self,
        stack: &StackReference,
        key: Option<StackKey>,
    ) -> Result<(), BackendError> {
        let can_have_one = self.encryption.is_some() && stack.project.is_some();
        if key.is_none() && !can_have_one {
            return Ok(());
        }
        self.can_encrypt(stack)?.set_key(&keys::place(stack), key);
        Ok(())
    }

    /// Sets the key of a stack to that of the object `source`.
    pub(crate) fn adopt_key(
        &self,
        stack: &StackReference,
        source: &str,
    ) -> Result<(), BackendError> {
        let Some(bucket) = &self.encryption else {
            return Ok(());
        };
        let key = bucket.key_of_object(source)?;
        self.set_stack_key(stack, key)
    }

    /// Encrypts all objects of a stack with this key, or with `None` decrypts them. The caller holds its lock.
    ///
    /// The state file comes first, because it decides about everything that is written later. An interruption leaves
    /// objects of both kinds, all of which can be read; the next call converts the rest.
    pub(crate) fn encrypt_stack(
        &self,
        stack: &StackReference,
        key: Option<StackKey>,
    ) -> Result<(), BackendError> {
        let bucket = self.can_encrypt(stack)?;
        let record = key.as_ref().map(|key| key.record.clone());
        let state = self.state_file(stack)?.key;
        let objects = self.objects_with_state(stack)?;
        bucket.set_key(&keys::place(stack), key.clone());
        for object in std::iter::once(&state).chain(objects.iter().filter(|it| **it != state)) {
            let Some(stored) = bucket.stored(object)? else {
                continue;
            };
            if bucket.record(object, &stored)? != record {
                let content = bucket.decrypt(object, stored)?;
                bucket.convert(object, &content, key.as_ref())?;
            }
        }
        Ok(())
    }

    /// Keys of all objects of a stack that hold state.
    fn objects_with_state(&self, stack: &StackReference) -> Result<Vec<String>, BackendError> {
        let place = keys::place(stack);
        let states = keys::folder_of(&keys::state(stack)).to_owned();
        let folders = [
            states,
            keys::backups(stack),
            keys::history(stack),
            keys::removed(stack),
            keys::journals(stack),
        ];
        let mut objects = Vec::new();
        for folder in folders {
            let listed = self.bucket.list(&folder)?;
            objects.extend(listed.into_iter().map(|entry| entry.key));
        }
        objects.retain(|key| keys::stack_with_state(key) == Some(place.as_str()));
        Ok(objects)
    }
}
