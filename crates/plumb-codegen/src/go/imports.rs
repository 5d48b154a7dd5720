//! Imports of one file.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::Layout;
use super::names;

pub(super) const PULUMI: &str = "github.com/pulumi/pulumi/sdk/v3/go/pulumi";

/// Names of local variables, parameters and other packages in generated code, which imports must
/// not use.
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

/// Imports of a file, with the local name of each.
pub(super) struct Imports<'s> {
    layout: &'s Layout,
    /// Aliases from the schema, by import path.
    wanted: &'s indexmap::IndexMap<&'s str, &'s str>,
    internal: &'s str,
    /// Import path of the file's own package.
    own: String,
    standard: BTreeSet<&'static str>,
    /// Local names by import path.
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

    /// Adds a package of the standard library.
    pub(super) fn standard(&mut self, path: &'static str) {
        self.standard.insert(path);
    }

    /// Adds a package under the name that its path implies.
    pub(super) fn plain(&mut self, path: &str) {
        self.named(path, names::package(path));
    }

    /// Adds a package under the name that it declares.
    pub(super) fn named(&mut self, path: &str, name: String) {
        self.others.entry(path.to_owned()).or_insert(name);
    }

    pub(super) fn pulumi(&mut self) {
        self.plain(PULUMI);
    }

    /// Adds the helper package; returns its local name.
    pub(super) fn internal(&mut self) -> String {
        let path = self.layout.shared_import_of(self.internal);
        let name = names::package(self.internal);
        self.named(&path, name.clone());
        name
    }

    /// Qualifier for names of a module of this SDK.
    pub(super) fn module(&mut self, module: &str) -> String {
        self.package(
            self.layout.import_of(module),
            self.layout.package_of(module),
        )
    }

    /// Qualifier for names of the package at `path`, which declares the name `name`; empty for the
    /// file's own package.
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

    /// Import lines, in groups.
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

/// Whether the last step of a path is a major version, so that the package's name differs from it.
fn is_version(name: &str) -> bool {
    let digits = name.strip_prefix('v').unwrap_or_default();
    !digits.is_empty() && digits.chars().all(|char| char.is_ascii_digit())
}
