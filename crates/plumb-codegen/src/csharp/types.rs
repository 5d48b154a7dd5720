//! C# types (`codegen.md` 1.5, 5.3). All names are fully qualified, so that no name of the package can shadow
//! them.

use plumb_schema::bound::{External, Property, Type, TypeKind, TypeShape, Union, member_of};
use plumb_schema::{Primitive, Section};

use super::names;
use super::sdk::{Sdk, Shape};
use crate::uses::Uses;

pub(super) const ARRAY: &str = "global::System.Collections.Immutable.ImmutableArray";
pub(super) const DICTIONARY: &str = "global::System.Collections.Immutable.ImmutableDictionary";
const JSON: &str = "global::System.Text.Json.JsonElement";

/// Declared type of an argument property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// A plain value.
    Value(String),
    /// A value wrapped in `Input<T>`.
    Input(String),
    /// A collection that is never null: `InputList`, `InputMap`, `List` or `Dictionary`.
    Collection {
        ty: String,
        /// Expression for an empty collection, which a secret setter needs; `None` where outputs are not
        /// accepted.
        empty: Option<String>,
    },
}

pub(super) fn primitive(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "bool",
        Primitive::Integer => "int",
        Primitive::Number => "double",
        Primitive::String => "string",
    }
}

impl Sdk<'_, '_> {
    /// Type of a required value, without `Input` around it.
    pub(super) fn value_type(&self, ty: &Type<'_>, shape: Shape) -> String {
        match &ty.kind {
            TypeKind::Primitive(it) => primitive(*it).to_owned(),
            TypeKind::Any | TypeKind::Invalid => "object".to_owned(),
            TypeKind::Json => JSON.to_owned(),
            TypeKind::Archive => "global::Pulumi.Archive".to_owned(),
            TypeKind::Asset => "global::Pulumi.AssetOrArchive".to_owned(),
            TypeKind::Array(element) => format!("{ARRAY}<{}>", self.value_type(element, shape)),
            TypeKind::Map(element) => {
                format!("{DICTIONARY}<string, {}>", self.value_type(element, shape))
            }
            TypeKind::Union(union) => self.union(union, shape, "Union"),
            TypeKind::Defined(position) => self.defined(*position, shape),
            TypeKind::Resource(position) => {
                let resource = &self.package.resources[*position];
                let namespace = self.namespace_of(&resource.token);
                format!("global::{namespace}.{}", Self::resource_name(resource))
            }
            TypeKind::Provider => format!("global::{}.Provider", self.root.package),
            TypeKind::Opaque(opaque) => opaque.underlying.map_or("object", primitive).to_owned(),
            TypeKind::External(external) => self.external(external, shape),
        }
    }

    fn defined(&self, position: usize, shape: Shape) -> String {
        let token = self.package.types[position].token;
        if self.is_enum(position) {
            let namespace = self.namespace_of(token);
            return format!("global::{namespace}.{}", names::title(member_of(token)));
        }
        let (namespace, class) = self.own_class(position, shape);
        format!("global::{namespace}.{class}")
    }

    fn external(&self, external: &External, shape: Shape) -> String {
        let sdk = &self.externals[external.package];
        let module = sdk.module_of(&external.token);
        let member = member_of(&external.token);
        match (external.section, external.enum_type) {
            (Section::Provider, _) => format!("global::{}.Provider", sdk.namespaces.package),
            (Section::Resource, _) | (Section::Type, Some(_)) => {
                format!(
                    "global::{}.{}",
                    sdk.namespaces.of(&module),
                    names::title(member)
                )
            }
            (Section::Type, None) => {
                let shape = if shape == Shape::Config {
                    Shape::Output
                } else {
                    shape
                };
                let uses = Uses::default();
                let (namespace, class) =
                    Self::object_class(&sdk.namespaces, &module, member, shape, uses);
                format!("global::{namespace}.{class}")
            }
        }
    }

    fn union(&self, union: &Union<'_>, shape: Shape, name: &str) -> String {
        if !shape.is_given()
            && let Some(underlying) = self.relaxed_enum(union)
        {
            return primitive(underlying).to_owned();
        }
        let mut types: Vec<String> = Vec::new();
        for element in &union.elements {
            let element = self.value_type(element, shape);
            if !types.contains(&element) {
                types.push(element);
            }
        }
        match types.len() {
            1 => types.swap_remove(0),
            2 => format!("global::Pulumi.{name}<{}>", types.join(", ")),
            _ => "object".to_owned(),
        }
    }

    /// Underlying primitive of a union of enums and of the primitive itself; `None` for other unions.
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

    /// Primitive as which values of environment variables are parsed.
    pub(super) fn underlying(&self, ty: &Type<'_>) -> Option<Primitive> {
        match &ty.kind {
            TypeKind::Primitive(primitive) => Some(*primitive),
            TypeKind::Opaque(opaque) => opaque.underlying,
            TypeKind::Union(union) => union.default,
            _ => self.enum_of(ty),
        }
    }

    /// Type of a property's value: nullable if the property is optional, except immutable arrays, which are
    /// never null.
    pub(super) fn optional_value(&self, property: &Property<'_>, shape: Shape) -> String {
        let ty = self.value_type(&property.ty, shape);
        if property.required || ty.starts_with(ARRAY) {
            ty
        } else {
            ty + "?"
        }
    }

    /// Element type of a collection that is not an input itself; the element can be one.
    fn plain_element(&self, ty: &Type<'_>, shape: Shape) -> String {
        let element = self.value_type(ty, shape);
        if shape.takes_outputs() && !ty.plain {
            return format!("global::Pulumi.Input<{element}>");
        }
        element
    }

    /// Declared type of an argument property.
    pub(super) fn given(&self, ty: &Type<'_>, shape: Shape) -> Given {
        let takes_outputs = shape.takes_outputs() && !ty.plain;
        match &ty.kind {
            TypeKind::Array(element) => {
                if !takes_outputs {
                    let element = self.plain_element(element, shape);
                    let ty = format!("global::System.Collections.Generic.List<{element}>");
                    return Given::Collection { ty, empty: None };
                }
                let element = self.value_type(element, shape);
                Given::Collection {
                    ty: format!("global::Pulumi.InputList<{element}>"),
                    empty: Some(format!("{ARRAY}.Create<{element}>()")),
                }
            }
            TypeKind::Map(element) => {
                if !takes_outputs {
                    let element = self.plain_element(element, shape);
                    let ty =
                        format!("global::System.Collections.Generic.Dictionary<string, {element}>");
                    return Given::Collection { ty, empty: None };
                }
                let element = self.value_type(element, shape);
                Given::Collection {
                    ty: format!("global::Pulumi.InputMap<{element}>"),
                    empty: Some(format!("{DICTIONARY}.Create<string, {element}>()")),
                }
            }
            _ if !takes_outputs => Given::Value(self.value_type(ty, shape)),
            TypeKind::Json => Given::Input("global::Pulumi.InputJson".to_owned()),
            TypeKind::Union(union) => {
                let ty = self.union(union, shape, "InputUnion");
                if ty.starts_with("global::Pulumi.InputUnion<") {
                    Given::Input(ty)
                } else {
                    Given::Input(format!("global::Pulumi.Input<{ty}>"))
                }
            }
            _ => Given::Input(format!(
                "global::Pulumi.Input<{}>",
                self.value_type(ty, shape)
            )),
        }
    }
}
