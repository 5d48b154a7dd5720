//! Ids and seeds made by chance, from one seed that the run is given.

use std::sync::Arc;

use ecow::EcoString;
use sha2::{Digest, Sha256};

/// A stream of random values: SHA-256 of the seed and a counter.
#[derive(Clone, Debug)]
pub(crate) struct Seeds {
    seed: [u8; 32],
    counter: u64,
}

impl Seeds {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Seeds { seed, counter: 0 }
    }

    /// 32 random bytes.
    pub(crate) fn next(&mut self) -> Arc<[u8]> {
        self.counter += 1;
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(self.counter.to_le_bytes());
        Arc::from(&hash.finalize()[..])
    }

    /// A random UUID of version 4.
    pub(crate) fn uuid(&mut self) -> EcoString {
        let bytes = self.next();
        let mut bytes: Vec<u8> = bytes[..16].to_vec();
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
