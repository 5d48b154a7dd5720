//! Exchange of values with the reference SDK.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prost::Message as _;
use prost_types::Struct;

use super::*;

const VERSIONS: [&str; 2] = ["3.259", "3.272"];

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a task of `tests/wire/values.py` with this release of the SDK.
fn values_script(version: &str, task: &str, file: &Path) {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let venv = run(Command::new("bash")
        .arg(tests.join("setup-python.sh"))
        .arg(version));
    let python = Path::new(venv.trim()).join("bin/python");
    run(Command::new(python)
        .arg(tests.join("wire/values.py"))
        .arg(task)
        .arg(file));
}

fn asset(source: AssetSource) -> Value {
    Value::Asset(Arc::new(Asset {
        hash: "".into(),
        source,
    }))
}

fn archive(source: ArchiveSource) -> Value {
    Value::Archive(Arc::new(Archive {
        hash: "".into(),
        source,
    }))
}

fn members<const N: usize>(members: [(&str, Value); N]) -> ArchiveSource {
    ArchiveSource::Assets(
        members
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
    )
}

fn plain() -> PropertyMap {
    let nested = PropertyMap::new()
        .with("k", Value::Null)
        .with("e", PropertyMap::new());
    PropertyMap::new()
        .with("b", true)
        .with("n", 1.5)
        .with("s", "é")
        .with("l", Value::array([Value::Null, 1.0.into(), "x".into()]))
        .with("o", nested)
}

fn assets() -> PropertyMap {
    PropertyMap::new()
        .with("text", asset(AssetSource::Text("content".into())))
        .with("file", asset(AssetSource::Path("./f.txt".into())))
        .with(
            "remote",
            asset(AssetSource::Uri("https://example.invalid/f".into())),
        )
        .with(
            "fileArchive",
            archive(ArchiveSource::Path("./a.zip".into())),
        )
}

/// Values that the SDK sends, by name.
fn theirs() -> BTreeMap<String, PropertyMap> {
    let parts = members([
        ("a", asset(AssetSource::Text("x".into()))),
        ("b", archive(ArchiveSource::Path("./d".into()))),
    ]);
    let all_assets = assets().with("archive", archive(parts)).with(
        "remoteArchive",
        archive(ArchiveSource::Uri("https://example.invalid/a.zip".into())),
    );
    let list = Value::array([output(Some(1.0.into()), false)]);
    let outputs = PropertyMap::new()
        .with("known", output(Some("v".into()), false))
        .with("secret", output(Some("v".into()), true))
        .with("unknown", output(None, false))
        .with("unknownSecret", output(None, true))
        .with("nested", PropertyMap::new().with("list", list));
    [
        ("plain", plain().with("i", 3.0)),
        ("assets", all_assets),
        ("outputs", outputs),
    ]
    .map(|(name, map)| (name.to_owned(), map))
    .into()
}

/// Values that the SDK receives, by name.
fn ours() -> BTreeMap<&'static str, PropertyMap> {
    let inside = PropertyMap::new().with(
        "list",
        Value::array([1.0.into(), Value::secret("v".into())]),
    );
    let component = ResourceReference {
        urn: "urn:pulumi:s::p::a:b:C::n".into(),
        id: ReferenceId::None,
        name: None,
        type_token: None,
        package_version: "".into(),
    };
    let special = assets()
        .with("secret", Value::secret("v".into()))
        .with("secretInside", inside)
        .with("unknown", Value::UNKNOWN)
        .with(
            "archive",
            archive(members([("a", asset(AssetSource::Text("x".into())))])),
        )
        .with("reference", reference(ReferenceId::Known("an-id".into())))
        .with("component", Value::Resource(Arc::new(component)));
    [("plain", plain()), ("special", special)].into()
}

#[test]
fn values_of_the_sdk_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.json");
    for version in VERSIONS {
        values_script(version, "make", &file);
        let made: BTreeMap<String, String> =
            serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let read = made.into_iter().map(|(name, data)| {
            let map = Struct::decode(hex::decode(data).unwrap().as_slice()).unwrap();
            (name, decode_map(Some(&map), EVERYTHING).unwrap())
        });
        assert_eq!(read.collect::<BTreeMap<_, _>>(), theirs(), "{version}");
    }
}

#[test]
fn the_sdk_understands_our_values() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.json");
    let encode = |map: &PropertyMap| {
        hex::encode(
            encode_map(map, MarshalOptions::RICH)
                .unwrap()
                .encode_to_vec(),
        )
    };
    let made: BTreeMap<&str, String> = ours()
        .iter()
        .map(|(name, map)| (*name, encode(map)))
        .collect();
    fs::write(&file, serde_json::to_vec(&made).unwrap()).unwrap();
    for version in VERSIONS {
        values_script(version, "read", &file);
    }
}
