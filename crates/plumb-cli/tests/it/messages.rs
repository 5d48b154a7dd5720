//! Messages of programs and providers.

use serde_json::Value;

use crate::context::TestContext;

const PROGRAM: &str = "
name: proj
runtime: yaml
resources:
  a: {type: command:local:Command, properties: {create: 'echo hello; echo again >&2'}}
";

fn diagnostics(context: &TestContext) -> Vec<Value> {
    let log = context.read("events.jsonl");
    let events = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter_map(|event| event.get("diagnosticEvent").cloned())
        .collect()
}

/// Each line that a script prints is an event, shown while the script runs and not repeated in the list of diagnostics
/// at the end.
#[test]
fn what_a_command_prints_is_shown_while_it_runs() {
    let context = TestContext::without_project().with("PULUMI_DEBUG_COMMANDS", "true");
    let context = context.with_passphrase();
    context.write("Pulumi.yaml", PROGRAM);
    context.ok(&["stack", "init", "dev"]);
    let text = context.ok(&[
        "up",
        "--yes",
        "--skip-preview",
        "--event-log",
        "events.jsonl",
    ]);
    let mut messages = Vec::new();
    for diagnostic in diagnostics(&context) {
        assert_eq!(diagnostic["severity"], "info");
        assert_eq!(diagnostic["ephemeral"], true);
        assert!(diagnostic["urn"].as_str().unwrap().ends_with("::a"));
        messages.push(diagnostic["message"].as_str().unwrap().to_owned());
    }
    messages.sort();
    assert_eq!(messages, ["again\n", "hello\n"]);
    assert!(!text.contains("Diagnostics:"), "{text}");
    let place = |what: &str| text.lines().position(|line| line.contains(what));
    for said in [" hello", " again"] {
        assert!(place(said).is_some(), "{text}");
        assert!(place(said) < place(" a created "), "{text}");
    }
}

/// Messages end with a newline in every view.
#[test]
fn messages_are_whole_lines_in_a_diff_too() {
    let context = TestContext::without_project().with_passphrase();
    let function = "fn::invoke: {function: 'command:local:run', arguments: {command: 'echo ran'}}";
    let program = format!("{PROGRAM}variables:\n  v:\n    {function}\n");
    context.write("Pulumi.yaml", &program);
    context.ok(&["stack", "init", "dev"]);
    let ran = context.run(&["preview", "--diff"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "ran\n"));
}

const BROKEN: &str = "
name: proj
runtime: yaml
resources:
  a: {type: pulumi:index:Stash, properties: {input: '${nope.id}'}}
";

/// For scripts, in the format of other tools; for people, as an excerpt of the source.
#[test]
fn problems_of_a_program_are_shown_with_their_places() {
    for is_interactive in [false, true] {
        let mut context = TestContext::without_project();
        if is_interactive {
            context = context.with("PULUMI_TEST_INTERACTIVE", "true");
        }
        context.write("Pulumi.yaml", BROKEN);
        context.ok(&["stack", "init", "dev"]);
        let ran = context.run(&["preview"]);
        let shown = ran.stdout + &ran.stderr;
        let place = if is_interactive {
            "Pulumi.yaml:5:53"
        } else {
            "on Pulumi.yaml line 5:"
        };
        assert!(shown.contains("\"nope\" not found"), "{shown}");
        assert!(shown.contains(place), "{shown}");
    }
}
