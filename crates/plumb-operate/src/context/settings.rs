//! The settings file of a stack.

use std::path::{Path, PathBuf};

use plumb_backend::Page;
use plumb_project::StackFile;
use plumb_project::config::ConfigMap;
use plumb_project::files::{self, Access};

use super::{Context, Stack, StackSecrets};
use crate::Error;

/// Settings file `Pulumi.<stack>.yaml`, and its edits.
#[derive(Debug, Clone)]
pub struct StackSettings {
    /// Path; `None` for a stack of another project than the current one.
    pub path: Option<PathBuf>,
    /// Contents.
    pub file: StackFile,
    before: StackFile,
    exists: bool,
}

impl StackSettings {
    /// Reads a settings file; a missing one is empty.
    pub fn read(path: &Path, project: &str) -> Result<Self, Error> {
        let shown = path.display().to_string();
        let text = files::read_text(path)?;
        let file = match &text {
            Some(text) => StackFile::parse(&shown, text, project)?,
            None => StackFile::empty(&shown, project),
        };
        Ok(StackSettings {
            path: Some(path.to_owned()),
            before: file.clone(),
            file,
            exists: text.is_some(),
        })
    }

    /// Empty settings for a stack without a file.
    pub fn without_file(project: &str) -> Self {
        let file = StackFile::empty("Pulumi.yaml", project);
        StackSettings {
            path: None,
            before: file.clone(),
            file,
            exists: false,
        }
    }

    /// Whether the file is there.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// Writes the file if it was changed, with the current encryption settings in `secrets`.
    pub fn save(&mut self, secrets: Option<&StackSecrets>) -> Result<(), Error> {
        if let Some(secrets) = secrets {
            let settings = secrets.settings();
            if settings != self.file.secrets() {
                self.file.set_secrets(&settings);
            }
        }
        if self.file == self.before {
            return Ok(());
        }
        let Some(path) = &self.path else {
            return Err(Error::user(
                "the settings of the stack cannot be saved, because its project is not the one of the working directory",
            ));
        };
        self.file.quote_scalars();
        files::write_text(path, &self.file.to_text(), Access::Shared)?;
        self.before = self.file.clone();
        self.exists = true;
        Ok(())
    }
}

impl Context {
    /// Settings of a stack; `file` is the value of `--config-file`.
    pub fn stack_settings(
        &self,
        stack: &Stack,
        file: Option<&str>,
    ) -> Result<StackSettings, Error> {
        let settings = match self.settings_path(stack, file)? {
            Some(path) => StackSettings::read(&path, stack.project_name())?,
            None => StackSettings::without_file(stack.project_name()),
        };
        let nulls = settings.file.null_keys();
        if !nulls.is_empty() {
            self.printer.warning(&null_warning(nulls));
        }
        Ok(settings)
    }

    /// Settings of a stack for an operation; without a project, those of its last update.
    pub fn settings_or_last(
        &self,
        stack: &Stack,
        file: Option<&str>,
    ) -> Result<StackSettings, Error> {
        let settings = self.stack_settings(stack, file);
        let mut settings =
            settings.map_err(|error| error.context("getting stack configuration"))?;
        if settings.path.is_some() || self.find_project()?.is_some() {
            return Ok(settings);
        }
        let newest = Some(Page { size: 1, number: 1 });
        let records = stack.backend.history(&stack.reference, newest)?;
        let Some(record) = records.into_iter().next() else {
            return Err(Error::user(
                "getting stack configuration: stack configuration could not be loaded from either Pulumi.yaml or the \
                 backend: no previous deployment",
            ));
        };
        let config = ConfigMap::from_json(&record.config)?;
        settings.file.set_config(&config);
        Ok(settings)
    }

    /// Path of a stack's settings file.
    pub fn settings_path(
        &self,
        stack: &Stack,
        file: Option<&str>,
    ) -> Result<Option<PathBuf>, Error> {
        if let Some(file) = file {
            return Ok(Some(self.environment.cwd.join(file)));
        }
        let Some(project) = self.find_project()? else {
            return Ok(None);
        };
        let is_ours = stack
            .reference
            .project
            .as_ref()
            .is_none_or(|name| *name == project.name);
        if !is_ours {
            return Ok(None);
        }
        self.settings_path_here(stack.name())
    }

    /// Path of the settings file for a stack name in the current project.
    pub fn settings_path_here(&self, stack: &str) -> Result<Option<PathBuf>, Error> {
        let project = self.find_project()?;
        Ok(project.map(|project| {
            let folder = project.project.stack_config_dir.as_deref();
            files::stack_file_path(&project.path, folder, stack)
        }))
    }
}

/// Warning about settings with null values.
fn null_warning(keys: &[String]) -> String {
    let plural = if keys.len() == 1 { "" } else { "s" };
    let between = if keys.len() == 2 { " and " } else { ", " };
    let keys: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
    format!(
        "No value for configuration key{plural} {}. This is currently treated as an empty string `\"\"`, but will be \
         treated as `null` in a future version of pulumi.\nSet the value{plural} to `\"\"` to avoid this warning.",
        keys.join(between)
    )
}
