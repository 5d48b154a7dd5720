//! The document of Pulumi.yaml.

use serde_json::{Map, Value as Json, json};

use super::program::Program;
use super::{DRAFT, object, text};

/// Runtimes that editors complete; others are plugins.
const RUNTIMES: [&str; 8] = [
    "bun", "dotnet", "go", "java", "nodejs", "python", "rust", "yaml",
];

/// Document of project files, with the sections of a program if there is one in them.
pub(super) fn document(program: Option<&Program>) -> Json {
    let mut properties = members();
    let mut schema = json!({
        "$schema": DRAFT,
        "title": "Pulumi.yaml",
        "type": "object",
        "required": ["name"],
    });
    if let Some(program) = program {
        properties.extend(program.sections().clone());
        schema["definitions"] = program.definitions().clone();
    }
    schema["properties"] = json!(properties);
    schema
}

fn members() -> Map<String, Json> {
    let mut members = Map::new();
    for (name, description) in [
        ("name", "Name of the project."),
        (
            "main",
            "Folder or file of the program, relative to this file.",
        ),
        ("description", "What the project is for."),
        ("author", "Who wrote the project."),
        ("website", "Where to read more."),
        ("license", "Licence of the project."),
        (
            "requiredPulumiVersion",
            "Versions of the command line that can run the project, as a range.",
        ),
        (
            "stackConfigDir",
            "Folder of the settings files of stacks, relative to this file.",
        ),
    ] {
        members.insert(name.to_owned(), text(description));
    }
    let mut add = |name: &str, schema: Json| members.insert(name.to_owned(), schema);
    add("runtime", runtime());
    add("config", config());
    add(
        "backend",
        object(one("url", text("Address of the store of the stacks."))),
    );
    let refresh =
        json!({ "const": "always", "description": "Every operation begins with a refresh." });
    add("options", object(one("refresh", refresh)));
    add("template", template());
    add("packages", packages());
    add("plugins", plugins());
    members
}

fn one(name: &str, schema: Json) -> Map<String, Json> {
    Map::from_iter([(name.to_owned(), schema)])
}

fn runtime() -> Json {
    let name = json!({ "anyOf": [{ "enum": RUNTIMES }, { "type": "string" }], "description": "Language of the program." });
    let parts = json!({
        "type": "object",
        "properties": { "name": name, "options": { "type": "object", "description": "Options of the language." } },
        "additionalProperties": false,
    });
    json!({ "description": "Language of the program.", "anyOf": [{ "enum": RUNTIMES }, { "type": "string" }, parts] })
}

fn config() -> Json {
    let types = ["string", "boolean", "integer", "object", "array"];
    let declaration = json!({
        "type": "object",
        "properties": {
            "type": { "description": "Type of the setting.", "anyOf": [{ "enum": types }, { "type": "string" }] },
            "items": { "type": "object", "description": "Type of the elements of an array." },
            "description": text("What the setting is for."),
            "secret": { "type": "boolean", "description": "Whether the value must be encrypted." },
            "default": { "description": "Value for stacks that set none." },
            "value": { "description": "Value for all stacks." },
        },
        "additionalProperties": true,
    });
    json!({
        "description": "Settings of the stacks, by key: a declaration, or a value for all stacks.",
        "anyOf": [
            { "type": ["object", "null"], "additionalProperties": { "anyOf": [declaration, {}] } },
            { "type": "string" },
        ],
    })
}

fn template() -> Json {
    let setting = json!({
        "type": "object",
        "properties": {
            "description": text("Text of the question."),
            "default": { "description": "Answer if there is none." },
            "secret": { "type": "boolean", "description": "Whether the answer is encrypted." },
        },
    });
    json!({
        "type": "object",
        "description": "Settings for `plumb new`.",
        "properties": {
            "displayName": text("Name in lists."),
            "description": text("Description of the new project."),
            "quickstart": text("Text that is shown at the end."),
            "important": { "type": "boolean", "description": "Whether the template is listed first." },
            "metadata": { "type": "object" },
            "config": { "type": "object", "description": "Settings to ask for.", "additionalProperties": setting },
        },
    })
}

fn packages() -> Json {
    let spec = json!({
        "type": "object",
        "properties": {
            "source": text("Name, path or address of the package."),
            "version": text("Version of the package."),
            "parameters": { "type": "array", "items": { "type": "string" } },
            "checksums": { "type": "object" },
            "pluginDownloadURL": text("Address of the plugin."),
        },
    });
    json!({
        "type": "object",
        "description": "Packages that the project uses, by name.",
        "additionalProperties": { "anyOf": [{ "type": "string" }, spec] },
    })
}

fn plugins() -> Json {
    let plugin = json!({
        "type": "object",
        "properties": {
            "name": text("Name of the plugin."),
            "path": text("Folder or executable, relative to this file."),
            "version": text("The version that it stands for."),
        },
    });
    let list =
        |description: &str| json!({ "type": "array", "description": description, "items": plugin });
    json!({
        "type": "object",
        "description": "Plugins that are taken from folders.",
        "properties": {
            "providers": list("Providers."),
            "languages": list("Language hosts."),
            "analyzers": list("Policy packs."),
        },
    })
}
