//! Files of a package besides its sources: project file, plugin metadata, README (`codegen.md` 5.1).

use std::collections::BTreeMap;

use super::sdk::Sdk;
use crate::writer::Writer;
use crate::{FilePath, GenerateError, Purpose, Sink, plugin};

/// Version range of the core SDK, and the range for packages with extension parameterization.
const CORE: &str = "[3.76.1.0,4)";
const EXTENDED_CORE: &str = "[3.109.0,4)";

/// Logo for every package. A package's own logo may be a URL, and generation does not download anything.
const LOGO: &[u8] = include_bytes!("logo.png");

impl Sdk<'_, '_> {
    /// Writes every file that is not a source file.
    pub(super) fn manifests(&self, sink: &mut dyn Sink) -> Result<(), GenerateError> {
        let mut file = |path: &str, text: String| sink.file(FilePath::new(path)?, text);
        let plugin = plugin::describe(self.package, self.has_version());
        file("README.md", plugin::readme(self.package, None))?;
        file(".gitattributes", "* linguist-generated\n".to_owned())?;
        file(".gitignore", "bin/\nobj/\n.vs/\n".to_owned())?;
        file("pulumi-plugin.json", format!("{plugin:#}\n"))?;
        let version = self.package.version.as_ref();
        if let Some(version) = version.filter(|_| self.has_version()) {
            file("version.txt", format!("{version}\n"))?;
        }
        file(&format!("{}.csproj", self.root.package), self.project())?;
        sink.picture(FilePath::new("logo.png")?, LOGO)
    }

    /// Whether the schema's version is written to `version.txt`.
    fn has_version(&self) -> bool {
        self.package.support_pack
            || self.settings.respect_schema_version
            || self.purpose == Purpose::Local
    }

    /// Dependencies of the package, with their versions.
    fn references(&self) -> BTreeMap<String, String> {
        let parameterization = self.package.parameterization.as_ref();
        let core = if parameterization.is_some_and(|it| it.is_extension) {
            EXTENDED_CORE
        } else {
            CORE
        };
        let mut references = BTreeMap::from([("Pulumi".to_owned(), core.to_owned())]);
        for dependency in &self.package.dependencies {
            let name = super::names::namespace(dependency.name);
            let version = dependency.version.unwrap_or("*").to_owned();
            references.insert(format!("Pulumi.{name}"), version);
        }
        for (name, version) in &self.settings.package_references {
            references.insert((*name).to_owned(), (*version).to_owned());
        }
        references
    }

    fn project(&self) -> String {
        let mut writer = Writer::new();
        writer.block(
            &["<Project Sdk=\"Microsoft.NET.Sdk\">"],
            "</Project>",
            |writer| {
                writer.block(&["<PropertyGroup>"], "</PropertyGroup>", |writer| {
                    self.properties(writer);
                });
                writer.block(&["<ItemGroup>"], "</ItemGroup>", |writer| {
                    for file in ["version.txt", "pulumi-plugin.json"] {
                        writer.line(&["<EmbeddedResource Include=\"", file, "\" />"]);
                        writer.line(&[
                            "<None Include=\"",
                            file,
                            "\" Pack=\"True\" PackagePath=\"content\" />",
                        ]);
                    }
                    writer.line(&["<None Include=\"logo.png\" Pack=\"True\" PackagePath=\"\" />"]);
                });
                writer.block(&["<ItemGroup>"], "</ItemGroup>", |writer| {
                    for (name, version) in self.references() {
                        // Content files of referenced packages must not be copied into this one.
                        let apart = if name.starts_with("Pulumi.") {
                            " ExcludeAssets=\"contentFiles\""
                        } else {
                            ""
                        };
                        writer.line(&[
                            "<PackageReference Include=\"",
                            &xml(&name),
                            "\" Version=\"",
                            &xml(&version),
                            "\"",
                            apart,
                            " />",
                        ]);
                    }
                    for project in &self.settings.project_references {
                        writer.line(&["<ProjectReference Include=\"", &xml(project), "\" />"]);
                    }
                });
            },
        );
        writer.finish()
    }

    fn properties(&self, writer: &mut Writer) {
        let about = &self.package.about;
        let publisher = about.publisher.unwrap_or("Pulumi");
        let version = self.package.version.as_ref().map(ToString::to_string);
        let version = version.filter(|_| self.has_version());
        let mut property = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                writer.line(&["<", name, ">", &xml(value), "</", name, ">"]);
            }
        };
        property("TargetFramework", Some("net6.0"));
        property("Nullable", Some("enable"));
        property("GeneratePackageOnBuild", Some("true"));
        property("Version", version.as_deref());
        property("Authors", Some(publisher));
        property("Company", Some(publisher));
        property("Description", about.description);
        property("PackageLicenseExpression", about.license);
        property("PackageProjectUrl", about.homepage);
        property("RepositoryUrl", about.repository);
        property("PackageIcon", Some("logo.png"));
        property("GenerateDocumentationFile", Some("true"));
        // Warnings: missing XML comments, members that hide inherited ones, malformed XML comments.
        property(
            "NoWarn",
            Some("$(NoWarn);CS0108;CS0612;CS0618;CS1570;CS1571;CS1572;CS1573;CS1574;CS1591"),
        );
    }
}

/// Text escaped for XML.
fn xml(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '&' => result.push_str("&amp;"),
            '"' => result.push_str("&quot;"),
            char if char.is_control() => result.push(' '),
            char => result.push(char),
        }
    }
    result
}
