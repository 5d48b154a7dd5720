//! Schema of a component package, derived from the declared inputs and outputs.

use serde_json::{Map, Value, json};

use super::ComponentPackage;
use crate::config::{ConfigDecl, ConfigType};
use crate::diagnostic::Diagnostic;
use crate::syntax::components::ComponentDecl;
use crate::syntax::node::{Node, NodeKind};

/// Reference to the type of any value.
const ANY: &str = "pulumi.json#/Any";

impl ComponentPackage {
    /// Schema of the package.
    pub fn schema(&self) -> Value {
        let mut schema = Map::new();
        schema.insert("name".to_owned(), json!(self.name));
        let facts = [
            ("version", &self.version),
            ("description", &self.description),
            ("namespace", &self.namespace),
        ];
        for (key, fact) in facts {
            if let Some(fact) = fact {
                schema.insert(key.to_owned(), json!(fact));
            }
        }
        let resources = self
            .components
            .iter()
            .map(|component| (self.token(component), component_schema(component)));
        schema.insert("resources".to_owned(), Value::Object(resources.collect()));
        let language: Map<String, Value> = ["csharp", "go", "java", "nodejs", "python"]
            .map(|name| (name.to_owned(), json!({"respectSchemaVersion": true})))
            .into_iter()
            .collect();
        schema.insert("language".to_owned(), Value::Object(language));
        Value::Object(schema)
    }

    /// Token of a component.
    pub(super) fn token(&self, component: &ComponentDecl) -> String {
        format!("{}:index:{}", self.name, component.key.text)
    }
}

fn component_schema(component: &ComponentDecl) -> Value {
    let inputs = &component.body.config;
    let required: Vec<&str> = inputs
        .iter()
        .filter(|input| input.default.is_none())
        .map(|input| input.key.text.as_str())
        .collect();
    let input_properties: Map<String, Value> = inputs
        .iter()
        .map(|input| (input.key.text.to_string(), input_schema(input)))
        .collect();
    let outputs = || {
        let outputs = component.body.outputs.iter();
        outputs.map(|(key, _)| key.text.to_string())
    };
    let properties: Map<String, Value> =
        outputs().map(|name| (name, json!({"$ref": ANY}))).collect();
    let mut schema = json!({
        "isComponent": true,
        "inputProperties": input_properties,
        "requiredInputs": required,
        "properties": properties,
        "required": outputs().collect::<Vec<_>>(),
    });
    if let Some(description) = &component.description {
        schema["description"] = json!(description);
    }
    schema
}

fn input_schema(input: &ConfigDecl) -> Value {
    let mut schema = input_type(input).map_or_else(|| json!({"$ref": ANY}), |ty| type_schema(&ty));
    if let Some(description) = &input.description {
        schema["description"] = json!(description);
    }
    if let Some(default) = input.default.as_ref().and_then(literal) {
        schema["default"] = default;
    }
    if input.secret == Some(true) {
        schema["secret"] = json!(true);
    }
    schema
}

/// Declared type of an input, or else the type of its default.
pub(super) fn input_type(input: &ConfigDecl) -> Option<ConfigType> {
    let inferred = || input.default.as_ref().and_then(ConfigType::of);
    input.ty.clone().or_else(inferred)
}

fn type_schema(ty: &ConfigType) -> Value {
    match ty {
        ConfigType::String => json!({"type": "string"}),
        ConfigType::Number => json!({"type": "number"}),
        ConfigType::Integer => json!({"type": "integer"}),
        ConfigType::Bool => json!({"type": "boolean"}),
        ConfigType::Object => json!({"type": "object", "additionalProperties": {"$ref": ANY}}),
        ConfigType::List(element) => json!({"type": "array", "items": type_schema(element)}),
    }
}

/// Default for the schema, which supports only simple types.
fn literal(node: &Node) -> Option<Value> {
    match &node.kind {
        NodeKind::Bool(value) => Some(json!(value)),
        NodeKind::String(text) => Some(json!(text)),
        NodeKind::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Some(json!(*number as i64))
        }
        NodeKind::Number(number) => Some(json!(number)),
        NodeKind::Null | NodeKind::List(_) | NodeKind::Map(_) => None,
    }
}

/// Errors for inputs whose type cannot be determined.
pub(super) fn problems(component: &ComponentDecl) -> impl Iterator<Item = Diagnostic> {
    let inputs = component.body.config.iter();
    inputs.filter_map(|input| {
        let without_type = || {
            let summary = "unable to infer type: either 'default' or 'type' is required";
            Diagnostic::error(input.key.span, summary)
        };
        let problem = input.problem.clone();
        problem.or_else(|| input_type(input).is_none().then(without_type))
    })
}
