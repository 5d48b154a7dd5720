//! Changes to a project file that keep what people wrote.

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
    /// Reads a file; `file` names it in errors and tells the format. The content is not checked.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        Ok(ProjectFile {
            document: reader::read(file, text)?,
            format: Format::of(file),
        })
    }

    /// The text to write.
    pub fn to_text(&self) -> String {
        self.format.print(&self.document)
    }

    /// The project that the document describes now.
    pub fn project(&self, file: &str) -> Result<Project, FileError> {
        Project::from_document(file, &self.document)
    }

    /// Sets a top-level text; an absent one goes to the end.
    pub fn set_text(&mut self, key: &str, text: &str) {
        self.root().set(key, Node::string(text));
    }

    /// Takes out a top-level member; tells whether it was there.
    pub fn remove(&mut self, key: &str) -> bool {
        self.root().remove(key)
    }

    /// Sets the runtime: a text when there are no options.
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
