//! Names of a package in C#: namespaces and all classes.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_schema::PackageSchema;
use plumb_schema::bound::{
    ExternalPackage, Package, Resource, TypeShape, member_of, runtime_module_of,
};

use super::names;
use super::settings::Settings;
use crate::settings::Compatibility;
use crate::uses::{self, Roots, Uses};
use crate::{FilePath, GenerateError, Purpose};

/// Position in which an object type is used. Each shape can have a class of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Inputs of resources.
    Input,
    /// State for the lookup of an existing resource.
    State,
    /// Arguments of functions that accept outputs.
    FunctionInput,
    /// Arguments of functions that accept only plain values.
    Plain,
    /// Outputs of resources.
    Output,
    /// Results of functions.
    Result,
    /// Settings.
    Config,
}

impl Shape {
    /// Whether values of this shape can be outputs.
    pub(super) fn takes_outputs(self) -> bool {
        matches!(self, Shape::Input | Shape::State | Shape::FunctionInput)
    }

    pub(super) fn is_given(self) -> bool {
        self.takes_outputs() || self == Shape::Plain
    }
}

/// A package with its settings, namespaces and type uses.
pub(super) struct Sdk<'p, 'd> {
    pub(super) package: &'p Package<'d>,
    pub(super) purpose: Purpose,
    pub(super) settings: Settings<'d>,
    pub(super) uses: Vec<Uses>,
    pub(super) root: Namespaces,
    pub(super) externals: Vec<External>,
}

/// Namespaces of a package and its modules.
pub(super) struct Namespaces {
    /// Namespace of the package.
    pub(super) package: String,
    pub(super) modules: BTreeMap<String, String>,
    pub(super) compatibility: Compatibility,
}

impl Namespaces {
    fn module(&self, module: &str) -> String {
        match self.modules.get(module) {
            Some(written) => names::written_namespace(written),
            None => names::namespace(module),
        }
    }

    /// Namespace of a module's resources.
    pub(super) fn of(&self, module: &str) -> String {
        if module.is_empty() {
            return self.package.clone();
        }
        join(&self.package, &self.module(module))
    }

    /// Namespace of a module's nested types; `direction` is `Inputs` or `Outputs`.
    pub(super) fn nested(&self, module: &str, direction: &str) -> String {
        if self.compatibility != Compatibility::Kubernetes20 {
            return join(&self.of(module), direction);
        }
        let types = format!("{}.Types.{direction}", self.package);
        if module.is_empty() {
            return types;
        }
        join(&types, &self.module(module))
    }
}

/// A package that this one refers to.
pub(super) struct External {
    pub(super) namespaces: Namespaces,
    schema: Option<Arc<PackageSchema>>,
}

impl External {
    fn new(external: &ExternalPackage) -> Self {
        let schema = external.schema.as_ref();
        let block = schema
            .and_then(|it| it.language("csharp"))
            .unwrap_or(&serde_json::Value::Null);
        let modules = block.get("namespaces").and_then(|it| it.as_object());
        let modules: BTreeMap<String, String> = modules
            .into_iter()
            .flatten()
            .filter_map(|(module, to)| Some((module.clone(), to.as_str()?.to_owned())))
            .collect();
        let root = block.get("rootNamespace").and_then(|it| it.as_str());
        let root = root.filter(|root| !root.is_empty()).unwrap_or("Pulumi");
        let compatibility = block.get("compatibility").and_then(|it| it.as_str());
        External {
            namespaces: Namespaces {
                package: package_namespace(root, &external.name, &modules),
                modules,
                compatibility: Compatibility::from_name(compatibility),
            },
            schema: external.schema.clone(),
        }
    }

    pub(super) fn module_of(&self, token: &str) -> String {
        if let Some(schema) = &self.schema {
            return schema.module_of(token);
        }
        // Without the package's schema, assume the common format of modules: `s3/bucket`, where the part
        // after the slash is the file's name.
        let module = runtime_module_of(token).split('/').next();
        let module = module.filter(|module| *module != "index");
        module.unwrap_or_default().to_owned()
    }
}

fn join(outer: &str, inner: &str) -> String {
    format!("{outer}.{inner}")
}

/// Namespace of a package.
pub(super) fn package_namespace(
    root: &str,
    name: &str,
    modules: &BTreeMap<String, String>,
) -> String {
    let root = names::written_namespace(root);
    let own = match modules.get(name) {
        Some(written) => names::written_namespace(written),
        None => names::namespace(name),
    };
    // The core SDK has a class `Pulumi.Config`.
    let own = if root == "Pulumi" && own == "Config" {
        "Config_".to_owned()
    } else {
        own
    };
    join(&root, &own)
}

impl<'p, 'd> Sdk<'p, 'd> {
    pub(super) fn new(package: &'p Package<'d>, purpose: Purpose) -> Result<Self, GenerateError> {
        let settings = Settings::read(package)?;
        let modules = settings.namespaces.iter();
        let modules: BTreeMap<String, String> = modules
            .map(|(module, to)| ((*module).to_owned(), (*to).to_owned()))
            .collect();
        let root = match (settings.root_namespace, package.namespace) {
            (Some(root), _) => root.to_owned(),
            (None, Some(namespace)) => names::namespace(namespace),
            (None, None) => "Pulumi".to_owned(),
        };
        Ok(Sdk {
            uses: uses::analyse(
                package,
                Roots {
                    methods: true,
                    overlays: false,
                },
            ),
            externals: package.externals.iter().map(External::new).collect(),
            root: Namespaces {
                package: package_namespace(&root, package.name, &modules),
                modules,
                compatibility: settings.compatibility,
            },
            package,
            purpose,
            settings,
        })
    }

    /// Namespace for a token's resource or function.
    pub(super) fn namespace_of(&self, token: &str) -> String {
        self.root.of(&self.package.module_of(token))
    }

    /// Class name of a resource.
    pub(super) fn resource_name(resource: &Resource<'_>) -> String {
        let block = resource.outputs.language.get("csharp");
        let written = block.and_then(|block| block.get("name")?.as_str());
        match written.filter(|name| !name.is_empty()) {
            Some(name) => names::title(name),
            None => names::title(member_of(&resource.token)),
        }
    }

    /// Class name of a function.
    pub(super) fn function_name(token: &str) -> String {
        match names::title(member_of(token)).as_str() {
            name @ ("Invoke" | "InvokeAsync") => format!("{name}Function"),
            name => name.to_owned(),
        }
    }

    /// Class name of an object in one shape, and its namespace.
    pub(super) fn object_class(
        namespaces: &Namespaces,
        module: &str,
        name: &str,
        shape: Shape,
        uses: Uses,
    ) -> (String, String) {
        let name = names::title(name);
        let is_old = namespaces.compatibility != Compatibility::None;
        let class = match shape {
            Shape::Input => format!("{name}Args"),
            Shape::State => format!("{name}GetArgs"),
            Shape::FunctionInput if is_old => format!("{name}InputArgs"),
            Shape::FunctionInput => format!("{name}Args"),
            // If an input class exists too, that one is called `Args`, and the plain class has no suffix.
            Shape::Plain if is_old && !uses.has(Uses::INPUT) => format!("{name}Args"),
            Shape::Result if is_old => format!("{name}Result"),
            Shape::Plain | Shape::Output | Shape::Result | Shape::Config => name,
        };
        let direction = if shape.is_given() {
            "Inputs"
        } else {
            "Outputs"
        };
        (namespaces.nested(module, direction), class)
    }

    /// Class of an object of this package.
    pub(super) fn own_class(&self, position: usize, shape: Shape) -> (String, String) {
        let token = self.package.types[position].token;
        let module = self.package.module_of(token);
        if shape == Shape::Config {
            let namespace = format!("{}.Config.Types", self.root.package);
            return (namespace, names::title(member_of(token)));
        }
        let uses = self.uses[position];
        Self::object_class(&self.root, &module, member_of(token), shape, uses)
    }

    pub(super) fn is_enum(&self, position: usize) -> bool {
        matches!(self.package.types[position].shape, TypeShape::Enum(_))
    }

    /// Path of a file in the folder of a namespace.
    pub(super) fn path(&self, namespace: &str, file: &str) -> Result<FilePath, GenerateError> {
        let below = namespace
            .strip_prefix(&self.root.package)
            .unwrap_or_default();
        let folder = below.trim_start_matches('.').replace('.', "/");
        if folder.is_empty() {
            return FilePath::new(&format!("{file}.cs"));
        }
        FilePath::new(&format!("{folder}/{file}.cs"))
    }

    /// Class of this package's helpers.
    pub(super) fn utilities(&self) -> String {
        format!("global::{}.Utilities", self.root.package)
    }

    /// Argument that tells the engine which parameterized package a request is for.
    pub(super) fn package_argument(&self) -> Option<String> {
        let is_needed = self.package.parameterization.is_some();
        is_needed.then(|| format!("{}.PackageParameterization()", self.utilities()))
    }
}
