//! Names of a package's classes, for programs that use its SDK.

use std::collections::BTreeMap;

use plumb_schema::PackageSchema;
use plumb_schema::bound::member_of;
use serde_json::Value as Json;

use super::names::{self, Owner};

/// Qualified names of a package's classes.
///
/// They are the same as those of the generated SDK, but need no bound schema.
pub struct JavaClasses {
    group: String,
    root: String,
    /// Java package of the modules that the schema renames.
    packages: BTreeMap<String, String>,
}

impl JavaClasses {
    /// Names for `package`.
    pub fn new(package: &PackageSchema) -> Self {
        let block = package.language("java").unwrap_or(&Json::Null);
        let base = block.get("basePackage").and_then(Json::as_str);
        let group = match (base.filter(|base| !base.is_empty()), package.namespace()) {
            (Some(base), _) => names::package(base),
            (None, Some(namespace)) => format!("com.{}", names::identifier(namespace)),
            (None, None) => "com.pulumi".to_owned(),
        };
        let packages = block.get("packages").and_then(Json::as_object);
        let packages: BTreeMap<String, String> = packages
            .into_iter()
            .flatten()
            .filter_map(|(module, to)| Some((module.clone(), to.as_str()?.to_owned())))
            .collect();
        let own = packages
            .get(package.name())
            .map_or(package.name(), String::as_str);
        JavaClasses {
            root: join(&group, own),
            group,
            packages,
        }
    }

    /// Maven group of the SDK.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// Java package of a member.
    fn package_of(&self, package: &PackageSchema, token: &str) -> String {
        let module = package.module_of(token);
        join(&self.root, self.packages.get(&module).unwrap_or(&module))
    }

    /// Class of the provider.
    pub fn provider(&self) -> String {
        format!("{}.Provider", self.root)
    }

    /// Class of a resource.
    pub fn resource(&self, package: &PackageSchema, token: &str) -> String {
        let name = names::class(member_of(token));
        format!("{}.{name}", self.package_of(package, token))
    }

    /// Class of a resource's state, for lookups.
    pub fn state(&self, package: &PackageSchema, token: &str) -> String {
        self.nested(package, token, "inputs", "State")
    }

    /// Class of an enum.
    pub fn enumeration(&self, package: &PackageSchema, token: &str) -> String {
        self.nested(package, token, "enums", "")
    }

    /// Class of an object type in inputs.
    pub fn input(&self, package: &PackageSchema, token: &str) -> String {
        self.nested(package, token, "inputs", "Args")
    }

    /// Class of an object type in outputs.
    pub fn output(&self, package: &PackageSchema, token: &str) -> String {
        self.nested(package, token, "outputs", "")
    }

    /// Class with the functions of the module of `token`.
    pub fn functions(&self, package: &PackageSchema, token: &str) -> String {
        let module = package.module_of(token);
        let name = if module.is_empty() {
            package.name()
        } else {
            &module
        };
        let name = names::class(name);
        format!("{}.{name}Functions", self.package_of(package, token))
    }

    /// Class of a function's arguments. An object type of the same name comes first.
    pub fn function_args(&self, package: &PackageSchema, token: &str) -> String {
        let usual = self.nested(package, token, "inputs", "Args");
        let is_taken = package
            .type_tokens()
            .any(|other| self.input(package, other) == usual);
        if is_taken {
            self.nested(package, token, "inputs", "InvokeArgs")
        } else {
            usual
        }
    }

    fn nested(&self, package: &PackageSchema, token: &str, folder: &str, suffix: &str) -> String {
        let name = member_of(token).rsplit('/').next().unwrap_or_default();
        let name = names::class(name);
        let package = self.package_of(package, token);
        format!("{package}.{folder}.{name}{suffix}")
    }
}

/// Java package of a module, below the root package.
pub(super) fn join(root: &str, module: &str) -> String {
    match names::package(module) {
        module if module.is_empty() => root.to_owned(),
        module => format!("{root}.{module}"),
    }
}

/// Method for a property of a resource: its getter.
pub fn resource_property(name: &str) -> String {
    names::getter(&names::identifier(name), Owner::Resource)
}

/// Method for a property of an object or of arguments: its getter or setter.
pub fn object_property(name: &str) -> String {
    names::getter(&names::identifier(name), Owner::Object)
}

/// Method of a function.
pub fn function(token: &str) -> String {
    names::identifier(member_of(token))
}
