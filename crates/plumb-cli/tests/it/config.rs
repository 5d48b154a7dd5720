//! `config` and the verbs below it.

use serde_json::{Value, json};

use crate::context::TestContext;

fn with_stack() -> TestContext {
    started(TestContext::new())
}

fn started(context: TestContext) -> TestContext {
    context.ok(&["stack", "init", "dev"]);
    context
}

#[test]
fn settings_are_set_shown_and_removed() {
    let context = started(TestContext::new().with_passphrase());
    assert_eq!(context.ok(&["config"]), "KEY  VALUE\n");
    let set = context.run(&["config", "set", "plain", "value"]);
    assert_eq!(
        (set.code, set.stdout.as_str(), set.stderr.as_str()),
        (0, "", "")
    );
    context.ok(&["config", "set", "--secret", "hidden", "s3cret"]);
    context.ok(&["config", "set", "--path", "data.list[0]", "one"]);
    context.ok(&["config", "set", "--path", "data.list[1].k", "2"]);
    context.ok(&["config", "set", "--path", "--secret", "data.token", "t0k"]);
    context.ok(&["config", "set", "lab:region", "eu"]);
    context.ok(&["config", "set", "--type", "int", "number", "7"]);
    assert_eq!(
        context.ok(&["config"]),
        "KEY         VALUE\nlab:region  eu\ndata        {\"list\":[\"one\",{\"k\":2}],\"token\":\"[secret]\"}\n\
         hidden      [secret]\nnumber      7\nplain       value\n"
    );
    let shown: Value =
        serde_json::from_str(&context.ok(&["config", "--json", "--show-secrets"])).unwrap();
    assert_eq!(
        shown["proj:hidden"],
        json!({ "value": "s3cret", "secret": true })
    );
    assert_eq!(
        shown["proj:data"]["objectValue"],
        json!({ "list": ["one", { "k": 2 }], "token": "t0k" })
    );
    let hidden: Value = serde_json::from_str(&context.ok(&["config", "--json"])).unwrap();
    assert_eq!(hidden["proj:data"], json!({ "secret": true }));
    assert_eq!(
        context.ok(&["config", "get", "data"]),
        "{\"list\":[\"one\",{\"k\":2}],\"token\":\"t0k\"}\n"
    );
    assert_eq!(
        context.ok(&["config", "get", "--path", "data.list[1].k"]),
        "2\n"
    );
    let one: Value =
        serde_json::from_str(&context.ok(&["config", "get", "--json", "hidden"])).unwrap();
    assert_eq!(one, json!({ "value": "s3cret", "secret": true }));
    context.ok(&["config", "rm-all", "plain", "hidden", "lab:region"]);
    context.ok(&["config", "rm", "--path", "data.list"]);
    context.ok(&["config", "rm", "never"]);
    assert_eq!(
        context.ok(&["config"]),
        "KEY     VALUE\ndata    {\"token\":\"[secret]\"}\nnumber  7\n"
    );
}

#[test]
fn the_settings_file_keeps_what_people_wrote() {
    let context = with_stack();
    context.write(
        "Pulumi.dev.yaml",
        "# top\nconfig:\n  proj:a: 1 # one\n  proj:b: \"two\"\nother: [1]\n",
    );
    context.ok(&["config", "set", "b", "three"]);
    assert_eq!(
        context.read("Pulumi.dev.yaml"),
        "# top\nconfig:\n  proj:a: \"1\" # one\n  proj:b: \"three\"\nother: [1]\n"
    );
}

#[test]
fn mistakes_have_the_known_texts() {
    let context = with_stack();
    assert_eq!(
        context.fails(1, &["config", "get", "nothing"]),
        "error: configuration key 'nothing' not found for stack 'dev'\n"
    );
    assert_eq!(
        context.fails(1, &["config", "set", "a:b:c", "x"]),
        "error: invalid configuration key: could not parse a:b:c as a configuration key (configuration keys should be of \
         the form `<namespace>:<name>`)\n"
    );
    assert_eq!(
        context.fails(6, &["config", "cp", "--dest", "dev2"]),
        "error: no stack named 'dev2' found\n"
    );
    assert!(
        context
            .fails(1, &["config", "set", "--path", "root[", "x"])
            .starts_with(
                "error: could not set config: invalid config key path: missing closing bracket"
            )
    );
    assert!(
        context
            .fails(1, &["config", "set", "dbPassword", "aB3$kf92LmQx8z"])
            .contains("looks like a secret")
    );
    assert_eq!(
        context.fails(1, &["config", "set-all", "--json", "{}", "--path"]),
        "error: the --json option cannot be used with the --plaintext, --secret or --path options\n"
    );
    assert!(
        context
            .fails(1, &["config", "set", "--secret", "--plaintext", "a", "b"])
            .starts_with("error: if any flags in the group")
    );
}

#[test]
fn values_can_come_from_standard_input() {
    let context = with_stack();
    assert_eq!(
        context
            .run_with(&["config", "set", "a"], "from stdin\n")
            .code,
        0
    );
    assert_eq!(context.ok(&["config", "get", "a"]), "from stdin\n");
    context.run_with(&["config", "set", "a", "--raw"], "raw\n");
    assert_eq!(context.ok(&["config", "get", "a"]), "raw\n\n");
    context.ok(&["config", "set", "a", "--plaintext", "--", "-1"]);
    assert_eq!(context.ok(&["config", "get", "a"]), "-1\n");
}

#[test]
fn many_settings_are_set_at_once() {
    let context = started(TestContext::new().with_passphrase());
    context.ok(&[
        "config",
        "set-all",
        "--plaintext",
        "a=1",
        "--secret",
        "b=2",
        "--plaintext",
        "\"c=d\"=3",
    ]);
    context.ok(&[
        "config",
        "set-all",
        "--path",
        "--plaintext",
        "o.x=1",
        "--plaintext",
        "o.y[0]=true",
    ]);
    assert_eq!(context.ok(&["config", "get", "c=d"]), "3\n");
    assert_eq!(
        context.ok(&["config", "get", "o"]),
        "{\"x\":1,\"y\":[true]}\n"
    );
    let json = context.ok(&["config", "--json", "--show-secrets"]);
    context.ok(&["stack", "init", "copy"]);
    context.ok(&["config", "set-all", "--json", &json]);
    assert_eq!(context.ok(&["config", "--json", "--show-secrets"]), json);
}

#[test]
fn settings_are_copied_and_encrypted_anew() {
    let context = started(TestContext::new().with_passphrase());
    context.ok(&["config", "set-all", "--plaintext", "a=1", "--secret", "b=2"]);
    context.ok(&["stack", "init", "dev2"]);
    context.ok(&["config", "cp", "--stack", "dev", "--dest", "dev2"]);
    assert_eq!(context.ok(&["config", "get", "b"]), "2\n");
    context.ok(&["stack", "init", "dev3", "--copy-config-from", "dev"]);
    assert_eq!(
        context.ok(&["config", "get", "b", "--stack", "dev3"]),
        "2\n"
    );
}

#[test]
fn the_project_gives_defaults() {
    let context = TestContext::without_project();
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nconfig:\n  size: 3\n  aws:region:\n    value: eu\n",
    );
    context.ok(&["stack", "init", "dev"]);
    assert_eq!(
        context.ok(&["config"]),
        "KEY         VALUE\naws:region  eu\nsize        3\n"
    );
    assert_eq!(context.ok(&["config", "get", "size"]), "3\n");
}

#[test]
fn file_stores_have_no_environments() {
    let context = with_stack();
    context.write("Pulumi.dev.yaml", "environment:\n  - shared\n");
    for words in [
        "config env ls --json",
        "config env add x --yes",
        "config",
        "config get a",
        "preview",
        "destroy --yes",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let error = context.fails(1, &words);
        assert!(error.contains("does not support environments"), "{error}");
    }
    context.ok(&["config", "set", "a", "1"]);
}
