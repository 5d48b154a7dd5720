//! Binding of properties, constants and defaults (`schema.md` 9).

use super::{Binder, flag, language, place, text, texts};
use crate::bound::{DefaultInfo, Property, Type, TypeKind, Union};
use crate::document::{Node, Value};
use crate::print;
use crate::problem::At;
use crate::types::{Constant, Primitive};

impl<'d> Binder<'d, '_> {
    /// Binds the properties in `key` of `owner`; those listed in `required` are required.
    pub(super) fn properties(
        &mut self,
        owner: &'d Node<'d>,
        key: &'static str,
        required: &'static str,
        at: &At<'_>,
    ) -> Vec<Property<'d>> {
        let map = place(at, owner, key);
        let specs = owner.get(key).map(print::sorted).unwrap_or_default();
        let mut properties: Vec<Property<'d>> = specs
            .into_iter()
            .map(|(name, spec)| self.property(name, spec, &map.key(name, spec.offset)))
            .collect();
        self.mark_required(&mut properties, owner, required, at);
        properties
    }

    fn property(&mut self, name: &'d str, spec: &'d Node<'d>, at: &At<'_>) -> Property<'d> {
        self.check_property_name(name, at);
        let ty = self.ty(spec, at);
        let constant = self.constant(spec, "const", &ty, at);
        let default = self.constant(spec, "default", &ty, at);
        Property {
            name,
            description: text(spec, "description"),
            constant,
            default,
            default_info: self.default_info(spec, at),
            ty,
            required: false,
            deprecation: text(spec, "deprecationMessage"),
            language: language(spec),
            secret: flag(spec, "secret"),
            replace_on_changes: flag(spec, "replaceOnChanges"),
            will_replace_on_changes: flag(spec, "willReplaceOnChanges"),
        }
    }

    fn check_property_name(&mut self, name: &str, at: &At<'_>) {
        if name == "pulumi" {
            self.problems
                .error(at, "'pulumi' is a reserved property name");
        }
        let is_printable = |char: char| !char.is_control() && !char.is_whitespace();
        if name.is_empty() || !name.chars().all(is_printable) {
            let name = name.escape_debug();
            self.problems.expected(
                at,
                format!("'{name}' is no property name"),
                "printable characters without spaces",
            );
        }
    }

    fn default_info(&mut self, spec: &'d Node<'d>, at: &At<'_>) -> Option<Box<DefaultInfo<'d>>> {
        let info = spec.get("defaultInfo")?;
        let at = place(at, spec, "defaultInfo");
        let environment = texts(info, "environment");
        if environment.is_empty() {
            self.problems.expected(
                &at,
                "Default must specify an environment",
                "`environment` with names of environment variables",
            );
            return None;
        }
        Some(Box::new(DefaultInfo {
            environment,
            language: language(info),
        }))
    }

    fn constant(
        &mut self,
        spec: &'d Node<'d>,
        key: &'static str,
        ty: &Type<'d>,
        at: &At<'_>,
    ) -> Option<Constant> {
        let node = spec.get(key)?;
        let value = read_constant(node)?;
        let is_default = key == "default";
        if let Err(message) = self.fits(&value, &ty.kind, is_default) {
            self.problems.error(&place(at, spec, key), message);
            return None;
        }
        Some(value)
    }

    /// Checks that a value is valid as a constant, or default, of a type.
    fn fits(&self, value: &Constant, kind: &TypeKind<'d>, is_default: bool) -> Result<(), String> {
        match kind {
            TypeKind::Primitive(primitive) => fits_primitive(value, *primitive),
            TypeKind::Opaque(opaque) => match opaque.underlying {
                Some(primitive) => fits_primitive(value, primitive),
                None => Err(not_constant("an opaque type")),
            },
            TypeKind::External(external) => match (external.enum_type, external.underlying) {
                (Some(primitive), _) if is_default => fits_primitive(value, primitive),
                (None, Some(primitive)) => fits_primitive(value, primitive),
                // Without a schema the kind of the member is unknown.
                _ if self.options.allow_dangling => Ok(()),
                _ => Err(not_constant(&external.token)),
            },
            TypeKind::Defined(position) => match self.enum_type(*position) {
                Some(primitive) if is_default => fits_primitive(value, primitive),
                _ => Err(not_constant(self.sections.types.members[*position].token)),
            },
            TypeKind::Union(union) => self.fits_union(value, union, is_default),
            TypeKind::Invalid => Ok(()),
            TypeKind::Any => Err(not_constant("any")),
            TypeKind::Json => Err(not_constant("JSON")),
            TypeKind::Asset => Err(not_constant("an asset")),
            TypeKind::Archive => Err(not_constant("an archive")),
            TypeKind::Array(_) => Err(not_constant("a list")),
            TypeKind::Map(_) => Err(not_constant("a map")),
            TypeKind::Resource(_) | TypeKind::Provider => Err(not_constant("a resource")),
        }
    }

    fn fits_union(
        &self,
        value: &Constant,
        union: &Union<'d>,
        is_default: bool,
    ) -> Result<(), String> {
        if let Some(primitive) = union.default {
            return fits_primitive(value, primitive);
        }
        let mut elements = union.elements.iter();
        let fits = elements.any(|element| self.fits(value, &element.kind, is_default).is_ok());
        let wrong = || "the value fits no type of the union".to_owned();
        fits.then_some(()).ok_or_else(wrong)
    }

    /// Type of the values, if the declared type is an enum.
    pub(super) fn enum_type(&self, position: usize) -> Option<Primitive> {
        let node = self.sections.types.members.get(position)?.node;
        node.get("enum")?;
        Primitive::from_name(text(node, "type")?)
    }
}

fn not_constant(what: &str) -> String {
    format!(
        "type {what} cannot have a constant value; only booleans, integers, numbers and strings may have constant values"
    )
}

pub(super) fn read_constant(node: &Node<'_>) -> Option<Constant> {
    match &node.value {
        Value::Bool(value) => Some(Constant::Bool(*value)),
        Value::Number(text) => text.parse().ok().map(Constant::Number),
        Value::String(text) => Some(Constant::String(text.clone().into_owned())),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

/// Checks that a value has a primitive type.
pub(super) fn fits_primitive(value: &Constant, primitive: Primitive) -> Result<(), String> {
    let shown = match value {
        Constant::Bool(value) => value.to_string(),
        Constant::Number(value) => value.to_string(),
        Constant::String(value) => format!("{value:?}"),
    };
    let fits = match (primitive, value) {
        (Primitive::Bool, Constant::Bool(_)) => true,
        (Primitive::Integer, Constant::Number(value)) => {
            value.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(value)
        }
        (Primitive::Number, Constant::Number(_)) => true,
        (Primitive::String, Constant::String(_)) => true,
        _ => false,
    };
    let article = if primitive == Primitive::Integer {
        "an"
    } else {
        "a"
    };
    let wrong = || {
        format!(
            "invalid constant of type {}: {shown} is not {article} {}",
            value_type(value),
            primitive.name()
        )
    };
    fits.then_some(()).ok_or_else(wrong)
}

fn value_type(value: &Constant) -> &'static str {
    match value {
        Constant::Bool(_) => "boolean",
        Constant::Number(_) => "number",
        Constant::String(_) => "string",
    }
}
