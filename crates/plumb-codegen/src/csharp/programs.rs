//! Names of a package's classes, for programs that use its SDK.

use std::collections::BTreeMap;

use plumb_schema::PackageSchema;
use plumb_schema::bound::member_of;
use serde_json::Value as Json;

use super::names;
use super::sdk::{Namespaces, Sdk, package_namespace};
use crate::settings::Compatibility;

/// Namespaces and classes of a package.
///
/// They are the same as those of the generated SDK, but need no bound schema. Names are relative to the namespace of the
/// package, for which programs have an alias.
pub struct CsharpClasses {
    namespaces: Namespaces,
}

impl CsharpClasses {
    /// Names for `package`.
    pub fn new(package: &PackageSchema) -> Self {
        let block = package.language("csharp").unwrap_or(&Json::Null);
        let modules = block.get("namespaces").and_then(Json::as_object);
        let modules: BTreeMap<String, String> = modules
            .into_iter()
            .flatten()
            .filter_map(|(module, to)| Some((module.clone(), to.as_str()?.to_owned())))
            .collect();
        let text = |key: &str| block.get(key).and_then(Json::as_str);
        let root = match (
            text("rootNamespace").filter(|it| !it.is_empty()),
            package.namespace(),
        ) {
            (Some(root), _) => root.to_owned(),
            (None, Some(namespace)) => names::namespace(namespace),
            (None, None) => "Pulumi".to_owned(),
        };
        CsharpClasses {
            namespaces: Namespaces {
                package: package_namespace(&root, package.name(), &modules),
                modules,
                compatibility: Compatibility::from_name(text("compatibility")),
            },
        }
    }

    /// Namespace of the package, which is the name of its library, too.
    pub fn namespace(&self) -> &str {
        &self.namespaces.package
    }

    fn relative(&self, namespace: &str, class: &str) -> String {
        let below = namespace.strip_prefix(&self.namespaces.package);
        let below = below.unwrap_or_default().trim_start_matches('.');
        if below.is_empty() {
            class.to_owned()
        } else {
            format!("{below}.{class}")
        }
    }

    /// Class of a resource or an enum.
    pub fn class(&self, package: &PackageSchema, token: &str) -> String {
        let namespace = self.namespaces.of(&package.module_of(token));
        self.relative(&namespace, &names::title(member_of(token)))
    }

    /// Class of a function.
    pub fn function(&self, package: &PackageSchema, token: &str) -> String {
        let namespace = self.namespaces.of(&package.module_of(token));
        self.relative(&namespace, &Sdk::function_name(token))
    }

    /// Class of an object type in the inputs of resources, or of functions.
    pub fn input(&self, package: &PackageSchema, token: &str, is_function: bool) -> String {
        let namespace = self.namespaces.nested(&package.module_of(token), "Inputs");
        let is_old = self.namespaces.compatibility != Compatibility::None;
        let suffix = if is_function && is_old {
            "InputArgs"
        } else {
            "Args"
        };
        let name = names::title(member_of(token));
        self.relative(&namespace, &format!("{name}{suffix}"))
    }
}

/// Name of a property in a class.
pub fn property(name: &str, class: &str) -> String {
    let mut name = names::title(name);
    if name == class {
        name.push('_');
    }
    name
}
