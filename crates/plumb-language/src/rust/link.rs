//! Libraries of this machine: making them and depending on them.

use std::fmt::Write as _;
use std::path::PathBuf;

use plumb_plugin::language::{LinkRequest, PackRequest};

use super::cargo;
use crate::LanguageOptions;
use crate::compiled::{CompiledError, copy_sources};

/// Entries of a crate that are not packed.
const LEFT_OUT: [&str; 3] = ["target", ".git", "Cargo.lock"];

/// Copies the sources of a crate.
pub(super) async fn pack(request: &PackRequest) -> Result<PathBuf, CompiledError> {
    let source = request.package_directory.clone();
    if !source.join("Cargo.toml").is_file() {
        return Err(CompiledError::NoSources {
            wanted: "a Cargo.toml",
            directory: source,
        });
    }
    let name = source.file_name().unwrap_or_default();
    let target = request.destination_directory.join(name);
    copy_sources(&source, &target, &LEFT_OUT).await?;
    Ok(target)
}

/// Adds crates to the manifest of the program, which Cargo edits with all that stands in it kept.
pub(super) async fn link(
    options: &LanguageOptions,
    request: &LinkRequest,
) -> Result<String, CompiledError> {
    let info = &request.info;
    let mut text = String::from("You can use it in your program with\n\n");
    for dependency in &request.packages {
        let mut add = cargo(&["add", "--quiet", "--path"], options, info)?;
        add.args
            .push(info.root_directory.join(&dependency.path).into());
        add.capture().await?;
        let name = dependency.package.name.replace('-', "_");
        let module = match name.as_str() {
            "pulumi" => name,
            name => format!("pulumi_{name}"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  use {module};");
    }
    Ok(text)
}
