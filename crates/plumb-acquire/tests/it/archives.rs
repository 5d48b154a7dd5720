//! Archives that mean no good.

use std::error::Error;
use std::path::Path;

use plumb_acquire::{Package, install};
use plumb_plugin::PluginKind;
use semver::Version;
use tar::{Builder, EntryType, Header};

use crate::support::{World, archive};

fn header(path: &str, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    // As it stands, whatever it says.
    let name = &mut header.as_old_mut().name;
    name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(size);
    header.set_cksum();
    header
}

fn link(path: &str, kind: EntryType, to: &str) -> Header {
    let mut header = header(path, kind, 0);
    header.as_old_mut().linkname[..to.len()].copy_from_slice(to.as_bytes());
    header.set_cksum();
    header
}

fn file(tar: &mut Builder<Vec<u8>>, path: &str) {
    let header = header(path, EntryType::Regular, 2);
    tar.append(&header, b"hi".as_slice()).unwrap();
}

/// Installs the archive; the error with its causes if that fails.
fn try_install(world: &World, content: &[u8]) -> Result<bool, String> {
    let path = world.folder.path().join("archive.tar.gz");
    std::fs::write(&path, content).unwrap();
    let version = Version::new(1, 0, 0);
    let package = Package::at(path);
    install(
        &world.cache(),
        PluginKind::Resource,
        "pet",
        &version,
        &package,
        false,
    )
    .map_err(|error| {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    })
}

#[track_caller]
fn refused(content: &[u8], why: &str) {
    let world = World::new();
    let outside = world.folder.path().join("plugins/evil");
    let error = try_install(&world, content).unwrap_err();
    assert!(error.contains(why), "{error}");
    assert!(!outside.exists());
    assert!(!Path::new("/tmp/plumb-evil").exists());
    assert_eq!(world.cache().list().unwrap(), []);
    // What was refused is no obstacle for what comes next.
    assert_eq!(
        try_install(&world, &archive(|tar| file(tar, "good"))),
        Ok(true)
    );
}

#[test]
fn nothing_leaves_the_folder() {
    let why = "would leave its folder";
    for path in ["../evil", "a/../../evil", "/tmp/plumb-evil"] {
        refused(&archive(|tar| file(tar, path)), why);
    }
    for to in ["../evil", "/tmp", "a/../../.."] {
        let content = archive(|tar| {
            let link = link("out", EntryType::Symlink, to);
            tar.append(&link, [].as_slice()).unwrap();
        });
        refused(&content, why);
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let through = archive(|tar| {
        let link = link("here", EntryType::Symlink, ".");
        tar.append(&link, [].as_slice()).unwrap();
        file(tar, "here/evil");
    });
    refused(&through, "would leave its folder");
    // A file in the place of a link replaces it.
    let world = World::new();
    let replaced = archive(|tar| {
        file(tar, "target");
        let link = link("name", EntryType::Symlink, "target");
        tar.append(&link, [].as_slice()).unwrap();
        tar.append(&header("name", EntryType::Regular, 3), b"new".as_slice())
            .unwrap();
    });
    assert_eq!(try_install(&world, &replaced), Ok(true));
    let read = |name: &str| std::fs::read_to_string(world.installed().join(name)).unwrap();
    assert_eq!(
        (read("target").as_str(), read("name").as_str()),
        ("hi", "new")
    );
}

#[test]
fn links_that_stay_inside_are_made() {
    let world = World::new();
    let content = archive(|tar| {
        file(tar, "lib/real");
        let link = link("bin/name", EntryType::Symlink, "../lib/real");
        tar.append(&link, [].as_slice()).unwrap();
    });
    assert_eq!(try_install(&world, &content), Ok(true));
    let text = std::fs::read_to_string(world.installed().join("bin/name")).unwrap();
    assert_eq!(text, "hi");
}

#[test]
fn only_files_folders_and_links_are_made() {
    for kind in [
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
    ] {
        let content = archive(|tar| {
            let entry = link("thing", kind, "/etc/passwd");
            tar.append(&entry, [].as_slice()).unwrap();
        });
        refused(&content, "no file, folder or symbolic link");
    }
}

#[test]
fn a_bomb_does_not_fill_the_disk() {
    let zeros = vec![0_u8; 200 << 20];
    let content = archive(|tar| {
        let header = header("zeros", EntryType::Regular, zeros.len() as u64);
        tar.append(&header, zeros.as_slice()).unwrap();
    });
    refused(&content, "unpacks to more than");
}

#[test]
fn what_is_no_archive_is_refused() {
    refused(b"hello", "is not the archive of a plugin");
    let whole = archive(|tar| file(tar, "a"));
    refused(&whole[..whole.len() / 2], "is not the archive of a plugin");
}

#[test]
fn programs_and_folders_are_packages_too() {
    let world = World::new();
    let folder = world.folder.path().join("sources");
    std::fs::create_dir_all(folder.join("deep")).unwrap();
    std::fs::write(folder.join("deep/file"), "x").unwrap();
    let version = Version::new(1, 0, 0);
    let package = Package::at(folder.clone());
    let cache = world.cache();
    let kind = PluginKind::Resource;
    assert!(install(&cache, kind, "pet", &version, &package, false).unwrap());
    assert!(!install(&cache, kind, "pet", &version, &package, false).unwrap());
    assert!(world.installed().join("deep/file").is_file());
    let program = Package::at(folder.join("deep/file"));
    assert!(install(&cache, kind, "pet", &version, &program, true).unwrap());
    assert!(world.installed().join("pulumi-resource-pet").is_file());
    assert!(!world.installed().join("deep").exists());
}
