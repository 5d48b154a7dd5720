//! `pyproject.toml`, which poetry and uv require of a program.
//!
//! A program that has none gets one from its `requirements.txt`, which is removed then. Both files may lie in a folder above the
//! program's.

use std::fs;
use std::path::Path;

use super::PythonError;
use super::toolchain::{Settings, Toolchain};
use crate::files::find_upwards;

/// Name of the file.
pub(super) const FILE: &str = "pyproject.toml";
const REQUIREMENTS: &str = "requirements.txt";

/// Makes the project file of a program, if it has none that its tool chain can use. `project` is its name; that of the folder
/// serves without one.
pub(super) fn prepare(settings: &Settings, project: Option<&str>) -> Result<(), PythonError> {
    let directory = &settings.program_directory;
    if let Some(folder) = find_upwards(directory, FILE) {
        return match settings.toolchain {
            Toolchain::Uv => complete(&folder, project),
            Toolchain::Pip | Toolchain::Poetry => Ok(()),
        };
    }
    match find_upwards(directory, REQUIREMENTS) {
        Some(folder) => {
            let packages = requirements(&folder)?;
            let text = section(project, &folder, &packages) + no_package(settings.toolchain);
            write(&folder.join(FILE), &text)?;
            remove_requirements(&folder)
        }
        // poetry says itself what it needs.
        None if settings.toolchain == Toolchain::Uv => {
            let text = section(project, directory, &[]) + no_package(Toolchain::Uv);
            write(&directory.join(FILE), &text)
        }
        None => Ok(()),
    }
}

/// Adds the section `project` to a file that has only sections of tools, if there are requirements next to it.
fn complete(folder: &Path, project: Option<&str>) -> Result<(), PythonError> {
    let path = folder.join(FILE);
    let present = fs::read_to_string(&path).map_err(PythonError::file("read", &path))?;
    if has_table(&present, "[project]") || find_upwards(folder, "uv.lock").is_some() {
        return Ok(());
    }
    if !folder.join(REQUIREMENTS).is_file() {
        return Err(PythonError::NoProjectSection { path });
    }
    let packages = requirements(folder)?;
    let text = format!(
        "{}\n\n{}",
        present.trim_end(),
        section(project, folder, &packages)
    );
    write(&path, &text)?;
    remove_requirements(folder)
}

/// Whether the text of a project file has a table.
pub(super) fn has_table(text: &str, table: &str) -> bool {
    text.lines().any(|line| line.trim() == table)
}

/// Requirements of a program, as they are written.
fn requirements(folder: &Path) -> Result<Vec<String>, PythonError> {
    let path = folder.join(REQUIREMENTS);
    let listed = fs::read_to_string(&path).map_err(PythonError::file("read", &path))?;
    let lines = listed.lines().map(str::trim);
    let packages: Vec<String> = lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    match packages
        .iter()
        .find(|line| line.starts_with(['-', '.', '/']))
    {
        Some(line) => Err(PythonError::Requirement {
            line: line.clone(),
            path,
        }),
        None => Ok(packages),
    }
}

/// The section `project` of a project file that lists `packages`.
fn section(project: Option<&str>, folder: &Path, packages: &[String]) -> String {
    let folder = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = package_name(project.unwrap_or(&folder));
    let listed: Vec<String> = packages
        .iter()
        .map(|package| format!("    {package:?},\n"))
        .collect();
    let listed = listed.concat();
    format!(
        "[project]\nname = {name:?}\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\n{listed}]\n"
    )
}

/// Name for a package: folders can have names that packages cannot have.
fn package_name(text: &str) -> String {
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    let name = text.replace(|char| !is_allowed(char), "-");
    let name =
        super::site::normalise(name.trim_matches(|char: char| !char.is_ascii_alphanumeric()));
    if name.is_empty() {
        "program".to_owned()
    } else {
        name
    }
}

/// Section that says that a program is no package.
fn no_package(toolchain: Toolchain) -> &'static str {
    match toolchain {
        Toolchain::Poetry => "\n[tool.poetry]\npackage-mode = false\n",
        Toolchain::Uv => "\n[tool.uv]\npackage = false\n",
        Toolchain::Pip => "",
    }
}

fn write(path: &Path, text: &str) -> Result<(), PythonError> {
    fs::write(path, text).map_err(PythonError::file("write", path))
}

fn remove_requirements(folder: &Path) -> Result<(), PythonError> {
    let path = folder.join(REQUIREMENTS);
    fs::remove_file(&path).map_err(PythonError::file("remove", &path))
}

#[cfg(test)]
mod tests {
    use plumb_plugin::language::ProgramInfo;
    use serde_json::json;

    use super::*;

    fn settings(root: &Path, program: &str, toolchain: &str) -> Settings {
        let program_directory = root.join(program);
        fs::create_dir_all(&program_directory).unwrap();
        let options = [("toolchain".to_owned(), json!(toolchain))];
        Settings::of(&ProgramInfo {
            root_directory: program_directory.clone(),
            program_directory,
            entry_point: ".".to_owned(),
            options: options.into_iter().collect(),
        })
        .unwrap()
    }

    fn file(root: &Path, name: &str) -> Option<String> {
        fs::read_to_string(root.join(name)).ok()
    }

    #[test]
    fn requirements_above_the_program_are_converted_where_they_are() {
        for toolchain in ["uv", "poetry"] {
            let root = tempfile::tempdir().unwrap();
            let root = root.path();
            let settings = settings(root, "program", toolchain);
            fs::write(root.join(REQUIREMENTS), "pulumi>=3\n\n# why\n").unwrap();
            prepare(&settings, Some("My App")).unwrap();
            let text = file(root, FILE).unwrap();
            assert!(text.starts_with("[project]\nname = \"my-app\"\n"), "{text}");
            assert!(text.contains("dependencies = [\n    \"pulumi>=3\",\n]\n"));
            assert_eq!(file(root, REQUIREMENTS), None);
            assert_eq!(file(root, "program/pyproject.toml"), None);
        }
    }

    #[test]
    fn a_program_without_any_file_gets_one_for_uv() {
        let root = tempfile::tempdir().unwrap();
        prepare(&settings(root.path(), "u", "uv"), None).unwrap();
        prepare(&settings(root.path(), "p", "poetry"), None).unwrap();
        let text = file(root.path(), "u/pyproject.toml").unwrap();
        assert!(text.contains("name = \"u\"") && text.contains("dependencies = [\n]\n"));
        assert_eq!(file(root.path(), "p/pyproject.toml"), None);
    }

    #[test]
    fn a_file_of_tools_is_completed_for_uv() {
        let root = tempfile::tempdir().unwrap();
        let settings = settings(root.path(), "", "uv");
        fs::write(root.path().join(FILE), "[tool.black]\nline-length = 100\n").unwrap();
        let refused = prepare(&settings, None).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("is missing a [project] section")
        );
        fs::write(root.path().join(REQUIREMENTS), "pulumi\n").unwrap();
        prepare(&settings, Some("app")).unwrap();
        let text = file(root.path(), FILE).unwrap();
        assert!(text.starts_with("[tool.black]\nline-length = 100\n\n[project]\nname = \"app\"\n"));
        assert_eq!(file(root.path(), REQUIREMENTS), None);
        prepare(&settings, Some("app")).unwrap();
        assert_eq!(file(root.path(), FILE).unwrap(), text);
    }
}
