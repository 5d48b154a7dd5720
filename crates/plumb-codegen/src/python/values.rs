//! Expressions for sent values: defaults and constants (`codegen.md` 1.6).

use plumb_schema::bound::{Property, Type, TypeKind};
use plumb_schema::{Constant, Primitive};

use super::model::Body;
use super::names;
use super::sdk::{Sdk, literal};

impl Sdk<'_, '_> {
    /// Whether a value is sent for a property that the user has omitted.
    pub(super) fn has_default(property: &Property<'_>) -> bool {
        property.default.is_some() || property.default_info.is_some()
    }

    /// Expression for the default of a property.
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
        // The default is an argument of the reader instead of an `or` expression, because a false
        // or empty environment variable counts.
        arguments.extend(fixed.map(|fixed| format!("default={fixed}")));
        Some(format!("_utilities.{reader}({})", arguments.join(", ")))
    }

    /// Primitive as which values of environment variables are parsed.
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

    /// Statements that assign the default to the variable `name` if it is `None`.
    pub(super) fn fill_in(&self, property: &Property<'_>, name: &str, body: &mut Body) {
        if let Some(default) = self.default_value(property) {
            body.block(format!("if {name} is None:"), |body| {
                body.line(format!("{name} = {default}"));
            });
        }
    }

    /// Whether providers receive values of the type as strings without JSON encoding.
    pub(super) fn is_textual(&self, ty: &Type<'_>) -> bool {
        let primitive = match &ty.kind {
            TypeKind::Primitive(primitive) => Some(*primitive),
            TypeKind::Opaque(opaque) => opaque.underlying,
            _ => self.enum_values(ty),
        };
        primitive == Some(Primitive::String)
    }

    /// Statements that log a deprecation warning at run time.
    pub(super) fn warn(&self, name: &str, deprecation: &str, body: &mut Body) {
        let deprecation = self.words(deprecation);
        let message = names::string(&format!("{name} is deprecated: {deprecation}"));
        body.line(format!("pulumi.log.warn({message})"));
    }
}

/// Distinct names for properties.
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
