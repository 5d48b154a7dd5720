//! Packages that a program needs (`languages.md` 4.4).
//!
//! 1. List the distributions on the interpreter's path.
//! 2. Find the top-level folders that contain a `pulumi-plugin.json`, and the distributions that
//!    own them.
//! 3. A distribution counts if it has such a file, or if its name starts with `pulumi-`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::OutputLevel;
use plumb_plugin::language::{PackageDependency, ProgramInfo, RequiredPackages};

use super::site::{Distribution, distributions, entries, normalise, search_path};
use super::toolchain::{Settings, Toolchain};
use super::{PythonError, install, version};
use crate::LanguageOptions;
use crate::files::is_missing_or_empty;
use crate::plugin_file::{PLUGIN_FILE, PluginFile};

/// Distributions with a matching name that are not providers.
const NO_PROVIDERS: [&str; 2] = ["pulumi-policy", "pulumi-esc-sdk"];

/// Packages that the program needs; creates its virtual environment first if that is missing.
pub(super) async fn required(
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<RequiredPackages, PythonError> {
    let settings = Settings::of(info)?;
    if settings.toolchain == Toolchain::Pip
        && settings
            .virtualenv_directory()
            .is_some_and(|directory| is_missing_or_empty(&directory))
    {
        install::install_packages(options, &settings, &options.output, OutputLevel::Debug).await?;
    }
    let interpreter = settings.interpreter(&options.environment).await?;
    let path = search_path(&interpreter).await?;
    let packages = tokio::task::spawn_blocking(move || scan(&path)).await;
    match packages {
        Ok(packages) => Ok(RequiredPackages {
            packages: packages?,
            unresolved: Vec::new(),
        }),
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

fn scan(path: &[PathBuf]) -> Result<Vec<PackageDependency>, PythonError> {
    let all = distributions(path);
    let mut files = plugin_files(path, &all);
    let mut packages = Vec::new();
    for distribution in &all {
        let file = files.remove(&distribution.name);
        let has_name = distribution.name.starts_with("pulumi-");
        if NO_PROVIDERS.contains(&distribution.name.as_str()) || (file.is_none() && !has_name) {
            continue;
        }
        packages.extend(package(distribution, file.as_deref())?);
    }
    packages.sort_by(|left: &PackageDependency, right| left.name.cmp(&right.name));
    Ok(packages)
}

/// Plugin files, by the name of the distribution that owns them.
fn plugin_files(path: &[PathBuf], all: &[Distribution]) -> BTreeMap<String, PathBuf> {
    let mut files = BTreeMap::new();
    for directory in path.iter().flat_map(|directory| entries(directory)) {
        let file = directory.join(PLUGIN_FILE);
        let Some(folder) = directory.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if !file.is_file() {
            continue;
        }
        let by_name = normalise(folder);
        let owner = if all.iter().any(|distribution| distribution.name == by_name) {
            Some(by_name)
        } else {
            all.iter()
                .find(|distribution| owns(distribution, folder))
                .map(|distribution| distribution.name.clone())
        };
        if let Some(owner) = owner {
            files.entry(owner).or_insert(file);
        }
    }
    files
}

/// Whether the metadata of `distribution` lists the plugin file of the top-level folder `folder`.
fn owns(distribution: &Distribution, folder: &str) -> bool {
    let wanted = format!("{folder}/{PLUGIN_FILE}");
    let lists = |file: &str| {
        fs::read_to_string(distribution.metadata.join(file)).is_ok_and(|text| {
            text.lines().any(|line| {
                line.split(',')
                    .next()
                    .is_some_and(|entry| entry.trim_matches('"') == wanted)
            })
        })
    };
    let is_top_level = || {
        fs::read_to_string(distribution.metadata.join("top_level.txt"))
            .is_ok_and(|text| text.lines().any(|line| line.trim() == folder))
    };
    lists("RECORD") || is_top_level() || lists("SOURCES.txt")
}

fn package(
    distribution: &Distribution,
    file: Option<&Path>,
) -> Result<Option<PackageDependency>, PythonError> {
    let described = match file {
        Some(path) => {
            let described = PluginFile::read(path)?;
            if !described.resource {
                return Ok(None);
            }
            described
        }
        None => PluginFile::default(),
    };
    let version = match described.given_version() {
        Some(version) => plumb_plugin::discovery::parse_tolerant(version),
        None => version::to_semantic(&distribution.version),
    };
    let Some(version) = version else {
        tracing::debug!(
            distribution = distribution.name,
            "a package has a version that cannot be translated"
        );
        return Ok(None);
    };
    let own_name = distribution
        .name
        .strip_prefix("pulumi-")
        .unwrap_or(&distribution.name);
    let name = described.given_name().unwrap_or(own_name).to_owned();
    Ok(Some(described.package(name, version)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(entries: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in entries {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        directory
    }

    fn check(entries: &[(&str, &str)], expected: &[&str]) {
        let site = site(entries);
        let packages = scan(&[site.path().to_owned()]).unwrap();
        let shown: Vec<String> = packages
            .iter()
            .map(|package| {
                let server = package.server.as_deref().unwrap_or("-");
                format!(
                    "{} {} {server}",
                    package.name,
                    package.version.as_ref().unwrap()
                )
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn packages_are_found_by_file_and_by_name() {
        check(
            &[
                ("pulumi-3.259.0.dist-info/METADATA", ""),
                ("pulumi/__init__.py", ""),
                ("pulumi_random-4.16.0.dist-info/METADATA", ""),
                (
                    "pulumi_random/pulumi-plugin.json",
                    r#"{"resource": true, "name": "random", "version": "4.16.1"}"#,
                ),
                ("pulumi_old-1.0.0a2.dist-info/METADATA", ""),
                ("pulumi_policy-1.0.0.dist-info/METADATA", ""),
                ("pulumi_lib-1.0.0.dist-info/METADATA", ""),
                ("pulumi_lib/pulumi-plugin.json", r#"{"resource": false}"#),
                (
                    "acme_cloud-2.0.dist-info/RECORD",
                    "acme/pulumi-plugin.json,sha256=x,1\n",
                ),
                (
                    "acme/pulumi-plugin.json",
                    r#"{"resource": true, "server": "https://example.com"}"#,
                ),
                ("pulumi_strange-1!1.0.dist-info/METADATA", ""),
                (
                    "nobodys/pulumi-plugin.json",
                    r#"{"resource": true, "name": "nobody", "version": "1.0.0"}"#,
                ),
            ],
            &[
                "acme-cloud 2.0.0 https://example.com",
                "old 1.0.0-alpha.2 -",
                "random 4.16.1 -",
            ],
        );
    }

    #[test]
    fn parameters_are_decoded() {
        let site = site(&[
            ("pulumi_tf-1.0.0.dist-info/METADATA", ""),
            (
                "pulumi_tf/pulumi-plugin.json",
                r#"{"resource": true, "name": "terraform-provider", "version": "0.5.0",
                    "parameterization": {"name": "tf", "version": "1.0.0", "value": "eyJhIjoxfQ=="}}"#,
            ),
        ]);
        let packages = scan(&[site.path().to_owned()]).unwrap();
        let parameter = packages[0].parameterization.as_ref().unwrap();
        assert_eq!(
            (parameter.name.as_str(), parameter.value.as_ref()),
            ("tf", br#"{"a":1}"#.as_slice())
        );
    }
}
