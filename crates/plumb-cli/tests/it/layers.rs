//! Order of the crates.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::dependencies::{code, code_of};

/// Crates without input or output.
const PURE: [&str; 8] = [
    "plumb-value",
    "plumb-resource",
    "plumb-state",
    "plumb-events",
    "plumb-deploy",
    "plumb-schema",
    "plumb-codegen",
    "plumb-docs",
];

/// Packages that pure crates must not depend on, directly or indirectly.
const FORBIDDEN: [&str; 6] = ["tokio", "tonic", "fs-err", "tempfile", "notify", "chrono"];

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Target of these tests.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_owned()
}

/// Packages for this platform, as resolved by cargo.
pub(crate) fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--offline",
            // Dependencies of other platforms may not have been downloaded.
            "--filter-platform",
            &host(),
            "--manifest-path",
        ])
        .arg(format!("{ROOT}/Cargo.toml"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Our crates in the order of the manifest, the lowest layer first.
fn order() -> Vec<String> {
    let manifest = std::fs::read_to_string(format!("{ROOT}/Cargo.toml")).unwrap();
    let ours = manifest
        .split("# Ours, bottom to top")
        .nth(1)
        .unwrap()
        .split("# Third party")
        .next()
        .unwrap();
    ours.lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name.trim().to_owned())
        .collect()
}

/// Dependencies of each package by name, without those of tests.
fn dependencies(metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            (
                package["id"].as_str().unwrap(),
                package["name"].as_str().unwrap(),
            )
        })
        .collect();
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in metadata["resolve"]["nodes"].as_array().unwrap() {
        let entry = all
            .entry(names[node["id"].as_str().unwrap()].to_owned())
            .or_default();
        for dependency in node["deps"].as_array().unwrap() {
            let is_normal = dependency["dep_kinds"]
                .as_array()
                .unwrap()
                .iter()
                .any(|kind| kind["kind"].is_null());
            if is_normal {
                entry.insert(names[dependency["pkg"].as_str().unwrap()].to_owned());
            }
        }
    }
    all
}

#[test]
fn crates_depend_only_downward() {
    let order = order();
    let all = dependencies(&metadata());
    let place = |name: &str| order.iter().position(|other| other == name);
    assert!(order.len() > 10, "{order:?}");
    for (at, name) in order.iter().enumerate() {
        for dependency in &all[name] {
            if let Some(below) = place(dependency) {
                assert!(below < at, "{name} must not depend on {dependency}");
            }
        }
    }
}

#[test]
fn crates_that_decide_do_not_act() {
    let all = dependencies(&metadata());
    for name in PURE {
        let mut seen = BTreeSet::new();
        let mut next = vec![name.to_owned()];
        while let Some(package) = next.pop() {
            if seen.insert(package.clone()) {
                next.extend(all[&package].iter().cloned());
            }
        }
        for forbidden in FORBIDDEN {
            assert!(
                !seen.contains(forbidden),
                "{name} must not depend on {forbidden}"
            );
        }
    }
}

/// Modules of `plumb-operate`, bottom to top. A module names those of its own line, and of the lines above it in this list.
const ROOMS: [&[&str]; 6] = [
    &["error", "identity"],
    &["environment"],
    &[
        "catalogue",
        "go",
        "json",
        "output",
        "own_version",
        "prompt",
        "signals",
        "table",
        "terraform",
    ],
    &["context", "metadata", "trace"],
    &["acquire", "packages", "secret_settings"],
    &["operations"],
];

/// Types that the root of the crate exports, with their modules.
const EXPORTED: [(&str, &str); 5] = [
    ("Context", "context"),
    ("Environment", "environment"),
    ("Error", "error"),
    ("ExitStatus", "error"),
    ("Printer", "output"),
];

/// Names that follow `crate::` in a source.
fn named(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '#';
    for rest in source.split("crate::").skip(1) {
        let list = if let Some(list) = rest.strip_prefix('{') {
            list.split_once("};").map_or(list, |(list, _)| list)
        } else {
            rest.split(|char| !is_part(char)).next().unwrap_or_default()
        };
        for name in list.split(',') {
            let name = name.trim().trim_start_matches("r#");
            found.insert(name.split("::").next().unwrap_or_default().to_owned());
        }
    }
    found
}

#[test]
fn operations_are_above_their_context_and_this_above_output() {
    let source = format!("{ROOT}/crates/plumb-operate/src");
    let level = |name: &str| {
        let exported = EXPORTED.iter().find(|(ty, _)| *ty == name);
        let name = exported.map_or(name, |(_, module)| module);
        ROOMS.iter().position(|room| room.contains(&name))
    };
    let mut wrong = Vec::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap();
        if module == "lib" {
            continue;
        }
        let own = level(module).unwrap_or_else(|| panic!("{module} has no place in the list"));
        seen += 1;
        let mut text = String::new();
        if path.is_dir() {
            code(&path, &mut text);
        } else {
            text = code_of(&path);
        }
        for name in named(&text) {
            if level(&name).is_some_and(|other| other > own) {
                wrong.push(format!("{module} names {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(seen, ROOMS.iter().map(|room| room.len()).sum::<usize>());
}
