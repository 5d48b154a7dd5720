//! Modules, names and types, decided.

use std::collections::{BTreeMap, BTreeSet};

use plumb_schema::Primitive;
use plumb_schema::bound::{
    Function, Object, Package, Property, Resource, Returns, Type, TypeKind, TypeShape,
};

use super::names::{self, FunctionNames, MemberNames};
use super::text;
use crate::writer::Writer;

/// Contents of a module, by position in the schema.
#[derive(Default)]
pub(super) struct Members {
    pub(super) enums: Vec<usize>,
    pub(super) objects: Vec<usize>,
    pub(super) resources: Vec<usize>,
    pub(super) functions: Vec<usize>,
    /// Modules that its members mention.
    pub(super) mentions: BTreeSet<String>,
}

/// A package with everything decided.
pub(super) struct Sdk<'p, 'd> {
    pub(super) package: &'p Package<'d>,
    /// Modules by their identifiers; the root is the empty one.
    pub(super) modules: BTreeMap<String, Members>,
    /// Names of types by position.
    pub(super) types: Vec<String>,
    /// Names of resources by position.
    pub(super) resources: Vec<String>,
    /// Names of functions by position, and of the types around them.
    pub(super) functions: Vec<FunctionNames>,
}

/// A property with the name that it has in Rust.
pub(super) struct Named<'a, 'd> {
    pub(super) name: String,
    pub(super) property: &'a Property<'d>,
}

/// Properties with names that differ from each other and from `reserved`.
pub(super) fn named<'a, 'd>(
    properties: impl IntoIterator<Item = &'a Property<'d>>,
    reserved: &[&str],
) -> Vec<Named<'a, 'd>> {
    let properties: Vec<&Property<'d>> = properties.into_iter().collect();
    let names = names::distinct(properties.iter().map(|it| it.name), reserved);
    let named = names.into_iter().zip(properties);
    named
        .map(|(name, property)| Named { name, property })
        .collect()
}

impl<'p, 'd> Sdk<'p, 'd> {
    pub(super) fn new(package: &'p Package<'d>) -> Self {
        let mut sdk = Sdk {
            package,
            modules: BTreeMap::new(),
            types: Vec::new(),
            resources: Vec::new(),
            functions: Vec::new(),
        };
        sdk.modules.entry(String::new()).or_default();
        sdk.name();
        sdk.mention();
        sdk
    }

    /// Decides the names, and which module each member is in.
    fn name(&mut self) {
        let package = self.package;
        let resources: Vec<&str> = package.resources.iter().map(|it| &*it.token).collect();
        let types: Vec<&str> = package.types.iter().map(|it| it.token).collect();
        let functions: Vec<&str> = package.functions.iter().map(|it| it.token).collect();
        let module_of = |token: &str| self.module(token);
        let found = MemberNames::new([&resources, &types, &functions], &module_of);
        for (position, token) in resources.into_iter().enumerate() {
            let module = self.module(token);
            self.members(module).resources.push(position);
        }
        for (position, definition) in package.types.iter().enumerate() {
            let module = self.module(definition.token);
            match &definition.shape {
                TypeShape::Object(_) => self.members(module).objects.push(position),
                TypeShape::Enum(_) => self.members(module).enums.push(position),
            }
        }
        for (position, token) in functions.into_iter().enumerate() {
            let module = self.module(token);
            self.members(module).functions.push(position);
        }
        self.resources = found.resources;
        self.types = found.types;
        self.functions = found.functions;
    }

    fn members(&mut self, module: String) -> &mut Members {
        self.modules.entry(module).or_default()
    }

    /// The identifier of the module of `token`.
    pub(super) fn module(&self, token: &str) -> String {
        names::module(&self.package.module_of(token))
    }

    /// Collects which modules each module mentions.
    fn mention(&mut self) {
        let mut modules = std::mem::take(&mut self.modules);
        for (name, members) in &mut modules {
            let mut found = BTreeSet::new();
            for position in &members.objects {
                if let TypeShape::Object(object) = &self.package.types[*position].shape {
                    self.mentioned_by(&object.properties, &mut found);
                }
            }
            for position in &members.resources {
                let resource = &self.package.resources[*position];
                self.mentioned_by(&resource.inputs, &mut found);
                self.mentioned_by(&resource.outputs.properties, &mut found);
                for method in &resource.methods {
                    let function = &self.package.functions[method.function];
                    found.insert(self.module(function.token));
                }
            }
            for position in &members.functions {
                let function = &self.package.functions[*position];
                if let Some(inputs) = &function.inputs {
                    self.mentioned_by(&inputs.properties, &mut found);
                }
                match &function.returns {
                    Returns::Object(object) => self.mentioned_by(&object.properties, &mut found),
                    Returns::Value(ty) => self.mentioned_in(ty, &mut found),
                    Returns::Nothing => {}
                }
            }
            found.remove(name);
            found.remove("");
            members.mentions = found;
        }
        self.modules = modules;
    }

    fn mentioned_by(&self, properties: &[Property<'d>], found: &mut BTreeSet<String>) {
        for property in properties {
            self.mentioned_in(&property.ty, found);
        }
    }

    fn mentioned_in(&self, ty: &Type<'d>, found: &mut BTreeSet<String>) {
        match &ty.kind {
            TypeKind::Array(inner) | TypeKind::Map(inner) => self.mentioned_in(inner, found),
            TypeKind::Defined(position) => {
                found.insert(self.module(self.package.types[*position].token));
            }
            TypeKind::Resource(position) => {
                found.insert(self.module(&self.package.resources[*position].token));
            }
            TypeKind::Primitive(_)
            | TypeKind::Any
            | TypeKind::Json
            | TypeKind::Asset
            | TypeKind::Archive
            | TypeKind::Union(_)
            | TypeKind::Provider
            | TypeKind::Opaque(_)
            | TypeKind::External(_)
            | TypeKind::Invalid => {}
        }
    }

    /// The path of something called `name` in the module of `token`.
    fn path(&self, token: &str, name: &str) -> String {
        match self.module(token).as_str() {
            "" => format!("crate::{name}"),
            module => format!("crate::{module}::{name}"),
        }
    }

    /// The path of a resource.
    pub(super) fn resource_path(&self, position: usize) -> String {
        let token = &self.package.resources[position].token;
        self.path(token, &self.resources[position])
    }

    /// The path of a type around a function.
    pub(super) fn function_path(&self, position: usize, ending: &str) -> String {
        let name = format!("{}{ending}", self.functions[position].class);
        self.path(self.package.functions[position].token, &name)
    }

    /// A type in Rust.
    pub(super) fn type_text(&self, ty: &Type<'d>) -> String {
        match &ty.kind {
            TypeKind::Primitive(primitive) => self::primitive(*primitive).to_owned(),
            TypeKind::Json => "::std::string::String".to_owned(),
            TypeKind::Asset => "::plumb::AssetOrArchive".to_owned(),
            TypeKind::Archive => "::plumb::Archive".to_owned(),
            TypeKind::Array(inner) => format!("::std::vec::Vec<{}>", self.type_text(inner)),
            TypeKind::Map(inner) => format!(
                "::std::collections::BTreeMap<::std::string::String, {}>",
                self.type_text(inner)
            ),
            TypeKind::Union(union) if union.elements.iter().all(|it| self.is_text(it)) => {
                "::std::string::String".to_owned()
            }
            TypeKind::Defined(position) => self.defined(*position),
            TypeKind::Resource(position) => self.resource_path(*position),
            TypeKind::Provider => "crate::Provider".to_owned(),
            TypeKind::Opaque(opaque) => match opaque.underlying {
                Some(primitive) => self::primitive(primitive).to_owned(),
                None => VALUE.to_owned(),
            },
            TypeKind::Any | TypeKind::Union(_) | TypeKind::External(_) | TypeKind::Invalid => {
                VALUE.to_owned()
            }
        }
    }

    fn defined(&self, position: usize) -> String {
        let definition = &self.package.types[position];
        match &definition.shape {
            TypeShape::Object(object) if object.overlay.is_overlay => VALUE.to_owned(),
            TypeShape::Enum(it) if it.overlay.is_overlay || it.underlying != Primitive::String => {
                primitive(it.underlying).to_owned()
            }
            TypeShape::Object(_) | TypeShape::Enum(_) => {
                self.path(definition.token, &self.types[position])
            }
        }
    }

    /// Whether all values of the type are texts.
    fn is_text(&self, ty: &Type<'d>) -> bool {
        match &ty.kind {
            TypeKind::Primitive(Primitive::String) | TypeKind::Json => true,
            TypeKind::Defined(position) => matches!(
                &self.package.types[*position].shape,
                TypeShape::Enum(it) if it.underlying == Primitive::String
            ),
            _ => false,
        }
    }

    /// Names of the marks of required inputs.
    pub(super) fn missing_file(&self) -> String {
        let mut marks = BTreeSet::new();
        let mut collect = |properties: &[Property<'d>]| {
            let demanded = properties.iter().filter(|it| text::is_demanded(it));
            marks.extend(demanded.map(|it| names::snake(it.name)));
        };
        for definition in &self.package.types {
            if let TypeShape::Object(object) = &definition.shape {
                collect(&object.properties);
            }
        }
        for resource in self.all_resources() {
            collect(&resource.inputs);
        }
        for inputs in self.package.functions.iter().filter_map(inputs_of) {
            collect(&inputs.properties);
        }
        let mut writer = Writer::new();
        writer.line(&[text::GENERATED]);
        writer.blank();
        writer.line(&["//! Marks of required inputs that were not set yet."]);
        for mark in marks {
            writer.blank();
            writer.line(&["/// The input of this name was not set."]);
            writer.line(&["pub enum ", &mark, " {}"]);
        }
        writer.finish()
    }

    fn all_resources(&self) -> impl Iterator<Item = &'p Resource<'d>> {
        let package = self.package;
        package.resources.iter().chain(&package.provider)
    }
}

pub(super) const VALUE: &str = "::plumb::Value";

fn inputs_of<'a, 'd>(function: &'a Function<'d>) -> Option<&'a Object<'d>> {
    function.inputs.as_ref()
}

fn primitive(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "bool",
        Primitive::Integer => "i64",
        Primitive::Number => "f64",
        Primitive::String => "::std::string::String",
    }
}
