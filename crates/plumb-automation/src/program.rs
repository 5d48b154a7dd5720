//! Programs of operations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use plumb_engine::program::Program as Runnable;
use plumb_engine::{HostOrigin, LanguageProgram, with_causes};
use plumb_plugin::language::{PackageDependency, ProgramInfo};
use plumb_plugin::{PluginHost, PluginKind};
use plumb_project::Project;
use plumb_resource::provider::PluginSpec;
use plumb_yaml::{DiagnosticStyle, YamlProgram};

use crate::hosting::{Schemas, plugin_spec};
use crate::{Error, semantic_version};

/// A program that says what a stack should be. Clones are the same program.
#[derive(Clone)]
pub struct Program(Source);

#[derive(Clone)]
enum Source {
    Function(Arc<dyn Runnable>),
    Yaml(Arc<str>),
    Folder(PathBuf),
}

/// A program that is ready to run.
pub(crate) struct Prepared {
    pub(crate) program: Arc<dyn Runnable>,
    /// Plugins of its packages; they determine the versions of the default providers.
    pub(crate) packages: Vec<PluginSpec>,
}

impl Program {
    /// A function of this process, written with the SDK for Rust ([`crate::sdk`]). It runs once for each operation, on a task
    /// of its own.
    ///
    /// ```
    /// use plumb_automation::Program;
    ///
    /// let program = Program::inline(|ctx| async move {
    ///     ctx.export("project", ctx.project());
    ///     Ok(())
    /// });
    /// ```
    #[cfg(feature = "inline")]
    pub fn inline<E, F>(body: impl Fn(plumb::Ctx) -> F + Send + Sync + 'static) -> Self
    where
        E: plumb::Exports + Send + 'static,
        F: Future<Output = plumb::Result<E>> + Send + 'static,
    {
        Program(Source::Function(Arc::new(crate::inline::Inline::new(body))))
    }

    /// The text of a program in YAML.
    pub fn yaml(text: impl Into<Arc<str>>) -> Self {
        Program(Source::Yaml(text.into()))
    }

    /// The project in a folder with an absolute path, in any language. Programs in YAML run in this process, others in one of their own.
    pub fn folder(folder: impl Into<PathBuf>) -> Self {
        Program(Source::Folder(folder.into()))
    }

    /// A source of registrations of the caller's own.
    pub fn custom(program: Arc<dyn Runnable>) -> Self {
        Program(Source::Function(program))
    }

    /// Folders of the project and of its program; none if it has no folder.
    pub(crate) fn folders(&self) -> Result<Option<(PathBuf, PathBuf)>, Error> {
        let Source::Folder(folder) = &self.0 else {
            return Ok(None);
        };
        let info = info(folder)?.1;
        Ok(Some((info.root_directory, info.program_directory)))
    }

    /// Runtime options of the project, as text.
    pub(crate) fn runtime_options(
        &self,
    ) -> Result<std::collections::BTreeMap<String, String>, Error> {
        let Source::Folder(folder) = &self.0 else {
            return Ok(std::collections::BTreeMap::new());
        };
        let options = info(folder)?.1.options.into_iter();
        let text = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        Ok(options.map(|(key, value)| (key, text(value))).collect())
    }

    /// Finds out how to run the program, and what it needs.
    pub(crate) async fn prepare(&self, host: &Arc<PluginHost>) -> Result<Prepared, Error> {
        match &self.0 {
            Source::Function(program) => Ok(Prepared {
                program: program.clone(),
                packages: Vec::new(),
            }),
            Source::Yaml(text) => of_yaml(yaml(host).with_text(text), Path::new("")),
            Source::Folder(folder) => of_folder(folder, host).await,
        }
    }
}

fn yaml(host: &Arc<PluginHost>) -> YamlProgram {
    YamlProgram::new(Arc::new(Schemas(host.clone())))
        .with_diagnostic_style(DiagnosticStyle::Excerpt)
        .with_engine_version(semantic_version())
}

fn of_yaml(program: YamlProgram, folder: &Path) -> Result<Prepared, Error> {
    let required = program.required_packages(folder);
    let required = required.map_err(|error| Error::Program(with_causes(&error)))?;
    Ok(Prepared {
        program: Arc::new(program),
        packages: required.iter().map(plugin_spec).collect(),
    })
}

async fn of_folder(folder: &Path, host: &Arc<PluginHost>) -> Result<Prepared, Error> {
    let (runtime, info) = info(folder)?;
    if runtime == "yaml" && host.is_own_language("yaml") && info.options.is_empty() {
        return of_yaml(yaml(host), &info.program_directory);
    }
    let failed = |error: &(dyn std::error::Error + 'static)| Error::Program(with_causes(error));
    let language = host.language(&runtime).await;
    let language = language.map_err(|error| failed(&error))?;
    let required = language.required_packages(&info).await;
    let required = required.map_err(|error| failed(&error))?;
    let plugins = required.packages.iter();
    let plugins = plugins.filter(|it| it.kind == PluginKind::Resource && it.extension.is_none());
    Ok(Prepared {
        packages: plugins.map(PackageDependency::plugin_spec).collect(),
        program: Arc::new(LanguageProgram {
            host: language,
            info,
            origin: HostOrigin::Started,
            attach_debugger: false,
        }),
    })
}

/// Runtime and location of the program in a folder.
fn info(folder: &Path) -> Result<(String, ProgramInfo), Error> {
    let refused = |reason: String| Error::Folder {
        folder: folder.to_owned(),
        reason,
    };
    if folder.is_relative() {
        return Err(refused("its path is not absolute".to_owned()));
    }
    let files = plumb_project::files::PROJECT_FILES.iter();
    let Some(path) = files.map(|name| folder.join(name)).find(|it| it.is_file()) else {
        return Err(refused("it has no project file `Pulumi.yaml`".to_owned()));
    };
    let text = std::fs::read_to_string(&path).map_err(|error| refused(error.to_string()))?;
    let project = Project::parse(&path.to_string_lossy(), &text);
    let project = project.map_err(|error| refused(with_causes(&error)))?;
    let Some(runtime) = project.runtime else {
        return Err(refused("its project file has no `runtime`".to_owned()));
    };
    let main = project.main.as_deref().unwrap_or(".");
    let path = folder.join(main);
    let (program_directory, entry_point) = match (path.is_dir(), path.parent(), path.file_name()) {
        (false, Some(parent), Some(name)) => {
            (parent.to_owned(), name.to_string_lossy().into_owned())
        }
        _ => (path, ".".to_owned()),
    };
    let info = ProgramInfo {
        root_directory: folder.to_owned(),
        program_directory,
        entry_point,
        options: runtime.options,
    };
    Ok((runtime.name, info))
}
