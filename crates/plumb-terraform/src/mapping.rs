//! Mappings that providers made from Terraform's tell of themselves: tokens and names of properties.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

/// The parts of a mapping that conversion needs.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Mapping {
    /// Name of the package.
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) resources: BTreeMap<String, Member>,
    #[serde(default, rename = "dataSources")]
    pub(crate) data_sources: BTreeMap<String, Member>,
}

/// A resource type or data source.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Member {
    #[serde(default, rename = "tok")]
    pub(crate) token: String,
    #[serde(default)]
    pub(crate) fields: Option<Arc<Renames>>,
}

/// Fields with names of their own, by their name in Terraform.
pub(crate) type Renames = BTreeMap<String, Rename>;

/// Entry of a mapping for one field.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Rename {
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    element: Option<Box<Rename>>,
    #[serde(default)]
    fields: Option<Arc<Renames>>,
}

impl Rename {
    /// The fields of the objects that the field holds, directly or in a list.
    pub(crate) fn inner(&self) -> Option<Arc<Renames>> {
        let own = self.fields.as_ref().filter(|it| !it.is_empty());
        match own {
            Some(fields) => Some(fields.clone()),
            None => self.element.as_ref()?.inner(),
        }
    }
}

impl Mapping {
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }
}
