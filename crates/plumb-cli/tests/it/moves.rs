//! `state move`, `state edit` and `stack migrate`: state that is moved or edited.

use serde_json::{Value, json};

use crate::context::TestContext;

const STACK: &str = "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev";
const A: &str = "urn:pulumi:dev::proj::my:index:Thing::a";
const B: &str = "urn:pulumi:dev::proj::my:index:Thing::b";
const C: &str = "urn:pulumi:dev::proj::my:index:Thing$my:index:Thing::c";

fn with_resources() -> TestContext {
    let context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    let thing = |urn: &str, parent: &str, dependencies: Value| json!({ "urn": urn, "custom": false, "type": "my:index:Thing", "parent": parent, "dependencies": dependencies });
    context.import(&json!([
        { "urn": STACK, "custom": false, "type": "pulumi:pulumi:Stack" },
        thing(A, STACK, json!([])),
        thing(B, STACK, json!([A])),
        thing(C, A, json!([])),
    ]));
    context.ok(&["stack", "init", "prod"]);
    context.ok(&["stack", "select", "dev"]);
    context
}

fn urns(context: &TestContext, stack: &str) -> Vec<String> {
    let text = context.ok(&["stack", "export", "--stack", stack]);
    let exported: Value = serde_json::from_str(&text).unwrap();
    let resources = exported["deployment"]["resources"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let urns = resources
        .iter()
        .map(|resource| resource["urn"].as_str().unwrap().to_owned());
    urns.collect()
}

#[test]
fn resources_move_to_another_stack_with_what_is_below_them() {
    let context = with_resources();
    assert_eq!(
        context.ok(&["state", "move", "--dest", "prod", "--yes", A]),
        format!(
            "Planning to move the following resources from organization/proj/dev to organization/proj/prod:\n\n  - {A}\n  - {C}\n\n\
             The following resources remaining in organization/proj/dev have dependencies on resources moved to organization/proj/prod:\n\n  \
             - {B} has a dependency on {A}\n\n\
             If you go ahead with moving these dependencies, it will be necessary to create the appropriate inputs and \
             outputs in the program for the stack the resources are moved to.\n\n\
             Successfully moved resources from organization/proj/dev to organization/proj/prod\n"
        )
    );
    assert_eq!(urns(&context, "dev"), [STACK, B]);
    assert_eq!(
        urns(&context, "prod"),
        [
            "urn:pulumi:prod::proj::pulumi:pulumi:Stack::proj-prod",
            "urn:pulumi:prod::proj::my:index:Thing::a",
            "urn:pulumi:prod::proj::my:index:Thing$my:index:Thing::c",
        ]
    );
    // And back, from a stack that is not the selected one.
    let there = "urn:pulumi:prod::proj::my:index:Thing$my:index:Thing::c";
    context.ok(&[
        "state",
        "mv",
        "--source",
        "prod",
        "--include-parents",
        "--yes",
        there,
    ]);
    assert_eq!(urns(&context, "dev").len(), 4);
}

#[test]
fn refused_moves_say_why() {
    let context = with_resources();
    assert_eq!(
        context.fails(1, &["state", "move", "--yes", A]),
        "error: at least one of --source or --dest must be provided\n"
    );
    assert_eq!(
        context.fails(1, &["state", "move", "--dest", "dev", "--yes", A]),
        format!("error: resource {A} already exists in destination stack\n")
    );
    assert_eq!(
        context.fails(1, &["state", "move", "--dest", "dev", "--yes", C]),
        "error: source and destination stack must be different\n"
    );
    assert_eq!(
        context.fails(1, &["state", "move", "--dest", "prod", A]),
        "error: non-interactive mode requires --yes flag\n"
    );
    assert_eq!(
        context.fails(6, &["state", "move", "--dest", "nowhere", "--yes", A]),
        "error: no stack named 'nowhere' found\n"
    );
    let missing = ["state", "move", "--dest", "prod", "--yes", "x", "x"];
    let run = context.run(&missing);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (1, "warning: Resource x not found in source stack\n")
    );
    assert!(run.stderr.contains("no resources found to move"));
    assert_eq!(urns(&context, "dev").len(), 4);
}

#[test]
fn the_state_goes_through_an_editor() {
    let context = with_resources().with("PULUMI_TEST_INTERACTIVE", "true");
    assert_eq!(
        context.fails(1, &["state", "edit"]),
        "error: no EDITOR environment variable set\n"
    );
    let unchanged = context.with("EDITOR", "true");
    assert_eq!(unchanged.ok(&["state", "edit"]), "State is unchanged\n");
    let renaming = unchanged.with("EDITOR", "sed -i s/Thing::b/Thing::b2/");
    assert_eq!(renaming.ok(&["state", "edit"]), "State edited\n");
    assert!(
        urns(&renaming, "dev").contains(&"urn:pulumi:dev::proj::my:index:Thing::b2".to_owned())
    );
    let failing = renaming.with("EDITOR", "false");
    assert!(
        failing
            .fails(1, &["state", "edit"])
            .contains("the editor false ended with")
    );
    let alone = with_resources();
    assert_eq!(
        alone.fails(1, &["state", "edit"]),
        "error: plumb state edit must be run in interactive mode\n"
    );
}

#[test]
fn a_stack_is_copied_from_another_backend() {
    let context = with_resources();
    context.ok(&["config", "set", "size", "3"]);
    let store = context.store().display().to_string();
    context.write("elsewhere/.keep", "");
    let here = context.with("PULUMI_BACKEND_URL", "file://./elsewhere");
    let there = format!("file://{store}");
    assert_eq!(
        here.fails(1, &["stack", "migrate", &there, "dev"]),
        "error: non-interactive mode requires --yes flag\n"
    );
    let told = here.ok(&[
        "stack", "migrate", &there, "dev", "--target", "copy", "--yes",
    ]);
    assert!(
        told.starts_with("Migrated stack 'copy' from file://"),
        "{told}"
    );
    assert_eq!(urns(&here, "copy").len(), 4);
    assert_eq!(here.ok(&["config", "get", "size"]), "3\n");
    assert!(
        here.fails(
            1,
            &[
                "stack", "migrate", &there, "dev", "--target", "copy", "--yes"
            ]
        )
        .contains("stack 'copy' already exists")
    );
    assert!(
        here.fails(
            1,
            &["stack", "migrate", "file://./elsewhere", "dev", "--yes"]
        )
        .contains("source and target backends are the same")
    );
    assert!(
        here.fails(6, &["stack", "migrate", &there, "none", "--yes"])
            .contains("no stack named 'none' found")
    );
}

/// State and history of a stack.
fn kept(context: &TestContext, stack: &str) -> (Vec<String>, String) {
    let history = context.ok(&["stack", "history", "--json", "--stack", stack]);
    (urns(context, stack), history)
}

const ELSEWHERE: &str = "file://./elsewhere";

#[test]
fn all_stacks_are_copied_to_another_backend() {
    let mut context = with_resources().with_passphrase();
    let here = format!("file://{}", context.store().display());
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nresources:\n  r: {type: 'pulumi:index:Stash', properties: {input: 1}}\n",
    );
    context.ok(&["up", "--yes", "--skip-preview", "--stack", "prod"]);
    context.ok(&["stack", "tag", "set", "owner", "me"]);
    context.write("elsewhere/.keep", "");
    let migrate = ["stack", "migrate", "--to", ELSEWHERE, "--yes"];
    let one = context.ok(&[&migrate[..], &["--target", "copy"]].concat());
    assert!(one.starts_with("Migrated stack 'dev' to file://"), "{one}");
    let all = context.ok(&[&migrate[..], &["--all"]].concat());
    assert_eq!(all.matches("Migrated stack").count(), 2, "{all}");
    let again = context.ok(&[&migrate[..], &["--all"]].concat());
    assert_eq!(again.matches("already").count(), 2, "{again}");
    let before = ["dev", "prod"].map(|stack| kept(&context, stack));

    context.set("PULUMI_BACKEND_URL", Some(ELSEWHERE));
    assert_eq!(["dev", "prod"].map(|stack| kept(&context, stack)), before);
    let tag = ["stack", "tag", "get", "owner", "--stack", "dev"];
    assert_eq!(context.ok(&tag), "me\n");
    assert_eq!(urns(&context, "copy").len(), 4);

    // A stack that differs at the destination is replaced only with `--force`.
    context.ok(&["state", "delete", B, "--yes", "--stack", "dev"]);
    assert_eq!(urns(&context, "dev").len(), 3);
    context.set("PULUMI_BACKEND_URL", Some(&here));
    let refused = context.fails(1, &[&migrate[..], &["--stack", "dev"]].concat());
    assert!(
        refused.contains("stack 'dev' already exists in file://"),
        "{refused}"
    );
    context.ok(&[&migrate[..], &["--stack", "dev", "--force"]].concat());
    context.set("PULUMI_BACKEND_URL", Some(ELSEWHERE));
    assert_eq!(urns(&context, "dev").len(), 4);
}

#[test]
fn a_copy_that_was_interrupted_is_completed() {
    let mut context = with_resources().with_passphrase();
    context.write("Pulumi.yaml", "name: proj\nruntime: yaml\n");
    for _ in 0..2 {
        context.ok(&["up", "--yes", "--skip-preview", "--stack", "prod"]);
    }
    let before = kept(&context, "prod");
    // The interrupted copy consists of one history object, without the state.
    let history = context.store().join(".pulumi/history/proj/prod");
    let files = std::fs::read_dir(&history).unwrap();
    let mut names: Vec<String> = files
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let first = std::fs::read_to_string(history.join(&names[0])).unwrap();
    let arrived = format!("elsewhere/.pulumi/history/proj/prod/{}", names[0]);
    context.write(&arrived, &first);
    context.write("elsewhere/.pulumi/meta.yaml", "version: 1\n");
    let migrate = ["stack", "migrate", "--to", ELSEWHERE, "--yes"];
    context.ok(&[&migrate[..], &["--stack", "prod"]].concat());
    context.set("PULUMI_BACKEND_URL", Some(ELSEWHERE));
    assert_eq!(kept(&context, "prod"), before);
}
