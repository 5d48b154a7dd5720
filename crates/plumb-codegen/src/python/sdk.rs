//! Data shared by all files of an SDK.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;

use plumb_schema::bound::{ExternalPackage, Package, member_of, runtime_module_of};
use plumb_schema::{Constant, PackageSchema};

use super::model::Text;
use super::names;
use super::settings::{InputTypes, Settings};
use super::types::Shape;
use super::usage::{self, Usage};
use crate::markdown::{self, Dialect};
use crate::modules::{self, Modules};
pub(super) use crate::modules::{Module, last_step};
use crate::settings::Compatibility;
use crate::{FileMap, FilePath, GenerateError};

/// A package with its settings, names, type uses and modules.
pub(super) struct Sdk<'p, 'd> {
    pub(super) package: &'p Package<'d>,
    pub(super) settings: Settings<'d>,
    /// Name of the distribution and of the imported folder.
    pub(super) name: String,
    pub(super) usages: Vec<Usage>,
    pub(super) externals: Vec<ExternalSdk>,
    /// Members of each module, by path; includes parent modules without members.
    pub(super) modules: Modules,
    /// Cache of the module path for each module of a token.
    paths: BTreeMap<String, String>,
}

/// A package that this one refers to.
pub(super) struct ExternalSdk {
    /// Name by which it is imported.
    pub(super) name: String,
    pub(super) compatibility: Compatibility,
    /// Forms of object inputs, if the package's schema sets them.
    pub(super) input_types: Option<InputTypes>,
    modules: BTreeMap<String, String>,
    schema: Option<Arc<PackageSchema>>,
}

impl ExternalSdk {
    fn new(external: &ExternalPackage) -> Self {
        let schema = external.schema.as_ref();
        let block = schema.and_then(|schema| schema.language("python"));
        let block = block.unwrap_or(&serde_json::Value::Null);
        let text = |key: &str| block.get(key).and_then(|it| it.as_str());
        let modules = block.get("moduleNameOverrides");
        let modules = modules.and_then(|it| it.as_object()).into_iter().flatten();
        let modules =
            modules.filter_map(|(from, to)| Some((from.clone(), to.as_str()?.to_owned())));
        let namespace = schema.and_then(|schema| schema.namespace());
        ExternalSdk {
            name: text("packageName").map_or_else(
                || package_name(namespace, &external.name),
                ToOwned::to_owned,
            ),
            compatibility: Compatibility::from_name(text("compatibility")),
            input_types: text("inputTypes").map(|it| InputTypes::from_name(Some(it))),
            modules: modules.collect(),
            schema: external.schema.clone(),
        }
    }

    pub(super) fn module_of(&self, token: &str) -> String {
        let module = if let Some(schema) = &self.schema {
            schema.module_of(token)
        } else {
            // Without the package's schema, assume the common format of modules: `s3/bucket`, where the part after the slash
            // repeats the member.
            let module = runtime_module_of(token);
            let module = match module.rsplit_once('/') {
                Some((module, last)) if last.eq_ignore_ascii_case(member_of(token)) => module,
                _ => module,
            };
            if module == "index" { "" } else { module }.to_owned()
        };
        match self.modules.get(&module) {
            Some(path) => path.clone(),
            None => python_module(&module),
        }
    }
}

/// Python module for a module of the schema.
pub(crate) fn python_module(module: &str) -> String {
    let module = module.to_lowercase();
    let steps: Vec<String> = module.split('/').map(names::snake).collect();
    steps.join("/")
}

/// Distribution name of a package.
pub(crate) fn package_name(namespace: Option<&str>, name: &str) -> String {
    let namespace = namespace.unwrap_or("pulumi");
    format!("{namespace}_{name}").replace('-', "_")
}

impl<'p, 'd> Sdk<'p, 'd> {
    pub(super) fn new(package: &'p Package<'d>, written: &FileMap) -> Result<Self, GenerateError> {
        let settings = Settings::read(package)?;
        let name = settings.package_name.map_or_else(
            || package_name(package.namespace, package.name),
            ToOwned::to_owned,
        );
        check_names(&name, &settings)?;
        let mut sdk = Sdk {
            externals: package.externals.iter().map(ExternalSdk::new).collect(),
            usages: usage::analyse(package),
            modules: Modules::new(),
            paths: BTreeMap::new(),
            name,
            package,
            settings,
        };
        sdk.modules = sdk.find_modules(written);
        let mut paths = sdk.modules.keys();
        if paths.any(|module| last_step(module) == "outputs") {
            return Err(GenerateError::Name {
                what: "the module",
                name: "outputs".to_owned(),
                why: "SDKs for Python keep types of results there",
            });
        }
        Ok(sdk)
    }

    fn find_modules(&mut self, written: &FileMap) -> Modules {
        let package = self.package;
        let tokens = package.resources.iter().map(|it| it.token.as_ref());
        let tokens = tokens
            .chain(package.functions.iter().map(|it| it.token))
            .chain(package.types.iter().map(|it| it.token));
        for token in tokens {
            let module = package.module_of(token);
            if !self.paths.contains_key(&module) {
                let path = self.path_of(&module);
                self.paths.insert(module, path);
            }
        }
        let is_used = |position: usize| {
            let usage = self.usages[position];
            usage.input || usage.plain || usage.output
        };
        let mut modules = modules::sort(package, |token| self.module_of(token), is_used);
        if self.has_config() {
            modules.entry("config".to_owned()).or_default().is_config = true;
        }
        for path in written.0.keys() {
            let (folder, file) = path
                .as_str()
                .rsplit_once('/')
                .unwrap_or(("", path.as_str()));
            if let Some(name) = file.strip_suffix(".py") {
                let module = modules.entry(folder.to_owned()).or_default();
                module.written.push(name.to_owned());
            }
        }
        modules::add_parents(&mut modules);
        modules
    }

    fn path_of(&self, module: &str) -> String {
        match self.settings.module_names.get(module) {
            Some(path) => (*path).to_owned(),
            None => python_module(module),
        }
    }

    /// Module of a token.
    pub(super) fn module_of(&self, token: &str) -> String {
        let module = self.package.module_of(token);
        match self.paths.get(&module) {
            Some(path) => path.clone(),
            None => self.path_of(&module),
        }
    }

    pub(super) fn resource_class(token: &str) -> String {
        names::class(member_of(token))
    }

    /// File name of a resource or a function, without extension.
    pub(super) fn file_name(&self, token: &str) -> String {
        let module = self.module_of(token);
        let member = member_of(token);
        let class = names::class(member);
        let name = if self.settings.compatibility == Compatibility::Kubernetes20 {
            // In Kubernetes packages, files of resources have the name of the class, with capitals.
            let is_resource = member.starts_with(char::is_uppercase);
            if is_resource {
                class
            } else {
                names::snake(&class)
            }
        } else {
            names::snake(&class)
        };
        let is_taken = match name.as_str() {
            "outputs" | "_inputs" | "_enums" | "_utilities" | "__init__" => true,
            "vars" => module == "config",
            _ => self.modules.get(&module).is_some_and(|module| {
                let mut children = module.children.iter();
                children.any(|child| last_step(child) == name)
            }),
        };
        if is_taken { format!("{name}_") } else { name }
    }

    /// Path of a file of a module.
    pub(super) fn path(&self, module: &str, file: &str) -> Result<FilePath, GenerateError> {
        if module.is_empty() {
            FilePath::new(&format!("{}/{file}", self.name))
        } else {
            FilePath::new(&format!("{}/{module}/{file}", self.name))
        }
    }

    /// Import name of the module at `path`.
    pub(super) fn import_name(&self, path: &str) -> String {
        if path.is_empty() {
            self.name.clone()
        } else {
            format!("{}.{}", self.name, path.replace('/', "."))
        }
    }

    /// Whether the package has a settings module.
    pub(super) fn has_config(&self) -> bool {
        !self.package.config.is_empty()
            && self.settings.compatibility != Compatibility::Kubernetes20
    }

    /// Whether a module or one of its descendants has members.
    pub(super) fn has_members(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let mut modules = self.modules.iter();
        modules.any(|(known, module)| {
            let is_here = known == path || known.starts_with(&below);
            is_here && !module.is_bare()
        })
    }

    /// Whether objects of a module are used in one of these shapes.
    pub(super) fn has_objects(&self, module: &Module, shapes: &[Shape]) -> bool {
        module.objects.iter().any(|position| {
            let usage = self.usages[*position];
            shapes.iter().any(|shape| match shape {
                Shape::Input => usage.input,
                Shape::Plain => usage.plain,
                Shape::Output => usage.output,
            })
        })
    }

    /// Whether the package is parameterized, so that each request must refer to it.
    pub(super) fn is_parameterized(&self) -> bool {
        self.package.parameterization.is_some()
    }

    /// The text translated for readers who use Python.
    pub(super) fn words<'t>(&self, text: &'t str) -> Cow<'t, str> {
        markdown::translate(text, self)
    }

    /// Docstring for a description.
    pub(super) fn text(&self, description: Option<&str>) -> Text {
        let Some(description) = description else {
            return Rc::from("");
        };
        let text = self.words(description);
        let text = text.trim_matches(['\n', '\r']);
        if text.trim().is_empty() {
            return Rc::from("");
        }
        docstring(text)
    }
}

/// Checks names from the schema that are used unchanged.
fn check_names(name: &str, settings: &Settings<'_>) -> Result<(), GenerateError> {
    let wrong = |what, name: &str| {
        Err(GenerateError::Name {
            what,
            name: name.escape_debug().to_string(),
            why: "it cannot be imported in Python",
        })
    };
    if !names::is_legal(name) {
        return wrong("the package", name);
    }
    for path in settings.module_names.values() {
        if !path.is_empty() && !path.split('/').all(names::is_legal) {
            return wrong("the module", path);
        }
    }
    Ok(())
}

/// The text escaped for a docstring, so that it cannot end the quotes.
fn docstring(text: &str) -> Text {
    let is_harmless = |byte: u8| byte != b'\\' && byte != b'"' && (byte >= b' ' || byte == b'\n');
    if text.bytes().all(is_harmless) && !text.contains(" \n") {
        return Rc::from(text.trim_end());
    }
    let mut result = String::with_capacity(text.len() + 16);
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            result.push('\n');
        }
        for char in line.trim_end().chars() {
            match char {
                '\\' => result.push_str("\\\\"),
                '\t' => result.push('\t'),
                char if char.is_ascii_control() => {
                    let _ = write!(result, "\\x{:02x}", u32::from(char));
                }
                char => result.push(char),
            }
        }
    }
    if result.contains("\"\"") {
        result = result.replace("\"\"", "\\\"\\\"");
    }
    // A quote at the very end is harmless, because the printer puts the closing quotes on a line of their own.
    Rc::from(result)
}

impl Dialect for Sdk<'_, '_> {
    const FENCE: &'static str = "python";
    const SPAN: &'static str = "python";

    fn reference(&self, destination: &str) -> String {
        let fragment = destination.rsplit('#').next().unwrap_or_default();
        let mut steps = fragment.trim_start_matches('/').split('/');
        let (section, token) = (steps.next(), steps.next().unwrap_or_default());
        let token = token.replace("%2F", "/").replace("%2f", "/");
        if let Some(property) = steps.next_back() {
            return format!("`{}`", names::snake(property));
        }
        let member = member_of(&token);
        match section {
            Some("functions") => format!("`{}`", names::snake(member)),
            Some("types") => format!("`{}`", names::object_class(member)),
            _ => format!("`{}`", names::class(member)),
        }
    }
}

/// Literal of a constant.
pub(super) fn literal(constant: &Constant) -> String {
    match constant {
        Constant::Bool(true) => "True".to_owned(),
        Constant::Bool(false) => "False".to_owned(),
        Constant::Number(value) => value.to_string(),
        Constant::String(value) => names::string(value),
    }
}
