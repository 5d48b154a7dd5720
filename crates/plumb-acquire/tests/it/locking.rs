use plumb_acquire::{LockMode, Platform};

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
    let expected = format!(
        "{{\n  \"version\": 1,\n  \"plugins\": {{\n    \"resource-pet-v1.0.0\": {{\n      \"{platform}\": \"{}\"\n    }}\n  }}\n}}\n",
        checksum(&one)
    );
    assert_eq!(world.lock_file(), expected);
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

/// Somebody else's project put another archive into the cache.
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
        ("{\"version\": 2}", "upgrade it"),
    ] {
        std::fs::write(world.folder.path().join("plumb.lock"), text).unwrap();
        let error = world.acquire(&url).await.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(world.lock_file(), text);
    }
}
