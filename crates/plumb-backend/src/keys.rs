//! Keys of the objects in a store (`state.md` 3.2).
//!
//! In addition to upstream's: journals of updates in `.pulumi/journals/<project>/<stack>/` and leases in
//! `.pulumi/leases/<project>/<stack>/` (without the project in the legacy layout).

use plumb_project::StackReference;

use crate::compression::Compression;

pub(crate) const META: &str = ".pulumi/meta.yaml";
pub(crate) const STACKS: &str = ".pulumi/stacks";
/// Ending of the files with tags.
const TAGS: &str = ".pulumi-tags";

/// Layout of stacks in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreLayout {
    /// One folder for the stacks of all projects; version 0.
    Legacy,
    /// One folder per project; version 1.
    Project,
}

/// Part of keys that identifies the stack.
pub(crate) fn place(stack: &StackReference) -> String {
    match &stack.project {
        Some(project) => format!("{project}/{}", stack.stack),
        None => stack.stack.to_string(),
    }
}

/// Key of the state file without its compression extension.
pub(crate) fn state(stack: &StackReference) -> String {
    format!("{STACKS}/{}.json", place(stack))
}

/// Keys that the state file of the stack at `place` can have.
pub(crate) fn state_variants(place: &str) -> [String; 3] {
    Compression::ALL.map(|it| format!("{STACKS}/{place}.json{}", it.extension()))
}

/// Whether `key` is the stack's state file, compressed or not.
pub(crate) fn is_state(key: &str, stack: &StackReference) -> bool {
    let rest = key.strip_prefix(&state(stack));
    rest.is_some_and(|rest| {
        Compression::ALL
            .iter()
            .any(|compression| compression.extension() == rest)
    })
}

pub(crate) fn tags(stack: &StackReference) -> String {
    format!("{STACKS}/{}{TAGS}", place(stack))
}

pub(crate) fn backups(stack: &StackReference) -> String {
    format!(".pulumi/backups/{}", place(stack))
}

pub(crate) fn history(stack: &StackReference) -> String {
    format!(".pulumi/history/{}", place(stack))
}

/// Folder of removed stacks of this name.
pub(crate) fn removed(stack: &StackReference) -> String {
    format!(".pulumi/removed/{}", place(stack))
}

pub(crate) fn locks(stack: &StackReference) -> String {
    format!(".pulumi/locks/{}", stack.qualified())
}

pub(crate) fn journals(stack: &StackReference) -> String {
    format!(".pulumi/journals/{}", place(stack))
}

pub(crate) fn leases(stack: &StackReference) -> String {
    format!(".pulumi/leases/{}", place(stack))
}

/// Stack that a state file (or a copy beside it) or another object with state belongs to, as `<project>/<stack>`; `None`
/// for objects without state, and in the legacy layout.
pub(crate) fn stack_with_state(key: &str) -> Option<&str> {
    let (area, rest) = key.strip_prefix(".pulumi/")?.split_once('/')?;
    let (project, inside) = rest.split_once('/')?;
    let name = match area {
        "stacks" if !inside.contains('/') && !inside.ends_with(TAGS) => {
            &inside[..inside.rfind(".json")?]
        }
        "backups" | "history" | "removed" | "journals" => inside.split_once('/')?.0,
        _ => return None,
    };
    Some(&rest[..project.len() + 1 + name.len()])
}

/// Folder of an object.
pub(crate) fn folder_of(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Last part of a key.
pub(crate) fn file_name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// File name without the extensions of a state file; `None` for other files.
pub(crate) fn state_stem(name: &str) -> Option<&str> {
    let name = name
        .strip_suffix(".gz")
        .or_else(|| name.strip_suffix(".zst"))
        .unwrap_or(name);
    [".json", ".yaml", ".yml"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
}
