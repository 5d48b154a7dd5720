//! Malicious archives.

use std::error::Error;
use std::path::Path;

use plumb_acquire::{Package, install};
use plumb_plugin::PluginKind;
use semver::Version;
use tar::{Builder, EntryType, Header};

use crate::support::{World, archive, pack};

fn header(path: &str, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    // The name is copied unchecked.
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

/// Installs an archive; returns the error with its causes on failure.
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
    // A rejected archive does not affect later ones.
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
    // A file replaces a link of the same name.
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

/// Header of a sparse file with this size, of which the archive holds the last 512 bytes.
fn sparse(path: &str, size: u64) -> Header {
    let mut header = header(path, EntryType::GNUSparse, 512);
    let octal = |field: &mut [u8; 12], number: u64| {
        field.copy_from_slice(format!("{number:011o}\0").as_bytes());
    };
    let gnu = header.as_gnu_mut().unwrap();
    octal(&mut gnu.sparse[0].offset, size - 512);
    octal(&mut gnu.sparse[0].numbytes, 512);
    octal(&mut gnu.realsize, size);
    header.set_cksum();
    header
}

#[test]
fn a_sparse_file_does_not_fill_the_disk() {
    let of_size = |size| {
        archive(|tar| {
            tar.append(&sparse("holes", size), [1; 512].as_slice())
                .unwrap();
        })
    };
    refused(&of_size(4 << 30), "unpacks to more than");
    let world = World::new();
    assert_eq!(try_install(&world, &of_size(1 << 20)), Ok(true));
    let written = std::fs::read(world.installed().join("holes")).unwrap();
    assert_eq!(
        (written.len(), written[0], written[(1 << 20) - 1]),
        (1 << 20, 0, 1)
    );
}

#[test]
fn links_over_links_stay_inside() {
    let world = World::new();
    let content = archive(|tar| {
        let up = link("a/b/up", EntryType::Symlink, "../..");
        tar.append(&up, [].as_slice()).unwrap();
        let over = link("over", EntryType::Symlink, "a/b/up/..");
        tar.append(&over, [].as_slice()).unwrap();
    });
    assert_eq!(try_install(&world, &content), Ok(true));
    let folder = world.installed().canonicalize().unwrap();
    let over = folder.join("over").canonicalize().unwrap();
    assert_eq!(over, folder.join("a/b"));
}

/// Pseudorandom numbers, determined by their seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// A tar file with all kinds of entries, uncompressed.
fn everything() -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    let folder = header("lib", EntryType::Directory, 0);
    tar.append(&folder, [].as_slice()).unwrap();
    file(&mut tar, "lib/real");
    file(&mut tar, "pulumi-resource-pet");
    for (path, to) in [
        ("bin/name", "../lib/real"),
        ("up", "lib/.."),
        ("lib/over", "../up/lib"),
    ] {
        let link = link(path, EntryType::Symlink, to);
        tar.append(&link, [].as_slice()).unwrap();
    }
    tar.append(&sparse("holes", 4096), [1; 512].as_slice())
        .unwrap();
    let mut long = Header::new_gnu();
    long.set_size(2);
    tar.append_data(&mut long, "long/".repeat(40) + "name", b"hi".as_slice())
        .unwrap();
    tar.into_inner().unwrap()
}

/// Texts typical of malicious archives.
const EVIL: [&[u8]; 8] = [
    b"../",
    b"/tmp/plumb-evil",
    b"..",
    b"up/..",
    b"./",
    b"77777777777",
    b"\xff\xff\xff\xff",
    b"\0",
];

fn mutate(tar: &mut [u8], chance: &mut Chance) {
    let block = 512 * chance.below(tar.len() / 512);
    match chance.below(5) {
        // The type of an entry.
        0 => tar[block + 156] = b"0123456789gxLKSVM\0"[chance.below(18)],
        // A field of a header: name, size, link, sparse map.
        1 | 2 => {
            let field = [0, 1, 4, 124, 157, 160, 345, 386, 398, 483][chance.below(10)];
            let word = EVIL[chance.below(EVIL.len())];
            tar[block + field..block + field + word.len()].copy_from_slice(word);
        }
        3 => {
            let copy = tar[block..block + 512].to_vec();
            let to = 512 * chance.below(tar.len() / 512);
            tar[to..to + 512].copy_from_slice(&copy);
        }
        _ => {
            let place = chance.below(tar.len());
            tar[place] = u8::try_from(chance.below(256)).unwrap();
        }
    }
    fix_checksum(&mut tar[block..block + 512]);
}

/// Corrects the checksum of a header block.
fn fix_checksum(block: &mut [u8]) {
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// Asserts that a folder holds only files, folders, and links that stay inside; returns the number of bytes in it.
fn look_through(root: &Path, folder: &Path, seed: u64) -> u64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap();
        if kind.is_dir() {
            bytes += look_through(root, &path, seed);
        } else if kind.is_symlink() {
            if let Ok(to) = path.canonicalize() {
                assert!(
                    to.starts_with(root),
                    "seed {seed}: {} leads to {}",
                    path.display(),
                    to.display()
                );
            }
        } else {
            assert!(kind.is_file(), "seed {seed}: {}", path.display());
            bytes += kind.len();
        }
    }
    bytes
}

#[test]
fn no_mutation_of_an_archive_leaves_its_folder() {
    let whole = everything();
    for seed in 0..400 {
        let mut chance = Chance(seed);
        let mut tar = whole.clone();
        for _ in 0..=chance.below(6) {
            mutate(&mut tar, &mut chance);
        }
        if chance.below(4) == 0 {
            tar.truncate(chance.below(tar.len()));
        }
        let world = World::new();
        // Whether the archive is accepted or rejected, nothing may be written elsewhere.
        let _ = try_install(&world, &pack(&tar));
        let plugins = world.cache().directory().to_owned();
        let mut names: Vec<String> = world.left();
        names.retain(|name| !name.starts_with("resource-pet-v1.0.0"));
        assert_eq!(names, Vec::<String>::new(), "seed {seed}");
        let installed = world.installed();
        if let Ok(root) = installed.canonicalize() {
            let bytes = look_through(&root, &root, seed);
            assert!(bytes < 80 << 20, "seed {seed}: {bytes} bytes");
        }
        let beside = std::fs::read_dir(world.folder.path()).unwrap();
        let beside: Vec<_> = beside
            .map(|it| it.unwrap().path())
            .filter(|it| *it != plugins)
            .collect();
        assert_eq!(
            beside,
            [world.folder.path().join("archive.tar.gz")],
            "seed {seed}"
        );
        assert!(!Path::new("/tmp/plumb-evil").exists(), "seed {seed}");
    }
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
