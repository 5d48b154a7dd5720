//! The block `language.nodejs` of a schema (`schema.md` 10).

use indexmap::IndexMap;
use plumb_schema::bound::Package;

use crate::GenerateError;
use crate::settings::{Block, Compatibility};

/// Contents of the block.
pub(super) struct Settings<'d> {
    pub(super) package_name: Option<&'d str>,
    pub(super) package_description: Option<&'d str>,
    pub(super) readme: Option<&'d str>,
    pub(super) dependencies: IndexMap<&'d str, &'d str>,
    pub(super) dev_dependencies: IndexMap<&'d str, &'d str>,
    pub(super) peer_dependencies: IndexMap<&'d str, &'d str>,
    pub(super) resolutions: IndexMap<&'d str, &'d str>,
    pub(super) typescript_version: Option<&'d str>,
    pub(super) module_to_package: IndexMap<&'d str, &'d str>,
    pub(super) compatibility: Compatibility,
    pub(super) disable_union_outputs: bool,
    pub(super) provider_modules: IndexMap<&'d str, &'d str>,
    pub(super) extra_files: Vec<&'d str>,
    pub(super) lift_single_value_returns: bool,
    pub(super) respect_schema_version: bool,
}

impl<'d> Settings<'d> {
    pub(super) fn read(package: &Package<'d>) -> Result<Self, GenerateError> {
        let block = Block {
            language: "nodejs",
            node: package.language.get("nodejs"),
        };
        Ok(Settings {
            package_name: block.text("packageName")?,
            package_description: block.text("packageDescription")?,
            readme: block.text("readme")?,
            dependencies: block.map("dependencies")?,
            dev_dependencies: block.map("devDependencies")?,
            peer_dependencies: block.map("peerDependencies")?,
            resolutions: block.map("resolutions")?,
            typescript_version: block.text("typescriptVersion")?,
            module_to_package: block.map("moduleToPackage")?,
            compatibility: Compatibility::from_name(block.text("compatibility")?),
            disable_union_outputs: block.flag("disableUnionOutputTypes")?,
            provider_modules: block.map("providerNameToModuleName")?,
            extra_files: block.texts("extraTypeScriptFiles")?.unwrap_or_default(),
            lift_single_value_returns: block.flag("liftSingleValueMethodReturns")?,
            respect_schema_version: block.flag("respectSchemaVersion")?,
        })
    }
}
