//! The list of built-in providers.

use std::path::{Path, PathBuf};

use plumb_providers::{builtins, factory};

use crate::support::start;

pub(crate) fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data")
        .join(path)
}

#[test]
fn providers_are_found_by_name() {
    let found: Vec<_> = builtins()
        .iter()
        .map(|builtin| (builtin.name(), builtin.version()))
        .collect();
    let version = |text| Some(semver::Version::parse(text).unwrap());
    assert_eq!(
        found,
        [
            ("command", version("1.2.1")),
            ("pulumi", None),
            ("random", version("4.21.4")),
            ("std", version("2.3.2"))
        ]
    );
    assert!(factory("aws").is_none());
}

#[tokio::test]
async fn schemas_are_those_of_the_packages() {
    for name in ["command", "random", "std"] {
        let provider = start(name, Path::new("/"), None).provider;
        let schema = provider.get_schema(None).await.unwrap().unwrap();
        let mut schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        let version = schema.as_object_mut().unwrap().remove("version").unwrap();
        assert_eq!(
            version,
            provider.info().await.unwrap().version.unwrap().to_string()
        );
        let original = std::fs::read_to_string(data(&format!("schemas/{name}.json"))).unwrap();
        assert!(
            schema == serde_json::from_str::<serde_json::Value>(&original).unwrap(),
            "{name}"
        );
        assert!(provider.get_schema(Some(("other", "1.0.0"))).await.is_err());
    }
}
