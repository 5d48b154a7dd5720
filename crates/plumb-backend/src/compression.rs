//! Compression of state files: chosen for writing, detected by content for reading.

use std::borrow::Cow;
use std::io::{self, Read, Write};

/// Compression of state files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

impl Compression {
    /// All compressions.
    pub const ALL: [Compression; 3] = [Compression::None, Compression::Gzip, Compression::Zstd];

    /// Extension of file names.
    pub fn extension(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
        }
    }

    /// Compresses `content`.
    pub fn pack(self, content: &[u8]) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Compression::None => Ok(Cow::Borrowed(content)),
            Compression::Gzip => {
                let mut encoder =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(content)?;
                encoder.finish().map(Cow::Owned)
            }
            Compression::Zstd => zstd::encode_all(content, 0).map(Cow::Owned),
        }
    }
}

/// The first bytes of compressed content, decompressed; fewer than `length` if it is shorter or damaged.
pub(crate) fn start(content: &[u8], length: usize) -> Vec<u8> {
    let mut start = Vec::new();
    let limit = length as u64;
    // After an error, the bytes that were decompressed before it are returned.
    let _ = match content {
        [0x1f, 0x8b, ..] => flate2::read::MultiGzDecoder::new(content)
            .take(limit)
            .read_to_end(&mut start),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd::Decoder::new(content)
            .and_then(|decoder| decoder.take(limit).read_to_end(&mut start)),
        _ => Ok(0),
    };
    start
}

/// Decompresses `content` if its first bytes identify a compression.
pub(crate) fn unpack(content: Vec<u8>) -> io::Result<Vec<u8>> {
    match content.as_slice() {
        [0x1f, 0x8b, ..] => {
            let mut out = Vec::new();
            flate2::read::MultiGzDecoder::new(content.as_slice()).read_to_end(&mut out)?;
            Ok(out)
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd::decode_all(content.as_slice()),
        _ => Ok(content),
    }
}
