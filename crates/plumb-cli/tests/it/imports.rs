//! `import` and its files.

use serde_json::{Value, json};

use crate::context::TestContext;

const PROGRAM: &str = "name: proj\nruntime: yaml\n";

fn project() -> TestContext {
    let context = TestContext::without_project().with_passphrase();
    context.write("Pulumi.yaml", PROGRAM);
    context.ok(&["stack", "init", "dev"]);
    context
}

const TOKEN: &str = "random:index/randomString:RandomString";

#[test]
fn code_is_printed_that_needs_no_update() {
    let context = project();
    let printed = context.ok(&["import", "--yes", "--skip-preview", TOKEN, "word", "abcdef"]);
    let (_, code) = printed
        .split_once("the destroy will take effect.\n\n")
        .unwrap_or_else(|| panic!("{printed}"));
    assert!(
        printed
            .contains("Please copy the following code into your Plumb application. Not doing so\n"),
        "{printed}"
    );
    assert!(
        code.starts_with("resources:\n  word:\n    type: random:RandomString\n    properties:\n"),
        "{code}"
    );
    assert!(
        code.ends_with("    options:\n      protect: true\n"),
        "{code}"
    );
    // With the generated code in the program, a preview has no changes.
    context.write("Pulumi.yaml", &format!("{PROGRAM}{code}"));
    let preview = context.ok(&["preview", "--expect-no-changes"]);
    assert!(!preview.contains("RandomString word"), "{preview}");
}

#[test]
fn code_is_in_the_language_of_the_program() {
    for (runtime, import, creation) in [
        (
            "python",
            "import pulumi_random as random\n",
            "word = random.RandomString(\n    \"word\",\n",
        ),
        (
            "nodejs",
            "import * as random from \"@pulumi/random\";\n",
            "const word = new random.RandomString(\"word\", {\n",
        ),
        (
            "go",
            "\t\"github.com/pulumi/pulumi-random/sdk/v4/go/random\"\n",
            "_, err := random.NewRandomString(ctx, \"word\", &random.RandomStringArgs{\n",
        ),
    ] {
        let context = TestContext::without_project().with_passphrase();
        context.write("Pulumi.yaml", &format!("name: proj\nruntime: {runtime}\n"));
        context.ok(&["stack", "init", "dev"]);
        let printed = context.ok(&["import", "--yes", "--skip-preview", TOKEN, "word", "abcdef"]);
        assert!(printed.contains(import), "{printed}");
        assert!(printed.contains(creation), "{printed}");
        assert!(printed.to_lowercase().contains("protect"), "{printed}");
    }
}

#[test]
fn code_goes_to_a_file_alone() {
    let context = project();
    let printed = context.ok(&[
        "import",
        "--yes",
        "--skip-preview",
        "--protect=false",
        "--out",
        "code.yaml",
        TOKEN,
        "word",
        "abcdef",
    ]);
    assert!(!printed.contains("Please copy"), "{printed}");
    let code = context.read("code.yaml");
    assert!(
        code.starts_with("resources:\n  word:\n") && !code.contains("protect"),
        "{code}"
    );
    let without = context.ok(&[
        "import",
        "--yes",
        "--skip-preview",
        "--generate-code=false",
        TOKEN,
        "other",
        "abcdef",
    ]);
    assert!(!without.contains("resources:"), "{without}");
}

#[test]
fn components_and_parents_of_a_file_are_imported() {
    let context = project();
    let file = json!({ "resources": [
        { "type": "proj:index:Group", "name": "group", "component": true },
        { "type": TOKEN, "name": "word", "id": "abcdef", "parent": "group", "logicalName": "the word" },
    ] });
    context.write("import.json", &file.to_string());
    let ran = context.run(&["import", "--yes", "--skip-preview", "--file", "import.json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr
            .contains("is a component of a program, which YAML programs cannot declare"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stdout.contains("    name: the word\n"),
        "{}",
        ran.stdout
    );
    let text = context.ok(&["stack", "--show-urns"]);
    assert!(
        text.contains(&format!("proj:index:Group${TOKEN}::the word")),
        "{text}"
    );
}

#[test]
fn other_languages_are_told_before_anything_happens() {
    let context = TestContext::without_project().with_passphrase();
    context.write("Pulumi.yaml", "name: proj\nruntime: ruby\n");
    context.ok(&["stack", "init", "dev"]);
    assert_eq!(
        context.fails(
            1,
            &[
                "import", "--yes", "--out", "main.rb", TOKEN, "word", "abcdef"
            ]
        ),
        "error: `--out`: code for imported resources is written in Python, TypeScript, Go, Java, C#, Rust and YAML, and not yet in ruby; \
         import with `--generate-code=false`, and declare the resources by hand\n"
    );
    assert_eq!(
        context.fails(1, &["import", "--yes", "--from", "bicep"]),
        "error: load converter plugin: load \"bicep\": no converter plugin 'pulumi-converter-bicep' found in the workspace or on your \
         $PATH\n"
    );
    assert!(
        context
            .fails(1, &["import", "--yes", TOKEN])
            .contains("missing name and id")
    );
}

#[test]
fn a_preview_lists_what_an_import_could_take_instead() {
    let context = project();
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nresources:\n  word:\n    type: random:RandomString\n    properties: {length: 3}\n",
    );
    context.ok(&["preview", "--import-file", "import.json"]);
    let file: Value = serde_json::from_str(&context.read("import.json")).unwrap();
    assert_eq!(file["resources"][0]["type"], TOKEN);
    assert_eq!(file["resources"][0]["id"], "<PLACEHOLDER>");
    context.write(
        "import.json",
        &context.read("import.json").replace("<PLACEHOLDER>", "abc"),
    );
    context.ok(&["import", "--yes", "--skip-preview", "--file", "import.json"]);
    assert!(context.ok(&["stack", "--show-ids"]).contains("ID: abc"));
}
