//! Languages to convert to, and the files of the converted project.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use plumb_operate::context::LoadedProject;
use plumb_operate::packages::SchemaText;
use plumb_operate::{Context, Error};
use plumb_pcl::{Problem, Program, Sources};
use plumb_programs::{ProgramLanguage, Project, language_of};
use plumb_project::project::file_text;
use plumb_schema::PackageSchema;
use plumb_yaml::{PclFile, from_pcl};
use serde_json::{Value as Json, json};

use crate::commands::install;
use crate::commands::package::sdk;

/// What is converted to.
pub(super) enum Target {
    Pcl,
    Yaml,
    /// A language, and the runtime of its programs.
    Language(ProgramLanguage, &'static str),
}

impl Target {
    pub(super) fn named(name: &str) -> Result<Self, Error> {
        let runtime = match name {
            "pcl" | "pulumi" => return Ok(Target::Pcl),
            "yaml" => return Ok(Target::Yaml),
            "python" => "python",
            "nodejs" | "typescript" | "javascript" => "nodejs",
            "bun" => "bun",
            "go" => "go",
            "java" => "java",
            "csharp" | "dotnet" => "dotnet",
            "rust" => "rust",
            _ => "",
        };
        match language_of(runtime) {
            Some(language) => Ok(Target::Language(language, runtime)),
            None => Err(Error::user(format!(
                "programs are not converted to {name} yet, only to python, typescript, go, java, csharp, rust, yaml and pcl"
            ))),
        }
    }

    fn runtime(&self) -> Json {
        match self {
            Target::Pcl => json!("pcl"),
            Target::Yaml => json!("yaml"),
            Target::Language(_, runtime) => plumb_programs::runtime(runtime),
        }
    }

    /// Packages whose SDKs the project has in folders of its own, because no registry has them.
    pub(super) fn local_packages(&self, program: &Program) -> Vec<Arc<PackageSchema>> {
        match self {
            Target::Language(ProgramLanguage::Rust, _) => {
                let packages = plumb_programs::packages(program).into_iter();
                packages.filter(|it| it.name() != "pulumi").collect()
            }
            Target::Language(..) | Target::Pcl | Target::Yaml => Vec::new(),
        }
    }

    /// Writes the SDKs of packages into the project.
    pub(super) fn write_sdks(
        &self,
        packages: &[Arc<PackageSchema>],
        out: &Path,
        ctx: &Context,
    ) -> Result<(), Error> {
        if let Target::Language(_, runtime) = self {
            for package in packages {
                sdk::make(&SchemaText::of_package(package), runtime, out, ctx)?;
            }
        }
        Ok(())
    }

    /// Makes the files of the project, without its description.
    pub(super) fn files(
        &self,
        program: &Program,
        sources: &Sources,
        description: &Json,
        local: &[Arc<PackageSchema>],
    ) -> Result<(BTreeMap<String, String>, Vec<Problem>), Error> {
        let text = |key: &str| description[key].as_str().unwrap_or_default().to_owned();
        match self {
            Target::Pcl => Ok((pcl_files(sources), Vec::new())),
            Target::Yaml => Ok((yaml_files(sources, &text("main"))?, Vec::new())),
            Target::Language(language, runtime) => {
                let project = Project {
                    name: text("name"),
                    runtime: (*runtime).to_owned(),
                    main: text("main"),
                    local_dependencies: local
                        .iter()
                        .map(|it| {
                            (
                                it.name().to_owned(),
                                sdk::folder_of(it.name(), it.namespace()),
                            )
                        })
                        .collect(),
                };
                let generated = plumb_programs::project(program, *language, &project);
                Ok((generated.files, generated.problems))
            }
        }
    }
}

fn yaml_files(sources: &Sources, main: &str) -> Result<BTreeMap<String, String>, Error> {
    let files = sources.iter().filter(|(path, _)| !path.contains('/'));
    let files: Vec<PclFile> = files
        .map(|(name, text)| PclFile {
            name: name.to_owned(),
            text: text.to_owned(),
        })
        .collect();
    let translated = from_pcl(&files);
    if !translated.problems.is_empty() {
        return Err(Error::user(translated.problems.join("\n")).context("conversion failed"));
    }
    let path = match main.trim_matches('/') {
        "" => "Main.yaml".to_owned(),
        main => format!("{main}/Main.yaml"),
    };
    Ok(BTreeMap::from([(path, translated.text)]))
}

/// The sources themselves.
pub(super) fn pcl_files(sources: &Sources) -> BTreeMap<String, String> {
    let files = sources.iter();
    files
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .collect()
}

/// The description of the project: that in the folder `described`, or a new one with the name of `folder`.
pub(super) fn description(
    described: &Path,
    folder: &Path,
    name: Option<&str>,
) -> Result<Json, Error> {
    let path = described.join("Pulumi.yaml");
    let mut description = json!({});
    if path.is_file() {
        let text = fs::read_to_string(&path)
            .map_err(|error| Error::from(error).context(path.display()))?;
        let tree = plumb_project::yaml::parse(&text)
            .map_err(|error| Error::from(error).context(path.display()))?;
        if let Some(root) = tree.root {
            description = plumb_project::yaml::to_json(&root)
                .map_err(|error| Error::from(error).context(path.display()))?;
        }
        // A program in YAML may stand in the description.
        if let Some(entries) = description.as_object_mut() {
            for key in [
                "resources",
                "variables",
                "outputs",
                "configuration",
                "components",
                "pulumi",
            ] {
                entries.remove(key);
            }
            if entries.get("runtime").and_then(Json::as_str) == Some("yaml") {
                entries.remove("config");
            }
        }
    }
    let base = folder
        .file_name()
        .map(|it| it.to_string_lossy().into_owned());
    if let Some(name) = name {
        plumb_project::ProjectName::parse(name)
            .map_err(|error| Error::from(error).context("--name"))?;
        description["name"] = name.into();
    } else if description["name"].as_str().is_none() {
        description["name"] = base.unwrap_or_else(|| "project".to_owned()).into();
    }
    Ok(description)
}

/// Writes the description with the runtime of the target.
pub(super) fn write_description(
    out: &Path,
    description: Json,
    target: &Target,
) -> Result<(), Error> {
    let text = file_text(description, target.runtime());
    write(out, &BTreeMap::from([("Pulumi.yaml".to_owned(), text)]))
}

pub(super) fn write(out: &Path, files: &BTreeMap<String, String>) -> Result<(), Error> {
    for (path, text) in files {
        let path = out.join(path);
        let folder = path.parent().unwrap_or(out);
        fs::create_dir_all(folder).map_err(|error| Error::from(error).context(folder.display()))?;
        fs::write(&path, text).map_err(|error| Error::from(error).context(path.display()))?;
    }
    Ok(())
}

/// Copies what a program reads, such as files of assets, if the project is written elsewhere.
pub(super) fn copy_rest(from: &Path, out: &Path) -> Result<(), Error> {
    let out = out.canonicalize().unwrap_or_else(|_| out.to_owned());
    let from = from.canonicalize().unwrap_or_else(|_| from.to_owned());
    if out == from {
        return Ok(());
    }
    copy_folder(&from, &out, &out)
}

/// Copies a file or folder that a program reads, by its path in the project. Those that are not there are left out.
pub(super) fn copy_file(from: &Path, out: &Path, path: &Path) -> Result<(), Error> {
    let (from, to) = (from.join(path), out.join(path));
    if from.is_dir() {
        return copy_folder(&from, &to, out);
    }
    let folder = to.parent().unwrap_or(out);
    if from.is_file() && !to.exists() {
        let failed = |error: std::io::Error| Error::from(error).context(to.display());
        fs::create_dir_all(folder).map_err(failed)?;
        fs::copy(&from, &to).map_err(failed)?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path, out: &Path) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::from(error).context(from.display());
    for entry in fs::read_dir(from).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default();
        let text = name.to_string_lossy();
        let is_program = text.ends_with(".pp") || text == "Pulumi.yaml" || text == "Main.yaml";
        if path == out || is_program || text == ".pulumi" || text == ".git" {
            continue;
        }
        let target = to.join(name);
        if path.is_dir() {
            copy_folder(&path, &target, out)?;
        } else if !target.exists() {
            fs::create_dir_all(to).map_err(failed)?;
            fs::copy(&path, &target).map_err(failed)?;
        }
    }
    Ok(())
}

/// Installs what the converted program needs.
pub(super) fn install(out: &Path, ctx: &Context) -> Result<(), Error> {
    let project = LoadedProject::read(out.join("Pulumi.yaml"))?;
    install::dependencies(&project, false, ctx)
}
