use std::path::PathBuf;

use plumb_acquire::{LockMode, Package, Platform, install};
use plumb_plugin::PluginKind;
use semver::Version;

use crate::server::{Answer, Server};
use crate::support::{World, asset, checksum, plugin, wanted};

#[tokio::test]
async fn the_first_use_is_written_down_and_the_next_is_verified() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    let url = format!("http://{address}");
    let (one, two) = (plugin("one"), plugin("two"));
    server.on(&format!("/{}", asset()), [Answer::Content(one.clone())]);
    world.acquire(&url).await.unwrap();
    let platform = Platform::current().key();
    let expected = world.lock_file();
    let content: serde_json::Value = serde_json::from_str(&expected).unwrap();
    assert_eq!(content["version"], 2);
    let digests = &content["plugins"]["resource-pet-v1.0.0"][&platform];
    assert_eq!(digests["archive"], checksum(&one));
    assert_eq!(digests["content"].as_str().unwrap().len(), 64);
    server.on(&format!("/{}", asset()), [Answer::Content(two)]);
    let again = plumb_acquire::Wanted {
        reinstall: true,
        ..wanted(&url)
    };
    let error = world
        .acquirer()
        .acquire(&again)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("is not the one that"), "{error}");
    let program = world.installed().join("pulumi-resource-pet");
    assert_eq!(std::fs::read_to_string(program).unwrap(), "one");
    assert_eq!(world.lock_file(), expected);
}

/// Another project has put a different archive into the cache.
#[tokio::test]
async fn what_is_in_the_cache_is_verified_too() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    let url = format!("http://{address}");
    server.on(&format!("/{}", asset()), [Answer::Content(plugin("one"))]);
    world.acquire(&url).await.unwrap();
    let text = world.lock_file().replace(&checksum(&plugin("one")), "00");
    std::fs::write(world.folder.path().join("plumb.lock"), text).unwrap();
    let error = world.acquire(&url).await.unwrap_err().to_string();
    assert!(error.contains("expected 00, actual"), "{error}");
}

#[tokio::test]
async fn a_frozen_lock_file_admits_nothing_new() {
    let (mut world, server) = (World::new(), Server::default());
    let address = server.start().await;
    let url = format!("http://{address}");
    server.on(&format!("/{}", asset()), [Answer::Content(plugin("one"))]);
    world.mode = LockMode::Frozen;
    let error = world.acquire(&url).await.unwrap_err().to_string();
    assert!(error.contains("without --locked"), "{error}");
    assert!(world.left().is_empty());
    world.mode = LockMode::Update;
    world.acquire(&url).await.unwrap();
    world.mode = LockMode::Frozen;
    world.acquire(&url).await.unwrap();
}

#[tokio::test]
async fn a_lock_file_that_makes_no_sense_is_left_alone() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    let url = format!("http://{address}");
    server.on(&format!("/{}", asset()), [Answer::Content(plugin("one"))]);
    for (text, said) in [
        ("{", "could not understand"),
        ("{\"version\": 3}", "upgrade it"),
    ] {
        std::fs::write(world.folder.path().join("plumb.lock"), text).unwrap();
        let error = world.acquire(&url).await.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(world.lock_file(), text);
    }
}

/// A project with an installed and locked plugin. The server is stopped, so that any request fails.
async fn locked() -> (World, PathBuf) {
    let (mut world, server) = (World::new(), Server::default());
    let address = server.start().await;
    server.on(&format!("/{}", asset()), [Answer::Content(plugin("one"))]);
    world.acquire(&format!("http://{address}")).await.unwrap();
    world.mode = LockMode::Frozen;
    let program = world.installed().join("pulumi-resource-pet");
    (world, program)
}

async fn refusal(world: &World, file: &std::path::Path) -> String {
    let verified = world.acquirer().verify(file).await;
    verified.unwrap_err().to_string()
}

#[tokio::test]
async fn changed_files_are_found_at_each_start() {
    let (world, program) = locked().await;
    world.acquirer().verify(&program).await.unwrap();
    std::fs::write(&program, "two").unwrap();
    let error = refusal(&world, &program).await;
    assert!(error.contains("are not those that"), "{error}");
    std::fs::write(&program, "one").unwrap();
    world.acquirer().verify(&program).await.unwrap();
    std::fs::write(world.installed().join("libc.so"), "").unwrap();
    let error = refusal(&world, &program).await;
    assert!(error.contains("are not those that"), "{error}");
}

/// The files beside a plugin are not trusted.
#[tokio::test]
async fn what_the_cache_says_of_itself_does_not_count() {
    let (world, program) = locked().await;
    let folder = world.cache().directory().to_owned();
    std::fs::remove_file(folder.join("resource-pet-v1.0.0.sha256")).unwrap();
    world.acquirer().verify(&program).await.unwrap();
    std::fs::write(&program, "two").unwrap();
    std::fs::remove_file(folder.join("resource-pet-v1.0.0.contents")).unwrap();
    let error = refusal(&world, &program).await;
    assert!(error.contains("are not those that"), "{error}");
}

#[tokio::test]
async fn nobody_is_asked_for_what_is_not_named() {
    let mut world = World::new();
    world.mode = LockMode::Frozen;
    for version in [Some(Version::new(1, 0, 0)), None] {
        let wanted = plumb_acquire::Wanted {
            version,
            ..wanted("http://127.0.0.1:1")
        };
        let error = world.acquirer().acquire(&wanted).await.unwrap_err();
        let error = error.to_string();
        assert!(error.contains("does not name resource-pet"), "{error}");
    }
}

#[tokio::test]
async fn what_others_put_into_the_cache_is_noted_by_its_content() {
    let mut world = World::new();
    let program = world.installed().join("pulumi-resource-pet");
    std::fs::create_dir_all(world.installed()).unwrap();
    std::fs::write(&program, "one").unwrap();
    world.mode = LockMode::Frozen;
    let error = refusal(&world, &program).await;
    assert!(error.contains("does not name"), "{error}");
    world.mode = LockMode::Update;
    world.acquirer().verify(&program).await.unwrap();
    assert!(!world.lock_file().contains("archive"));
    world.mode = LockMode::Frozen;
    world.acquirer().verify(&program).await.unwrap();
    std::fs::write(&program, "two").unwrap();
    let error = refusal(&world, &program).await;
    assert!(error.contains("are not those that"), "{error}");
}

/// Other kinds of plugins, and other kinds of installations, are locked too.
#[tokio::test]
async fn plugins_of_every_kind_are_locked() {
    let mut world = World::new();
    let place = world.folder.path().join("sources");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("PulumiPlugin.yaml"), "runtime: python\n").unwrap();
    std::fs::write(place.join("__main__.py"), "one").unwrap();
    let version = Version::new(1, 0, 0);
    for kind in [
        PluginKind::Resource,
        PluginKind::Language,
        PluginKind::Analyzer,
        PluginKind::Converter,
    ] {
        let package = Package::Folder(place.clone());
        install(&world.cache(), kind, "pet", &version, &package, false).unwrap();
        let folder = world.cache().directory().join(format!("{kind}-pet-v1.0.0"));
        let program = folder.join(kind.file_name("pet"));
        world.mode = LockMode::Frozen;
        let error = refusal(&world, &program).await;
        assert!(error.contains("does not name"), "{error}");
        world.mode = LockMode::Update;
        world.acquirer().verify(&program).await.unwrap();
        // A dependency installed beside the plugin.
        std::fs::write(folder.join("installed.py"), "").unwrap();
        world.mode = LockMode::Frozen;
        world.acquirer().verify(&program).await.unwrap();
        std::fs::write(folder.join("__main__.py"), "two").unwrap();
        let error = refusal(&world, &program).await;
        assert!(error.contains("are not those that"), "{error}");
    }
}

#[tokio::test]
async fn the_locked_version_is_the_one_that_is_meant() {
    let (mut world, _) = locked().await;
    let other = world.cache().directory().join("resource-pet-v2.0.0");
    std::fs::create_dir(&other).unwrap();
    let newest = |world: &World| {
        let acquirer = world.acquirer();
        acquirer
            .locked_version(PluginKind::Resource, "pet")
            .unwrap()
    };
    assert_eq!(newest(&world), Some(Version::new(1, 0, 0)));
    world.mode = LockMode::Update;
    assert_eq!(newest(&world), None);
}

#[tokio::test]
async fn a_file_of_an_older_version_is_read_and_completed() {
    let (mut world, program) = locked().await;
    let archive = checksum(&plugin("one"));
    let platform = Platform::current().key();
    let old = format!(
        "{{\"version\": 1, \"plugins\": {{\"resource-pet-v1.0.0\": {{\"{platform}\": \"{archive}\"}}}}}}"
    );
    std::fs::write(world.folder.path().join("plumb.lock"), &old).unwrap();
    let error = refusal(&world, &program).await;
    assert!(error.contains("not what is in it"), "{error}");
    world.mode = LockMode::Update;
    world.acquirer().verify(&program).await.unwrap();
    assert!(world.lock_file().contains(&archive));
    world.mode = LockMode::Frozen;
    world.acquirer().verify(&program).await.unwrap();
}

/// A repository with a plugin in source form and the tag v1.0.0, which `git` sees as one at https://git.test.
struct Repository(PathBuf);

impl Repository {
    fn new(world: &mut World) -> Self {
        let repository = Repository(world.folder.path().join("me/parts"));
        std::fs::create_dir_all(&repository.0).unwrap();
        let url = format!("url.file://{}/.insteadOf", world.folder.path().display());
        let settings = [
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", &url),
            ("GIT_CONFIG_VALUE_0", "https://git.test/"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ];
        let path = ("PATH".into(), std::env::var_os("PATH").unwrap());
        let settings = settings.map(|(key, value)| (key.into(), value.into()));
        world.environment = settings.into_iter().chain([path]).collect();
        repository.git(&["init", "--quiet"]);
        repository
    }

    fn git(&self, words: &[&str]) {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=me", "-c", "user.email=me@test"]);
        let done = git.args(words).current_dir(&self.0).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    /// Moves the tag to a commit with another program.
    fn commit(&self, text: &str) {
        std::fs::write(self.0.join("PulumiPlugin.yaml"), "runtime: python\n").unwrap();
        std::fs::write(self.0.join("__main__.py"), text).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--no-gpg-sign", "--message", text]);
        self.git(&["tag", "--force", "v1.0.0"]);
    }
}

/// Moving the tag of a locked plugin is detected.
#[tokio::test]
async fn sources_from_a_repository_are_locked() {
    let mut world = World::new();
    let repository = Repository::new(&mut world);
    repository.commit("one");
    let wanted = plumb_acquire::Wanted {
        name: "git.test_me_parts".to_owned(),
        ..wanted("git://git.test/me/parts")
    };
    world.acquirer().acquire(&wanted).await.unwrap();
    assert!(world.lock_file().contains("content"));
    world.mode = LockMode::Frozen;
    world.acquirer().acquire(&wanted).await.unwrap();
    repository.commit("two");
    let again = plumb_acquire::Wanted {
        reinstall: true,
        ..wanted
    };
    let error = world.acquirer().acquire(&again).await.unwrap_err();
    let error = error.to_string();
    assert!(error.contains("are not those that"), "{error}");
}
