//! Expressions for sent values: constants and defaults (`codegen.md` 1.6).

use plumb_schema::bound::{Property, Type, TypeKind, TypeShape};
use plumb_schema::{Constant, Primitive};

use super::imports::Imports;
use super::names;
use super::sdk::Sdk;
use super::types::{JavaType, Shape};

const CODEGEN: &str = "com.pulumi.core.internal.Codegen";

/// Form in which a class of arguments stores a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// A plain value.
    Bare,
    /// An output.
    Output,
    /// An output that is marked as a secret.
    Secret,
}

impl Sdk<'_, '_> {
    /// Expression that combines the given value with the property's constant, default and environment
    /// variables; `None` if the property has none of these.
    pub(super) fn filled_value(
        &self,
        property: &Property<'_>,
        given: &str,
        shape: Shape,
        storage: Storage,
        imports: &mut Imports,
    ) -> Option<String> {
        let fallback = property.constant.as_ref().or(property.default.as_ref());
        if fallback.is_none() && property.default_info.is_none() {
            return None;
        }
        let mut text = self.reader(property, fallback, shape, imports);
        text.push_str(match storage {
            Storage::Bare => "",
            Storage::Output => ".output()",
            Storage::Secret => ".secret()",
        });
        // A constant is sent even if the user gave another value.
        if property.constant.is_none() {
            text = format!("{text}.arg({given})");
            text.push_str(&environment(property));
        }
        if let Some(fallback) = fallback {
            let value = self.literal(&property.ty, fallback, imports);
            text = format!("{text}.def({value})");
        }
        let is_required = property.required || property.constant.is_some();
        text.push_str(if is_required {
            ".require()"
        } else {
            ".getNullable()"
        });
        Some(text)
    }

    /// Expression that reads a setting.
    pub(super) fn setting(&self, property: &Property<'_>, imports: &mut Imports) -> String {
        let fallback = property.default.as_ref();
        let mut text = self.reader(property, fallback, Shape::Config, imports);
        text.push_str(".config(config)");
        text.push_str(&environment(property));
        if let Some(fallback) = fallback {
            let value = self.literal(&property.ty, fallback, imports);
            text = format!("{text}.def({value})");
        }
        text.push_str(if property.required {
            ".require()"
        } else {
            ".get()"
        });
        text
    }

    /// Start of the expression: a reader for values of the property's type.
    fn reader(
        &self,
        property: &Property<'_>,
        fallback: Option<&Constant>,
        shape: Shape,
        imports: &mut Imports,
    ) -> String {
        let codegen = imports.name(CODEGEN);
        let name = names::string(property.name);
        let ty = self.java_type(&property.ty, shape);
        let Some((left, right)) = ty.sides() else {
            return format!("{codegen}.{}", reader_of(&ty, &name, imports));
        };
        if is_read_as(left, fallback) {
            let other = raw_class(right, imports);
            format!(
                "{codegen}.{}.left({other})",
                reader_of(left, &name, imports)
            )
        } else {
            let other = raw_class(left, imports);
            format!(
                "{codegen}.{}.right({other})",
                reader_of(right, &name, imports)
            )
        }
    }

    /// Literal of a constant, for a type.
    fn literal(&self, ty: &Type<'_>, constant: &Constant, imports: &mut Imports) -> String {
        match &ty.kind {
            TypeKind::Defined(position) => {
                if let TypeShape::Enum(definition) = &self.package.types[*position].shape {
                    let class = imports.name(&self.types[*position].enumeration);
                    let names = Self::constants(definition);
                    let mut values = definition.values.iter().zip(names);
                    let found = values.find(|(value, _)| value.value == *constant);
                    if let Some((_, Some(name))) = found {
                        return format!("{class}.{name}");
                    }
                    return format!("({class}) null");
                }
            }
            // Enum of another package, whose constants this package does not know: convert at run time.
            TypeKind::External(external) if external.enum_type.is_some() => {
                let class = self.java_type(ty, Shape::Input).render(imports);
                let arrays = imports.name("java.util.Arrays");
                let value = scalar(constant, external.enum_type);
                return format!(
                    "{arrays}.stream({class}.values()).filter(it -> it.getValue().equals({value})).findFirst().orElse(null)"
                );
            }
            _ => {}
        }
        let primitive = match &ty.kind {
            TypeKind::Primitive(primitive) => Some(*primitive),
            TypeKind::Opaque(opaque) => opaque.underlying,
            TypeKind::Union(union) => {
                let elements = union.elements.iter().filter_map(|it| match it.kind {
                    TypeKind::Primitive(primitive) => Some(primitive),
                    _ => None,
                });
                elements.into_iter().find(|it| fits(*it, constant))
            }
            _ => None,
        };
        scalar(constant, primitive)
    }
}

fn fits(primitive: Primitive, constant: &Constant) -> bool {
    matches!(
        (primitive, constant),
        (Primitive::Bool, Constant::Bool(_))
            | (Primitive::Integer | Primitive::Number, Constant::Number(_))
            | (Primitive::String, Constant::String(_))
    )
}

/// Literal of a constant, without a fraction for integers.
fn scalar(constant: &Constant, primitive: Option<Primitive>) -> String {
    match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::Number(value) if primitive == Some(Primitive::Integer) => value.to_string(),
        Constant::Number(value) => format!("{value:?}"),
        Constant::String(value) => names::string(value),
    }
}

fn environment(property: &Property<'_>) -> String {
    let Some(info) = &property.default_info else {
        return String::new();
    };
    let variables: Vec<String> = info
        .environment
        .iter()
        .map(|it| names::string(it))
        .collect();
    format!(".env({})", variables.join(", "))
}

/// Method call of the reader for one type.
fn reader_of(ty: &JavaType, name: &str, imports: &mut Imports) -> String {
    match ty.class.as_str() {
        "java.lang.Boolean" => format!("booleanProp({name})"),
        "java.lang.Integer" => format!("integerProp({name})"),
        "java.lang.Double" => format!("doubleProp({name})"),
        "java.lang.String" => format!("stringProp({name})"),
        class if ty.arguments.is_empty() => {
            let class = imports.name(class);
            format!("objectProp({name}, {class}.class)")
        }
        _ => format!("objectProp({name}, {})", ty.shape(imports)),
    }
}

/// Whether a side of an `Either` is the one for the default, or else for the text of an environment variable.
fn is_read_as(ty: &JavaType, fallback: Option<&Constant>) -> bool {
    match (ty.class.as_str(), fallback) {
        ("java.lang.Boolean", Some(Constant::Bool(_)))
        | ("java.lang.Integer" | "java.lang.Double", Some(Constant::Number(_)))
        | ("java.lang.String", Some(Constant::String(_)) | None) => true,
        (_, Some(_)) => false,
        (class, None) => class.starts_with("java.lang."),
    }
}

/// Class object of a type, cast to the type's own type arguments if it has any.
fn raw_class(ty: &JavaType, imports: &mut Imports) -> String {
    let class = imports.name(&ty.class);
    if ty.arguments.is_empty() {
        return format!("{class}.class");
    }
    let typed = ty.render(imports);
    let any = imports.name("java.lang.Class");
    format!("({any}<{typed}>) ({any}<?>) {class}.class")
}
