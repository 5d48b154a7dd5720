//! Target types of assignments: types of schemas, and those that the language itself requires.

use std::sync::{Arc, LazyLock};

use plumb_schema::{
    PackageSchema, Primitive, Properties, Property, Section, Type, TypeDefinition, TypeKind,
};

use super::types::Ty;

/// Target type of an assignment.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    /// A type in a package's schema.
    Schema(&'a Arc<PackageSchema>, &'a Type),
    /// The properties of a resource, with its token.
    Properties(&'a Arc<PackageSchema>, &'a str, &'a Properties, Presence),
    /// A type defined by the language.
    Own(&'a Own),
}

/// Required properties.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    AsDeclared,
    /// None, because the properties describe the state of an existing resource.
    Optional,
}

/// A type that the language itself requires.
pub(crate) enum Own {
    Any,
    Primitive(Primitive),
    AnyResource,
    List(Box<Own>),
    Map(Box<Own>),
    Union(Vec<Own>),
    /// An object with optional members.
    Object(Vec<(&'static str, Own)>),
}

const fn text() -> Own {
    Own::Primitive(Primitive::String)
}

/// String.
pub(crate) static STRING: Own = text();
/// Integer.
pub(crate) static INTEGER: Own = Own::Primitive(Primitive::Integer);
/// List of any values.
pub(crate) static ANY_LIST: LazyLock<Own> = LazyLock::new(|| Own::List(Box::new(Own::Any)));
/// Map of strings.
pub(crate) static TEXTS: LazyLock<Own> = LazyLock::new(|| Own::Map(Box::new(text())));
/// Type of the option `aliases`.
pub(crate) static ALIASES: LazyLock<Own> = LazyLock::new(|| {
    let parent = Own::Union(vec![Own::AnyResource, text()]);
    let alias = Own::Object(vec![
        ("name", text()),
        ("noParent", Own::Primitive(Primitive::Bool)),
        ("parent", parent),
        ("project", text()),
        ("stack", text()),
        ("type", text()),
        ("urn", text()),
    ]);
    Own::List(Box::new(Own::Union(vec![text(), alias])))
});

/// Structure of a target type.
pub(crate) enum Shape<'a> {
    /// Any value.
    Any,
    Primitive(Primitive),
    Asset,
    Archive,
    AnyResource,
    /// A resource with this token.
    Resource(&'a str),
    List(Target<'a>),
    Map(Target<'a>),
    Union(Vec<Target<'a>>),
    /// One of the enum's values.
    Enum(Arc<TypeDefinition>),
    Object(Members<'a>),
}

/// The members of an object.
pub(crate) enum Members<'a> {
    Defined(&'a Arc<PackageSchema>, Arc<TypeDefinition>),
    Properties(&'a Arc<PackageSchema>, &'a Properties, Presence),
    Own(&'a [(&'static str, Own)]),
}

/// A member of an object.
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    pub(crate) required: bool,
    pub(crate) target: Target<'a>,
}

impl<'a> Target<'a> {
    /// Name of the type in messages.
    pub(crate) fn label(self) -> String {
        match self {
            Target::Schema(package, ty) => match &ty.kind {
                TypeKind::Reference(reference) => reference.token.clone(),
                _ => Ty::of_schema(package, ty).label(),
            },
            Target::Properties(_, token, ..) => token.to_owned(),
            Target::Own(own) => own.label(),
        }
    }

    /// Structure of the type.
    pub(crate) fn shape(self) -> Shape<'a> {
        match self {
            Target::Schema(package, ty) => schema_shape(package, ty),
            Target::Properties(package, _, properties, presence) => {
                Shape::Object(Members::Properties(package, properties, presence))
            }
            Target::Own(own) => match own {
                Own::Any => Shape::Any,
                Own::Primitive(primitive) => Shape::Primitive(*primitive),
                Own::AnyResource => Shape::AnyResource,
                Own::List(element) => Shape::List(Target::Own(element)),
                Own::Map(element) => Shape::Map(Target::Own(element)),
                Own::Union(elements) => Shape::Union(elements.iter().map(Target::Own).collect()),
                Own::Object(members) => Shape::Object(Members::Own(members)),
            },
        }
    }
}

fn schema_shape<'a>(package: &'a Arc<PackageSchema>, ty: &'a Type) -> Shape<'a> {
    let part = |ty: &'a Type| Target::Schema(package, ty);
    match &ty.kind {
        TypeKind::Any | TypeKind::Json | TypeKind::Invalid => Shape::Any,
        TypeKind::Primitive(primitive) => Shape::Primitive(*primitive),
        TypeKind::Asset => Shape::Asset,
        TypeKind::Archive => Shape::Archive,
        TypeKind::Array(element) => Shape::List(part(element)),
        TypeKind::Map(element) => Shape::Map(part(element)),
        TypeKind::Union(union) => Shape::Union(union.elements.iter().map(part).collect()),
        // Schemas of other packages are not loaded here.
        TypeKind::Reference(reference) if reference.package.is_some() => Shape::Any,
        TypeKind::Reference(reference) => match reference.section {
            Section::Resource | Section::Provider => Shape::Resource(&reference.token),
            Section::Type => match package.type_definition(&reference.token) {
                Some(Ok(definition)) => match &*definition {
                    TypeDefinition::Enum(_) => Shape::Enum(definition),
                    TypeDefinition::Object(_) => {
                        Shape::Object(Members::Defined(package, definition))
                    }
                },
                _ => Shape::Any,
            },
        },
    }
}

impl Members<'_> {
    /// Members, sorted by name.
    pub(crate) fn list(&self) -> Vec<Member<'_>> {
        match self {
            Members::Defined(package, definition) => match &**definition {
                TypeDefinition::Object(object) => {
                    declared(package, &object.properties, Presence::AsDeclared)
                }
                TypeDefinition::Enum(_) => Vec::new(),
            },
            Members::Properties(package, properties, presence) => {
                declared(package, properties, *presence)
            }
            Members::Own(members) => members
                .iter()
                .map(|(name, own)| Member {
                    name,
                    required: false,
                    target: Target::Own(own),
                })
                .collect(),
        }
    }
}

fn declared<'b>(
    package: &'b Arc<PackageSchema>,
    properties: &'b Properties,
    presence: Presence,
) -> Vec<Member<'b>> {
    let member = |property: &'b Property| {
        // Properties with a constant or a default are optional.
        let is_given = property.constant.is_some() || property.default.is_some();
        Member {
            name: &property.name,
            required: presence == Presence::AsDeclared && property.required && !is_given,
            target: Target::Schema(package, &property.ty),
        }
    };
    properties.values().map(member).collect()
}

impl Own {
    fn label(&self) -> String {
        match self {
            Own::Any => "any".to_owned(),
            Own::Primitive(primitive) => primitive.name().to_owned(),
            Own::AnyResource => "pulumi:pulumi:Any".to_owned(),
            Own::List(element) => format!("List<{}>", element.label()),
            Own::Map(element) => format!("Map<{}>", element.label()),
            Own::Union(elements) => {
                let labels: Vec<String> = elements.iter().map(Own::label).collect();
                format!("Union<{}>", labels.join(", "))
            }
            Own::Object(members) => {
                let labels = members.iter();
                let labels = labels.map(|(name, own)| format!("{name}: {}", own.label()));
                format!("{{{}}}", labels.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
