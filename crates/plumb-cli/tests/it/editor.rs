//! JSON Schemas for editors: what they accept and what they reject.

use std::fs;
use std::path::Path;

use plumb_project::yaml;
use serde_json::Value;

use crate::context::TestContext;

/// Schemas that a command has written.
struct Editor {
    context: TestContext,
}

impl Editor {
    fn of(project: &str) -> Self {
        let context = TestContext::without_project();
        context.write("Pulumi.yaml", project);
        context.ok(&["schema", "export-editor", "out"]);
        Editor { context }
    }

    /// Errors of a YAML document under a schema.
    fn errors(&self, schema: &str, text: &str) -> Option<String> {
        let document = yaml::parse(text).unwrap();
        let document = document
            .root
            .as_ref()
            .map_or(Value::Null, |root| yaml::to_json(root).unwrap());
        let schema = self.context.read(&format!("out/{schema}.schema.json"));
        let mut compiler = boon::Compiler::new();
        compiler
            .add_resource("schema", serde_json::from_str(&schema).unwrap())
            .unwrap();
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile("schema", &mut schemas).unwrap();
        schemas
            .validate(&document, index)
            .err()
            .map(|error| format!("{error:#}"))
    }

    fn accepts(&self, schema: &str, text: &str) {
        if let Some(error) = self.errors(schema, text) {
            panic!("{error}\n{text}");
        }
    }

    fn rejects(&self, schema: &str, text: &str) {
        assert!(self.errors(schema, text).is_some(), "accepted: {text}");
    }
}

const PROJECT: &str = "
name: proj
runtime: yaml
config:
  size: {type: integer, description: How many}
  names: {type: array, items: {type: string}}
resources:
  pet:
    type: random:RandomPet
    properties:
      length: ${size}
      prefix: {fn::join: ['-', [a, b]]}
    options: {dependsOn: [], protect: true, customTimeouts: {create: 5m}}
  text:
    type: random:index/randomString:RandomString
    properties: {length: 8}
outputs:
  pet: ${pet.id}
";

#[test]
fn every_example_is_accepted() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut count = 0;
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path().join("Pulumi.yaml");
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        // Programs in other languages and packages from sources need tools.
        if text.contains("runtime: yaml") && !text.contains("packages:") {
            Editor::of(&text).accepts("project", &text);
            count += 1;
        }
    }
    assert!(count > 3, "{count} examples");
}

#[test]
fn mistakes_in_programs_are_found() {
    let editor = Editor::of(PROJECT);
    editor.accepts("project", PROJECT);
    for (right, wrong) in [
        ("length: 8", "lenght: 8"),
        ("length: 8", "length: many"),
        ("{length: 8}", "{}"),
        ("random:RandomPet", "random:RandomPat"),
        ("protect: true", "protected: true"),
        ("create: 5m", "creates: 5m"),
        ("    options:", "    option:"),
        ("dependsOn: []", "ignoreChanges: length"),
        ("runtime: yaml", "runtime: [yaml]"),
        ("name: proj\n", ""),
        ("config:", "backend: {uri: x}\nconfig:"),
    ] {
        let text = PROJECT.replacen(right, wrong, 1);
        assert_ne!(text, PROJECT, "{right}");
        editor.rejects("project", &text);
    }
    // Nothing is known of packages that the project does not use.
    editor.accepts(
        "project",
        &PROJECT.replace("random:RandomPet", "cloud:Server"),
    );
}

#[test]
fn a_file_that_is_only_a_program_has_a_schema_of_its_own() {
    let editor = Editor::of(PROJECT);
    let program = PROJECT.replace("runtime: yaml\n", "");
    editor.accepts("program", &program);
    editor.rejects("program", &program.replace("length: 8", "length: [8]"));
}

#[test]
fn settings_are_those_that_the_project_declares() {
    let editor = Editor::of(PROJECT);
    for settings in [
        "config:\n  proj:size: 3\n",
        "config:\n  proj:size: '3'\n",
        "config:\n  proj:size: {secure: AAAB}\n",
        "config:\n  proj:names: [a, b]\n  other:key: {a: 1}\n",
        "encryptionsalt: v1:x\n",
        "",
    ] {
        editor.accepts("stack", settings);
    }
    for settings in [
        "config:\n  proj:size: [3]\n",
        "config:\n  proj:size: many\n",
        "config:\n  proj:names: [{}]\n",
        "config: [a]\n",
        "encryptionsalt: {}\n",
    ] {
        editor.rejects("stack", settings);
    }
}

#[test]
fn the_settings_of_the_editor_are_printed() {
    let context = TestContext::without_project();
    context.write("Pulumi.yaml", PROJECT);
    let ran = context.run(&["schema", "export-editor"]);
    let settings: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        settings["yaml.schemas"]["./.plumb/project.schema.json"],
        "Pulumi.yaml"
    );
    assert_eq!(
        settings["yaml.schemas"]["./.plumb/stack.schema.json"],
        "Pulumi.*.yaml"
    );
    assert!(
        ran.stderr
            .contains("# yaml-language-server: $schema=./.plumb/project.schema.json"),
        "{}",
        ran.stderr
    );
    assert!(context.exists(".plumb/program.schema.json"));
}

#[test]
fn a_program_with_errors_does_not_keep_the_schemas_from_being_written() {
    let context = TestContext::without_project();
    context.write("Pulumi.yaml", &PROJECT.replace("${size}", "${"));
    let ran = context.run(&["schema", "export-editor", "out"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("warning: the packages of the program are not known"),
        "{}",
        ran.stderr
    );
    assert!(
        context
            .read("out/project.schema.json")
            .contains("random:RandomPet")
    );
    let error = context.fails(1, &["schema", "export-editor", "--package", "nowhere"]);
    assert!(
        error.contains("the package nowhere has no schema here"),
        "{error}"
    );
}
