//! Resources to import: those of a file, one that arguments name, or some that were discovered.

use std::path::Path;

use plumb_resource::Urn;

use super::import_document::{FileResource, ImportFile, read};
use crate::Error;

/// Place of the list of resources to import.
#[derive(Clone, Debug)]
pub enum ImportSource {
    /// A file in JSON.
    File(String),
    /// A single resource.
    Inline(InlineResource),
    /// Resources that were discovered and chosen.
    Discovered(Vec<DiscoveredResource>),
}

/// A resource to import that arguments and flags describe.
#[derive(Clone, Debug, Default)]
pub struct InlineResource {
    /// Type, name and ID, unless some are missing.
    pub arguments: Vec<String>,
    /// Names of the properties to import.
    pub properties: Vec<String>,
    /// The parent, as `NAME=URN` or as a URN.
    pub parent: Option<String>,
    /// The provider, as `NAME=URN` or as a URN.
    pub provider: Option<String>,
}

/// A resource that a provider has listed and the user has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveredResource {
    /// Type token.
    pub type_token: String,
    /// Name that it gets in the stack.
    pub name: String,
    /// ID by which the provider reads it.
    pub id: String,
}

impl ImportSource {
    /// Reads the list.
    pub fn list(&self, cwd: &Path) -> Result<ImportFile, Error> {
        match self {
            ImportSource::File(path) => read(path, cwd),
            ImportSource::Inline(resource) => resource.list(),
            ImportSource::Discovered(chosen) => Ok(discovered(chosen)),
        }
    }
}

fn discovered(chosen: &[DiscoveredResource]) -> ImportFile {
    let resources = chosen.iter().cloned();
    let resources = resources.map(|chosen| FileResource {
        r#type: chosen.type_token,
        name: chosen.name,
        id: chosen.id,
        ..FileResource::default()
    });
    ImportFile {
        resources: resources.collect(),
        ..ImportFile::default()
    }
}

impl InlineResource {
    /// Whether arguments and flags describe nothing.
    pub fn is_empty(&self) -> bool {
        let is_empty = |text: &Option<String>| text.as_deref().is_none_or(str::is_empty);
        self.arguments.is_empty()
            && self.properties.is_empty()
            && is_empty(&self.parent)
            && is_empty(&self.provider)
    }

    /// The list of this resource.
    fn list(&self) -> Result<ImportFile, Error> {
        let missing = |what: &str| {
            Err(Error::user(format!(
                "an inline resource must be specified if no converter or import file is used, missing {what}"
            )))
        };
        let [type_token, name, id] = match self.arguments.as_slice() {
            [] => return missing("type, name, and id"),
            [_] => return missing("name and id"),
            [_, _] => return missing("id"),
            [type_token, name, id] => [type_token, name, id].map(Clone::clone),
            _ => return Err(Error::user("only expected at most three arguments")),
        };
        let mut file = ImportFile::default();
        let mut resource = FileResource {
            r#type: type_token,
            name,
            id,
            properties: self.properties.clone(),
            ..FileResource::default()
        };
        if let Some(text) = self.parent.as_deref().filter(|text| !text.is_empty()) {
            let (name, urn) = named_urn(text, "parent");
            if Urn::parse(&urn).is_err() {
                return Err(Error::user(format!("invalid parent URN: '{text}'")));
            }
            file.name_table.insert(name.clone(), urn);
            resource.parent = name;
        }
        if let Some(text) = self.provider.as_deref().filter(|text| !text.is_empty()) {
            let (name, urn) = named_urn(text, "provider");
            if file.name_table.contains_key(&name) {
                return Err(Error::user(format!(
                    "provider and parent must have distinct names, both were '{name}'"
                )));
            }
            file.name_table.insert(name.clone(), urn);
            resource.provider = name;
        }
        file.resources.push(resource);
        Ok(file)
    }
}

/// Parses a flag of the form `name=URN`. Any other text is a URN without a name.
fn named_urn(text: &str, name: &str) -> (String, String) {
    match text.split_once('=') {
        Some((named, urn)) if !named.is_empty() && Urn::parse(urn).is_ok() => {
            (named.to_owned(), urn.to_owned())
        }
        _ => (name.to_owned(), text.to_owned()),
    }
}
