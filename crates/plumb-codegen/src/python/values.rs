//! Expressions for what is sent: defaults and constants (`codegen.md` 1.6).

use plumb_schema::bound::{Property, Type, TypeKind};
use plumb_schema::{Constant, Primitive};

use super::model::Body;
use super::names;
use super::sdk::{Sdk, literal};

impl Sdk<'_, '_> {
    /// Whether something is sent for a property that nobody gave.
    pub(super) fn has_default(property: &Property<'_>) -> bool {
        property.default.is_some() || property.default_info.is_some()
    }

    /// The default of a property.
    pub(super) fn default_value(&self, property: &Property<'_>) -> Option<String> {
        let fixed = property.default.as_ref().map(literal);
        let Some(info) = &property.default_info else {
            return fixed;
        };
        let reader = match self.primitive_of(&property.ty, property.default.as_ref()) {
            Some(Primitive::Bool) => "get_env_bool",
            Some(Primitive::Integer) => "get_env_int",
            Some(Primitive::Number) => "get_env_float",
            Some(Primitive::String) | None => "get_env",
        };
        let variables = info.environment.iter().map(|name| names::string(name));
        let mut arguments: Vec<String> = variables.collect();
        // What the environment says counts even if it is false or nothing.
        arguments.extend(fixed.map(|fixed| format!("default={fixed}")));
        Some(format!("_utilities.{reader}({})", arguments.join(", ")))
    }

    /// The type that values from the environment are read as.
    fn primitive_of(&self, ty: &Type<'_>, default: Option<&Constant>) -> Option<Primitive> {
        match &ty.kind {
            TypeKind::Primitive(primitive) => Some(*primitive),
            TypeKind::Opaque(opaque) => opaque.underlying,
            TypeKind::Union(union) => union.default.or(match default {
                Some(Constant::Bool(_)) => Some(Primitive::Bool),
                Some(Constant::Number(_)) => Some(Primitive::Number),
                Some(Constant::String(_)) | None => None,
            }),
            _ => self.enum_values(ty),
        }
    }

    /// Fills in the default of the variable `name`.
    pub(super) fn fill_in(&self, property: &Property<'_>, name: &str, body: &mut Body) {
        if let Some(default) = self.default_value(property) {
            body.block(format!("if {name} is None:"), |body| {
                body.line(format!("{name} = {default}"));
            });
        }
    }

    /// Whether values of the type are texts, for providers.
    pub(super) fn is_textual(&self, ty: &Type<'_>) -> bool {
        let primitive = match &ty.kind {
            TypeKind::Primitive(primitive) => Some(*primitive),
            TypeKind::Opaque(opaque) => opaque.underlying,
            _ => self.enum_values(ty),
        };
        primitive == Some(Primitive::String)
    }

    /// Lines that warn of a thing at run time.
    pub(super) fn warn(&self, name: &str, deprecation: &str, body: &mut Body) {
        let deprecation = self.words(deprecation);
        let message = names::string(&format!("{name} is deprecated: {deprecation}"));
        body.line(format!("pulumi.log.warn({message})"));
    }
}

/// Names of properties, each once.
pub(super) fn unique_names<'a>(
    properties: impl IntoIterator<Item = &'a str>,
    name: fn(&str) -> String,
) -> Vec<String> {
    let mut known = rustc_hash::FxHashSet::default();
    let names = properties.into_iter().map(|property| {
        let mut name = name(property);
        while !known.insert(name.clone()) {
            name.push('_');
        }
        name
    });
    names.collect()
}
