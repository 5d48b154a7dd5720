//! `schema` and `package`.

use serde_json::Value;

use crate::context::TestContext;

const LAB: &str = r##"{
  "name": "lab",
  "version": "1.2.3",
  "description": "Things <for> tests.",
  "unknown": true,
  "resources": {
    "lab:box:Box": {
      "description": "A box.",
      "inputProperties": {"size": {"type": "integer", "description": "How big."}},
      "requiredInputs": ["size"],
      "properties": {"tags": {"type": "object"}}
    }
  },
  "functions": {"lab:index:find": {"outputs": {"type": "array", "items": {"$ref": "#/resources/lab:box:Box"}}}}
}"##;

#[test]
fn a_good_schema_passes_without_a_word() {
    let context = TestContext::without_project();
    context.write("lab.json", LAB);
    let ran = context.run(&["schema", "check", "lab.json"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", "")
    );
    let ran = context.run_with(&["schema", "check", "-"], LAB);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn all_that_is_wrong_with_a_schema_is_told() {
    let context = TestContext::without_project();
    context.write(
        "lab.yaml",
        "name: lab\nconfig:\n  variables:\n    a: {type: text}\n    b: {$ref: '#/types/lab:index:T'}\n",
    );
    assert_eq!(
        context.fails(1, &["schema", "check", "lab.yaml"]),
        "error: lab.yaml:4:9: #/config/variables/a/type: unknown primitive type text; expected boolean, integer, number, string, array or object\n\
         error: lab.yaml:5:9: #/config/variables/b/$ref: type lab:index:T not found in package lab\n\
         error: schema validation failed\n"
    );
    let lenient = context.fails(
        1,
        &["schema", "check", "lab.yaml", "--allow-dangling-references"],
    );
    assert!(!lenient.contains("not found"), "{lenient}");
    context.write("bad.json", "{\"name\": ");
    assert_eq!(
        context.fails(1, &["schema", "check", "bad.json"]),
        "error: bad.json:1:10: #: this is not valid JSON: the text ends where a value is expected\n"
    );
    let parameters = context.fails(1, &["schema", "check", "bad.json", "more"]);
    assert!(parameters.contains("parameterization arguments are not supported for json files"));
}

#[test]
fn schemas_are_printed_in_order_and_without_what_nobody_knows() {
    let context = TestContext::without_project();
    context.write("lab.json", LAB);
    let printed = context.ok(&["package", "get-schema", "lab.json"]);
    assert!(
        printed.starts_with("{\n  \"name\": \"lab\",\n  \"version\": \"1.2.3\","),
        "{printed}"
    );
    assert!(printed.contains("Things \\u003cfor\\u003e tests."));
    assert!(!printed.contains("unknown"));
    let builtin: Value =
        serde_json::from_str(&context.ok(&["package", "get-schema", "random"])).unwrap();
    assert_eq!(builtin["name"], "random");
    assert!(
        context
            .fails(1, &["package", "get-schema", "nowhere"])
            .contains("pulumi-resource-nowhere")
    );
}

#[test]
fn a_package_is_described() {
    let context = TestContext::without_project();
    context.write("lab.json", LAB);
    assert_eq!(
        context.ok(&["package", "info", "lab.json"]),
        "Name: lab\nVersion: 1.2.3\nDescription: Things <for> tests.\nTotal resources: 1\nTotal functions: 1\n\
         Total modules: 2\n\nModules:\n - box: 1 resources, 0 functions\n - index: 0 resources, 1 functions\n"
    );
    assert_eq!(
        context.ok(&["package", "info", "lab.json", "--resource", "Box"]),
        "Resource: lab:box:Box\nDescription: A box.\n\nInputs:\n - size (integer*): How big.\n\nOutputs:\n - tags (map of string)\n"
    );
    assert!(
        context
            .ok(&["package", "info", "lab.json", "-f", "find"])
            .contains(" - Box[]\n")
    );
    assert!(
        context
            .ok(&["package", "info", "lab.json", "-m", "box"])
            .contains(" - Box: A box.\n")
    );
    assert!(
        context
            .fails(1, &["package", "info", "lab.json", "-r", "Bag"])
            .contains("not found")
    );
}

#[test]
fn an_sdk_is_written_into_a_folder_that_is_emptied_first() {
    let context = TestContext::without_project();
    context.write("lab.json", LAB);
    context.write("out/nodejs/old.ts", "");
    context.write("out/other.txt", "");
    let words = [
        "package",
        "gen-sdk",
        "lab.json",
        "--language",
        "nodejs",
        "-o",
        "out",
        "--version",
        "2.0.0",
    ];
    let ran = context.run(&words);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("overriding package version 1.2.3 with 2.0.0"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("SDK has been written to "),
        "{}",
        ran.stderr
    );
    assert!(context.exists("out/nodejs/box/box.ts"));
    assert!(!context.exists("out/nodejs/old.ts"));
    assert!(context.exists("out/other.txt"));
    context.ok(&["package", "gen-sdk", "lab.json", "--out", "all"]);
    for language in ["dotnet", "go", "java", "nodejs", "python"] {
        assert!(context.exists(&format!("all/{language}")), "{language}");
    }
    let unknown = context.fails(
        1,
        &["package", "gen-sdk", "lab.json", "--language", "cobol"],
    );
    assert!(unknown.contains("unknown language \"cobol\""), "{unknown}");
}

#[test]
fn documentation_is_written_where_nothing_else_is() {
    let context = TestContext::without_project();
    context.write("lab.json", LAB);
    let ran = context.run(&["gen-docs", "lab.json", "--out", "docs"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("Documentation has been written to "),
        "{}",
        ran.stderr
    );
    assert!(context.exists("docs/index.html"));
    assert!(context.exists("docs/box/box.html"));
    context.ok(&[
        "package", "gen-docs", "lab.json", "--out", "docs", "--format", "markdown",
    ]);
    assert!(context.exists("docs/box/box/_index.md"));
    assert!(context.exists("docs/tree.json"));
    assert!(
        !context.exists("docs/index.html"),
        "what was there before is gone"
    );

    context.write("mine/notes.txt", "");
    let refused = context.fails(1, &["gen-docs", "lab.json", "--out", "mine"]);
    assert!(
        refused.contains("is not empty, and no documentation of a package"),
        "{refused}"
    );
    assert!(context.exists("mine/notes.txt"));
    let unknown = context.fails(1, &["gen-docs", "lab.json", "--format", "pdf"]);
    assert!(unknown.contains("unknown format \"pdf\""), "{unknown}");
}
