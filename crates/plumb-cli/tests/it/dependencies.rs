//! Dependencies: each is used, has a permissive licence, comes from the registry, and is not banned. `deny.toml` has the
//! lists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use crate::layers::metadata;

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

/// Lines of the sections of a file whose headings are `heading`, or end with it after a dot.
fn section<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let mut is_inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let before = section.trim_end_matches(']').strip_suffix(heading);
            is_inside = before.is_some_and(|it| it.is_empty() || it.ends_with('.'));
        } else if is_inside {
            lines.push(line);
        }
    }
    lines
}

/// Dependencies in the sections of a manifest with this heading: their names, and the lines that name them.
fn dependencies(manifest: &Path, heading: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(manifest).unwrap();
    let lines = section(&text, heading).into_iter();
    lines
        .filter_map(|line| Some((line.split_once('=')?.0.trim(), line)))
        .map(|(name, line)| {
            let name = name.trim_end_matches(".workspace");
            (name.to_owned(), line.to_owned())
        })
        .collect()
}

/// Appends the Rust code below a folder, without comments.
pub(crate) fn code(folder: &Path, text: &mut String) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&code_of(&path));
        }
    }
}

/// The Rust code of a file, without comments.
pub(crate) fn code_of(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Whether code has a path that begins with the crate of a dependency.
fn uses(code: &str, dependency: &str) -> bool {
    let name = dependency.replace('-', "_");
    let path = Regex::new(&format!(r"\b{name}(::|;| as )")).unwrap();
    path.is_match(code)
}

#[test]
fn uses_are_paths() {
    assert!(uses("let url = ::url::Url::parse(text);", "url"));
    assert!(uses("use aes_gcm as cipher;", "aes-gcm"));
    assert!(!uses("let url = my_url::parse(url);", "url"));
}

#[test]
fn members_use_what_their_manifests_name() {
    let members = members();
    assert!(members.len() > 25, "{members:?}");
    for member in members {
        let (mut product, mut all) = (String::new(), String::new());
        code(&member.join("src"), &mut product);
        code(&member, &mut all);
        let build = code_of(&member.join("build.rs"));
        let sections = [
            ("dependencies", product),
            ("dev-dependencies", all),
            ("build-dependencies", build),
        ];
        for (heading, code) in sections {
            for name in dependencies(&member.join("Cargo.toml"), heading).keys() {
                let member = member.display();
                assert!(uses(&code, name), "{member}, {heading}: {name} is not used");
            }
        }
    }
}

#[test]
fn no_dependency_is_named_twice() {
    for member in members() {
        let manifest = member.join("Cargo.toml");
        let product = dependencies(&manifest, "dependencies");
        for (name, line) in dependencies(&manifest, "dev-dependencies") {
            let is_repeated = product.get(&name) == Some(&line);
            assert!(!is_repeated, "{}: {name}", member.display());
        }
    }
}

#[test]
fn the_workspace_names_what_members_use() {
    let named = dependencies(
        &Path::new(ROOT).join("Cargo.toml"),
        "workspace.dependencies",
    );
    let headings = ["dependencies", "dev-dependencies", "build-dependencies"];
    let used: BTreeSet<String> = members()
        .iter()
        .flat_map(|member| {
            headings.map(|heading| dependencies(&member.join("Cargo.toml"), heading))
        })
        .flat_map(BTreeMap::into_keys)
        .collect();
    // No member depends on the topmost crate, nor on the one that only runs tests of the core.
    let tops = ["plumb-cli", "plumb-simulate"].map(str::to_owned);
    let unused: Vec<&String> = named
        .keys()
        .filter(|name| !used.contains(*name) && !tops.contains(name))
        .collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// Values for which `pattern` has a group, in a section of `deny.toml`.
fn listed(heading: &str, pattern: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(Path::new(ROOT).join("deny.toml")).unwrap();
    let pattern = Regex::new(pattern).unwrap();
    let lines = section(&text, heading).into_iter();
    let values = lines.filter_map(|line| Some(pattern.captures(line)?[1].to_owned()));
    values.collect()
}

/// Whether a licence expression can be satisfied with permissive licences alone.
fn is_permissive(licence: &str, permissive: &BTreeSet<String>) -> bool {
    let is_allowed = |name: &str| {
        let name = name.trim_matches(['(', ')', ' ']);
        permissive.contains(name.split(" WITH ").next().unwrap())
    };
    let alternatives = |part: &str| part.replace('/', " OR ").split(" OR ").any(is_allowed);
    licence.split(" AND ").all(alternatives)
}

#[test]
fn licences_are_permissive() {
    let permissive = listed("licenses", r#"^\s*"([^"]+)",$"#);
    for package in metadata()["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or_default();
        let name = package["name"].as_str().unwrap();
        assert!(
            is_permissive(licence, &permissive),
            "{name} has the licence {licence:?}"
        );
    }
    for refused in ["GPL-3.0", "MIT AND MPL-2.0", ""] {
        assert!(!is_permissive(refused, &permissive), "{refused}");
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
    let banned = listed("bans", r#"crate = "([^"]+)""#);
    assert!(banned.len() > 5, "{banned:?}");
    for name in banned {
        assert!(!compiled.contains(&name), "{name}");
    }
}

#[test]
fn packages_are_from_one_registry() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let sources: BTreeSet<&str> = packages.filter_map(|it| it["source"].as_str()).collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert!(sources.iter().all(|it| it.starts_with("registry+")));
}
