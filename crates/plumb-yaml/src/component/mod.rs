//! Plugins whose components are written in YAML (`yaml-runtime.md` 11).
//!
//! 1. [`ComponentPackage::load`] reads all `*.yaml` files of a folder as one plugin.
//! 2. [`ComponentPackage::schema`] derives the package's schema.
//! 3. [`ComponentPackage::construct`] registers a component and evaluates its body on the caller's resource
//!    monitor, with inputs instead of settings.
//!
//! This module does not serve the plugin.

mod construct;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ecow::EcoString;

use crate::diagnostic::Diagnostic;
use crate::packages::{self, DeclarationError, PackageDeclaration};
use crate::required::{self, RequiredPackage};
use crate::syntax::components::{self, ComponentDecl};
use crate::syntax::source::SourceFile;

pub use construct::{Construct, ConstructError, Constructed};

/// File that marks a folder as a plugin.
const MANIFEST: &str = "PulumiPlugin.yaml";

/// Error for an unreadable plugin.
#[derive(Debug, thiserror::Error)]
pub enum ComponentsError {
    /// A file or the folder cannot be read.
    #[error("cannot read {path}", path = path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// The files contain errors.
    #[error("the components in {directory} are not valid:\n{text}", directory = directory.display())]
    Invalid {
        /// The folder.
        directory: PathBuf,
        /// All errors, with excerpts.
        text: String,
    },
    /// The package has no name.
    #[error("{path}: missing required `name` field.", path = path.display())]
    NoName {
        /// File that should contain the name.
        path: PathBuf,
    },
    /// A package declaration is invalid.
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
}

/// A plugin whose components are written in YAML.
#[derive(Debug)]
pub struct ComponentPackage {
    name: EcoString,
    version: Option<EcoString>,
    description: Option<EcoString>,
    namespace: Option<EcoString>,
    components: Vec<ComponentDecl>,
    /// Packages declared in the folder.
    declarations: Vec<PackageDeclaration>,
}

impl ComponentPackage {
    /// Whether `directory` contains a plugin.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(MANIFEST).is_file()
    }

    /// Reads the plugin in `directory`.
    pub fn load(directory: &Path) -> Result<Self, ComponentsError> {
        let mut package = ComponentPackage {
            name: EcoString::new(),
            version: None,
            description: None,
            namespace: None,
            components: Vec::new(),
            declarations: packages::find_declarations(directory)?,
        };
        let mut problems = String::new();
        for path in files(directory)? {
            let source = read(&path)?;
            // Package declarations can be in the same folder as components.
            if source.text.contains("packageDeclarationVersion") {
                continue;
            }
            let mut diagnostics = package.merge(&source);
            diagnostics.retain(Diagnostic::is_error);
            for diagnostic in diagnostics {
                problems.push_str(&diagnostic.titled_excerpt(&source));
                problems.push('\n');
            }
        }
        if !problems.is_empty() {
            return Err(ComponentsError::Invalid {
                directory: directory.to_owned(),
                text: problems.trim_end().to_owned(),
            });
        }
        if package.name.is_empty() {
            return Err(ComponentsError::NoName {
                path: directory.join(MANIFEST),
            });
        }
        Ok(package)
    }

    /// Name of the package.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Version of the package, if the plugin has one.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Packages that the components use, sorted by name.
    pub fn required_packages(&self) -> Vec<RequiredPackage> {
        let bodies = self.components.iter().map(|component| &component.body);
        let mut required = required::of_bodies(bodies, &self.declarations);
        // Components can contain other components of the same package.
        required.retain(|package| package.name != self.name.as_str());
        required
    }

    /// Adds the declarations in `source`. Settings in the manifest take precedence, because it comes first.
    fn merge(&mut self, source: &Arc<SourceFile>) -> Vec<Diagnostic> {
        let (file, mut diagnostics) = components::parse(source);
        if self.name.is_empty() {
            self.name = file.name.unwrap_or_default();
        }
        self.version = self.version.take().or(file.version);
        self.description = self.description.take().or(file.description);
        self.namespace = self.namespace.take().or(file.namespace);
        for component in file.components {
            let key = &component.key;
            if self.components.iter().any(|it| it.key.text == key.text) {
                let summary = format!("found duplicate component {}", key.text);
                diagnostics.push(Diagnostic::error(key.span, summary));
            }
            self.components.push(component);
        }
        diagnostics.extend(self.components.iter().flat_map(schema::problems));
        diagnostics
    }
}

/// YAML files of the folder, without subfolders; the manifest comes first.
fn files(directory: &Path) -> Result<Vec<PathBuf>, ComponentsError> {
    let failed = |source| ComponentsError::Read {
        path: directory.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file()
            && path
                .extension()
                .is_some_and(|extension| extension == "yaml")
        {
            files.push(path);
        }
    }
    files.sort_by_key(|path| (!path.ends_with(MANIFEST), path.clone()));
    Ok(files)
}

fn read(path: &Path) -> Result<Arc<SourceFile>, ComponentsError> {
    let text = std::fs::read_to_string(path).map_err(|source| ComponentsError::Read {
        path: path.to_owned(),
        source,
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok(Arc::new(SourceFile::new(name, path.to_owned(), text)))
}
