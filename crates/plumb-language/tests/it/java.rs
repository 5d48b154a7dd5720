//! Maven's information about a program. Tests with programs are in `tests/e2e/java.py`.

use std::fs;

use plumb_plugin::language::PackRequest;

use crate::support::{World, repository};

/// A program with the published SDK; `None` where that is not set up. Offline, Maven cannot publish even to a folder.
async fn world(offline: bool) -> Option<World> {
    let mut world = World::new().await;
    let cache = repository().join(".cache/java/sdk-1.36.1");
    if !cache.join(".complete").exists() {
        eprintln!(
            "SKIPPED: {} is missing; run tests/setup-java.sh",
            cache.display()
        );
        return None;
    }
    let home = world.root.path().join("home");
    fs::create_dir_all(home.join(".m2")).unwrap();
    let settings = format!(
        "<settings><localRepository>{}</localRepository><offline>{offline}</offline></settings>",
        cache.display()
    );
    fs::write(home.join(".m2/settings.xml"), settings).unwrap();
    let options = format!("-Duser.home={}", home.display());
    world
        .environment
        .insert("MAVEN_OPTS".into(), options.into());
    let program = repository().join("tests/e2e/java/program");
    for file in ["pom.xml", "src/main/java/prog/App.java"] {
        world.file(file, &fs::read_to_string(program.join(file)).unwrap());
    }
    Some(world)
}

#[tokio::test]
async fn packages_and_libraries_are_listed() {
    let Some(world) = world(true).await else {
        return;
    };
    let host = world.host_of("java");
    let info = world.info(serde_json::json!({}));
    let required = host.required_packages(&info).await.unwrap();
    assert_eq!(required.packages, []);
    let direct = host.program_dependencies(&info, false).await.unwrap();
    let direct: Vec<String> = direct
        .into_iter()
        .map(|one| format!("{} {}", one.name, one.version))
        .collect();
    assert_eq!(direct, ["com.pulumi:pulumi 1.36.1"]);
    let all = host.program_dependencies(&info, true).await.unwrap();
    assert!(
        all.iter()
            .any(|one| one.name == "com.google.code.gson:gson"),
        "{all:?}"
    );
    let about = host.about(&info).await.unwrap();
    assert!(about.version.contains("jdk"), "{about:?}");
}

#[tokio::test]
async fn a_library_is_published_to_a_folder() {
    let Some(world) = world(false).await else {
        return;
    };
    let packed = world.root.path().join("packed");
    let artifact = world
        .host_of("java")
        .pack(PackRequest {
            package_directory: world.root.path().join("project"),
            destination_directory: packed.clone(),
        })
        .await
        .unwrap();
    let expected = format!("com.example:prog:1.0:{}", packed.display());
    assert_eq!(artifact.to_str(), Some(expected.as_str()));
    assert!(packed.join("com/example/prog/1.0/prog-1.0.jar").is_file());
}
