//! Packages that a program needs (`languages.md` 3.4).
//!
//! 1. Walk the program's folders, except for policy packs and `.git`.
//! 2. In a `node_modules`, visit each package and the `node_modules` below it. Other folders of a package are not
//!    walked, because installed packages have tens of thousands of them.
//! 3. A package counts if `pulumi.resource` in its `package.json` is true.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::discovery::parse_tolerant;
use plumb_plugin::language::{PackageDependency, ProgramInfo, RequiredPackages};
use plumb_plugin::{OutputLevel, OutputLine, OutputStream};
use semver::Version;
use serde::Deserialize;

use crate::LanguageOptions;
use crate::plugin_file::PluginFile;

const MODULES: &str = "node_modules";
const SDK: &str = "@pulumi/pulumi";

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    pulumi: Option<PluginFile>,
}

/// Kind of a folder in the walk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Source,
    Modules,
    Package,
}

/// Identity of a folder, independent of the links that lead to it. Resolving all links in a path would take twenty times
/// as long.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(unix)]
fn identity(directory: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(directory).ok()?;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(directory: &Path) -> Option<Identity> {
    fs::canonicalize(directory).ok()
}

/// Result of the walk.
#[derive(Default)]
struct Found {
    /// Visited folders and their kinds, because the sources of a package can be inside the program's own folders.
    seen: BTreeSet<(Identity, Role)>,
    packages: Vec<PackageDependency>,
    /// Copies of the SDK: version and folder.
    sdks: Vec<(Version, PathBuf)>,
}

/// Packages that the program needs, with a warning about incompatible copies of the SDK.
pub(super) async fn required(options: &LanguageOptions, info: &ProgramInfo) -> RequiredPackages {
    let directory = info.program_directory.clone();
    let found = tokio::task::spawn_blocking(move || Found::below(&directory)).await;
    let found = match found {
        Ok(found) => found,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    };
    if let Some(warning) = found.conflict() {
        (options.output)(OutputLine {
            source: "nodejs".into(),
            stream: OutputStream::Stderr,
            level: OutputLevel::Warning,
            text: warning,
        });
    }
    RequiredPackages {
        packages: found.packages,
        unresolved: Vec::new(),
    }
}

impl Found {
    fn below(directory: &Path) -> Self {
        let mut found = Found::default();
        found.walk(directory);
        let key = |package: &PackageDependency| (package.name.clone(), package.version.clone());
        found.packages.sort_by_key(key);
        found.packages.dedup();
        found
    }

    /// Walks a source folder of the program.
    fn walk(&mut self, directory: &Path) {
        if !self.enter(directory, Role::Source) || directory.join("PulumiPolicy.yaml").is_file() {
            return;
        }
        for folder in folders(directory) {
            if folder.ends_with(MODULES) {
                self.walk_modules(&folder);
            } else if !folder.ends_with(".git") {
                self.walk(&folder);
            }
        }
    }

    /// Walks a `node_modules` folder.
    fn walk_modules(&mut self, modules: &Path) {
        if !self.enter(modules, Role::Modules) {
            return;
        }
        for folder in folders(modules) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            match name.as_bytes().first() {
                Some(b'@') => folders(&folder)
                    .iter()
                    .for_each(|package| self.visit(package)),
                // The store of pnpm: a folder per version, with a `node_modules` in it.
                Some(b'.') => folders(&folder)
                    .iter()
                    .for_each(|version| self.walk_modules(&version.join(MODULES))),
                _ => self.visit(&folder),
            }
        }
    }

    /// Visits an installed package.
    fn visit(&mut self, package: &Path) {
        if !self.enter(package, Role::Package) {
            return;
        }
        if let Some(manifest) = interesting_manifest(package) {
            self.note(manifest, package);
        }
        self.walk_modules(&package.join(MODULES));
    }

    /// Whether `directory` exists and has not been visited in this role; follows symbolic links.
    fn enter(&mut self, directory: &Path, role: Role) -> bool {
        identity(directory).is_some_and(|folder| self.seen.insert((folder, role)))
    }

    fn note(&mut self, manifest: Manifest, folder: &Path) {
        if manifest.name == SDK {
            let version = parse_tolerant(&manifest.version);
            self.sdks
                .extend(version.map(|version| (version, folder.to_owned())));
        }
        let Some(plugin) = manifest.pulumi.filter(|plugin| plugin.resource) else {
            return;
        };
        let name = plugin
            .given_name()
            .or_else(|| manifest.name.strip_prefix("@pulumi/"))
            .map(str::to_owned);
        let version = parse_tolerant(plugin.given_version().unwrap_or(&manifest.version));
        let (Some(name), Some(version)) = (name, version) else {
            tracing::debug!(
                package = manifest.name,
                "a package has a plugin without a name or a version that can be understood"
            );
            return;
        };
        self.packages.push(plugin.package(name, version));
    }

    /// Warning for incompatible copies of the SDK, because objects of one are not recognized by another.
    fn conflict(&self) -> Option<String> {
        let (first, others) = self.sdks.split_first()?;
        let line = |version: &Version| match version {
            Version {
                major: 0,
                minor: 17,
                ..
            } => (1, 0),
            Version {
                major: 0, minor, ..
            } => (0, *minor),
            version => (version.major, 0),
        };
        if others
            .iter()
            .all(|(version, _)| line(version) == line(&first.0))
        {
            return None;
        }
        let mut copies: Vec<String> = self
            .sdks
            .iter()
            .map(|(version, folder)| format!("  {version} in {}", folder.display()))
            .collect();
        copies.sort();
        Some(format!(
            "there are copies of {SDK} that do not go together; programs may fail in strange ways. Install one version \
             for all packages:\n{}",
            copies.join("\n")
        ))
    }
}

/// Manifest of a package; `None` without parsing if it does not mention `pulumi`, which is the case for most.
fn interesting_manifest(package: &Path) -> Option<Manifest> {
    let text = fs::read(package.join("package.json")).ok()?;
    let needle = b"pulumi";
    if !text.windows(needle.len()).any(|window| window == needle) {
        return None;
    }
    serde_json::from_slice(&text).ok()
}

fn folders(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
        Ok(kind) => kind.is_dir(),
        Err(_) => false,
    };
    entries
        .filter(is_folder)
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[(&str, &str)]) -> Self {
            let tree = Tree(tempfile::tempdir().unwrap());
            for (name, text) in files {
                let path = tree.0.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            tree
        }

        fn found(&self) -> Found {
            Found::below(self.0.path())
        }

        fn packages(&self) -> Vec<String> {
            let packages = self.found().packages.into_iter();
            packages
                .map(|it| format!("{} {}", it.name, it.version.unwrap()))
                .collect()
        }
    }

    fn plugin(name: &str, version: &str, pulumi: &str) -> String {
        format!(
            r#"{{"name": {name:?}, "version": {version:?}, "pulumi": {{"resource": true {pulumi}}}}}"#
        )
    }

    #[test]
    fn installed_packages_count_wherever_they_are() {
        let tree = Tree::new(&[
            ("package.json", &plugin("the-program", "1.0.0", "")),
            (
                "node_modules/@pulumi/random/package.json",
                &plugin("@pulumi/random", "4.1.0", ""),
            ),
            (
                "node_modules/tls/package.json",
                &plugin("tls", "v2.0.0", r#", "name": "tls""#),
            ),
            (
                "node_modules/mine/package.json",
                r#"{"name": "mine", "keywords": ["pulumi"]}"#,
            ),
            (
                "node_modules/mine/node_modules/@pulumi/random/package.json",
                &plugin("@pulumi/random", "3.0.0", ""),
            ),
            (
                "infra/node_modules/@x/y/package.json",
                &plugin("@x/y", "9.9.9", r#", "name": "y", "version": "1.2.3""#),
            ),
            (
                "node_modules/.pnpm/a@1/node_modules/@pulumi/a/package.json",
                &plugin("@pulumi/a", "1.0.0", ""),
            ),
            (
                "node_modules/nameless/package.json",
                &plugin("nameless", "1.0.0", ""),
            ),
        ]);
        assert_eq!(
            tree.packages(),
            [
                "a 1.0.0",
                "random 3.0.0",
                "random 4.1.0",
                "tls 2.0.0",
                "y 1.2.3"
            ]
        );
    }

    #[test]
    fn policy_packs_and_what_is_no_plugin_are_left_out() {
        let tree = Tree::new(&[
            ("pack/PulumiPolicy.yaml", "runtime: nodejs\n"),
            (
                "pack/node_modules/@pulumi/random/package.json",
                &plugin("@pulumi/random", "4.1.0", ""),
            ),
            (
                "node_modules/@pulumi/pulumi/package.json",
                r#"{"name": "@pulumi/pulumi", "version": "3.1.0"}"#,
            ),
            (
                "node_modules/b/package.json",
                r#"{"name": "b", "version": "1.0.0", "pulumi": {"resource": false}}"#,
            ),
            ("node_modules/broken/package.json", r#"{"pulumi": "#),
        ]);
        assert_eq!(tree.packages(), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once() {
        let tree = Tree::new(&[(
            "sdks/mine/package.json",
            &plugin("@pulumi/mine", "1.0.0", ""),
        )]);
        let scope = tree.0.path().join("node_modules/@pulumi");
        fs::create_dir_all(&scope).unwrap();
        std::os::unix::fs::symlink(tree.0.path().join("sdks/mine"), scope.join("mine")).unwrap();
        std::os::unix::fs::symlink(tree.0.path(), tree.0.path().join("sdks/mine/again")).unwrap();
        assert_eq!(tree.packages(), ["mine 1.0.0"]);
    }

    #[test]
    fn copies_of_the_sdk_that_do_not_go_together_are_warned_of() {
        let sdk =
            |version: &str| format!(r#"{{"name": "@pulumi/pulumi", "version": {version:?}}}"#);
        for (one, other, conflicts) in [
            ("3.1.0", "3.248.0", false),
            ("2.0.0", "3.0.0", true),
            ("0.17.1", "1.0.0", false),
            ("0.16.0", "0.15.0", true),
        ] {
            let tree = Tree::new(&[
                ("node_modules/@pulumi/pulumi/package.json", &sdk(one)),
                (
                    "node_modules/a/node_modules/@pulumi/pulumi/package.json",
                    &sdk(other),
                ),
            ]);
            let warning = tree.found().conflict();
            assert_eq!(warning.is_some(), conflicts, "{one} {other}");
            assert!(warning.is_none_or(|text| text.contains(one) && text.contains(other)));
        }
    }
}
