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
/// Key of a range of versions in poetry's dependencies.
const VERSION: &str = "version";

/// Makes the project file of a program, unless it has one that its tool chain can use. The file has the name `project`, or without
/// one the name of its folder.
pub(super) fn prepare(settings: &Settings, project: Option<&str>) -> Result<(), PythonError> {
    let directory = &settings.program_directory;
    if let Some(folder) = find_upwards(directory, FILE) {
        return match settings.toolchain {
            Toolchain::Uv => complete(&folder, project),
            Toolchain::Pip | Toolchain::Poetry => Ok(()),
        };
    }
    let Some(folder) = find_upwards(directory, REQUIREMENTS) else {
        return write(
            &directory.join(FILE),
            &text(settings.toolchain, project, directory, &[]),
        );
    };
    let packages = requirements(&folder)?;
    let text = text(settings.toolchain, project, &folder, &packages);
    write(&folder.join(FILE), &text)?;
    remove_requirements(&folder)
}

/// Text of a new project file.
fn text(toolchain: Toolchain, project: Option<&str>, folder: &Path, packages: &[String]) -> String {
    match toolchain {
        Toolchain::Poetry => poetry_text(project, packages),
        Toolchain::Uv => section(project, folder, packages) + "\n[tool.uv]\npackage = false\n",
        Toolchain::Pip => section(project, folder, packages),
    }
}

/// Text of a project file for all versions of poetry: those before 2 do not read dependencies from the section `project`.
fn poetry_text(project: Option<&str>, packages: &[String]) -> String {
    let head = project.map(|name| format!("[project]\nname = {:?}\n\n", package_name(name)));
    let listed: String = packages
        .iter()
        .map(|package| Requirement::parse(package).poetry_line())
        .collect();
    head.unwrap_or_default()
        + &format!(
            "[build-system]\nrequires = [\"poetry-core\"]\nbuild-backend = \"poetry.core.masonry.api\"\n\n\
         [tool.poetry]\npackage-mode = false\n\n[tool.poetry.dependencies]\npython = \"^3.10\"\n{listed}"
        )
}

/// Parts of a requirement such as `name[extra] >= 1 ; marker`.
struct Requirement<'a> {
    name: &'a str,
    extras: Vec<&'a str>,
    /// Key and value that say for poetry where the package is found: a range of versions, or an address.
    origin: (&'static str, &'a str),
    markers: Option<&'a str>,
}

impl<'a> Requirement<'a> {
    fn parse(text: &'a str) -> Self {
        let is_of_name = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
        let end = text.find(|char| !is_of_name(char)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let rest = rest.trim();
        let (extras, rest) = match rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
            Some((extras, rest)) => (extras.split(',').map(str::trim).collect(), rest.trim()),
            None => (Vec::new(), rest),
        };
        let (range, markers) = match rest.split_once(';') {
            Some((range, markers)) => (range.trim(), Some(markers.trim())),
            None => (rest, None),
        };
        let range = range.trim_start_matches('(').trim_end_matches(')');
        Requirement {
            name,
            extras,
            origin: match range.strip_prefix('@') {
                Some(address) => ("url", address.trim()),
                None if range.is_empty() => (VERSION, "*"),
                None => (VERSION, range),
            },
            markers,
        }
    }

    /// Line for the dependencies of poetry.
    fn poetry_line(&self) -> String {
        let (kind, value) = self.origin;
        // A dot would make a table of a bare key.
        let key = if self.name.contains('.') {
            format!("{:?}", self.name)
        } else {
            self.name.to_owned()
        };
        if kind == VERSION && self.extras.is_empty() && self.markers.is_none() {
            return format!("{key} = {value:?}\n");
        }
        let mut parts = vec![format!("{kind} = {value:?}")];
        if !self.extras.is_empty() {
            parts.push(format!("extras = {:?}", self.extras));
        }
        if let Some(markers) = self.markers {
            parts.push(format!("markers = {markers:?}"));
        }
        format!("{key} = {{ {} }}\n", parts.join(", "))
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
        "[project]\nname = {name:?}\nversion = \"0.1.0\"\nrequires-python = \">=3.10\"\ndependencies = [\n{listed}]\n"
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
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let settings = settings(root, "program", "uv");
        fs::write(root.join(REQUIREMENTS), "pulumi>=3\n\n# why\n").unwrap();
        prepare(&settings, Some("My App")).unwrap();
        let text = file(root, FILE).unwrap();
        assert!(text.starts_with("[project]\nname = \"my-app\"\n"), "{text}");
        assert!(text.contains("dependencies = [\n    \"pulumi>=3\",\n]\n"));
        assert_eq!(file(root, REQUIREMENTS), None);
        assert_eq!(file(root, "program/pyproject.toml"), None);
    }

    #[test]
    fn poetry_gets_dependencies_in_its_own_form() {
        let root = tempfile::tempdir().unwrap();
        let settings = settings(root.path(), "", "poetry");
        let listed = [
            "pulumi>=3.0.0,<4.0.0",
            "a.b",
            "c [x, y] (== 1.2) ; python_version < '3.12'",
            "d @ https://example.com/d.whl",
        ];
        fs::write(root.path().join(REQUIREMENTS), listed.join("\n")).unwrap();
        prepare(&settings, Some("app")).unwrap();
        let text = file(root.path(), FILE).unwrap();
        assert!(text.starts_with("[project]\nname = \"app\"\n\n[build-system]\n"));
        let expected = "package-mode = false\n\n[tool.poetry.dependencies]\npython = \"^3.10\"\n\
                        pulumi = \">=3.0.0,<4.0.0\"\n\
                        \"a.b\" = \"*\"\n\
                        c = { version = \"== 1.2\", extras = [\"x\", \"y\"], markers = \"python_version < '3.12'\" }\n\
                        d = { url = \"https://example.com/d.whl\" }\n";
        assert!(text.ends_with(expected), "{text}");
        assert_eq!(file(root.path(), REQUIREMENTS), None);
    }

    #[test]
    fn a_program_without_any_file_gets_one() {
        let root = tempfile::tempdir().unwrap();
        prepare(&settings(root.path(), "u", "uv"), None).unwrap();
        prepare(&settings(root.path(), "p", "poetry"), None).unwrap();
        let text = file(root.path(), "u/pyproject.toml").unwrap();
        assert!(text.contains("name = \"u\"") && text.contains("dependencies = [\n]\n"));
        let text = file(root.path(), "p/pyproject.toml").unwrap();
        assert!(text.ends_with("[tool.poetry.dependencies]\npython = \"^3.10\"\n"));
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
