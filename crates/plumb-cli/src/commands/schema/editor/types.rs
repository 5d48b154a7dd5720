//! JSON Schemas of the types of packages, in which every value may also be an expression of YAML programs.

use std::collections::BTreeMap;

use plumb_schema::{
    Constant, EnumType, ObjectType, PackageSchema, Primitive, Properties, Property, Reference,
    Section, Type, TypeDefinition, TypeKind,
};
use serde_json::{Map, Value as Json, json};

use super::prose;

/// Definitions of a document, by their names.
#[derive(Debug)]
pub(super) struct Definitions {
    all: Map<String, Json>,
    /// Names of types that are defined, or will be.
    names: BTreeMap<(String, String), String>,
    is_expression_allowed: bool,
}

/// Whether values may be expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// In programs.
    Expressions,
    /// In settings.
    Plain,
}

/// Reference to a definition.
pub(super) fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// Text with an interpolation, such as `${bucket.arn}`.
fn interpolation() -> Json {
    json!({ "type": "string", "pattern": "\\$\\{" })
}

impl Definitions {
    pub(super) fn new(values: Values) -> Self {
        let mut definitions = Definitions {
            all: Map::new(),
            names: BTreeMap::new(),
            is_expression_allowed: values == Values::Expressions,
        };
        // Numbers and truth values are accepted as texts, as programs accept them.
        let scalars = [
            ("string", json!({ "type": ["string", "number", "boolean"] })),
            ("integer", json!({ "type": "integer" })),
            ("number", json!({ "type": "number" })),
            ("boolean", json!({ "type": "boolean" })),
        ];
        for (name, plain) in scalars {
            let schema = definitions.or_expression(plain);
            definitions.all.insert(name.to_owned(), schema);
        }
        definitions
    }

    pub(super) fn insert(&mut self, name: &str, schema: Json) {
        self.all.insert(name.to_owned(), schema);
    }

    pub(super) fn into_json(self) -> Json {
        Json::Object(self.all)
    }

    /// The schema, or an expression in its place.
    fn or_expression(&self, schema: Json) -> Json {
        if self.is_expression_allowed {
            json!({ "anyOf": [schema, interpolation(), reference("call")] })
        } else {
            schema
        }
    }

    /// An object with these properties, of which none is missing if `checks_required`.
    pub(super) fn object(
        &mut self,
        properties: &Properties,
        checks_required: bool,
        package: &PackageSchema,
    ) -> Json {
        let mut members = Map::new();
        for property in properties.values() {
            members.insert(property.name.clone(), self.property(property, package));
        }
        let required: Vec<&str> = properties
            .values()
            .filter(|property| checks_required && is_needed(property))
            .map(|property| property.name.as_str())
            .collect();
        let mut schema =
            json!({ "type": "object", "properties": members, "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    fn property(&mut self, property: &Property, package: &PackageSchema) -> Json {
        let mut schema = match &property.constant {
            Some(constant) => self.or_expression(json!({ "const": value(constant) })),
            None => self.of_type(&property.ty, package),
        };
        let facts = [
            (property.required, "Required."),
            (
                property.replace_on_changes,
                "A change replaces the resource.",
            ),
            (property.secret, "Kept as a secret."),
        ];
        let mut description = prose(property.description.as_deref().unwrap_or_default());
        for (_, fact) in facts.iter().filter(|(is, _)| *is) {
            description = format!("{}\n\n{fact}", description.trim_end());
        }
        let Json::Object(members) = &mut schema else {
            return schema;
        };
        // Beside a reference, other members are ignored in this draft.
        if members.contains_key("$ref") {
            let all_of = json!([Json::Object(std::mem::take(members))]);
            members.insert("allOf".to_owned(), all_of);
        }
        if !description.trim().is_empty() {
            members.insert("description".to_owned(), json!(description.trim()));
        }
        if let Some(reason) = &property.deprecation {
            let reason = if reason.is_empty() {
                "deprecated"
            } else {
                reason
            };
            members.insert("deprecationMessage".to_owned(), json!(reason));
        }
        if let Some(default) = &property.default {
            members.insert("default".to_owned(), value(default));
        }
        schema
    }

    fn of_type(&mut self, of: &Type, package: &PackageSchema) -> Json {
        match &of.kind {
            TypeKind::Primitive(primitive) => reference(match primitive {
                Primitive::Bool => "boolean",
                Primitive::Integer => "integer",
                Primitive::Number => "number",
                Primitive::String => "string",
            }),
            TypeKind::Array(element) => {
                let items = self.of_type(element, package);
                self.or_expression(json!({ "type": "array", "items": items }))
            }
            TypeKind::Map(element) => {
                let values = self.of_type(element, package);
                self.or_expression(json!({ "type": "object", "additionalProperties": values }))
            }
            TypeKind::Union(union) => {
                let elements: Vec<Json> = union
                    .elements
                    .iter()
                    .map(|it| self.of_type(it, package))
                    .collect();
                json!({ "anyOf": elements })
            }
            TypeKind::Reference(target) => self.of_reference(target, package),
            TypeKind::Any
            | TypeKind::Json
            | TypeKind::Asset
            | TypeKind::Archive
            | TypeKind::Invalid => {
                json!({})
            }
        }
    }

    /// Types of the package itself. Those of other packages and resources are values of any kind.
    fn of_reference(&mut self, target: &Reference, package: &PackageSchema) -> Json {
        let (Section::Type, None) = (target.section, &target.package) else {
            return json!({});
        };
        let key = (package.name().to_owned(), target.token.clone());
        if let Some(name) = self.names.get(&key) {
            return reference(name);
        }
        let Some(Ok(definition)) = package.type_definition(&target.token) else {
            return json!({});
        };
        let name = format!("type{}-{}", self.names.len(), simple(&target.token));
        // Known before it is defined, because types may contain themselves.
        self.names.insert(key, name.clone());
        let schema = match &*definition {
            TypeDefinition::Object(ObjectType { properties }) => {
                self.object(properties, true, package)
            }
            TypeDefinition::Enum(of) => enumeration(of),
        };
        let schema = self.or_expression(schema);
        self.all.insert(name.clone(), schema);
        reference(&name)
    }
}

/// Whether a value must be given: there is no other source of one.
fn is_needed(property: &Property) -> bool {
    property.required
        && property.constant.is_none()
        && property.default.is_none()
        && property.default_info.is_none()
}

fn enumeration(of: &EnumType) -> Json {
    let values: Vec<Json> = of.values.iter().map(|it| value(&it.value)).collect();
    json!({ "enum": values })
}

fn value(constant: &Constant) -> Json {
    match constant {
        Constant::Bool(value) => json!(value),
        Constant::String(value) => json!(value),
        // Whole numbers have no fraction in JSON, because `2.0` is completed as it is written.
        Constant::Number(value) if value.fract() == 0.0 && value.abs() < 1e15 => {
            json!(*value as i64)
        }
        Constant::Number(value) => json!(value),
    }
}

/// The last part of a token, without what references to definitions would have to escape.
fn simple(token: &str) -> String {
    let last = token.rsplit(':').next().unwrap_or_default();
    last.chars().filter(char::is_ascii_alphanumeric).collect()
}
