//! Projects and plugins to which packages belong.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use plumb_operate::context::LoadedProject;
use plumb_operate::{Context, Error};
use plumb_plugin::discovery::MANIFEST_FILE;
use plumb_plugin::language::ProgramInfo;
use plumb_project::files;
use plumb_project::project::{PackageSpec, PluginProject};

/// A project or a plugin with packages.
pub(crate) struct Target<'c> {
    /// File with the list of packages.
    pub(super) file: PathBuf,
    pub(super) runtime: String,
    pub(super) info: ProgramInfo,
    pub(super) packages: IndexMap<String, PackageSpec>,
    /// The project; `None` for a plugin.
    pub(super) project: Option<&'c LoadedProject>,
}

impl<'c> Target<'c> {
    /// Innermost project or plugin that contains the working directory.
    pub(super) fn enclosing(ctx: &'c Context) -> Result<Option<Self>, Error> {
        let project = ctx.find_project()?;
        let folders = ctx.environment.cwd.ancestors();
        let manifest = folders
            .map(|folder| folder.join(MANIFEST_FILE))
            .find(|path| path.is_file());
        match (project, manifest) {
            (Some(project), Some(manifest)) => {
                let depth = |path: &Path| path.components().count();
                match depth(&project.path).cmp(&depth(&manifest)) {
                    Ordering::Greater => Target::of_project(project).map(Some),
                    Ordering::Less => Target::of_plugin(manifest).map(Some),
                    Ordering::Equal => Err(Error::user(format!(
                        "detected both {MANIFEST_FILE} and {} in {}",
                        project.path.file_name().unwrap_or_default().display(),
                        project.root().display()
                    ))),
                }
            }
            (Some(project), None) => Target::of_project(project).map(Some),
            (None, Some(manifest)) => Target::of_plugin(manifest).map(Some),
            (None, None) => Ok(None),
        }
    }

    pub(crate) fn of_project(project: &'c LoadedProject) -> Result<Self, Error> {
        let runtime = project.project.runtime.as_ref().ok_or_else(|| {
            Error::user(
                "the project has no runtime; set `runtime` in Pulumi.yaml, or run `plumb new`",
            )
        })?;
        Ok(Target {
            file: project.path.clone(),
            runtime: runtime.name.clone(),
            info: project.program_info()?,
            packages: project.project.packages.clone(),
            project: Some(project),
        })
    }

    /// The plugin with the manifest `manifest`.
    pub(crate) fn of_plugin(manifest: PathBuf) -> Result<Self, Error> {
        let text = files::read_text(&manifest)?.unwrap_or_default();
        let plugin = PluginProject::parse(&manifest.display().to_string(), &text)?;
        let folder = manifest.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Target {
            runtime: plugin.runtime.name,
            info: ProgramInfo {
                root_directory: folder.clone(),
                program_directory: folder,
                entry_point: ".".to_owned(),
                options: plugin.runtime.options,
            },
            packages: plugin.packages,
            file: manifest,
            project: None,
        })
    }

    /// Folder to which the sources of packages are relative.
    pub(super) fn root(&self) -> &Path {
        &self.info.root_directory
    }
}
