//! Which packages a program needs, and which crates.
//!
//! A crate among those that the program is made of counts if it has a `pulumi-plugin.json` beside its manifest, or the same
//! under `package.metadata.pulumi` in it.

use plumb_plugin::discovery::parse_tolerant;
use plumb_plugin::language::{PackageDependency, ProgramDependency, ProgramInfo};

use super::metadata::{Crate, Metadata};
use crate::LanguageOptions;
use crate::compiled::CompiledError;
use crate::plugin_file::{PLUGIN_FILE, PluginFile};

/// The packages that the program needs, sorted by name. A program without sources does not say: the engine finds out when
/// it registers its first resource of a package.
pub(super) async fn required(
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<Vec<PackageDependency>, CompiledError> {
    if !info.program_directory.join("Cargo.toml").is_file() {
        return Ok(Vec::new());
    }
    let metadata = Metadata::read(options, info).await?;
    let mut packages = Vec::new();
    for needed in metadata.needed(info, true) {
        packages.extend(package(needed)?);
    }
    packages.sort_by(|left: &PackageDependency, right| left.name.cmp(&right.name));
    Ok(packages)
}

fn package(needed: &Crate) -> Result<Option<PackageDependency>, CompiledError> {
    let path = needed.manifest_path.with_file_name(PLUGIN_FILE);
    let file = if path.is_file() {
        Some(PluginFile::read(&path)?)
    } else {
        needed.described()
    };
    let Some(file) = file.filter(|file| file.resource) else {
        return Ok(None);
    };
    let name = &needed.name;
    let own_name = name
        .strip_prefix("pulumi-")
        .or(name.strip_prefix("pulumi_"));
    let name = file.given_name().or(own_name).unwrap_or(name).to_owned();
    let version = match file.given_version() {
        Some(version) => parse_tolerant(version),
        None => Some(needed.version.clone()),
    };
    Ok(version.map(|version| file.package(name, version)))
}

/// Name of the core SDK's crate.
const CORE: &str = "plumb-sdk";

/// The crates that the program needs: directly, or all of them. Tools look for the core SDK by the name that it has in all
/// languages.
pub(super) async fn dependencies(
    options: &LanguageOptions,
    info: &ProgramInfo,
    transitive: bool,
) -> Result<Vec<ProgramDependency>, CompiledError> {
    let metadata = Metadata::read(options, info).await?;
    let needed = metadata.needed(info, transitive).into_iter();
    let mut dependencies: Vec<ProgramDependency> = needed
        .map(|needed| ProgramDependency {
            name: match needed.name.as_str() {
                CORE => "pulumi".to_owned(),
                name => name.to_owned(),
            },
            version: needed.version.to_string(),
        })
        .collect();
    dependencies.sort();
    Ok(dependencies)
}
