//! Ids and seeds made by chance, from one seed that the run is given.

use std::sync::Arc;

use chacha8rand::ChaCha8Rand;
use ecow::EcoString;

/// A stream of random values: the same seed gives the same stream.
#[derive(Clone, Debug)]
pub(crate) struct Seeds {
    stream: ChaCha8Rand,
}

impl Seeds {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Seeds {
            stream: ChaCha8Rand::new(&seed),
        }
    }

    /// 32 random bytes.
    pub(crate) fn next(&mut self) -> Arc<[u8]> {
        let mut bytes = [0; 32];
        self.stream.read_bytes(&mut bytes);
        Arc::from(bytes)
    }

    /// A random UUID of version 4.
    pub(crate) fn uuid(&mut self) -> EcoString {
        let mut bytes = [0; 16];
        self.stream.read_bytes(&mut bytes);
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let hex = hex::encode(bytes);
        format!(
            "{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..]
        )
        .into()
    }
}
