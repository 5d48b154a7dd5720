//! Linking of SDKs that are source folders in the project.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use plumb_plugin::language::LinkRequest;

use super::executor::Executor;
use super::pom::{self, Library};
use crate::LanguageOptions;
use crate::compiled::CompiledError;

/// Dependencies of generated SDKs, besides the core SDK.
const LIBRARIES: [Library; 2] = [
    ("com.google.code.findbugs", "jsr305", "3.0.2"),
    ("com.google.code.gson", "gson", "2.10"),
];

/// Adds SDKs to the build of a Maven program; for other tools, returns instructions instead. Also returns
/// instructions for their use.
pub(super) fn link(
    options: &LanguageOptions,
    request: &LinkRequest,
) -> Result<String, CompiledError> {
    let executor = Executor::find(&request.info, options)?;
    let root = &request.info.root_directory;
    let folders: Vec<_> = request
        .packages
        .iter()
        .map(|dependency| root.join(&dependency.path))
        .collect();
    let mut said = String::new();
    if let Some(file) = executor.pom() {
        let directory = file.parent().unwrap_or(root);
        let named = folders.iter().map(|folder| below(folder, directory));
        edit(&file, &named.collect::<Vec<_>>())?;
    } else {
        said.push_str("Add these folders of sources to the build of your program:\n\n");
        for folder in &folders {
            let folder = folder.display();
            // Writing to a string cannot fail.
            let _ = writeln!(
                said,
                "  {folder}/src/main/java\n  {folder}/src/main/resources"
            );
        }
        said.push_str("\nThey are compiled with these libraries:\n\n");
        for (group, artifact, version) in LIBRARIES {
            let _ = writeln!(said, "  {group}:{artifact}:{version}");
        }
        said.push('\n');
    }
    said.push_str("You can import the SDK in your Java code with:\n\n");
    for folder in &folders {
        for package in packages(&folder.join("src/main/java")) {
            let _ = writeln!(said, "  import {package}.*;");
        }
    }
    Ok(said)
}

fn edit(file: &Path, folders: &[String]) -> Result<(), CompiledError> {
    let text = fs::read_to_string(file).map_err(CompiledError::file("read", file))?;
    let with_libraries = LIBRARIES.iter().try_fold(text.clone(), |text, library| {
        pom::with_library(&text, *library)
    });
    let edited = with_libraries.and_then(|text| pom::with_folders(&text, folders));
    let edited = edited.ok_or_else(|| CompiledError::NoSources {
        wanted: "a <project> that can be read in pom.xml",
        directory: file.parent().unwrap_or(file).to_owned(),
    })?;
    if edited == text {
        return Ok(());
    }
    fs::write(file, edited).map_err(CompiledError::file("write", file))
}

/// Path of a folder in the build file in `directory`.
fn below(folder: &Path, directory: &Path) -> String {
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (folder, directory) = (resolved(folder), resolved(directory));
    match folder.strip_prefix(&directory) {
        Ok(inner) => {
            let steps: Vec<_> = inner.iter().map(|step| step.to_string_lossy()).collect();
            format!("${{project.basedir}}/{}", steps.join("/"))
        }
        Err(_) => folder.to_string_lossy().into_owned(),
    }
}

/// Topmost packages that contain classes.
fn packages(sources: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(sources) else {
        return Vec::new();
    };
    let (mut folders, mut has_classes) = (Vec::new(), false);
    for entry in entries.flatten() {
        let path = entry.path();
        has_classes |= path.extension() == Some("java".as_ref());
        folders.extend(path.is_dir().then_some(path));
    }
    if has_classes {
        return vec![String::new()];
    }
    folders.sort();
    let below = folders.iter().flat_map(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = name.into_owned();
        packages(folder)
            .into_iter()
            .map(move |inner| match inner.as_str() {
                "" => name.clone(),
                inner => format!("{name}.{inner}"),
            })
    });
    below.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_those_at_the_top() {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "com/acme/lab/Thing.java",
            "com/acme/lab/inputs/A.java",
            "org/x/B.java",
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(packages(root.path()), ["com.acme.lab", "org.x"]);
    }

    #[test]
    fn folders_are_named_from_the_build_file() {
        let root = tempfile::tempdir().unwrap();
        let sdk = root.path().join("sdks/a");
        fs::create_dir_all(&sdk).unwrap();
        assert_eq!(below(&sdk, root.path()), "${project.basedir}/sdks/a");
        let elsewhere = root.path().join("program");
        fs::create_dir_all(&elsewhere).unwrap();
        assert!(Path::new(&below(&sdk, &elsewhere)).is_absolute());
    }
}
