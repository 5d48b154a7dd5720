//! Keys of the objects in a store (`state.md` 3.2).
//!
//! In addition to upstream's: journals of updates in `.pulumi/journals/<project>/<stack>/` and leases in
//! `.pulumi/leases/<project>/<stack>/` (without the project in the legacy layout).

use plumb_project::StackReference;

use crate::compression::Compression;

pub(crate) const META: &str = ".pulumi/meta.yaml";
pub(crate) const STACKS: &str = ".pulumi/stacks";

/// Layout of stacks in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreLayout {
    /// One folder for the stacks of all projects; version 0.
    Legacy,
    /// One folder per project; version 1.
    Project,
}

/// Part of keys that identifies the stack.
fn place(stack: &StackReference) -> String {
    match &stack.project {
        Some(project) => format!("{project}/{}", stack.stack),
        None => stack.stack.to_string(),
    }
}

/// Key of the state file without its compression extension.
pub(crate) fn state(stack: &StackReference) -> String {
    format!("{STACKS}/{}.json", place(stack))
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
    format!("{STACKS}/{}.pulumi-tags", place(stack))
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
