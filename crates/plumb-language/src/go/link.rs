//! Local libraries: packing and linking.

use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use plumb_plugin::language::{LinkRequest, PackRequest};

use super::module::{ModuleFile, module_file};
use super::settings::go;
use crate::LanguageOptions;
use crate::compiled::{CompiledError, copy_sources};

/// Folders of a module that its users do not need.
const LEFT_OUT: [&str; 2] = [".git", "node_modules"];

/// Copies a module to a folder named after the module's path.
pub(super) async fn pack(
    options: &LanguageOptions,
    request: &PackRequest,
) -> Result<PathBuf, CompiledError> {
    let source = request.package_directory.clone();
    let file = module_file(&source, &options.environment).await?;
    let module = ModuleFile::read(&file, &options.environment).await?;
    let name = module.module.path.replace('/', "_");
    let target = request.destination_directory.join(name);
    copy_sources(&source, &target, &LEFT_OUT).await?;
    Ok(target)
}

/// Replaces modules by local folders in the program's `go.mod`; returns the imports to use.
pub(super) async fn link(
    options: &LanguageOptions,
    request: &LinkRequest,
) -> Result<String, CompiledError> {
    let environment = &options.environment;
    let directory = &request.info.program_directory;
    let file = module_file(directory, environment).await?;
    let module_directory = file.parent().unwrap_or(directory);
    let mut imports = Vec::new();
    for dependency in &request.packages {
        let folder = request.info.root_directory.join(&dependency.path);
        let library = ModuleFile::read(&folder.join("go.mod"), environment).await?;
        let name = library.module.path;
        let path = relative(&folder, module_directory);
        let replacement = format!("-replace={name}={}", path.display());
        let edit = go(
            &["mod", "edit", &replacement],
            environment,
            module_directory,
        )?;
        edit.capture().await?;
        imports.extend(import_paths(&folder, &name));
    }
    Ok(instructions(&imports, request.packages.len()))
}

/// Path relative to `base`, in the form in which Go accepts a folder.
fn relative(path: &Path, base: &Path) -> PathBuf {
    let (path, base) = (resolved(path), resolved(base));
    let shared = path
        .components()
        .zip(base.components())
        .take_while(|(left, right)| left == right)
        .count();
    let up = base.components().skip(shared).map(|_| Component::ParentDir);
    let down = path.components().skip(shared);
    let relative: PathBuf = up.chain(down).collect();
    if relative.starts_with("..") {
        relative
    } else {
        Path::new(".").join(relative)
    }
}

fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Importable packages of a module: the one in its root folder, or else those one folder below.
fn import_paths(directory: &Path, module: &str) -> Vec<String> {
    if has_sources(directory) {
        return vec![module.to_owned()];
    }
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.file_name() != "internal" && has_sources(&entry.path()))
        .map(|entry| format!("{module}/{}", entry.file_name().to_string_lossy()))
        .collect();
    paths.sort();
    paths
}

/// Whether a folder contains Go sources.
pub(super) fn has_sources(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| Path::new(&entry.file_name()).extension() == Some("go".as_ref()))
    })
}

fn instructions(imports: &[String], packages: usize) -> String {
    let plural = if packages > 1 { "s" } else { "" };
    let mut text = format!("You can import the SDK{plural} in your Go code with:\n\n  import (\n");
    for import in imports {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {import:?}");
    }
    text.push_str("  )\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_seen_from_the_module() {
        let check = |path: &str, expected: &str| {
            let seen = relative(Path::new(path), Path::new("/none/project/go"));
            assert_eq!(seen, Path::new(expected));
        };
        check("/none/project/go/sdks/a", "./sdks/a");
        check("/none/project/sdks/a", "../sdks/a");
        check("/none/other", "../../other");
    }
}
