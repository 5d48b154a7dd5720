//! Packages that a program needs.
//!
//! 1. Let `dotnet` list all libraries of the program and the folder where it stores them.
//! 2. A library is a package if its content includes a `pulumi-plugin.json` or a `version.txt`.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::discovery::parse_tolerant;
use plumb_plugin::language::{PackageDependency, ProgramDependency};

use super::dotnet;
use crate::LanguageOptions;
use crate::compiled::CompiledError;
use crate::plugin_file::{PLUGIN_FILE, PluginFile};

const VERSION_FILE: &str = "version.txt";

/// Libraries of a project: direct dependencies, or all.
pub(super) async fn list(
    options: &LanguageOptions,
    project: &Path,
    directory: &Path,
    transitive: bool,
) -> Result<Vec<ProgramDependency>, CompiledError> {
    let mut tool = dotnet(&["list"], options, directory)?;
    tool.args.push(project.into());
    tool.args.push("package".into());
    if transitive {
        tool.args.push("--include-transitive".into());
    }
    let text = tool.capture().await?;
    Ok(text.lines().filter_map(listed).collect())
}

/// Library in a line of the table with the columns: mark, name, requested version, resolved
/// version.
fn listed(line: &str) -> Option<ProgramDependency> {
    let mut words = line.trim().strip_prefix("> ")?.split_whitespace();
    Some(ProgramDependency {
        name: words.next()?.to_owned(),
        version: words.next_back()?.to_owned(),
    })
}

/// Packages among the libraries of a program.
pub(super) async fn required(
    options: &LanguageOptions,
    directory: &Path,
    libraries: &[ProgramDependency],
) -> Result<Vec<PackageDependency>, CompiledError> {
    let words = ["nuget", "locals", "global-packages", "-l"];
    let said = dotnet(&words, options, directory)?.capture().await?;
    let store = said
        .lines()
        .find_map(|line| Some(line.split_once("global-packages:")?.1.trim()))
        .map(PathBuf::from)
        .unwrap_or_default();
    let mut packages: Vec<PackageDependency> = libraries
        .iter()
        .filter_map(|library| package(library, &store))
        .collect();
    packages.sort_by(|left, right| left.name.cmp(&right.name));
    packages.dedup_by(|left, right| left.name == right.name && left.version == right.version);
    Ok(packages)
}

fn package(library: &ProgramDependency, store: &Path) -> Option<PackageDependency> {
    let content = store
        .join(library.name.to_lowercase())
        .join(library.version.to_lowercase())
        .join("content");
    let described = content.join(PLUGIN_FILE);
    let noted = fs::read_to_string(content.join(VERSION_FILE)).ok();
    let file = match described.is_file() {
        true => PluginFile::read(&described)
            .inspect_err(|error| {
                tracing::debug!(
                    library = library.name,
                    error = error as &dyn std::error::Error,
                    "a package describes its plugin badly"
                );
            })
            .ok()?,
        false if noted.is_some() => PluginFile::bare(),
        false => return None,
    };
    if !file.resource {
        return None;
    }
    let (noted_name, noted_version) = noted.as_deref().map(note).unwrap_or_default();
    let own_name = library.name.to_lowercase().replace("pulumi.", "");
    let name = file
        .given_name()
        .or(noted_name)
        .map_or(own_name, ToOwned::to_owned);
    let version = file
        .given_version()
        .or(noted_version)
        .unwrap_or(&library.version);
    let version = parse_tolerant(version)?;
    Some(file.package(name, version))
}

/// Name and version in the `version.txt` of an older package: one line is the version, two lines
/// are name and version.
fn note(text: &str) -> (Option<&str>, Option<&str>) {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    match lines[..] {
        [] => (None, None),
        [version] => (None, Some(version)),
        [name, version, ..] => (Some(name), Some(version)),
    }
}

/// Namespace of a package's library: `Pulumi.MyCloud` for `my-cloud`.
pub(super) fn namespace(package: &str) -> String {
    let mut namespace = String::from("Pulumi.");
    for part in package.split(['-', '_']) {
        let mut letters = part.chars();
        namespace.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        namespace.push_str(letters.as_str());
    }
    namespace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_the_table() {
        let check = |line: &str, expected: Option<(&str, &str)>| {
            let found = listed(line);
            let found = found
                .as_ref()
                .map(|it| (it.name.as_str(), it.version.as_str()));
            assert_eq!(found, expected, "{line}");
        };
        check(
            "   > Pulumi      3.*      3.60.0  ",
            Some(("Pulumi", "3.60.0")),
        );
        check(
            "   > Google.Protobuf    3.19.1",
            Some(("Google.Protobuf", "3.19.1")),
        );
        check(
            "   > FSharp.Core (A)  [6.0.1, )  6.0.1",
            Some(("FSharp.Core", "6.0.1")),
        );
        check("   Top-level Package   Requested   Resolved", None);
        check("   [net8.0]:", None);
    }

    #[test]
    fn packages_describe_their_plugin_in_two_ways() {
        let store = tempfile::tempdir().unwrap();
        let check = |name: &str, file: &str, text: &str, expected: Option<&str>| {
            let content = store.path().join(name.to_lowercase()).join("1.2.3/content");
            fs::create_dir_all(&content).unwrap();
            fs::write(content.join(file), text).unwrap();
            let library = ProgramDependency {
                name: name.to_owned(),
                version: "1.2.3".to_owned(),
            };
            let found = package(&library, store.path());
            let shown = found.map(|it| format!("{} {}", it.name, it.version.unwrap()));
            assert_eq!(shown.as_deref(), expected, "{name}");
        };
        check(
            "Pulumi.Aws",
            PLUGIN_FILE,
            r#"{"resource": true}"#,
            Some("aws 1.2.3"),
        );
        check(
            "Acme.Cloud",
            PLUGIN_FILE,
            r#"{"resource": true, "name": "sky", "version": "v2.0.0"}"#,
            Some("sky 2.0.0"),
        );
        check("Pulumi.No", PLUGIN_FILE, r#"{"resource": false}"#, None);
        check("Pulumi.Old", VERSION_FILE, "v0.9.0\n", Some("old 0.9.0"));
        check(
            "Pulumi.Older",
            VERSION_FILE,
            "ancient\n0.8.0\n",
            Some("ancient 0.8.0"),
        );
        check("Newtonsoft.Json", "readme.txt", "", None);
        assert_eq!(namespace("my-cloud"), "Pulumi.MyCloud");
    }
}
