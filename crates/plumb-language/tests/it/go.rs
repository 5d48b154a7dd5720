//! Go modules, without the SDK: requirements of a program and linked modules. Tests with programs are in
//! `tests/e2e/go.py`.

use std::fs;
use std::path::Path;

use plumb_plugin::language::{PackRequest, ProgramInfo};

use crate::support::World;

const MODULE: &str = "module example.com/prog\n\ngo 1.21\n\nrequire (\n\
    \texample.com/acme/pulumi-cloud/sdk/v2 v2.1.0\n\
    \texample.com/acme/pulumi-plain v0.1.0 // indirect\n)\n";
const REPLACED: &str = "\nreplace example.com/acme/pulumi-cloud/sdk/v2 => ./sdks/cloud\n\
    replace example.com/acme/pulumi-plain => ./sdks/plain\n";

/// A program with two local modules, one of which is a package; `None` without Go.
async fn world(module: &str) -> Option<World> {
    let mut world = World::new().await;
    for (name, value) in [
        ("GOPROXY", "off"),
        ("GOFLAGS", "-buildvcs=false"),
        ("GOTOOLCHAIN", "local"),
    ] {
        world.environment.insert(name.into(), value.into());
    }
    world.file("go.mod", module);
    world.file("main.go", "package main\n\nfunc main() {}\n");
    world.file(
        "sdks/cloud/go.mod",
        "module example.com/acme/pulumi-cloud/sdk/v2\n\ngo 1.21\n",
    );
    world.file("sdks/cloud/cloud/cloud.go", "package cloud\n");
    world.file("sdks/cloud/internal/util.go", "package internal\n");
    world.file(
        "sdks/cloud/cloud/pulumi-plugin.json",
        r#"{"resource": true, "server": "https://example.com"}"#,
    );
    world.file(
        "sdks/plain/go.mod",
        "module example.com/acme/pulumi-plain\n\ngo 1.21\n",
    );
    world.has_tool("go").then_some(world)
}

async fn packages(world: &World, info: &ProgramInfo) -> Vec<String> {
    let required = world.host_of("go").required_packages(info).await.unwrap();
    let packages = required.packages.iter();
    packages
        .map(|package| {
            let version = package.version.as_ref().unwrap();
            let server = package.server.as_deref().unwrap_or("-");
            format!("{} {version} {server}", package.name)
        })
        .collect()
}

#[tokio::test]
async fn packages_are_modules_that_describe_a_plugin() {
    let Some(world) = world(&format!("{MODULE}{REPLACED}")).await else {
        return;
    };
    let info = world.info(serde_json::json!({}));
    assert_eq!(
        packages(&world, &info).await,
        ["cloud 2.1.0 https://example.com"]
    );
}

#[tokio::test]
async fn only_what_is_vendored_is_looked_at() {
    let Some(world) = world(MODULE).await else {
        return;
    };
    world.file(
        "vendor/example.com/acme/pulumi-cloud/sdk/v2/pulumi-plugin.json",
        r#"{"resource": true, "name": "sky"}"#,
    );
    let info = world.info(serde_json::json!({}));
    assert_eq!(packages(&world, &info).await, ["sky 2.1.0 -"]);
}

/// A prebuilt program can run where the modules of its sources are not available.
#[tokio::test]
async fn packages_that_cannot_be_found_are_none() {
    let Some(world) = world("nonsense").await else {
        return;
    };
    let info = world.info(serde_json::json!({}));
    assert_eq!(packages(&world, &info).await, [""; 0]);
}

#[tokio::test]
async fn dependencies_and_the_tool_are_told() {
    let Some(world) = world(&format!("{MODULE}{REPLACED}")).await else {
        return;
    };
    let info = world.info(serde_json::json!({}));
    let host = world.host_of("go");
    let listed = async |transitive| {
        let dependencies = host.program_dependencies(&info, transitive).await.unwrap();
        let dependencies = dependencies.into_iter();
        dependencies
            .map(|one| format!("{} {}", one.name, one.version))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        listed(false).await,
        ["example.com/acme/pulumi-cloud/sdk/v2 "]
    );
    assert_eq!(
        listed(true).await,
        [
            "example.com/acme/pulumi-cloud/sdk/v2 ",
            "example.com/acme/pulumi-plain "
        ]
    );
    let about = host.about(&info).await.unwrap();
    assert!(about.version.starts_with("go version go1."), "{about:?}");
    assert!(Path::new(&about.executable).is_file(), "{about:?}");
}

#[tokio::test]
async fn libraries_are_packed_and_linked() {
    let Some(world) = world("module example.com/prog\n\ngo 1.21\n").await else {
        return;
    };
    let project = world.root.path().join("project");
    let host = world.host_of("go");
    let packed = host
        .pack(PackRequest {
            package_directory: project.join("sdks/cloud"),
            destination_directory: world.root.path().join("packed"),
        })
        .await
        .unwrap();
    let name = "example.com_acme_pulumi-cloud_sdk_v2";
    assert_eq!(packed, world.root.path().join("packed").join(name));
    assert!(packed.join("cloud/cloud.go").is_file());

    let instructions = host
        .link(world.link_request("cloud", "sdks/cloud"))
        .await
        .unwrap();
    assert!(
        instructions.contains("\"example.com/acme/pulumi-cloud/sdk/v2/cloud\""),
        "{instructions}"
    );
    assert!(!instructions.contains("internal"), "{instructions}");
    let module = fs::read_to_string(project.join("go.mod")).unwrap();
    assert!(
        module.contains("replace example.com/acme/pulumi-cloud/sdk/v2 => ./sdks/cloud"),
        "{module}"
    );
}
