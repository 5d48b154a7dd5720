//! Starting policy packs: their arguments, their environment, and the errors of those that do not start.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use plumb_plugin::process::Environment;
use plumb_plugin::{AnalyzedStack, AnalyzerError, PackPlace, PolicyPack};

use crate::support::World;

/// Script that records its arguments and environment, and prints no port.
const CURIOUS: &str =
    "#!/bin/sh\n{ pwd; echo \"$@\"; env | grep ^PULUMI_ | sort; } > \"$NOTES\"\nexit 3\n";

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn stack() -> AnalyzedStack {
    AnalyzedStack {
        project: "proj".to_owned(),
        stack: "dev".to_owned(),
        organization: "org".to_owned(),
        dry_run: true,
        config: [("proj:size".to_owned(), "3".to_owned())].into(),
        ..AnalyzedStack::default()
    }
}

fn world() -> World {
    let mut world = World::new();
    world
        .environment
        .retain(|key, _| !key.to_string_lossy().starts_with("PULUMI"));
    let notes = world.root.path().join("notes");
    world.environment.insert("NOTES".into(), notes.into());
    world
}

/// The error of starting the pack `name`, and the lines that the pack recorded.
async fn start(world: &World, name: &str) -> (AnalyzerError, Vec<String>) {
    let pack = PolicyPack {
        name: name.to_owned(),
        place: PackPlace::Path(world.root.path().join(name)),
        environment: Environment::from([("PULUMI_OWN".into(), "own".into())]),
    };
    let Err(error) = world.host().analyzer(&pack, &stack()).await else {
        panic!("the pack started")
    };
    let notes = fs::read_to_string(world.root.path().join("notes")).unwrap_or_default();
    (error, notes.lines().map(ToOwned::to_owned).collect())
}

fn sources(world: &World, manifest: &str) -> PathBuf {
    let folder = world.root.path().join("pack");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("PulumiPolicy.yaml"), manifest).unwrap();
    folder
}

fn folder(world: &World) -> String {
    let path = world.root.path().canonicalize().unwrap();
    path.to_string_lossy().into_owned()
}

#[tokio::test]
async fn an_executable_is_a_pack() {
    let world = world();
    executable(&world.root.path().join("mine"), CURIOUS);
    let (error, notes) = start(&world, "mine").await;
    assert!(matches!(error, AnalyzerError::Start { .. }), "{error:?}");
    assert_eq!(error.to_string(), "policy pack \"mine\" failed to start");
    assert_eq!(notes, [&folder(&world), "127.0.0.1:1", "PULUMI_OWN=own"]);
}

/// POLICY-01
#[tokio::test]
async fn languages_without_a_host_have_an_executable_that_runs_their_packs() {
    let world = world();
    let pack = sources(
        &world,
        "runtime: {name: rego, options: {strict: true, mode: fast}}\n",
    );
    executable(
        &world.root.path().join("bin/pulumi-analyzer-policy-rego"),
        CURIOUS,
    );
    let (_, notes) = start(&world, "pack").await;
    let pack = pack.canonicalize().unwrap();
    assert_eq!(
        notes,
        [
            &pack.to_string_lossy(),
            "127.0.0.1:1 . -mode=fast -strict=true",
            "PULUMI_CONFIG={\"proj:size\":\"3\"}",
            "PULUMI_DRY_RUN=true",
            "PULUMI_ORGANIZATION=org",
            "PULUMI_OWN=own",
            "PULUMI_PROJECT=proj",
            "PULUMI_STACK=dev",
        ]
    );
}

#[tokio::test]
async fn packs_in_node_find_the_stack_under_names_of_their_own_too() {
    let world = world();
    sources(&world, "runtime: nodejs\n");
    let cannot = "echo \"Error: Cannot find module '@pulumi/pulumi/cmd/run-policy-pack'\" >&2";
    executable(
        &world.root.path().join("bin/pulumi-analyzer-policy-nodejs"),
        &CURIOUS.replace("exit 3", &format!("{cannot}\nexit 3")),
    );
    let (error, notes) = start(&world, "pack").await;
    assert!(
        notes.contains(&"PULUMI_NODEJS_STACK=dev".to_owned()),
        "{notes:?}"
    );
    assert!(notes.contains(&"PULUMI_NODEJS_DRY_RUN=true".to_owned()));
    let text = error.to_string();
    assert!(
        text.contains("pulumi SDK does not support policy as code"),
        "{text}"
    );
    assert!(text.contains("npm install"), "{text}");
}

#[tokio::test]
async fn a_name_that_is_no_path_stands_for_a_plugin() {
    let world = world();
    executable(
        &world.root.path().join("bin/pulumi-analyzer-shared"),
        CURIOUS,
    );
    let (_, notes) = start(&world, "shared").await;
    assert_eq!(notes[1], "127.0.0.1:1");
    for (pack, manifest) in [
        ("nowhere", "nowhere/PulumiPolicy.yaml"),
        ("./shared", "shared/PulumiPolicy.yaml"),
    ] {
        let (error, _) = start(&world, pack).await;
        let expected = format!(
            "failed to load Pulumi policy project located at {pack:?}: open {manifest}: no such file or directory"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn without_a_host_and_an_executable_the_language_is_named() {
    let world = world();
    sources(&world, "runtime: rego\n");
    let (error, _) = start(&world, "pack").await;
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        cause.starts_with("no language plugin 'pulumi-language-rego' found"),
        "{cause}"
    );
}
