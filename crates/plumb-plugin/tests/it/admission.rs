//! Verification of plugins before their start, for plugins of every kind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use plumb_plugin::discovery::FoundPlugin;
use plumb_plugin::{
    Acquire, AcquireFailure, AnalyzedStack, HostOptions, PackPlace, PluginHost, PluginKind,
    PolicyPack,
};
use plumb_resource::provider::PluginSpec;
use semver::Version;

use crate::support::World;

/// Rejects every plugin.
struct Suspicious;

#[async_trait]
impl Acquire for Suspicious {
    fn gets_plugins(&self) -> bool {
        false
    }

    fn takes_only_locked(&self) -> bool {
        true
    }

    fn locked_version(&self, _: PluginKind, name: &str) -> Option<Version> {
        (name == "two").then(|| Version::new(1, 0, 0))
    }

    async fn verify(&self, plugin: &FoundPlugin) -> Result<(), AcquireFailure> {
        Err(format!("{} was tampered with", plugin.executable.display()).into())
    }

    async fn acquire(&self, _: PluginKind, _: &PluginSpec) -> Result<(), AcquireFailure> {
        Err("nothing is got here".into())
    }
}

/// An executable in the cache that leaves a file when it runs.
fn cached(world: &World, kind: PluginKind, name: &str, version: &str) -> PathBuf {
    let folder = world
        .root
        .path()
        .join(format!("plugins/{kind}-{name}-v{version}"));
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join(kind.file_name(name));
    let ran = world.root.path().join("ran");
    fs::write(&program, format!("#!/bin/sh\necho > '{}'\n", ran.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn host(world: &World) -> PluginHost {
    PluginHost::new(HostOptions {
        acquire: Some(Arc::new(Suspicious)),
        ..world.options()
    })
}

/// The error with its causes.
fn refusal<T>(result: Result<T, impl std::error::Error>) -> String {
    let Err(error) = result else {
        panic!("a plugin that nobody vouches for was started")
    };
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text = format!("{text}: {error}");
        next = error.source();
    }
    text
}

async fn pack(world: &World, name: &str) -> String {
    let pack = PolicyPack {
        name: name.to_owned(),
        place: PackPlace::Path(world.root.path().join(name)),
        environment: std::collections::BTreeMap::default(),
    };
    refusal(host(world).analyzer(&pack, &AnalyzedStack::default()).await)
}

#[tokio::test]
async fn no_kind_of_plugin_is_started_unverified() {
    let world = World::new();
    for kind in [
        PluginKind::Resource,
        PluginKind::Language,
        PluginKind::Analyzer,
        PluginKind::Converter,
    ] {
        cached(&world, kind, "pet", "1.0.0");
    }
    let sources = cached(&world, PluginKind::Resource, "sources", "1.0.0");
    fs::remove_file(sources.join("pulumi-resource-sources")).unwrap();
    fs::write(sources.join("PulumiPlugin.yaml"), "runtime: pet\n").unwrap();
    cached(&world, PluginKind::Analyzer, "policy-other", "1.0.0");
    let own_pack = world.root.path().join("own");
    fs::create_dir(&own_pack).unwrap();
    fs::write(own_pack.join("PulumiPolicy.yaml"), "runtime: other\n").unwrap();
    world.script("ambient", "echo > ran");

    let provider = |name: &'static str| {
        let host = host(&world);
        async move { refusal(host.provider(&PluginSpec::named(name)).await.map(drop)) }
    };
    let refusals = [
        provider("pet").await,
        provider("sources").await,
        provider("ambient").await,
        refusal(host(&world).language("pet").await.map(drop)),
        refusal(host(&world).converter("pet").await.map(drop)),
        pack(&world, "pet").await,
        pack(&world, "own").await,
    ];
    for refusal in refusals {
        assert!(refusal.contains("was tampered with"), "{refusal}");
    }
    assert!(!world.root.path().join("ran").exists());
}

/// Another project has put a newer version into the cache.
#[tokio::test]
async fn the_locked_version_is_taken_where_none_is_asked_for() {
    let world = World::new();
    cached(&world, PluginKind::Resource, "two", "1.0.0");
    cached(&world, PluginKind::Resource, "two", "2.0.0");
    let provider = host(&world).provider(&PluginSpec::named("two")).await;
    let refusal = refusal(provider.map(drop));
    assert!(refusal.contains("resource-two-v1.0.0"), "{refusal}");
}
