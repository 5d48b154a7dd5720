//! Files of a package besides its sources: manifest, README, plugin description (`codegen.md` 3.2).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::names;
use super::sdk::{Sdk, package_name};
use super::settings::Manifest;
use crate::{FilePath, GenerateError, Sink, plugin};

const IGNORED: &str = "*.pyc\n__pycache__/\n.mypy_cache/\nbuild/\ndist/\n*.egg-info/\n";

impl Sdk<'_, '_> {
    /// Writes every file that is not a source file.
    pub(super) fn manifests(&self, sink: &mut dyn Sink) -> Result<(), GenerateError> {
        let readme = plugin::readme(self.package, self.settings.readme);
        let plugin = plugin::describe(self.package, self.has_version());
        let mut own = |file: &str, text: String| sink.file(self.path("", file)?, text);
        own("README.md", readme.clone())?;
        own("py.typed", String::new())?;
        own("pulumi-plugin.json", format!("{plugin:#}\n"))?;
        let mut file = |path: &str, text: String| sink.file(FilePath::new(path)?, text);
        match self.settings.manifest {
            Manifest::Setup => file("setup.py", self.setup())?,
            Manifest::Pyproject => file("pyproject.toml", self.pyproject())?,
        }
        file("README.md", readme)?;
        file(".gitignore", IGNORED.to_owned())?;
        file(".gitattributes", "* linguist-generated\n".to_owned())
    }

    /// Whether the schema's version is part of the generated files.
    fn has_version(&self) -> bool {
        self.package.support_pack || self.settings.respect_schema_version
    }

    fn version(&self) -> String {
        match &self.package.version {
            Some(version) if self.has_version() => names::distribution_version(version),
            _ => "0.0.0".to_owned(),
        }
    }

    /// First part of the description, on one line.
    fn summary(&self) -> Option<String> {
        let description = self.package.about.description?;
        let words: Vec<&str> = description.split_whitespace().collect();
        Some(words.join(" ")).filter(|text| !text.is_empty())
    }

    /// Distributions that this one depends on, with their versions.
    fn dependencies(&self) -> Vec<String> {
        let is_parameterized = self.is_parameterized();
        let core = if is_parameterized {
            ">=3.247.0,<4.0.0"
        } else {
            ">=3.231.0,<4.0.0"
        };
        let mut needed: BTreeMap<String, String> = BTreeMap::new();
        let mut need = |name: &str, range: &str| needed.insert(name.to_owned(), range.to_owned());
        need("packaging", ">=24.0");
        need("pulumi", core);
        need("semver", ">=2.8.1");
        if self.settings.has_dicts() {
            need("typing-extensions", ">=4.11,<5; python_version < \"3.11\"");
        }
        for dependency in &self.package.dependencies {
            let mut externals = self.package.externals.iter();
            let external = externals.find(|it| it.name == dependency.name);
            let schema = external.and_then(|it| it.schema.as_ref());
            let name = package_name(schema.and_then(|it| it.namespace()), dependency.name);
            let range = dependency.version.map(|version| format!(">={version}"));
            need(&name, &range.unwrap_or_default());
        }
        for (name, range) in &self.settings.requires {
            need(name, range);
        }
        let needed = needed.into_iter();
        needed
            .map(|(name, range)| format!("{name}{range}"))
            .collect()
    }

    fn python_requires(&self) -> &str {
        self.settings.python_requires.unwrap_or(">=3.9")
    }

    fn pyproject(&self) -> String {
        let about = &self.package.about;
        let mut text = String::from("[project]\n");
        let mut put = |key: &str, value: String| {
            let _ = writeln!(text, "{key} = {value}");
        };
        put("name", toml(&self.name));
        put("version", toml(&self.version()));
        if let Some(summary) = self.summary() {
            put("description", toml(&summary));
        }
        put("readme", toml("README.md"));
        put("requires-python", toml(self.python_requires()));
        if let Some(license) = about.license {
            put("license", format!("{{ text = {} }}", toml(license)));
        }
        if !about.keywords.is_empty() {
            put("keywords", toml_list(&about.keywords));
        }
        put("dependencies", toml_list(&self.dependencies()));
        let urls = [
            ("Homepage", about.homepage),
            ("Repository", about.repository),
        ];
        let urls = urls.iter().filter_map(|(name, url)| Some((name, (*url)?)));
        let urls: Vec<String> = urls
            .map(|(name, url)| format!("{name} = {}\n", toml(url)))
            .collect();
        if !urls.is_empty() {
            let _ = write!(text, "\n[project.urls]\n{}", urls.concat());
        }
        let name = &self.name;
        let _ = write!(
            text,
            "\n[build-system]\nrequires = [\"setuptools>=61.0\"]\nbuild-backend = \"setuptools.build_meta\"\n\
             \n[tool.setuptools.packages.find]\ninclude = [\"{name}\", \"{name}.*\"]\n\
             \n[tool.setuptools.package-data]\n{name} = [\"py.typed\", \"pulumi-plugin.json\"]\n"
        );
        text
    }

    fn setup(&self) -> String {
        let about = &self.package.about;
        let mut arguments: Vec<(&str, String)> = vec![
            ("name", names::string(&self.name)),
            ("version", "VERSION".to_owned()),
            ("python_requires", names::string(self.python_requires())),
        ];
        if let Some(summary) = self.summary() {
            arguments.push(("description", names::string(&summary)));
        }
        arguments.push(("long_description", "readme()".to_owned()));
        arguments.push((
            "long_description_content_type",
            names::string("text/markdown"),
        ));
        if !about.keywords.is_empty() {
            arguments.push(("keywords", names::string(&about.keywords.join(" "))));
        }
        if let Some(url) = about.homepage {
            arguments.push(("url", names::string(url)));
        }
        if let Some(url) = about.repository {
            let urls = format!("{{\"Repository\": {}}}", names::string(url));
            arguments.push(("project_urls", urls));
        }
        if let Some(license) = about.license {
            arguments.push(("license", names::string(license)));
        }
        let dependencies = self.dependencies();
        let dependencies: Vec<String> = dependencies
            .iter()
            .map(|it| format!("        {},\n", names::string(it)))
            .collect();
        let name = &self.name;
        arguments.push((
            "packages",
            format!("find_packages(include=[\"{name}\", \"{name}.*\"])"),
        ));
        arguments.push((
            "package_data",
            format!("{{\"{name}\": [\"py.typed\", \"pulumi-plugin.json\"]}}"),
        ));
        arguments.push((
            "install_requires",
            format!("[\n{}    ]", dependencies.concat()),
        ));
        arguments.push(("zip_safe", "False".to_owned()));
        let arguments: Vec<String> = arguments
            .iter()
            .map(|(key, value)| format!("    {key}={value},\n"))
            .collect();
        format!(
            "# Generated from a package schema. Changes by hand are lost when it is generated again.\n\n\
             from setuptools import find_packages, setup\n\nVERSION = {}\n\n\n\
             def readme():\n    try:\n        with open(\"README.md\", encoding=\"utf-8\") as file:\n            \
             return file.read()\n    except FileNotFoundError:\n        return \"\"\n\n\nsetup(\n{})\n",
            names::string(&self.version()),
            arguments.concat()
        )
    }
}

/// String in TOML, which requires one more character to be escaped than JSON.
fn toml(text: &str) -> String {
    names::string(text).replace('\u{7f}', "\\u007f")
}

fn toml_list(items: &[impl AsRef<str>]) -> String {
    let items: Vec<String> = items.iter().map(|it| toml(it.as_ref())).collect();
    format!("[{}]", items.join(", "))
}
