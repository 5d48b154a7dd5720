//! Files other than sources: `go.mod`, `README.md`, `pulumi-plugin.json` (`codegen.md` 4.1).

use std::collections::BTreeMap;

use crate::{FilePath, GenerateError, Sink, plugin};

use super::layout;
use super::model::{Doc, SourceFile};
use super::sdk::Sdk;

/// Module of the core SDK.
const CORE_MODULE: &str = "github.com/pulumi/pulumi/sdk/v3";

/// Required version of the core SDK.
const CORE_SDK: &str = "v3.256.0";

impl Sdk<'_, '_> {
    pub(super) fn manifests(
        &self,
        local_dependencies: &BTreeMap<String, String>,
        sink: &mut dyn Sink,
    ) -> Result<(), GenerateError> {
        let mut root = |name: &str, text: String| sink.file(FilePath::new(name)?, text);
        root(".gitattributes", "* linguist-generated\n".to_owned())?;
        root("README.md", plugin::readme(self.package, None))?;
        if let Some(path) = &self.layout.module_path {
            let version = self.core_version()?;
            let core = local_dependencies.get("pulumi");
            let replacement =
                core.map(|folder| format!("\nreplace {CORE_MODULE} => {}\n", quoted(folder)));
            root(
                "go.mod",
                format!(
                    "module {path}\n\ngo 1.25\n\nrequire {CORE_MODULE} {version}\n{}",
                    replacement.unwrap_or_default()
                ),
            )?;
        }
        let plugin = plugin::describe(self.package, self.has_version());
        let path = layout::joined(&self.layout.folder, "pulumi-plugin.json");
        root(&path, format!("{plugin:#}\n"))
    }

    /// Required version of the core SDK, which settings can override.
    fn core_version(&self) -> Result<String, GenerateError> {
        let Some(wanted) = self.settings.sdk_version else {
            return Ok(CORE_SDK.to_owned());
        };
        let version = semver::Version::parse(wanted.strip_prefix('v').unwrap_or(wanted));
        let version = version.map_err(|_| GenerateError::Setting {
            language: "go",
            key: "pulumiSDKVersion".to_owned(),
            expected: "a version",
        })?;
        Ok(format!("v{version}"))
    }

    /// `doc.go`, with the description of the package.
    pub(super) fn doc_file(&self) -> Result<SourceFile, GenerateError> {
        let name = self.package.name;
        let usual = format!(
            "Package {name} exports types, functions, subpackages for provisioning {name} resources."
        );
        let text = self
            .package
            .about
            .description
            .filter(|text| !text.trim().is_empty());
        let lines =
            super::comment::lines(&crate::markdown::translate(text.unwrap_or(&usual), self));
        Ok(SourceFile {
            path: self.path("", "doc.go")?,
            doc: Doc {
                lines: lines.into(),
            },
            package: self.layout.package_of(""),
            imports: Default::default(),
            items: Vec::new(),
        })
    }
}

/// A path as `go.mod` has it: quoted unless it is a plain word.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_graphic() && !"\"'`,()[]{}".contains(c);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("{path:?}")
    }
}
