//! Inputs made up from the schema: every required property, with the plainest value of its type.

use plumb_schema::PackageSchema;
use plumb_schema::Section;
use plumb_schema::{
    Constant, EnumType, Primitive, Properties, Property, Type, TypeDefinition, TypeKind,
};
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, Value};

/// Objects inside of objects stop here; deeper ones are recursive.
const MAX_DEPTH: usize = 8;

/// Values for the required ones of some properties.
pub(crate) fn required(schema: &PackageSchema, properties: &Properties) -> PropertyMap {
    object(schema, properties, 0)
}

fn object(schema: &PackageSchema, properties: &Properties, depth: usize) -> PropertyMap {
    let mut map = PropertyMap::new();
    for property in properties.values().filter(|property| property.required) {
        map.insert(property.name.as_str(), of_property(schema, property, depth));
    }
    map
}

fn of_property(schema: &PackageSchema, property: &Property, depth: usize) -> Value {
    let known = property.constant.as_ref().or(property.default.as_ref());
    known.map_or_else(|| value(schema, &property.ty, depth), constant)
}

fn constant(constant: &Constant) -> Value {
    match constant {
        Constant::Bool(bool) => Value::Bool(*bool),
        Constant::Number(number) => Value::Number(*number),
        Constant::String(text) => Value::from(text.as_str()),
    }
}

fn value(schema: &PackageSchema, ty: &Type, depth: usize) -> Value {
    match &ty.kind {
        TypeKind::Primitive(primitive) => plain(*primitive),
        TypeKind::Any | TypeKind::Invalid => Value::from("check"),
        TypeKind::Json => Value::from("{}"),
        TypeKind::Asset => Value::Asset(
            Asset {
                hash: "".into(),
                source: AssetSource::Text("check".into()),
            }
            .into(),
        ),
        TypeKind::Archive => Value::Archive(
            Archive {
                hash: "".into(),
                source: ArchiveSource::Assets([].into()),
            }
            .into(),
        ),
        TypeKind::Array(item) if depth < MAX_DEPTH => {
            Value::array([value(schema, item, depth + 1)])
        }
        TypeKind::Array(_) => Value::array([]),
        TypeKind::Map(_) => Value::Object(PropertyMap::new().into()),
        TypeKind::Union(union) => match (union.default, union.elements.first()) {
            (Some(primitive), _) => plain(primitive),
            (None, Some(first)) => value(schema, first, depth),
            (None, None) => Value::Null,
        },
        TypeKind::Reference(reference) => {
            let is_own = reference.package.is_none() && reference.section == Section::Type;
            let definition = is_own.then(|| schema.type_definition(&reference.token));
            match definition.flatten().and_then(Result::ok).as_deref() {
                Some(TypeDefinition::Object(inner)) if depth < MAX_DEPTH => {
                    Value::Object(object(schema, &inner.properties, depth + 1).into())
                }
                Some(TypeDefinition::Enum(inner)) => first_of(inner),
                _ => reference
                    .underlying
                    .map_or_else(|| Value::from("check"), plain),
            }
        }
    }
}

fn first_of(values: &EnumType) -> Value {
    let first = values.values.first();
    first.map_or_else(|| plain(values.underlying), |first| constant(&first.value))
}

fn plain(primitive: Primitive) -> Value {
    match primitive {
        Primitive::Bool => Value::Bool(true),
        Primitive::Integer | Primitive::Number => Value::Number(1.0),
        Primitive::String => Value::from("check"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value as Json, json};

    use super::*;
    use crate::conform::{self, Completeness};

    /// Inputs that are made up have the types that they are made up for, in every schema at hand.
    #[test]
    fn made_up_inputs_fit_their_schema() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/schemas");
        let mut resources = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let Ok(schema) = PackageSchema::parse(text) else {
                continue;
            };
            for token in schema.resource_tokens() {
                let Some(Ok(resource)) = schema.resource(token) else {
                    continue;
                };
                let declared = &resource.input_properties;
                let inputs = required(&schema, declared);
                let problem = conform::problem(&schema, declared, &inputs, Completeness::Whole);
                assert_eq!(problem, None, "{token} in {}", path.display());
                resources += 1;
            }
        }
        assert!(resources > 30, "{resources} resources");
    }

    #[test]
    fn values_of_other_types_are_found() {
        let schema = PackageSchema::parse(
            r##"{"name": "t", "version": "1.0.0", "types": {"t:index:Inner": {"type": "object",
                "properties": {"count": {"type": "integer"}, "list": {"type": "array", "items": {"type": "string"}}},
                "required": ["count"]}},
            "resources": {"t:index:R": {"inputProperties": {
                "inner": {"$ref": "#/types/t:index:Inner"}, "flag": {"type": "boolean"},
                "either": {"oneOf": [{"type": "string"}, {"type": "number"}]}}, "requiredInputs": ["inner"]}}}"##,
        )
        .unwrap();
        let resource = schema.resource("t:index:R").unwrap().unwrap();
        let problem = |json: Json| match Value::from(&json) {
            Value::Object(map) => conform::problem(
                &schema,
                &resource.input_properties,
                &map,
                Completeness::Whole,
            ),
            _ => None,
        };
        for (values, expected) in [
            (
                json!({"inner": {"count": 1, "list": ["a"]}, "either": 1}),
                None,
            ),
            (
                json!({}),
                Some("inner is missing; the schema calls it required"),
            ),
            (
                json!({"inner": {}}),
                Some("inner.count is missing; the schema calls it required"),
            ),
            (
                json!({"inner": {"count": 1.5}}),
                Some("inner.count is a number, not integer"),
            ),
            (
                json!({"inner": {"count": 1, "list": ["a", 2]}}),
                Some("inner.list[1] is a number, not string"),
            ),
            (
                json!({"inner": {"count": 1}, "flag": "yes"}),
                Some("flag is a text, not boolean"),
            ),
            (
                json!({"inner": {"count": 1}, "either": true}),
                Some("either is a boolean, not any of the types of the union"),
            ),
        ] {
            assert_eq!(problem(values.clone()).as_deref(), expected, "{values}");
        }
    }
}
