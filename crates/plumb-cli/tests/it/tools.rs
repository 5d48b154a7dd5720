//! Other commands: packages, plugins, logs, events, documents, completion.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::context::TestContext;

fn yaml_project() -> TestContext {
    let context = TestContext::without_project().with_passphrase();
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nresources:\n  word:\n    type: random:RandomString\n    properties: {length: 3}\n",
    );
    context.ok(&["stack", "init", "dev"]);
    context
}

const SCHEMA: &str = r#"{"name": "lab", "version": "1.2.3", "resources": {"lab:index:Thing": {}}}"#;

#[test]
fn packages_are_added_to_projects() {
    let context = yaml_project();
    context.write("schema.json", SCHEMA);
    assert_eq!(
        context.ok(&["package", "add", "./schema.json"]),
        "Added package lab\n"
    );
    assert!(
        context
            .read("Pulumi.yaml")
            .contains("packages:\n  lab: ./schema.json\n"),
        "{}",
        context.read("Pulumi.yaml")
    );

    // A parameterized package gets a declaration for YAML programs.
    let parameterized = r#"{"name": "sub", "version": "0.5.0", "parameterization": {"baseProvider":
        {"name": "base", "version": "1.0.0"}, "parameter": "eA=="}, "resources": {"sub:index:Thing": {}}}"#;
    context.write("sub.json", parameterized);
    let added = context.ok(&["package", "add", "./sub.json"]);
    assert_eq!(
        added,
        "Successfully generated an SDK for the sub package at sdks/sub\nAdded package sub\n"
    );
    let declaration = context.read("sdks/sub/sub-0.5.0.yaml");
    assert!(
        declaration.contains("name: base") && declaration.contains("value: eA=="),
        "{declaration}"
    );

    let outside = TestContext::without_project();
    outside.write("schema.json", SCHEMA);
    assert!(
        outside
            .fails(1, &["package", "add", "./schema.json"])
            .contains("--language")
    );
    outside.ok(&["package", "add", "./schema.json", "--language", "nodejs"]);
    assert!(outside.exists("sdks/lab/thing.ts"));
    assert!(
        context
            .fails(1, &["package", "add", "./schema.json", "--language", "go"])
            .contains("--language is for use outside a Pulumi project or plugin")
    );
}

#[test]
fn packages_are_added_to_plugins() {
    let context = TestContext::without_project();
    context.write("PulumiPlugin.yaml", "runtime: yaml\n");
    context.write("schema.json", SCHEMA);
    assert_eq!(
        context.ok(&["package", "add", "./schema.json"]),
        "Added package lab\n"
    );
    assert_eq!(
        context.read("PulumiPlugin.yaml"),
        "runtime: yaml\npackages:\n  lab: ./schema.json\n"
    );

    // The innermost one applies; two in one folder are an error.
    context.write("PulumiPlugin.yaml", "runtime: yaml\n");
    context.write("Pulumi.yaml", "name: p\nruntime: yaml\n");
    assert!(
        context
            .fails(1, &["package", "add", "./schema.json"])
            .contains("detected both PulumiPlugin.yaml and Pulumi.yaml in")
    );
}

#[test]
fn mappings_that_there_are_not_are_no_success() {
    let context = TestContext::without_project();
    assert_eq!(
        context.fails(1, &["package", "get-mapping", "terraform", "random"]),
        "error: no mapping of terraform packages to random was found: the provider has none\n"
    );
}

#[cfg(unix)]
#[test]
fn plugins_run_with_the_words_behind_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let context = TestContext::without_project();
    context.write("tool", "#!/bin/sh\necho \"got $*\"\nexit 7\n");
    let path = context.project().join("tool");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = context.run(&["plugin", "run", "./tool", "--", "--flag", "word"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (7, "got --flag word\n"),
        "{}",
        ran.stderr
    );
    context.ok(&[
        "plugin", "install", "tool", "mine", "1.0.0", "--file", "tool",
    ]);
    let ran = context.run(&["plugin", "run", "mine@1.0.0", "word"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (7, "got word\n"),
        "{}",
        ran.stderr
    );
    assert!(
        context
            .fails(1, &["plugin", "run", "other"])
            .contains("other")
    );
}

#[test]
fn log_files_are_listed_shown_and_removed() {
    let context = yaml_project();
    assert_eq!(context.ok(&["logs", "ls", "--json"]), "[]\n");
    context.ok(&["stack", "ls", "-v", "9"]);
    let listed: Value = serde_json::from_str(&context.ok(&["logs", "list", "--json"])).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(context.run(&["logs", "decrypt", "--latest"]).code, 0);
    assert!(context.fails(1, &["logs", "remove"]).contains("--all"));
    assert_eq!(
        context.ok(&["logs", "remove", "--all", "--yes"]),
        "Removed 1 log files\n"
    );
    for (level, warns) in [("9", false), ("10", true), ("11", true)] {
        let wordy = context.run(&["stack", "ls", "-v", level, "--logtostderr"]);
        let warning = format!("warning: log level {level} may write secrets to the log\n");
        assert_eq!(
            wordy.stderr.starts_with(&warning),
            warns,
            "{}",
            wordy.stderr
        );
    }
    assert!(
        context
            .ok(&["logs"])
            .starts_with("Collecting logs for stack dev since 2")
    );
    assert_eq!(context.ok(&["logs", "--json"]), "[]\n");
    let followed = context.run(&["logs", "--follow", "--since", "2h30m"]);
    assert_eq!(followed.code, 0);
    assert!(followed.stderr.contains("there is nothing to follow"));
    let refused = context.fails(1, &["logs", "--since", "yesterday"]);
    assert!(
        refused.contains("failed to parse argument to '--since' as duration or timestamp"),
        "{refused}"
    );
}

/// Logs of cloud functions are an error, because an empty list would mean that a function has
/// logged nothing.
#[test]
fn logs_of_clouds_are_refused_and_no_empty_list() {
    let context = yaml_project();
    let resource = |kind: &str, name: &str, parent: Option<&str>| json!({ "urn": format!("urn:pulumi:dev::proj::{kind}::{name}"), "type": kind, "custom": false, "parent": parent });
    let service = "urn:pulumi:dev::proj::my:index:Service::site";
    let deployment = json!({ "version": 3, "deployment": { "manifest": { "time": "0001-01-01T00:00:00Z" }, "resources": [
        resource("my:index:Service", "site", None),
        resource("my:index:Thing", "plain", None),
        resource("aws:lambda/function:Function", "handler", Some(service)),
    ] } });
    context.write("state.json", &deployment.to_string());
    context.ok(&["stack", "import", "--file", "state.json"]);

    for resource in [
        None,
        Some("site"),
        Some(service),
        Some("aws:lambda/function:Function::handler"),
    ] {
        let named = resource.map(|name| ["--resource", name]);
        let args: Vec<&str> = ["logs", "--json"]
            .into_iter()
            .chain(named.into_iter().flatten())
            .collect();
        let refused = context.fails(1, &args);
        assert!(
            refused.contains(
                "reading the logs of handler (aws:lambda/function:Function) is not supported yet"
            ),
            "{args:?}: {refused}"
        );
    }
    assert_eq!(
        context.ok(&["logs", "--json", "--resource", "plain"]),
        "[]\n"
    );
    assert!(
        context
            .run(&["logs", "--resource", "my:index:Thing::plain"])
            .stderr
            .contains("No resource that was asked for has logs")
    );
}

#[test]
fn an_event_log_is_shown_again() {
    let context = yaml_project().with("PULUMI_DEBUG_COMMANDS", "true");
    let text = context.ok(&[
        "up",
        "--yes",
        "--skip-preview",
        "--event-log",
        "events.jsonl",
    ]);
    let again = context.ok(&["replay-events", "update", "events.jsonl"]);
    let last = |text: &str| text.split("\nResources:").nth(1).map(ToOwned::to_owned);
    assert_eq!(last(&again), last(&text), "{again}");
    assert!(
        again.starts_with("Updating (dev):") || again.contains("RandomString word created"),
        "{again}"
    );
    let lines = context.ok(&["replay-events", "update", "events.jsonl", "--json"]);
    assert_eq!(
        lines.lines().count(),
        context.read("events.jsonl").lines().count()
    );
    context.ok(&["up", "--yes", "--skip-preview", "--event-log", "same.jsonl"]);
    let filtered = context.run_with(
        &["events", "filter", "--changes-only"],
        &context.read("same.jsonl"),
    );
    assert!(
        !filtered.stdout.contains("resourcePreEvent") && filtered.stdout.contains("summaryEvent")
    );
    assert!(
        context
            .fails(1, &["replay-events", "dance", "events.jsonl"])
            .contains("unrecognized update kind")
    );
    context.write("bad.jsonl", "{}\n");
    assert!(
        context
            .fails(1, &["replay-events", "update", "bad.jsonl"])
            .contains("bad.jsonl, event 1, is no engine event")
    );
}

#[test]
fn replays_of_a_named_kind_know_nothing_of_maps_with_secrets() {
    let context = TestContext::without_project().with("PULUMI_DEBUG_COMMANDS", "true");
    let state = |word: &str| {
        let secret = r#"{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "[secret]"}"#;
        format!(
            r#"{{"type": "lab:index:Thing", "urn": "urn:pulumi:dev::p::lab:index:Thing::a", "custom": true, "id": "1",
            "parent": "", "provider": "", "inputs": {{"word": "{word}", "key": {secret}}}, "outputs": {{}}}}"#
        )
    };
    let event = format!(
        r#"{{"sequence": 1, "timestamp": 1, "resourcePreEvent": {{"metadata": {{"op": "update", "provider": "",
        "urn": "urn:pulumi:dev::p::lab:index:Thing::a", "type": "lab:index:Thing", "logical": true, "old": {}, "new": {}}}}}}}"#,
        state("before"),
        state("after")
    );
    context.write("log.json", &event);
    let shown = |words: &[&str]| context.ok(&[&["replay-events", "--diff"], words].concat());
    let named = shown(&["update", "log.json"]);
    assert!(
        named.contains("lab:index:Thing: (update)") && !named.contains("word"),
        "{named}"
    );
    let found_out = shown(&["log.json"]);
    assert!(found_out.contains("~ word"), "{found_out}");
}

#[test]
fn the_command_line_describes_itself() {
    let context = TestContext::without_project();
    context.ok(&["gen-markdown", "md"]);
    assert!(
        context
            .read("md/plumb_up.md")
            .contains("| `-y`, `--yes` | bool |")
    );
    context.ok(&["gen-man", "man"]);
    assert!(
        context
            .read("man/plumb-stack-ls.1".replace("ls", "list").as_str())
            .starts_with(".TH \"PLUMB-STACK-LIST\" 1\n")
    );
    for page in ["md/plumb_up.md", "man/plumb-stack-list.1"] {
        assert!(!context.read(page).contains("pulumi "), "{page}");
    }
    let spec: Value = serde_json::from_str(&context.ok(&["generate-cli-spec"])).unwrap();
    assert_eq!(spec["commands"]["stack"]["executable"], true);
    assert_eq!(
        spec["commands"]["up"]["flags"]["target"]["repeatable"],
        true
    );
    assert_eq!(
        spec["commands"]["config"]["commands"]["set"]["arguments"]["requiredArguments"],
        1
    );
    context.write(
        "overrides.json",
        r#"{"version": 1, "scopes": [
            {"path": [], "propagate": true, "flags": {"yes": {"omit": true, "preset": true}, "cwd": {"omit": true}}},
            {"path": ["stack"], "propagate": true, "exclude": true},
            {"path": ["config"], "exclude": true},
            {"path": ["up"], "flags": {"yes": {"preset": false}, "cwd": {"preset": "here"}, "diff": {"preset": true}}}
        ]}"#,
    );
    let changed: Value =
        serde_json::from_str(&context.ok(&["generate-cli-spec", "--overrides", "overrides.json"]))
            .unwrap();
    let commands = changed["commands"].as_object().unwrap();
    assert!(!commands.contains_key("stack") && !commands.contains_key("config"));
    assert_eq!(changed["flags"]["cwd"]["omit"], true);
    let flags = &commands["up"]["flags"];
    assert_eq!(flags["yes"]["omit"], true);
    assert_eq!(flags["yes"]["preset"], false);
    assert_eq!(flags["cwd"]["omit"], true, "{}", flags["cwd"]);
    assert_eq!(flags["cwd"]["preset"], "here");
    assert_eq!(flags["diff"]["preset"], true);
    assert_eq!(commands["destroy"]["flags"]["yes"]["preset"], true);
    let unchanged = &spec["commands"]["import"]["flags"]["file"];
    assert_eq!(&commands["import"]["flags"]["file"], unchanged);
    let variables: Value = serde_json::from_str(
        &context
            .with("PULUMI_OPTION_COLOR", "never")
            .ok(&["about", "env", "--json"]),
    )
    .unwrap();
    let variable = variables
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["variable"] == "PULUMI_OPTION_COLOR")
        .unwrap();
    assert_eq!(variable["description"], "Default of the flag --color");
}

#[test]
fn words_are_completed_from_what_there_is() {
    let context = yaml_project();
    context.ok(&["stack", "init", "prod"]);
    context.ok(&["config", "set", "size", "3"]);
    let complete = |words: &[&str]| context.ok(&[&["__complete", "--"], words].concat());
    assert_eq!(complete(&["stack", "select", ""]), "dev\t\nprod\t\n:none\n");
    assert_eq!(complete(&["stack", "select", "p"]), "prod\t\n:none\n");
    assert_eq!(complete(&["up", "--stack=d"]), "--stack=dev\t\n:none\n");
    assert_eq!(complete(&["config", "get", "s"]), "size\t\n:none\n");
    assert!(
        complete(&["destr"]).starts_with("destroy\tDestroy all existing resources in the stack\n")
    );
    assert_eq!(complete(&["up", "--plan", ""]), ":files\n");
    context.ok(&["up", "--yes", "--skip-preview"]);
    context.ok(&["stack", "select", "prod"]);
    assert!(complete(&["state", "delete", ""]).contains("::word\t\n"));
    // Outside of a project there are no completions, and no error.
    let outside = TestContext::without_project();
    assert_eq!(
        outside.ok(&["__complete", "--", "config", "get", ""]),
        ":none\n"
    );
}

/// Runs the completion script in the one shell that is always installed.
#[test]
fn bash_completes() {
    let context = yaml_project();
    context.ok(&["stack", "init", "prod"]);
    let script = context.ok(&["gen-completion", "bash"]);
    let binary = env!("CARGO_BIN_EXE_plumb");
    let driver = format!(
        "plumb() {{ {binary} \"$@\"; }}\n{script}\nCOMP_LINE='plumb stack select p'; COMP_POINT=${{#COMP_LINE}}\n\
         COMP_WORDS=(plumb stack select p); COMP_CWORD=3\n_plumb_complete; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n\
         COMP_LINE='plumb up --stack='; COMP_POINT=${{#COMP_LINE}}\nCOMP_WORDS=(plumb up --stack =); COMP_CWORD=3\n\
         _plumb_complete; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    );
    context.write("driver.sh", &driver);
    let output = Command::new("bash")
        .arg("driver.sh")
        .current_dir(context.project())
        .env("HOME", context.home())
        .env(
            "PULUMI_BACKEND_URL",
            format!("file://{}", context.store().display()),
        )
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "prod\ndev\nprod\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[cfg(unix)]
#[test]
fn a_watched_stack_follows_its_program() {
    let context = yaml_project();
    let mut child = context.start(&["watch"]);
    let wait = |what: &str| {
        let began = Instant::now();
        while !context.ok(&["stack", "output", "--json"]).contains(what) {
            assert!(
                began.elapsed() < Duration::from_mins(1),
                "{what} never came"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let program = |value: &str| {
        context.write(
            "Pulumi.yaml",
            &format!("name: proj\nruntime: yaml\noutputs:\n  value: {value}\n"),
        );
    };
    program("first");
    wait("first");
    program("the second");
    wait("the second");
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_mins(1), "it does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
    let ran = context.ended(child);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("Waiting for changes..."),
        "{}",
        ran.stdout
    );
    let nowhere = context.fails(1, &["watch", "--path", "nowhere"]);
    assert!(
        nowhere.contains("there is nothing to watch at"),
        "{nowhere}"
    );
}

#[test]
fn what_has_no_console_says_where_the_state_is() {
    let context = yaml_project();
    let told = context.ok(&["console"]);
    assert!(
        told.contains("/dev.json") && told.contains("which has no console"),
        "{told}"
    );
    assert_eq!(
        context.ok(&["console", "--stack", "none"]),
        "Stack 'none' does not exist. Run `plumb stack init` to create a new stack.\n"
    );
}

#[test]
fn what_is_not_built_says_what_works_instead() {
    let context = TestContext::new();
    for (words, expected) in [
        (
            &["convert", "--language", "ruby"][..],
            "only to python, typescript, go, java, csharp, rust, yaml and pcl",
        ),
        (&["policy", "analyze"], "--policy-pack"),
        (&["env", "ls"], "plumb config"),
        (&["deployment", "run"], "plumb up --yes"),
        (&["insights"], "stack --output json"),
        (&["template", "list"], "--list-templates"),
    ] {
        let said = context.fails(1, words);
        assert!(said.contains(expected), "{words:?}: {said}");
    }
    assert_eq!(
        context.fails(1, &["convert"]),
        "error: required flag(s) \"language\" not set\n"
    );
}
