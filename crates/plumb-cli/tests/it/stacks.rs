//! `stack` and the verbs below it.

use serde_json::{Value, json};

use crate::context::TestContext;

const STACK: &str = "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev";

fn with_outputs() -> TestContext {
    let context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    context.import(&json!([{
        "urn": STACK, "custom": false, "type": "pulumi:pulumi:Stack",
        "outputs": { "text": "two words", "number": 42, "object": { "a": "x", "b": [1, null, true] } },
    }]));
    context
}

/// A stack created with a secrets manager has a state from the start, with the time of its creation.
#[test]
fn a_new_stack_with_a_secrets_manager_has_a_time_and_a_version() {
    let context = TestContext::new().with_passphrase();
    context.ok(&["stack", "init", "dev"]);
    let listed: Value = serde_json::from_str(&context.ok(&["stack", "ls", "--json"])).unwrap();
    assert!(listed[0]["lastUpdate"].is_string(), "{listed}");
    let shown = context.ok(&["stack"]);
    assert!(shown.contains("    Last updated: "), "{shown}");
    assert!(shown.contains("    Plumb version used: v3."), "{shown}");
}

#[test]
fn stacks_are_made_listed_selected_and_removed() {
    let context = TestContext::new();
    let made = context.run(&["stack", "init", "dev"]);
    assert_eq!(
        (made.code, made.stdout.as_str(), made.stderr.as_str()),
        (0, "", "Created stack 'dev'\n")
    );
    context.ok(&["stack", "init", "prod", "--no-select"]);
    assert_eq!(
        context.ok(&["stack", "ls"]),
        "NAME  LAST UPDATE  RESOURCE COUNT\ndev*  n/a          0\nprod  n/a          0\n"
    );
    let listed: Value = serde_json::from_str(&context.ok(&["stack", "ls", "--json"])).unwrap();
    assert_eq!(listed[0]["name"], "dev");
    assert_eq!(
        (&listed[0]["current"], &listed[1]["current"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(context.ok(&["stack", "select", "prod"]), "");
    assert_eq!(context.ok(&["stack", "--show-name"]), "prod\n");
    assert_eq!(
        context.fails(1, &["stack", "init", "dev"]),
        "error: stack 'organization/proj/dev' already exists\n"
    );
    assert_eq!(
        context.fails(6, &["stack", "select", "nowhere"]),
        "error: no stack named 'nowhere' found\n"
    );
    let removed = context.ok(&["stack", "rm", "prod", "--yes"]);
    assert_eq!(removed, "Stack 'prod' has been removed!\n");
    assert_eq!(
        context.fails(1, &["stack"]),
        "error: no stack selected; please use `plumb stack select` or `plumb stack init` to choose one\n"
    );
}

#[test]
fn a_stack_can_be_named_in_several_ways() {
    let context = TestContext::new();
    context.ok(&["stack", "init", "organization/proj/dev"]);
    assert_eq!(
        context.ok(&["stack", "-Q", "--show-name"]),
        "organization/proj/dev\n"
    );
    assert_eq!(
        context.fails(1, &["stack", "select", "dev", "--stack", "dev"]),
        "error: only one of --stack or argument stack name may be specified, not both\n"
    );
    assert_eq!(
        context.fails(1, &["stack", "init", "a/b"]),
        "error: organization name must be 'organization'\n"
    );
    assert_eq!(
        context.fails(1, &["stack", "init"]),
        "error: missing stack name\n"
    );
    let selected = context.run(&["stack", "select", "--create", "new"]);
    assert_eq!(
        (selected.code, selected.stderr.as_str()),
        (0, "Created stack 'new'\n")
    );
    assert_eq!(
        context.run(&["stack", "unselect"]).stderr,
        "Stack was unselected\n"
    );
}

#[test]
fn a_stack_of_another_project_leaves_the_local_settings_alone() {
    let context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["config", "set", "a", "1"]);
    let words = ["stack", "init", "organization/other/dev"];
    let mut elsewhere = context.command(&words, "");
    assert!(
        elsewhere
            .current_dir(context.root())
            .status()
            .unwrap()
            .success()
    );
    context.ok(&["stack", "rm", "organization/other/dev", "--yes"]);
    assert!(context.exists("Pulumi.dev.yaml"));
    assert_eq!(context.ok(&["stack", "--show-name"]), "dev\n");
}

#[test]
fn outputs_are_shown_in_every_form() {
    let context = with_outputs();
    assert_eq!(
        context.ok(&["stack", "output"]),
        "Current stack outputs (3):\n    OUTPUT  VALUE\n    number  42\n    object  {\"a\":\"x\",\"b\":[1,null,true]}\n    \
         text    two words\n"
    );
    assert_eq!(context.ok(&["stack", "output", "text"]), "two words\n");
    assert_eq!(
        context.ok(&["stack", "output", "object"]),
        "{\"a\":\"x\",\"b\":[1,null,true]}\n"
    );
    assert_eq!(
        context.ok(&["stack", "output", "text", "--json"]),
        "\"two words\"\n"
    );
    assert_eq!(
        context.ok(&["stack", "output", "--shell"]),
        "number=42\nobject=\\{\\\"a\\\":\\\"x\\\",\\\"b\\\":\\[1,null,true]}\ntext='two words'\n"
    );
    let all: Value = serde_json::from_str(&context.ok(&["stack", "output", "--json"])).unwrap();
    assert_eq!(
        all,
        json!({ "text": "two words", "number": 42, "object": { "a": "x", "b": [1, null, true] } })
    );
    assert_eq!(
        context.fails(1, &["stack", "output", "nothing"]),
        "error: current stack does not have output property 'nothing'\n"
    );
    assert_eq!(
        context.fails(1, &["stack", "output", "--json", "--shell"]),
        "error: only one of --json and --shell may be set\n"
    );
}

#[test]
fn a_stack_is_shown_with_its_resources() {
    let context = with_outputs();
    let text = context.ok(&["stack", "--show-urns"]);
    assert!(
        text.starts_with("Current stack is dev:\n    Managed by "),
        "{text}"
    );
    assert!(text.contains(&format!("\n       URN: {STACK}\n")), "{text}");
    assert!(
        text.contains("Current stack resources (1):\n    TYPE                 NAME\n"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&context.ok(&["stack", "--output", "json"])).unwrap();
    assert_eq!(json["resources"][0]["urn"], STACK);
    assert_eq!(json["outputs"]["number"], 42);
}

#[test]
fn a_new_stack_says_that_it_has_nothing() {
    let context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    assert!(
        context
            .ok(&["stack"])
            .contains("    No resources currently in this stack\n")
    );
    assert_eq!(context.ok(&["stack", "history", "--json"]), "[]\n");
    assert_eq!(
        context.ok(&["stack", "history"]),
        "Stack has never been updated\n"
    );
    assert_eq!(context.ok(&["stack", "output", "--json"]), "{}\n");
}

#[test]
fn what_was_exported_can_be_imported() {
    let context = with_outputs();
    let exported = context.ok(&["stack", "export"]);
    assert!(
        exported.starts_with("{\n    \"version\": 3,\n    \"deployment\": {\n"),
        "{exported}"
    );
    assert_eq!(context.ok(&["stack", "export", "--file", "out.json"]), "");
    assert_eq!(context.read("out.json"), exported);
    let imported = context.run_with(&["stack", "import"], &exported);
    assert_eq!(
        (imported.code, imported.stdout.as_str()),
        (0, "Import complete.\n")
    );
    assert_eq!(context.ok(&["stack", "export"]), exported);
    assert!(
        context
            .fails(1, &["stack", "export", "--version", "1"])
            .contains("has no update 1")
    );
}

#[test]
fn dangerous_deployments_are_refused() {
    let context = with_outputs();
    let exported = context.ok(&["stack", "export"]);
    context.write(
        "other.json",
        &exported.replace("urn:pulumi:dev", "urn:pulumi:prod"),
    );
    let error = context.fails(1, &["stack", "import", "--file", "other.json"]);
    assert_eq!(
        error,
        "error: 2 errors occurred:\n    1) resource 'urn:pulumi:prod::proj::pulumi:pulumi:Stack::proj-dev' is from a \
         different stack (prod != dev)\n    2) importing this file could be dangerous; rerun with --force to proceed anyway\n"
    );
    context.write("v9.json", r#"{"version": 9, "deployment": {}}"#);
    assert_eq!(
        context.fails(1, &["stack", "import", "--file", "v9.json"]),
        "error: the stack 'dev' is newer than what this version of the Plumb CLI understands. Please update your version \
         of the Plumb CLI\n"
    );
    context.write("no.json", "hello");
    assert_eq!(
        context.fails(1, &["stack", "import", "--file", "no.json"]),
        "error: invalid character 'h' looking for beginning of value\n"
    );
}

#[test]
fn a_stack_can_be_renamed() {
    let context = with_outputs();
    context.ok(&["config", "set", "a", "1"]);
    assert_eq!(
        context.ok(&["stack", "rename", "prod"]),
        "Renamed dev to prod\n"
    );
    assert!(context.exists("Pulumi.prod.yaml") && !context.exists("Pulumi.dev.yaml"));
    assert!(
        context
            .ok(&["stack", "export"])
            .contains("urn:pulumi:prod::proj::pulumi:pulumi:Stack::proj-prod")
    );
    assert_eq!(context.ok(&["config", "get", "a"]), "1\n");
    context.ok(&["stack", "init", "dev", "--no-select"]);
    assert_eq!(
        context.fails(1, &["stack", "rename", "dev"]),
        "error: a stack named dev already exists\n"
    );
}

#[test]
fn a_stack_with_resources_is_not_removed_without_force() {
    let context = with_outputs();
    context.import(&json!([
        { "urn": STACK, "custom": false, "type": "pulumi:pulumi:Stack" },
        { "urn": "urn:pulumi:dev::proj::my:index:Component::c", "custom": false, "type": "my:index:Component", "parent": STACK },
    ]));
    assert!(
        context
            .fails(1, &["stack", "rm", "--yes"])
            .starts_with("error: 'dev' still has resources; removal rejected.")
    );
    assert_eq!(
        context.fails(1, &["stack", "rm"]),
        "error: non-interactive mode requires --yes flag\n"
    );
    context.ok(&["stack", "rm", "--yes", "--force"]);
}

#[test]
fn tags_are_kept() {
    let context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    assert_eq!(context.ok(&["stack", "tag", "ls", "--json"]), "{}\n");
    context.ok(&["stack", "tag", "set", "a longer name", &"x".repeat(300)]);
    context.ok(&["stack", "tag", "rm", "a longer name"]);
    assert_eq!(context.ok(&["stack", "tag", "set", "team", "blue"]), "");
    assert_eq!(context.ok(&["stack", "tag", "get", "team"]), "blue\n");
    let tags: Value = serde_json::from_str(&context.ok(&["stack", "tag", "ls", "--json"])).unwrap();
    assert_eq!(tags, json!({ "team": "blue" }));
    assert_eq!(
        context.ok(&["stack", "ls", "--tag", "team=red"]),
        "NAME  LAST UPDATE  RESOURCE COUNT\n"
    );
    context.ok(&["stack", "tag", "rm", "team"]);
    assert_eq!(
        context.fails(1, &["stack", "tag", "get", "team"]),
        "error: stack tag 'team' not found for stack 'dev'\n"
    );
}

#[test]
fn the_graph_is_written() {
    let context = with_outputs();
    let graph = format!("strict digraph {{\n    Resource0 [label=\"{STACK}\"];\n}}\n");
    assert_eq!(context.ok(&["stack", "graph", "g.dot"]), "");
    assert_eq!(context.read("g.dot"), graph);
    assert_eq!(context.ok(&["stack", "graph", "-"]), graph);
}

#[test]
fn a_store_of_the_official_program_opens() {
    let mut context =
        TestContext::new().with("PULUMI_CONFIG_PASSPHRASE", "correct horse battery staple");
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/vectors/diy-sample/dot-pulumi"
    );
    copy(
        std::path::Path::new(sample),
        &context.store().join(".pulumi"),
    );
    let listed: Value = serde_json::from_str(&context.ok(&["stack", "ls", "--json"])).unwrap();
    let names: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|stack| stack["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["dev", "zipped"]);
    assert_eq!(context.ok(&["stack", "select", "dev"]), "");
    assert!(
        context
            .ok(&["stack", "output"])
            .contains("    password  [secret]\n")
    );
    assert_ne!(
        context.ok(&["stack", "output", "password", "--show-secrets"]),
        "[secret]\n"
    );
    assert_eq!(
        context
            .ok(&["stack", "history", "--json"])
            .matches("\"kind\"")
            .count(),
        1
    );
    let urn = "urn:pulumi:dev::proj::random:index/randomString:RandomString::rs";
    let locked = context.fails(1, &["state", "protect", urn, "--yes"]);
    assert!(
        locked.starts_with("error: the stack is currently locked by 1 lock(s)."),
        "{locked}"
    );
    assert_eq!(
        context.ok(&["cancel", "--yes"]),
        "The currently running update for 'dev' has been canceled!\n"
    );
    assert_eq!(
        context.ok(&["state", "protect", urn, "--yes"]),
        "1 resources protected\n"
    );
    context.set("PULUMI_CONFIG_PASSPHRASE", Some("wrong"));
    assert!(
        context
            .fails(1, &["stack", "output", "--show-secrets"])
            .contains("incorrect passphrase")
    );
}

/// Copies a folder; read-only files become writable.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::write(&target, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}
