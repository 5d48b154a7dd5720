//! JSON output of commands, validated with the schemas in `docs/json`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::context::TestContext;

const FIRST: &str = "
name: proj
runtime: yaml
config:
  size: {type: integer, default: 3}
resources:
  kept: {type: 'pulumi:index:Stash', properties: {input: same}}
  text: {type: 'random:RandomString', properties: {length: 4}}
  gone: {type: 'pulumi:index:Stash', properties: {input: x}}
outputs:
  text: ${text.result}
";
const SECOND: &str = "
name: proj
runtime: yaml
resources:
  kept: {type: 'pulumi:index:Stash', properties: {input: same}}
  text: {type: 'random:RandomString', properties: {length: 5}}
outputs:
  text: ${text.result}
";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json")
}

/// Validates a document with its schema.
fn holds(schema: &str, document: &Value) {
    let path = folder().join(format!("{schema}.schema.json"));
    holds_text(schema, &std::fs::read_to_string(&path).unwrap(), document);
}

fn holds_text(schema: &str, text: &str, document: &Value) {
    let mut compiler = boon::Compiler::new();
    compiler
        .add_resource(schema, serde_json::from_str(text).unwrap())
        .unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile(schema, &mut schemas).unwrap();
    if let Err(error) = schemas.validate(document, index) {
        panic!("{schema}: {error:#}\n{document:#}");
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A stack with two updates, the second with a replacement and a deletion.
fn updated() -> TestContext {
    let context = TestContext::without_project();
    context.write("Pulumi.yaml", FIRST);
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["config", "set", "a", "b"]);
    context.ok(&["up", "--yes", "--skip-preview"]);
    context.write("Pulumi.yaml", SECOND);
    context
}

#[test]
fn every_schema_is_named_in_the_readme_and_is_one() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(stem) = name.strip_suffix(".schema.json") {
            assert!(readme.contains(&format!("[{stem}]({name})")), "{name}");
            let text = std::fs::read_to_string(folder().join(&name)).unwrap();
            let mut compiler = boon::Compiler::new();
            compiler.add_resource(stem, parsed(&text)).unwrap();
            compiler
                .compile(stem, &mut boon::Schemas::new())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            count += 1;
        }
    }
    assert!(count >= 14);
}

#[test]
fn operations_print_what_the_schemas_say() {
    let context = updated();
    holds("preview", &parsed(&context.ok(&["preview", "--json"])));
    holds(
        "result",
        &parsed(&context.ok(&["preview", "--output", "json"])),
    );
    let events = context.ok(&["up", "--yes", "--skip-preview", "--json"]);
    assert!(events.lines().count() > 5);
    for line in events.lines() {
        holds("engine-event", &parsed(line));
    }
    let result = parsed(&context.ok(&["refresh", "--yes", "--skip-preview", "--output", "json"]));
    holds("result", &result);
}

#[test]
fn looking_back_prints_what_the_schemas_say() {
    let context = updated();
    context.ok(&["preview"]);
    let why = parsed(&context.ok(&["why", "text", "--json"]));
    holds("why", &why);
    assert_eq!(
        (&why["op"], &why["replaces"][0]),
        (&"replace".into(), &"length".into())
    );
    let kept = parsed(&context.ok(&["why", "kept", "--json"]));
    holds("why", &kept);
    assert_eq!(kept["op"], "same");
    context.ok(&["up", "--yes", "--skip-preview"]);
    let gone = parsed(&context.ok(&["why", "gone", "--json"]));
    assert_eq!(
        (&gone["op"], &gone["preview"]),
        (&"delete".into(), &false.into())
    );

    let difference = parsed(&context.ok(&["history", "diff", "1", "2", "--output", "json"]));
    holds("history-diff", &difference);
    let changes = difference["resources"].as_array().unwrap().iter();
    let mut changes: Vec<&str> = changes.map(|it| it["change"].as_str().unwrap()).collect();
    changes.sort_unstable();
    assert_eq!(changes, ["changed", "removed", "replaced"]);
    holds(
        "stack-history",
        &parsed(&context.ok(&["stack", "history", "--json"])),
    );
    holds(
        "stack-list",
        &parsed(&context.ok(&["stack", "ls", "--json"])),
    );
    holds(
        "stack-output",
        &parsed(&context.ok(&["stack", "output", "--json"])),
    );
    holds("state-file", &parsed(&context.ok(&["stack", "export"])));
    holds("config", &parsed(&context.ok(&["config", "--json"])));
    holds(
        "plugin-list",
        &parsed(&context.ok(&["plugin", "ls", "--json"])),
    );
    holds("whoami", &parsed(&context.ok(&["whoami", "--json"])));
    holds("self", &parsed(&context.ok(&["self", "--json"])));
    holds("doctor", &parsed(&context.ok(&["doctor", "--json"])));
    let drift = context.run(&["drift", "--json"]);
    assert_eq!(drift.code, 0, "{}{}", drift.stdout, drift.stderr);
    holds("drift", &parsed(&drift.stdout));
}

#[test]
fn schemas_of_packages_are_what_the_metaschema_says() {
    let context = TestContext::without_project();
    for package in ["random", "command"] {
        let schema = parsed(&context.ok(&["package", "get-schema", package]));
        holds_text("package", plumb_schema::METASCHEMA, &schema);
    }
}
