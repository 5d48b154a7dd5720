//! Unchanged resources of a run, in eight bytes each.
//!
//! A run of a large stack leaves most resources unchanged, and users rarely ask about them. Their URNs are in the state, so
//! a digest of the URN suffices to record that the run checked a resource.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Set of the URNs of unchanged resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unchanged {
    digests: Vec<u64>,
}

impl Unchanged {
    pub(crate) fn push(&mut self, urn: &str) {
        self.digests.push(digest(urn));
    }

    /// Whether the set contains a URN, by linear search.
    pub fn contains(&self, urn: &str) -> bool {
        self.digests.contains(&digest(urn))
    }

    /// Number of URNs.
    pub fn len(&self) -> usize {
        self.digests.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }
}

/// FNV-1a hash: the same on every machine and in every version. Among a million URNs, a collision occurs once in forty
/// million runs; `why` then reports a resource as unchanged that the run did not check.
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

    /// Digests are stored, so that all versions must compute the same ones.
    #[test]
    fn digests_stay_the_same() {
        assert_eq!(digest(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
