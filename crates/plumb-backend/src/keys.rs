//! Where things are in a store (`state.md` 3.2).
//!
//! Ours besides upstream's: journals of updates under `.pulumi/journals/<project>/<stack>/` and leases under
//! `.pulumi/leases/<project>/<stack>/` (without the project in the legacy layout).

use plumb_project::StackReference;

use crate::compression::Compression;

pub(crate) const META: &str = ".pulumi/meta.yaml";
pub(crate) const STACKS: &str = ".pulumi/stacks";

/// How stacks are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreLayout {
    /// Stacks of all projects in one folder; version 0.
    Legacy,
    /// A folder per project; version 1.
    Project,
}

/// The part of keys that stands for the stack.
fn place(stack: &StackReference) -> String {
    match &stack.project {
        Some(project) => format!("{project}/{}", stack.stack),
        None => stack.stack.to_string(),
    }
}

/// The state file without its compression extension.
pub(crate) fn state(stack: &StackReference) -> String {
    format!("{STACKS}/{}.json", place(stack))
}

/// Whether `key` is that of the stack's state file, compressed or not.
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

/// Folder of what removed stacks of this name had.
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

/// The folder of an object.
pub(crate) fn folder_of(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name at the end of a key.
pub(crate) fn file_name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// The file name without state file extensions, if it is that of a state file.
pub(crate) fn state_stem(name: &str) -> Option<&str> {
    let name = name
        .strip_suffix(".gz")
        .or_else(|| name.strip_suffix(".zst"))
        .unwrap_or(name);
    [".json", ".yaml", ".yml"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
}
