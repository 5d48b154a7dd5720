//! Types of the Go SDK for values.
//!
//! Every kind has up to three types: the plain one (`[]string`), the input (`pulumi.StringArrayInput`) and the output
//! (`pulumi.StringArrayOutput`). The names of the latter two begin with the same *stem*.

use plumb_pcl::{ExprKind, Step, Type};
use plumb_schema::TypeDefinition;

pub(super) use crate::kinds::Kind;

impl Kind {
    /// Name of a scalar kind in the core SDK.
    pub(super) fn scalar(&self) -> Option<&'static str> {
        Some(match self {
            Kind::Bool => "Bool",
            Kind::Int => "Int",
            Kind::Float => "Float64",
            Kind::Text => "String",
            Kind::Id => "ID",
            _ => return None,
        })
    }

    /// Stem of the core SDK's types, at most two collections deep; `None` if there are none. The stem of any value is
    /// empty.
    pub(super) fn core_stem(&self) -> Option<String> {
        self.stem_within(3)
    }

    fn stem_within(&self, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        Some(match self {
            Kind::Any => String::new(),
            Kind::Asset => "AssetOrArchive".to_owned(),
            Kind::Archive => "Archive".to_owned(),
            // Collections of values that may be missing have no types.
            Kind::List(element) | Kind::Map(element) if matches!(**element, Kind::Pointer(_)) => {
                return None;
            }
            Kind::List(element) => element.stem_within(depth)? + "Array",
            Kind::Map(element) => element.stem_within(depth)? + "Map",
            Kind::Pointer(inner) => format!("{}Ptr", inner.scalar()?),
            other => other.scalar()?.to_owned(),
        })
    }

    /// Whether the outputs of collections of such values have methods for their elements.
    fn is_element(&self) -> bool {
        matches!(self, Kind::Object(..) | Kind::Enum(..)) || self.stem_within(2).is_some()
    }
}

/// Whether outputs of a type have a method for a step, so that it needs no callback.
pub(crate) fn has_method(ty: &Type, step: &Step) -> bool {
    let kind = Kind::of(ty);
    match (kind.present(), step) {
        (Kind::Result(_), Step::Name(_)) => !matches!(kind, Kind::Pointer(_)),
        (Kind::Object(package, token), Step::Name(name)) => {
            matches!(package.type_definition(token), Some(Ok(definition))
                if matches!(&*definition, TypeDefinition::Object(object) if object.properties.contains_key(name.as_str())))
        }
        (Kind::Map(element), Step::Name(_)) => element.is_element(),
        (Kind::List(element), Step::Index(index)) => {
            let is_whole = matches!(&index.kind, ExprKind::Number(number) if number.fract() == 0.0);
            element.is_element() && (is_whole || index.ty == Type::Int)
        }
        _ => false,
    }
}
