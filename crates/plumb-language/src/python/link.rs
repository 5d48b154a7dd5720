//! Local libraries: packing and linking (`languages.md` 4.5).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::OutputLevel;
use plumb_plugin::language::{LinkDependency, LinkRequest, PackRequest};

use super::PythonError;
use super::site::normalise;
use super::toolchain::{Settings, Toolchain, system_interpreter};
use crate::LanguageOptions;
use crate::files::find_upwards;
use crate::tool::{Tool, find_executable};

const REQUIREMENTS: &str = "requirements.txt";
/// First version of uv that needs a flag for libraries outside of the program's workspace.
const UV_WITH_WORKSPACES: semver::Version = semver::Version::new(0, 8, 0);

/// Builds the library in a folder into a wheel.
pub(super) async fn pack(
    options: &LanguageOptions,
    request: &PackRequest,
) -> Result<PathBuf, PythonError> {
    let source = &request.package_directory;
    let scratch = tempfile::tempdir().map_err(PythonError::file("make a folder for", source))?;
    let environment = scratch.path().join("venv");
    let built = scratch.path().join("dist");
    let python = builder(options, source, &environment).await?;
    let out = built.to_string_lossy();
    let build = Tool {
        args: ["-m", "build", "--wheel", "--outdir", &out, "."]
            .iter()
            .map(Into::into)
            .collect(),
        ..python
    };
    build.run(&options.output, OutputLevel::Debug).await?;
    let wheel = fs::read_dir(&built)
        .map_err(PythonError::file("read", &built))?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension() == Some("whl".as_ref()))
        .ok_or_else(|| PythonError::NoWheel {
            directory: source.clone(),
        })?;
    let target = request
        .destination_directory
        .join(wheel.file_name().unwrap_or_default());
    fs::create_dir_all(&request.destination_directory)
        .and_then(|()| fs::copy(&wheel, &target))
        .map_err(PythonError::file("write", &target))?;
    Ok(target)
}

/// Interpreter in a new environment with the `build` package; without arguments.
async fn builder(
    options: &LanguageOptions,
    source: &Path,
    environment: &Path,
) -> Result<Tool, PythonError> {
    let shown = environment.to_string_lossy();
    let system = system_interpreter(&options.environment, source)?;
    system
        .tool(&["-m", "venv", &shown], source)
        .run(&options.output, OutputLevel::Debug)
        .await?;
    let program = environment.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let python = Tool {
        program,
        args: Vec::new(),
        environment: options.environment.clone(),
        working_directory: source.to_owned(),
    };
    let install = Tool {
        args: ["-m", "pip", "install", "--quiet", "build"]
            .iter()
            .map(Into::into)
            .collect(),
        ..python.clone()
    };
    install.run(&options.output, OutputLevel::Debug).await?;
    Ok(python)
}

/// Adds libraries to the program's requirements; returns the imports to use.
pub(super) async fn link(
    options: &LanguageOptions,
    request: &LinkRequest,
) -> Result<String, PythonError> {
    let settings = Settings::of(&request.info)?;
    let directory = &settings.program_directory;
    let paths: Vec<String> = request
        .packages
        .iter()
        .map(|dependency| path_of(dependency, &settings))
        .collect();
    let root = &request.info.root_directory;
    let packages = request.packages.iter();
    let modules: Vec<String> = packages.map(|it| module_of(it, root)).collect();
    let has_project = find_upwards(directory, "pyproject.toml").is_some();
    let toolchain = if !has_project && directory.join(REQUIREMENTS).is_file() {
        Toolchain::Pip
    } else {
        settings.toolchain
    };
    let environment = &options.environment;
    let arguments = |first: &[&'static str]| -> Vec<String> {
        let first = first.iter().map(|word| (*word).to_owned());
        first.chain(paths.iter().cloned()).collect()
    };
    let add = match toolchain {
        Toolchain::Pip => {
            require(&directory.join(REQUIREMENTS), &modules, &paths)?;
            None
        }
        Toolchain::Poetry => Some(("poetry", arguments(&["add", "--lock"]))),
        Toolchain::Uv if knows_workspaces(options, directory).await => {
            Some(("uv", arguments(&["add", "--no-sync", "--no-workspace"])))
        }
        Toolchain::Uv => Some(("uv", arguments(&["add", "--no-sync"]))),
    };
    if let Some((tool, words)) = add {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let tool = settings.external(tool, &words, environment)?;
        tool.run(&options.output, OutputLevel::Debug).await?;
    }
    Ok(instructions(&request.packages, &modules))
}

/// Path of the library relative to the program's folder, if it is in the project.
fn path_of(dependency: &LinkDependency, settings: &Settings) -> String {
    let path = settings.root.join(&dependency.path);
    path.strip_prefix(&settings.program_directory)
        .map_or_else(|_| path.clone(), Path::to_owned)
        .to_string_lossy()
        .into_owned()
}

async fn knows_workspaces(options: &LanguageOptions, directory: &Path) -> bool {
    let Some(program) = find_executable("uv", &options.environment, directory) else {
        return false;
    };
    let tool = Tool {
        program,
        args: vec!["--version".into()],
        environment: options.environment.clone(),
        working_directory: directory.to_owned(),
    };
    let text = tool.capture().await.unwrap_or_default();
    let version = text.split_whitespace().nth(1).unwrap_or_default();
    semver::Version::parse(version).is_ok_and(|version| version >= UV_WITH_WORKSPACES)
}

/// Appends paths to a list of requirements, and removes existing entries for the same packages.
fn require(file: &Path, modules: &[String], paths: &[String]) -> Result<(), PythonError> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(PythonError::file("read", file)(error)),
    };
    fs::write(file, with_requirements(&text, modules, paths))
        .map_err(PythonError::file("write", file))
}

fn with_requirements(text: &str, modules: &[String], paths: &[String]) -> String {
    let names: Vec<String> = modules.iter().map(|module| normalise(module)).collect();
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| {
            let line = line.trim();
            let name = line.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
            let name = normalise(name.into_iter().next().unwrap_or_default());
            !names.contains(&name) && !paths.iter().any(|path| path == line)
        })
        .collect();
    let mut paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    paths.sort_unstable();
    lines.extend(paths);
    lines.iter().fold(String::new(), |mut text, line| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{line}{end}");
        text
    })
}

/// Module of a library, after which its distribution is named.
///
/// Its name depends on the package's namespace and on settings in its schema, so it is read from the library.
fn module_of(dependency: &LinkDependency, root: &Path) -> String {
    let entries = fs::read_dir(root.join(&dependency.path))
        .into_iter()
        .flatten();
    let mut modules: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("__init__.py").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    match (modules.pop(), dependency.package.name.as_str()) {
        (Some(module), _) if modules.is_empty() => module,
        (_, "pulumi") => "pulumi".to_owned(),
        (_, name) => format!("pulumi_{}", name.replace('-', "_")),
    }
}

fn instructions(packages: &[LinkDependency], modules: &[String]) -> String {
    let plural = if packages.len() > 1 { "s" } else { "" };
    let mut text = format!("You can import the SDK{plural} in your Python code with:\n\n");
    for (dependency, module) in packages.iter().zip(modules) {
        let name = dependency.package.name.replace('-', "_");
        // Writing to a string cannot fail.
        let _ = if *module == name {
            writeln!(text, "  import {module}")
        } else {
            writeln!(text, "  import {module} as {name}")
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use plumb_plugin::PluginKind;
    use plumb_plugin::language::PackageDependency;

    use super::*;

    fn dependency() -> LinkDependency {
        LinkDependency {
            package: PackageDependency {
                name: "my-cloud".to_owned(),
                kind: PluginKind::Resource,
                version: None,
                server: None,
                checksums: std::collections::BTreeMap::new(),
                parameterization: None,
                extension: None,
            },
            path: "sdks/my-cloud".into(),
        }
    }

    fn check(text: &str, expected: &str) {
        let modules = [module_of(&dependency(), Path::new("/nowhere"))];
        let paths = ["sdks/my-cloud".to_owned()];
        assert_eq!(with_requirements(text, &modules, &paths), expected);
    }

    #[test]
    fn the_module_of_a_library_is_read_from_it() {
        let root = tempfile::tempdir().unwrap();
        let module = root.path().join("sdks/my-cloud/acme_my_cloud");
        fs::create_dir_all(&module).unwrap();
        fs::write(module.join("__init__.py"), "").unwrap();
        fs::create_dir_all(root.path().join("sdks/my-cloud/acme.egg-info")).unwrap();
        let modules = [module_of(&dependency(), root.path())];
        assert_eq!(
            instructions(&[dependency()], &modules),
            "You can import the SDK in your Python code with:\n\n  import acme_my_cloud as my_cloud\n"
        );
    }

    #[test]
    fn linked_libraries_take_the_place_of_others() {
        check("", "sdks/my-cloud\n");
        check("pulumi>=3\n", "pulumi>=3\nsdks/my-cloud\n");
        check(
            "pulumi>=3\r\nPulumi_My.Cloud==1.0\r\nsdks/my-cloud\r\npulumi-my-cloud-extra\r\n",
            "pulumi>=3\r\npulumi-my-cloud-extra\r\nsdks/my-cloud\r\n",
        );
        check("# pulumi-my-cloud", "# pulumi-my-cloud\nsdks/my-cloud\n");
    }
}
