//! Whether values have the types in the schema.

use plumb_schema::PackageSchema;
use plumb_schema::Section;
use plumb_schema::{Primitive, Properties, Type, TypeDefinition, TypeKind};
use plumb_value::{PropertyMap, Value};

/// Whether outputs may lack properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completeness {
    /// Every required property is there.
    Whole,
    /// Some are not known yet, as in a preview.
    Part,
}

/// The first value that does not fit the properties in the schema, as a sentence.
pub(crate) fn problem(
    schema: &PackageSchema,
    properties: &Properties,
    values: &PropertyMap,
    completeness: Completeness,
) -> Option<String> {
    Fit {
        schema,
        completeness,
    }
    .object("", properties, values)
}

/// The first difference between a value and its type in the schema, as a sentence.
pub(crate) fn problem_of_value(schema: &PackageSchema, ty: &Type, value: &Value) -> Option<String> {
    Fit {
        schema,
        completeness: Completeness::Whole,
    }
    .value("the result", ty, value)
}

struct Fit<'a> {
    schema: &'a PackageSchema,
    completeness: Completeness,
}

impl Fit<'_> {
    fn object(&self, path: &str, properties: &Properties, values: &PropertyMap) -> Option<String> {
        properties.values().find_map(|property| {
            let path = match path {
                "" => property.name.clone(),
                path => format!("{path}.{}", property.name),
            };
            match values.get(&property.name) {
                Some(value) if value.is_null() && !property.required => None,
                Some(value) => self.value(&path, &property.ty, value),
                None if property.required && self.completeness == Completeness::Whole => {
                    Some(format!("{path} is missing; the schema calls it required"))
                }
                None => None,
            }
        })
    }

    fn value(&self, path: &str, ty: &Type, value: &Value) -> Option<String> {
        match value {
            Value::Secret(inner) => return self.value(path, ty, inner),
            Value::Output(output) => {
                return output
                    .value
                    .as_ref()
                    .and_then(|it| self.value(path, ty, it));
            }
            Value::Computed(_) if self.completeness == Completeness::Part => return None,
            Value::Computed(_) => return Some(format!("{path} is unknown")),
            _ => {}
        }
        let wrong = |expected: &str| Some(format!("{path} is {}, not {expected}", kind(value)));
        match (&ty.kind, value) {
            (TypeKind::Any | TypeKind::Json | TypeKind::Invalid, _) => None,
            (TypeKind::Primitive(primitive), value) => (!fits(*primitive, value))
                .then(|| wrong(primitive.name()))
                .flatten(),
            (TypeKind::Asset, Value::Asset(_) | Value::Archive(_)) => None,
            (TypeKind::Archive, Value::Archive(_)) => None,
            (TypeKind::Asset, _) => wrong("an asset"),
            (TypeKind::Archive, _) => wrong("an archive"),
            (TypeKind::Array(item), Value::Array(items)) => {
                let mut items = items.iter().enumerate();
                items.find_map(|(index, it)| self.value(&format!("{path}[{index}]"), item, it))
            }
            (TypeKind::Array(_), _) => wrong("a list"),
            (TypeKind::Map(item), Value::Object(members)) => members
                .iter()
                .find_map(|(key, it)| self.value(&format!("{path}.{key}"), item, it)),
            (TypeKind::Map(_), _) => wrong("a map"),
            (TypeKind::Union(union), value) => {
                let mut elements = union.elements.iter();
                let fits = elements.any(|it| self.value(path, it, value).is_none());
                (!fits)
                    .then(|| wrong("any of the types of the union"))
                    .flatten()
            }
            (TypeKind::Reference(reference), value) => {
                if reference.package.is_some() || reference.section != Section::Type {
                    return None;
                }
                let definition = self.schema.type_definition(&reference.token);
                match definition.and_then(Result::ok).as_deref() {
                    Some(TypeDefinition::Object(inner)) => match value {
                        Value::Object(values) => self.object(path, &inner.properties, values),
                        _ => wrong("an object"),
                    },
                    Some(TypeDefinition::Enum(inner)) => (!fits(inner.underlying, value))
                        .then(|| wrong(inner.underlying.name()))
                        .flatten(),
                    None => None,
                }
            }
        }
    }
}

fn fits(primitive: Primitive, value: &Value) -> bool {
    match (primitive, value) {
        (Primitive::Bool, Value::Bool(_))
        | (Primitive::Number, Value::Number(_))
        | (Primitive::String, Value::String(_) | Value::Bytes(_)) => true,
        (Primitive::Integer, Value::Number(number)) => number.fract() == 0.0,
        _ => false,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) | Value::Bytes(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        Value::Asset(_) => "an asset",
        Value::Archive(_) => "an archive",
        Value::Resource(_) => "a resource",
        Value::Secret(_) | Value::Computed(_) | Value::Output(_) => "a wrapped value",
    }
}
