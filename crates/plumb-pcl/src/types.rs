//! Types of expressions and their conversions (`codegen.md` 11.1).
//!
//! An output has the type of its resolved value, because operations on it wait until it is resolved.

use std::fmt;
use std::sync::Arc;

use ecow::EcoString;
use plumb_schema::{
    Constant, PackageSchema, Primitive, Property, Resource, ReturnType, Section,
    Type as SchemaType, TypeDefinition, TypeKind,
};

use crate::expression::PackageFunction;

/// A type.
#[derive(Clone, Debug)]
pub enum Type {
    /// Any value.
    Dynamic,
    /// Only `null`.
    None,
    /// Boolean.
    Bool,
    /// Integer.
    Int,
    /// Number.
    Number,
    /// String.
    String,
    /// Asset.
    Asset,
    /// Archive.
    Archive,
    /// List of elements of one type.
    List(Box<Type>),
    /// Map with values of one type.
    Map(Box<Type>),
    /// List of fixed length, with a type for each element.
    Tuple(Vec<Type>),
    /// Object, with a type for each member.
    Object(Vec<Field>),
    /// One of several types.
    Union(Vec<Type>),
    /// One of several constants of a type.
    Enum(Box<Type>, Vec<Constant>),
    /// Resource; its members are known if it has a schema.
    Resource(Option<ResourceType>),
    /// Component of the program, with its outputs.
    Component(Arc<Vec<Field>>),
    /// Result of a provider function, an object.
    Result(PackageFunction),
    /// Type of a package, resolved lazily because types may be recursive.
    Schema(Arc<PackageSchema>, SchemaType),
}

/// A member of an object.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name of the member.
    pub name: EcoString,
    /// Type of the member.
    pub ty: Type,
    /// Whether the member is required.
    pub required: bool,
}

/// Schema of a resource's type.
#[derive(Clone, Debug)]
pub struct ResourceType {
    /// Package of the resource.
    pub package: Arc<PackageSchema>,
    /// Resource in the schema.
    pub schema: Arc<Resource>,
}

/// Convertibility of one type to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conversion {
    /// Not convertible.
    None,
    /// Depends on the value.
    Unsafe,
    /// Always convertible.
    Safe,
}

/// Maximum depth for the comparison of package types.
const DEEPEST: usize = 6;

impl PartialEq for Type {
    /// Compares package types by their content, independent of the loaded instance.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Type::Dynamic, Type::Dynamic)
            | (Type::None, Type::None)
            | (Type::Bool, Type::Bool)
            | (Type::Int, Type::Int)
            | (Type::Number, Type::Number)
            | (Type::String, Type::String)
            | (Type::Asset, Type::Asset)
            | (Type::Archive, Type::Archive) => true,
            (Type::List(a), Type::List(b)) | (Type::Map(a), Type::Map(b)) => a == b,
            (Type::Tuple(a), Type::Tuple(b)) | (Type::Union(a), Type::Union(b)) => a == b,
            (Type::Schema(a, x), Type::Schema(b, y)) => Arc::ptr_eq(a, b) && x == y,
            (Type::Resource(Some(a)), Type::Resource(Some(b))) => Arc::ptr_eq(&a.schema, &b.schema),
            (Type::Component(a), Type::Component(b)) => Arc::ptr_eq(a, b),
            (Type::Result(a), Type::Result(b)) => Arc::ptr_eq(&a.schema, &b.schema),
            _ => false,
        }
    }
}

impl Type {
    /// Type of a property.
    pub fn of_property(package: &Arc<PackageSchema>, property: &Property) -> Type {
        let ty = Type::Schema(package.clone(), property.ty.clone());
        if property.required {
            ty
        } else {
            Type::Union(vec![ty, Type::None])
        }
    }

    /// Resolves the outermost level of a package type.
    #[must_use]
    pub fn expand(&self) -> Type {
        let (package, ty) = match self {
            Type::Schema(package, ty) => (package, ty),
            Type::Result(function) => return result_fields(function),
            other => return other.clone(),
        };
        let inner = |ty: &SchemaType| Type::Schema(package.clone(), ty.clone());
        match &ty.kind {
            TypeKind::Primitive(primitive) => of_primitive(*primitive),
            TypeKind::Any | TypeKind::Json | TypeKind::Invalid => Type::Dynamic,
            TypeKind::Asset => Type::Union(vec![Type::Asset, Type::Archive]),
            TypeKind::Archive => Type::Archive,
            TypeKind::Array(element) => Type::List(Box::new(inner(element))),
            TypeKind::Map(element) => Type::Map(Box::new(inner(element))),
            TypeKind::Union(union) => Type::Union(union.elements.iter().map(inner).collect()),
            TypeKind::Reference(reference) => {
                let owner = package.owner_of(reference);
                match (reference.section, owner) {
                    (Section::Resource | Section::Provider, _) if reference.package.is_some() => {
                        Type::Dynamic
                    }
                    (Section::Resource | Section::Provider, _) => Type::Resource(None),
                    (Section::Type, None) => Type::Dynamic,
                    (Section::Type, Some(owner)) => match owner.type_definition(&reference.token) {
                        Some(Ok(definition)) => of_definition(&owner, &definition),
                        _ => reference.underlying.map_or(Type::Dynamic, of_primitive),
                    },
                }
            }
        }
    }

    /// Whether `none` is a value of the type.
    pub fn has_none(&self) -> bool {
        matches!(self, Type::Union(types) if types.contains(&Type::None))
    }

    /// Type without `none`.
    #[must_use]
    pub fn without_none(&self) -> Type {
        let Type::Union(types) = self else {
            return self.clone();
        };
        let mut present: Vec<Type> = types
            .iter()
            .filter(|ty| !matches!(ty, Type::None))
            .cloned()
            .collect();
        match present.len() {
            1 => present.remove(0),
            0 => Type::None,
            _ => Type::Union(present),
        }
    }

    /// Type of the elements of a collection.
    #[must_use]
    pub fn element(&self) -> Type {
        match self.expand() {
            Type::List(element) | Type::Map(element) => *element,
            Type::Tuple(elements) => same_of(elements),
            Type::Object(fields) => same_of(fields.into_iter().map(|field| field.ty).collect()),
            Type::Union(types) if types.contains(&Type::None) => {
                Type::Union(types).without_none().element()
            }
            _ => Type::Dynamic,
        }
    }

    /// Type of the member `name`; `None` if such a member cannot exist.
    pub fn member(&self, name: &str) -> Option<Type> {
        match self.expand() {
            Type::Map(element) => Some(*element),
            Type::Object(fields) => fields
                .into_iter()
                .find(|field| field.name == name)
                .map(|field| field.ty),
            Type::Resource(Some(resource)) => resource.member(name),
            Type::Component(fields) => match fields.iter().find(|field| field.name == name) {
                Some(field) => Some(field.ty.clone()),
                None => (name == "urn").then_some(Type::String),
            },
            Type::Union(types) => {
                let mut present = types.iter().filter(|ty| !matches!(ty, Type::None));
                match (present.next(), present.next()) {
                    (Some(only), None) => only.member(name),
                    _ => Some(Type::Dynamic),
                }
            }
            _ => Some(Type::Dynamic),
        }
    }

    /// Convertibility of values of type `source` to this type.
    pub fn conversion_from(&self, source: &Type) -> Conversion {
        self.conversion_within(source, DEEPEST)
    }

    /// Convertibility, with at most `depth` levels of package types of the source, which may be recursive.
    fn conversion_within(&self, source: &Type, depth: usize) -> Conversion {
        use Conversion::{None, Safe, Unsafe};
        if self == source {
            return Safe;
        }
        // Types of literals are finite.
        let is_endless = matches!(source, Type::Schema(..));
        let Some(depth) = depth.checked_sub(usize::from(is_endless)) else {
            return Unsafe;
        };
        let (target, source) = (self.expand(), source.expand());
        match (&target, &source) {
            (Type::Dynamic, _) => Safe,
            (_, Type::Dynamic) => Unsafe,
            (_, Type::Union(types)) if !matches!(target, Type::Union(_)) => {
                let conversions = types.iter().map(|ty| target.conversion_within(ty, depth));
                worst_of_some(conversions)
            }
            (Type::Union(types), Type::Union(sources)) => {
                let best = |source: &Type| {
                    best_of(types.iter().map(|ty| ty.conversion_within(source, depth)))
                };
                worst_of_some(sources.iter().map(best))
            }
            (Type::Union(types), source) => {
                best_of(types.iter().map(|ty| ty.conversion_within(source, depth)))
            }
            (target, Type::Enum(underlying, _)) if !matches!(target, Type::Enum(..)) => {
                target.conversion_within(underlying, depth)
            }
            (Type::Enum(underlying, _), source) => {
                underlying.conversion_within(source, depth).min(Unsafe)
            }
            (Type::String, Type::Bool | Type::Int | Type::Number)
            | (Type::Number, Type::Int)
            | (Type::Asset, Type::Archive) => Safe,
            (Type::Number | Type::Bool, Type::String)
            | (Type::Int, Type::Number | Type::String) => Unsafe,
            (Type::List(target), Type::List(source)) | (Type::Map(target), Type::Map(source)) => {
                target.conversion_within(source, depth)
            }
            (Type::List(target), Type::Tuple(sources)) => worst_of(
                sources
                    .iter()
                    .map(|source| target.conversion_within(source, depth)),
            ),
            (Type::Map(target), Type::Object(fields)) => worst_of(
                fields
                    .iter()
                    .map(|it| target.conversion_within(&it.ty, depth)),
            ),
            (Type::Tuple(_), Type::List(_)) => Unsafe,
            (Type::Tuple(targets), Type::Tuple(sources)) if targets.len() == sources.len() => {
                let pairs = targets.iter().zip(sources);
                worst_of(pairs.map(|(target, source)| target.conversion_within(source, depth)))
            }
            (Type::Object(_), Type::Map(_)) => Unsafe,
            (Type::Object(targets), Type::Object(sources)) => {
                object_conversion(targets, sources, depth)
            }
            (Type::Resource(_), Type::Resource(_) | Type::Component(_)) => Safe,
            (target, source)
                if std::mem::discriminant(target) == std::mem::discriminant(source) =>
            {
                if matches!(target, Type::Tuple(_)) {
                    None
                } else {
                    Safe
                }
            }
            _ => None,
        }
    }
}

impl ResourceType {
    fn member(&self, name: &str) -> Option<Type> {
        if let Some(property) = self.schema.properties.get(name) {
            return Some(Type::of_property(&self.package, property));
        }
        match name {
            "urn" => Some(Type::String),
            "id" if !self.schema.is_component => Some(Type::String),
            // A resource without outputs in its schema returns its inputs.
            _ => self
                .schema
                .input_properties
                .get(name)
                .map(|property| Type::of_property(&self.package, property)),
        }
    }

    /// Names of all members of the resource.
    pub(crate) fn members(&self) -> impl Iterator<Item = &str> {
        let outputs = self.schema.properties.keys().map(String::as_str);
        outputs.chain(["id", "urn"])
    }
}

/// Type of a function's result.
fn result_fields(function: &PackageFunction) -> Type {
    match &function.schema.returns {
        ReturnType::Object(object) => {
            let fields = object.properties.values().map(|property| Field {
                name: property.name.as_str().into(),
                ty: Type::of_property(&function.package, property),
                required: property.required,
            });
            Type::Object(fields.collect())
        }
        ReturnType::Value(ty) => Type::Schema(function.package.clone(), ty.clone()).expand(),
        ReturnType::None => Type::Dynamic,
    }
}

fn of_primitive(primitive: Primitive) -> Type {
    match primitive {
        Primitive::Bool => Type::Bool,
        Primitive::Integer => Type::Int,
        Primitive::Number => Type::Number,
        Primitive::String => Type::String,
    }
}

fn of_definition(package: &Arc<PackageSchema>, definition: &TypeDefinition) -> Type {
    match definition {
        TypeDefinition::Object(object) => {
            let fields = object.properties.values().map(|property| Field {
                name: property.name.as_str().into(),
                ty: Type::of_property(package, property),
                required: property.required && property.constant.is_none(),
            });
            Type::Object(fields.collect())
        }
        TypeDefinition::Enum(it) => {
            let values = it.values.iter().map(|value| value.value.clone());
            Type::Enum(Box::new(of_primitive(it.underlying)), values.collect())
        }
    }
}

fn object_conversion(targets: &[Field], sources: &[Field], depth: usize) -> Conversion {
    worst_of(targets.iter().map(|target| {
        let source = sources.iter().find(|source| source.name == target.name);
        match source {
            Some(source) => target.ty.conversion_within(&source.ty, depth),
            None if target.required => Conversion::None,
            None => Conversion::Safe,
        }
    }))
}

/// Common type of all elements; dynamic if they differ.
fn same_of(types: Vec<Type>) -> Type {
    let mut types = types.into_iter();
    let Some(first) = types.next() else {
        return Type::Dynamic;
    };
    if types.all(|ty| ty == first) {
        first
    } else {
        Type::Dynamic
    }
}

fn worst_of(conversions: impl Iterator<Item = Conversion>) -> Conversion {
    conversions.min().unwrap_or(Conversion::Safe)
}

fn best_of(conversions: impl Iterator<Item = Conversion>) -> Conversion {
    conversions.max().unwrap_or(Conversion::None)
}

/// Convertibility of a union: unsafe if only some members are convertible, safe if all are.
fn worst_of_some(conversions: impl Iterator<Item = Conversion>) -> Conversion {
    let all: Vec<Conversion> = conversions.collect();
    match (best_of(all.iter().copied()), worst_of(all.iter().copied())) {
        (Conversion::None, _) => Conversion::None,
        (_, Conversion::Safe) => Conversion::Safe,
        _ => Conversion::Unsafe,
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, types: &[Type]| {
            let texts: Vec<String> = types.iter().map(ToString::to_string).collect();
            write!(f, "{name}({})", texts.join(", "))
        };
        match self.expand() {
            Type::Dynamic | Type::Schema(..) => f.write_str("dynamic"),
            Type::None => f.write_str("none"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Number => f.write_str("number"),
            Type::String => f.write_str("string"),
            Type::Asset => f.write_str("Asset"),
            Type::Archive => f.write_str("Archive"),
            Type::List(element) => write!(f, "list({})", Shallow(&element)),
            Type::Map(element) => write!(f, "map({})", Shallow(&element)),
            Type::Tuple(types) => list(f, "tuple", &types),
            Type::Object(_) => f.write_str("object"),
            Type::Union(types) => match types.as_slice() {
                [only, Type::None] => write!(f, "{only}"),
                _ => list(f, "union", &types),
            },
            Type::Enum(underlying, _) => write!(f, "enum({underlying})"),
            Type::Result(_) => f.write_str("object"),
            Type::Component(_) => f.write_str("component"),
            Type::Resource(None) => f.write_str("resource"),
            Type::Resource(Some(resource)) => f.write_str(&resource.schema.token),
        }
    }
}

/// Display of an element type in messages, one level deep because types may be recursive.
struct Shallow<'a>(&'a Type);

impl fmt::Display for Shallow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.expand() {
            Type::List(_) => f.write_str("list"),
            Type::Map(_) => f.write_str("map"),
            Type::Tuple(_) => f.write_str("tuple"),
            Type::Union(_) => f.write_str("union"),
            other => other.fmt(f),
        }
    }
}
