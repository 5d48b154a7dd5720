//! Data shared by all files of an SDK.

use std::borrow::Cow;
use std::collections::BTreeMap;

use plumb_schema::bound::{ExternalPackage, Package, member_of, runtime_module_of};
use plumb_schema::{Constant, PackageSchema};

use super::model::Doc;
use super::names;
use super::settings::Settings;
use super::usage::{self, Usage};
use crate::markdown::{self, Dialect};
use crate::modules::{self, Modules};
pub(super) use crate::modules::{Module, last_step};
use crate::settings::Compatibility;
use crate::{FileMap, FilePath, GenerateError, Purpose};

/// A package with its settings, type uses and modules.
pub(super) struct Sdk<'p, 'd> {
    pub(super) package: &'p Package<'d>,
    pub(super) purpose: Purpose,
    pub(super) settings: Settings<'d>,
    pub(super) usages: Vec<Usage>,
    pub(super) externals: Vec<ExternalSdk>,
    /// Members of each module, by path; includes parent modules without members.
    pub(super) modules: Modules,
}

/// A package that this one refers to.
pub(super) struct ExternalSdk {
    pub(super) alias: String,
    pub(super) npm_name: String,
    pub(super) compatibility: Compatibility,
    modules: BTreeMap<String, String>,
    schema: Option<std::sync::Arc<PackageSchema>>,
}

impl ExternalSdk {
    fn new(external: &ExternalPackage, settings: &Settings<'_>) -> Self {
        let block = external
            .schema
            .as_ref()
            .and_then(|schema| schema.language("nodejs"))
            .unwrap_or(&serde_json::Value::Null);
        let npm_name = settings
            .provider_modules
            .get(external.name.as_str())
            .map_or_else(|| format!("@pulumi/{}", external.name), ToString::to_string);
        let modules = block.get("moduleToPackage").and_then(|it| it.as_object());
        let modules = modules
            .into_iter()
            .flatten()
            .filter_map(|(module, to)| Some((module.clone(), to.as_str()?.to_owned())));
        ExternalSdk {
            alias: names::identifier(&format!("pulumi{}", names::pascal(&external.name)))
                .replace('.', "_"),
            npm_name,
            compatibility: Compatibility::from_name(
                block.get("compatibility").and_then(|it| it.as_str()),
            ),
            modules: modules.collect(),
            schema: external.schema.clone(),
        }
    }

    pub(super) fn module_of(&self, token: &str) -> String {
        let module = if let Some(schema) = &self.schema {
            schema.module_of(token)
        } else {
            // Without the package's schema, assume the common format of modules: `s3/bucket`, where the part
            // after the slash is the file's name.
            let module = runtime_module_of(token).split('/').next();
            let module = module.filter(|module| *module != "index");
            module.unwrap_or_default().to_owned()
        };
        self.modules.get(&module).cloned().unwrap_or(module)
    }
}

impl<'p, 'd> Sdk<'p, 'd> {
    pub(super) fn new(
        package: &'p Package<'d>,
        purpose: Purpose,
        written: &FileMap,
    ) -> Result<Self, GenerateError> {
        let settings = Settings::read(package)?;
        let externals = package.externals.iter();
        let mut sdk = Sdk {
            externals: externals
                .map(|external| ExternalSdk::new(external, &settings))
                .collect(),
            usages: usage::analyse(package),
            modules: Modules::new(),
            package,
            purpose,
            settings,
        };
        sdk.modules = sdk.find_modules(written);
        if sdk
            .modules
            .keys()
            .any(|module| Self::folder_of(module) == "types")
        {
            return Err(GenerateError::Name {
                what: "the module",
                name: "types".to_owned(),
                why: "SDKs for Node.js keep their types there",
            });
        }
        Ok(sdk)
    }

    fn find_modules(&self, written: &FileMap) -> Modules {
        let mut modules = modules::sort(self.package, |token| self.module_of(token), |_| true);
        for path in written.0.keys() {
            let (folder, _) = path.as_str().rsplit_once('/').unwrap_or_default();
            if let Some(name) = source_name(path.as_str()) {
                let known = modules.keys().find(|it| Self::folder_of(it) == folder);
                let module = known.cloned().unwrap_or_else(|| folder.to_owned());
                let module = modules.entry(module).or_default();
                module.written.push(name.to_owned());
            }
        }
        modules::add_parents(&mut modules);
        modules
    }

    /// Module of a token.
    pub(super) fn module_of(&self, token: &str) -> String {
        let module = self.package.module_of(token);
        match self.settings.module_to_package.get(module.as_str()) {
            Some(path) => (*path).to_owned(),
            None => module,
        }
    }

    /// Folder of a module.
    pub(super) fn folder_of(module: &str) -> String {
        module.to_lowercase()
    }

    pub(super) fn class_name(token: &str) -> String {
        names::identifier(&names::title(member_of(token)))
    }

    /// File name of a resource or a function, without extension.
    pub(super) fn file_name(&self, token: &str) -> String {
        let module = self.module_of(token);
        let name = names::camel(member_of(token)).replace('/', "_");
        let folder = Self::folder_of(&module);
        let is_module = self.modules.get(&module).is_some_and(|module| {
            let mut children = module.children.iter();
            children.any(|child| Self::folder_of(last_step(child)) == name)
        });
        let is_taken = match name.as_str() {
            "index" => true,
            "input" | "output" => self.has_types(),
            "utilities" => folder.is_empty(),
            "vars" => !self.package.config.is_empty(),
            _ => is_module,
        };
        if is_taken { format!("{name}_") } else { name }
    }

    pub(super) fn path(folder: &str, file: &str) -> Result<FilePath, GenerateError> {
        if folder.is_empty() {
            FilePath::new(file)
        } else {
            FilePath::new(&format!("{folder}/{file}"))
        }
    }

    /// Whether the package has nested types.
    pub(super) fn has_types(&self) -> bool {
        self.has_objects() || self.has_enums()
    }

    pub(super) fn has_objects(&self) -> bool {
        let is_used = |usage: &Usage| usage.input || usage.plain || usage.output;
        let mut objects = self.modules.values().flat_map(|module| &module.objects);
        objects.any(|position| is_used(&self.usages[*position]))
    }

    pub(super) fn has_enums(&self) -> bool {
        self.modules.values().any(|module| !module.enums.is_empty())
    }

    /// Whether the package has a settings module.
    pub(super) fn has_config(&self) -> bool {
        !self.package.config.is_empty()
            && self.settings.compatibility != Compatibility::Kubernetes20
    }

    /// Whether the package is parameterized, so that each request must refer to it.
    pub(super) fn is_parameterized(&self) -> bool {
        self.package.parameterization.is_some()
    }

    /// Comment for a description and a deprecation message.
    pub(super) fn doc(&self, description: Option<&str>, deprecation: Option<&str>) -> Doc {
        let mut lines = Vec::new();
        if let Some(description) = description {
            let text = markdown::translate(description, self);
            let text = text.trim_matches(['\n', '\r']);
            if !text.trim().is_empty() {
                lines.extend(text.lines().map(comment_line));
            }
        }
        if let Some(deprecation) = deprecation {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let mut deprecation = deprecation.lines().map(comment_line);
            lines.push(format!(
                "@deprecated {}",
                deprecation.next().unwrap_or_default()
            ));
            lines.extend(deprecation);
        }
        Doc { lines }
    }
}

impl Dialect for Sdk<'_, '_> {
    const FENCE: &'static str = "typescript";
    const SPAN: &'static str = "nodejs";

    fn reference(&self, destination: &str) -> String {
        let fragment = destination.rsplit('#').next().unwrap_or_default();
        let mut steps = fragment.trim_start_matches('/').split('/');
        let (section, token) = (steps.next(), steps.next().unwrap_or_default());
        let token = token.replace("%2F", "/").replace("%2f", "/");
        let property = steps.next_back();
        let name = match section {
            Some("functions") => names::camel(member_of(&token)),
            _ => Self::class_name(&token),
        };
        match property {
            Some(property) => format!("`{property}`"),
            None => format!("`{name}`"),
        }
    }
}

/// The line with `*/` escaped, which would end the comment.
fn comment_line(line: &str) -> String {
    line.trim_end().replace("*/", "*&#47;")
}

/// Name of a source file without extension; `None` for files that are not compiled.
pub(super) fn source_name(path: &str) -> Option<&str> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = file.strip_suffix(".ts")?;
    let is_declaration = name.rsplit_once('.').is_some_and(|(_, end)| end == "d");
    (name != "index" && !is_declaration).then_some(name)
}

/// Literal of a constant.
pub(super) fn literal(constant: &Constant) -> String {
    match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::Number(value) => value.to_string(),
        Constant::String(value) => names::string(value),
    }
}

/// String literal.
pub(super) fn quoted(text: &str) -> Cow<'_, str> {
    Cow::Owned(names::string(text))
}
