//! Which resources a run left as they were, in eight bytes each.
//!
//! A run of a large stack leaves most resources alone, and nobody asks about most of them. Their URNs are in the state; that a
//! run looked at one is told by a digest of its URN.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The URNs of what stayed as it was: how many there are, and whether one is among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unchanged {
    digests: Vec<u64>,
}

impl Unchanged {
    pub(crate) fn push(&mut self, urn: &str) {
        self.digests.push(digest(urn));
    }

    /// Whether a URN is among them. Each look goes through all of them.
    pub fn contains(&self, urn: &str) -> bool {
        self.digests.contains(&digest(urn))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.digests.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }
}

/// FNV-1a: the same on every machine and in every version. Two of a million URNs have the same digest once in forty million
/// runs, and then `why` takes a resource that was not looked at for one that was.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Serialize for Unchanged {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self
            .digests
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Unchanged {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
        let (digests, _) = bytes.as_chunks::<8>();
        Ok(Unchanged {
            digests: digests.iter().map(|it| u64::from_le_bytes(*it)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_found_again_after_a_round_trip() {
        let mut unchanged = Unchanged::default();
        unchanged.push("urn:pulumi:dev::p::a:b:C::x");
        unchanged.push("urn:pulumi:dev::p::a:b:C::y");
        let text = serde_json::to_string(&unchanged).unwrap();
        let again: Unchanged = serde_json::from_str(&text).unwrap();
        assert_eq!(again, unchanged);
        assert_eq!(again.len(), 2);
        assert!(again.contains("urn:pulumi:dev::p::a:b:C::y"));
        assert!(!again.contains("urn:pulumi:dev::p::a:b:C::z"));
    }

    /// What was written by one version is read by the next.
    #[test]
    fn digests_stay_the_same() {
        assert_eq!(digest(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
