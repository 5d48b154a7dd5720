//! Imports of one file.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::Layout;
use super::names;

pub(super) const PULUMI: &str = "github.com/pulumi/pulumi/sdk/v3/go/pulumi";

/// What local variables, parameters and other packages are called: no import may have such a name.
const IN_USE: [&str; 38] = [
    "aliases",
    "args",
    "base64",
    "config",
    "context",
    "ctx",
    "d",
    "defaults",
    "e",
    "err",
    "errors",
    "fmt",
    "i",
    "id",
    "in",
    "k",
    "module",
    "name",
    "o",
    "opts",
    "options",
    "out",
    "outputArgs",
    "pkg",
    "pulumi",
    "pulumix",
    "ref",
    "reflect",
    "replaceOnChanges",
    "resource",
    "result",
    "ret",
    "rv",
    "secrets",
    "semver",
    "state",
    "tmp",
    "v",
];

/// Collects what a file needs, and decides what it is called there.
pub(super) struct Imports<'s> {
    layout: &'s Layout,
    /// Names that users want for import paths.
    wanted: &'s indexmap::IndexMap<&'s str, &'s str>,
    internal: &'s str,
    /// Import path of the package that the file belongs to.
    own: String,
    standard: BTreeSet<&'static str>,
    /// Names by import path.
    others: BTreeMap<String, String>,
}

impl<'s> Imports<'s> {
    pub(super) fn new(
        layout: &'s Layout,
        wanted: &'s indexmap::IndexMap<&'s str, &'s str>,
        internal: &'s str,
        own: String,
    ) -> Self {
        Imports {
            layout,
            wanted,
            internal,
            own,
            standard: BTreeSet::new(),
            others: BTreeMap::new(),
        }
    }

    /// A package of the standard library.
    pub(super) fn standard(&mut self, path: &'static str) {
        self.standard.insert(path);
    }

    /// A package with the name that its path tells.
    pub(super) fn plain(&mut self, path: &str) {
        self.named(path, names::package(path));
    }

    /// A package with the name that it calls itself.
    pub(super) fn named(&mut self, path: &str, name: String) {
        self.others.entry(path.to_owned()).or_insert(name);
    }

    pub(super) fn pulumi(&mut self) {
        self.plain(PULUMI);
    }

    /// The package with helpers, as code calls it.
    pub(super) fn internal(&mut self) -> String {
        let path = self.layout.shared_import_of(self.internal);
        let name = names::package(self.internal);
        self.named(&path, name.clone());
        name
    }

    /// What stands before names of a module of this SDK.
    pub(super) fn module(&mut self, module: &str) -> String {
        self.package(
            self.layout.import_of(module),
            self.layout.package_of(module),
        )
    }

    /// What stands before names of the package at `path`, which calls itself `name`.
    pub(super) fn package(&mut self, path: String, name: String) -> String {
        if path == self.own {
            return String::new();
        }
        if let Some(known) = self.others.get(&path) {
            return format!("{known}.");
        }
        let wanted = self
            .wanted
            .get(path.as_str())
            .map_or(name, |alias| names::word(alias));
        let mut free = wanted.clone();
        let mut number = 1;
        while IN_USE.contains(&free.as_str()) || self.others.values().any(|known| *known == free) {
            number += 1;
            free = format!("{wanted}{number}");
        }
        let before = format!("{free}.");
        self.others.insert(path, free);
        before
    }

    /// Groups of lines for the file.
    pub(super) fn lines(&self) -> [Vec<String>; 2] {
        let standard = self.standard.iter().map(|path| format!("\"{path}\""));
        let others = self.others.iter().map(|(path, name)| {
            let is_obvious = super::layout::last_step(path) == name && !is_version(name);
            if is_obvious {
                names::string(path)
            } else {
                format!("{name} {}", names::string(path))
            }
        });
        [standard.collect(), others.collect()]
    }
}

/// Whether the last step of a path is a version, so that the name of the package is another.
fn is_version(name: &str) -> bool {
    let digits = name.strip_prefix('v').unwrap_or_default();
    !digits.is_empty() && digits.chars().all(|char| char.is_ascii_digit())
}
