//! Package declarations: files below the program that describe packages (`yaml-runtime.md` 9).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_deploy::request::RegisterPackageRequest;
use plumb_resource::provider::Parameterization;

use crate::syntax::node::{Node, NodeKind};
use crate::syntax::reader;

/// A declared package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageDeclaration {
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin; may be empty.
    pub version: String,
    /// Download URL of the plugin; may be empty.
    pub download_url: String,
    /// Parameterization that replaces the plugin's own package.
    pub parameterization: Option<Parameterization>,
    /// Parameterization that extends the plugin's own package.
    pub extension: Option<Parameterization>,
}

/// Error in a package declaration.
#[derive(Debug, thiserror::Error)]
pub enum DeclarationError {
    /// A required field is missing.
    #[error("{path}: {field} is required", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The field.
        field: &'static str,
    },
    /// Two fields exclude each other.
    #[error("{path}: package cannot declare both parameterization and extension", path = path.display())]
    Both {
        /// The file.
        path: PathBuf,
    },
    /// The parameter is not base64.
    #[error("{path}: the value of {field} is not valid base64", path = path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The field.
        field: &'static str,
    },
}

impl PackageDeclaration {
    /// First part of the package's tokens: the name of its parameterization or extension, or else that of the plugin.
    pub fn namespace(&self) -> &str {
        let parameter = self.parameterization.as_ref().or(self.extension.as_ref());
        parameter.map_or(&self.name, |parameter| &parameter.name)
    }

    /// Request that registers the package with the engine. A parameterization with the plugin's own name is sent as an
    /// extension.
    pub(crate) fn request(&self) -> RegisterPackageRequest {
        let (parameterization, extension) = match (&self.parameterization, &self.extension) {
            (Some(parameter), _) if parameter.name == self.name.as_str() => {
                (None, Some(parameter.clone()))
            }
            (parameterization, extension) => (parameterization.clone(), extension.clone()),
        };
        RegisterPackageRequest {
            name: self.name.as_str().into(),
            version: self.version.as_str().into(),
            download_url: self.download_url.as_str().into(),
            checksums: std::collections::BTreeMap::new(),
            parameterization,
            extension,
        }
    }
}

/// Finds all package declarations below `directory`, sorted by path. Files without one are skipped.
pub fn find_declarations(directory: &Path) -> Result<Vec<PackageDeclaration>, DeclarationError> {
    let mut files = Vec::new();
    collect_files(directory, 0, &mut files);
    files.sort();
    let mut declarations = Vec::new();
    for path in files {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        if text.contains("packageDeclarationVersion") {
            declarations.extend(parse(&path, &text)?);
        }
    }
    Ok(declarations)
}

/// Folders that contain no declarations, but can be very large.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", ".pulumi"];
const DEPTH_LIMIT: usize = 32;

fn collect_files(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = entry.file_name();
        if kind.is_dir() {
            if depth < DEPTH_LIMIT && !SKIPPED.iter().any(|skipped| name == *skipped) {
                collect_files(&entry.path(), depth + 1, files);
            }
        } else if Path::new(&name)
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            files.push(entry.path());
        }
    }
}

fn parse(path: &Path, text: &str) -> Result<Option<PackageDeclaration>, DeclarationError> {
    let Ok(Some(node)) = reader::read_document(text) else {
        return Ok(None);
    };
    if field(&node, "packageDeclarationVersion").map(|node| &node.kind)
        != Some(&NodeKind::Number(1.0))
    {
        return Ok(None);
    }
    let declaration = PackageDeclaration {
        name: text_of(&node, "name"),
        version: text_of(&node, "version"),
        download_url: text_of(&node, "downloadUrl"),
        parameterization: parameter(path, &node, "parameterization", PARAMETERIZATION)?,
        extension: parameter(path, &node, "extension", EXTENSION)?,
    };
    if declaration.name.is_empty() {
        return Err(DeclarationError::Missing {
            path: path.to_owned(),
            field: "package name",
        });
    }
    if declaration.parameterization.is_some() && declaration.extension.is_some() {
        return Err(DeclarationError::Both {
            path: path.to_owned(),
        });
    }
    Ok(Some(declaration))
}

const PARAMETERIZATION: [&str; 2] = ["parameterization name", "parameterization version"];
const EXTENSION: [&str; 2] = ["extension name", "extension version"];

fn parameter(
    path: &Path,
    node: &Node,
    name: &'static str,
    required: [&'static str; 2],
) -> Result<Option<Parameterization>, DeclarationError> {
    let Some(node) = field(node, name).filter(|node| node.kind != NodeKind::Null) else {
        return Ok(None);
    };
    let missing = |field| DeclarationError::Missing {
        path: path.to_owned(),
        field,
    };
    let value = STANDARD
        .decode(text_of(node, "value"))
        .map_err(|_| DeclarationError::Value {
            path: path.to_owned(),
            field: name,
        })?;
    let parameter = Parameterization {
        name: text_of(node, "name").into(),
        version: text_of(node, "version").into(),
        value: Arc::from(value),
    };
    if parameter.name.is_empty() {
        return Err(missing(required[0]));
    }
    if parameter.version.is_empty() {
        return Err(missing(required[1]));
    }
    Ok(Some(parameter))
}

fn field<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    match &node.kind {
        NodeKind::Map(entries) => entries
            .iter()
            .find(|(key, _)| key.text == name)
            .map(|(_, node)| node),
        _ => None,
    }
}

fn text_of(node: &Node, name: &str) -> String {
    match field(node, name).map(|node| &node.kind) {
        Some(NodeKind::String(text)) => text.to_string(),
        Some(NodeKind::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_error(text: &str, expected: &str) {
        let error = parse(
            Path::new("p.yaml"),
            &format!("packageDeclarationVersion: 1\n{text}"),
        )
        .unwrap_err();
        assert_eq!(error.to_string(), format!("p.yaml: {expected}"));
    }

    #[test]
    fn declarations_are_found_below_the_program() {
        let directory = tempfile::tempdir().unwrap();
        let sdks = directory.path().join("sdks/docker");
        std::fs::create_dir_all(&sdks).unwrap();
        let text = "packageDeclarationVersion: 1\nname: terraform-provider\nversion: 0.3.0\n\
                    parameterization: {name: docker, version: 1.0.0, value: aGk=}\n";
        std::fs::write(sdks.join("docker-1.0.0.yaml"), text).unwrap();
        std::fs::write(directory.path().join("Pulumi.yaml"), "name: x\n").unwrap();
        std::fs::write(
            directory.path().join("broken.yaml"),
            "a: [packageDeclarationVersion",
        )
        .unwrap();
        let found = find_declarations(directory.path()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].namespace(), "docker");
        assert_eq!(&*found[0].parameterization.as_ref().unwrap().value, b"hi");
        let text = text.replace("parameterization", "extension");
        std::fs::write(sdks.join("docker-1.0.0.yaml"), text).unwrap();
        let found = find_declarations(directory.path()).unwrap();
        assert_eq!(found[0].namespace(), "docker");
    }

    #[test]
    fn mistakes_are_named() {
        check_error("version: 1.0.0", "package name is required");
        check_error(
            "name: a\nextension: {version: 1.0.0}",
            "extension name is required",
        );
        check_error(
            "name: a\nparameterization: {name: b}",
            "parameterization version is required",
        );
        let both = "name: a\nparameterization: {name: b, version: 1.0.0}\nextension: {name: c, version: 1.0.0}";
        check_error(
            both,
            "package cannot declare both parameterization and extension",
        );
    }
}
