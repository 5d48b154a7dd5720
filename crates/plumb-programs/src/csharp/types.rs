//! C# types of kinds.

use std::sync::Arc;

use plumb_schema::{PackageSchema, Property};

use super::printer::Printer;
use crate::kinds::Kind;

impl Printer {
    /// Type of plain values of a kind.
    pub(super) fn type_of(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Any | Kind::Null | Kind::Result(_) => "object".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Int => "int".to_owned(),
            Kind::Float => "double".to_owned(),
            Kind::Text | Kind::Id => "string".to_owned(),
            Kind::Asset => "AssetOrArchive".to_owned(),
            Kind::Archive => "Archive".to_owned(),
            Kind::List(element) => format!("List<{}>", self.type_of(element)),
            Kind::Map(element) => format!("Dictionary<string, {}>", self.type_of(element)),
            Kind::Struct(_) => "Dictionary<string, object?>".to_owned(),
            Kind::Pointer(inner) => format!("{}?", self.type_of(inner)),
            Kind::Object(package, token) | Kind::Enum(package, token, _) => {
                self.class(package, |it| it.class(package, token))
            }
            Kind::Resource(_, class) if class.is_empty() => "Resource".to_owned(),
            Kind::Resource(_, class) | Kind::Component(class, _) => class.clone(),
        }
    }

    /// Type of an output: collections are immutable.
    pub(super) fn output_type(&mut self, kind: &Kind) -> String {
        let inner = match kind {
            Kind::List(element) => {
                self.usings.insert("System.Collections.Immutable");
                format!("ImmutableArray<{}>", self.type_of(element))
            }
            Kind::Map(element) => {
                self.usings.insert("System.Collections.Immutable");
                format!("ImmutableDictionary<string, {}>", self.type_of(element))
            }
            kind => self.type_of(kind),
        };
        format!("Output<{inner}>")
    }
}

/// Whether missing values of a kind need a type of their own, because plain values cannot be `null`.
pub(super) fn is_value_type(kind: &Kind) -> bool {
    matches!(kind, Kind::Bool | Kind::Int | Kind::Float | Kind::Enum(..))
}

/// Kind of the value of a property.
pub(super) fn property_kind(package: &Arc<PackageSchema>, property: &Property) -> Kind {
    let kind = Kind::of_input(package, property);
    let is_collection = matches!(kind, Kind::List(_) | Kind::Map(_));
    if property.required || is_collection {
        kind
    } else {
        Kind::Pointer(Box::new(kind))
    }
}
