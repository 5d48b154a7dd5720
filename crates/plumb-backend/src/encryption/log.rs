//! Encrypted journals of one file.
//!
//! The file begins with a line that identifies the format, and a line with the [`KeyRecord`]. Each commit follows as a
//! frame: a marker (4 bytes), the number of the frame from zero (8 bytes), the length of the rest (4 bytes, both little
//! endian), and the encrypted commit. Number and length are authenticated with the commit, and so are the two lines.
//!
//! **A reader gets bytes as if nothing had been encrypted.** A frame that cannot be decrypted is passed on as it is, which
//! no journal reader takes for a record: at the end of the file it is a torn write, and before other frames it is
//! damage.

use std::io;
use std::ops::Range;

use plumb_secrets::StateKey;

use super::{KeyRecord, StackKey};
use crate::bucket::JournalFile;

const FORMAT: &[u8] = b"PLUMB-ENCRYPTED-LOG 1\n";
const MARKER: &[u8] = b"\xfePFr";
const PREFIX: usize = MARKER.len() + 8 + 4;
/// Room for the two lines. The frames take another quarter of the room for records at most.
const OVERHEAD: u64 = 8 * 1024;

/// Encrypts the commits of one journal.
pub(crate) struct LogEncoder {
    key: StackKey,
    head: Vec<u8>,
    frames: u64,
}

impl LogEncoder {
    pub(crate) fn new(key: StackKey) -> Self {
        let mut head = FORMAT.to_vec();
        let record = serde_json::to_vec(&key.record);
        head.extend(record.expect("strings and JSON values always have a JSON form"));
        head.push(b'\n');
        LogEncoder {
            key,
            head,
            frames: 0,
        }
    }

    /// Bytes for the next commit. Those for the first begin with the head.
    pub(crate) fn encode(&mut self, commit: &[u8]) -> io::Result<Vec<u8>> {
        let associated = associated(&self.head, self.frames);
        let encrypted = self.key.key.encrypt(&associated, commit);
        let encrypted = encrypted.map_err(io::Error::other)?;
        let length = u32::try_from(encrypted.len()).map_err(io::Error::other)?;
        let mut bytes = if self.frames == 0 {
            self.head.clone()
        } else {
            Vec::new()
        };
        bytes.extend(MARKER);
        bytes.extend(self.frames.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(encrypted);
        self.frames += 1;
        Ok(bytes)
    }
}

/// Bytes that are authenticated with a frame.
fn associated(head: &[u8], number: u64) -> Vec<u8> {
    [head, &number.to_le_bytes()].concat()
}

/// Head of an encrypted journal; `None` if the bytes are not that, or its head was not written completely.
pub(super) struct LogHead<'b> {
    pub(super) record: KeyRecord,
    head: &'b [u8],
    pub(super) frames: &'b [u8],
}

impl<'b> LogHead<'b> {
    pub(super) fn parse(bytes: &'b [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(FORMAT)?;
        let end = FORMAT.len() + rest.iter().position(|byte| *byte == b'\n')? + 1;
        let (head, frames) = bytes.split_at(end);
        let record = serde_json::from_slice(&head[FORMAT.len()..]).ok()?;
        Some(LogHead {
            record,
            head,
            frames,
        })
    }

    /// Decrypts the commits.
    pub(super) fn decrypt(&self, key: &StateKey) -> Vec<u8> {
        let bytes = self.frames;
        let (mut commits, mut at, mut number) = (Vec::with_capacity(bytes.len()), 0, 0);
        while at < bytes.len() {
            if let Some((commit, end)) = self.frame_at(at, Some(number), key) {
                commits.extend(commit);
                (at, number) = (end, number + 1);
                continue;
            }
            // No reader uses records after damage. One good frame after it is enough to tell damage from a torn end.
            let later = (at + 1..bytes.len()).find(|later| {
                bytes[*later..].starts_with(MARKER) && self.frame_at(*later, None, key).is_some()
            });
            let next = later.unwrap_or(bytes.len());
            commits.extend(&bytes[at..next]);
            if let Some((commit, _)) = later.and_then(|later| self.frame_at(later, None, key)) {
                commits.extend(commit);
            }
            break;
        }
        commits
    }

    /// Decrypted frame at an offset, with the offset of its end. A frame with another number than `expected` counts as
    /// damaged.
    fn frame_at(
        &self,
        at: usize,
        expected: Option<u64>,
        key: &StateKey,
    ) -> Option<(Vec<u8>, usize)> {
        let (number, range) = frame(self.frames, at)?;
        if expected.is_some_and(|expected| expected != number) {
            return None;
        }
        let end = range.end;
        let commit = key.decrypt(&associated(self.head, number), &self.frames[range]);
        Some((commit.ok()?, end))
    }
}

/// Number and content of the frame at an offset; `None` if it is incomplete.
fn frame(bytes: &[u8], at: usize) -> Option<(u64, Range<usize>)> {
    let prefix = bytes.get(at..at + PREFIX)?.strip_prefix(MARKER)?;
    let (number, length) = prefix.split_at(8);
    let number = u64::from_le_bytes(number.try_into().ok()?);
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    let start = at + PREFIX;
    let end = start.checked_add(length)?;
    (end <= bytes.len()).then_some((number, start..end))
}

/// A journal file that encrypts what is appended.
pub(super) struct EncryptedFile {
    pub(super) file: Box<dyn JournalFile>,
    pub(super) encoder: LogEncoder,
}

impl JournalFile for EncryptedFile {
    fn append(&mut self, content: &[u8]) -> io::Result<()> {
        let bytes = self.encoder.encode(content)?;
        self.file.append(&bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }

    fn reserve(&mut self, room: u64) -> io::Result<()> {
        self.file.reserve(room + room / 4 + OVERHEAD)
    }
}
