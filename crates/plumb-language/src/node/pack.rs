//! Packing of local libraries into archives that can be installed (`languages.md` 3.5).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::OutputLevel;
use plumb_plugin::language::PackRequest;
use serde_json::Value;

use super::error::NodeError;
use super::manager::PackageManager;
use crate::LanguageOptions;
use crate::tool::{Tool, find_executable};

/// Installs the library's dependencies, builds it if its manifest has a build script, and packs the
/// result.
pub(super) async fn pack(
    options: &LanguageOptions,
    request: &PackRequest,
) -> Result<PathBuf, NodeError> {
    let directory = &request.package_directory;
    let manager = PackageManager::Npm;
    let program = find_executable(manager.command(), &options.environment, directory)
        .ok_or(NodeError::NoManager { manager })?;
    let npm = |args: &[OsString]| Tool {
        program: program.clone(),
        args: args.to_vec(),
        environment: options.environment.clone(),
        working_directory: directory.clone(),
    };
    let words = |words: &[&str]| -> Vec<OsString> { words.iter().map(Into::into).collect() };
    let install = npm(&words(&["install", "--no-audit", "--no-fund"]));
    install.run(&options.output, OutputLevel::Debug).await?;
    let mut packed = directory.clone();
    if builds(&directory.join("package.json")) {
        let build = npm(&words(&["run", "build"]));
        build.run(&options.output, OutputLevel::Debug).await?;
        packed = directory.join("bin");
        copy_manifest(directory, &packed)?;
    }
    let target = &request.destination_directory;
    fs::create_dir_all(target).map_err(write_error(target))?;
    let mut args = words(&["pack", "--json"]);
    args.extend([
        packed.into_os_string(),
        "--pack-destination".into(),
        target.into(),
    ]);
    let said = npm(&args).capture().await?;
    Ok(target.join(file_name(&said)))
}

/// Whether the manifest has a build script.
fn builds(manifest: &Path) -> bool {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    manifest["scripts"]["build"].is_string()
}

/// Copies the manifest into the build folder, so that the folder is a package.
fn copy_manifest(directory: &Path, built: &Path) -> Result<(), NodeError> {
    let target = built.join("package.json");
    fs::create_dir_all(built)
        .and_then(|()| fs::copy(directory.join("package.json"), &target))
        .map_err(write_error(&target))?;
    Ok(())
}

fn write_error(path: &Path) -> impl FnOnce(std::io::Error) -> NodeError {
    let path = path.to_owned();
    move |source| NodeError::Write { path, source }
}

/// Archive name in the output of `npm pack --json`. Old versions of npm print the package name of scoped
/// packages instead of the file name.
fn file_name(said: &str) -> String {
    let start = said.find('[').unwrap_or(0);
    let packed: Value = serde_json::from_str(&said[start..]).unwrap_or_default();
    let name = packed[0]["filename"].as_str().unwrap_or_default();
    name.trim_start_matches('@').replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_is_found_in_what_npm_says() {
        let said = "\n> build\n[{\"filename\": \"pulumi-lab-1.0.0.tgz\"}]";
        assert_eq!(file_name(said), "pulumi-lab-1.0.0.tgz");
        let old = "[{\"filename\": \"@pulumi/lab-1.0.0.tgz\"}]";
        assert_eq!(file_name(old), "pulumi-lab-1.0.0.tgz");
    }
}
