//! Linking of local libraries.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::language::{LinkDependency, LinkRequest};

use super::builds;
use super::error::NodeError;
use super::manager::choose;
use super::settings::{Engine, Settings};
use crate::LanguageOptions;
use crate::tool::{Tool, find_executable};

/// Adds libraries to the program's manifest; returns instructions for their use. Does not install them.
pub(super) async fn link(
    engine: Engine,
    options: &LanguageOptions,
    request: &LinkRequest,
) -> Result<String, NodeError> {
    let directory = manifest_directory(&request.info.program_directory);
    // Without a package manager, nothing is installed that has to be permitted.
    let settings = Settings::of(engine, &request.info)?;
    let choice = choose(&settings, &options.environment, &directory).ok();
    let mut hints = Vec::new();
    for dependency in &request.packages {
        let folder = request.info.root_directory.join(&dependency.path);
        let name = name_of(&folder, dependency);
        let path = relative(&folder, &directory);
        set_dependency(engine, options, &directory, &name, &path).await?;
        if let Some(choice) = &choice {
            builds::permit(choice, options, &directory, (&name, &path)).await?;
        }
        hints.push(hint(
            &name,
            &dependency.package.name,
            settings.typescript || is_typescript(&directory),
        ));
    }
    Ok(hints.join("\n"))
}

async fn set_dependency(
    engine: Engine,
    options: &LanguageOptions,
    directory: &Path,
    name: &str,
    path: &str,
) -> Result<(), NodeError> {
    let (command, before) = match engine {
        Engine::Node => ("npm", &[][..]),
        Engine::Bun => ("bun", &["pm"][..]),
    };
    let program = find_executable(command, &options.environment, directory)
        .ok_or(NodeError::NoLinkTool { command })?;
    let assignment = format!("dependencies[{name}]=file:{path}");
    let words = before.iter().copied().chain(["pkg", "set", &assignment]);
    let tool = Tool {
        program,
        args: words.map(Into::into).collect(),
        environment: options.environment.clone(),
        working_directory: directory.to_owned(),
    };
    tool.capture().await?;
    Ok(())
}

/// Nearest folder with a manifest.
fn manifest_directory(program: &Path) -> PathBuf {
    let mut folders = program.ancestors();
    let found = folders.find(|folder| folder.join("package.json").is_file());
    found.unwrap_or(program).to_owned()
}

/// Package name of the library.
fn name_of(folder: &Path, dependency: &LinkDependency) -> String {
    let text = fs::read_to_string(folder.join("package.json")).unwrap_or_default();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    match manifest["name"].as_str() {
        Some(name) => name.to_owned(),
        None => format!("@pulumi/{}", dependency.package.name),
    }
}

/// Path of `folder` relative to the manifest, with forward slashes.
fn relative(folder: &Path, directory: &Path) -> String {
    let path = folder.strip_prefix(directory).unwrap_or(folder);
    path.to_string_lossy().replace('\\', "/")
}

/// Whether a folder has files of a TypeScript program, which some compile themselves and turn the option `typescript` off.
fn is_typescript(directory: &Path) -> bool {
    directory.join("tsconfig.json").is_file() || directory.join("index.ts").is_file()
}

fn hint(module: &str, package: &str, is_typescript: bool) -> String {
    let name = identifier(package);
    if is_typescript {
        format!(
            "You can import the SDK in your TypeScript code with:\n\n  import * as {name} from \"{module}\";"
        )
    } else {
        format!(
            "You can import the SDK in your JavaScript code with:\n\n  const {name} = require(\"{module}\");"
        )
    }
}

/// Variable name for a package: `azureNative` for `azure-native`.
fn identifier(package: &str) -> String {
    let mut words = package.split(['-', '_']);
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let mut letters = word.chars();
        let head = letters.next().map(|it| it.to_uppercase().to_string());
        name + &head.unwrap_or_default() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_say_how_to_import() {
        assert!(
            hint("@pulumi/azure-native", "azure-native", true)
                .ends_with("import * as azureNative from \"@pulumi/azure-native\";")
        );
        assert!(hint("@x/y", "y", false).ends_with("const y = require(\"@x/y\");"));
    }

    #[test]
    fn paths_start_at_the_manifest() {
        assert_eq!(relative(Path::new("/p/sdks/a"), Path::new("/p")), "sdks/a");
        assert_eq!(relative(Path::new("/q/a"), Path::new("/p")), "/q/a");
    }
}
