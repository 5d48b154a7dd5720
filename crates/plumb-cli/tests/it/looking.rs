//! Commands that inspect a stack: why, drift, doctor, history, recorded events.

use std::fs;

use serde_json::Value;

use crate::context::TestContext;

const PROGRAM: &str = "
name: proj
runtime: yaml
resources:
  text: {type: 'random:RandomString', properties: {length: LENGTH}}
";

fn stack(length: &str) -> TestContext {
    let context = TestContext::without_project();
    context.write("Pulumi.yaml", &PROGRAM.replace("LENGTH", length));
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["up", "--yes", "--skip-preview"]);
    context
}

fn text_of(context: &TestContext, words: &[&str]) -> String {
    let export: Value = serde_json::from_str(&context.ok(words)).unwrap();
    let resources = export["deployment"]["resources"].as_array().unwrap();
    let text = resources
        .iter()
        .find(|it| it["type"] == "random:index/randomString:RandomString");
    text.unwrap()["outputs"]["result"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn why_says_what_a_preview_would_replace() {
    let context = stack("4");
    context.write("Pulumi.yaml", &PROGRAM.replace("LENGTH", "5"));
    let ran = context.run(&["preview"]);
    // Only users at a terminal get the explanation with the preview.
    assert_eq!(ran.stderr, "");
    let why = context.ok(&["why", "text"]);
    assert!(
        why.contains("it would be replaced, because\n  - `length` changes, which its provider cannot do in place\n")
            && why.contains("  ~ length (forces replacement): 4 => 5\n"),
        "{why}"
    );
    let error = context.fails(1, &["why", "txt"]);
    assert!(
        error.contains("did not look at a resource 'txt'\nDid you mean:\n"),
        "{error}"
    );
}

#[test]
fn why_needs_a_run_and_says_so() {
    let context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    let ran = context.run(&["why", "x"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            1,
            "error: no preview or update of stack 'dev' is known on this machine; run `plumb preview` first\n"
        )
    );
}

#[test]
fn the_past_can_be_exported_and_restored() {
    let context = stack("4");
    let first = text_of(&context, &["stack", "export"]);
    context.write("Pulumi.yaml", &PROGRAM.replace("LENGTH", "5"));
    context.ok(&["up", "--yes", "--skip-preview"]);
    assert_ne!(text_of(&context, &["stack", "export"]), first);
    assert_eq!(
        text_of(&context, &["stack", "export", "--version", "1"]),
        first
    );
    assert!(context.ok(&["history"]).contains("Version: 2\n"));
    let difference = context.ok(&["history", "diff", "1"]);
    assert!(
        difference.contains("(replace)") && difference.contains("~ length"),
        "{difference}"
    );
    assert!(
        context
            .fails(1, &["state", "restore", "1"])
            .contains("requires --yes")
    );
    context.ok(&["state", "restore", "1", "--yes"]);
    assert_eq!(text_of(&context, &["stack", "export"]), first);
    for version in ["3", "0", "x"] {
        let error = context.fails(1, &["state", "restore", version, "--yes"]);
        assert!(error.contains("`plumb stack history` shows"), "{error}");
    }
}

#[test]
fn the_graph_can_be_a_picture() {
    let context = stack("4");
    context.ok(&["stack", "graph", "graph.svg"]);
    let picture = context.read("graph.svg");
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    assert!(picture.contains(">text</text>") && picture.contains("<path "));
    context.ok(&["stack", "graph", "--format", "html", "graph"]);
    let page = context.read("graph");
    assert!(page.starts_with("<!doctype html>") && page.contains(">text</text>"));
    assert_eq!(
        context.ok(&["stack", "graph", "--format", "html", "-"]),
        page
    );
    let error = context.fails(1, &["stack", "graph", "--open", "graph.dot"]);
    assert!(
        error.contains("only a picture or a page can be opened"),
        "{error}"
    );
    let error = context.fails(1, &["stack", "graph", "--format", "png", "x"]);
    assert!(
        error.contains("valid values are dot, svg and html"),
        "{error}"
    );
}

#[test]
fn a_preview_can_be_a_page() {
    let context = stack("4");
    context.write("Pulumi.yaml", &PROGRAM.replace("LENGTH", "5"));
    let ran = context.run(&["preview", "--html", "preview.html"]);
    assert_eq!(ran.stderr, "Wrote the preview to `preview.html`\n");
    let page = context.read("preview.html");
    assert!(
        page.contains("data-op=\"replace\"") && page.contains("length (forces replacement)"),
        "{page}"
    );
    // The page is made whatever else is printed, and after failures too.
    context.write("Pulumi.yaml", &PROGRAM.replace("LENGTH", "nonsense"));
    let ran = context.run(&["preview", "--json", "--html", "failed.html"]);
    assert_ne!(ran.code, 0);
    let page = context.read("failed.html");
    assert!(
        page.contains("The preview failed.") && page.contains("Cannot assign"),
        "{page}"
    );
    let error = context.fails(1, &["preview", "--html", "no/such/folder.html"]);
    assert!(
        error.contains("open no/such/folder.html: no such file"),
        "{error}"
    );
}

#[test]
fn the_doctor_finds_locks_missing_tools_and_wrong_passphrases() {
    let mut context = stack("4").with_passphrase();
    assert!(context.ok(&["doctor"]).ends_with("\nNothing is wrong.\n"));
    context.ok(&["config", "set", "--secret", "s", "hush"]);
    context.ok(&["up", "--yes", "--skip-preview"]);
    let locks = context.store().join(".pulumi/locks/organization/proj/dev");
    fs::create_dir_all(&locks).unwrap();
    let lock =
        r#"{"pid":1,"username":"u","hostname":"elsewhere","timestamp":"2026-01-02T03:04:05Z"}"#;
    fs::write(locks.join("0.json"), lock).unwrap();
    context.write("Pulumi.yaml", "name: proj\nruntime: dotnet\n");
    context.set("PULUMI_CONFIG_PASSPHRASE", Some("wrong"));
    let ran = context.run(&["doctor"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    for words in [
        "u@elsewhere",
        "fix: wait for the update to end",
        "dotnet is not on the PATH",
        "incorrect passphrase",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
}

#[test]
fn drift_is_found_and_changes_nothing() {
    let context = TestContext::without_project();
    let program = "
name: proj
runtime: yaml
resources:
  file: {type: 'command:local:Command', properties: {create: 'echo one'}}
";
    context.write("Pulumi.yaml", program);
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["up", "--yes", "--skip-preview"]);
    let before = context.ok(&["stack", "export"]);
    assert!(context.ok(&["drift"]).ends_with("Nothing has drifted.\n"));
    assert_eq!(context.ok(&["stack", "export"]), before);
}

#[test]
fn recorded_events_can_be_shown_in_every_way() {
    let context = stack("4").with("PULUMI_DEBUG_COMMANDS", "true");
    context.write("Pulumi.yaml", &PROGRAM.replace("LENGTH", "5"));
    let shown = context.ok(&["up", "--yes", "--skip-preview", "--event-log", "log.jsonl"]);
    let without_times = |text: &str| -> String {
        let lines = text
            .lines()
            .map(|line| line.split(" (").next().unwrap_or_default());
        lines
            .filter(|line| !line.starts_with("Duration"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(
        without_times(&context.ok(&["replay-events", "log.jsonl"])),
        without_times(&shown)
    );
    let tree = context.ok(&["replay-events", "--tree", "log.jsonl"]);
    assert!(
        tree.contains("└─ random:index:RandomString  text  "),
        "{tree}"
    );
    let diff = context.ok(&["replay-events", "--diff", "--explain", "log.jsonl"]);
    assert!(
        diff.contains("length (forces replacement): 4 => 5"),
        "{diff}"
    );
    let again = context.ok(&["replay-events", "--json", "log.jsonl"]);
    assert_eq!(again, context.read("log.jsonl"));
    let result = context.ok(&["replay-events", "--output", "json", "log.jsonl"]);
    assert!(result.starts_with(r#"{"result":"succeeded""#), "{result}");
    context.write("broken.jsonl", "{}\n");
    let error = context.fails(1, &["replay-events", "broken.jsonl"]);
    assert!(
        error.contains("broken.jsonl, event 1, is no engine event"),
        "{error}"
    );
}

#[test]
fn logs_of_continuous_integration_have_groups_and_annotations() {
    let context = stack("4").with("GITHUB_ACTIONS", "true");
    let broken = "name: proj\nruntime: yaml\nresources:\n  b: {type: 'command:local:Command', properties: {create: 'exit 3'}}\n";
    context.write("Pulumi.yaml", broken);
    let ran = context.run(&["up", "--yes", "--skip-preview"]);
    let text = &ran.stdout;
    assert_ne!(ran.code, 0);
    let at = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("{words} is missing: {text}"))
    };
    assert!(
        text.starts_with("::group::Updating (dev)\nUpdating (dev):\n"),
        "{text}"
    );
    assert!(at("::endgroup::") < at("Diagnostics:"));
    at("::error title=command%3Alocal%3ACommand (b)::");
    let ran = context.run(&["stack", "select", "nowhere"]);
    assert!(
        ran.stderr
            .starts_with("::error title=plumb::no stack named 'nowhere' found\n"),
        "{}",
        ran.stderr
    );
}
