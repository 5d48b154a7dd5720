//! The journal as bytes.
//!
//! A journal, or a segment of one, is a sequence of records: length of the payload (4 bytes, little endian), CRC-32C of
//! the length and the payload (4 bytes, little endian), payload (JSON). The first record is the [`Header`], the others
//! are entries. **A record counts when all of it is there and its sum is right**; what follows the last such record was
//! being written when the program stopped, and nothing can have been built on it.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{EncryptedEntry, EntryError, parse_entry};

const FORMAT: &str = "plumb-journal";
const VERSION: u32 = 1;
const PREFIX: usize = 8;

/// Identifies the checkpoint that a journal builds on: SHA-256 of the file's bytes, before compression.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CheckpointDigest([u8; 32]);

impl CheckpointDigest {
    /// The digest of a checkpoint file. A stack without a file has the digest of no bytes.
    pub fn of(checkpoint: &[u8]) -> Self {
        CheckpointDigest(Sha256::digest(checkpoint).into())
    }
}

impl fmt::Display for CheckpointDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for CheckpointDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a journal, or each of its segments, begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The checkpoint that the first entry of the journal builds on.
    pub checkpoint: CheckpointDigest,
    /// Number of the segment, from zero.
    pub segment: u64,
}

/// Purpose of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentRole {
    /// It holds entries.
    Entries,
    /// It ends the journal: its number is taken, so a writer that lost the stack collides with it.
    Seal,
}

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// The header; `None` if not even that was written completely.
    pub header: Option<Header>,
    /// Entries with their numbers, in the order in which they were written.
    pub entries: Vec<(u64, EncryptedEntry)>,
    /// How many bytes hold complete records. To write on, cut the journal here first.
    pub good: usize,
    /// What follows them.
    pub tail: Tail,
    /// Whether this is the segment that ends a journal.
    pub is_seal: bool,
}

/// What follows the last good record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    Clean,
    /// A record that was not written completely.
    Torn,
    /// A bad record with good ones after it: records were lost, unless they all belonged to one unfinished write.
    Damaged,
}

/// Bytes that are not a journal.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The first record is not a header.
    #[error("this is not a journal")]
    NotAJournal,
    /// A journal of a version to come.
    #[error("journals of version {version} are not supported")]
    Version {
        /// The version.
        version: u32,
    },
    /// A record is whole, and is not an entry.
    #[error("the journal record at byte {offset} is not an entry")]
    Entry {
        /// Where the record begins.
        offset: usize,
        /// Why not.
        #[source]
        source: EntryError,
    },
}

/// The payload of the first record.
#[derive(Serialize, Deserialize)]
struct HeaderRecord {
    format: String,
    version: u32,
    #[serde(default)]
    checkpoint: String,
    #[serde(default)]
    segment: u64,
    /// Tells the writer of a segment from every other; empty in journals of one file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    writer: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    seal: bool,
}

/// The record of a header.
pub fn header_record(header: &Header) -> Vec<u8> {
    segment_record(header, "", SegmentRole::Entries)
}

/// The record that a segment begins with. `writer` tells its writer from every other, so that a writer that does not
/// know whether its segment was stored can read it back and compare.
pub fn segment_record(header: &Header, writer: &str, role: SegmentRole) -> Vec<u8> {
    let record = HeaderRecord {
        format: FORMAT.to_owned(),
        version: VERSION,
        checkpoint: header.checkpoint.to_string(),
        segment: header.segment,
        writer: writer.to_owned(),
        seal: role == SegmentRole::Seal,
    };
    frame(&serde_json::to_vec(&record).expect("strings and numbers always have a JSON form"))
}

/// The record of an entry.
pub fn entry_record(sequence: u64, entry: &EncryptedEntry) -> Vec<u8> {
    frame(entry.to_json(sequence).as_bytes())
}

fn frame(payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .expect("a record is far below four gigabytes")
        .to_le_bytes();
    let mut record = Vec::with_capacity(PREFIX + payload.len());
    record.extend(length);
    record.extend(checksum(length, payload).to_le_bytes());
    record.extend(payload);
    record
}

fn checksum(length: [u8; 4], payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&length), payload)
}

/// Reads a journal, or a segment of one, as far as it is good.
pub fn read(bytes: &[u8]) -> Result<Journal, ReadError> {
    let mut journal = Journal {
        header: None,
        entries: Vec::new(),
        good: 0,
        tail: Tail::Clean,
        is_seal: false,
    };
    while let Some(payload) = payload_at(bytes, journal.good) {
        let text = &bytes[payload.clone()];
        if journal.header.is_none() {
            let (header, role) = read_header(text)?;
            journal.header = Some(header);
            journal.is_seal = role == SegmentRole::Seal;
        } else {
            journal.entries.push(read_entry(text, journal.good)?);
        }
        journal.good = payload.end;
    }
    journal.tail = tail_of(bytes, journal.good);
    Ok(journal)
}

/// Where the payload of the record at `offset` is, if the record is whole and its sum is right.
fn payload_at(bytes: &[u8], offset: usize) -> Option<Range<usize>> {
    let prefix = bytes.get(offset..offset + PREFIX)?;
    let length: [u8; 4] = prefix[..4].try_into().ok()?;
    let sum = u32::from_le_bytes(prefix[4..].try_into().ok()?);
    let start = offset + PREFIX;
    let end = start.checked_add(u32::from_le_bytes(length) as usize)?;
    let payload = bytes.get(start..end)?;
    (checksum(length, payload) == sum).then_some(start..end)
}

fn read_header(text: &[u8]) -> Result<(Header, SegmentRole), ReadError> {
    let record: HeaderRecord = serde_json::from_slice(text).map_err(|_| ReadError::NotAJournal)?;
    if record.format != FORMAT {
        return Err(ReadError::NotAJournal);
    }
    if record.version != VERSION {
        return Err(ReadError::Version {
            version: record.version,
        });
    }
    let mut digest = [0; 32];
    hex::decode_to_slice(&record.checkpoint, &mut digest).map_err(|_| ReadError::NotAJournal)?;
    let header = Header {
        checkpoint: CheckpointDigest(digest),
        segment: record.segment,
    };
    let role = if record.seal {
        SegmentRole::Seal
    } else {
        SegmentRole::Entries
    };
    Ok((header, role))
}

fn read_entry(text: &[u8], offset: usize) -> Result<(u64, EncryptedEntry), ReadError> {
    parse_entry(&String::from_utf8_lossy(text))
        .map_err(|source| ReadError::Entry { offset, source })
}

fn tail_of(bytes: &[u8], good: usize) -> Tail {
    if good == bytes.len() {
        return Tail::Clean;
    }
    // Payloads are objects, so only positions that could begin one are worth summing up.
    let could_be_record = |offset: &usize| bytes.get(offset + PREFIX) == Some(&b'{');
    let is_followed = (good + 1..bytes.len())
        .filter(could_be_record)
        .any(|at| payload_at(bytes, at).is_some());
    if is_followed {
        Tail::Damaged
    } else {
        Tail::Torn
    }
}
