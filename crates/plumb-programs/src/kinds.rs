//! Kinds of values in programs of languages with static types.
//!
//! The trees of [`crate::tree`] have no types. Languages that need them print each tree together with its kind.

use std::sync::Arc;

use ecow::EcoString;
use plumb_pcl::{PackageFunction, ResourceType, Type};
use plumb_schema::{
    PackageSchema, Primitive, Property, Section, Type as SchemaType, TypeDefinition, TypeKind,
};

/// Kind of a value.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Any,
    /// The value is `nil`.
    Null,
    Bool,
    Int,
    Float,
    Text,
    /// Identifier of a resource, which converts to text.
    Id,
    Asset,
    Archive,
    List(Box<Kind>),
    Map(Box<Kind>),
    /// A value that may be missing.
    Pointer(Box<Kind>),
    /// Object type of a package.
    Object(Arc<PackageSchema>, EcoString),
    /// Enum type of a package.
    Enum(Arc<PackageSchema>, EcoString, Box<Kind>),
    /// Object with these fields, which no package declares.
    Struct(Vec<(EcoString, Kind)>),
    Resource(Option<ResourceType>, String),
    /// Component of the program: its class, and kinds of outputs.
    Component(String, Arc<Vec<(EcoString, Kind)>>),
    /// Result of a provider function.
    Result(PackageFunction),
}

impl Kind {
    /// Kind of values of a bound type.
    pub(crate) fn of(ty: &Type) -> Kind {
        match ty {
            Type::Dynamic | Type::Tuple(_) => Kind::Any,
            Type::None => Kind::Null,
            Type::Bool => Kind::Bool,
            Type::Int => Kind::Int,
            Type::Number => Kind::Float,
            Type::String => Kind::Text,
            Type::Asset => Kind::Asset,
            Type::Archive => Kind::Archive,
            Type::List(element) => Kind::List(Box::new(Kind::of(element))),
            Type::Map(element) => Kind::Map(Box::new(Kind::of(element))),
            Type::Object(fields) => Kind::Struct(
                fields
                    .iter()
                    .map(|field| {
                        let kind = Kind::of(&field.ty.without_none());
                        let kind = if field.ty.has_none() {
                            kind.optional()
                        } else {
                            kind
                        };
                        (field.name.clone(), kind)
                    })
                    .collect(),
            ),
            Type::Enum(underlying, _) => Kind::of(underlying),
            Type::Union(types) => {
                let inner = ty.without_none();
                match (&inner, types.iter().any(|it| matches!(it, Type::None))) {
                    (Type::Union(_), _) => Kind::Any,
                    (_, true) => Kind::of(&inner).optional(),
                    (_, false) => Kind::of(&inner),
                }
            }
            Type::Resource(ty) => Kind::Resource(ty.clone(), String::new()),
            Type::Component(_) => Kind::Any,
            Type::Result(function) => Kind::Result(function.clone()),
            Type::Schema(package, ty) => Kind::of_schema(package, ty),
        }
    }

    fn of_schema(package: &Arc<PackageSchema>, ty: &SchemaType) -> Kind {
        let inner = |ty: &SchemaType| Box::new(Kind::of_schema(package, ty));
        match &ty.kind {
            TypeKind::Primitive(primitive) => Kind::of_primitive(*primitive),
            TypeKind::Any | TypeKind::Json | TypeKind::Invalid => Kind::Any,
            TypeKind::Asset => Kind::Asset,
            TypeKind::Archive => Kind::Archive,
            TypeKind::Array(element) => Kind::List(inner(element)),
            TypeKind::Map(element) => Kind::Map(inner(element)),
            TypeKind::Union(union) => {
                // A union with an enum has the enum's underlying type.
                let kinds = union.elements.iter().map(|it| *inner(it));
                let mut enums = kinds.filter_map(|kind| match kind {
                    Kind::Enum(_, _, underlying) => Some(*underlying),
                    _ => None,
                });
                enums.next().unwrap_or(Kind::Any)
            }
            TypeKind::Reference(reference) => {
                let token: EcoString = reference.token.as_str().into();
                let Some(package) = &package.owner_of(reference) else {
                    return Kind::Any;
                };
                match reference.section {
                    Section::Type => match package.type_definition(&reference.token) {
                        Some(Ok(definition)) => match &*definition {
                            TypeDefinition::Object(_) => Kind::Object(package.clone(), token),
                            TypeDefinition::Enum(it) => {
                                let underlying = Box::new(Kind::of_primitive(it.underlying));
                                Kind::Enum(package.clone(), token, underlying)
                            }
                        },
                        _ => reference.underlying.map_or(Kind::Any, Kind::of_primitive),
                    },
                    Section::Resource | Section::Provider if reference.package.is_some() => {
                        Kind::Any
                    }
                    Section::Resource | Section::Provider => Kind::Resource(None, String::new()),
                }
            }
        }
    }

    /// The kind of values that a property accepts.
    pub(crate) fn of_input(package: &Arc<PackageSchema>, property: &Property) -> Kind {
        Kind::of_schema(package, &property.ty)
    }

    pub(crate) fn of_primitive(primitive: Primitive) -> Kind {
        match primitive {
            Primitive::Bool => Kind::Bool,
            Primitive::Integer => Kind::Int,
            Primitive::Number => Kind::Float,
            Primitive::String => Kind::Text,
        }
    }

    /// The kind of a value that may be missing.
    pub(crate) fn optional(self) -> Kind {
        match self {
            kind @ (Kind::Any
            | Kind::Null
            | Kind::Asset
            | Kind::Archive
            | Kind::List(_)
            | Kind::Map(_)
            | Kind::Pointer(_)
            | Kind::Resource(..)
            | Kind::Component(..)) => kind,
            Kind::Id => Kind::Pointer(Box::new(Kind::Text)),
            other => Kind::Pointer(Box::new(other)),
        }
    }

    /// The kind of a present value.
    pub(crate) fn present(&self) -> &Kind {
        match self {
            Kind::Pointer(inner) => inner,
            other => other,
        }
    }

    pub(crate) fn list(self) -> Kind {
        Kind::List(Box::new(self))
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Kind::Int | Kind::Float)
    }

    /// Whether the core SDKs have a type for it.
    pub(crate) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Kind::Bool | Kind::Int | Kind::Float | Kind::Text | Kind::Id
        )
    }

    /// Whether two kinds have the same types.
    pub(crate) fn is(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::List(a), Kind::List(b))
            | (Kind::Map(a), Kind::Map(b))
            | (Kind::Pointer(a), Kind::Pointer(b)) => a.is(b),
            (Kind::Object(a, x), Kind::Object(b, y))
            | (Kind::Enum(a, x, _), Kind::Enum(b, y, _)) => a.name() == b.name() && x == y,
            (Kind::Struct(a), Kind::Struct(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.0 == y.0 && x.1.is(&y.1))
            }
            (Kind::Resource(_, a), Kind::Resource(_, b)) => a == b,
            (Kind::Component(a, _), Kind::Component(b, _)) => a == b,
            (Kind::Result(a), Kind::Result(b)) => a.schema.token == b.schema.token,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }

    /// Whether values are resources or components.
    pub(crate) fn is_resource(&self) -> bool {
        matches!(self, Kind::Resource(..) | Kind::Component(..))
    }

    /// Common kind of two plain values.
    pub(crate) fn or(&self, other: &Kind) -> Kind {
        match (self, other) {
            (a, b) if a.is(b) => a.clone(),
            (Kind::Null, kind) | (kind, Kind::Null) => kind.clone().optional(),
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => Kind::Float,
            (Kind::Id, Kind::Text) | (Kind::Text, Kind::Id) => Kind::Text,
            (Kind::Pointer(a), b) | (b, Kind::Pointer(a)) if a.is(b) => b.clone().optional(),
            _ => Kind::Any,
        }
    }
}

/// Whether a property of this type accepts only plain values.
pub(crate) fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Schema(_, schema) => schema.plain,
        Type::Union(types) => types.iter().any(is_plain),
        _ => false,
    }
}
