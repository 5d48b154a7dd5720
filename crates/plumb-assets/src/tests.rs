use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_value::assets::{compute_hashes, for_each_member, hash_archive, hash_asset};
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, Value};
use tempfile::TempDir;

use super::*;

fn vectors() -> serde_json::Value {
    serde_json::from_str(include_str!(
        "../../../tests/data/vectors/asset-archive-hashes.json"
    ))
    .unwrap()
}

fn write_tree(at: &Path, tree: &serde_json::Value) {
    fs::create_dir_all(at).unwrap();
    for (name, node) in tree.as_object().unwrap() {
        match node.as_str() {
            Some(text) => fs::write(at.join(name), text).unwrap(),
            None => write_tree(&at.join(name), node),
        }
    }
}

fn archive_at(path: &str) -> Archive {
    Archive {
        hash: "".into(),
        source: ArchiveSource::Path(path.into()),
    }
}

fn within(name: &str, archive: Archive) -> Archive {
    let member = Value::Archive(Arc::new(archive));
    Archive {
        hash: "".into(),
        source: ArchiveSource::Assets([(name.into(), member)].into()),
    }
}

fn members(archive: &Archive, reader: &FsReader) -> Vec<(String, String)> {
    let mut members = Vec::new();
    for_each_member(archive, reader, &mut |mut member| {
        let mut text = String::new();
        member.content.reader.read_to_string(&mut text).unwrap();
        members.push((member.name, text));
        Ok(())
    })
    .unwrap();
    members
}

#[test]
fn a_directory_hashes_as_recorded() {
    let folder = TempDir::new().unwrap();
    let vectors = vectors();
    let vector = vectors["tarStreams"]
        .as_array()
        .unwrap()
        .iter()
        .find(|vector| vector.get("tree").is_some())
        .unwrap();
    write_tree(&folder.path().join("root"), &vector["tree"]);
    let hash = hash_archive(&archive_at("./root"), &FsReader::new(folder.path())).unwrap();
    assert_eq!(hash, vector["hash"].as_str().unwrap());
    let elsewhere = FsReader::new("/nowhere");
    let absolute = folder.path().join("root");
    assert_eq!(
        hash_archive(&archive_at(absolute.to_str().unwrap()), &elsewhere).unwrap(),
        hash
    );
}

/// Hashes recorded from the reference for the same files.
#[test]
fn an_archive_of_everything_hashes_as_recorded() {
    let folder = TempDir::new().unwrap();
    let tree = serde_json::json!({"file.txt": "content 0\n", "folder": {"x.txt": "x\n", "y": {"z.txt": "z\n"}}});
    write_tree(folder.path(), &tree);
    let asset = |source| {
        Value::Asset(Arc::new(Asset {
            hash: "".into(),
            source,
        }))
    };
    let members = [
        ("a".into(), asset(AssetSource::Text("one".into()))),
        ("c".into(), Value::Archive(Arc::new(archive_at("./folder")))),
        (
            "sub/b".into(),
            asset(AssetSource::Path("./file.txt".into())),
        ),
    ];
    let archive = Archive {
        hash: "".into(),
        source: ArchiveSource::Assets(members.into()),
    };
    let map = PropertyMap::new().with("source", Value::Archive(Arc::new(archive)));
    let hashed = compute_hashes(&map, &FsReader::new(folder.path())).unwrap();
    let Some(Value::Archive(archive)) = hashed.get("source") else {
        panic!("not an archive")
    };
    assert_eq!(
        archive.hash,
        "77fbbe5ee85e095ced35e40bf82dd0ae2e8190182d8f7dfcbf471df547aa7faf"
    );
    let ArchiveSource::Assets(members) = &archive.source else {
        panic!("not a map")
    };
    let Value::Archive(inner) = &members["c"] else {
        panic!("not an archive")
    };
    assert_eq!(
        inner.hash,
        "b9dc56338d7567fb9db5478b6f3135468a426c6fb07a556269996605d643f04a"
    );
    let Value::Asset(inner) = &members["sub/b"] else {
        panic!("not an asset")
    };
    assert_eq!(
        inner.hash,
        "5969b0046871859be4b1d635c8b9efb46bf6f0730f473f89951868bfe2230218"
    );
}

#[test]
fn archive_files_hash_as_recorded_and_can_be_unpacked() {
    let folder = TempDir::new().unwrap();
    let reader = FsReader::new(folder.path());
    for vector in vectors()["rawFileArchives"].as_array().unwrap() {
        let name = format!("f{}", vector["suffix"].as_str().unwrap());
        fs::write(
            folder.path().join(&name),
            STANDARD.decode(vector["base64"].as_str().unwrap()).unwrap(),
        )
        .unwrap();
        assert_eq!(
            hash_archive(&archive_at(&name), &reader).unwrap(),
            vector["hash"].as_str().unwrap()
        );
        let unpacked = members(&within("in", archive_at(&name)), &reader);
        assert_eq!(unpacked.len(), 1, "{unpacked:?}");
        assert!(unpacked[0].0.starts_with("in/"), "{unpacked:?}");
    }
}

#[test]
fn a_tar_file_holds_files_and_directories_only() {
    let folder = TempDir::new().unwrap();
    let reader = FsReader::new(folder.path());
    let write = |name: &str, kind: tar::EntryType| {
        let mut builder = tar::Builder::new(File::create(folder.path().join(name)).unwrap());
        for (path, kind) in [("./d/", tar::EntryType::Directory), ("./d//f", kind)] {
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(kind);
            header.set_size(0);
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            builder.append(&header, io::empty()).unwrap();
        }
        builder.finish().unwrap();
    };
    write("good.tar", tar::EntryType::Regular);
    assert_eq!(
        members(&within("in", archive_at("good.tar")), &reader),
        [("in/d/f".into(), String::new())]
    );
    write("bad.tar", tar::EntryType::Symlink);
    let outcome = hash_archive(&within("in", archive_at("bad.tar")), &reader);
    assert!(matches!(outcome, Err(AssetError::UnsupportedEntry { .. })));
    fs::write(folder.path().join("bad.zip"), "no").unwrap();
    let outcome = hash_archive(&within("in", archive_at("bad.zip")), &reader);
    assert!(matches!(outcome, Err(AssetError::Unpack { .. })));
}

#[cfg(unix)]
#[test]
fn links_to_files_are_followed_and_links_to_directories_are_not() {
    use std::os::unix::fs::symlink;

    let folder = TempDir::new().unwrap();
    let reader = FsReader::new(folder.path());
    write_tree(
        &folder.path().join("root"),
        &serde_json::json!({"a": "1", "sub": {"b": "2"}}),
    );
    symlink("a", folder.path().join("root/link")).unwrap();
    symlink("sub", folder.path().join("root/z")).unwrap();
    symlink("root", folder.path().join("whole")).unwrap();
    let expected = [("a", "1"), ("link", "1"), ("sub/b", "2")]
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(members(&archive_at("root"), &reader), expected);
    assert_eq!(members(&archive_at("whole"), &reader), []);
    symlink("nowhere", folder.path().join("root/broken")).unwrap();
    assert!(matches!(
        hash_archive(&archive_at("root"), &reader),
        Err(AssetError::Read { .. })
    ));
}

#[test]
fn errors_say_what_could_not_be_read() {
    let folder = TempDir::new().unwrap();
    let reader = FsReader::new(folder.path());
    let asset = |source| Asset {
        hash: "".into(),
        source,
    };
    let Err(AssetError::Read { location, .. }) =
        hash_asset(&asset(AssetSource::Path("no".into())), &reader)
    else {
        panic!("no error")
    };
    assert!(location.ends_with("no"));
    assert!(matches!(
        hash_asset(&asset(AssetSource::Path(".".into())), &reader),
        Err(AssetError::Read { .. })
    ));
    fs::write(folder.path().join("file"), "x").unwrap();
    assert!(matches!(
        hash_archive(&archive_at("file"), &reader),
        Err(AssetError::NotAnArchive { .. })
    ));
}

#[test]
fn remote_addresses_go_to_the_fetcher() {
    struct Echo;
    impl UriFetcher for Echo {
        fn fetch(&self, uri: &str) -> Result<Content, Box<dyn std::error::Error + Send + Sync>> {
            if uri.ends_with("missing") {
                Err("404".into())
            } else {
                Ok(Content::from_bytes(b"hello"))
            }
        }
    }
    let asset = |uri: &str| Asset {
        hash: "".into(),
        source: AssetSource::Uri(uri.into()),
    };
    let alone = FsReader::new("/");
    assert!(matches!(
        hash_asset(&asset("https://host/a"), &alone),
        Err(AssetError::NoFetcher { .. })
    ));
    let reader = alone.with_fetcher(Arc::new(Echo));
    let hash = hash_asset(&asset("https://host/a"), &reader).unwrap();
    assert_eq!(
        hash,
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    );
    assert!(matches!(
        hash_asset(&asset("http://host/missing"), &reader),
        Err(AssetError::Fetch { .. })
    ));
}
