//! Programs in Rust: one that uses the protocol directly, and small crates for the rest.

use std::fs;

use plumb_plugin::OutputStream;
use plumb_plugin::language::{PackRequest, RunOutcome, RunRequest};
use tokio_util::sync::CancellationToken;

use crate::support::World;

impl World {
    fn rust_request(&self, options: serde_json::Value) -> RunRequest {
        let mut request = self.run_request(self.root.path());
        request.info = self.info(options);
        request
    }
}

async fn run(world: &World, request: RunRequest) -> Result<RunOutcome, String> {
    let host = world.host_of("rust");
    let outcome = host.run(request, CancellationToken::new()).await;
    outcome.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_built_program_speaks_to_the_engine() {
    let world = World::new().await;
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().join("../examples/rust_program");
    if !program.exists() {
        eprintln!(
            "SKIPPED: {} is missing; build the examples",
            program.display()
        );
        return;
    }
    let mut request = world.rust_request(serde_json::json!({"binary": program}));
    let outcome = run(&world, request.clone()).await;
    assert_eq!(outcome, Ok(RunOutcome::Succeeded));
    assert_eq!(
        world.engine.registrations(),
        ["pulumi:pulumi:Stack proj-dev"]
    );
    request.config = [("other:key".to_owned(), "value".to_owned())].into();
    assert_eq!(run(&world, request).await, Ok(RunOutcome::Bailed));
    assert_eq!(world.engine.errors(), ["there is no colour"]);
}

const MANIFEST: &str = "[package]\nname = \"prog\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
    [dependencies]\npulumi_cloud = { path = \"sdks/cloud\" }\n\n[workspace]\n";

/// A crate with two dependencies, and an unrelated third crate.
async fn crates() -> Option<World> {
    let mut world = World::new().await;
    for (name, value) in [
        ("CARGO_NET_OFFLINE", "true"),
        ("CARGO_TARGET_DIR", "target"),
    ] {
        world.environment.insert(name.into(), value.into());
    }
    let library = |name: &str, rest: &str| {
        let path = format!("sdks/{name}/Cargo.toml");
        let text = format!(
            "[package]\nname = \"pulumi_{name}\"\nversion = \"2.1.0\"\nedition = \"2021\"\n{rest}"
        );
        world.file(&path, &text);
        world.file(&format!("sdks/{name}/src/lib.rs"), "");
    };
    library(
        "cloud",
        "[dependencies]\npulumi_sky = { path = \"../sky\" }\n",
    );
    library(
        "sky",
        "[package.metadata.pulumi]\nresource = true\nname = \"heaven\"\nversion = \"3.0.0\"\n",
    );
    library("unused", "[package.metadata.pulumi]\nresource = true\n");
    world.file("sdks/cloud/pulumi-plugin.json", r#"{"resource": true}"#);
    world.file("Cargo.toml", MANIFEST);
    world.file(
        "src/main.rs",
        "fn main() {\n    println!(\"{} {:?}\", std::env::var(\"PULUMI_STACK\").unwrap(), std::env::args().count());\n    \
         std::process::exit(std::env::var(\"CODE\").map_or(0, |code| code.parse().unwrap()));\n}\n",
    );
    world.has_tool("cargo").then_some(world)
}

#[tokio::test]
async fn a_crate_is_built_and_run() {
    let Some(mut world) = crates().await else {
        return;
    };
    let request = world.rust_request(serde_json::json!({}));
    assert_eq!(
        run(&world, request.clone()).await,
        Ok(RunOutcome::Succeeded)
    );
    assert_eq!(world.printed(OutputStream::Stdout), ["dev 1"]);
    world.environment.insert("CODE".into(), "32".into());
    assert_eq!(run(&world, request.clone()).await, Ok(RunOutcome::Bailed));
    world.environment.insert("CODE".into(), "4".into());
    let failed = RunOutcome::Failed("program exited with non-zero exit code: 4".to_owned());
    assert_eq!(run(&world, request.clone()).await, Ok(failed));

    world.file("src/bin/second.rs", "fn main() {}\n");
    let error = run(&world, request.clone()).await.unwrap_err();
    assert!(error.contains("more than one binary"), "{error}");
    let named = world.rust_request(serde_json::json!({"bin": "second", "profile": "dev"}));
    assert_eq!(run(&world, named).await, Ok(RunOutcome::Succeeded));
    world.file("src/bin/second.rs", "fn main() { undefined_name() }\n");
    let error = run(&world, request.clone()).await.unwrap_err();
    assert!(
        error.contains("cannot find function `undefined_name`"),
        "{error}"
    );
    world.environment.insert("PATH".into(), "/nowhere".into());
    let error = run(&world, request).await.unwrap_err();
    assert!(
        error.contains("install Rust from https://rustup.rs"),
        "{error}"
    );
}

#[tokio::test]
async fn packages_are_crates_that_describe_a_plugin() {
    let Some(world) = crates().await else {
        return;
    };
    let host = world.host_of("rust");
    let info = world.info(serde_json::json!({}));
    let required = host.required_packages(&info).await.unwrap();
    let shown: Vec<String> = required
        .packages
        .iter()
        .map(|package| format!("{} {}", package.name, package.version.as_ref().unwrap()))
        .collect();
    assert_eq!(shown, ["cloud 2.1.0", "heaven 3.0.0"]);
    let direct = host.program_dependencies(&info, false).await.unwrap();
    assert_eq!(direct.len(), 1);
    let all = host.program_dependencies(&info, true).await.unwrap();
    assert_eq!(all.len(), 2);
    let about = host.about(&info).await.unwrap();
    assert!(about.version.starts_with("cargo 1."), "{about:?}");
}

#[tokio::test]
async fn crates_are_packed_and_linked() {
    let Some(world) = crates().await else {
        return;
    };
    world.file("sdks/unused/target/left-over", "");
    let host = world.host_of("rust");
    let project = world.root.path().join("project");
    let packed = host
        .pack(PackRequest {
            package_directory: project.join("sdks/unused"),
            destination_directory: world.root.path().join("packed"),
        })
        .await
        .unwrap();
    assert!(packed.join("src/lib.rs").is_file());
    assert!(!packed.join("target").exists());
    let instructions = host
        .link(world.link_request("unused", &packed))
        .await
        .unwrap();
    assert!(
        instructions.contains("use pulumi_unused;"),
        "{instructions}"
    );
    let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
    assert!(
        manifest.contains("pulumi_unused = { version = \"2.1.0\", path = "),
        "{manifest}"
    );
}
