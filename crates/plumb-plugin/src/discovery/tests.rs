//! Discovery over folders on disk.

use std::fs;
use std::path::Path;

use super::*;

struct World {
    root: tempfile::TempDir,
    discovery: Discovery,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["cache", "bin", "bundle"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let discovery = Discovery {
            project: Vec::new(),
            search_path: Some(root.path().join("bin").into_os_string()),
            bundled: Some(root.path().join("bundle")),
            cache: Cache::new(root.path().join("cache")),
            accept_newer: false,
        };
        World { root, discovery }
    }

    fn cached(&self, folder: &str) {
        fs::create_dir(self.root.path().join("cache").join(folder)).unwrap();
    }

    fn executable(&self, file: &str) {
        executable(&self.root.path().join(file));
    }

    fn find(&self, kind: PluginKind, name: &str, version: Option<&str>) -> Option<String> {
        let version = version.map(|text| Version::parse(text).unwrap());
        let found = self
            .discovery
            .find(kind, name, version.as_ref(), None)
            .ok()?;
        let relative = found
            .executable
            .strip_prefix(self.root.path())
            .unwrap()
            .to_owned();
        Some(relative.to_str().unwrap().to_owned())
    }
}

fn executable(path: &Path) {
    fs::write(path, "#!/bin/sh\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn cached_versions_match_exactly() {
    let world = World::new();
    for folder in [
        "resource-aa-v1.0.0",
        "resource-aa-v1.2.0",
        "resource-aa-v2.0.0-beta.1",
        "resource-b-v1.0.0",
        "resource-cc-v1.0.0-a",
    ] {
        world.cached(folder);
    }
    let find = |name, version| world.find(PluginKind::Resource, name, version);
    assert_eq!(
        find("aa", Some("1.0.0")).as_deref(),
        Some("cache/resource-aa-v1.0.0/pulumi-resource-aa")
    );
    assert_eq!(
        find("aa", Some("1.0.0+build")).as_deref(),
        Some("cache/resource-aa-v1.0.0/pulumi-resource-aa")
    );
    assert_eq!(find("aa", Some("1.1.0")), None);
    assert_eq!(
        find("aa", None).as_deref(),
        Some("cache/resource-aa-v1.2.0/pulumi-resource-aa")
    );
    assert_eq!(
        find("cc", None).as_deref(),
        Some("cache/resource-cc-v1.0.0-a/pulumi-resource-cc")
    );
    assert_eq!(find("b", None), None, "names have at least two characters");
}

#[test]
fn newer_versions_count_when_asked_for() {
    let mut world = World::new();
    world.discovery.accept_newer = true;
    for folder in [
        "resource-abc-v1.0.0",
        "resource-abc-v1.2.0",
        "resource-abc-v3.0.0-beta.1",
    ] {
        world.cached(folder);
    }
    let find = |version| world.find(PluginKind::Resource, "abc", Some(version));
    assert_eq!(
        find("1.1.0").as_deref(),
        Some("cache/resource-abc-v1.2.0/pulumi-resource-abc")
    );
    assert_eq!(
        find("2.0.0").as_deref(),
        Some("cache/resource-abc-v3.0.0-beta.1/pulumi-resource-abc")
    );
    assert_eq!(find("4.0.0"), None);
}

#[test]
fn unfinished_installs_are_ignored() {
    let world = World::new();
    world.cached("resource-abc-v1.0.0");
    fs::write(
        world.root.path().join("cache/resource-abc-v1.0.0.partial"),
        "",
    )
    .unwrap();
    assert_eq!(world.find(PluginKind::Resource, "abc", None), None);
}

#[test]
fn the_search_path_wins_over_bundle_and_cache() {
    let mut world = World::new();
    world.executable("bundle/pulumi-language-python");
    assert_eq!(
        world.find(PluginKind::Language, "python", None).as_deref(),
        Some("bundle/pulumi-language-python")
    );
    world.executable("bin/pulumi-language-python");
    let found = world
        .discovery
        .find(PluginKind::Language, "python", None, None)
        .unwrap();
    assert_eq!(found.source, PluginSource::Path);
    assert!(
        found.warnings[0].starts_with("using pulumi-language-python from $PATH at "),
        "{:?}",
        found.warnings
    );
    assert!(
        found.warnings[0].contains(" expected "),
        "{:?}",
        found.warnings
    );
    world.discovery.search_path = None;
    let found = world
        .discovery
        .find(PluginKind::Language, "python", None, None)
        .unwrap();
    assert_eq!(found.source, PluginSource::Bundled);
}

#[test]
fn project_plugins_win_and_must_be_unambiguous() {
    let mut world = World::new();
    world.executable("bin/pulumi-resource-abc");
    world.executable("pulumi-resource-abc");
    let entry = |version: Option<&str>| ProjectPlugin {
        kind: PluginKind::Resource,
        name: "abc".to_owned(),
        version: version.map(|text| Version::parse(text).unwrap()),
        path: world.root.path().to_owned(),
    };
    let (versioned, plain) = (entry(Some("1.0.0")), entry(None));
    world.discovery.project = vec![versioned];
    assert_eq!(
        world
            .find(PluginKind::Resource, "abc", Some("1.0.0"))
            .as_deref(),
        Some("pulumi-resource-abc")
    );
    let other = Version::new(2, 0, 0);
    let found = world
        .discovery
        .find(PluginKind::Resource, "abc", Some(&other), None)
        .unwrap();
    assert_eq!(
        (found.source, found.warnings.len()),
        (PluginSource::Path, 2)
    );
    world.discovery.project = vec![plain.clone(), plain];
    assert!(matches!(
        world
            .discovery
            .find(PluginKind::Resource, "abc", None, None),
        Err(FindError::Ambiguous { .. })
    ));
}

#[test]
fn nothing_found_says_where_was_looked() {
    let world = World::new();
    let version = Version::new(1, 2, 3);
    let error = world
        .discovery
        .find(
            PluginKind::Resource,
            "abc",
            Some(&version),
            Some("https://example.com"),
        )
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no resource plugin 'pulumi-resource-abc' found in the workspace at version v1.2.3 or on your $PATH \
         from https://example.com"
    );
}

#[test]
fn listing_and_removing_cached_plugins() {
    let world = World::new();
    for folder in [
        "resource-abc-v1.0.0",
        "resource-abc-v1.10.0",
        "language-abc-v1.0.0",
        "tool-aa-v0.1.0",
    ] {
        world.cached(folder);
    }
    fs::write(
        world.root.path().join("cache/resource-abc-v1.0.0/file"),
        "12345",
    )
    .unwrap();
    world
        .find(PluginKind::Resource, "abc", Some("1.0.0"))
        .unwrap();
    let cache = &world.discovery.cache;
    let names = |plugins: &[CachedPlugin]| -> Vec<String> {
        plugins
            .iter()
            .map(|plugin| {
                format!(
                    "{} {} {}",
                    plugin.kind,
                    plugin.name,
                    plugin.version.as_ref().unwrap()
                )
            })
            .collect()
    };
    let plugins = cache.list().unwrap();
    assert_eq!(
        names(&plugins),
        [
            "tool aa 0.1.0",
            "language abc 1.0.0",
            "resource abc 1.10.0",
            "resource abc 1.0.0"
        ]
    );
    let usage = cache.usage(&plugins[3]).unwrap();
    assert_eq!(usage.size, 5);
    assert!(usage.installed.is_some() && usage.last_used.is_some());
    assert!(
        world
            .root
            .path()
            .join("cache/resource-abc-v1.0.0.lastused")
            .exists()
    );
    cache.remove(&plugins[3]).unwrap();
    assert!(
        !world
            .root
            .path()
            .join("cache/resource-abc-v1.0.0.lastused")
            .exists()
    );
    assert_eq!(cache.list().unwrap().len(), 3);
}

#[cfg(unix)]
#[test]
fn links_to_the_program_are_no_plugins() {
    let mut world = World::new();
    let bundle = world.root.path().canonicalize().unwrap().join("bundle");
    world.discovery.bundled = Some(bundle.clone());
    world.executable("bundle/plumb");
    for link in ["bundle/pulumi-language-go", "bin/pulumi-language-go"] {
        let path = world.root.path().join(link);
        std::os::unix::fs::symlink(bundle.join("plumb"), path).unwrap();
    }
    assert_eq!(world.find(PluginKind::Language, "go", None), None);
    world.cached("language-go-v1.0.0");
    world.executable("cache/language-go-v1.0.0/pulumi-language-go");
    assert_eq!(
        world.find(PluginKind::Language, "go", None).as_deref(),
        Some("cache/language-go-v1.0.0/pulumi-language-go")
    );
}
