//! Where templates come from: the program itself, and folders.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_project::Project;
use plumb_project::project::Template as TemplateSpec;

use crate::{Context, Error};

/// A template, ready to be copied.
pub(super) struct Template {
    /// Its name.
    pub(super) name: String,
    /// The project's name in its project file.
    pub(super) project_name: String,
    /// What it makes.
    pub(super) description: String,
    /// What it wants to ask and say.
    pub(super) spec: TemplateSpec,
    /// Its files.
    pub(super) files: Vec<TemplateFile>,
}

/// A file of a template.
pub(super) struct TemplateFile {
    /// Relative to the project.
    pub(super) path: PathBuf,
    pub(super) content: Vec<u8>,
    pub(super) is_executable: bool,
}

type BuiltIn = (&'static str, &'static [(&'static str, &'static str)]);

/// Templates that are part of the program.
const BUILT_IN: [BuiltIn; 2] = [
    (
        "python",
        &[
            (
                "Pulumi.yaml",
                include_str!("../../../templates/python/Pulumi.yaml"),
            ),
            (
                "__main__.py",
                include_str!("../../../templates/python/__main__.py"),
            ),
            (
                "requirements.txt",
                include_str!("../../../templates/python/requirements.txt"),
            ),
            (
                ".gitignore",
                include_str!("../../../templates/python/gitignore"),
            ),
        ],
    ),
    (
        "yaml",
        &[
            (
                "Pulumi.yaml",
                include_str!("../../../templates/yaml/Pulumi.yaml"),
            ),
            (
                ".gitignore",
                include_str!("../../../templates/yaml/gitignore"),
            ),
        ],
    ),
];

/// Folders that are never copied.
const SKIPPED: [&str; 2] = [".git", ".pulumi.template.yaml"];

/// The templates that can be named: the built-in ones, and those in the user's own folder.
pub(super) fn all(ctx: &Context) -> Result<Vec<Template>, Error> {
    let mut templates: Vec<Template> = BUILT_IN.iter().map(built_in).collect::<Result<_, _>>()?;
    if let Some(root) = own_folder(ctx) {
        let entries =
            fs::read_dir(&root).map_err(|error| Error::from(error).context(root.display()))?;
        for entry in entries
            .flatten()
            .filter(|entry| entry.path().join("Pulumi.yaml").is_file())
        {
            templates.push(from_folder(&entry.path())?);
        }
    }
    templates.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(templates)
}

/// The template that the user names: a folder, or one of [`all`].
pub(super) fn find(name: &str, ctx: &Context) -> Result<Template, Error> {
    let folder = ctx.environment.cwd.join(name);
    if folder.is_dir() {
        return from_folder(&folder);
    }
    if name.contains("://") || name.starts_with("git@") || name.contains("github.com/") {
        return Err(Error::unsupported(format!(
            "template '{name}': fetching templates from addresses"
        )));
    }
    let template = all(ctx)?.into_iter().find(|template| template.name == name);
    template.ok_or_else(|| {
        let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        Error::user(format!(
            "template '{name}' not found: it is neither a folder nor one of {}",
            known.join(", ")
        ))
    })
}

fn own_folder(ctx: &Context) -> Option<PathBuf> {
    ctx.environment
        .non_empty("PULUMI_TEMPLATE_PATH")
        .map(|path| ctx.environment.cwd.join(path))
}

fn built_in((name, files): &BuiltIn) -> Result<Template, Error> {
    let files = files.iter().map(|(path, content)| TemplateFile {
        path: PathBuf::from(path),
        content: content.as_bytes().to_vec(),
        is_executable: false,
    });
    of_files(name, files.collect())
}

fn from_folder(folder: &Path) -> Result<Template, Error> {
    let mut files = Vec::new();
    collect(folder, Path::new(""), &mut files)
        .map_err(|error| Error::from(error).context(folder.display()))?;
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = name
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    of_files(&name, files)
}

fn of_files(name: &str, files: Vec<TemplateFile>) -> Result<Template, Error> {
    let broken = |error: Error| error.context(format!("template '{name}' is currently broken"));
    let file = files
        .iter()
        .find(|file| file.path == Path::new("Pulumi.yaml"))
        .ok_or_else(|| broken(Error::user("it has no Pulumi.yaml")))?;
    let text = String::from_utf8_lossy(&file.content);
    let project = Project::parse("Pulumi.yaml", &text).map_err(|error| broken(error.into()))?;
    let spec = project.template.unwrap_or_default();
    Ok(Template {
        name: name.to_owned(),
        project_name: project.name,
        description: spec
            .description
            .clone()
            .or(project.description)
            .unwrap_or_default(),
        spec,
        files,
    })
}

fn collect(root: &Path, below: &Path, files: &mut Vec<TemplateFile>) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
            continue;
        }
        let metadata = fs::metadata(entry.path())?;
        if metadata.is_dir() {
            collect(root, &path, files)?;
        } else {
            let is_executable = is_executable(&metadata);
            files.push(TemplateFile {
                path,
                content: fs::read(entry.path())?,
                is_executable,
            });
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}
