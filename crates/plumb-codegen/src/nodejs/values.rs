//! Expressions for sent values: defaults, constants, secrets (`codegen.md` 1.6, 2.4).

use plumb_schema::bound::{Property, Type, TypeKind, TypeShape};
use plumb_schema::{Constant, Primitive};

use super::imports::Imports;
use super::names;
use super::sdk::{Sdk, literal, quoted};
use super::types::{Shape, namespace_path};

/// Expression for the value that a user has given for a property.
pub(super) struct Given {
    /// Expression that may be undefined.
    maybe: String,
    /// Expression for use where the value is known to be defined.
    value: String,
    /// Whether the value is sent as a secret.
    is_secret: bool,
}

impl Given {
    /// A member of `object`, which is defined.
    pub(super) fn of(object: &str, name: &str) -> Self {
        Given::named(names::member(object, name))
    }

    /// A member of a resource's arguments, which may themselves be undefined.
    pub(super) fn of_resource(property: &Property<'_>) -> Self {
        Given {
            maybe: names::optional_member("args", property.name),
            value: names::member("args", property.name),
            is_secret: property.secret,
        }
    }

    /// A local variable.
    pub(super) fn named(name: String) -> Self {
        Given {
            maybe: name.clone(),
            value: name,
            is_secret: false,
        }
    }
}

impl Sdk<'_, '_> {
    /// Expression for the default of a property.
    pub(super) fn default_value(
        &self,
        property: &Property<'_>,
        imports: &mut Imports,
    ) -> Option<String> {
        let fixed = property.default.as_ref().map(literal);
        let Some(info) = &property.default_info else {
            return fixed;
        };
        imports.utilities = true;
        let reader = match self.primitive_of(&property.ty, property.default.as_ref()) {
            Some(Primitive::Bool) => "getEnvBoolean",
            Some(Primitive::Integer | Primitive::Number) => "getEnvNumber",
            Some(Primitive::String) | None => "getEnv",
        };
        let variables: Vec<String> = info
            .environment
            .iter()
            .map(|variable| names::string(variable))
            .collect();
        let read = format!("utilities.{reader}({})", variables.join(", "));
        Some(match fixed {
            Some(fixed) => format!("({read} ?? {fixed})"),
            None => read,
        })
    }

    /// Primitive as which values of environment variables are parsed.
    fn primitive_of(&self, ty: &Type<'_>, default: Option<&Constant>) -> Option<Primitive> {
        match &ty.kind {
            TypeKind::Primitive(primitive) => Some(*primitive),
            TypeKind::Opaque(opaque) => opaque.underlying,
            TypeKind::External(external) => external.enum_type,
            TypeKind::Defined(position) => match &self.package.types[*position].shape {
                TypeShape::Enum(definition) => Some(definition.underlying),
                TypeShape::Object(_) => None,
            },
            TypeKind::Union(union) => union.default.or(match default {
                Some(Constant::Bool(_)) => Some(Primitive::Bool),
                Some(Constant::Number(_)) => Some(Primitive::Number),
                Some(Constant::String(_)) | None => None,
            }),
            _ => None,
        }
    }

    /// Function that fills in the defaults of an object type, for values of the given shape.
    pub(super) fn defaults_function(
        &self,
        ty: &Type<'_>,
        shape: Shape,
        imports: &mut Imports,
    ) -> Option<String> {
        let TypeKind::Defined(position) = ty.kind else {
            return None;
        };
        let definition = &self.package.types[position];
        let is_generated = match &definition.shape {
            TypeShape::Object(object) => !object.overlay.is_overlay,
            TypeShape::Enum(_) => false,
        };
        if !is_generated || !self.usages[position].has_defaults {
            return None;
        }
        let path = namespace_path(&self.module_of(definition.token));
        let (namespace, name) = if shape == Shape::Output {
            imports.outputs = true;
            ("outputs", Self::class_name(definition.token))
        } else {
            imports.inputs = true;
            ("inputs", self.object_name(position, shape))
        };
        Some(format!("{namespace}.{path}{}", defaults_name(&name)))
    }

    /// Expression for the sent value: the constant, the given value (as a secret if it is one), or
    /// the default.
    pub(super) fn sent_value(
        &self,
        property: &Property<'_>,
        given: &Given,
        shape: Shape,
        imports: &mut Imports,
    ) -> String {
        if let Some(constant) = &property.constant {
            return literal(constant);
        }
        let mut value = given.value.clone();
        if let Some(function) = self.defaults_function(&property.ty, shape, imports) {
            value = if shape == Shape::Input && !property.ty.plain {
                imports.pulumi = true;
                format!("pulumi.output({value}).apply((value: any) => value && {function}(value))")
            } else {
                format!("{function}({value})")
            };
        }
        if given.is_secret {
            value = format!("pulumi.secret({value})");
        }
        let value = if value == given.value {
            given.maybe.clone()
        } else {
            format!("({} ? {value} : undefined)", given.maybe)
        };
        match self.default_value(property, imports) {
            Some(default) => format!("({value}) ?? {default}"),
            None => value,
        }
    }

    /// Whether providers receive values of the type as strings without JSON encoding.
    pub(super) fn is_textual(&self, ty: &Type<'_>) -> bool {
        match &ty.kind {
            TypeKind::Primitive(primitive) => *primitive == Primitive::String,
            TypeKind::Defined(position) => match &self.package.types[*position].shape {
                TypeShape::Enum(definition) => definition.underlying == Primitive::String,
                TypeShape::Object(_) => false,
            },
            TypeKind::Opaque(opaque) => opaque.underlying == Some(Primitive::String),
            TypeKind::External(external) => external.enum_type == Some(Primitive::String),
            _ => false,
        }
    }

    /// Statement that logs a deprecation warning at run time.
    pub(super) fn warning(name: &str, deprecation: &str) -> String {
        let message = format!("{name} is deprecated: {deprecation}");
        format!("pulumi.log.warn({});", quoted(&message))
    }
}

/// Name of the function that fills in the defaults of the interface `name`.
pub(super) fn defaults_name(name: &str) -> String {
    format!("{}ProvideDefaults", names::camel(name))
}
