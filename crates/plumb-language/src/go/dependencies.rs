//! Information about a program for `about`.

use plumb_plugin::language::{AboutLanguage, ProgramDependency, ProgramInfo};

use super::module::{ModuleFile, module_file};
use super::settings::go;
use crate::LanguageOptions;
use crate::compiled::CompiledError;

/// Path and version of the Go tool.
pub(super) async fn about(
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<AboutLanguage, CompiledError> {
    let tool = go(&["version"], &options.environment, &info.program_directory)?;
    Ok(AboutLanguage {
        version: tool.capture().await?.trim().to_owned(),
        executable: tool.program.to_string_lossy().into_owned(),
        ..AboutLanguage::default()
    })
}

/// Modules that the program needs: direct dependencies, or all.
pub(super) async fn list(
    options: &LanguageOptions,
    info: &ProgramInfo,
    transitive: bool,
) -> Result<Vec<ProgramDependency>, CompiledError> {
    let environment = &options.environment;
    let path = module_file(&info.program_directory, environment).await?;
    let file = ModuleFile::read(&path, environment).await?;
    let needed = file.requirements().iter();
    Ok(needed
        .filter(|requirement| transitive || !requirement.indirect)
        .map(|requirement| ProgramDependency {
            name: requirement.path.clone(),
            // The version of a module that is replaced by a folder is meaningless.
            version: if file.is_local(requirement) {
                String::new()
            } else {
                requirement.version.clone()
            },
        })
        .collect())
}
