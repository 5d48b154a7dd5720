//! Providers written in Python that are run from their sources.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use plumb_language::dynamic_provider;
use plumb_plugin::discovery::{Cache, ProjectPlugin};
use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{
    Discovery, HostOptions, LanguageRuntime, PluginHost, PluginKind, ServiceAddresses,
};
use plumb_resource::provider::PluginSpec;

use crate::support::{World, repository, sdk};

fn host(world: &World, project: Vec<ProjectPlugin>) -> PluginHost {
    PluginHost::new(HostOptions {
        schema_cache: None,
        acquire: None,
        discovery: Discovery {
            project,
            search_path: None,
            bundled: None,
            cache: Cache::new(world.root.path().join("plugins")),
            accept_newer: false,
        },
        environment: world.environment.clone(),
        working_directory: world.root.path().join("project"),
        project: Some("proj".to_owned()),
        runtime_options: BTreeMap::new(),
        config: BTreeMap::new(),
        services: ServiceAddresses {
            engine: world.address.clone(),
            ..ServiceAddresses::default()
        },
        log_arguments: Vec::new(),
        attached_providers: BTreeMap::new(),
        attached_languages: BTreeMap::new(),
        timeouts: PluginTimeouts {
            port: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            ..PluginTimeouts::default()
        },
        refresh_before_update: true,
        use_provider_preview: true,
        ignore_versions: false,
        output: world.sink(),
    })
}

#[tokio::test]
async fn a_folder_of_sources_is_a_plugin() {
    let world = World::new().await;
    let Some(virtualenv) = sdk("3.259") else {
        return;
    };
    for entry in fs::read_dir(repository().join("tests/lab")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "py") {
            let name = path.file_name().unwrap().to_str().unwrap();
            let name = if name == "lab_provider.py" {
                "__main__.py"
            } else {
                name
            };
            world.file(&format!("lab/{name}"), &fs::read_to_string(&path).unwrap());
        }
    }
    let manifest = format!(
        "runtime:\n  name: python\n  options:\n    virtualenv: {}\n",
        virtualenv.display()
    );
    world.file("lab/PulumiPlugin.yaml", &manifest);
    let plugin = ProjectPlugin {
        kind: PluginKind::Resource,
        name: "lab".to_owned(),
        version: None,
        path: world.root.path().join("project/lab"),
    };
    let mut host = host(&world, vec![plugin]);
    let python: Arc<dyn LanguageRuntime> = Arc::new(world.host());
    host.register_language("python", Box::new(move || python.clone()));
    let provider = host.provider(&PluginSpec::named("lab")).await.unwrap();
    assert_eq!(
        provider.info().await.unwrap().version,
        Some(semver::Version::new(1, 0, 0))
    );
    host.shutdown().await;
}

#[tokio::test]
async fn the_provider_of_dynamic_resources_is_part_of_the_sdk() {
    let world = World::new().await;
    let Some(virtualenv) = sdk("3.259") else {
        return;
    };
    let info = world.info(serde_json::json!({"virtualenv": virtualenv}));
    let mut host = host(&world, Vec::new());
    host.register_command(
        "pulumi-python",
        Box::new(move |environment| {
            let info = info.clone();
            Box::pin(async move { Ok(dynamic_provider(&environment, &info).await?) })
        }),
    );
    let provider = host
        .provider(&PluginSpec::named("pulumi-python"))
        .await
        .unwrap();
    assert_eq!(
        provider.info().await.unwrap().version,
        Some(semver::Version::new(0, 1, 0))
    );
    host.shutdown().await;
}
