//! The block `language.java` of a schema (`schema.md` 10).

use indexmap::IndexMap;
use plumb_schema::bound::Package;

use crate::GenerateError;
use crate::settings::Block;

/// Contents of the block.
pub(super) struct Settings<'d> {
    pub(super) base_package: Option<&'d str>,
    pub(super) packages: IndexMap<&'d str, &'d str>,
    pub(super) has_build_files: bool,
    pub(super) dependencies: IndexMap<&'d str, &'d str>,
    pub(super) nexus_plugin_version: Option<&'d str>,
    pub(super) has_tests: bool,
    pub(super) repositories: Vec<&'d str>,
}

impl<'d> Settings<'d> {
    pub(super) fn read(package: &Package<'d>) -> Result<Self, GenerateError> {
        let block = Block {
            language: "java",
            node: package.language.get("java"),
        };
        let wrong = |key: &str, expected| GenerateError::Setting {
            language: "java",
            key: key.to_owned(),
            expected,
        };
        let has_build_files = match block.text("buildFiles")? {
            None | Some("gradle") => true,
            Some("none") => false,
            Some(_) => return Err(wrong("buildFiles", "`gradle` or `none`")),
        };
        let has_tests = match block.text("gradleTest")? {
            None => false,
            Some("JUnitPlatform") => true,
            Some(_) => return Err(wrong("gradleTest", "`JUnitPlatform`")),
        };
        if block.flag("fullyTypedUnions")? {
            return Err(GenerateError::Unsupported {
                what: "interfaces for unions (`language.java.fullyTypedUnions`), whose annotations are in no published SDK",
            });
        }
        Ok(Settings {
            base_package: block.text("basePackage")?,
            packages: block.map("packages")?,
            has_build_files,
            dependencies: block.map("dependencies")?,
            nexus_plugin_version: block.text("gradleNexusPublishPluginVersion")?,
            has_tests,
            repositories: block.texts("repositories")?.unwrap_or_default(),
        })
    }
}
