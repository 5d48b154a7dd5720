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
