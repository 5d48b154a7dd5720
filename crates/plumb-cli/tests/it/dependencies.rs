//! Dependencies: each is used, has a permissive licence, and is not banned.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::layers::metadata;

/// Licences that require no more than a notice.
const PERMISSIVE: [&str; 11] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Zlib",
];

/// Packages that must not be used, and why.
const BANNED: [(&str, &str); 8] = [
    ("ring", "aws-lc-rs is the one library for TLS"),
    ("openssl-sys", "aws-lc-rs is the one library for TLS"),
    ("serde_yaml", "archived"),
    ("serde_yml", "unsound"),
    ("bincode", "not maintained"),
    ("paste", "not maintained"),
    ("proc-macro-error2", "not maintained"),
    ("derivative", "not maintained"),
];

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Folders of all workspace members.
fn members() -> Vec<PathBuf> {
    let groups = ["crates", "benches"].map(|group| Path::new(ROOT).join(group));
    let mut members: Vec<PathBuf> = groups
        .iter()
        .flat_map(|group| fs::read_dir(group).unwrap())
        .map(|entry| entry.unwrap().path())
        .chain([Path::new(ROOT).join("xtask")])
        .filter(|folder| folder.join("Cargo.toml").exists())
        .collect();
    members.sort();
    members
}

/// Names in the sections of a manifest whose headings end with `heading`.
fn dependencies(manifest: &Path, heading: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap();
    let mut is_inside = false;
    let mut names = BTreeSet::new();
    for line in text.lines() {
        if let Some(section) = line.strip_prefix('[') {
            is_inside = section.trim_end_matches(']').ends_with(heading);
        } else if let (true, Some((name, _))) = (is_inside, line.split_once('=')) {
            let name = name.trim().trim_end_matches(".workspace");
            names.insert(name.to_owned());
        }
    }
    names
}

/// Appends all Rust code below a folder.
fn code(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

/// Words of a text, in the form of crate names in code.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .collect()
}

#[test]
fn members_use_what_their_manifests_name() {
    let members = members();
    assert!(members.len() > 25, "{members:?}");
    for member in members {
        let mut text = String::new();
        code(&member, &mut text);
        let words = words(&text);
        for name in dependencies(&member.join("Cargo.toml"), "dependencies") {
            let is_used = words.contains(name.replace('-', "_").as_str());
            assert!(is_used, "{} does not use {name}", member.display());
        }
    }
}

#[test]
fn the_workspace_names_what_members_use() {
    let named = dependencies(
        &Path::new(ROOT).join("Cargo.toml"),
        "workspace.dependencies",
    );
    let used: BTreeSet<String> = members()
        .iter()
        .flat_map(|member| dependencies(&member.join("Cargo.toml"), "dependencies"))
        .collect();
    // No member depends on the topmost crate, nor on the one that only runs tests of the core.
    let tops = ["plumb-cli", "plumb-simulate"].map(str::to_owned);
    let unused: Vec<&String> = named
        .difference(&used)
        .filter(|name| !tops.contains(name))
        .collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// Whether a licence expression can be satisfied with permissive licences alone.
fn is_permissive(licence: &str) -> bool {
    let is_allowed = |name: &str| {
        let name = name.trim_matches(['(', ')', ' ']);
        PERMISSIVE.contains(&name.split(" WITH ").next().unwrap())
    };
    let alternatives = |part: &str| part.replace('/', " OR ").split(" OR ").any(is_allowed);
    licence.split(" AND ").all(alternatives)
}

#[test]
fn licences_are_permissive() {
    for package in metadata()["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or_default();
        let name = package["name"].as_str().unwrap();
        assert!(is_permissive(licence), "{name} has the licence {licence:?}");
    }
    for refused in ["GPL-3.0", "MIT AND MPL-2.0", ""] {
        assert!(!is_permissive(refused), "{refused}");
    }
}

/// Packages that a build compiles. The graph of `cargo metadata` also contains those of disabled features.
fn compiled() -> BTreeSet<String> {
    let manifest = format!("{ROOT}/Cargo.toml");
    let tree = ["tree", "--workspace", "--offline", "--prefix", "none"];
    let output = Command::new(env!("CARGO"))
        .args(tree)
        .args(["--format", "{p}", "--manifest-path", &manifest])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn banned_packages_are_not_used() {
    let compiled = compiled();
    assert!(compiled.len() > 200, "{compiled:?}");
    for (name, reason) in BANNED {
        assert!(!compiled.contains(name), "{name}: {reason}");
    }
}
