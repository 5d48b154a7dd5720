//! Libraries of this machine: making them and depending on them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use plumb_plugin::language::{LinkRequest, PackRequest};

use super::{cargo, cargo_in};
use crate::LanguageOptions;
use crate::compiled::{CompiledError, copy_sources};

/// Entries of a crate that are not packed.
const LEFT_OUT: [&str; 3] = ["target", ".git", "Cargo.lock"];

/// Copies the sources of a crate; those of all its workspace if it is a member of one, which it may depend on.
pub(super) async fn pack(
    options: &LanguageOptions,
    request: &PackRequest,
) -> Result<PathBuf, CompiledError> {
    let source = request.package_directory.clone();
    if !source.join("Cargo.toml").is_file() {
        return Err(CompiledError::NoSources {
            wanted: "a Cargo.toml",
            directory: source,
        });
    }
    // Cargo tells the path without symbolic links.
    let source = source
        .canonicalize()
        .map_err(CompiledError::file("find", &source))?;
    let root = workspace_of(options, &source).await?;
    let name = root.file_name().unwrap_or_default();
    let target = request.destination_directory.join(name);
    copy_sources(&root, &target, &LEFT_OUT).await?;
    let member = source.strip_prefix(&root).unwrap_or(&source);
    Ok(target.join(member))
}

/// Folder of the workspace that a crate is a member of; the folder of the crate if it is in none.
async fn workspace_of(
    options: &LanguageOptions,
    crate_folder: &Path,
) -> Result<PathBuf, CompiledError> {
    let args = ["locate-project", "--workspace", "--message-format", "plain"];
    let located = cargo_in(&args, options, crate_folder)?.capture().await;
    // Cargo refuses a crate below a workspace that does not list it.
    let root = located
        .ok()
        .and_then(|it| Some(Path::new(it.trim()).parent()?.to_owned()));
    Ok(root.unwrap_or_else(|| crate_folder.to_owned()))
}

/// Adds crates to the manifest of the program, which Cargo edits with all that stands in it kept.
pub(super) async fn link(
    options: &LanguageOptions,
    request: &LinkRequest,
) -> Result<String, CompiledError> {
    let info = &request.info;
    let mut text = String::from("You can import the SDK in your Rust code with:\n\n");
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
