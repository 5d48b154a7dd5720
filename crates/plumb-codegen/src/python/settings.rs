//! The block `language.python` of a schema (`schema.md` 10).

use indexmap::IndexMap;
use plumb_schema::bound::Package;

use crate::GenerateError;
use crate::settings::{Block, Compatibility};

/// Forms in which object inputs can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputTypes {
    /// Instances of classes.
    Classes,
    /// Instances of classes, or typed dictionaries.
    ClassesAndDicts,
}

impl InputTypes {
    pub(super) fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("classes") => InputTypes::Classes,
            _ => InputTypes::ClassesAndDicts,
        }
    }
}

/// File with the metadata of the distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manifest {
    Setup,
    Pyproject,
}

/// Contents of the block.
pub(super) struct Settings<'d> {
    pub(super) package_name: Option<&'d str>,
    pub(super) python_requires: Option<&'d str>,
    pub(super) requires: IndexMap<&'d str, &'d str>,
    pub(super) readme: Option<&'d str>,
    pub(super) module_names: IndexMap<&'d str, &'d str>,
    pub(super) compatibility: Compatibility,
    pub(super) input_types: InputTypes,
    pub(super) manifest: Manifest,
    pub(super) lift_single_value_returns: bool,
    pub(super) respect_schema_version: bool,
}

impl<'d> Settings<'d> {
    pub(super) fn read(package: &Package<'d>) -> Result<Self, GenerateError> {
        let block = Block {
            language: "python",
            node: package.language.get("python"),
        };
        let pyproject = Block {
            language: "python.pyproject",
            node: block.node.and_then(|node| node.get("pyproject")),
        };
        let manifest = if pyproject.flag("enabled")? {
            Manifest::Pyproject
        } else {
            Manifest::Setup
        };
        Ok(Settings {
            package_name: block.text("packageName")?,
            python_requires: block.text("pythonRequires")?,
            requires: block.map("requires")?,
            readme: block.text("readme")?,
            module_names: block.map("moduleNameOverrides")?,
            compatibility: Compatibility::from_name(block.text("compatibility")?),
            input_types: InputTypes::from_name(block.text("inputTypes")?),
            manifest,
            lift_single_value_returns: block.flag("liftSingleValueMethodReturns")?,
            respect_schema_version: block.flag("respectSchemaVersion")?,
        })
    }

    /// Whether object inputs can be typed dictionaries.
    pub(super) fn has_dicts(&self) -> bool {
        self.input_types == InputTypes::ClassesAndDicts
    }
}
