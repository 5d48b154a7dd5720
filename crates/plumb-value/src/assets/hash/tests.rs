use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};

use super::*;
use crate::assets::{ArchiveFormat, DirEntry, FileKind, UnpackedFiles};
use crate::{EMPTY_ARCHIVE_HASH, EMPTY_TEXT_HASH};

/// Files in memory. Names that end in `@` are links to directories.
#[derive(Default)]
struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    fn add_tree(&mut self, below: &str, tree: &serde_json::Value) {
        for (name, node) in tree.as_object().unwrap() {
            let path = format!("{below}/{name}");
            match node.as_str() {
                Some(text) => drop(self.0.insert(path, text.into())),
                None => self.add_tree(&path, node),
            }
        }
    }

    fn missing(path: &str) -> AssetError {
        AssetError::Read {
            location: path.to_owned(),
            source: Error::from(ErrorKind::NotFound),
        }
    }
}

impl AssetReader for Files {
    fn kind(&self, path: &str) -> Result<FileKind, AssetError> {
        if path.ends_with('@') {
            return Ok(FileKind::LinkToDirectory);
        }
        let is_directory = self
            .0
            .keys()
            .any(|name| name.starts_with(&format!("{path}/")));
        match (self.0.contains_key(path), is_directory) {
            (true, _) => Ok(FileKind::File),
            (false, true) => Ok(FileKind::Directory),
            (false, false) => Err(Files::missing(path)),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, AssetError> {
        let below = |name: &String| {
            name.strip_prefix(&format!("{path}/"))?
                .split('/')
                .next()
                .map(str::to_owned)
        };
        let mut names: Vec<String> = self.0.keys().rev().filter_map(below).collect();
        names.dedup();
        names
            .into_iter()
            .map(|name| {
                Ok(DirEntry {
                    kind: self.kind(&format!("{path}/{name}"))?,
                    name,
                })
            })
            .collect()
    }

    fn open(&self, path: &str) -> Result<Content, AssetError> {
        self.0
            .get(path)
            .map(|bytes| Content::from_bytes(bytes.clone()))
            .ok_or_else(|| Files::missing(path))
    }

    fn fetch(&self, uri: &str) -> Result<Content, AssetError> {
        self.open(uri)
    }

    /// The "archive files" of these tests have a name and a text on each line.
    fn unpack(
        &self,
        _: ArchiveFormat,
        mut content: Content,
        _: &str,
    ) -> Result<UnpackedFiles, AssetError> {
        let mut text = String::new();
        content.reader.read_to_string(&mut text).unwrap();
        let member = |line: &str| {
            line.split_once(' ')
                .map(|(name, text)| (name.to_owned(), text.as_bytes().into()))
        };
        Ok(text.lines().filter_map(member).collect())
    }
}

fn vectors() -> serde_json::Value {
    serde_json::from_str(include_str!(
        "../../../../../tests/data/vectors/asset-archive-hashes.json"
    ))
    .unwrap()
}

fn text_asset(text: &str) -> Value {
    Value::Asset(Arc::new(Asset {
        hash: "".into(),
        source: AssetSource::Text(text.into()),
    }))
}

fn archive(source: ArchiveSource) -> Archive {
    Archive {
        hash: "".into(),
        source,
    }
}

fn assets(tree: &serde_json::Value) -> Archive {
    let member = |(name, node): (&String, &serde_json::Value)| {
        let value = node
            .as_str()
            .map_or_else(|| Value::Archive(Arc::new(assets(node))), text_asset);
        (name.as_str().into(), value)
    };
    archive(ArchiveSource::Assets(
        tree.as_object().unwrap().iter().map(member).collect(),
    ))
}

fn names(archive: &Archive, reader: &dyn AssetReader) -> Vec<String> {
    let mut names = Vec::new();
    for_each_member(archive, reader, &mut |member| {
        names.push(member.name);
        Ok(())
    })
    .unwrap();
    names
}

fn hash(archive: &Archive) -> EcoString {
    hash_archive(archive, &Files::default()).unwrap()
}

#[test]
fn assets_hash_as_recorded() {
    for vector in vectors()["assets"].as_array().unwrap() {
        let asset = Asset {
            hash: "".into(),
            source: AssetSource::Text(vector["text"].as_str().unwrap().into()),
        };
        assert_eq!(
            hash_asset(&asset, &Files::default()).unwrap(),
            vector["hash"].as_str().unwrap()
        );
    }
    assert_eq!(hash(&assets(&serde_json::json!({}))), EMPTY_ARCHIVE_HASH);
}

#[test]
fn archives_hash_as_recorded() {
    let vectors = vectors();
    let vectors = vectors["tarStreams"].as_array().unwrap();
    assert_eq!(vectors.len(), 13);
    for vector in vectors {
        let mut files = Files::default();
        let archive = if let Some(tree) = vector.get("tree") {
            files.add_tree("root", tree);
            archive(ArchiveSource::Path("root".into()))
        } else {
            assets(vector.get("files").or(vector.get("assets")).unwrap())
        };
        let name = &vector["name"];
        if let Some(order) = vector.get("entryOrder") {
            assert_eq!(&serde_json::json!(names(&archive, &files)), order, "{name}");
        }
        assert_eq!(
            hash_archive(&archive, &files).unwrap(),
            vector["hash"].as_str().unwrap(),
            "{name}"
        );
    }
}

/// `protocol.md` 2.6.
#[test]
fn long_names_hash_as_upstream_tests_say() {
    let with_name = |name: String| assets(&serde_json::json!({ name: "hello" }));
    for (name, expected) in [
        (
            "a".repeat(101),
            "6f2b03cddbf1361a109276cd99ec94499d48e790c8560a49c8559f586718630e",
        ),
        (
            format!("{}{}", "d/".repeat(40), "f".repeat(60)),
            "90fa4ac427552e7e76cf0621aab6d733353d4636e92f9bbf1899b63a43be0bcb",
        ),
    ] {
        assert_eq!(hash(&with_name(name)), expected);
    }
    let empty_member = assets(&serde_json::json!({"foo": ""}));
    assert_eq!(
        hash(&empty_member),
        "d2587a875f82cdf3d3e6cfe9f8c6e6032be5dde8c344466e664e628da15757b0"
    );
}

#[test]
fn archive_files_hash_as_their_bytes() {
    for suffix in [".zip", ".tgz", ".tar", ".jar", ".tar.gz"] {
        let mut files = Files::default();
        files.0.insert(format!("f{suffix}"), b"hello".into());
        files
            .0
            .insert(format!("https://host/f{suffix}?q"), b"hello".into());
        for source in [
            ArchiveSource::Path(format!("f{suffix}").into()),
            ArchiveSource::Uri(format!("https://host/f{suffix}?q").into()),
        ] {
            let hash = hash_archive(&archive(source), &files).unwrap();
            assert_eq!(
                hash,
                "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
            );
        }
    }
}

#[test]
fn archive_files_inside_archives_are_unpacked() {
    let mut files = Files::default();
    files.0.insert("x.zip".into(), b"./b 2\na//c 3\n".into());
    let inner = Value::Archive(Arc::new(archive(ArchiveSource::Path("x.zip".into()))));
    let outer = archive(ArchiveSource::Assets(
        [("in".into(), inner), ("in/b".into(), text_asset("no"))].into(),
    ));
    assert_eq!(names(&outer, &files), ["in/b", "in/a/c"]);
}

#[test]
fn a_link_to_a_directory_has_no_members() {
    let linked = archive(ArchiveSource::Path("dir@".into()));
    assert_eq!(hash(&linked), EMPTY_ARCHIVE_HASH);
    let mut files = Files::default();
    files.add_tree("root", &serde_json::json!({"a": "1", "link@": {"b": "2"}}));
    assert_eq!(
        names(&archive(ArchiveSource::Path("root".into())), &files),
        ["a"]
    );
}

#[test]
fn file_addresses_are_local() {
    let mut files = Files::default();
    files.0.insert("/a b".into(), b"hello".into());
    let uri = |uri: &str| Asset {
        hash: "".into(),
        source: AssetSource::Uri(uri.into()),
    };
    for local in ["file:///a%20b", "file://localhost/a%20b", "FILE:/a b"] {
        assert!(hash_asset(&uri(local), &files).is_ok(), "{local}");
    }
    for other in ["file://host/a", "ftp://host/a", "nothing"] {
        assert!(
            matches!(
                hash_asset(&uri(other), &files),
                Err(AssetError::UnsupportedUri { .. })
            ),
            "{other}"
        );
    }
    let zip = archive(ArchiveSource::Uri("file://localhost/a.zip".into()));
    assert!(matches!(
        hash_archive(&zip, &files),
        Err(AssetError::UnsupportedUri { .. })
    ));
    let page = archive(ArchiveSource::Uri("https://host/page".into()));
    assert!(matches!(
        hash_archive(&page, &files),
        Err(AssetError::NotAnArchive { .. })
    ));
}

#[test]
fn missing_hashes_are_filled_in_everywhere() {
    let inner = assets(&serde_json::json!({"a": "one", "b": {"c": "two"}}));
    let map = PropertyMap::new()
        .with("list", Value::array([Value::secret(text_asset("hello"))]))
        .with("archive", Value::Archive(Arc::new(inner)))
        .with(
            "known",
            Value::Asset(Arc::new(Asset {
                hash: "aa".into(),
                source: AssetSource::Path("x".into()),
            })),
        )
        .with(
            "elided",
            Value::Asset(Arc::new(Asset {
                hash: "".into(),
                source: AssetSource::Elided,
            })),
        );
    let hashed = compute_hashes(&map, &Files::default()).unwrap();
    let hash_at = |path: &str| match PropertyPath::parse(path)
        .unwrap()
        .get(&hashed)
        .unwrap()
        .without_secrets()
    {
        Value::Asset(asset) => asset.hash.clone(),
        other => panic!("not an asset: {other:?}"),
    };
    assert_eq!(
        hash_at("list[0]"),
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    );
    assert_eq!(
        (hash_at("known").as_str(), hash_at("elided").as_str()),
        ("aa", "")
    );
    let Some(Value::Archive(archive)) = hashed.get("archive") else {
        panic!("not an archive")
    };
    assert!(!archive.hash.is_empty());
    let ArchiveSource::Assets(members) = &archive.source else {
        panic!("not a map")
    };
    let Value::Asset(member) = &members["a"] else {
        panic!("not an asset")
    };
    assert_eq!(
        member.hash,
        "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
    );
    assert_eq!(compute_hashes(&hashed, &Files::default()).unwrap(), hashed);
}

#[test]
fn an_error_names_the_property() {
    let missing = Value::Asset(Arc::new(Asset {
        hash: "".into(),
        source: AssetSource::Path("no".into()),
    }));
    let map = PropertyMap::new().with("a", Value::array([missing]));
    let error = compute_hashes(&map, &Files::default()).unwrap_err();
    assert_eq!(error.path.to_string(), "a[0]");
    assert!(matches!(error.source, AssetError::Read { .. }));
}

#[test]
fn the_empty_asset_may_come_as_its_hash() {
    let empty = Asset {
        hash: EMPTY_TEXT_HASH.into(),
        source: AssetSource::Elided,
    };
    assert_eq!(
        hash_asset(&empty, &Files::default()).unwrap(),
        EMPTY_TEXT_HASH
    );
    let other = Asset {
        hash: "aa".into(),
        source: AssetSource::Elided,
    };
    assert!(matches!(
        hash_asset(&other, &Files::default()),
        Err(AssetError::NoContent { .. })
    ));
}
