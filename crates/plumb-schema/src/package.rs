//! A package schema: an index of its members, which are bound on first use.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use crate::bind::{self, Member};
use crate::error::SchemaError;
use crate::reference::{ExternalPackage, Reference};
use crate::spec::{ConfigSpec, Document, LanguageBlocks};
use crate::token::ModuleFormat;
use crate::types::{Function, Properties, Resource, TypeDefinition};

/// The schema of a package.
#[derive(Debug)]
pub struct PackageSchema {
    text: Arc<str>,
    name: String,
    version: Option<semver::Version>,
    description: Option<String>,
    namespace: Option<String>,
    download_url: Option<String>,
    allowed_package_names: Vec<String>,
    parameterization: Option<Parameterization>,
    module_format: ModuleFormat,
    resources: Members<Resource>,
    functions: Members<Function>,
    types: Members<TypeDefinition>,
    provider: Entry<Resource>,
    config: Range<usize>,
    /// Settings of the languages, read when somebody asks for them.
    languages: OnceLock<BTreeMap<String, serde_json::Value>>,
    /// Other packages of the program, by name.
    linked: RwLock<BTreeMap<String, Weak<PackageSchema>>>,
}

/// Base plugin and parameter of a parameterized package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameterization {
    /// Name of the plugin.
    pub base_name: String,
    /// Version of the plugin.
    pub base_version: Option<String>,
    /// The parameter, in base64.
    pub parameter: Option<String>,
}

/// The members of one section, by token.
#[derive(Debug)]
struct Members<T> {
    entries: IndexMap<Box<str>, Entry<T>>,
    /// Tokens by their lowercase form; of several with the same form, the first in byte order.
    folded: OnceLock<FxHashMap<String, usize>>,
}

#[derive(Debug)]
struct Entry<T> {
    range: Range<usize>,
    bound: OnceLock<Result<Arc<T>, SchemaError>>,
}

impl<T: Member> Entry<T> {
    fn new(range: Range<usize>) -> Self {
        Entry {
            range,
            bound: OnceLock::new(),
        }
    }

    fn get(&self, package: &str, token: &str, text: &str) -> Result<Arc<T>, SchemaError> {
        let bind = || T::bind_named(package, token, &text[self.range.clone()]).map(Arc::new);
        self.bound.get_or_init(bind).clone()
    }
}

impl<T: Member> Members<T> {
    fn new(text: &str, specs: IndexMap<String, &RawValue>) -> Self {
        let entries = specs
            .into_iter()
            .map(|(token, member)| (token.into_boxed_str(), Entry::new(range_in(text, member))))
            .collect();
        Members {
            entries,
            folded: OnceLock::new(),
        }
    }

    fn get(&self, package: &str, token: &str, text: &str) -> Option<Result<Arc<T>, SchemaError>> {
        self.entries
            .get(token)
            .map(|entry| entry.get(package, token, text))
    }

    /// The token equal to `wanted`, or otherwise the one equal when case is ignored.
    fn spelled(&self, wanted: &str) -> Option<&str> {
        if let Some((token, _)) = self.entries.get_key_value(wanted) {
            return Some(token);
        }
        let folded = self.folded.get_or_init(|| self.fold());
        let index = folded.get(&wanted.to_lowercase())?;
        self.entries.get_index(*index).map(|(token, _)| &**token)
    }

    fn fold(&self) -> FxHashMap<String, usize> {
        let mut folded: FxHashMap<String, usize> = FxHashMap::default();
        for (index, token) in self.entries.keys().enumerate() {
            let first = folded.entry(token.to_lowercase()).or_insert(index);
            if self
                .entries
                .get_index(*first)
                .is_some_and(|(other, _)| token < other)
            {
                *first = index;
            }
        }
        folded
    }
}

/// Range of `member`, a slice of `text`, within it.
pub(crate) fn range_in(text: &str, member: &RawValue) -> Range<usize> {
    let start = member.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + member.get().len()
}

/// Whether a package has the major version of a reference, as far as both have one.
fn is_same_major(package: &PackageSchema, external: &ExternalPackage) -> bool {
    match (&package.version, tolerant_version(&external.version)) {
        (Some(own), Some(wanted)) => own.major == wanted.major,
        _ => true,
    }
}

impl PackageSchema {
    /// Indexes the members of `text`, a schema in JSON.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, SchemaError> {
        let text: Arc<str> = text.into();
        if text
            .chars()
            .all(|char| char.is_whitespace() || matches!(char, '{' | '}'))
        {
            return Err(SchemaError::Empty);
        }
        let document: Document<'_> =
            serde_json::from_str(&text).map_err(|error| SchemaError::Document {
                message: error.to_string(),
            })?;
        if document.name.is_empty() {
            return Err(SchemaError::Nameless);
        }
        let range =
            |member: Option<&RawValue>| member.map_or(0..0, |member| range_in(&text, member));
        Ok(PackageSchema {
            version: document.version.as_deref().and_then(tolerant_version),
            description: document.description.filter(|text| !text.is_empty()),
            namespace: document.namespace.filter(|text| !text.is_empty()),
            download_url: document.download_url.filter(|text| !text.is_empty()),
            allowed_package_names: document.allowed_package_names,
            parameterization: document.parameterization.map(|spec| Parameterization {
                base_name: spec.base.name,
                base_version: spec.base.version,
                parameter: spec.parameter,
            }),
            module_format: ModuleFormat::new(
                document.meta.and_then(|meta| meta.module_format).as_deref(),
            ),
            resources: Members::new(&text, document.resources),
            functions: Members::new(&text, document.functions),
            types: Members::new(&text, document.types),
            provider: Entry::new(range(document.provider)),
            config: range(document.config),
            languages: OnceLock::new(),
            linked: RwLock::default(),
            name: document.name,
            text,
        })
    }

    /// Lets references of this package lead to the packages of a program. They must outlive what is made of the references.
    pub fn link<'p>(&self, packages: impl IntoIterator<Item = &'p Arc<PackageSchema>>) {
        let packages = packages.into_iter();
        let packages = packages.map(|it| (it.name.clone(), Arc::downgrade(it)));
        let mut linked = self.linked.write().unwrap_or_else(PoisonError::into_inner);
        linked.extend(packages);
    }

    /// Package of the member that a reference from this package leads to; `None` for another package that is not linked, or
    /// linked in another major version, whose types are others in most languages.
    pub fn owner_of(self: &Arc<Self>, reference: &Reference) -> Option<Arc<PackageSchema>> {
        let Some(external) = &reference.package else {
            return Some(self.clone());
        };
        if external.name == self.name {
            return Some(self.clone());
        }
        let linked = self.linked.read().unwrap_or_else(PoisonError::into_inner);
        let owner = linked.get(&external.name)?.upgrade()?;
        is_same_major(&owner, external).then_some(owner)
    }

    /// Name of the package.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Version of the package, if the schema has one.
    pub fn version(&self) -> Option<&semver::Version> {
        self.version.as_ref()
    }

    /// Description of the package, in Markdown, if the schema has one.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Namespace of the package, if the schema has one.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Address to download the plugin from, if it differs from the default.
    pub fn download_url(&self) -> Option<&str> {
        self.download_url.as_deref()
    }

    /// Package names, besides its own, with which tokens may begin.
    pub fn allowed_package_names(&self) -> &[String] {
        &self.allowed_package_names
    }

    /// Base plugin and parameter, for a parameterized package.
    pub fn parameterization(&self) -> Option<&Parameterization> {
        self.parameterization.as_ref()
    }

    /// Settings for a language, if the schema has any.
    pub fn language(&self, language: &str) -> Option<&serde_json::Value> {
        let languages = self.languages.get_or_init(|| {
            let blocks = serde_json::from_str(&self.text);
            blocks.map_or_else(|_| BTreeMap::new(), |it: LanguageBlocks| it.language)
        });
        languages.get(language)
    }

    /// Text of the schema.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tokens of all resources, in the order of the document.
    pub fn resource_tokens(&self) -> impl ExactSizeIterator<Item = &str> {
        self.resources.entries.keys().map(|token| &**token)
    }

    /// Tokens of all functions, in the order of the document.
    pub fn function_tokens(&self) -> impl ExactSizeIterator<Item = &str> {
        self.functions.entries.keys().map(|token| &**token)
    }

    /// Tokens of all types, in the order of the document.
    pub fn type_tokens(&self) -> impl ExactSizeIterator<Item = &str> {
        self.types.entries.keys().map(|token| &**token)
    }

    /// Whether the function `token` is a method of a resource or of the provider.
    pub fn is_method(&self, token: &str) -> bool {
        let is_resource = |owner: &str| {
            let provided = owner.strip_prefix("pulumi:providers:");
            provided == Some(&self.name) || self.resources.entries.contains_key(owner)
        };
        token
            .rsplit_once('/')
            .is_some_and(|(owner, _)| is_resource(owner))
    }

    /// The resource with exactly this token; the provider resource for `pulumi:providers:<name>`.
    pub fn resource(&self, token: &str) -> Option<Result<Arc<Resource>, SchemaError>> {
        if token
            .strip_prefix("pulumi:providers:")
            .is_some_and(|package| package == self.name)
        {
            return Some(self.provider());
        }
        self.resources.get(&self.name, token, &self.text)
    }

    /// The function with exactly this token.
    pub fn function(&self, token: &str) -> Option<Result<Arc<Function>, SchemaError>> {
        self.functions.get(&self.name, token, &self.text)
    }

    /// The type with exactly this token.
    pub fn type_definition(&self, token: &str) -> Option<Result<Arc<TypeDefinition>, SchemaError>> {
        self.types.get(&self.name, token, &self.text)
    }

    /// The provider resource; an empty one if the schema describes none.
    pub fn provider(&self) -> Result<Arc<Resource>, SchemaError> {
        let token = format!("pulumi:providers:{}", self.name);
        let bind = || {
            let text = if self.provider.range.is_empty() {
                "{}"
            } else {
                &self.text[self.provider.range.clone()]
            };
            Resource::bind_named(&self.name, &token, text).map(Arc::new)
        };
        self.provider.bound.get_or_init(bind).clone()
    }

    /// Settings of the package.
    pub fn config(&self) -> Result<Properties, SchemaError> {
        if self.config.is_empty() {
            return Ok(Properties::default());
        }
        let spec: ConfigSpec =
            serde_json::from_str(&self.text[self.config.clone()]).map_err(|error| {
                SchemaError::Document {
                    message: error.to_string(),
                }
            })?;
        Ok(bind::properties(&self.name, spec.variables, &spec.defaults))
    }

    /// The full token of the resource that a program names by `token` (`yaml-runtime.md` 5.4).
    pub fn resolve_resource(&self, token: &str) -> Option<&str> {
        self.resolve(&self.resources, token)
    }

    /// The full token of the function that a program names by `token` (`yaml-runtime.md` 5.4).
    pub fn resolve_function(&self, token: &str) -> Option<&str> {
        self.resolve(&self.functions, token)
    }

    /// The module that `token` belongs to; empty for the root module (`schema.md` 11).
    pub fn module_of(&self, token: &str) -> String {
        self.module_format.module_of(token)
    }

    /// Resolves a token by its possible spellings in order, each first exactly and then ignoring case, and finally by the
    /// short form of modules.
    fn resolve<'a, T: Member>(&'a self, members: &'a Members<T>, token: &str) -> Option<&'a str> {
        if let Some(found) = members.spelled(token) {
            return Some(found);
        }
        let mut parts = token.split(':');
        let (package, module, name) =
            match (parts.next()?, parts.next()?, parts.next(), parts.next()) {
                (package, name, None, _) => (package, "index", name),
                (package, module, Some(name), None) => (
                    package,
                    if module.is_empty() { "index" } else { module },
                    name,
                ),
                _ => return None,
            };
        members
            .spelled(&format!("{package}:{module}:{name}"))
            .or_else(|| {
                members.spelled(&format!(
                    "{package}:{module}/{}:{name}",
                    name.to_lowercase()
                ))
            })
            .or_else(|| self.resolve_short_module(members, module, name))
    }

    fn resolve_short_module<'a, T: Member>(
        &self,
        members: &'a Members<T>,
        module: &str,
        name: &str,
    ) -> Option<&'a str> {
        let module = if module == "index" { "" } else { module };
        let mut matches = members.entries.keys().filter(|token| {
            token.rsplit(':').next() == Some(name) && self.module_format.module_of(token) == module
        });
        let found = matches.next()?;
        matches.next().is_none().then_some(&**found)
    }
}

/// Parses a version, with or without a leading `v`.
pub(crate) fn tolerant_version(text: &str) -> Option<semver::Version> {
    semver::Version::parse(text.strip_prefix('v').unwrap_or(text)).ok()
}
