//! Information about a program for `about`.

use std::collections::BTreeSet;
use std::fs;

use plumb_plugin::language::{AboutLanguage, ProgramDependency, ProgramInfo};

use super::PythonError;
use super::site::{Distribution, distributions, normalise, search_path};
use super::toolchain::{Settings, Toolchain, TypeChecker};
use crate::LanguageOptions;

/// Distributions that every environment contains.
const BASICS: [&str; 3] = ["pip", "setuptools", "wheel"];

/// Interpreter, its version, and the tool chain.
pub(super) async fn about(
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<AboutLanguage, PythonError> {
    let settings = Settings::of(info)?;
    let interpreter = settings.interpreter(&options.environment).await?;
    let text = interpreter
        .tool(&["--version"], &settings.program_directory)
        .capture()
        .await?;
    let toolchain = match (settings.is_explicit, settings.toolchain) {
        (false, _) => "Auto",
        (true, Toolchain::Pip) => "Pip",
        (true, Toolchain::Poetry) => "Poetry",
        (true, Toolchain::Uv) => "Uv",
    };
    let version = match settings.toolchain {
        Toolchain::Pip => {
            interpreter.tool(&["-m", "pip", "--version"], &settings.program_directory)
        }
        Toolchain::Poetry => settings.external("poetry", &["--version"], &options.environment)?,
        Toolchain::Uv => settings.external("uv", &["--version"], &options.environment)?,
    };
    let checker = match settings.type_checker {
        None => "None",
        Some(TypeChecker::Mypy) => "Mypy",
        Some(TypeChecker::Pyright) => "Pyright",
    };
    let metadata = [
        ("toolchain", toolchain.to_owned()),
        ("toolchainVersion", first_version(&version.capture().await?)),
        ("typechecker", checker.to_owned()),
    ];
    Ok(AboutLanguage {
        executable: interpreter.program.to_string_lossy().into_owned(),
        version: text.trim().trim_start_matches("Python ").to_owned(),
        metadata: metadata
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    })
}

/// First word that starts with a digit.
fn first_version(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')'));
    words
        .into_iter()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or_default()
        .to_owned()
}

/// Installed distributions: all, or those that no other distribution requires.
pub(super) async fn list(
    options: &LanguageOptions,
    info: &ProgramInfo,
    transitive: bool,
) -> Result<Vec<ProgramDependency>, PythonError> {
    let settings = Settings::of(info)?;
    let interpreter = settings.interpreter(&options.environment).await?;
    let all = distributions(&search_path(&interpreter).await?);
    let required: BTreeSet<String> = if transitive {
        BTreeSet::new()
    } else {
        all.iter().flat_map(requirements).collect()
    };
    let mut dependencies: Vec<ProgramDependency> = all
        .into_iter()
        .filter(|distribution| {
            !required.contains(&distribution.name) && !BASICS.contains(&distribution.name.as_str())
        })
        .map(|distribution| ProgramDependency {
            name: distribution.name,
            version: distribution.version,
        })
        .collect();
    dependencies.sort();
    Ok(dependencies)
}

/// Names of the distributions that `distribution` requires unconditionally.
fn requirements(distribution: &Distribution) -> Vec<String> {
    let Ok(text) = fs::read_to_string(distribution.metadata.join("METADATA")) else {
        return Vec::new();
    };
    let header = text.lines().take_while(|line| !line.is_empty());
    header
        .filter_map(|line| line.strip_prefix("Requires-Dist:"))
        .filter(|requirement| !requirement.contains("extra =="))
        .map(|requirement| {
            let name = requirement
                .trim()
                .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
            normalise(name.into_iter().next().unwrap_or_default())
        })
        .collect()
}
