//! Types of expressions.

use std::sync::Arc;

use ecow::EcoString;
use plumb_schema::{
    ObjectType, PackageSchema, Primitive, Properties, Resource, Section, Type, TypeDefinition,
    TypeKind,
};

use crate::eval::value::Val;

/// Type of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    /// Any value.
    Any,
    /// Unknown type, for which no errors are reported.
    Invalid,
    Bool,
    Number,
    Integer,
    String,
    Asset,
    Archive,
    List(Arc<Ty>),
    Map(Arc<Ty>),
    Union(Arc<Vec<Ty>>),
    /// An object literal in the program.
    Literal(Arc<Vec<(EcoString, Ty)>>),
    /// An object type of a schema.
    Object(Arc<SchemaObject>),
    /// A resource, with its schema if it has one.
    Resource(EcoString, Option<(Arc<PackageSchema>, Arc<Resource>)>),
}

/// An object type, and the package in which its references are resolved.
#[derive(Debug)]
pub(crate) struct SchemaObject {
    pub(crate) label: String,
    pub(crate) package: Arc<PackageSchema>,
    pub(crate) properties: Properties,
}

impl Ty {
    /// Type for a type of a schema.
    pub(crate) fn of_schema(package: &Arc<PackageSchema>, ty: &Type) -> Ty {
        match &ty.kind {
            TypeKind::Primitive(primitive) => Ty::of_primitive(*primitive),
            TypeKind::Any | TypeKind::Json => Ty::Any,
            TypeKind::Invalid => Ty::Invalid,
            TypeKind::Asset => Ty::Asset,
            TypeKind::Archive => Ty::Archive,
            TypeKind::Array(element) => Ty::List(Arc::new(Ty::of_schema(package, element))),
            TypeKind::Map(element) => Ty::Map(Arc::new(Ty::of_schema(package, element))),
            TypeKind::Union(union) => Ty::Union(Arc::new(
                union
                    .elements
                    .iter()
                    .map(|element| Ty::of_schema(package, element))
                    .collect(),
            )),
            TypeKind::Reference(reference) => match reference.section {
                _ if reference.package.is_some() => Ty::Invalid,
                Section::Resource => {
                    let resource = package.resource(&reference.token).and_then(Result::ok);
                    let schema = resource.map(|resource| (package.clone(), resource));
                    Ty::Resource(reference.token.as_str().into(), schema)
                }
                Section::Provider => Ty::Resource(reference.token.as_str().into(), None),
                Section::Type => match package.type_definition(&reference.token) {
                    Some(Ok(definition)) => match &*definition {
                        TypeDefinition::Enum(enumeration) => {
                            Ty::of_primitive(enumeration.underlying)
                        }
                        TypeDefinition::Object(object) => {
                            Ty::of_object(package, &reference.token, object)
                        }
                    },
                    _ => reference.underlying.map_or(Ty::Invalid, Ty::of_primitive),
                },
            },
        }
    }

    /// Type for an object type of a schema with the given name.
    pub(crate) fn of_object(package: &Arc<PackageSchema>, label: &str, object: &ObjectType) -> Ty {
        Ty::Object(Arc::new(SchemaObject {
            label: label.to_owned(),
            package: package.clone(),
            properties: object.properties.clone(),
        }))
    }

    fn of_primitive(primitive: Primitive) -> Ty {
        match primitive {
            Primitive::Bool => Ty::Bool,
            Primitive::Integer => Ty::Integer,
            Primitive::Number => Ty::Number,
            Primitive::String => Ty::String,
        }
    }

    /// Type of a setting's value, derived from the value.
    pub(crate) fn of_value(value: &Val) -> Ty {
        match value {
            Val::Bool(_) => Ty::Bool,
            Val::Number(_) => Ty::Number,
            Val::String(_) | Val::Bytes(_) => Ty::String,
            Val::Object(_) => Ty::Map(Arc::new(Ty::Any)),
            _ => Ty::Invalid,
        }
    }

    /// Members of an object, with their types.
    pub(crate) fn members(&self) -> Vec<(EcoString, Ty)> {
        match self {
            Ty::Literal(entries) => (**entries).clone(),
            Ty::Object(object) => {
                let properties = object.properties.iter();
                let member = |(name, property): (&String, &plumb_schema::Property)| {
                    let ty = Ty::of_schema(&object.package, &property.ty);
                    (name.as_str().into(), ty)
                };
                properties.map(member).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Type of a list with these elements.
    pub(crate) fn list_of(elements: Vec<Ty>) -> Ty {
        Ty::List(Arc::new(Ty::union_of(elements)))
    }

    /// Type of a value that has one of the types `elements`.
    pub(crate) fn union_of(elements: Vec<Ty>) -> Ty {
        let mut distinct: Vec<Ty> = Vec::new();
        for element in elements {
            if !distinct.iter().any(|seen| seen.is_same_simple(&element)) {
                distinct.push(element);
            }
        }
        match distinct.len() {
            0 => Ty::Invalid,
            1 => distinct.remove(0),
            _ => Ty::Union(Arc::new(distinct)),
        }
    }

    fn is_same_simple(&self, other: &Ty) -> bool {
        matches!(
            (self, other),
            (Ty::Any, Ty::Any)
                | (Ty::Invalid, Ty::Invalid)
                | (Ty::Bool, Ty::Bool)
                | (Ty::Number, Ty::Number)
                | (Ty::Integer, Ty::Integer)
                | (Ty::String, Ty::String)
                | (Ty::Asset, Ty::Asset)
                | (Ty::Archive, Ty::Archive)
        )
    }

    /// Name of the type in messages.
    pub(crate) fn label(&self) -> String {
        match self {
            Ty::Any => "any".to_owned(),
            Ty::Invalid => "Invalid".to_owned(),
            Ty::Bool => "boolean".to_owned(),
            Ty::Number => "number".to_owned(),
            Ty::Integer => "integer".to_owned(),
            Ty::String => "string".to_owned(),
            Ty::Asset => "asset".to_owned(),
            Ty::Archive => "archive".to_owned(),
            Ty::List(element) => format!("List<{}>", element.label()),
            Ty::Map(element) => format!("Map<{}>", element.label()),
            Ty::Union(elements) => {
                format!(
                    "Union<{}>",
                    elements
                        .iter()
                        .map(Ty::label)
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            }
            Ty::Literal(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, ty)| format!("{key}: {}", ty.label()));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            Ty::Object(object) => object.label.clone(),
            Ty::Resource(token, _) => token.to_string(),
        }
    }
}
