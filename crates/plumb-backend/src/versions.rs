//! Compact storage of states in the history.
//!
//! The official program writes a full copy of the state beside each record of the history, and never reads it. Small
//! states are stored like that here too. Of a large state, only one in [`FULL_EVERY`] versions is stored in full
//! (`<stack>-<time>.checkpoint.full`); the others (`.checkpoint.delta`) are compressed with the previous version as
//! their dictionary, so their size is proportional to the change.
//!
//! Both begin with a line of JSON ([`Head`]), which names the base of a delta and the digest of the state. A version is
//! read by decoding all versions from the last full one on, and verified with its digest. If an object of this chain is
//! missing or damaged, which a power failure may cause, the versions that build on it are lost, up to the next full
//! one. A version is compressed against the former state file, so writing one never reads the chain; if that file is
//! not the state of the newest version (the state was edited in the meantime), the version is stored in full.

use std::io::{self, Read as _, Write as _};

use plumb_project::StackReference;
use plumb_state::journal::disk::CheckpointDigest;
use serde::{Deserialize, Serialize};

use crate::error::BackendError;
use crate::keys;
use crate::state_file::StateFile;
use crate::store::{Store, json_bytes};

/// Size in bytes from which states are stored as deltas in stores of files.
const LARGE: usize = 16 << 10;
/// Size in bytes from which states are stored as deltas in other stores. These copy a state with one request.
const LARGE_ELSEWHERE: usize = 64 << 10;
/// Interval between full versions.
const FULL_EVERY: u32 = 25;
/// Compression level; higher ones do not make deltas smaller.
const LEVEL: i32 = 3;
const FULL: &str = ".checkpoint.full";
const DELTA: &str = ".checkpoint.delta";
const COPY: &str = ".checkpoint.json";

/// First line of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    format: u32,
    /// Digest of the state.
    digest: String,
    /// Number of versions to decode first.
    depth: u32,
    /// Name of the previous version, without the name of the stack; `None` for a full version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
}

const FORMAT: u32 = 1;

/// A state in the form in which the history stores it.
pub(crate) enum Kept {
    /// A copy of the state file.
    Copy,
    /// A large state in full.
    Full(Version),
    /// A delta of a large state.
    Delta(Version),
}

/// Content of a version.
pub(crate) struct Version {
    head: Head,
    packed: Vec<u8>,
}

impl Version {
    fn parse(object: &[u8]) -> Option<Self> {
        let end = object.iter().position(|byte| *byte == b'\n')?;
        let head: Head = serde_json::from_slice(&object[..end]).ok()?;
        (head.format == FORMAT).then(|| Version {
            head,
            packed: object[end + 1..].to_vec(),
        })
    }

    fn bytes(&self) -> Vec<u8> {
        [json_bytes(&self.head), vec![b'\n'], self.packed.clone()].concat()
    }

    /// Decompressed state; `None` if it does not match the digest.
    fn unpack(&self, base: &[u8]) -> Option<Vec<u8>> {
        let content = unpack(&self.packed, base).ok()?;
        (digest(&content) == self.head.digest).then_some(content)
    }
}

fn digest(content: &[u8]) -> String {
    CheckpointDigest::of(content).to_string()
}

fn pack(content: &[u8], base: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::stream::write::Encoder::with_ref_prefix(Vec::new(), LEVEL, base)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(window_log(content.len() + base.len()))?;
    encoder.write_all(content)?;
    encoder.finish()
}

fn unpack(packed: &[u8], base: &[u8]) -> io::Result<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_ref_prefix(packed, base)?;
    decoder.window_log_max(LARGEST_WINDOW)?;
    let mut content = Vec::new();
    decoder.read_to_end(&mut content)?;
    Ok(content)
}

/// Size of the window, which must reach from the end of the content to the beginning of the base.
fn window_log(length: usize) -> u32 {
    let bits = usize::BITS - length.leading_zeros();
    bits.clamp(10, LARGEST_WINDOW)
}

const LARGEST_WINDOW: u32 = 30;

impl Store {
    /// Form in which the history stores this state. The former state file has been copied to its `.bak`.
    pub(crate) fn kept_form(
        &self,
        stack: &StackReference,
        state: &StateFile,
    ) -> Result<Kept, BackendError> {
        let StateFile { key, content } = state;
        let large = match self.bucket.files() {
            Some(_) => LARGE,
            None => LARGE_ELSEWHERE,
        };
        if content.len() < large {
            return Ok(Kept::Copy);
        }
        if let Some(version) = self.delta(stack, key, content) {
            return Ok(Kept::Delta(version));
        }
        Ok(Kept::Full(Version {
            head: Head {
                format: FORMAT,
                digest: digest(content),
                depth: 0,
                base: None,
            },
            packed: pack(content, b"").map_err(cannot_pack(key))?,
        }))
    }

    /// Stores the current state for the update whose history objects begin with `stem`.
    pub(crate) fn keep_state(
        &self,
        stack: &StackReference,
        state: &StateFile,
        kept: &Kept,
        stem: &str,
    ) -> Result<(), BackendError> {
        let put = |version: &Version, ending| {
            let key = format!("{stem}{ending}");
            self.bucket.put_relaxed(&key, &version.bytes())
        };
        match kept {
            Kept::Copy => {
                let extension = self.options.compression.extension();
                self.copy_state(stack, state, &format!("{stem}{COPY}{extension}"))?;
            }
            Kept::Full(version) => put(version, FULL)?,
            Kept::Delta(version) => put(version, DELTA)?,
        }
        self.prune(stack).map(drop)
    }

    /// Current state as a delta of the newest version; `None` if that is not possible.
    fn delta(&self, stack: &StackReference, state: &str, content: &[u8]) -> Option<Version> {
        let keys = self.version_keys(stack).ok()?;
        let newest = keys.last()?;
        let head = Version::parse(&self.bucket.get(newest).ok()??)?.head;
        if head.depth + 1 >= FULL_EVERY {
            return None;
        }
        let former = self.read(&format!("{state}.bak")).ok()??;
        if digest(&former) != head.digest {
            return None;
        }
        let packed = pack(content, &former).ok()?;
        // If most of the state has changed, a full version is better than a delta.
        (packed.len() < content.len() / 16).then(|| Version {
            head: Head {
                format: FORMAT,
                digest: digest(content),
                depth: head.depth + 1,
                base: Some(ending_of(stack, newest)),
            },
            packed,
        })
    }

    /// State of the update whose history objects begin with `stem`; `None` if it is not stored.
    pub(crate) fn kept_state(
        &self,
        stack: &StackReference,
        stem: &str,
    ) -> Result<Option<Vec<u8>>, BackendError> {
        for ending in ["", ".gz", ".zst"] {
            let copy = self.read(&format!("{stem}{COPY}{ending}"))?;
            if copy.is_some() {
                return Ok(copy);
            }
        }
        let mut chain: Vec<Version> = Vec::new();
        let mut key = format!("{stem}{DELTA}");
        loop {
            let object = match self.bucket.get(&key)? {
                None if chain.is_empty() => self.bucket.get(&format!("{stem}{FULL}"))?,
                object => object,
            };
            let Some(version) = object.as_deref().and_then(Version::parse) else {
                return Ok(None);
            };
            let base = version.head.base.clone();
            chain.push(version);
            match base {
                Some(base) if chain.len() <= FULL_EVERY as usize => {
                    key = format!("{}/{}{base}", keys::history(stack), stack.stack);
                }
                Some(_) => return Ok(None),
                None => break,
            }
        }
        let mut content = Vec::new();
        while let Some(version) = chain.pop() {
            let Some(next) = version.unpack(&content) else {
                tracing::warn!(%stem, "a state of the history is damaged");
                return Ok(None);
            };
            content = next;
        }
        Ok(Some(content))
    }

    /// Keys of large states, oldest first.
    fn version_keys(&self, stack: &StackReference) -> Result<Vec<String>, BackendError> {
        let mut keys = self.history_keys(stack)?;
        keys.retain(|key| key.ends_with(FULL) || key.ends_with(DELTA));
        keys.sort();
        Ok(keys)
    }

    /// Deletes states of old updates, except those that the options keep and those that the kept ones build on. The
    /// records stay.
    pub(crate) fn prune(&self, stack: &StackReference) -> Result<usize, BackendError> {
        match self.options.kept_states {
            Some(limit) => self.prune_to(stack, limit),
            None => Ok(0),
        }
    }

    /// Deletes all but the newest states.
    pub(crate) fn prune_to(
        &self,
        stack: &StackReference,
        limit: usize,
    ) -> Result<usize, BackendError> {
        let is_state =
            |key: &String| key.ends_with(FULL) || key.ends_with(DELTA) || key.contains(COPY);
        let mut states = self.history_keys(stack)?;
        states.retain(is_state);
        states.sort();
        let mut first = states.len().saturating_sub(limit.max(1));
        while first > 0 && states[first].ends_with(DELTA) {
            first -= 1;
        }
        states.truncate(first);
        self.bucket.delete_all(&states)?;
        Ok(first)
    }
}

fn ending_of(stack: &StackReference, key: &str) -> String {
    keys::file_name(key)[stack.stack.as_str().len()..].to_owned()
}

fn cannot_pack(key: &str) -> impl FnOnce(io::Error) -> BackendError {
    let key = key.to_owned();
    move |source| BackendError::Unpack { key, source }
}
