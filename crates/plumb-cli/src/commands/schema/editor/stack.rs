//! The document of the settings files of stacks.

use std::sync::Arc;

use plumb_project::config::ConfigType;
use plumb_project::project::{Declaration, Project};
use plumb_schema::PackageSchema;
use serde_json::{Map, Value as Json, json};

use super::types::{Definitions, Values};
use super::{DRAFT, text};

/// Document of settings files: with the settings that the project declares, and those of the providers.
pub(super) fn document(project: &Project, schemas: &[Arc<PackageSchema>]) -> Json {
    let mut definitions = Definitions::new(Values::Plain);
    let mut config = Map::new();
    for schema in schemas.iter().filter(|schema| schema.name() != "pulumi") {
        for (name, setting) in of_package(schema, &mut definitions) {
            config.insert(format!("{}:{name}", schema.name()), or_secret(setting));
        }
    }
    for (key, declaration) in &project.config {
        config.insert(
            format!("{}:{}", key.namespace(), key.name()),
            declared(declaration),
        );
    }
    json!({
        "$schema": DRAFT,
        "title": "Settings of a stack",
        "type": ["object", "null"],
        "properties": {
            "config": {
                "type": ["object", "null"],
                "description": "Settings of the stack, by key: NAMESPACE:NAME. `plumb config set` writes them, and encrypts secrets.",
                "properties": config,
            },
            "secretsprovider": text("What encrypts the secrets: an address of a key, or passphrase."),
            "encryptedkey": text("The key of the secrets, encrypted."),
            "encryptionsalt": text("Salt of the passphrase, and a value that checks it."),
            "environment": { "description": "Environments of the service. They are not supported." },
        },
        "definitions": definitions.into_json(),
    })
}

fn of_package(schema: &PackageSchema, definitions: &mut Definitions) -> Vec<(String, Json)> {
    let Ok(properties) = schema.config() else {
        return Vec::new();
    };
    let object = definitions.object(&properties, false, schema);
    let members = object["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    members.into_iter().collect()
}

/// The value, or its encrypted form.
fn or_secret(mut schema: Json) -> Json {
    let secret = json!({ "type": "object", "properties": { "secure": { "type": "string" } }, "required": ["secure"], "additionalProperties": false });
    let description = schema
        .as_object_mut()
        .and_then(|it| it.remove("description"));
    // Settings given on the command line are texts.
    let text = match schema["type"].as_str() {
        Some("integer") => json!({ "type": "string", "pattern": "^[+-]?[0-9]+$" }),
        Some("boolean") => json!({ "enum": ["true", "false"] }),
        _ => json!({ "type": "string" }),
    };
    let mut either = json!({ "anyOf": [schema, secret, text] });
    if let Some(description) = description {
        either["description"] = description;
    }
    either
}

fn declared(declaration: &Declaration) -> Json {
    let schema = match &declaration.r#type {
        Some(of) => of_type(of),
        None => {
            return json!({ "description": declaration.description.clone().unwrap_or_default() });
        }
    };
    let mut schema = or_secret(schema);
    if let Some(description) = &declaration.description {
        schema["description"] = json!(description);
    }
    if let Some(default) = &declaration.default {
        schema["default"] = default.clone();
    }
    schema
}

fn of_type(of: &ConfigType) -> Json {
    match of {
        ConfigType::String => json!({ "type": ["string", "number", "boolean"] }),
        ConfigType::Integer => json!({ "type": "integer" }),
        ConfigType::Boolean => json!({ "type": "boolean" }),
        ConfigType::Object => json!({ "type": "object" }),
        ConfigType::Array(items) => json!({ "type": "array", "items": of_type(items) }),
    }
}
