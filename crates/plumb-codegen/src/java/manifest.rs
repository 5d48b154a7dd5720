//! What a package is besides its sources: metadata of the plugin, dependencies, README (`codegen.md` 6).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::sdk::Sdk;
use crate::{FilePath, GenerateError, Purpose, Sink};

/// What every SDK needs, unless the schema says otherwise.
const DEPENDENCIES: [(&str, &str); 3] = [
    ("com.google.code.findbugs:jsr305", "3.0.2"),
    ("com.google.code.gson:gson", "2.8.9"),
    ("com.pulumi:pulumi", "1.0.0"),
];
/// The core SDK that knows packages made from others, and the one that knows extensions.
const PARAMETERIZED_CORE: &str = "1.8.0";
const EXTENDED_CORE: &str = "1.36.1";

impl Sdk<'_, '_> {
    /// Writes everything that is no source.
    pub(super) fn manifests(&self, sink: &mut dyn Sink) -> Result<(), GenerateError> {
        let mut file = |path: &str, text: String| sink.file(FilePath::new(path)?, text);
        file("README.md", self.readme())?;
        file(".gitattributes", "* linguist-generated\n".to_owned())?;
        file(".gitignore", ".gradle/\nbin/\nbuild/\ntarget/\n".to_owned())?;
        // Without a build that knows the version, the files that hold it are there from the start.
        let is_local = self.purpose == Purpose::Local;
        let version = self.package.version.as_ref();
        if let Some(version) = version.filter(|_| is_local || self.package.support_pack) {
            let folder = format!("src/main/resources/{}", self.root.replace('.', "/"));
            let plugin = format!("{:#}\n", self.plugin(&version.to_string()));
            file(&format!("{folder}/version.txt"), format!("{version}\n"))?;
            file(&format!("{folder}/plugin.json"), plugin)?;
        }
        if !is_local && self.settings.has_build_files {
            file("build.gradle", self.gradle_build())?;
            file("settings.gradle", self.gradle_settings())?;
        }
        Ok(())
    }

    fn readme(&self) -> String {
        let about = &self.package.about;
        let mut text = about.description.unwrap_or_default().trim_end().to_owned();
        if let Some(attribution) = about.attribution {
            text.push_str("\n\n");
            text.push_str(attribution);
        }
        text.push('\n');
        text
    }

    /// What tells which plugin the package needs.
    pub(super) fn plugin(&self, version: &str) -> Value {
        let package = self.package;
        let mut plugin = Map::new();
        plugin.insert("resource".to_owned(), true.into());
        if let Some(parameterization) = &package.parameterization {
            plugin.insert("name".to_owned(), parameterization.base_name.into());
            plugin.insert("version".to_owned(), parameterization.base_version.into());
            let key = if parameterization.is_extension {
                "extensionParameterization"
            } else {
                "parameterization"
            };
            let inner = json!({
                "name": package.name,
                "version": version,
                "value": parameterization.parameter,
            });
            plugin.insert(key.to_owned(), inner);
        } else {
            plugin.insert("name".to_owned(), package.name.into());
            plugin.insert("version".to_owned(), version.into());
        }
        if let Some(url) = package.download_url {
            plugin.insert("server".to_owned(), url.into());
        }
        Value::Object(plugin)
    }

    /// Artifacts that the package needs, with their versions.
    pub(super) fn dependencies(&self) -> BTreeMap<String, String> {
        let mut dependencies: BTreeMap<String, String> = DEPENDENCIES
            .iter()
            .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
            .collect();
        if let Some(parameterization) = &self.package.parameterization {
            let core = if parameterization.is_extension {
                EXTENDED_CORE
            } else {
                PARAMETERIZED_CORE
            };
            dependencies.insert("com.pulumi:pulumi".to_owned(), core.to_owned());
        }
        for dependency in &self.package.dependencies {
            let artifact = format!("com.pulumi:{}", dependency.name);
            if let Some(version) = dependency.version {
                dependencies.insert(artifact, version.to_owned());
            }
        }
        for (name, version) in &self.settings.dependencies {
            dependencies.insert((*name).to_owned(), (*version).to_owned());
        }
        dependencies
    }
}
