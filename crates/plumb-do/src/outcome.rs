//! Display of a provider's results: only properties in the schema, and without secrets.

use std::fmt::Write as _;

use plumb_operate::Error;
use plumb_schema::{
    PackageSchema, Properties, ReturnType, Section, Type, TypeDefinition, TypeKind,
};
use plumb_value::{PropertyMap, Value};
use serde_json::{Value as Json, json};

use plumb_automation::values::{Secrets, value_json, value_text};

/// Placeholder for an unknown value.
const UNKNOWN: &str = "[unknown]";

/// Properties declared in the schema.
pub(super) fn declared(
    schema: &PackageSchema,
    map: &PropertyMap,
    properties: &Properties,
) -> PropertyMap {
    let known = properties.values().filter_map(|property| {
        let value = map.get(property.name.as_str())?;
        Some((
            property.name.as_str().into(),
            of_type(schema, value, &property.ty),
        ))
    });
    known.collect()
}

/// Result of a function, from the returned properties.
pub(super) fn result(
    schema: &PackageSchema,
    answered: &PropertyMap,
    returns: &ReturnType,
) -> Result<Value, Error> {
    Ok(match returns {
        ReturnType::None => Value::Null,
        ReturnType::Object(object) => declared(schema, answered, &object.properties).into(),
        ReturnType::Value(ty) => {
            let mut values = answered.iter();
            let (Some((_, value)), None) = (values.next(), values.next()) else {
                let count = answered.iter().count();
                return Err(Error::user(format!(
                    "expected exactly one return value from function but got {count}"
                )));
            };
            of_type(schema, value, ty)
        }
    })
}

/// The value without properties that its type does not declare.
fn of_type(schema: &PackageSchema, value: &Value, ty: &Type) -> Value {
    match (value, &ty.kind) {
        (Value::Secret(inner), _) => Value::secret(of_type(schema, inner, ty)),
        (Value::Array(items), TypeKind::Array(element)) => {
            let items = items.iter().map(|item| of_type(schema, item, element));
            Value::Array(std::sync::Arc::new(items.collect()))
        }
        (Value::Object(map), TypeKind::Map(element)) => {
            let entries = map.iter();
            let entries =
                entries.map(|(key, value)| (key.clone(), of_type(schema, value, element)));
            entries.collect::<PropertyMap>().into()
        }
        (_, TypeKind::Union(union)) => {
            let fits = |element: &&Type| has_shape(schema, value, element);
            match union.elements.iter().find(fits) {
                Some(element) => of_type(schema, value, element),
                None => value.clone(),
            }
        }
        (Value::Object(map), TypeKind::Reference(reference))
            if reference.section == Section::Type && reference.package.is_none() =>
        {
            match schema.type_definition(&reference.token) {
                Some(Ok(definition)) => match &*definition {
                    TypeDefinition::Object(object) => {
                        declared(schema, map, &object.properties).into()
                    }
                    TypeDefinition::Enum(_) => value.clone(),
                },
                _ => value.clone(),
            }
        }
        _ => value.clone(),
    }
}

/// Whether a value can have a type, judged by its outermost structure.
fn has_shape(schema: &PackageSchema, value: &Value, ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Array(_) => matches!(value, Value::Array(_)),
        TypeKind::Map(_) => matches!(value, Value::Object(_)),
        TypeKind::Reference(reference) if reference.package.is_none() => {
            let definition = schema.type_definition(&reference.token);
            let is_object = matches!(
                definition.as_ref().map(|it| it.as_deref()),
                Some(Ok(TypeDefinition::Object(_)))
            );
            is_object && matches!(value, Value::Object(_))
        }
        _ => false,
    }
}

/// The value as JSON.
pub(super) fn json(value: &Value, secrets: Secrets) -> Json {
    value_json(&with_unknowns_named(value), secrets)
}

fn with_unknowns_named(value: &Value) -> Value {
    match value {
        Value::Computed(_) => Value::from(UNKNOWN),
        Value::Output(output) => match &output.value {
            None => Value::from(UNKNOWN),
            Some(inner) if output.secret => Value::secret(with_unknowns_named(inner)),
            Some(inner) => with_unknowns_named(inner),
        },
        Value::Secret(inner) => Value::secret(with_unknowns_named(inner)),
        Value::Array(items) => Value::Array(std::sync::Arc::new(
            items.iter().map(with_unknowns_named).collect(),
        )),
        Value::Object(map) => {
            let entries = map.iter();
            let entries = entries.map(|(key, value)| (key.clone(), with_unknowns_named(value)));
            entries.collect::<PropertyMap>().into()
        }
        other => other.clone(),
    }
}

/// JSON of a resource: its id and its outputs.
pub(super) fn resource_json(id: &str, outputs: &PropertyMap, secrets: Secrets) -> Json {
    let mut object = match json(&Value::from(outputs.clone()), secrets) {
        Json::Object(object) => object,
        _ => serde_json::Map::new(),
    };
    object.insert("id".to_owned(), json!(id));
    Json::Object(object)
}

/// Text of a resource: one property per line.
pub(super) fn resource_text(id: &str, outputs: &PropertyMap, secrets: Secrets) -> String {
    let mut rows = vec![("id".to_owned(), id.to_owned())];
    for (name, value) in outputs.iter().filter(|(name, _)| name.to_text() != "id") {
        let text = value_text(&with_unknowns_named(value), secrets);
        rows.push((name.to_string(), text));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, text) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name:width$}  {}", text.replace('\n', "\n    "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r##"{
      "name": "pkg",
      "types": {"pkg:index:Part": {"type": "object", "properties": {"x": {"type": "string"}}}},
      "functions": {
        "pkg:index:many": {"outputs": {"properties": {
          "part": {"$ref": "#/types/pkg:index:Part"},
          "parts": {"type": "array", "items": {"$ref": "#/types/pkg:index:Part"}},
          "named": {"type": "object", "additionalProperties": {"$ref": "#/types/pkg:index:Part"}},
          "either": {"oneOf": [{"type": "string"}, {"$ref": "#/types/pkg:index:Part"}]}
        }}},
        "pkg:index:one": {"outputs": {"type": "array", "items": {"$ref": "#/types/pkg:index:Part"}}}
      }
    }"##;

    fn shown(function: &str, answered: PropertyMap) -> Result<String, String> {
        let schema = PackageSchema::parse(SCHEMA).unwrap();
        let function = schema.function(function).unwrap().unwrap();
        let value = result(&schema, &answered, &function.returns);
        let value = value.map_err(|error| error.text().unwrap_or_default())?;
        Ok(json(&value, Secrets::Hidden).to_string())
    }

    fn part() -> PropertyMap {
        PropertyMap::new().with("x", "1").with("internal", "2")
    }

    #[test]
    fn what_the_schema_does_not_declare_is_left_out() {
        let answered = PropertyMap::new()
            .with("part", Value::secret(part().into()))
            .with("parts", Value::Array(vec![Value::from(part())].into()))
            .with("named", PropertyMap::new().with("a", part()))
            .with("either", part())
            .with("other", "x");
        let expected =
            r#"{"either":{"x":"1"},"named":{"a":{"x":"1"}},"part":"[secret]","parts":[{"x":"1"}]}"#;
        assert_eq!(shown("pkg:index:many", answered).unwrap(), expected);
    }

    #[test]
    fn a_function_may_return_one_value() {
        let answered =
            PropertyMap::new().with("result", Value::Array(vec![Value::from(part())].into()));
        assert_eq!(shown("pkg:index:one", answered).unwrap(), r#"[{"x":"1"}]"#);
        let problem = shown("pkg:index:one", part()).unwrap_err();
        assert_eq!(
            problem,
            "expected exactly one return value from function but got 2"
        );
    }

    #[test]
    fn resources_are_shown_with_their_ids() {
        let outputs = PropertyMap::new()
            .with("password", Value::secret(Value::from("x")))
            .with("size", 2.0)
            .with("later", Value::Computed(plumb_value::UnknownKind::String));
        assert_eq!(
            resource_json("i-1", &outputs, Secrets::Hidden),
            json!({"id": "i-1", "password": "[secret]", "size": 2, "later": "[unknown]"})
        );
        let text = resource_text("i-1", &outputs, Secrets::Shown);
        assert!(text.contains("password  x\n"), "{text}");
    }
}
