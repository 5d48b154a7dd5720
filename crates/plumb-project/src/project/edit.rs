//! Edits of a project file that preserve the user's formatting.

use super::{PackageSpec, Project, Runtime};
use crate::diagnostic::FileError;
use crate::reader::{self, Format};
use crate::yaml::{Data, Document, Mapping, Node, from_json};

/// A project file as a document.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectFile {
    document: Document,
    format: Format,
}

impl ProjectFile {
    /// Parses a file; `file` is its name in errors, and its extension determines the format. Does
    /// not check the contents.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        Ok(ProjectFile {
            document: reader::read(file, text)?,
            format: Format::of(file),
        })
    }

    /// Text of the edited file.
    pub fn to_text(&self) -> String {
        self.format.print(&self.document)
    }

    /// Project described by the document.
    pub fn project(&self, file: &str) -> Result<Project, FileError> {
        Project::from_document(file, &self.document)
    }

    /// Sets a top-level string; a new one is added at the end.
    pub fn set_text(&mut self, key: &str, text: &str) {
        self.root().set(key, Node::string(text));
    }

    /// Removes a top-level member; returns whether it existed.
    pub fn remove(&mut self, key: &str) -> bool {
        self.root().remove(key)
    }

    /// Sets the runtime; without options it is a string.
    pub fn set_runtime(&mut self, runtime: &Runtime) {
        let node = if runtime.options.is_empty() {
            Node::string(&*runtime.name)
        } else {
            from_json(&serde_json::json!({ "name": runtime.name, "options": runtime.options }))
        };
        self.root().set("runtime", node);
    }

    /// Adds or replaces a package.
    pub fn set_package(&mut self, name: &str, spec: &PackageSpec) {
        let root = self.root();
        if root.get("packages").and_then(Node::as_mapping).is_none() {
            root.set("packages", Node::empty_mapping());
        }
        if let Some(Data::Mapping(packages)) = root.get_mut("packages").map(|node| &mut node.data) {
            packages.set(name, package_node(spec));
        }
    }

    fn root(&mut self) -> &mut Mapping {
        let root = self.document.root.get_or_insert_with(Node::empty_mapping);
        if !matches!(root.data, Data::Mapping(_)) {
            *root = Node::empty_mapping();
        }
        match &mut root.data {
            Data::Mapping(mapping) => mapping,
            Data::Scalar(_) | Data::Sequence(_) | Data::Alias(_) => {
                unreachable!("made a map just above")
            }
        }
    }
}

fn package_node(spec: &PackageSpec) -> Node {
    if spec.is_short() {
        let version = spec
            .version
            .as_ref()
            .map_or_else(String::new, |version| format!("@{version}"));
        return Node::string(format!("{}{version}", spec.source));
    }
    let mut node = Node::empty_mapping();
    let Data::Mapping(mapping) = &mut node.data else {
        return node;
    };
    mapping.set("source", Node::string(&*spec.source));
    if let Some(version) = &spec.version {
        mapping.set("version", Node::string(&**version));
    }
    if !spec.parameters.is_empty() {
        mapping.set("parameters", from_json(&serde_json::json!(spec.parameters)));
    }
    if !spec.checksums.is_empty() {
        mapping.set("checksums", from_json(&serde_json::json!(spec.checksums)));
    }
    if let Some(url) = &spec.plugin_download_url {
        mapping.set("pluginDownloadURL", Node::string(&**url));
    }
    if !spec.extensions.is_empty() {
        mapping.set("extensions", from_json(&serde_json::json!(spec.extensions)));
    }
    node
}
