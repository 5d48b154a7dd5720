use plumb_acquire::{AcquireError, DownloadError, Platform, Progress};
use semver::Version;

use crate::server::{Answer, Server};
use crate::support::{World, asset, checksum, plugin, wanted};

#[tokio::test]
async fn a_folder_of_archives_has_the_plugin() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    let content = plugin("one");
    let path = format!("/pet/1.0.0/{}", asset());
    server.on(&path, [Answer::Content(content.clone())]);
    let url = format!("http://{address}/${{NAME}}/$%7BVERSION%7D/");
    let version = world.acquire(&url).await.unwrap();
    assert_eq!(version, Version::new(1, 0, 0));
    let program = world.installed().join("pulumi-resource-pet");
    assert_eq!(std::fs::read_to_string(&program).unwrap(), "one");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = program.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755 & mode);
        assert_eq!(mode & 0o700, 0o700);
    }
    let plugins = world.cache().list().unwrap();
    assert_eq!(plugins.len(), 1);
    let size = content.len() as u64;
    let seen = world.seen.lock().unwrap();
    assert_eq!(seen.first(), Some(&Progress::Started));
    assert!(seen.contains(&Progress::Bytes(size, Some(size))));
    assert_eq!(seen.last(), Some(&Progress::Done));
}

#[tokio::test]
async fn what_is_there_is_not_downloaded_again() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    let path = format!("/{}", asset());
    server.on(&path, [Answer::Content(plugin("one"))]);
    let url = format!("http://{address}");
    world.acquire(&url).await.unwrap();
    world.acquire(&url).await.unwrap();
    assert_eq!(server.asked(), [path.as_str()]);
    let again = plumb_acquire::Wanted {
        reinstall: true,
        ..wanted(&url)
    };
    world.acquirer().acquire(&again).await.unwrap();
    assert_eq!(server.asked().len(), 2);
    assert_eq!(
        world.left(),
        [
            "resource-pet-v1.0.0",
            "resource-pet-v1.0.0.contents",
            "resource-pet-v1.0.0.sha256"
        ]
    );
}

#[tokio::test]
async fn releases_are_asked_for_with_a_token() {
    let (mut world, server) = (World::new(), Server::default());
    world.tokens.github = Some("secret".to_owned());
    let address = server.start().await;
    let release = format!(
        r#"{{"tag_name": "v1.0.0", "assets": [{{"name": "other", "url": "x"}},
            {{"name": "{}", "url": "http://{address}/asset/7"}}]}}"#,
        asset()
    );
    let tags = "/repos/acme/pulumi-pet/releases/tags/v1.0.0";
    server.on(tags, [Answer::Content(release.clone().into())]);
    server.on(
        "/repos/acme/pulumi-pet/releases/latest",
        [Answer::Content(release.into())],
    );
    server.on("/asset/7", [Answer::Content(plugin("one"))]);
    let latest = plumb_acquire::Wanted {
        version: None,
        ..wanted(&format!("github://{address}/acme"))
    };
    let version = world.acquirer().acquire(&latest).await.unwrap();
    assert_eq!(version, Version::new(1, 0, 0));
    assert_eq!(
        server.asked(),
        [
            "/repos/acme/pulumi-pet/releases/latest [token secret]",
            "/repos/acme/pulumi-pet/releases/tags/v1.0.0 [token secret]",
            "/asset/7 [token secret]"
        ]
    );
}

#[tokio::test]
async fn a_token_that_is_refused_is_left_out() {
    let (mut world, server) = (World::new(), Server::default());
    world.tokens.gitlab = Some("old".to_owned());
    let address = server.start().await;
    let path = format!("/api/v4/projects/42/releases/v1.0.0/downloads/{}", asset());
    server.on(&path, [Answer::Status(401), Answer::Content(plugin("one"))]);
    world
        .acquire(&format!("gitlab://{address}/42"))
        .await
        .unwrap();
    assert_eq!(server.asked(), [format!("{path} [Bearer old]"), path]);
}

#[tokio::test]
async fn limits_and_missing_files_are_told() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    let tags = "/repos/acme/pulumi-pet/releases/tags/v1.0.0";
    let url = format!("github://{address}/acme");
    server.on(tags, [Answer::Refusal(403, "x-ratelimit-remaining", "0")]);
    let error = world.acquire(&url).await.unwrap_err().to_string();
    assert!(error.contains("set GITHUB_TOKEN"), "{error}");
    let empty = br#"{"tag_name": "v1.0.0", "assets": [{"name": "notes.txt", "url": "x"}]}"#;
    server.on(tags, [Answer::Content(empty.to_vec())]);
    let error = world.acquire(&url).await.unwrap_err().to_string();
    assert!(error.contains("it has notes.txt"), "{error}");
    assert_eq!(server.asked().len(), 2);
    assert!(world.left().is_empty());
}

#[tokio::test]
async fn servers_that_stumble_are_asked_again() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    let content = plugin("a program that does not fit into half of its archive");
    server.on(
        &format!("/{}", asset()),
        [
            Answer::Status(503),
            Answer::Half(content.clone()),
            Answer::Content(content),
        ],
    );
    world.acquire(&format!("http://{address}")).await.unwrap();
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn what_fails_is_told_without_passwords() {
    let (mut world, server) = (World::new(), Server::default());
    let address = server.start().await;
    world.overrides =
        format!("get.pulumi.com=http://user:hunter2@{address}/mirror,.*=gitlab://{address}/1");
    let nowhere = plumb_acquire::Wanted {
        url: None,
        ..wanted("")
    };
    let error = world.acquirer().acquire(&nowhere).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(&format!(
            "http://{address}/mirror/pulumi-resource-pet-v1.0.0"
        )),
        "{text}"
    );
    assert!(text.contains("404"), "{text}");
    assert!(!format!("{error:?}{text}").contains("hunter2"), "{text}");
    let AcquireError::Nowhere { failures, .. } = error else {
        panic!("{text}");
    };
    assert!(matches!(
        failures[..],
        [DownloadError::Status { .. }, DownloadError::Status { .. }]
    ));
}

#[tokio::test]
async fn another_archive_than_expected_is_not_installed() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    let content = plugin("one");
    server.on(&format!("/{}", asset()), [Answer::Content(content.clone())]);
    let expect = |hash: String| plumb_acquire::Wanted {
        checksums: [(Platform::current().key(), hash)].into(),
        ..wanted(&format!("http://{address}"))
    };
    let error = world.acquirer().acquire(&expect("00".to_owned())).await;
    let text = error.unwrap_err().to_string();
    let actual = checksum(&content);
    assert!(
        text.contains(&format!("expected 00, actual {actual}")),
        "{text}"
    );
    assert!(world.left().is_empty());
    assert_eq!(world.lock_file(), "");
    world
        .acquirer()
        .acquire(&expect(actual.to_uppercase()))
        .await
        .unwrap();
}

#[tokio::test]
async fn those_who_come_at_once_share_one_download() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    server.on(&format!("/{}", asset()), [Answer::Content(plugin("one"))]);
    let acquirers: Vec<_> = (0..8).map(|_| world.acquirer()).collect();
    let wanted = wanted(&format!("http://{address}"));
    let all = acquirers.iter().map(|acquirer| acquirer.acquire(&wanted));
    for result in futures::future::join_all(all).await {
        result.unwrap();
    }
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn half_an_installation_is_made_anew() {
    let (world, server) = (World::new(), Server::default());
    let address = server.start().await;
    server.on(&format!("/{}", asset()), [Answer::Content(plugin("whole"))]);
    let folder = world.installed();
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("pulumi-resource-pet"), "ha").unwrap();
    std::fs::write(folder.with_file_name("resource-pet-v1.0.0.partial"), "").unwrap();
    world.acquire(&format!("http://{address}")).await.unwrap();
    let program = std::fs::read_to_string(folder.join("pulumi-resource-pet")).unwrap();
    assert_eq!(program, "whole");
    assert_eq!(
        world.left(),
        [
            "resource-pet-v1.0.0",
            "resource-pet-v1.0.0.contents",
            "resource-pet-v1.0.0.sha256"
        ]
    );
}
