//! A pack in a temporary folder.

use std::path::Path;

use plumb_plugin::analyzer::PolicyManifest;
use plumb_plugin::{AnalyzedStack, Analyzer, PackSources};
use plumb_resource::policy::{AnalyzedOptions, AnalyzedResource};
use plumb_resource::{TypeToken, Urn};
use plumb_rules::testing::{Case, cases};
use plumb_rules::{LoadError, RulePack, Runtime, load};
use plumb_value::PropertyMap;
use tempfile::TempDir;

/// A folder with files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Loads the pack in a folder for an imaginary stack.
pub(crate) fn loaded(folder: &Path) -> Result<RulePack, LoadError> {
    let manifest = PolicyManifest::read(folder).unwrap();
    let runtime = Runtime::from_name(&manifest.plugin.runtime).unwrap();
    let stack = AnalyzedStack {
        project: "shop".to_owned(),
        stack: "dev".to_owned(),
        ..AnalyzedStack::default()
    };
    let sources = PackSources {
        name: "pack",
        directory: folder,
        manifest: &manifest,
        stack: &stack,
    };
    load(sources, runtime)
}

/// A resource with these properties.
pub(crate) fn resource(properties: PropertyMap) -> AnalyzedResource {
    AnalyzedResource {
        urn: Urn::parse("urn:pulumi:s::p::t:t:T::it").unwrap(),
        type_token: TypeToken::new("t:t:T"),
        properties: properties.into(),
        options: AnalyzedOptions::default(),
        provider: None,
    }
}

/// Error of loading a pack of these files.
pub(crate) fn refused(runtime: &str, files: &[(&str, &str)]) -> String {
    let manifest = format!("runtime: {runtime}\n");
    let files: Vec<_> = files
        .iter()
        .copied()
        .chain([("PulumiPolicy.yaml", manifest.as_str())])
        .collect();
    let folder = folder(&files);
    match loaded(folder.path()) {
        Ok(_) => panic!("the pack was loaded"),
        Err(error) => error
            .to_string()
            .replace(&folder.path().display().to_string(), "."),
    }
}

/// Runs the tests that `tests` holds over a pack; returns the failures.
pub(crate) async fn failures(runtime: &str, files: &[(&str, &str)], tests: &str) -> Vec<String> {
    let manifest = format!("runtime: {runtime}\nversion: 1.2.3\n");
    let files = files.iter().copied();
    let files: Vec<_> = files
        .chain([
            ("PulumiPolicy.yaml", manifest.as_str()),
            ("it.test.yaml", tests),
        ])
        .collect();
    let folder = folder(&files);
    let pack = loaded(folder.path()).unwrap();
    let info = pack.info().await.unwrap();
    let found: Vec<Case> = cases(folder.path()).unwrap();
    assert!(!found.is_empty());
    let mut failures = Vec::new();
    for case in found {
        let outcome = case.run(&pack, &info).await;
        failures.extend(
            outcome
                .failure
                .map(|why| format!("{}: {why}", outcome.name)),
        );
    }
    failures
}
