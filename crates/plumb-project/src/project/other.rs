//! `PulumiPolicy.yaml` and `PulumiPlugin.yaml` (`cli.md` 14.4).

use indexmap::IndexMap;

use super::decode::{packages, runtime};
use super::{PackageSpec, Runtime};
use crate::diagnostic::FileError;
use crate::reader::{self, Problems, Reader};

/// A policy pack.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyProject {
    /// Language runtime.
    pub runtime: Runtime,
    /// Version.
    pub version: Option<String>,
    /// Folder or file of the program.
    pub main: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Author.
    pub author: Option<String>,
    /// Website.
    pub website: Option<String>,
    /// Licence.
    pub license: Option<String>,
}

/// A plugin that runs from source.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginProject {
    /// Language runtime.
    pub runtime: Runtime,
    /// Packages that it uses, by name.
    pub packages: IndexMap<String, PackageSpec>,
    /// Supported versions of the command line, as a range.
    pub required_version: Option<String>,
}

impl PolicyProject {
    /// Parses `PulumiPolicy.yaml`; `file` is its name in errors, and its extension determines the
    /// format.
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
    /// Parses `PulumiPlugin.yaml`; `file` is its name in errors, and its extension determines the
    /// format.
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
