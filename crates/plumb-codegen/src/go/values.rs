//! Statements for values that users omit: constants, defaults, secrets (`codegen.md` 1.6, 4.3).

use plumb_schema::bound::{DefaultInfo, Property, Type, TypeKind, TypeShape};
use plumb_schema::{Constant, Primitive};

use super::forms::Declarations;
use super::model::Body;
use super::names;
use super::properties::Entry;
use super::sdk::Sdk;
use super::types::{primitive_name, primitive_type};

/// Contents of the fields that are filled in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Values.
    Values,
    /// Inputs, except for plain properties.
    Inputs,
}

impl Content {
    fn is_input(self, property: &Property<'_>) -> bool {
        self == Content::Inputs && !property.ty.plain
    }
}

impl Sdk<'_, '_> {
    /// Statements that fill in the fields of `object`, including nested objects.
    pub(super) fn completion(
        &self,
        object: &str,
        entries: &[Entry<'_, '_>],
        content: Content,
        has_constants: bool,
        file: &mut Declarations<'_>,
    ) -> Body {
        let mut body = Body::default();
        for entry in entries {
            let place = format!("{object}.{}", entry.name);
            if let Some(constant) = &entry.property.constant {
                if has_constants {
                    let value = self.literal(entry.property, constant);
                    self.assign(&place, entry, &value, content, file, &mut body);
                }
                continue;
            }
            self.default(&place, entry, content, file, &mut body);
            self.inner_defaults(&place, entry, content, file, &mut body);
        }
        body
    }

    fn default(
        &self,
        place: &str,
        entry: &Entry<'_, '_>,
        content: Content,
        file: &mut Declarations<'_>,
        body: &mut Body,
    ) {
        let property = entry.property;
        let value = property
            .default
            .as_ref()
            .map(|default| self.literal(property, default));
        let statements = match (&value, &property.default_info) {
            (None, None) => return,
            (Some(value), None) => {
                let mut inner = Body::default();
                self.assign(place, entry, value, content, file, &mut inner);
                inner
            }
            (value, Some(info)) => {
                let Some((call, read)) =
                    self.environment(property, value.as_deref(), info, content, file)
                else {
                    return;
                };
                let mut inner = Body::default();
                let mut assigned = Body::default();
                self.assign(place, entry, &read, content, file, &mut assigned);
                inner.block(format!("if d := {call}; d != nil {{"), "}", |inner| {
                    append(inner, assigned);
                });
                inner
            }
        };
        let is_input = content.is_input(property);
        let open = if is_input || !entry.required || self.is_nilable(&property.ty) {
            format!("if {place} == nil {{")
        } else {
            format!("if {}.IsZero({place}) {{", file.imports.internal())
        };
        body.block(open, "}", |body| append(body, statements));
    }

    /// Call that reads environment variables, and the expression that converts its result.
    fn environment(
        &self,
        property: &Property<'_>,
        value: Option<&str>,
        info: &DefaultInfo<'_>,
        content: Content,
        file: &mut Declarations<'_>,
    ) -> Option<(String, String)> {
        let internal = file.imports.internal();
        let is_input = content.is_input(property);
        let (parser, read) = match &property.ty.kind {
            TypeKind::Array(element) if is_text(element) && is_input => {
                file.imports.pulumi();
                (
                    format!("{internal}.ParseEnvStringArray"),
                    "d.(pulumi.StringArray)".to_owned(),
                )
            }
            TypeKind::Array(_) | TypeKind::Map(_) => return None,
            _ => {
                let primitive = self.primitive_of(property).unwrap_or(Primitive::String);
                let parser = match primitive {
                    Primitive::Bool => format!("{internal}.ParseEnvBool"),
                    Primitive::Integer => format!("{internal}.ParseEnvInt"),
                    Primitive::Number => format!("{internal}.ParseEnvFloat"),
                    Primitive::String => "nil".to_owned(),
                };
                (parser, format!("d.({})", primitive_type(primitive)))
            }
        };
        let variables = info
            .environment
            .iter()
            .fold(String::new(), |list, variable| {
                list + ", " + &names::string(variable)
            });
        let value = value.unwrap_or("nil");
        Some((
            format!("{internal}.GetEnvOrDefault({value}, {parser}{variables})"),
            read,
        ))
    }

    /// Statement that assigns a primitive value to a field.
    fn assign(
        &self,
        place: &str,
        entry: &Entry<'_, '_>,
        value: &str,
        content: Content,
        file: &mut Declarations<'_>,
        body: &mut Body,
    ) {
        let property = entry.property;
        let is_nilable = self.is_nilable(&property.ty);
        let is_list = matches!(property.ty.kind, TypeKind::Array(_));
        if content.is_input(property) && !is_list {
            body.line(format!(
                "{place} = {}",
                self.as_input(property, entry.required, value, file)
            ));
            return;
        }
        let value = match self.enum_of(&property.ty, file) {
            Some(name) => format!("{name}({value})"),
            None => value.to_owned(),
        };
        if entry.required || is_nilable {
            body.line(format!("{place} = {value}"));
        } else {
            let variable = format!(
                "{}_",
                names::camel(property.name).replace(|char: char| !char.is_alphanumeric(), "_")
            );
            let variable = names::word(&variable);
            body.line(format!("{variable} := {value}"));
            body.line(format!("{place} = &{variable}"));
        }
    }

    /// Expression that wraps a primitive value as an input.
    fn as_input(
        &self,
        property: &Property<'_>,
        required: bool,
        value: &str,
        file: &mut Declarations<'_>,
    ) -> String {
        if self.is_generic() {
            return self.generic_value(property, required, value, file);
        }
        if let Some(name) = self.enum_of(&property.ty, file) {
            return format!("{name}({value})");
        }
        file.imports.pulumi();
        let primitive = self.primitive_of(property).unwrap_or(Primitive::String);
        let pointer = if required || self.is_nilable(&property.ty) {
            ""
        } else {
            "Ptr"
        };
        format!("pulumi.{}{pointer}({value})", primitive_name(primitive))
    }

    /// Name of an enum type, whose values are inputs themselves; `None` for other types.
    pub(super) fn enum_of(&self, ty: &Type<'_>, file: &mut Declarations<'_>) -> Option<String> {
        let is_enum = match &ty.kind {
            TypeKind::Defined(position) => self.enum_primitive(*position).is_some(),
            TypeKind::External(external) => external.enum_type.is_some(),
            _ => false,
        };
        is_enum.then(|| self.stem(ty, &mut file.imports))
    }

    /// Primitive type of a property's constant or default.
    pub(super) fn primitive_of(&self, property: &Property<'_>) -> Option<Primitive> {
        let guess = || match property.constant.as_ref().or(property.default.as_ref())? {
            Constant::Bool(_) => Some(Primitive::Bool),
            Constant::Number(_) => Some(Primitive::Number),
            Constant::String(_) => Some(Primitive::String),
        };
        match &property.ty.kind {
            TypeKind::Primitive(primitive) => Some(*primitive),
            TypeKind::Opaque(opaque) => opaque.underlying.or_else(guess),
            TypeKind::External(external) => external.enum_type.or(external.underlying),
            TypeKind::Defined(position) => self.enum_primitive(*position),
            TypeKind::Union(union) => self.union_primitive(union).or(union.default).or_else(guess),
            _ => guess(),
        }
    }

    /// Literal of a constant, in the primitive type of the property.
    pub(super) fn literal(&self, property: &Property<'_>, constant: &Constant) -> String {
        let is_float = self.primitive_of(property) == Some(Primitive::Number);
        literal(constant, is_float)
    }

    /// Statements that fill in the object in a field.
    fn inner_defaults(
        &self,
        place: &str,
        entry: &Entry<'_, '_>,
        content: Content,
        file: &mut Declarations<'_>,
        body: &mut Body,
    ) {
        let TypeKind::Defined(position) = entry.property.ty.kind else {
            return;
        };
        let is_generated = match &self.package.types[position].shape {
            TypeShape::Object(object) => !object.overlay.is_overlay,
            TypeShape::Enum(_) => false,
        };
        if !is_generated || !self.has_defaults[position] {
            return;
        }
        let name = self.stem(&entry.property.ty, &mut file.imports);
        if !content.is_input(entry.property) {
            let star = if entry.required { "*" } else { "" };
            body.line(format!("{place} = {star}{place}.Defaults()"));
            return;
        }
        if self.is_generic() {
            body.block(format!("if {place} != nil {{"), "}", |body| {
                body.line(format!(
                    "{place} = pulumix.Apply({place}, (*{name}Args).Defaults)"
                ));
            });
            return;
        }
        // Methods are named after the type as its own package knows it, without a qualifier.
        let own = &self.naming.types[position];
        let (ending, star, copy) = if entry.required {
            ("", "", "*")
        } else {
            ("Ptr", "*", "")
        };
        body.block(format!("if {place} != nil {{"), "}", |body| {
            body.closure(
                &format!("{place} = {place}.To{own}{ending}Output().ApplyT("),
                &format!("func(v {star}{name}) {star}{name}"),
                &format!("return {copy}v.Defaults()"),
                &format!(").({name}{ending}Output)"),
            );
        });
    }
}

fn is_text(ty: &Type<'_>) -> bool {
    matches!(ty.kind, TypeKind::Primitive(Primitive::String))
}

/// Appends the lines of one body to another.
pub(super) fn append(body: &mut Body, other: Body) {
    for line in other.lines {
        body.line(format!("{}{}", "\t".repeat(line.indent), line.text));
    }
}

/// Literal of a constant.
pub(super) fn literal(constant: &Constant, is_float: bool) -> String {
    match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::String(value) => names::string(value),
        // Debug format, because it always has a decimal point.
        Constant::Number(value) if is_float => format!("{value:?}"),
        Constant::Number(value) => format!("{value}"),
    }
}
