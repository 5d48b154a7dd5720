//! Java types (`codegen.md` 1.5).

use plumb_schema::bound::{External, Type, TypeKind, TypeShape, Union, member_of};
use plumb_schema::{Primitive, Section};

use super::imports::Imports;
use super::names;
use super::sdk::Sdk;

/// Position in which a type is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Arguments that can be outputs.
    Input,
    /// Arguments of functions that accept only plain values.
    Plain,
    /// Outputs and results.
    Output,
    /// Settings.
    Config,
}

pub(super) const LIST: &str = "java.util.List";
pub(super) const MAP: &str = "java.util.Map";
pub(super) const EITHER: &str = "com.pulumi.core.Either";
const STRING: &str = "java.lang.String";
const OBJECT: &str = "java.lang.Object";

/// A type, with qualified class names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JavaType {
    pub(super) class: String,
    pub(super) arguments: Vec<JavaType>,
}

impl JavaType {
    pub(super) fn class(class: impl Into<String>) -> Self {
        JavaType {
            class: class.into(),
            arguments: Vec::new(),
        }
    }

    fn generic(class: &str, arguments: Vec<JavaType>) -> Self {
        JavaType {
            class: class.to_owned(),
            arguments,
        }
    }

    /// Element type of a list; `None` for other types.
    pub(super) fn element(&self) -> Option<&JavaType> {
        (self.class == LIST).then(|| &self.arguments[0])
    }

    /// Both sides of an `Either`; `None` for other types.
    pub(super) fn sides(&self) -> Option<(&JavaType, &JavaType)> {
        (self.class == EITHER).then(|| (&self.arguments[0], &self.arguments[1]))
    }

    /// Text of the type in a file.
    pub(super) fn render(&self, imports: &mut Imports) -> String {
        let class = imports.name(&self.class);
        if self.arguments.is_empty() {
            return class;
        }
        let arguments: Vec<String> = self
            .arguments
            .iter()
            .map(|argument| argument.render(imports))
            .collect();
        format!("{class}<{}>", arguments.join(", "))
    }

    /// `TypeShape` expression, from which the core SDK knows the type at run time.
    pub(super) fn shape(&self, imports: &mut Imports) -> String {
        let shape = imports.name("com.pulumi.core.TypeShape");
        let class = imports.name(&self.class);
        if self.arguments.is_empty() {
            return format!("{shape}.of({class}.class)");
        }
        let mut text = format!("{shape}.<{}>builder({class}.class)", self.render(imports));
        for argument in &self.arguments {
            if argument.arguments.is_empty() {
                let class = imports.name(&argument.class);
                text = format!("{text}.addParameter({class}.class)");
            } else {
                text = format!("{text}.addParameter({})", argument.shape(imports));
            }
        }
        text + ".build()"
    }

    /// Type in the form of annotations: the list of classes, and a tree of positions in that list.
    pub(super) fn tree(&self, imports: &mut Imports) -> (String, String) {
        let mut classes = Vec::new();
        let tree = self.branch(&mut classes);
        let tree = if self.arguments.is_empty() {
            format!("[{tree}]")
        } else {
            tree
        };
        let classes: Vec<String> = classes
            .iter()
            .map(|class| format!("{}.class", imports.name(class)))
            .collect();
        (classes.join(", "), tree)
    }

    fn branch<'t>(&'t self, classes: &mut Vec<&'t str>) -> String {
        let known = classes.iter().position(|class| *class == self.class);
        let position = known.unwrap_or_else(|| {
            classes.push(&self.class);
            classes.len() - 1
        });
        if self.arguments.is_empty() {
            return position.to_string();
        }
        let mut tree = format!("[{position}");
        for argument in &self.arguments {
            tree.push(',');
            tree.push_str(&argument.branch(classes));
        }
        tree + "]"
    }
}

pub(super) fn primitive(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "java.lang.Boolean",
        Primitive::Integer => "java.lang.Integer",
        Primitive::Number => "java.lang.Double",
        Primitive::String => STRING,
    }
}

impl Sdk<'_, '_> {
    /// Java type, without the `Output` that it may be wrapped in.
    pub(super) fn java_type(&self, ty: &Type<'_>, shape: Shape) -> JavaType {
        match &ty.kind {
            TypeKind::Primitive(it) => JavaType::class(primitive(*it)),
            TypeKind::Any | TypeKind::Invalid => JavaType::class(OBJECT),
            TypeKind::Json => JavaType::class("com.google.gson.JsonElement"),
            TypeKind::Archive => JavaType::class("com.pulumi.asset.Archive"),
            TypeKind::Asset => JavaType::class("com.pulumi.asset.AssetOrArchive"),
            TypeKind::Array(element) => {
                JavaType::generic(LIST, vec![self.java_type(element, shape)])
            }
            TypeKind::Map(element) => {
                let key = JavaType::class(STRING);
                JavaType::generic(MAP, vec![key, self.java_type(element, shape)])
            }
            TypeKind::Union(union) => self.union(union, shape),
            TypeKind::Defined(position) => JavaType::class(self.defined(*position, shape)),
            TypeKind::Resource(position) => {
                JavaType::class(self.resource_class(&self.package.resources[*position]))
            }
            TypeKind::Provider => JavaType::class(self.provider_class()),
            TypeKind::Opaque(opaque) => {
                JavaType::class(opaque.underlying.map_or(OBJECT, primitive))
            }
            TypeKind::External(external) => JavaType::class(self.external(external, shape)),
        }
    }

    fn defined(&self, position: usize, shape: Shape) -> String {
        let classes = &self.types[position];
        let class = match (&self.package.types[position].shape, shape) {
            (TypeShape::Enum(_), _) => &classes.enumeration,
            (TypeShape::Object(_), Shape::Input) => &classes.input,
            (TypeShape::Object(_), Shape::Plain) => &classes.plain,
            (TypeShape::Object(_), Shape::Output) => &classes.output,
            (TypeShape::Object(_), Shape::Config) => &classes.config,
        };
        class.clone()
    }

    fn external(&self, external: &External, shape: Shape) -> String {
        let sdk = &self.externals[external.package];
        let name = names::class(member_of(&external.token));
        let package = sdk.package_of(&external.token);
        match (external.section, external.enum_type, shape) {
            (Section::Provider, ..) => sdk.provider(),
            (Section::Resource, ..) => format!("{package}.{name}"),
            (Section::Type, Some(_), _) => format!("{package}.enums.{name}"),
            (Section::Type, None, Shape::Input) => format!("{package}.inputs.{name}Args"),
            (Section::Type, None, Shape::Plain) => format!("{package}.inputs.{name}"),
            (Section::Type, None, Shape::Output | Shape::Config) => {
                format!("{package}.outputs.{name}")
            }
        }
    }

    fn union(&self, union: &Union<'_>, shape: Shape) -> JavaType {
        if matches!(shape, Shape::Output | Shape::Config)
            && let Some(underlying) = self.relaxed_enum(union)
        {
            return JavaType::class(primitive(underlying));
        }
        let mut types: Vec<JavaType> = Vec::new();
        for element in &union.elements {
            let element = self.java_type(element, shape);
            if !types.contains(&element) {
                types.push(element);
            }
        }
        match types.len() {
            1 => types.swap_remove(0),
            2 => JavaType::generic(EITHER, types),
            _ => JavaType::class(OBJECT),
        }
    }

    /// Underlying primitive of a union of enums and of the primitive itself; `None` for other
    /// unions.
    fn relaxed_enum(&self, union: &Union<'_>) -> Option<Primitive> {
        let underlying = union.elements.iter().find_map(|it| self.enum_of(it))?;
        let is_covered = |element: &Type<'_>| match &element.kind {
            TypeKind::Primitive(primitive) => *primitive == underlying,
            _ => self.enum_of(element) == Some(underlying),
        };
        union.elements.iter().all(is_covered).then_some(underlying)
    }

    /// Underlying primitive of an enum; `None` for other types.
    pub(super) fn enum_of(&self, ty: &Type<'_>) -> Option<Primitive> {
        match &ty.kind {
            TypeKind::Defined(position) => match &self.package.types[*position].shape {
                TypeShape::Enum(definition) => Some(definition.underlying),
                TypeShape::Object(_) => None,
            },
            TypeKind::External(external) => external.enum_type,
            _ => None,
        }
    }

    /// Whether providers receive values of the type as strings without JSON encoding.
    pub(super) fn is_textual(&self, ty: &Type<'_>) -> bool {
        let underlying = match &ty.kind {
            TypeKind::Primitive(primitive) => Some(*primitive),
            TypeKind::Opaque(opaque) => opaque.underlying,
            _ => self.enum_of(ty),
        };
        underlying == Some(Primitive::String)
    }
}
