//! Parsers for the lock files of package managers.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use plumb_plugin::language::ProgramDependency;
use plumb_project::yaml;
use serde_json::{Map, Value};

/// Formats of lock files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockFile {
    Npm,
    Yarn,
    Pnpm,
    Bun,
    /// Bun's binary format, which only Bun reads.
    BunBinary,
}

/// Error for an unreadable lock file.
#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file is not JSON.
    #[error("it is not JSON")]
    Json(#[from] serde_json::Error),
    /// The file is not YAML.
    #[error("it is not YAML")]
    Yaml(#[from] yaml::SyntaxError),
    /// The file is YAML with values that JSON does not have.
    #[error("it is not YAML of the usual kind")]
    Data(#[from] yaml::ToJsonError),
    /// Only Bun can read the format.
    #[error(
        "only Bun itself reads this form; `bun install --save-text-lockfile` writes one that others can read"
    )]
    Binary,
}

impl LockFile {
    /// File names, in the order in which they are searched.
    pub(super) const NAMES: [(&'static str, LockFile); 6] = [
        ("yarn.lock", LockFile::Yarn),
        ("pnpm-lock.yaml", LockFile::Pnpm),
        ("bun.lock", LockFile::Bun),
        ("package-lock.json", LockFile::Npm),
        ("npm-shrinkwrap.json", LockFile::Npm),
        ("bun.lockb", LockFile::BunBinary),
    ];
}

type Packages = BTreeSet<ProgramDependency>;

/// All packages in the file, sorted.
pub(super) fn read(path: &Path, kind: LockFile) -> Result<Vec<ProgramDependency>, LockFileError> {
    if kind == LockFile::BunBinary {
        return Err(LockFileError::Binary);
    }
    let text = fs::read_to_string(path)?;
    let packages = match kind {
        LockFile::Npm => of_npm(&serde_json::from_str(&text)?),
        LockFile::Yarn => of_yarn(&text),
        LockFile::Pnpm => of_keys(&yaml_of(&text)?),
        // JSON with trailing commas is valid YAML.
        LockFile::Bun => of_bun(&yaml_of(&text)?),
        LockFile::BunBinary => Packages::new(),
    };
    Ok(packages.into_iter().collect())
}

fn yaml_of(text: &str) -> Result<Value, LockFileError> {
    let document = yaml::parse(text)?;
    let value = document.root.as_ref().map(yaml::to_json).transpose()?;
    Ok(value.unwrap_or_default())
}

fn dependency(name: &str, version: &str) -> ProgramDependency {
    ProgramDependency {
        name: name.to_owned(),
        version: version.to_owned(),
    }
}

fn of_npm(file: &Value) -> Packages {
    let mut packages = Packages::new();
    for (path, entry) in file["packages"].as_object().into_iter().flatten() {
        let Some((_, name)) = path.rsplit_once("node_modules/") else {
            continue;
        };
        // A package in a folder of the project has a second entry, under the path of the folder.
        let target = entry["resolved"]
            .as_str()
            .map(|path| &file["packages"][path]);
        let version = target.unwrap_or(entry)["version"].as_str();
        if let Some(version) = version.or(entry["version"].as_str()) {
            packages.insert(dependency(entry["name"].as_str().unwrap_or(name), version));
        }
    }
    if packages.is_empty() {
        // Format before npm 7.
        of_old_npm(file["dependencies"].as_object(), &mut packages);
    }
    packages
}

fn of_old_npm(listed: Option<&Map<String, Value>>, packages: &mut Packages) {
    for (name, entry) in listed.into_iter().flatten() {
        packages.extend(
            entry["version"]
                .as_str()
                .map(|version| dependency(name, version)),
        );
        of_old_npm(entry["dependencies"].as_object(), packages);
    }
}

/// Parses entries that start with a line of requested versions and contain the resolved version on a
/// later line.
fn of_yarn(text: &str) -> Packages {
    let mut packages = Packages::new();
    let mut name = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if !line.starts_with(' ') {
            let first = line
                .trim_end_matches(':')
                .split(',')
                .next()
                .unwrap_or_default();
            name = split_at_version(first.trim_matches('"')).map(|(name, _)| name);
        } else if let (Some(name), Some(version)) =
            (name, line.trim_start().strip_prefix("version"))
        {
            let version = version.trim_matches([':', ' ', '"']);
            // Workspace members have a placeholder version.
            if !version.starts_with("0.0.0-use") {
                packages.insert(dependency(name, version));
            }
        }
    }
    packages
}

/// Parses keys that consist of name and version, such as `/@scope/name@1.0.0(peer@2.0.0)`.
fn of_keys(file: &Value) -> Packages {
    let keys = file["packages"].as_object().into_iter().flatten();
    keys.filter_map(|(key, _)| {
        let key = key.trim_start_matches('/');
        let key = key.split('(').next().unwrap_or(key);
        let (name, version) = split_at_version(key).or_else(|| key.rsplit_once('/'))?;
        Some(dependency(name, version))
    })
    .collect()
}

/// Parses values that are lists starting with name and version.
fn of_bun(file: &Value) -> Packages {
    let values = file["packages"].as_object().into_iter().flatten();
    values
        .filter_map(|(_, value)| {
            let (name, version) = split_at_version(value.get(0)?.as_str()?)?;
            (!version.starts_with("workspace:")).then(|| dependency(name, version))
        })
        .collect()
}

/// Splits `@scope/name@version`. The version can be a range that contains another `@`.
fn split_at_version(text: &str) -> Option<(&str, &str)> {
    let at = text.get(1..)?.find('@')? + 1;
    Some((&text[..at], &text[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: LockFile, text: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        fs::write(&path, text).unwrap();
        let packages = read(&path, kind).unwrap();
        let shown: Vec<String> = packages
            .iter()
            .map(|it| format!("{} {}", it.name, it.version))
            .collect();
        assert_eq!(
            shown,
            ["@pulumi/pulumi 3.248.0", "semver 5.7.2", "semver 7.6.0"],
            "{kind:?}"
        );
    }

    #[test]
    fn npm() {
        check(
            LockFile::Npm,
            r#"{"lockfileVersion": 3, "packages": {
                "": {"name": "prog", "version": "1.0.0"},
                "node_modules/@pulumi/pulumi": {"version": "3.248.0"},
                "node_modules/semver": {"version": "7.6.0", "resolved": "semver-7.6.0.tgz"},
                "node_modules/a/node_modules/semver": {"resolved": "mine/semver", "link": true},
                "mine/semver": {"version": "5.7.2"},
                "node_modules/member": {"resolved": "member", "link": true}}}"#,
        );
        check(
            LockFile::Npm,
            r#"{"lockfileVersion": 1, "dependencies": {
                "@pulumi/pulumi": {"version": "3.248.0", "dependencies": {"semver": {"version": "5.7.2"}}},
                "semver": {"version": "7.6.0"}}}"#,
        );
    }

    #[test]
    fn yarn() {
        check(
            LockFile::Yarn,
            "# yarn lockfile v1\n\n\"@pulumi/pulumi@^3.0.0\", \"@pulumi/pulumi@^3.1.0\":\n  version \"3.248.0\"\n  \
             dependencies:\n    semver \"^5.0.0\"\n\nsemver@^5.0.0:\n  version \"5.7.2\"\n\nsemver@^7.0.0:\n  version \
             \"7.6.0\"\n",
        );
        check(
            LockFile::Yarn,
            "__metadata:\n  version: 8\n\n\"@pulumi/pulumi@npm:^3.0.0\":\n  version: 3.248.0\n\n\
             \"semver@npm:^5.0.0\":\n  version: 5.7.2\n\n\"semver@npm:^7.0.0\":\n  version: 7.6.0\n\n\
             \"prog@workspace:.\":\n  version: 0.0.0-use.local\n",
        );
    }

    #[test]
    fn pnpm() {
        check(
            LockFile::Pnpm,
            "lockfileVersion: '9.0'\npackages:\n  '@pulumi/pulumi@3.248.0':\n    resolution: {integrity: x}\n  \
             semver@5.7.2: {}\n  semver@7.6.0: {}\n",
        );
        check(
            LockFile::Pnpm,
            "lockfileVersion: '6.0'\npackages:\n  /@pulumi/pulumi@3.248.0(ts-node@10.9.2): {}\n  /semver@5.7.2: {}\n  \
             /semver@7.6.0: {}\n",
        );
        check(
            LockFile::Pnpm,
            "lockfileVersion: 5.4\npackages:\n  /@pulumi/pulumi/3.248.0: {}\n  /semver/5.7.2: {}\n  /semver/7.6.0: {}\n",
        );
    }

    #[test]
    fn bun() {
        check(
            LockFile::Bun,
            r#"{
  "lockfileVersion": 1,
  "packages": {
    "@pulumi/pulumi": ["@pulumi/pulumi@3.248.0", "", {}, "sha512-x=="],
    "semver": ["semver@7.6.0", "", {}, "x"],
    "a/semver": ["semver@5.7.2", "", {}, "x"],
    "member": ["member@workspace:member"],
  },
}"#,
        );
    }
}
