//! Names of a package in Java: packages and all classes.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use plumb_schema::PackageSchema;
use plumb_schema::bound::{
    ExternalPackage, Package, Resource, TypeShape, member_of, runtime_module_of,
};

use super::names;
use super::programs::join;
use super::settings::Settings;
use crate::uses::{self, Roots, Uses};
use crate::{FilePath, GenerateError, Purpose};

/// A package with its settings, type uses and class names.
pub(super) struct Sdk<'p, 'd> {
    pub(super) package: &'p Package<'d>,
    pub(super) purpose: Purpose,
    pub(super) settings: Settings<'d>,
    pub(super) uses: Vec<Uses>,
    /// Java package of the root module.
    pub(super) root: String,
    /// Maven group of the published artifact.
    pub(super) group: String,
    pub(super) externals: Vec<ExternalSdk>,
    /// Classes of each type, by position.
    pub(super) types: Vec<TypeClasses>,
    /// Classes of each function, by position.
    pub(super) functions: Vec<FunctionClasses>,
    /// Functions of each module, including methods.
    pub(super) modules: BTreeMap<String, Vec<usize>>,
}

/// Qualified names of a type's classes. A class is generated only if the type's uses require it.
#[derive(Debug, Default)]
pub(super) struct TypeClasses {
    /// Class of an enum, which has no other classes.
    pub(super) enumeration: String,
    /// Arguments class, whose properties accept outputs.
    pub(super) input: String,
    /// Arguments class with plain values only.
    pub(super) plain: String,
    /// Results class.
    pub(super) output: String,
    /// Class for settings.
    pub(super) config: String,
}

/// Classes of a function.
#[derive(Debug)]
pub(super) struct FunctionClasses {
    pub(super) args: String,
    pub(super) plain_args: String,
    pub(super) result: String,
}

/// A package that this one refers to.
pub(super) struct ExternalSdk {
    root: String,
    packages: BTreeMap<String, String>,
    schema: Option<Arc<PackageSchema>>,
}

impl ExternalSdk {
    fn new(external: &ExternalPackage) -> Self {
        let block = external
            .schema
            .as_ref()
            .and_then(|schema| schema.language("java"))
            .unwrap_or(&serde_json::Value::Null);
        let packages = block.get("packages").and_then(|it| it.as_object());
        let packages: BTreeMap<String, String> = packages
            .into_iter()
            .flatten()
            .filter_map(|(module, to)| Some((module.clone(), to.as_str()?.to_owned())))
            .collect();
        let base = block.get("basePackage").and_then(|it| it.as_str());
        let base = base.filter(|base| !base.is_empty()).unwrap_or("com.pulumi");
        let own = packages.get(&external.name).unwrap_or(&external.name);
        ExternalSdk {
            root: names::package(&format!("{base}.{}", names::package(own))),
            packages,
            schema: external.schema.clone(),
        }
    }

    /// Java package of a token.
    pub(super) fn package_of(&self, token: &str) -> String {
        let module = if let Some(schema) = &self.schema {
            schema.module_of(token)
        } else {
            // Without the package's schema, assume the common format of modules: `s3/bucket`, where the part
            // after the slash is the file's name.
            let module = runtime_module_of(token).split('/').next();
            let module = module.filter(|module| *module != "index");
            module.unwrap_or_default().to_owned()
        };
        join(&self.root, self.packages.get(&module).unwrap_or(&module))
    }

    pub(super) fn provider(&self) -> String {
        format!("{}.Provider", self.root)
    }
}

impl<'p, 'd> Sdk<'p, 'd> {
    pub(super) fn new(package: &'p Package<'d>, purpose: Purpose) -> Result<Self, GenerateError> {
        let settings = Settings::read(package)?;
        let group = match (settings.base_package, package.namespace) {
            (Some(base), _) => names::package(base),
            (None, Some(namespace)) => format!("com.{}", names::identifier(namespace)),
            (None, None) => "com.pulumi".to_owned(),
        };
        let own = settings.packages.get(package.name).copied();
        let root = join(&group, own.unwrap_or(package.name));
        let mut sdk = Sdk {
            uses: uses::analyse(package, ROOTS),
            externals: package.externals.iter().map(ExternalSdk::new).collect(),
            types: Vec::new(),
            functions: Vec::new(),
            modules: BTreeMap::new(),
            package,
            purpose,
            settings,
            root,
            group,
        };
        let mut taken = HashSet::new();
        sdk.types = sdk.name_types(&mut taken);
        sdk.functions = sdk.name_functions(&mut taken);
        for (position, function) in package.functions.iter().enumerate() {
            let module = package.module_of(function.token);
            sdk.modules.entry(module).or_default().push(position);
        }
        Ok(sdk)
    }

    fn name_types(&self, taken: &mut HashSet<String>) -> Vec<TypeClasses> {
        let types = self.package.types.iter().enumerate();
        let mut name = |position: usize, token: &str, shape: &TypeShape<'_>| {
            let package = self.package_of(token);
            let name = names::class(member_of(token));
            let mut classes = TypeClasses::default();
            if let TypeShape::Enum(_) = shape {
                classes.enumeration = format!("{package}.enums.{name}");
                return classes;
            }
            let uses = self.uses[position];
            classes.input = format!("{package}.inputs.{name}Args");
            classes.plain = format!("{package}.inputs.{name}");
            classes.output = format!("{package}.outputs.{name}");
            // Settings share the name of the plain arguments class, unless that class exists.
            classes.config = if uses.has(Uses::PLAIN) {
                format!("{package}.config.{name}")
            } else {
                classes.plain.clone()
            };
            if uses.has(INPUT_USES) {
                taken.insert(classes.input.clone());
            }
            if uses.has(Uses::PLAIN.or(Uses::CONFIG)) {
                taken.insert(classes.plain.clone());
            }
            if uses.has(OUTPUT_USES) {
                taken.insert(classes.output.clone());
            }
            classes
        };
        types
            .map(|(position, definition)| name(position, definition.token, &definition.shape))
            .collect()
    }

    /// Classes of functions. If a type's class already has the usual name, `Invoke` is inserted.
    fn name_functions(&self, taken: &mut HashSet<String>) -> Vec<FunctionClasses> {
        let mut unique = |usual: String, otherwise: String| {
            if taken.insert(usual.clone()) {
                usual
            } else {
                otherwise
            }
        };
        let mut name = |token: &str| {
            let package = self.package_of(token);
            let (inputs, outputs) = (format!("{package}.inputs"), format!("{package}.outputs"));
            let name = names::class(member_of(token).rsplit('/').next().unwrap_or_default());
            FunctionClasses {
                args: unique(
                    format!("{inputs}.{name}Args"),
                    format!("{inputs}.{name}InvokeArgs"),
                ),
                plain_args: unique(
                    format!("{inputs}.{name}PlainArgs"),
                    format!("{inputs}.{name}InvokePlainArgs"),
                ),
                result: unique(
                    format!("{outputs}.{name}Result"),
                    format!("{outputs}.{name}InvokeResult"),
                ),
            }
        };
        let functions = self.package.functions.iter();
        functions.map(|function| name(function.token)).collect()
    }

    /// Java package of a token.
    pub(super) fn package_of(&self, token: &str) -> String {
        self.package_of_module(&self.package.module_of(token))
    }

    pub(super) fn package_of_module(&self, module: &str) -> String {
        let path = self.settings.packages.get(module).copied();
        join(&self.root, path.unwrap_or(module))
    }

    /// Class of a resource.
    pub(super) fn resource_class(&self, resource: &Resource<'_>) -> String {
        let package = self.package_of(&resource.token);
        format!("{package}.{}", names::class(member_of(&resource.token)))
    }

    pub(super) fn provider_class(&self) -> String {
        format!("{}.Provider", self.root)
    }

    /// Class for the state of a lookup; `None` if the resource has none.
    pub(super) fn state_class(&self, resource: &Resource<'_>) -> Option<String> {
        let state = resource.state_inputs.as_ref()?;
        if resource.is_component || state.properties.is_empty() {
            return None;
        }
        let package = self.package_of(&resource.token);
        let name = names::class(member_of(&resource.token));
        Some(format!("{package}.inputs.{name}State"))
    }

    pub(super) fn utilities_class(&self) -> String {
        format!("{}.Utilities", self.root)
    }

    /// Whether a function is generated; methods of resources are not.
    pub(super) fn has_function(&self, position: usize) -> bool {
        let function = &self.package.functions[position];
        !function.is_method && !function.overlay.is_overlay
    }

    /// Path of a class's file.
    pub(super) fn path(class: &str) -> Result<FilePath, GenerateError> {
        FilePath::new(&format!("src/main/java/{}.java", class.replace('.', "/")))
    }

    /// Modules that have a class for their functions.
    pub(super) fn function_modules(&self) -> BTreeSet<&str> {
        self.modules.keys().map(String::as_str).collect()
    }

    /// Class with the functions of a module.
    pub(super) fn functions_class(&self, module: &str) -> String {
        let package = self.package_of_module(module);
        let name = if module.is_empty() {
            self.package.name
        } else {
            module
        };
        format!("{package}.{}Functions", names::class(name))
    }
}

/// Roots of the analysis of type uses: without methods and without overlays, which are written by hand.
const ROOTS: Roots = Roots {
    methods: false,
    overlays: false,
};

pub(super) const INPUT_USES: Uses = Uses::INPUT.or(Uses::STATE).or(Uses::FUNCTION_INPUT);
/// Uses that require a class of results.
pub(super) const OUTPUT_USES: Uses = Uses::OUTPUT.or(Uses::RESULT);

/// Package and simple name of a class.
pub(super) fn split(class: &str) -> (&str, &str) {
    class.rsplit_once('.').unwrap_or(("", class))
}
