//! Workspaces of npm, yarn and pnpm: one installation for several packages.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_project::yaml;
use serde_json::Value;

/// Root of the workspace that `directory` is a member of; `None` for a folder that is not a member of one.
pub(super) fn root_of(directory: &Path) -> Option<PathBuf> {
    let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let above = directory.ancestors().skip(1);
    above
        .map(|folder| (folder, members(folder)))
        .find(|(folder, patterns)| {
            let path = directory.strip_prefix(folder).unwrap_or(&directory);
            is_member(patterns, &path.to_string_lossy())
        })
        .map(|(folder, _)| folder.to_owned())
}

/// Patterns for the member folders of a workspace with the root `folder`.
fn members(folder: &Path) -> Vec<String> {
    let pnpm = read_yaml(&folder.join("pnpm-workspace.yaml")).map(|file| texts(&file["packages"]));
    if let Some(patterns) = pnpm {
        return patterns;
    }
    let Some(manifest) = read_json(&folder.join("package.json")) else {
        return Vec::new();
    };
    match &manifest["workspaces"] {
        Value::Object(workspaces) => workspaces.get("packages").map(texts).unwrap_or_default(),
        list => texts(list),
    }
}

/// Value of a JSON file; `None` if it is missing or invalid.
pub(super) fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Value of a YAML file; `None` if it is missing or invalid.
pub(super) fn read_yaml(path: &Path) -> Option<Value> {
    let document = yaml::parse(&fs::read_to_string(path).ok()?).ok()?;
    yaml::to_json(document.root.as_ref()?).ok()
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|entry| entry.as_str().map(str::to_owned))
        .collect()
}

/// Whether `path` matches a pattern, and none that starts with `!`.
fn is_member(patterns: &[String], path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').collect();
    let fits = |pattern: &str| {
        let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
        matches(&pattern.split('/').collect::<Vec<_>>(), &segments)
    };
    let (out, of): (Vec<&String>, Vec<&String>) = patterns
        .iter()
        .partition(|pattern| pattern.starts_with('!'));
    of.into_iter().any(|pattern| fits(pattern))
        && !out.into_iter().any(|pattern| fits(&pattern[1..]))
}

fn matches(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) => (0..=path.len()).any(|skipped| matches(rest, &path[skipped..])),
        ([first, rest @ ..], [name, below @ ..]) => {
            fits_segment(first, name) && matches(rest, below)
        }
        _ => false,
    }
}

/// Whether `name` matches a pattern with `*`.
fn fits_segment(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            let starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            starts
                .into_iter()
                .any(|at| fits_segment(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_members() {
        for (patterns, path, wanted) in [
            (&["packages/*"][..], "packages/infra", true),
            (&["packages/*"], "packages/infra/deep", false),
            (&["packages/**"], "packages/infra/deep", true),
            (&["./infra/"], "infra", true),
            (&["apps/*-infra"], "apps/web-infra", true),
            (&["apps/*-infra"], "apps/web", false),
            (&["*", "!legacy"], "legacy", false),
            (&["*", "!legacy"], "infra", true),
            (&[], "infra", false),
        ] {
            let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
            assert_eq!(is_member(&patterns, path), wanted, "{patterns:?} {path}");
        }
    }

    #[test]
    fn members_find_their_root() {
        for (file, text) in [
            ("package.json", r#"{"workspaces": ["packages/*"]}"#),
            (
                "package.json",
                r#"{"workspaces": {"packages": ["packages/*"]}}"#,
            ),
            ("pnpm-workspace.yaml", "packages:\n  - packages/*\n"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(folder.path()).unwrap();
            let (member, other) = (root.join("packages/infra"), root.join("other"));
            fs::create_dir_all(&member).unwrap();
            fs::create_dir_all(&other).unwrap();
            fs::write(root.join(file), text).unwrap();
            assert_eq!(root_of(&member).as_ref(), Some(&root));
            assert_eq!(root_of(&other), None);
            assert_eq!(root_of(&root), None);
        }
    }
}
