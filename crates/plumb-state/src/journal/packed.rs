//! Compression of the records that are committed together.
//!
//! A packed record holds the payloads of several records, one per line, as one zstd frame. Entries repeat each other in
//! types, URNs and keys, but a commit often has only one or two of them, too few to compress on their own. So the first
//! [`DICTIONARY`] bytes that a journal packs are the dictionary for what follows. Writer and reader derive it from the
//! records, so it is stored nowhere else; a journal can be read from its start only, which every reader does.

use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

/// Size in bytes at which the dictionary is complete.
const DICTIONARY: usize = 32 << 10;
/// Compression level. Higher ones make records with a dictionary hardly smaller.
const LEVEL: i32 = 3;
/// First bytes of a packed payload; those of others are `{`.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Maximum size in bytes of the payloads in one packed record.
const LARGEST: u64 = 2 << 30;

/// Whether a payload is packed.
pub(super) fn is_packed(payload: &[u8]) -> bool {
    payload.starts_with(&MAGIC)
}

/// Payloads that were packed first.
#[derive(Default)]
struct Dictionary(Vec<u8>);

impl Dictionary {
    /// Adds content; returns whether the dictionary has changed.
    fn learn(&mut self, content: &[u8]) -> bool {
        let room = DICTIONARY.saturating_sub(self.0.len());
        self.0.extend(&content[..room.min(content.len())]);
        room > 0
    }
}

/// Compressor of one journal.
pub(super) struct Deflater {
    dictionary: Dictionary,
    zstd: Compressor<'static>,
}

impl Deflater {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Deflater {
            dictionary: Dictionary::default(),
            zstd: Compressor::new(LEVEL)?,
        })
    }

    /// Packed payload of these lines; `None` if it would not be smaller.
    pub(super) fn pack(&mut self, lines: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let packed = self.zstd.compress(lines)?;
        if packed.len() >= lines.len() {
            return Ok(None);
        }
        if self.dictionary.learn(lines) {
            self.zstd.set_dictionary(LEVEL, &self.dictionary.0)?;
        }
        Ok(Some(packed))
    }
}

/// Decompressor of one journal.
pub(super) struct Inflater {
    dictionary: Dictionary,
    zstd: Decompressor<'static>,
}

impl Inflater {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Inflater {
            dictionary: Dictionary::default(),
            zstd: Decompressor::new()?,
        })
    }

    /// Lines of a packed payload.
    pub(super) fn unpack(&mut self, packed: &[u8]) -> io::Result<Vec<u8>> {
        let size = match get_frame_content_size(packed) {
            Ok(Some(size)) if size <= LARGEST => size,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        let size = usize::try_from(size).map_err(|_| io::ErrorKind::InvalidData)?;
        let lines = self.zstd.decompress(packed, size)?;
        if self.dictionary.learn(&lines) {
            self.zstd.set_dictionary(&self.dictionary.0)?;
        }
        Ok(lines)
    }
}
