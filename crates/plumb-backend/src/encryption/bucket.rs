//! A bucket that encrypts the objects of some stacks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use plumb_secrets::StateKey;
use plumb_state::journal::disk;

use super::envelope::{self, Envelope, EnvelopeError, RECOGNIZED};
use super::log::{EncryptedFile, LogEncoder, LogHead};
use super::{KeyRecord, StackKey, StateKeys};
use crate::bucket::{Bucket, Entry, JournalFile, JournalFiles, Version, Versioned};
use crate::compression::{self, Compression};
use crate::error::BucketError;
use crate::keys;
use crate::stored;
use crate::summary::Outline;

/// A bucket that decrypts what it reads, and encrypts what it writes for stacks whose state is encrypted.
pub(crate) struct EncryptedBucket {
    inner: Arc<dyn Bucket>,
    keys: Arc<dyn StateKeys>,
    /// Keys that have been opened.
    opened: Mutex<HashMap<KeyRecord, Arc<StateKey>>>,
    /// Keys of the stacks whose state file has been read, by `<project>/<stack>`. `None` for those that are not
    /// encrypted.
    stacks: Mutex<HashMap<String, Option<StackKey>>>,
}

impl EncryptedBucket {
    pub(crate) fn new(inner: Arc<dyn Bucket>, keys: Arc<dyn StateKeys>) -> Self {
        EncryptedBucket {
            inner,
            keys,
            opened: Mutex::default(),
            stacks: Mutex::default(),
        }
    }

    fn stacks(&self) -> MutexGuard<'_, HashMap<String, Option<StackKey>>> {
        self.stacks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Encrypts what is written for the stack at `place` from now on; with `None`, no longer.
    pub(crate) fn set_key(&self, place: &str, key: Option<StackKey>) {
        self.stacks().insert(place.to_owned(), key);
    }

    /// Key of the stack at `place`, according to its state file.
    pub(crate) fn stack_key(&self, place: &str) -> Result<Option<StackKey>, BucketError> {
        if let Some(known) = self.stacks().get(place) {
            return Ok(known.clone());
        }
        let mut found = None;
        for entry in self.inner.find_all(&keys::state_variants(place))? {
            let start = self.stored_start(&entry.key, RECOGNIZED)?;
            if start.is_some_and(|start| is_encrypted(&entry.key, &start)) {
                found = self.key_of_object(&entry.key)?;
            }
        }
        self.set_key(place, found.clone());
        Ok(found)
    }

    /// Beginning of the stored content of an object, which is enough for [`is_encrypted`].
    fn stored_start(&self, key: &str, length: usize) -> Result<Option<Vec<u8>>, BucketError> {
        if compression_of(key) != Compression::None {
            return self.inner.get(key);
        }
        self.inner.get_start(key, length.max(RECOGNIZED))
    }

    /// Content of an object as it is stored.
    pub(crate) fn stored(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        self.inner.get(key)
    }

    /// Key that an object is encrypted with.
    pub(crate) fn key_of_object(&self, key: &str) -> Result<Option<StackKey>, BucketError> {
        let Some(stored) = self.inner.get(key)? else {
            return Ok(None);
        };
        match self.record(key, &stored)? {
            Some(record) => self.open(key, record).map(Some),
            None => Ok(None),
        }
    }

    /// Record of the key in the stored content of an object.
    pub(super) fn record(
        &self,
        key: &str,
        stored: &[u8],
    ) -> Result<Option<KeyRecord>, BucketError> {
        let bytes = self.readable(key, stored)?;
        let found = Encrypted::parse(&bytes).map_err(|error| self.unreadable(key, error))?;
        Ok(found.map(|found| found.record().clone()))
    }

    /// Outline of a state file. That of an encrypted one needs no key.
    pub(crate) fn outline(&self, key: &str) -> Result<Option<Outline>, BucketError> {
        let Some(stored) = self.inner.get(key)? else {
            return Ok(None);
        };
        let bytes = compression::unpack(stored).map_err(|error| self.unreadable(key, error))?;
        let found = Encrypted::parse(&bytes).map_err(|error| self.unreadable(key, error))?;
        Ok(Some(match found {
            Some(Encrypted::Envelope(envelope)) => envelope.head.outline,
            _ => Outline::of(&bytes),
        }))
    }

    /// Encrypts the commits of a journal outside of this bucket; `None` if its stack is not encrypted.
    pub(crate) fn log_encoder(&self, key: &str) -> Result<Option<LogEncoder>, BucketError> {
        let Some(place) = keys::stack_with_state(key) else {
            return Ok(None);
        };
        Ok(self.stack_key(place)?.map(LogEncoder::new))
    }

    /// Decrypts the content of a file outside of this bucket; `address` names it in errors.
    pub(crate) fn decrypt(&self, address: &str, content: Vec<u8>) -> Result<Vec<u8>, BucketError> {
        self.decoded(address, content).map(|(content, _)| content)
    }

    /// Key with this record. Keeps it, so that the passphrase or the key service is asked once.
    fn open(&self, key: &str, record: KeyRecord) -> Result<StackKey, BucketError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = opened.get(&record) {
            let key = Arc::clone(known);
            return Ok(StackKey { record, key });
        }
        let found = self.keys.open(&record);
        let found = Arc::new(found.map_err(|source| self.unreadable(key, source))?);
        opened.insert(record.clone(), Arc::clone(&found));
        Ok(StackKey { record, key: found })
    }

    fn unreadable(
        &self,
        key: &str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> BucketError {
        BucketError::Encrypted {
            address: self.inner.address(key),
            source: source.into(),
        }
    }

    /// The stored content of an object, decompressed if that is an encrypted state file.
    fn readable<'c>(&self, key: &str, stored: &'c [u8]) -> Result<Cow<'c, [u8]>, BucketError> {
        if envelope::is_encrypted(stored) || !is_encrypted(key, stored) {
            return Ok(Cow::Borrowed(stored));
        }
        let bytes = compression::unpack(stored.to_vec());
        Ok(Cow::Owned(
            bytes.map_err(|error| self.unreadable(key, error))?,
        ))
    }

    /// Content that was written, with its key if it is encrypted.
    fn decoded(
        &self,
        key: &str,
        stored: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<StackKey>), BucketError> {
        let bytes = self.readable(key, &stored)?;
        let found = Encrypted::parse(&bytes).map_err(|error| self.unreadable(key, error))?;
        let Some(found) = found else {
            return Ok((stored, None));
        };
        let opened = self.open(key, found.record().clone())?;
        let content = found.decrypt(&opened.key);
        let content = content.map_err(|error| self.unreadable(key, error))?;
        Ok((content, Some(opened)))
    }

    /// [`EncryptedBucket::decoded`]. A state file tells whether its stack is encrypted.
    fn read(&self, key: &str, stored: Vec<u8>) -> Result<Vec<u8>, BucketError> {
        let (content, found) = self.decoded(key, stored)?;
        if let Some(place) = keys::stack_with_state(key)
            && keys::state_variants(place).iter().any(|it| it == key)
        {
            self.set_key(place, found);
        }
        Ok(content)
    }

    /// Form in which content is stored.
    fn encoded<'c>(&self, key: &str, content: &'c [u8]) -> Result<Cow<'c, [u8]>, BucketError> {
        let Some(place) = keys::stack_with_state(key).filter(|_| !is_marker(key, content)) else {
            return Ok(Cow::Borrowed(content));
        };
        match self.stack_key(place)? {
            Some(stack) => self.encrypted(key, content, &stack).map(Cow::Owned),
            None => Ok(Cow::Borrowed(content)),
        }
    }

    fn encrypted(
        &self,
        key: &str,
        content: &[u8],
        stack: &StackKey,
    ) -> Result<Vec<u8>, BucketError> {
        let encrypted = if key.starts_with(keys::STACKS) {
            encrypted_state(stack, key, content)
        } else {
            envelope::object(stack, content)
        };
        encrypted.map_err(|error| self.unreadable(key, error))
    }

    /// Replaces an object by one with this content that is encrypted with `stack`, or not encrypted.
    pub(super) fn convert(
        &self,
        key: &str,
        content: &[u8],
        stack: Option<&StackKey>,
    ) -> Result<(), BucketError> {
        match stack {
            Some(_) if is_marker(key, content) => Ok(()),
            Some(stack) => self.inner.put(key, &self.encrypted(key, content, stack)?),
            None => self.inner.put(key, content),
        }
    }
}

/// An encrypted object in either of its forms.
pub(super) enum Encrypted<'b> {
    Log(LogHead<'b>),
    Envelope(Envelope<'b>),
}

impl<'b> Encrypted<'b> {
    /// Parses the content of an object; `None` if it is not encrypted.
    pub(super) fn parse(bytes: &'b [u8]) -> Result<Option<Self>, EnvelopeError> {
        if let Some(log) = LogHead::parse(bytes) {
            return Ok(Some(Encrypted::Log(log)));
        }
        if !envelope::is_encrypted(bytes) {
            return Ok(None);
        }
        Envelope::parse(bytes).map(|envelope| Some(Encrypted::Envelope(envelope)))
    }

    pub(super) fn record(&self) -> &KeyRecord {
        match self {
            Encrypted::Log(log) => &log.record,
            Encrypted::Envelope(envelope) => &envelope.head.record,
        }
    }

    pub(super) fn decrypt(&self, key: &StateKey) -> Result<Vec<u8>, EnvelopeError> {
        match self {
            Encrypted::Log(log) => Ok(log.decrypt(key)),
            Encrypted::Envelope(envelope) => envelope.decrypt(key),
        }
    }
}

/// Encrypted state file. Its content may be compressed, as the ending of the key says; so is the result then.
fn encrypted_state(stack: &StackKey, key: &str, content: &[u8]) -> std::io::Result<Vec<u8>> {
    let plain = compression::unpack(content.to_vec())?;
    let document = envelope::document(stack, content, Outline::of(&plain))?;
    Ok(compression_of(key).pack(&document)?.into_owned())
}

/// Whether an object is encrypted, by its first bytes. Those of a compressed state file are decompressed.
fn is_encrypted(key: &str, start: &[u8]) -> bool {
    if envelope::is_encrypted(start) {
        return true;
    }
    let may_be_compressed = compression_of(key) != Compression::None;
    may_be_compressed && envelope::is_encrypted(&compression::start(start, RECOGNIZED))
}

/// Compression of a state file, or of a copy beside it, by its key.
fn compression_of(key: &str) -> Compression {
    Compression::ALL
        .into_iter()
        .rfind(|it| key.contains(&format!(".json{}", it.extension())))
        .unwrap_or_default()
}

/// Whether an object in the folder of journals says only how far a journal got: a seal or a marker.
fn is_marker(key: &str, content: &[u8]) -> bool {
    key.starts_with(".pulumi/journals/") && (stored::is_marker(key) || disk::is_seal(content))
}

impl Bucket for EncryptedBucket {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        match self.inner.get(key)? {
            Some(stored) => self.read(key, stored).map(Some),
            None => Ok(None),
        }
    }

    fn get_versioned(&self, key: &str) -> Result<Option<Versioned>, BucketError> {
        let Some(found) = self.inner.get_versioned(key)? else {
            return Ok(None);
        };
        Ok(Some(Versioned {
            content: self.read(key, found.content)?,
            version: found.version,
        }))
    }

    fn get_start(&self, key: &str, length: usize) -> Result<Option<Vec<u8>>, BucketError> {
        match self.stored_start(key, length)? {
            Some(start) if is_encrypted(key, &start) => self.get(key),
            start => Ok(start),
        }
    }

    fn get_all(&self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, BucketError> {
        let found = self.inner.get_all(keys)?.into_iter().zip(keys);
        found
            .map(|(stored, key)| stored.map(|it| self.read(key, it)).transpose())
            .collect()
    }

    fn put(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.inner.put(key, &self.encoded(key, content)?)
    }

    fn put_relaxed(&self, key: &str, content: &[u8]) -> Result<(), BucketError> {
        self.inner.put_relaxed(key, &self.encoded(key, content)?)
    }

    fn put_if_absent(&self, key: &str, content: &[u8]) -> Result<bool, BucketError> {
        self.inner.put_if_absent(key, &self.encoded(key, content)?)
    }

    fn replace(
        &self,
        key: &str,
        content: &[u8],
        expected: Option<&Version>,
    ) -> Result<bool, BucketError> {
        self.inner
            .replace(key, &self.encoded(key, content)?, expected)
    }

    fn delete(&self, key: &str) -> Result<bool, BucketError> {
        self.inner.delete(key)
    }

    fn settle(&self, folder: &str) -> Result<(), BucketError> {
        self.inner.settle(folder)
    }

    fn delete_all(&self, keys: &[String]) -> Result<(), BucketError> {
        self.inner.delete_all(keys)
    }

    fn copy(&self, from: &str, to: &str) -> Result<bool, BucketError> {
        self.inner.copy(from, to)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), BucketError> {
        self.inner.rename(from, to)
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        self.inner.list(folder)
    }

    fn list_direct(&self, folder: &str) -> Result<Vec<Entry>, BucketError> {
        self.inner.list_direct(folder)
    }

    fn find(&self, key: &str) -> Result<Option<Entry>, BucketError> {
        self.inner.find(key)
    }

    fn find_all(&self, keys: &[String]) -> Result<Vec<Entry>, BucketError> {
        self.inner.find_all(keys)
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }

    fn pause(&self, time: Duration) {
        self.inner.pause(time);
    }

    fn address(&self, key: &str) -> String {
        self.inner.address(key)
    }

    fn files(&self) -> Option<&dyn JournalFiles> {
        self.inner.files().map(|_| self as &dyn JournalFiles)
    }
}

impl JournalFiles for EncryptedBucket {
    fn create_journal(&self, key: &str) -> Result<Box<dyn JournalFile>, BucketError> {
        let encoder = self.log_encoder(key)?;
        let files = self.inner.files().expect("checked by `files`");
        let file = files.create_journal(key)?;
        Ok(match encoder {
            Some(encoder) => Box::new(EncryptedFile { file, encoder }),
            None => file,
        })
    }
}
