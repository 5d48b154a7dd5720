//! Names of package members in programs.
//!
//! SDKs determine these names, and programs generated from PCL must use them. Both take the names from the `names`
//! modules of the languages. The schema need not be bound: each name follows from a token and from the package's
//! settings for the language.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use plumb_schema::bound::member_of;
use plumb_schema::{Constant, EnumValue, PackageSchema};
use serde_json::Value as Json;

use crate::go::properties::Holder;
use crate::{csharp, go, java, nodejs, python, rust};

pub use crate::csharp::programs::{CsharpClasses, property as csharp_property};
pub use crate::java::programs::{
    JavaClasses, function as java_function, object_property as java_object_property,
    resource_property as java_resource_property,
};
pub use crate::rust::programs as rust_items;

/// Names of a package's members in one language.
pub struct PackageNames {
    language: ProgramLanguage,
    /// Import path.
    pub import: String,
    /// Version of the package, if the schema has one.
    pub version: Option<semver::Version>,
    /// Whether objects are written as dictionaries; otherwise as instances of classes.
    pub has_dicts: bool,
    modules: BTreeMap<String, String>,
    /// Names in Go, computed when somebody asks for them.
    go_names: OnceLock<GoNames>,
}

/// Names by module.
type GoNames = BTreeMap<Vec<String>, BTreeSet<String>>;

/// Languages of generated programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramLanguage {
    /// Python.
    Python,
    /// TypeScript.
    Nodejs,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C#.
    Csharp,
    /// Rust.
    Rust,
}

impl ProgramLanguage {
    fn name(self) -> &'static str {
        match self {
            ProgramLanguage::Python => "python",
            ProgramLanguage::Go => "go",
            ProgramLanguage::Java => "java",
            ProgramLanguage::Csharp => "csharp",
            ProgramLanguage::Rust => "rust",
            ProgramLanguage::Nodejs => "nodejs",
        }
    }

    /// Identifier for a variable or a parameter.
    pub fn variable(self, name: &str) -> String {
        match self {
            ProgramLanguage::Python => python::names::snake(name),
            ProgramLanguage::Go => go::names::word(&name.replace('-', "_")),
            ProgramLanguage::Java => java::names::identifier(&name.replace('-', "_")),
            ProgramLanguage::Csharp => csharp::names::parameter(&name.replace('-', "_")),
            ProgramLanguage::Rust => rust::names::snake(name),
            ProgramLanguage::Nodejs => nodejs::names::identifier(&name.replace('-', "_")),
        }
    }

    /// Identifier for a class that a program defines.
    pub fn class(self, name: &str) -> String {
        match self {
            ProgramLanguage::Python => python::names::object_class(name),
            ProgramLanguage::Go => go::names::title(name),
            ProgramLanguage::Java => java::names::class(name),
            ProgramLanguage::Csharp => csharp::names::title(name),
            ProgramLanguage::Rust => rust::names::class(name),
            ProgramLanguage::Nodejs => {
                nodejs::names::identifier(&nodejs::names::title(name).replace('-', "_"))
            }
        }
    }

    /// Name of a property of a resource, an object or a result.
    pub fn property(self, name: &str) -> String {
        match self {
            ProgramLanguage::Python => python::names::snake(name),
            ProgramLanguage::Go => go::names::field(name),
            ProgramLanguage::Java => java_object_property(name),
            ProgramLanguage::Csharp => csharp::names::title(name),
            ProgramLanguage::Rust => rust::names::snake(name),
            ProgramLanguage::Nodejs => name.to_owned(),
        }
    }

    /// String literal.
    pub fn string(self, text: &str) -> String {
        match self {
            ProgramLanguage::Python => python::names::string(text),
            ProgramLanguage::Go => go::names::string(text),
            ProgramLanguage::Java => java::names::string(text),
            ProgramLanguage::Csharp => csharp::names::string(text),
            ProgramLanguage::Rust => rust::names::string(text),
            ProgramLanguage::Nodejs => nodejs::names::string(text),
        }
    }
}

impl PackageNames {
    /// Names for `package`.
    pub fn new(package: &PackageSchema, language: ProgramLanguage) -> Self {
        let block = package.language(language.name()).unwrap_or_default();
        let text = |key: &str| block.get(key).and_then(Json::as_str);
        let own = text("packageName").map(ToOwned::to_owned);
        let (import, table) = match language {
            ProgramLanguage::Python => (
                own.unwrap_or_else(|| python::package_name(package.namespace(), package.name())),
                "moduleNameOverrides",
            ),
            ProgramLanguage::Go => {
                let base = text("importBasePath").map(ToOwned::to_owned);
                (base.unwrap_or_else(|| go_base(package)), "moduleToPackage")
            }
            ProgramLanguage::Java => (JavaClasses::new(package).group().to_owned(), "packages"),
            ProgramLanguage::Rust => (rust::names::crate_name(package.name()), "modules"),
            ProgramLanguage::Csharp => {
                let namespace = CsharpClasses::new(package).namespace().to_owned();
                (namespace, "namespaces")
            }
            ProgramLanguage::Nodejs => {
                let namespace = package.namespace().unwrap_or("pulumi");
                let name = own.unwrap_or_else(|| format!("@{namespace}/{}", package.name()));
                (name, "moduleToPackage")
            }
        };
        let modules = block.get(table).and_then(Json::as_object);
        let modules = modules.into_iter().flatten();
        PackageNames {
            language,
            import,
            version: package.version().cloned(),
            has_dicts: text("inputTypes") != Some("classes"),
            modules: modules
                .filter_map(|(from, to)| Some((from.clone(), to.as_str()?.to_owned())))
                .collect(),
            go_names: OnceLock::new(),
        }
    }

    /// Path from the import to the module of a member.
    pub fn module(&self, package: &PackageSchema, token: &str) -> Vec<String> {
        let module = package.module_of(token);
        match self.language {
            ProgramLanguage::Python => {
                let path = self.modules.get(&module).cloned();
                let path = path.unwrap_or_else(|| python::module_path(&module));
                let steps = path.split(['/', '.']).filter(|step| !step.is_empty());
                steps.map(ToOwned::to_owned).collect()
            }
            ProgramLanguage::Go | ProgramLanguage::Java | ProgramLanguage::Csharp => {
                let path = self.modules.get(&module).cloned().unwrap_or(module);
                let path = path.to_lowercase();
                let steps = path.split('/').filter(|step| !step.is_empty());
                steps.map(ToOwned::to_owned).collect()
            }
            ProgramLanguage::Rust => vec![rust::names::module(&module)],
            ProgramLanguage::Nodejs => {
                let path = self.modules.get(&module).cloned().unwrap_or(module);
                nodejs::names::namespaces(&path.to_lowercase())
            }
        }
    }

    /// Class of a resource or an enum.
    pub fn class(&self, token: &str) -> String {
        match self.language {
            ProgramLanguage::Python => python::names::class(member_of(token)),
            ProgramLanguage::Go => go::names::title(member_of(token)),
            ProgramLanguage::Java => java::names::class(member_of(token)),
            ProgramLanguage::Csharp => csharp::names::title(member_of(token)),
            ProgramLanguage::Rust => rust::names::class(member_of(token)),
            ProgramLanguage::Nodejs => {
                nodejs::names::identifier(&nodejs::names::title(member_of(token)))
            }
        }
    }

    /// Class of an object or an enum in Go, where names of a package's resources come before those of its types.
    ///
    /// Example: the type `ElementType` is called `ElementTypeType` if a resource of its module is called `ElementType`.
    pub fn go_type(&self, package: &PackageSchema, token: &str, is_enum: bool) -> String {
        let class = self.class(token);
        let taken = self.go_names.get_or_init(|| self.go_resources(package));
        let names = taken.get(&self.module(package, token));
        match (names.is_some_and(|it| it.contains(&class)), is_enum) {
            (false, _) => class,
            (true, false) => class + "Type",
            (true, true) => class + "Enum",
        }
    }

    /// Names that the resources of each module take in Go.
    fn go_resources(&self, package: &PackageSchema) -> GoNames {
        let mut taken = GoNames::new();
        for token in package.resource_tokens() {
            let forms = go::naming::resource_forms(&self.class(token), true);
            let names = taken.entry(self.module(package, token)).or_default();
            names.extend(forms);
        }
        taken
    }

    /// Class of an input object.
    pub fn args_class(&self, token: &str) -> String {
        format!("{}Args", self.class(token))
    }

    /// Names of a function, and of its variant that accepts outputs.
    pub fn function(&self, token: &str) -> [String; 2] {
        match self.language {
            ProgramLanguage::Python => {
                let name = python::names::snake(&python::names::class(member_of(token)));
                let output = format!("{name}_output");
                [name, output]
            }
            ProgramLanguage::Go => {
                let name = go::names::title(member_of(token));
                let output = format!("{name}Output");
                [name, output]
            }
            ProgramLanguage::Java => {
                let name = java_function(token);
                [format!("{name}Plain"), name]
            }
            ProgramLanguage::Csharp => {
                let name = csharp::names::title(member_of(token));
                [format!("{name}.InvokeAsync"), format!("{name}.Invoke")]
            }
            ProgramLanguage::Rust => {
                let name = rust::names::snake(member_of(token));
                [format!("{name}_plain"), name]
            }
            ProgramLanguage::Nodejs => {
                let name = nodejs::names::identifier(&nodejs::names::camel(member_of(token)));
                let output = format!("{name}Output");
                [name, output]
            }
        }
    }

    /// Name of a method.
    pub fn method(&self, name: &str) -> String {
        match self.language {
            ProgramLanguage::Python => python::names::snake(name),
            ProgramLanguage::Go => go::names::title(name),
            ProgramLanguage::Java => java::names::identifier(name),
            ProgramLanguage::Csharp => csharp::names::title(name),
            ProgramLanguage::Rust => rust::names::snake(name),
            ProgramLanguage::Nodejs => nodejs::names::camel(name),
        }
    }

    /// Name of an input of a resource or a function.
    pub fn parameter(&self, name: &str) -> String {
        match self.language {
            ProgramLanguage::Python => python::names::parameter(name),
            ProgramLanguage::Go => go::names::field(name),
            ProgramLanguage::Java => java_object_property(name),
            ProgramLanguage::Csharp => csharp::names::title(name),
            ProgramLanguage::Rust => rust::names::snake(name),
            ProgramLanguage::Nodejs => name.to_owned(),
        }
    }

    /// Name of the member of the enum `token` with this value; `None` if it has none.
    pub fn enum_member(&self, token: &str, value: &EnumValue) -> Option<String> {
        let written = match (&value.name, &value.value) {
            (Some(name), _) if !name.is_empty() => name.clone(),
            (_, Constant::String(text)) => text.clone(),
            (_, Constant::Number(number)) => number.to_string(),
            (_, Constant::Bool(flag)) => flag.to_string(),
        };
        let class = self.class(token);
        match self.language {
            ProgramLanguage::Python => python::names::enum_member(&written, &class),
            ProgramLanguage::Go => Some(class + &go::names::enum_member(&written)?),
            ProgramLanguage::Java => java::names::enum_constant(&written),
            ProgramLanguage::Csharp => csharp::names::enum_member(&written, &class),
            ProgramLanguage::Rust => Some(rust::names::constant(&written)),
            ProgramLanguage::Nodejs => nodejs::names::enum_member(&written, &class),
        }
    }

    /// Requirement for the package manager with exactly the version of the schema.
    pub fn requirement(&self) -> Option<String> {
        let version = self.version.as_ref()?;
        Some(match self.language {
            ProgramLanguage::Python => python::names::distribution_version(version),
            ProgramLanguage::Go => format!("v{version}"),
            ProgramLanguage::Java
            | ProgramLanguage::Csharp
            | ProgramLanguage::Rust
            | ProgramLanguage::Nodejs => version.to_string(),
        })
    }
}

/// Method of an output in Go for the property with the field `field`; `is_pointer` tells outputs that may have no value.
pub fn go_accessor(field: &str, is_pointer: bool) -> String {
    let holder = if is_pointer {
        Holder::Pointer
    } else {
        Holder::Value
    };
    go::properties::accessor_name(field, holder)
}

/// Go module that has the packages below an import path: the folder above for an SDK that is a module of its own, as local
/// ones are; everything before the folder `go` for another SDK that was released.
pub fn go_module(package: &PackageSchema, import: &str, is_local: bool) -> String {
    let block = package.language("go").unwrap_or(&Json::Null);
    if let Some(path) = block.get("modulePath").and_then(Json::as_str) {
        return path.to_owned();
    }
    let above = || import.rsplit_once('/').map_or(import, |(above, _)| above);
    if is_local || is_own_module(package) {
        return above().to_owned();
    }
    let released = import.rsplit_once("/go/").map(|(module, _)| module);
    let is_sdk = |module: &&str| {
        module.ends_with("/sdk") || module.rsplit('/').nth(1).is_some_and(|step| step == "sdk")
    };
    released.filter(is_sdk).unwrap_or_else(above).to_owned()
}

/// Name of the Go package with an import path.
pub fn go_package(import: &str) -> String {
    go::names::package(import)
}

/// Import path of an SDK whose schema does not set it.
pub(crate) fn go_base(package: &PackageSchema) -> String {
    let name = package.name();
    let step = match package.version() {
        Some(version) if version.major >= 2 => format!("/v{}", version.major),
        _ => String::new(),
    };
    let namespace = package.namespace();
    let root = match (go_repository(package), namespace) {
        (Some(repository), _) => repository,
        (None, Some(namespace)) => format!("github.com/{namespace}/pulumi-{name}"),
        (None, None) => format!("example.com/pulumi-{name}"),
    };
    if is_own_module(package) {
        format!("{root}/sdk/go{step}/{}", name.replace('-', ""))
    } else {
        format!("{root}/sdk{step}/go/{name}")
    }
}

/// Whether the SDK for Go has a `go.mod` of its own.
fn is_own_module(package: &PackageSchema) -> bool {
    let has_pack = || {
        let schema: Json = serde_json::from_str(package.text()).unwrap_or_default();
        schema["meta"]["supportPack"] == true
    };
    // Reading a large schema takes long.
    package.parameterization().is_some() || package.text().contains("\"supportPack\"") && has_pack()
}

fn go_repository(package: &PackageSchema) -> Option<String> {
    let schema: Json = serde_json::from_str(package.text()).ok()?;
    go::layout::repository(schema.get("repository")?.as_str()?)
}

/// Key of an object in TypeScript, quoted if necessary.
pub fn typescript_key(name: &str) -> String {
    nodejs::names::key(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(language: &str) -> PackageSchema {
        let text =
            format!("{{\"name\": \"my-pkg\", \"version\": \"1.2.3\", \"language\": {language}}}");
        PackageSchema::parse(text).unwrap()
    }

    #[test]
    fn names_are_those_of_the_sdks() {
        let plain = package("{}");
        let names = PackageNames::new(&plain, ProgramLanguage::Python);
        assert_eq!(names.import, "pulumi_my_pkg");
        assert_eq!(names.module(&plain, "my-pkg:ec2:Box"), ["ec2"]);
        assert!(names.module(&plain, "my-pkg:index:Box").is_empty());
        assert_eq!(names.function("my-pkg:index:getBox")[1], "get_box_output");
        let names = PackageNames::new(&plain, ProgramLanguage::Nodejs);
        assert_eq!(names.import, "@pulumi/my-pkg");
        assert_eq!(names.requirement().as_deref(), Some("1.2.3"));
        let names = PackageNames::new(&plain, ProgramLanguage::Go);
        assert_eq!(names.import, "example.com/pulumi-my-pkg/sdk/go/my-pkg");
        assert_eq!(go_package(&names.import), "mypkg");
        assert_eq!(names.requirement().as_deref(), Some("v1.2.3"));
    }

    #[test]
    fn names_of_resources_come_before_those_of_types_in_go() {
        let package = PackageSchema::parse(
            r#"{"name": "lab", "resources": {"lab:index:Box": {}, "lab:other:Lid": {}}}"#,
        )
        .unwrap();
        let names = PackageNames::new(&package, ProgramLanguage::Go);
        for (token, is_enum, expected) in [
            ("lab:index:Box", false, "BoxType"),
            ("lab:index:Box", true, "BoxEnum"),
            ("lab:index:BoxArgs", false, "BoxArgsType"),
            ("lab:index:BoxLid", false, "BoxLid"),
            ("lab:index:Lid", false, "Lid"),
            ("lab:other:Lid", false, "LidType"),
        ] {
            assert_eq!(names.go_type(&package, token, is_enum), expected, "{token}");
        }
        assert_eq!(go_accessor("ElementType_", false), "GetElementType_");
        assert_eq!(go_accessor("Size", true), "Size");
    }

    #[test]
    fn modules_of_go_packages_follow_from_their_paths() {
        let plain = package("{}");
        for (import, module) in [
            (
                "github.com/a/pulumi-b/sdk/go/b",
                "github.com/a/pulumi-b/sdk",
            ),
            (
                "github.com/a/pulumi-b/sdk/v4/go/b",
                "github.com/a/pulumi-b/sdk/v4",
            ),
            ("example.com/b/go/v2/b", "example.com/b/go/v2"),
        ] {
            assert_eq!(go_module(&plain, import, false), module);
        }
        let own = package(r#"{"go": {"modulePath": "example.com/own"}}"#);
        assert_eq!(
            go_module(&own, "example.com/b/go/b", false),
            "example.com/own"
        );
        let import = "github.com/a/pulumi-b/sdk/v4/go/b";
        assert_eq!(
            go_module(&plain, import, true),
            "github.com/a/pulumi-b/sdk/v4/go"
        );
    }

    #[test]
    fn sdks_that_are_modules_of_their_own_have_other_paths() {
        let text = r#"{"name": "my-pkg", "version": "2.0.0", "meta": {"supportPack": true}}"#;
        let package = PackageSchema::parse(text.to_owned()).unwrap();
        let names = PackageNames::new(&package, ProgramLanguage::Go);
        assert_eq!(names.import, "example.com/pulumi-my-pkg/sdk/go/v2/mypkg");
        assert_eq!(
            go_module(&package, &names.import, false),
            "example.com/pulumi-my-pkg/sdk/go/v2"
        );
    }

    #[test]
    fn settings_of_packages_win() {
        let text = r#"{"python": {"packageName": "own", "moduleNameOverrides": {"ec2": "elastic/two"}},
                       "nodejs": {"packageName": "own-js", "moduleToPackage": {"ec2": "elastic/two"}}}"#;
        let package = package(text);
        for (language, import) in [
            (ProgramLanguage::Python, "own"),
            (ProgramLanguage::Nodejs, "own-js"),
        ] {
            let names = PackageNames::new(&package, language);
            assert_eq!(names.import, import);
            assert_eq!(names.module(&package, "my-pkg:ec2:Box"), ["elastic", "two"]);
        }
    }
}
