//! Assets and archives inside property values: restoring elided contents, and computing missing hashes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ecow::EcoString;
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, Value};

/// Computes hashes; may have to read files or download.
pub trait Hasher {
    /// Reason why a hash cannot be computed.
    type Error;
    /// Lowercase hex SHA-256 of the content.
    fn asset_hash(&mut self, asset: &Asset) -> Result<EcoString, Self::Error>;
    /// Hash of an archive by the rules of `protocol.md` 2.6.
    fn archive_hash(&mut self, archive: &Archive) -> Result<EcoString, Self::Error>;
}

/// The map with a hash on every asset and archive that has content and no hash. Members of archives are hashed first.
pub fn fill_hashes<H: Hasher>(map: &PropertyMap, hasher: &mut H) -> Result<PropertyMap, H::Error> {
    if !contains_assets(map) {
        return Ok(map.clone());
    }
    let mut failure = None;
    let filled = map.map_values(&mut |value| {
        if failure.is_some() {
            return value;
        }
        fill_hash(&value, hasher).unwrap_or_else(|error| {
            failure = Some(error);
            value
        })
    });
    failure.map_or(Ok(filled), Err)
}

fn fill_hash<H: Hasher>(value: &Value, hasher: &mut H) -> Result<Value, H::Error> {
    match value {
        Value::Asset(asset) if asset.hash.is_empty() && asset.source != AssetSource::Elided => {
            let hash = hasher.asset_hash(asset)?;
            Ok(Value::Asset(Arc::new(Asset {
                hash,
                source: asset.source.clone(),
            })))
        }
        Value::Archive(archive) if archive.source != ArchiveSource::Elided => {
            let source = match &archive.source {
                ArchiveSource::Assets(members) => {
                    ArchiveSource::Assets(fill_member_hashes(members, hasher)?)
                }
                other => other.clone(),
            };
            let mut filled = Archive {
                hash: archive.hash.clone(),
                source,
            };
            if filled.hash.is_empty() {
                filled.hash = hasher.archive_hash(&filled)?;
            }
            Ok(Value::Archive(Arc::new(filled)))
        }
        other => Ok(other.clone()),
    }
}

fn fill_member_hashes<H: Hasher>(
    members: &BTreeMap<EcoString, Value>,
    hasher: &mut H,
) -> Result<BTreeMap<EcoString, Value>, H::Error> {
    members
        .iter()
        .map(|(name, member)| Ok((name.clone(), fill_hash(member, hasher)?)))
        .collect()
}

/// Whether the map contains an asset or archive at any depth.
pub fn contains_assets(map: &PropertyMap) -> bool {
    map.values()
        .any(|value| value.any(&mut |value| matches!(value, Value::Asset(_) | Value::Archive(_))))
}

/// Restores the contents of assets and archives in `answer` that have only a hash, if `known` has contents with that hash.
///
/// Contents are elided when state is sent to Read, and a provider that echoes such a value must not delete the contents.
pub fn restore_contents(answer: &mut PropertyMap, known: &PropertyMap) {
    if !contains_assets(answer) {
        return;
    }
    let mut contents = Contents::default();
    for value in known.values() {
        contents.collect(value);
    }
    *answer = answer.map_values(&mut |value| contents.restore(value));
}

/// Assets and archives with contents, by their hash.
#[derive(Default)]
struct Contents {
    assets: HashMap<EcoString, Arc<Asset>>,
    archives: HashMap<EcoString, Arc<Archive>>,
}

impl Contents {
    fn collect(&mut self, value: &Value) {
        value.any(&mut |value| {
            match value {
                Value::Asset(asset) if asset.source != AssetSource::Elided => {
                    self.assets.insert(asset.hash.clone(), asset.clone());
                }
                Value::Archive(archive) => self.collect_archive(archive),
                _ => {}
            }
            false
        });
    }

    fn collect_archive(&mut self, archive: &Arc<Archive>) {
        if archive.source != ArchiveSource::Elided {
            self.archives.insert(archive.hash.clone(), archive.clone());
        }
        if let ArchiveSource::Assets(members) = &archive.source {
            for member in members.values() {
                self.collect(member);
            }
        }
    }

    fn restore(&self, value: Value) -> Value {
        match value {
            Value::Asset(asset) if asset.source == AssetSource::Elided => {
                Value::Asset(self.assets.get(&asset.hash).cloned().unwrap_or(asset))
            }
            Value::Archive(archive) => match &archive.source {
                ArchiveSource::Elided => {
                    Value::Archive(self.archives.get(&archive.hash).cloned().unwrap_or(archive))
                }
                ArchiveSource::Assets(members) => {
                    let members = members
                        .iter()
                        .map(|(name, member)| (name.clone(), self.restore(member.clone())));
                    let source = ArchiveSource::Assets(members.collect());
                    Value::Archive(Arc::new(Archive {
                        hash: archive.hash.clone(),
                        source,
                    }))
                }
                ArchiveSource::Path(_) | ArchiveSource::Uri(_) => Value::Archive(archive),
            },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asset(hash: &str, source: AssetSource) -> Value {
        Value::Asset(Arc::new(Asset {
            hash: hash.into(),
            source,
        }))
    }

    fn archive(hash: &str, members: &[(&str, Value)]) -> Value {
        let members = members
            .iter()
            .map(|(name, value)| ((*name).into(), value.clone()))
            .collect();
        Value::Archive(Arc::new(Archive {
            hash: hash.into(),
            source: ArchiveSource::Assets(members),
        }))
    }

    #[test]
    fn contents_come_back_by_hash() {
        let text = || asset("h1", AssetSource::Text("text".into()));
        let whole = || {
            archive(
                "h2",
                &[("inner", asset("h3", AssetSource::Path("p".into())))],
            )
        };
        let known = PropertyMap::new()
            .with("a", Value::secret(text()))
            .with("b", Value::array([whole()]));
        let elided_archive = Value::Archive(Arc::new(Archive {
            hash: "h2".into(),
            source: ArchiveSource::Elided,
        }));
        let mut answer = PropertyMap::new()
            .with("x", asset("h1", AssetSource::Elided))
            .with("y", elided_archive)
            .with(
                "z",
                archive("h4", &[("member", asset("h3", AssetSource::Elided))]),
            )
            .with("other", asset("h9", AssetSource::Elided));
        restore_contents(&mut answer, &known);
        let expected = PropertyMap::new()
            .with("x", text())
            .with("y", whole())
            .with(
                "z",
                archive(
                    "h4",
                    &[("member", asset("h3", AssetSource::Path("p".into())))],
                ),
            )
            .with("other", asset("h9", AssetSource::Elided));
        assert_eq!(answer, expected);
    }

    /// Returns consecutive numbers as hashes; fails for paths.
    struct Counter(usize);

    impl Counter {
        fn next(&mut self) -> EcoString {
            self.0 += 1;
            format!("hash-{}", self.0).into()
        }
    }

    impl Hasher for Counter {
        type Error = &'static str;

        fn asset_hash(&mut self, asset: &Asset) -> Result<EcoString, Self::Error> {
            match asset.source {
                AssetSource::Path(_) => Err("no files here"),
                _ => Ok(self.next()),
            }
        }

        fn archive_hash(&mut self, _: &Archive) -> Result<EcoString, Self::Error> {
            Ok(self.next())
        }
    }

    #[test]
    fn hashes_are_asked_for_members_first() {
        let text = |hash| asset(hash, AssetSource::Text("t".into()));
        let map = PropertyMap::new().with(
            "a",
            Value::secret(archive("", &[("m", text("")), ("n", text("own"))])),
        );
        let filled = fill_hashes(&map, &mut Counter(0)).unwrap();
        let expected = archive("hash-2", &[("m", text("hash-1")), ("n", text("own"))]);
        assert_eq!(
            filled,
            PropertyMap::new().with("a", Value::secret(expected))
        );
        let unreadable = PropertyMap::new().with("a", asset("", AssetSource::Path("p".into())));
        assert_eq!(
            fill_hashes(&unreadable, &mut Counter(0)),
            Err("no files here")
        );
    }
}
