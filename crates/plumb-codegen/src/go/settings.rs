//! The block `language.go` of a schema (`schema.md` 10).

use indexmap::IndexMap;
use plumb_schema::bound::Package;

use crate::GenerateError;
use crate::settings::Block;

/// Contents of the block.
pub(super) struct Settings<'d> {
    pub(super) import_base_path: Option<&'d str>,
    pub(super) module_path: Option<&'d str>,
    pub(super) root_package_name: Option<&'d str>,
    pub(super) module_to_package: IndexMap<&'d str, &'d str>,
    pub(super) import_aliases: IndexMap<&'d str, &'d str>,
    pub(super) has_resource_containers: bool,
    pub(super) sdk_version: Option<&'d str>,
    pub(super) lift_single_value_returns: bool,
    pub(super) disable_input_registrations: bool,
    pub(super) internal_module: &'d str,
    pub(super) disable_object_defaults: bool,
    pub(super) has_extra_inputs: bool,
    pub(super) respect_schema_version: bool,
    pub(super) internal_dependencies: Vec<&'d str>,
    pub(super) generics: Generics,
}

/// Packages generated for the generic part of the core SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generics {
    /// None.
    None,
    /// Additional packages below the folder `x`; outputs of the main packages are compatible with
    /// them.
    Beside,
    /// All packages.
    Only,
}

impl<'d> Settings<'d> {
    pub(super) fn read(package: &Package<'d>) -> Result<Self, GenerateError> {
        let block = Block {
            language: "go",
            node: package.language.get("go"),
        };
        let generics = block.text("generics")?.unwrap_or("none");
        let generics = match generics {
            "generics-only" | "only-generics" => Generics::Only,
            "side-by-side" => Generics::Beside,
            _ => Generics::None,
        };
        Ok(Settings {
            import_base_path: block.text("importBasePath")?,
            module_path: block.text("modulePath")?,
            root_package_name: block.text("rootPackageName")?,
            module_to_package: block.map("moduleToPackage")?,
            import_aliases: block.map("packageImportAliases")?,
            has_resource_containers: block.flag("generateResourceContainerTypes")?,
            sdk_version: block.text("pulumiSDKVersion")?,
            lift_single_value_returns: block.flag("liftSingleValueMethodReturns")?,
            disable_input_registrations: block.flag("disableInputTypeRegistrations")?,
            internal_module: block.text("internalModuleName")?.unwrap_or("internal"),
            disable_object_defaults: block.flag("disableObjectDefaults")?,
            has_extra_inputs: block.flag("generateExtraInputTypes")?,
            respect_schema_version: block.flag("respectSchemaVersion")?,
            internal_dependencies: block.texts("internalDependencies")?.unwrap_or_default(),
            generics,
        })
    }
}
