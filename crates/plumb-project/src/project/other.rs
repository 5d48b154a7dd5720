//! `PulumiPolicy.yaml` and `PulumiPlugin.yaml` (`cli.md` 14.4).

use indexmap::IndexMap;

use super::decode::{packages, runtime};
use super::{PackageSpec, Runtime};
use crate::diagnostic::FileError;
use crate::reader::{self, Problems, Reader};

/// A policy pack.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyProject {
    /// What runs it.
    pub runtime: Runtime,
    /// Its version.
    pub version: Option<String>,
    /// The program's folder or file.
    pub main: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Who made it.
    pub author: Option<String>,
    /// Where to read about it.
    pub website: Option<String>,
    /// Its licence.
    pub license: Option<String>,
}

/// A plugin that is run from source.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginProject {
    /// What runs it.
    pub runtime: Runtime,
    /// Packages that it uses, by name.
    pub packages: IndexMap<String, PackageSpec>,
    /// The versions of the command line that it works with, as a range.
    pub required_version: Option<String>,
}

impl PolicyProject {
    /// Reads `PulumiPolicy.yaml`; `file` names it in errors and tells the format.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        parse(file, text, |root, problems| {
            Some(PolicyProject {
                runtime: required_runtime(root, problems)?,
                version: root.scalar_text("version", problems),
                main: root.text("main", problems),
                description: root.text("description", problems),
                author: root.text("author", problems),
                website: root.text("website", problems),
                license: root.text("license", problems),
            })
        })
    }
}

impl PluginProject {
    /// Reads `PulumiPlugin.yaml`; `file` names it in errors and tells the format.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        parse(file, text, |root, problems| {
            Some(PluginProject {
                runtime: required_runtime(root, problems)?,
                packages: packages(root, problems),
                required_version: root.text("requiredPulumiVersion", problems),
            })
        })
    }
}

fn parse<T>(
    file: &str,
    text: &str,
    decode: impl FnOnce(&Reader<'_>, &mut Problems) -> Option<T>,
) -> Result<T, FileError> {
    let document = reader::read(file, text)?;
    let mut problems = Problems::default();
    let decoded =
        Reader::root(&document, &mut problems).and_then(|root| decode(&root, &mut problems));
    match decoded {
        Some(decoded) if problems.0.is_empty() => Ok(decoded),
        _ => Err(FileError::Invalid {
            file: file.to_owned(),
            problems: problems.0,
        }),
    }
}

fn required_runtime(root: &Reader<'_>, problems: &mut Problems) -> Option<Runtime> {
    if let Some(node) = root.get("runtime") {
        runtime(node, "#/runtime".to_owned(), problems)
    } else {
        problems.add(root.position, "#", "`runtime` is missing");
        None
    }
}
