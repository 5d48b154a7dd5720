//! The block `language.csharp` of a schema (`schema.md` 10).

use indexmap::IndexMap;
use plumb_schema::bound::Package;

use crate::GenerateError;
use crate::settings::{Block, Compatibility};

/// Contents of the block.
pub(super) struct Settings<'d> {
    pub(super) root_namespace: Option<&'d str>,
    pub(super) namespaces: IndexMap<&'d str, &'d str>,
    pub(super) compatibility: Compatibility,
    pub(super) package_references: IndexMap<&'d str, &'d str>,
    pub(super) project_references: Vec<&'d str>,
    pub(super) lift_single_value_returns: bool,
    pub(super) respect_schema_version: bool,
    pub(super) dictionary_constructors: bool,
}

impl<'d> Settings<'d> {
    pub(super) fn read(package: &Package<'d>) -> Result<Self, GenerateError> {
        let block = Block {
            language: "csharp",
            node: package.language.get("csharp"),
        };
        Ok(Settings {
            root_namespace: block.text("rootNamespace")?,
            namespaces: block.map("namespaces")?,
            compatibility: Compatibility::from_name(block.text("compatibility")?),
            package_references: block.map("packageReferences")?,
            project_references: block.texts("projectReferences")?.unwrap_or_default(),
            lift_single_value_returns: block.flag("liftSingleValueMethodReturns")?,
            respect_schema_version: block.flag("respectSchemaVersion")?,
            dictionary_constructors: block.flag("dictionaryConstructors")?,
        })
    }
}
