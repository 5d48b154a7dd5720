//! Files of a package besides its sources: plugin metadata, dependencies, README (`codegen.md` 6).

use std::collections::BTreeMap;

use super::sdk::Sdk;
use crate::{FilePath, GenerateError, Purpose, Sink, plugin};

/// Dependencies of every SDK, with versions that the schema can override.
const DEPENDENCIES: [(&str, &str); 3] = [
    ("com.google.code.findbugs:jsr305", "3.0.2"),
    ("com.google.code.gson:gson", "2.8.9"),
    ("com.pulumi:pulumi", "1.0.0"),
];
/// Minimum core SDK for parameterized packages, and for packages with extension parameterization.
const PARAMETERIZED_CORE: &str = "1.8.0";
const EXTENDED_CORE: &str = "1.36.1";

impl Sdk<'_, '_> {
    /// Writes every file that is not a source file.
    pub(super) fn manifests(&self, sink: &mut dyn Sink) -> Result<(), GenerateError> {
        let mut file = |path: &str, text: String| sink.file(FilePath::new(path)?, text);
        file("README.md", self.readme())?;
        file(".gitattributes", "* linguist-generated\n".to_owned())?;
        file(".gitignore", ".gradle/\nbin/\nbuild/\ntarget/\n".to_owned())?;
        // Without a Gradle build, which would write them, the resource files are generated here.
        let is_local = self.purpose == Purpose::Local;
        let version = self.package.version.as_ref();
        if let Some(version) = version.filter(|_| is_local || self.package.support_pack) {
            let folder = format!("src/main/resources/{}", self.root.replace('.', "/"));
            let plugin = format!("{:#}\n", plugin::describe(self.package, true));
            file(&format!("{folder}/version.txt"), format!("{version}\n"))?;
            file(&format!("{folder}/plugin.json"), plugin)?;
        }
        if !is_local && self.settings.has_build_files {
            file("build.gradle", self.gradle_build())?;
            file("settings.gradle", self.gradle_settings())?;
        }
        Ok(())
    }

    /// README. For a local SDK it lists the dependencies, because there is no build file for them.
    fn readme(&self) -> String {
        let mut text = plugin::readme(self.package, None);
        if self.purpose == Purpose::Local {
            text.push_str(
                "\nTo use this SDK, copy `src` into your project, and let its build file ask for:\n\n",
            );
            for (name, version) in self.dependencies() {
                text.push_str("- `");
                text.push_str(&name);
                text.push(':');
                text.push_str(&version);
                text.push_str("`, or newer\n");
            }
        }
        text
    }

    /// Artifacts that the package depends on, with their versions.
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
