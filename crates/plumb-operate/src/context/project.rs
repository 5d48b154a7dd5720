//! The project of the working directory.

use std::path::{Path, PathBuf};

use plumb_plugin::language::ProgramInfo;
use plumb_project::{FileError, Project, ProjectName, VersionRange, files};

use super::{Context, Stack};
use crate::identity::Code;
use crate::{Error, VERSION};

/// A project with its path.
#[derive(Debug, Clone)]
pub struct LoadedProject {
    /// Absolute path of the project file.
    pub path: PathBuf,
    /// Contents of the project file.
    pub project: Project,
    /// The project's name.
    pub name: ProjectName,
}

impl LoadedProject {
    /// The folder of the project file.
    pub fn root(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Location and options of the program, for language hosts.
    pub fn program_info(&self) -> Result<ProgramInfo, Error> {
        let root = self.root().to_owned();
        let options = self
            .project
            .runtime
            .as_ref()
            .map(|runtime| runtime.options.clone())
            .unwrap_or_default();
        let Some(main) = self.project.main.as_deref().filter(|main| !main.is_empty()) else {
            return Ok(ProgramInfo {
                program_directory: root.clone(),
                root_directory: root,
                entry_point: ".".to_owned(),
                options,
            });
        };
        let path = root.join(main);
        let metadata = std::fs::metadata(&path).map_err(|error| {
            Error::from(error).context(format!("could not get status of '{}'", path.display()))
        })?;
        let (program_directory, entry_point) = if metadata.is_dir() {
            (path, ".".to_owned())
        } else {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            (path.parent().unwrap_or(&root).to_owned(), name)
        };
        Ok(ProgramInfo {
            root_directory: root,
            program_directory,
            entry_point,
            options,
        })
    }

    /// Reads a project file.
    pub fn read(path: PathBuf) -> Result<Self, Error> {
        let shown = path.display().to_string();
        let text = files::read_text(&path)?
            .ok_or_else(|| Error::user(format!("could not find project file {shown}")))?;
        let project = Project::parse(&shown, &text).map_err(|error| match &error {
            FileError::Invalid { .. } => Error::from(error),
            _ => Error::from(error).context(format!("could not unmarshal '{shown}'")),
        })?;
        let name = ProjectName::unchecked(&project.name);
        Ok(LoadedProject {
            path,
            project,
            name,
        })
    }

    /// Checks that the project supports this version of the program.
    pub fn check_version(&self) -> Result<(), Error> {
        let Some(range) = &self.project.required_version else {
            return Ok(());
        };
        let version = semver::Version::parse(VERSION.trim_start_matches('v'))
            .expect("the reported version is a version");
        if VersionRange::parse(range)?.contains(&version) {
            return Ok(());
        }
        Err(Error::user(format!(
            "Pulumi CLI version {version} does not satisfy the version range \"{range}\" required by {}",
            self.path.display()
        ))
        .known(Code::OldVersion))
    }
}

impl Context {
    /// Project in the working directory or its nearest parent; `None` if there is none.
    pub fn find_project(&self) -> Result<Option<&LoadedProject>, Error> {
        if self.project.get().is_none() {
            let found = files::find_project(&self.environment.cwd)
                .map(LoadedProject::read)
                .transpose()?;
            // Another thread may have stored it first; both values are equal.
            let _ = self.project.set(found);
        }
        Ok(self.project.get().and_then(Option::as_ref))
    }

    /// Project of the working directory; an error if there is none.
    pub fn project(&self) -> Result<&LoadedProject, Error> {
        self.find_project()?.ok_or_else(|| self.no_project())
    }

    /// The name of the project of the working directory.
    pub fn project_name(&self) -> Result<Option<&ProjectName>, Error> {
        Ok(self.find_project()?.map(|project| &project.name))
    }

    /// Project whose program an operation runs.
    pub fn program_project(&self) -> Result<&LoadedProject, Error> {
        self.find_project()?.ok_or_else(|| self.no_program())
    }

    /// Rejects a stack of another project than the current one, because an update with this program would delete all of
    /// the stack's resources.
    pub fn check_project_of(&self, stack: &Stack) -> Result<(), Error> {
        let (Some(here), Some(named)) = (self.project_name()?, &stack.reference.project) else {
            return Ok(());
        };
        if here == named {
            return Ok(());
        }
        Err(Error::user(format!(
            "provided project name \"{named}\" doesn't match Pulumi.yaml"
        )))
    }

    fn no_project(&self) -> Error {
        Error::user(missing_project(&self.environment.cwd.display().to_string()))
            .known(Code::NoProject)
    }

    /// upstream: operations do not name the searched folder, and detect Terraform files.
    fn no_program(&self) -> Error {
        let mut text = missing_project("");
        if has_terraform(&self.environment.cwd) {
            text.push_str(
                " however, a Terraform configuration file was detected. To convert this configuration to a Pulumi \
                 project, please see the documentation at \
                 https://www.pulumi.com/docs/iac/guides/migration/migrating-to-pulumi/from-terraform/",
            );
        }
        Error::user(text).known(Code::NoProject)
    }
}

fn missing_project(folder: &str) -> String {
    format!(
        "no Pulumi.yaml project file found (searching upwards from {folder}). If you have not created a project \
         yet, use `pulumi new` to do so: no project file found"
    )
}

fn has_terraform(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.path().extension().is_some_and(|ext| ext == "tf"))
    })
}
