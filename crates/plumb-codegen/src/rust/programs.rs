//! Names of a package's items, for programs that use its crate.

use std::collections::BTreeMap;

use plumb_schema::{Constant, EnumValue, PackageSchema, Properties, Property, Resource};

use super::names::{self, FunctionNames, MemberNames, Taken};
use super::{args, resource};

/// An item of the crate of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RustItem {
    /// Module below the root of the crate; empty for the root.
    pub module: String,
    /// Name in the module.
    pub name: String,
}

/// Items of the crate of a package: the same as those of the generated SDK, without a bound schema.
pub struct RustItems {
    /// Name of the crate.
    pub crate_name: String,
    resources: BTreeMap<String, RustItem>,
    types: BTreeMap<String, RustItem>,
    functions: BTreeMap<String, (String, FunctionNames)>,
}

impl RustItems {
    /// Items of `package`.
    pub fn new(package: &PackageSchema) -> Self {
        let resources: Vec<&str> = package.resource_tokens().collect();
        let types: Vec<&str> = package.type_tokens().collect();
        let functions: Vec<&str> = package.function_tokens().collect();
        let module_of = |token: &str| names::module(&package.module_of(token));
        let found = MemberNames::new([&resources, &types, &functions], &module_of);
        let items = |tokens: Vec<&str>, names: Vec<String>| {
            let items = tokens.into_iter().zip(names).map(|(token, name)| {
                let module = module_of(token);
                (token.to_owned(), RustItem { module, name })
            });
            items.collect()
        };
        let of_functions = functions.into_iter().zip(found.functions);
        RustItems {
            crate_name: names::crate_name(package.name()),
            resources: items(resources, found.resources),
            types: items(types, found.types),
            functions: of_functions
                .map(|(token, names)| (token.to_owned(), (module_of(token), names)))
                .collect(),
        }
    }

    /// Type of a resource or of the provider.
    pub fn resource(&self, token: &str) -> Option<RustItem> {
        if token.starts_with("pulumi:providers:") {
            return Some(RustItem {
                module: String::new(),
                name: "Provider".to_owned(),
            });
        }
        self.resources.get(token).cloned()
    }

    /// Type of an object or an enum.
    pub fn definition(&self, token: &str) -> Option<RustItem> {
        self.types.get(token).cloned()
    }

    /// A function, and the type whose name with an ending is that of its arguments or of its result.
    pub fn function(&self, token: &str) -> Option<[RustItem; 2]> {
        let (module, names) = self.functions.get(token)?;
        let item = |name: &String| RustItem {
            module: module.clone(),
            name: name.clone(),
        };
        Some([item(&names.function), item(&names.class)])
    }
}

/// The crate of a package.
pub fn crate_name(package: &PackageSchema) -> String {
    names::crate_name(package.name())
}

/// Module of a crate for a module of a schema, which is the feature that it needs, too; empty for the root.
pub fn module(module: &str) -> String {
    names::module(module)
}

/// Setter of an input of arguments with these properties.
pub fn setter(properties: &Properties, name: &str) -> Option<String> {
    let settable = properties.values().filter(|it| it.constant.is_none());
    position_in(settable, name, &args::RESERVED)
}

/// Whether arguments are incomplete without the input.
pub fn is_demanded(property: &Property) -> bool {
    property.required
        && property.constant.is_none()
        && property.default.is_none()
        && property.default_info.is_none()
}

/// Accessor of an output of a resource.
pub fn accessor(resource: &Resource, name: &str) -> Option<String> {
    let methods: Vec<String> = resource.methods.keys().map(|it| names::snake(it)).collect();
    let mut reserved = resource::RESERVED.to_vec();
    reserved.extend(methods.iter().map(String::as_str));
    position_in(resource.properties.values(), name, &reserved)
}

/// Method of a resource.
pub fn method(name: &str) -> String {
    names::snake(name)
}

/// Constant for a member of an object with these properties.
pub fn field(properties: &Properties, name: &str) -> Option<String> {
    let mut taken = Taken::default();
    let mut named = properties
        .values()
        .map(|it| (&it.name, taken.take(names::constant(&it.name))));
    named.find(|(known, _)| *known == name).map(|it| it.1)
}

/// Constant for a value of an enum of texts; `None` if it has none.
pub fn member(values: &[EnumValue], wanted: &EnumValue) -> Option<String> {
    let mut taken = Taken::default();
    values.iter().find_map(|value| {
        let Constant::String(content) = &value.value else {
            return None;
        };
        let name = value.name.as_deref().unwrap_or(content);
        let name = taken.take(names::constant(name));
        (value.value == wanted.value).then_some(name)
    })
}

fn position_in<'p>(
    properties: impl Iterator<Item = &'p Property> + Clone,
    name: &str,
    reserved: &[&str],
) -> Option<String> {
    let position = properties.clone().position(|it| it.name == name)?;
    let names = names::distinct(properties.map(|it| &*it.name), reserved);
    names.into_iter().nth(position)
}
