//! Binary form of the journal.
//!
//! A journal, or a segment of one, is a sequence of records: length of the payload (4 bytes, little endian), CRC-32C of
//! the length and the payload (4 bytes, little endian), payload. The first record is the [`Header`], the others are
//! entries: one as JSON, or several [packed](super::packed) together. **A record is valid if it is complete and its
//! checksum is right.** Bytes after the last valid record were being written when the program stopped, so nothing can
//! depend on them.

use std::borrow::Cow;
use std::ops::Range;
use std::{fmt, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::packed::{Deflater, Inflater, is_packed};
use super::{EncryptedEntry, EntryError, parse_entry};

const FORMAT: &str = "plumb-journal";
/// Version of the journals that are written. Version 1 has no packed records.
const VERSION: u32 = 2;
const PREFIX: usize = 8;

/// Digest of the checkpoint that a journal builds on: SHA-256 of the file's bytes, before compression.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CheckpointDigest([u8; 32]);

impl CheckpointDigest {
    /// Digest of a checkpoint file. A stack without a file has the digest of an empty file.
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

/// Header of a journal and of each of its segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Digest of the checkpoint that the first entry of the journal builds on.
    pub checkpoint: CheckpointDigest,
    /// Number of the segment, from zero.
    pub segment: u64,
}

/// Purpose of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentRole {
    /// The segment holds entries.
    Entries,
    /// The segment ends the journal. A writer that lost the stack fails when it writes the segment with this number.
    Seal,
}

/// Content of a journal or a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// The header; `None` if it was not written completely.
    pub header: Option<Header>,
    /// Entries with their numbers, in the order of the file.
    pub entries: Vec<(u64, EncryptedEntry)>,
    /// Length in bytes of the valid records. To append, truncate the journal to this length first.
    pub good: usize,
    /// Bytes after the valid records.
    pub tail: Tail,
    /// Whether this is the segment that ends a journal ([`SegmentRole::Seal`]).
    pub is_seal: bool,
}

/// Bytes after the last valid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// No bytes.
    Clean,
    /// An incomplete record.
    Torn,
    /// An invalid record with valid ones after it. Records were lost, unless all of them belonged to one unfinished
    /// write.
    Damaged,
}

/// Bytes that are not a journal.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The first record is not a header.
    #[error("this is not a journal")]
    NotAJournal,
    /// The version of the journal is newer than supported.
    #[error("journals of version {version} are not supported")]
    Version {
        /// The version.
        version: u32,
    },
    /// A valid record cannot be decompressed.
    #[error("the journal record at byte {offset} cannot be decompressed")]
    Packed {
        /// Offset of the record in bytes.
        offset: usize,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// A valid record is not an entry.
    #[error("the journal record at byte {offset} is not an entry")]
    Entry {
        /// Offset of the record in bytes.
        offset: usize,
        /// Cause.
        #[source]
        source: EntryError,
    },
}

/// Payload of the first record.
#[derive(Serialize, Deserialize)]
struct HeaderRecord {
    format: String,
    version: u32,
    #[serde(default)]
    checkpoint: String,
    #[serde(default)]
    segment: u64,
    /// Unique identifier of the writer of a segment; empty in journals of one file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    writer: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    seal: bool,
}

/// Record of a header.
pub fn header_record(header: &Header) -> Vec<u8> {
    segment_record(header, "", SegmentRole::Entries)
}

/// First record of a segment. `writer` identifies the writer, so that one that does not know whether its segment was
/// stored can read the segment back and compare.
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

/// Record of an entry.
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

/// Packer of the records of one journal.
pub struct Packer(Deflater);

impl Packer {
    /// Packer for the first entries of a journal.
    pub fn new() -> io::Result<Self> {
        Deflater::new().map(Packer)
    }

    /// Packs records that are written together, unless that makes them no smaller.
    ///
    /// Later results can be decompressed only after earlier ones, so every result must be written, in order.
    pub fn pack<'r>(&mut self, records: &'r [u8]) -> io::Result<Cow<'r, [u8]>> {
        let mut lines = Vec::with_capacity(records.len());
        let mut at = 0;
        while let Some(payload) = payload_at(records, at) {
            lines.extend(&records[payload.clone()]);
            lines.push(b'\n');
            at = payload.end;
        }
        Ok(match self.0.pack(&lines)? {
            Some(packed) => Cow::Owned(frame(&packed)),
            None => Cow::Borrowed(records),
        })
    }
}

/// Reader of one journal, with its segments in order.
pub struct Reader(Inflater);

impl Reader {
    /// Reader for the beginning of a journal.
    pub fn new() -> Result<Self, ReadError> {
        Inflater::new()
            .map(Reader)
            .map_err(|source| ReadError::Packed { offset: 0, source })
    }

    /// Parses the valid part of a journal or of its next segment.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Journal, ReadError> {
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
                self.read_entries(text, journal.good, &mut journal.entries)?;
            }
            journal.good = payload.end;
        }
        journal.tail = tail_of(bytes, journal.good);
        Ok(journal)
    }

    /// Parses the entries in the payload of the record at `offset`.
    fn read_entries(
        &mut self,
        payload: &[u8],
        offset: usize,
        entries: &mut Vec<(u64, EncryptedEntry)>,
    ) -> Result<(), ReadError> {
        if !is_packed(payload) {
            entries.push(read_entry(payload, offset)?);
            return Ok(());
        }
        let lines = self.0.unpack(payload);
        let lines = lines.map_err(|source| ReadError::Packed { offset, source })?;
        for line in lines.split(|byte| *byte == b'\n') {
            if !line.is_empty() {
                entries.push(read_entry(line, offset)?);
            }
        }
        Ok(())
    }
}

/// Parses the valid part of a journal, or of the first segment of one.
pub fn read(bytes: &[u8]) -> Result<Journal, ReadError> {
    Reader::new()?.read(bytes)
}

/// Whether a segment is the seal of its journal.
pub fn is_seal(segment: &[u8]) -> bool {
    payload_at(segment, 0)
        .and_then(|payload| read_header(&segment[payload]).ok())
        .is_some_and(|(_, role)| role == SegmentRole::Seal)
}

/// Range of the payload of the record at `offset`; `None` if the record is incomplete or its checksum is wrong.
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
    if !(1..=VERSION).contains(&record.version) {
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
    // Payloads begin in one of two ways, so checksums need be computed only at positions that could begin one.
    let could_be_record = |offset: &usize| {
        let payload = bytes.get(offset + PREFIX..).unwrap_or_default();
        payload.first() == Some(&b'{') || is_packed(payload)
    };
    let is_followed = (good + 1..bytes.len())
        .filter(could_be_record)
        .any(|at| payload_at(bytes, at).is_some());
    if is_followed {
        Tail::Damaged
    } else {
        Tail::Torn
    }
}
