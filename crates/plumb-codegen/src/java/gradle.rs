//! Gradle build files.

use serde_json::Value;

use super::names;
use super::sdk::Sdk;
use crate::plugin;
use crate::writer::Writer;

/// Placeholder for the version, which the build replaces.
const VERSION: &str = "@VERSION@";
const HEADER: &str = "// Generated from a package schema.";
const JUNIT: &str = "org.junit.jupiter:junit-jupiter:5.10.2";
const LAUNCHER: &str = "org.junit.platform:junit-platform-launcher";
const LICENSE: &str = "The Apache License, Version 2.0";

const JAVA: &str = r#"
java {
    toolchain {
        languageVersion = JavaLanguageVersion.of(11)
    }
    withSourcesJar()
    withJavadocJar()
}

tasks.withType(JavaCompile).configureEach {
    options.encoding = "UTF-8"
    options.fork = true
    options.forkOptions.memoryMaximumSize = "16g"
}

tasks.withType(Javadoc).configureEach {
    options.encoding = "UTF-8"
    options.addBooleanOption("Xdoclint:none", true)
}

tasks.withType(Jar).configureEach {
    zip64 = true
}
"#;

const SIGNING: &str = r#"
def signingKey = System.getenv("SIGNING_KEY")
if (signingKey) {
    signing {
        useInMemoryPgpKeys(signingKey, System.getenv("SIGNING_PASSWORD"))
        sign(publishing.publications.mainPublication)
    }
}
"#;

const NEXUS: &str = r#"
if (System.getenv("PUBLISH_REPO_USERNAME")) {
    nexusPublishing {
        repositories {
            sonatype {
                nexusUrl.set(uri(System.getenv("PUBLISH_STAGING_URL") ?: "https://ossrh-staging-api.central.sonatype.com/service/local/"))
                snapshotRepositoryUrl.set(uri(System.getenv("PUBLISH_REPO_URL") ?: "https://central.sonatype.com/repository/maven-snapshots/"))
                username = System.getenv("PUBLISH_REPO_USERNAME")
                password = System.getenv("PUBLISH_REPO_PASSWORD")
            }
        }
    }
}
"#;

impl Sdk<'_, '_> {
    /// Text of `settings.gradle`.
    pub(super) fn gradle_settings(&self) -> String {
        let name = literal(&self.root);
        format!("{HEADER}\n\nrootProject.name = {name}\n")
    }

    /// Text of `build.gradle`.
    pub(super) fn gradle_build(&self) -> String {
        let mut writer = Writer::new();
        writer.line(&[HEADER]);
        writer.blank();
        self.plugins(&mut writer);
        writer.blank();
        writer.line(&["group = ", &literal(&self.group)]);
        let version = self.package.version.as_ref().map(ToString::to_string);
        let version = literal(version.as_deref().unwrap_or("0.0.0"));
        writer.line(&[
            "version = System.getenv(\"PACKAGE_VERSION\") ?: (project.version == \"unspecified\" ? ",
            &version,
            " : project.version)",
        ]);
        writer.text(JAVA);
        writer.blank();
        self.requirements(&mut writer);
        writer.blank();
        self.resources(&mut writer);
        writer.blank();
        self.publication(&mut writer);
        writer.text(SIGNING);
        if self.settings.nexus_plugin_version.is_some() {
            writer.text(NEXUS);
        }
        writer.finish()
    }

    fn plugins(&self, writer: &mut Writer) {
        writer.block(&["plugins {"], "}", |writer| {
            for plugin in ["java-library", "maven-publish", "signing"] {
                writer.line(&["id(\"", plugin, "\")"]);
            }
            if let Some(version) = self.settings.nexus_plugin_version {
                let version = literal(version);
                let plugin = "id(\"io.github.gradle-nexus.publish-plugin\") version ";
                writer.line(&[plugin, &version]);
            }
        });
    }

    fn requirements(&self, writer: &mut Writer) {
        writer.block(&["repositories {"], "}", |writer| {
            writer.line(&["mavenLocal()"]);
            writer.line(&["mavenCentral()"]);
            for repository in &self.settings.repositories {
                writer.line(&["maven { url(", &literal(repository), ") }"]);
            }
        });
        writer.blank();
        writer.block(&["dependencies {"], "}", |writer| {
            for (name, version) in self.dependencies() {
                let coordinates = literal(&format!("{name}:{version}"));
                writer.line(&["implementation(", &coordinates, ")"]);
            }
            if self.settings.has_tests {
                writer.line(&["testImplementation(\"", JUNIT, "\")"]);
                writer.line(&["testRuntimeOnly(\"", LAUNCHER, "\")"]);
            }
        });
        if self.settings.has_tests {
            writer.blank();
            writer.block(&["test {"], "}", |writer| {
                writer.line(&["useJUnitPlatform()"]);
            });
        }
    }

    /// Task that writes the version and the plugin description as resources of the library.
    fn resources(&self, writer: &mut Writer) {
        let folder = literal(&self.root.replace('.', "/"));
        let plugin = literal(&self.plugin().to_string());
        let open = "def pulumiResources = tasks.register(\"pulumiResources\") {";
        writer.block(&[open], "}", |writer| {
            writer.line(&["def folder = layout.buildDirectory.dir(\"pulumi-resources\")"]);
            writer.line(&["def release = project.version.toString()"]);
            writer.line(&["inputs.property(\"release\", release)"]);
            writer.line(&["outputs.dir(folder)"]);
            writer.block(&["doLast {"], "}", |writer| {
                writer.line(&["def target = new File(folder.get().asFile, ", &folder, ")"]);
                writer.line(&["target.mkdirs()"]);
                writer.line(&["new File(target, \"version.txt\").text = release"]);
                writer.line(&[
                    "new File(target, \"plugin.json\").text = ",
                    &plugin,
                    ".replace(\"",
                    VERSION,
                    "\", release)",
                ]);
            });
        });
        writer.blank();
        writer.line(&["sourceSets.main.resources.srcDir(pulumiResources)"]);
        writer.line(&["processResources.duplicatesStrategy = DuplicatesStrategy.INCLUDE"]);
    }

    /// Plugin description, with a placeholder for the version.
    fn plugin(&self) -> Value {
        let mut plugin = plugin::describe(self.package, true);
        let package = if plugin["parameterization"].is_object() {
            &mut plugin["parameterization"]
        } else if plugin["extensionParameterization"].is_object() {
            &mut plugin["extensionParameterization"]
        } else {
            &mut plugin
        };
        package["version"] = VERSION.into();
        plugin
    }

    fn publication(&self, writer: &mut Writer) {
        let about = &self.package.about;
        let artifact = names::package(self.package.name).replace('.', "-");
        let name = format!("pulumi-{}", self.package.name);
        let url = about.repository.or(about.homepage).unwrap_or_default();
        let url = literal(url);
        let description = literal(about.description.unwrap_or_default());
        let license = literal(about.license.unwrap_or(LICENSE));
        let publisher = literal(about.publisher.unwrap_or("Pulumi"));
        writer.block(&["publishing.publications {"], "}", |writer| {
            writer.block(&["mainPublication(MavenPublication) {"], "}", |writer| {
                writer.line(&["artifactId = ", &literal(&artifact)]);
                writer.line(&["from components.java"]);
                writer.block(&["pom {"], "}", |writer| {
                    writer.line(&["name = ", &literal(&name)]);
                    writer.line(&["description = ", &description]);
                    writer.line(&["url = ", &url]);
                    writer.line(&["scm { url = ", &url, " }"]);
                    writer.line(&["licenses { license { name = ", &license, " } }"]);
                    writer.line(&["developers { developer { name = ", &publisher, " } }"]);
                });
            });
        });
    }
}

/// String literal of Groovy without interpolation.
fn literal(text: &str) -> String {
    let mut result = String::from("'");
    for char in text.chars() {
        match char {
            '\'' => result.push_str("\\'"),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            char if char.is_control() || char == '\u{2028}' || char == '\u{2029}' => {
                result.push(' ');
            }
            char => result.push(char),
        }
    }
    result.push('\'');
    result
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn literals_of_groovy_hold_nothing_that_it_reads() {
        assert_eq!(literal("it's $x \\u0027\n"), r"'it\'s $x \\u0027\n'");
    }
}
