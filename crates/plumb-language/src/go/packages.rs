//! Packages that a program needs.
//!
//! 1. Find the folders of all modules in the `go.mod` ([`remembered`](super::remembered)), or of those that a prebuilt
//!    program was linked from ([`binary`](super::binary)).
//! 2. Search each for a `pulumi-plugin.json`: in its root, or in the folders where generated SDKs have their sources.
//! 3. A module is a package if the file says that it has resources.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::discovery::parse_tolerant;
use plumb_plugin::language::{PackageDependency, ProgramInfo};

use super::module::Module;
use super::settings::Source;
use super::{binary, remembered};
use crate::LanguageOptions;
use crate::compiled::{CompiledError, prebuilt};
use crate::plugin_file::{PLUGIN_FILE, PluginFile};

/// Packages that the program needs, sorted by name.
pub(super) async fn required(
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<Vec<PackageDependency>, CompiledError> {
    let modules = modules(options, info).await?;
    let scan = move || modules.iter().filter_map(package).collect();
    let mut packages: Vec<PackageDependency> = tokio::task::spawn_blocking(scan)
        .await
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    packages.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(packages)
}

async fn modules(
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<Vec<Module>, CompiledError> {
    let directory = &info.program_directory;
    if let Source::Prebuilt(name) = Source::of(info, &options.environment)?
        && !directory.join("vendor").is_dir()
        && let Ok(executable) = prebuilt(&name, info, options)
        && let Some(modules) = binary::modules(executable, directory, &options.environment).await
    {
        return Ok(modules);
    }
    remembered::modules(options, directory).await
}

fn package(module: &Module) -> Option<PackageDependency> {
    let path = plugin_file(module.dir.as_deref()?)?;
    let file = match PluginFile::read(&path) {
        Ok(file) => file,
        Err(error) => {
            tracing::debug!(
                module = module.path,
                error = &error as &dyn std::error::Error,
                "a package describes its plugin badly"
            );
            return None;
        }
    };
    if !file.resource {
        return None;
    }
    let given = file.given_version();
    let version = given.map_or_else(|| released(&module.version), parse_tolerant)?;
    let name = file.given_name().or_else(|| own_name(&module.path))?;
    let name = name.to_owned();
    Some(file.package(name, version))
}

/// First plugin file of a module: in the root, in `go`, one folder below `go`, one folder below the root.
fn plugin_file(directory: &Path) -> Option<PathBuf> {
    let go = directory.join("go");
    let direct = [directory.join(PLUGIN_FILE), go.join(PLUGIN_FILE)];
    direct
        .into_iter()
        .chain(below(&go))
        .chain(below(directory))
        .find(|path| path.is_file())
}

/// Possible paths of the file in each subfolder of `directory`, sorted by name.
fn below(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_file()))
        .map(|entry| entry.path().join(PLUGIN_FILE))
        .collect();
    paths.sort();
    paths
}

/// Release version of a module; for a version of a commit, the release before it.
fn released(version: &str) -> Option<semver::Version> {
    let mut parsed = parse_tolerant(version)?;
    if !is_between_releases(&parsed) {
        return Some(parsed);
    }
    // Versions of commits are pre-releases of the next release.
    parsed.patch = parsed.patch.checked_sub(1)?;
    parsed.pre = semver::Prerelease::EMPTY;
    parsed.build = semver::BuildMetadata::EMPTY;
    Some(parsed)
}

/// Whether a version is that of a commit: its last part consists of a time and a hash.
fn is_between_releases(version: &semver::Version) -> bool {
    let Some((before, hash)) = version.pre.rsplit_once('-') else {
        return false;
    };
    let time = before.rsplit('.').next().unwrap_or(before);
    time.len() == 14
        && time.bytes().all(|byte| byte.is_ascii_digit())
        && hash.len() == 12
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Name in the third part of a module's path: `aws` in `github.com/pulumi/pulumi-aws/sdk/v6`.
fn own_name(path: &str) -> Option<&str> {
    let (_, name) = path.split('/').nth(2)?.split_once('-')?;
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, version: &str, files: &[(&str, &str)], expected: Option<&str>) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = directory.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let module = Module {
            path: path.to_owned(),
            version: version.to_owned(),
            dir: Some(directory.path().to_owned()),
            ..Module::default()
        };
        let found = package(&module).map(|it| format!("{} {}", it.name, it.version.unwrap()));
        assert_eq!(found.as_deref(), expected, "{path} {version} {files:?}");
    }

    const BARE: &str = r#"{"resource": true}"#;

    #[test]
    fn the_first_file_counts() {
        const AWS: &str = "github.com/pulumi/pulumi-aws/sdk/v6";
        let named = r#"{"resource": true, "name": "cloud", "version": "2.0"}"#;
        check(AWS, "v6.1.0", &[(PLUGIN_FILE, BARE)], Some("aws 6.1.0"));
        check(
            AWS,
            "v6.1.0",
            &[
                ("aws/pulumi-plugin.json", named),
                ("go/aws/pulumi-plugin.json", BARE),
            ],
            Some("aws 6.1.0"),
        );
        check(
            AWS,
            "v6.1.0",
            &[
                ("b/pulumi-plugin.json", BARE),
                ("a/pulumi-plugin.json", named),
            ],
            Some("cloud 2.0.0"),
        );
        check(AWS, "v6.1.0", &[("a/b/pulumi-plugin.json", BARE)], None);
        check(AWS, "v6.1.0", &[(PLUGIN_FILE, "{}")], None);
        check(AWS, "v6.1.0", &[(PLUGIN_FILE, "nonsense")], None);
        check("example.com/x", "v1.0.0", &[(PLUGIN_FILE, BARE)], None);
    }

    #[test]
    fn versions_of_commits_become_the_release_before() {
        let of = |version| released(version).map(|version| version.to_string());
        assert_eq!(of("v1.2.3-alpha.1").as_deref(), Some("1.2.3-alpha.1"));
        assert_eq!(
            of("v1.2.4-0.20250102030405-abcdefabcdef").as_deref(),
            Some("1.2.3")
        );
        assert_eq!(of("v0.0.0-20250102030405-abcdefabcdef"), None);
    }
}
