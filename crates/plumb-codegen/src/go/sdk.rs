//! Data shared by all files of an SDK.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use plumb_schema::PackageSchema;
use plumb_schema::bound::{ExternalPackage, Package, Property, member_of, runtime_module_of};

use super::comment;
use super::generic_types::Style;
use super::imports::Imports;
use super::layout::{self, Layout};
use super::model::Doc;
use super::names;
use super::naming::{self, Naming};
use super::settings::{Generics, Settings};
use super::usage::{self, Usages};
use crate::markdown::{self, Dialect};
pub(super) use crate::modules::Module;
use crate::modules::{self, Modules};
use crate::programs::go_base;
use crate::uses;
use crate::{FilePath, GenerateError, Purpose};

/// A package with its settings, layout, names and type uses.
pub(super) struct Sdk<'p, 'd> {
    pub(super) package: &'p Package<'d>,
    pub(super) settings: Settings<'d>,
    pub(super) style: Style,
    pub(super) layout: Layout,
    pub(super) naming: Naming,
    pub(super) usages: Usages,
    pub(super) externals: Vec<ExternalSdk>,
    /// Members of each module, by path.
    pub(super) modules: Modules,
    /// Whether the SDK is a Go module of its own, and the version is part of the generated code.
    pub(super) is_whole: bool,
    /// Whether each type is an object with defaults.
    pub(super) has_defaults: Vec<bool>,
    endless: Vec<bool>,
}

/// A package that this one refers to.
pub(super) struct ExternalSdk {
    base: String,
    package: Option<String>,
    modules: BTreeMap<String, String>,
    schema: Option<Arc<PackageSchema>>,
}

impl ExternalSdk {
    fn new(external: &ExternalPackage) -> Self {
        let schema = external.schema.as_ref();
        let block = schema
            .and_then(|schema| schema.language("go"))
            .unwrap_or(&serde_json::Value::Null);
        let text = |key: &str| {
            block
                .get(key)
                .and_then(|it| it.as_str())
                .filter(|it| !it.is_empty())
        };
        let modules = block.get("moduleToPackage").and_then(|it| it.as_object());
        let modules = modules
            .into_iter()
            .flatten()
            .filter_map(|(module, to)| Some((module.clone(), to.as_str()?.to_owned())));
        let version = external
            .version
            .as_ref()
            .or(schema.and_then(|schema| schema.version()));
        let major = match version {
            Some(version) if version.major >= 2 => format!("/v{}", version.major),
            _ => String::new(),
        };
        let name = &external.name;
        let usual = || match schema {
            Some(schema) => go_base(schema),
            None => format!("github.com/pulumi/pulumi-{name}/sdk{major}/go/{name}"),
        };
        ExternalSdk {
            base: text("importBasePath").map_or_else(usual, ToOwned::to_owned),
            package: text("rootPackageName").map(ToOwned::to_owned),
            modules: modules.collect(),
            schema: external.schema.clone(),
        }
    }

    fn module_of(&self, token: &str) -> String {
        let module = if let Some(schema) = &self.schema {
            schema.module_of(token)
        } else {
            guessed_module(token)
        };
        self.modules
            .get(&module)
            .cloned()
            .unwrap_or(module)
            .to_lowercase()
    }

    /// Qualifier for names of a token's module.
    pub(super) fn before(&self, token: &str, imports: &mut Imports<'_>) -> String {
        let module = self.module_of(token);
        let name = match &self.package {
            Some(package) if module.is_empty() => package.clone(),
            _ if module.is_empty() => names::package(&self.base),
            _ => names::package(&module),
        };
        imports.package(layout::joined(&self.base, &module), name)
    }
}

impl<'p, 'd> Sdk<'p, 'd> {
    /// Main packages of an SDK.
    pub(super) fn new(package: &'p Package<'d>, purpose: Purpose) -> Result<Self, GenerateError> {
        let settings = Settings::read(package)?;
        let style = match settings.generics {
            Generics::Only => Style::Generic,
            Generics::None | Generics::Beside => Style::Named,
        };
        Self::with(package, purpose, settings, style)
    }

    /// Packages with generic types that an SDK has in addition to the main ones; `None` if it has none.
    pub(super) fn beside(
        package: &'p Package<'d>,
        purpose: Purpose,
    ) -> Result<Option<Self>, GenerateError> {
        let settings = Settings::read(package)?;
        if settings.generics != Generics::Beside {
            return Ok(None);
        }
        let mut sdk = Self::with(package, purpose, settings, Style::Generic)?;
        sdk.layout.tree = "x";
        Ok(Some(sdk))
    }

    fn with(
        package: &'p Package<'d>,
        purpose: Purpose,
        settings: Settings<'d>,
        style: Style,
    ) -> Result<Self, GenerateError> {
        let is_whole =
            package.support_pack || package.parameterization.is_some() || purpose == Purpose::Local;
        let endless = usage::endless_objects(package);
        let is_required =
            |position: usize, property: &Property<'_>| is_required(&endless, position, property);
        let usages = usage::analyse(package, settings.has_extra_inputs, &is_required);
        let module_of = |token: &str| module_of(package, &settings, token).to_lowercase();
        let naming = naming::decide(package, settings.has_resource_containers, &module_of);
        let mut sdk = Sdk {
            layout: Layout::new(package, &settings, is_whole)?,
            externals: package.externals.iter().map(ExternalSdk::new).collect(),
            has_defaults: defaults(package, &settings),
            modules: Modules::new(),
            package,
            settings,
            style,
            naming,
            usages,
            is_whole,
            endless,
        };
        sdk.modules = modules::sort(package, |token| sdk.module_of(token), |_| true);
        for module in sdk.modules.keys().filter(|module| !module.is_empty()) {
            layout::check("the module", module)?;
        }
        Ok(sdk)
    }

    /// Module of a token, in lower case, because Go package paths that differ only in case would conflict.
    pub(super) fn module_of(&self, token: &str) -> String {
        module_of(self.package, &self.settings, token).to_lowercase()
    }

    /// Imports of a file of a module.
    pub(super) fn imports(&self, module: &str) -> Imports<'_> {
        self.imports_at(self.layout.import_of(module))
    }

    pub(super) fn imports_at(&self, own: String) -> Imports<'_> {
        let aliases: &IndexMap<&str, &str> = &self.settings.import_aliases;
        Imports::new(&self.layout, aliases, self.settings.internal_module, own)
    }

    pub(super) fn path(&self, module: &str, file: &str) -> Result<FilePath, GenerateError> {
        FilePath::new(&layout::joined(&self.layout.folder_of(module), file))
    }

    /// Whether a property of an object is required. Never the case for an object that would contain itself.
    pub(super) fn is_required(&self, position: usize, property: &Property<'_>) -> bool {
        is_required(&self.endless, position, property)
    }

    /// Whether the package is parameterized, so that each request must refer to it.
    pub(super) fn is_parameterized(&self) -> bool {
        self.package.parameterization.is_some()
    }

    /// Comment for a description and a deprecation message.
    pub(super) fn doc(&self, description: Option<&str>, deprecation: Option<&str>) -> Doc {
        let mut lines = Vec::new();
        if let Some(description) = description {
            lines = comment::lines(&markdown::translate(description, self));
        }
        if let Some(deprecation) = deprecation {
            let words: Vec<&str> = deprecation.split_whitespace().collect();
            let text = format!("Deprecated: {}", words.join(" "));
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(comment::lines(&text));
        }
        Doc {
            lines: Arc::new(lines),
        }
    }
}

/// Module of a token of a package without a schema. Often the token has a last step for the member's file:
/// `s3/bucket:Bucket`.
fn guessed_module(token: &str) -> String {
    let module = runtime_module_of(token);
    let module = match module.rsplit_once('/') {
        Some((module, file)) if file.eq_ignore_ascii_case(member_of(token)) => module,
        _ => module,
    };
    if module == "index" {
        String::new()
    } else {
        module.to_owned()
    }
}

fn module_of(package: &Package<'_>, settings: &Settings<'_>, token: &str) -> String {
    let module = package.module_of(token);
    match settings.module_to_package.get(module.as_str()) {
        Some(path) => (*path).to_owned(),
        None => module,
    }
}

fn is_required(endless: &[bool], position: usize, property: &Property<'_>) -> bool {
    use plumb_schema::bound::TypeKind;
    let is_endless = match property.ty.kind {
        TypeKind::Defined(inner) => endless[position] && endless[inner],
        _ => false,
    };
    property.required && !is_endless
}

/// Whether each type has a generated method for its defaults.
fn defaults(package: &Package<'_>, settings: &Settings<'_>) -> Vec<bool> {
    if settings.disable_object_defaults {
        return vec![false; package.types.len()];
    }
    uses::defaults(package)
}

impl Dialect for Sdk<'_, '_> {
    const FENCE: &'static str = "go";
    const SPAN: &'static str = "go";

    fn reference(&self, destination: &str) -> String {
        let fragment = destination.rsplit('#').next().unwrap_or_default();
        let mut steps = fragment.trim_start_matches('/').split('/');
        let _section = steps.next();
        let token = steps.next().unwrap_or_default();
        let token = token.replace("%2F", "/").replace("%2f", "/");
        let name = steps.next_back().unwrap_or_else(|| member_of(&token));
        format!("`{}`", names::title(name))
    }
}
