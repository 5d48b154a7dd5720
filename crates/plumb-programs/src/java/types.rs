//! Java types of kinds.

use std::fmt::Write as _;

use plumb_pcl::Type;
use plumb_schema::{PackageSchema, Property, TypeKind};
use std::sync::Arc;

use super::printer::Printer;
use crate::kinds::Kind;

/// Class that declares a property; getters of missing collections differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A resource, whose getters give `Output<Optional<T>>`.
    Resource,
    /// An object or a result, whose missing lists and maps are empty.
    Object,
}

impl Printer {
    /// Type of plain values of a kind.
    pub(super) fn type_of(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Any | Kind::Null => "Object".to_owned(),
            Kind::Bool => "Boolean".to_owned(),
            Kind::Int => "Integer".to_owned(),
            Kind::Float => "Double".to_owned(),
            Kind::Text | Kind::Id => "String".to_owned(),
            Kind::Asset => self.class("com.pulumi.asset.AssetOrArchive"),
            Kind::Archive => self.class("com.pulumi.asset.Archive"),
            Kind::List(element) => {
                let element = self.type_of(element);
                format!("{}<{element}>", self.class("java.util.List"))
            }
            Kind::Map(element) => {
                let element = self.type_of(element);
                format!("{}<String, {element}>", self.class("java.util.Map"))
            }
            Kind::Struct(_) => format!("{}<String, Object>", self.class("java.util.Map")),
            Kind::Pointer(inner) => {
                let inner = self.type_of(inner);
                format!("{}<{inner}>", self.class("java.util.Optional"))
            }
            Kind::Object(package, token) => {
                let class = Printer::package(package).0.output(package, token);
                self.class(&class)
            }
            Kind::Enum(package, token, _) => {
                let class = Printer::package(package).0.enumeration(package, token);
                self.class(&class)
            }
            Kind::Resource(_, class) if class.is_empty() => {
                self.class("com.pulumi.resources.Resource")
            }
            Kind::Resource(_, class) | Kind::Component(class, _) => self.class(&class.clone()),
            Kind::Result(_) => "Object".to_owned(),
        }
    }

    /// `Output` of a type.
    pub(super) fn output_type(&mut self, kind: &Kind) -> String {
        let inner = self.type_of(kind);
        format!("{}<{inner}>", self.output_class())
    }

    pub(super) fn output_class(&mut self) -> String {
        self.class("com.pulumi.core.Output")
    }

    /// The type at run time, from which the SDK reads a setting; a class for a simple type.
    pub(super) fn shape(&mut self, kind: &Kind) -> String {
        let Some((class, arguments)) = Self::generic(kind) else {
            return format!("{}.class", self.type_of(kind));
        };
        let shape = self.class("com.pulumi.core.TypeShape");
        let is_flat = arguments.iter().all(|it| Self::generic(it).is_none());
        if is_flat && class == "java.util.List" {
            let element = self.type_of(&arguments[0]);
            return format!("{shape}.list({element}.class)");
        }
        if is_flat {
            let element = self.type_of(&arguments[1]);
            return format!("{shape}.map(String.class, {element}.class)");
        }
        let ty = self.type_of(kind);
        let class = self.class(class);
        let mut text = format!("{shape}.<{ty}>builder({class}.class)");
        for argument in &arguments {
            let argument = self.shape(argument);
            let _ = write!(text, ".addParameter({argument})");
        }
        text + ".build()"
    }

    /// Class and type arguments of a collection.
    fn generic(kind: &Kind) -> Option<(&'static str, Vec<Kind>)> {
        match kind {
            Kind::List(element) => Some(("java.util.List", vec![(**element).clone()])),
            Kind::Map(element) => Some(("java.util.Map", vec![Kind::Text, (**element).clone()])),
            Kind::Struct(_) => Some(("java.util.Map", vec![Kind::Text, Kind::Any])),
            _ => None,
        }
    }
}

/// Kind of the value that the getter of a property returns.
pub(super) fn property_kind(
    package: &Arc<PackageSchema>,
    property: &Property,
    owner: Owner,
) -> Kind {
    let kind = Kind::of_input(package, property);
    let is_collection = matches!(kind, Kind::List(_) | Kind::Map(_));
    if property.required || (is_collection && owner == Owner::Object) {
        kind
    } else {
        Kind::Pointer(Box::new(kind))
    }
}

/// Whether the setters of an input take an `Either`; its first type then.
pub(super) fn left_of(ty: &Type) -> Option<Kind> {
    match ty {
        Type::Schema(package, schema) => {
            let TypeKind::Union(union) = &schema.kind else {
                return None;
            };
            let kinds = union.elements.iter();
            let kinds = kinds.map(|it| Kind::of(&Type::Schema(package.clone(), it.clone())));
            let mut distinct: Vec<Kind> = Vec::new();
            for kind in kinds {
                if !distinct.iter().any(|it| it.is(&kind)) {
                    distinct.push(kind);
                }
            }
            match distinct.len() {
                2 => distinct.into_iter().next(),
                _ => None,
            }
        }
        Type::Union(types) => {
            let mut present = types.iter().filter(|it| !matches!(it, Type::None));
            match (present.next(), present.next()) {
                (Some(single), None) => left_of(single),
                _ => None,
            }
        }
        _ => None,
    }
}
