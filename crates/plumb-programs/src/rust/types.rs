//! Rust types of kinds.

use std::sync::Arc;

use plumb_schema::{PackageSchema, Property, TypeKind};

use super::printer::Printer;
use crate::kinds::Kind;

impl Printer {
    /// Type of plain values of a kind.
    pub(super) fn type_of(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Any | Kind::Null | Kind::Struct(_) => "Value".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Int => "i64".to_owned(),
            Kind::Float => "f64".to_owned(),
            Kind::Text | Kind::Id => "String".to_owned(),
            Kind::Asset => self.import("plumb::AssetOrArchive"),
            Kind::Archive => "Archive".to_owned(),
            Kind::List(element) => format!("Vec<{}>", self.type_of(element)),
            Kind::Map(element) => {
                let map = self.map_type();
                format!("{map}<String, {}>", self.type_of(element))
            }
            Kind::Pointer(inner) => format!("Option<{}>", self.type_of(inner)),
            Kind::Object(package, token) | Kind::Enum(package, token, _) => {
                match self.definition_path(package, token) {
                    Some(path) => self.named(&path),
                    None => "Value".to_owned(),
                }
            }
            Kind::Resource(_, path) if path.is_empty() => "_".to_owned(),
            Kind::Resource(_, path) => self.named(path),
            Kind::Component(path, _) => format!("Built<{}>", self.import(path)),
            Kind::Result(function) => {
                let items = self.items(&function.package);
                match items.function(&function.schema.token) {
                    Some([_, mut class]) => {
                        class.name += "Result";
                        let path = self.path(&function.package, &class);
                        self.named(&path)
                    }
                    None => "Value".to_owned(),
                }
            }
        }
    }

    pub(super) fn map_type(&mut self) -> String {
        self.import("std::collections::BTreeMap")
    }

    /// A type before `::`.
    pub(super) fn type_path(&mut self, kind: &Kind) -> String {
        let ty = self.type_of(kind);
        match ty.split_once('<') {
            Some((name, rest)) => format!("{name}::<{rest}"),
            None => ty,
        }
    }
}

/// Kind of the values of a property.
pub(super) fn input_kind(package: &Arc<PackageSchema>, property: &Property) -> Kind {
    if matches!(property.ty.kind, TypeKind::Json) {
        return Kind::Text;
    }
    normal(Kind::of_input(package, property))
}

/// Kind of the value that is read from a property.
pub(super) fn property_kind(package: &Arc<PackageSchema>, property: &Property) -> Kind {
    let kind = input_kind(package, property);
    if property.required {
        kind
    } else {
        Kind::Pointer(Box::new(kind))
    }
}

/// The kind, with the underlying kinds of enums that are no types of Rust: those of numbers.
pub(super) fn normal(kind: Kind) -> Kind {
    match kind {
        Kind::Enum(_, _, underlying) if !matches!(*underlying, Kind::Text) => *underlying,
        Kind::List(element) => normal(*element).list(),
        Kind::Map(element) => Kind::Map(Box::new(normal(*element))),
        Kind::Pointer(inner) => Kind::Pointer(Box::new(normal(*inner))),
        Kind::Struct(fields) => Kind::Struct(
            fields
                .into_iter()
                .map(|(name, kind)| (name, normal(kind)))
                .collect(),
        ),
        other => other,
    }
}
