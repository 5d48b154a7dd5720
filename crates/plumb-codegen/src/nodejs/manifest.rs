//! Files of a package besides its sources: `package.json`, `tsconfig.json`, README (`codegen.md`
//! 2.2).

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::sdk::Sdk;
use crate::{FilePath, GenerateError, Purpose, Sink, plugin};

const PULUMI: &str = "@pulumi/pulumi";

const POSTINSTALL: &str = r#"// Compiles the package where it was put.
const fs = require("fs");
const path = require("path");
const { spawnSync } = require("child_process");

const root = path.join(__dirname, "..");
const types = Object.keys({
    ...require("../package.json").dependencies,
    ...require("../package.json").devDependencies,
}).filter((name) => name.startsWith("@types/")).map((name) => name.slice("@types/".length));
const compiler = require.resolve("typescript/bin/tsc", { paths: [root, process.cwd()] });
const { status } = spawnSync(process.execPath, [compiler, "--types", types.join(",")], { cwd: root, stdio: "inherit" });
if (status !== 0) {
    process.exit(status === null ? 1 : status);
}
fs.copyFileSync(path.join(root, "package.json"), path.join(root, "bin", "package.json"));
"#;

impl Sdk<'_, '_> {
    /// Writes every file that is not a source file.
    pub(super) fn manifests(
        &self,
        mut sources: Vec<FilePath>,
        local_dependencies: &BTreeMap<String, String>,
        sink: &mut dyn Sink,
    ) -> Result<(), GenerateError> {
        for extra in &self.settings.extra_files {
            sources.push(FilePath::new(extra)?);
        }
        sources.sort();
        sources.dedup();
        let mut file = |path: &str, text: String| sink.file(FilePath::new(path)?, text);
        file(
            "package.json",
            pretty(&self.package_json(local_dependencies)),
        )?;
        file("tsconfig.json", pretty(&tsconfig(&sources)))?;
        let readme = plugin::readme(self.package, self.settings.readme);
        file("README.md", readme)?;
        file(".gitignore", "node_modules/\nbin/\n".to_owned())?;
        file(".gitattributes", "* linguist-generated\n".to_owned())?;
        if self.purpose == Purpose::Local {
            file("scripts/postinstall.js", POSTINSTALL.to_owned())?;
        }
        Ok(())
    }

    /// Whether the schema's version is part of the generated files.
    fn has_version(&self) -> bool {
        self.package.support_pack || self.settings.respect_schema_version
    }

    fn version(&self) -> String {
        match &self.package.version {
            Some(version) if self.has_version() => version.to_string(),
            _ => "${VERSION}".to_owned(),
        }
    }

    /// Package name on npm.
    pub(super) fn npm_name(&self) -> String {
        if let Some(name) = self.settings.package_name {
            return name.to_owned();
        }
        let namespace = self.package.namespace.unwrap_or("pulumi");
        format!("@{namespace}/{}", self.package.name)
    }

    fn package_json(&self, local: &BTreeMap<String, String>) -> Value {
        let about = &self.package.about;
        let mut json = Map::new();
        let is_local = self.purpose == Purpose::Local;
        json.insert("name".to_owned(), self.npm_name().into());
        json.insert("version".to_owned(), self.version().into());
        if is_local {
            json.insert("main".to_owned(), "bin/index.js".into());
        }
        let description = self.settings.package_description.or(about.description);
        let mut text = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                json.insert(key.to_owned(), value.into());
            }
        };
        text("description", description);
        text("homepage", about.homepage);
        text("repository", about.repository);
        text("license", about.license);
        if !about.keywords.is_empty() {
            json.insert("keywords".to_owned(), about.keywords.clone().into());
        }
        let scripts = if is_local {
            json!({"build": "tsc", "postinstall": "node ./scripts/postinstall.js"})
        } else {
            json!({"build": "tsc"})
        };
        json.insert("scripts".to_owned(), scripts);
        for (key, entries) in self.dependencies(local) {
            if !entries.is_empty() {
                json.insert(key.to_owned(), json!(entries));
            }
        }
        let plugin = plugin::describe(self.package, self.has_version());
        json.insert("pulumi".to_owned(), plugin);
        Value::Object(json)
    }

    fn dependencies(
        &self,
        local: &BTreeMap<String, String>,
    ) -> [(&'static str, IndexMap<String, String>); 4] {
        let settings = &self.settings;
        let owned = |entries: &IndexMap<&str, &str>| -> IndexMap<String, String> {
            let entries = entries.iter();
            entries
                .map(|(name, range)| ((*name).to_owned(), (*range).to_owned()))
                .collect()
        };
        let linked = |entries: &IndexMap<&str, &str>| -> IndexMap<String, String> {
            let mut entries = owned(entries);
            for (name, range) in &mut entries {
                if let Some(path) = local.get(name) {
                    range.clone_from(path);
                }
            }
            entries
        };
        let mut dependencies = linked(&settings.dependencies);
        let mut dev = owned(&settings.dev_dependencies);
        let peers = owned(&settings.peer_dependencies);
        let typescript = settings.typescript_version.unwrap_or("^4.7.0");
        let tools = if self.purpose == Purpose::Local {
            &mut dependencies
        } else {
            &mut dev
        };
        for (name, range) in [("typescript", typescript), ("@types/node", "^20")] {
            tools
                .entry(name.to_owned())
                .or_insert_with(|| range.to_owned());
        }
        for dependency in &self.package.dependencies {
            let name = format!("@pulumi/{}", dependency.name);
            let version = match local.get(dependency.name) {
                Some(path) => path.clone(),
                None => dependency.version.unwrap_or("*").to_owned(),
            };
            dependencies.entry(name).or_insert(version);
        }
        let is_listed = [&dependencies, &dev, &peers]
            .iter()
            .any(|entries| entries.contains_key(PULUMI));
        if !is_listed {
            let is_replacement = self
                .package
                .parameterization
                .as_ref()
                .is_some_and(|it| !it.is_extension);
            let range = if is_replacement {
                "^3.238.0"
            } else {
                "^3.142.0"
            };
            let core = local.get("pulumi").map_or(range, String::as_str);
            dependencies.insert(PULUMI.to_owned(), core.to_owned());
        }
        for entries in [&mut dependencies, &mut dev] {
            entries.sort_keys();
        }
        [
            ("dependencies", dependencies),
            ("devDependencies", dev),
            ("peerDependencies", peers),
            ("resolutions", owned(&settings.resolutions)),
        ]
    }
}

fn tsconfig(sources: &[FilePath]) -> Value {
    json!({
        "compilerOptions": {
            "declaration": true,
            "declarationMap": true,
            "forceConsistentCasingInFileNames": true,
            "module": "nodenext",
            "moduleResolution": "nodenext",
            "outDir": "bin",
            "sourceMap": true,
            "strict": true,
            "stripInternal": true,
            "target": "ES2022",
        },
        "files": sources.iter().map(FilePath::as_str).collect::<Vec<_>>(),
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
