//! The document of YAML programs.

use std::sync::Arc;

use plumb_schema::{PackageSchema, Properties};
use serde_json::{Map, Value as Json, json};

use super::types::{Definitions, Values, reference};
use super::{DRAFT, object, prose, text};

/// Sections and definitions of programs with the types of some packages.
pub(super) struct Program {
    sections: Map<String, Json>,
    definitions: Json,
}

impl Program {
    pub(super) fn of(schemas: &[Arc<PackageSchema>]) -> Self {
        let mut definitions = Definitions::new(Values::Expressions);
        let resource = resource(schemas, &mut definitions);
        definitions.insert("resource", resource);
        let invoke = invoke(schemas, &mut definitions);
        definitions.insert("invoke", invoke);
        definitions.insert("call", call());
        definitions.insert("value", any_value());
        definitions.insert("options", options());
        Program {
            sections: sections(),
            definitions: definitions.into_json(),
        }
    }

    /// Sections of a program, for a document that has [`Program::definitions`].
    pub(super) fn sections(&self) -> &Map<String, Json> {
        &self.sections
    }

    pub(super) fn definitions(&self) -> &Json {
        &self.definitions
    }

    /// Document of a file that is only a program.
    pub(super) fn document(&self) -> Json {
        let mut properties = self.sections.clone();
        for (name, description) in [
            ("name", "Name of the program."),
            ("description", "What the program is for."),
            ("version", "Version of the program."),
        ] {
            properties.insert(name.to_owned(), text(description));
        }
        properties.insert("config".to_owned(), declared_settings());
        json!({
            "$schema": DRAFT,
            "title": "Program in YAML",
            "type": "object",
            "properties": properties,
            "definitions": self.definitions,
        })
    }
}

fn sections() -> Map<String, Json> {
    let values = |description: &str| json!({ "type": ["object", "null"], "description": description, "additionalProperties": { "$ref": "#/definitions/value" } });
    let mut sections = Map::new();
    let resources = json!({
        "type": ["object", "null"],
        "description": "Resources that should exist, by the names under which the program refers to them.",
        "additionalProperties": reference("resource"),
    });
    sections.insert("resources".to_owned(), resources);
    let mut add = |name: &str, description| sections.insert(name.to_owned(), values(description));
    add("variables", "Values that the program computes, by name.");
    add("outputs", "Outputs of the stack, by name.");
    let pulumi = object(Map::from_iter([(
        "requiredVersion".to_owned(),
        text("Versions of the command line that can run the program, as a range."),
    )]));
    sections.insert("pulumi".to_owned(), pulumi);
    let old = json!({ "deprecationMessage": "use `config`", "type": ["object", "null"] });
    sections.insert("configuration".to_owned(), old);
    sections
}

/// Settings that a program declares.
fn declared_settings() -> Json {
    json!({ "type": ["object", "null"], "description": "Settings that the program reads, by key.", "additionalProperties": true })
}

/// A resource: what its properties are depends on its type. Types are looked at by package first, because there may be thousands.
fn resource(schemas: &[Arc<PackageSchema>], definitions: &mut Definitions) -> Json {
    let mut tokens = Vec::new();
    let mut packages = Vec::new();
    for package in schemas {
        let mut types = Vec::new();
        let known: Vec<String> = package.resource_tokens().map(ToOwned::to_owned).collect();
        for token in known {
            let Some(Ok(resource)) = package.resource(&token) else {
                continue;
            };
            let spellings = spellings(&token, |it| {
                package.resolve_resource(it) == Some(token.as_str())
            });
            tokens.push(listed(
                &spellings[0],
                resource.description.as_deref(),
                resource.deprecation.as_deref(),
            ));
            let state = resource.state_inputs.as_ref();
            types.push(typed(
                &spellings,
                &resource.input_properties,
                state,
                package,
                definitions,
            ));
        }
        if let Ok(provider) = package.provider().map(|it| it.input_properties.clone()) {
            let token = format!("pulumi:providers:{}", package.name());
            tokens.push(listed(
                &token,
                Some("Provider with settings of its own."),
                None,
            ));
            types.push(typed(&[token], &provider, None, package, definitions));
        }
        packages.push(json!({
            "if": { "properties": { "type": { "pattern": package_pattern(package.name()) } } },
            "then": { "allOf": types },
        }));
    }
    json!({
        "type": "object",
        "required": ["type"],
        "additionalProperties": false,
        "properties": {
            "type": token("Type of the resource.", tokens, schemas),
            "name": text("Name of the resource, if it is not the one that the program uses."),
            "properties": { "description": "Inputs of the resource." },
            "options": reference("options"),
            "get": { "description": "Reads a resource that exists already, by its id." },
            "defaultProvider": { "type": "boolean", "description": "Whether the resource, a provider, is the default of its package." },
        },
        "allOf": packages,
    })
}

/// Begins with the package; for providers, ends with it.
fn package_pattern(name: &str) -> String {
    let name: String = name
        .chars()
        .flat_map(|letter| {
            ['\\', letter]
                .into_iter()
                .skip(usize::from(letter.is_alphanumeric() || letter == '-'))
        })
        .collect();
    format!("^({name}:|pulumi:providers:{name}$)")
}

/// A token: one of those that are known, or one of another package, or one in its long form.
fn token(description: &str, listed: Vec<Json>, schemas: &[Arc<PackageSchema>]) -> Json {
    let names: Vec<&str> = schemas
        .iter()
        .map(|schema| schema.name())
        .filter(|name| *name != "pulumi")
        .collect();
    let known = format!("^({}):", names.join("|"));
    json!({
        "description": description,
        "type": "string",
        "anyOf": [
            { "oneOf": listed },
            { "not": { "pattern": known } },
            { "pattern": "^[^:]+:([^:]*/[^:]*|index):[^:]+$" },
        ],
    })
}

fn listed(token: &str, description: Option<&str>, deprecation: Option<&str>) -> Json {
    let mut schema = json!({ "const": token });
    if let Some(description) = description {
        let first = description.split("\n\n").next().unwrap_or_default();
        schema["description"] = json!(prose(first));
    }
    if let Some(reason) = deprecation {
        schema["deprecationMessage"] = json!(if reason.is_empty() {
            "deprecated"
        } else {
            reason
        });
    }
    schema
}

/// Properties for one type.
fn typed(
    spellings: &[String],
    inputs: &Properties,
    state: Option<&Properties>,
    package: &PackageSchema,
    definitions: &mut Definitions,
) -> Json {
    let properties = definitions.object(inputs, true, package);
    let mut read = json!({ "id": reference("string") });
    if let Some(state) = state {
        read["state"] = definitions.object(state, false, package);
    } else {
        read["state"] = json!({ "type": "object" });
    }
    json!({
        "if": { "properties": { "type": { "enum": spellings } } },
        "then": {
            "properties": {
                "properties": { "anyOf": [properties, { "type": "string", "pattern": "\\$\\{" }] },
                "get": { "type": "object", "properties": read, "additionalProperties": false },
            },
        },
    })
}

/// Ways to write a token, the shortest first: `random:RandomPet` for `random:index/randomPet:RandomPet`.
pub(super) fn spellings(token: &str, leads_to_it: impl Fn(&str) -> bool) -> Vec<String> {
    let parts: Vec<&str> = token.split(':').collect();
    let [package, module, name] = parts[..] else {
        return vec![token.to_owned()];
    };
    let folder = module.split('/').next().unwrap_or_default();
    let mut all = vec![
        format!("{package}:{name}"),
        format!("{package}:{folder}:{name}"),
    ];
    all.retain(|it| leads_to_it(it));
    if !all.iter().any(|it| it == token) {
        all.push(token.to_owned());
    }
    all
}

/// A call of a function of a package. The arguments depend on the function.
fn invoke(schemas: &[Arc<PackageSchema>], definitions: &mut Definitions) -> Json {
    let mut tokens = Vec::new();
    let mut cases = Vec::new();
    for package in schemas {
        let known: Vec<String> = package.function_tokens().map(ToOwned::to_owned).collect();
        for token in known.into_iter().filter(|token| !package.is_method(token)) {
            let Some(Ok(function)) = package.function(&token) else {
                continue;
            };
            let spellings = spellings(&token, |it| {
                package.resolve_function(it) == Some(token.as_str())
            });
            tokens.push(listed(
                &spellings[0],
                function.description.as_deref(),
                function.deprecation.as_deref(),
            ));
            let nothing = Properties::default();
            let inputs = function
                .inputs
                .as_ref()
                .map_or(&nothing, |it| &it.properties);
            let arguments = definitions.object(inputs, true, package);
            cases.push(json!({
                "if": { "properties": { "function": { "enum": spellings } } },
                "then": { "properties": { "arguments": { "anyOf": [arguments, { "type": "string", "pattern": "\\$\\{" }] } } },
            }));
        }
    }
    let mut schema = json!({
        "type": "object",
        "required": ["function"],
        "additionalProperties": false,
        "properties": {
            "function": token("Function to call.", tokens, schemas),
            "arguments": { "description": "Arguments of the function." },
            "options": { "type": "object", "description": "Options of the call: parent, provider, version, pluginDownloadURL, dependsOn." },
            "return": text("The one member of the result to take."),
        },
    });
    if !cases.is_empty() {
        schema["allOf"] = json!(cases);
    }
    schema
}

/// A mapping whose only key calls a function.
fn call() -> Json {
    let mut functions = Map::new();
    for name in plumb_yaml::function_names() {
        functions.insert(name.to_owned(), json!({}));
    }
    functions.insert("fn::invoke".to_owned(), reference("invoke"));
    json!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "properties": functions,
        "patternProperties": { "^[fF][nN]::": {} },
        "additionalProperties": false,
    })
}

/// Any value, in which editors complete functions. Only calls of functions of packages are checked.
fn any_value() -> Json {
    let functions = plumb_yaml::function_names().map(|name| (name.to_owned(), json!({})));
    json!({
        "properties": functions.collect::<Map<_, _>>(),
        "if": { "type": "object", "required": ["fn::invoke"] },
        "then": reference("call"),
    })
}

/// Options of resources, each with its schema.
fn options() -> Json {
    let any = |description: &str| json!({ "description": description });
    let flag = |description: &str| json!({ "type": "boolean", "description": description });
    let names = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    let timeout = |step: &str| (step.to_owned(), text("A duration, such as 30m."));
    let timeouts = object(
        ["create", "update", "delete", "read"]
            .map(timeout)
            .into_iter()
            .collect(),
    );
    let mut properties = Map::new();
    for (name, schema) in [
        (
            "additionalSecretOutputs",
            names("Outputs to keep as secrets."),
        ),
        (
            "aliases",
            any("Former names, types or parents of the resource, so that it is not replaced."),
        ),
        ("customTimeouts", timeouts),
        (
            "deleteBeforeReplace",
            flag("Deletes the old object before the new one is created."),
        ),
        (
            "deletedWith",
            any("A resource whose deletion deletes this one too."),
        ),
        (
            "dependsOn",
            any("Resources that are created before this one."),
        ),
        (
            "envVarMappings",
            any("Environment variables of the provider, by the names of others."),
        ),
        (
            "hideDiffs",
            names("Properties whose differences are not shown."),
        ),
        (
            "ignoreChanges",
            names("Properties whose changes in the program are ignored."),
        ),
        (
            "import",
            text("Id of an object to adopt instead of creating one."),
        ),
        ("parent", any("The resource above this one.")),
        (
            "pluginDownloadURL",
            text("Address of the plugin of the provider."),
        ),
        ("protect", any("Refuses to delete the resource.")),
        ("provider", any("The provider of the resource.")),
        (
            "providers",
            any("Providers of the children of a component."),
        ),
        (
            "replaceOnChanges",
            names("Properties whose changes replace the resource."),
        ),
        (
            "replaceWith",
            any("Resources whose replacement replaces this one too."),
        ),
        (
            "replacementTrigger",
            any("A value whose change replaces the resource."),
        ),
        (
            "retainOnDelete",
            flag("Keeps the object when the resource is deleted."),
        ),
        ("version", text("Version of the plugin of the provider.")),
    ] {
        properties.insert(name.to_owned(), schema);
    }
    let mut schema = object(properties);
    schema["description"] = json!("Options of the resource.");
    schema
}
