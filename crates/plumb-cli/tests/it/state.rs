//! `state` and the verbs below it.

use serde_json::{Value, json};

use crate::context::TestContext;

const STACK: &str = "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev";
const A: &str = "urn:pulumi:dev::proj::my:index:Thing::a";
const B: &str = "urn:pulumi:dev::proj::my:index:Thing::b";
const C: &str = "urn:pulumi:dev::proj::my:index:Thing$my:index:Thing::c";
const D: &str = "urn:pulumi:dev::proj::my:index:Thing::d";

fn with_resources() -> TestContext {
    let context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    let thing = |urn: &str, parent: &str, more: Value| {
        let mut resource =
            json!({ "urn": urn, "custom": false, "type": "my:index:Thing", "parent": parent });
        resource
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        resource
    };
    context.import(&json!([
        { "urn": STACK, "custom": false, "type": "pulumi:pulumi:Stack" },
        thing(A, STACK, json!({ "outputs": { "size": 3, "__internal": 1 } })),
        thing(B, STACK, json!({ "dependencies": [A] })),
        thing(C, A, json!({})),
        thing(D, STACK, json!({ "protect": true })),
    ]));
    context
}

fn resource(context: &TestContext, urn: &str) -> Value {
    let exported: Value = serde_json::from_str(&context.ok(&["stack", "export"])).unwrap();
    let resources = exported["deployment"]["resources"].as_array().unwrap();
    resources
        .iter()
        .find(|resource| resource["urn"] == urn)
        .cloned()
        .unwrap_or_default()
}

#[test]
fn deleting_respects_dependents_and_protection() {
    let context = with_resources();
    assert_eq!(
        context.fails(1, &["state", "delete", "--yes", A]),
        format!(
            "error: {A} can't be safely deleted because the following resources depend on it:\n \
             * \"b\"             ({B})\n * \"c\"             ({C})\n\nDelete those resources first or pass \
             --target-dependents.\n"
        )
    );
    assert_eq!(
        context.fails(1, &["state", "delete", "--yes", D]),
        format!(
            "error: {D} can't be safely deleted because it is protected. Re-run this command with --force to force deletion\n"
        )
    );
    let forced = context.run(&["state", "delete", "--yes", "--force", D]);
    assert_eq!(forced.stdout, "Resource deleted\n");
    assert_eq!(
        forced.stderr,
        format!("warning: deleting protected resource {D} due to presence of --force\n")
    );
    assert_eq!(
        context.ok(&["state", "delete", "--yes", "--target-dependents", A]),
        "Resource deleted\n"
    );
    assert_eq!(resource(&context, B), Value::Null);
    assert_eq!(
        context.ok(&["state", "rm", "--yes", "--all"]),
        "Resources deleted\n"
    );
    assert_eq!(
        context.fails(1, &["state", "rm", "--yes", "--all", A]),
        "error: cannot specify a resource URN when deleting all resources\n"
    );
}

#[test]
fn urns_that_lead_nowhere_are_answered_with_similar_ones() {
    let context = with_resources();
    let hint = "To list the resource URNs in the stack, run `plumb stack --show-urns`; to inspect the full state, run \
                `plumb stack export`.";
    assert_eq!(
        context.fails(
            1,
            &[
                "state",
                "delete",
                "--yes",
                "urn:pulumi:dev::proj::my:index:Thing::x"
            ]
        ),
        format!(
            "error: No such resource \"urn:pulumi:dev::proj::my:index:Thing::x\" exists in the current state\nDid you \
             mean:\n  {A}\n  {B}\n  {D}\n{hint}\n"
        )
    );
    assert_eq!(
        context.fails(1, &["state", "delete", "--yes", "nothing"]),
        format!("error: \"nothing\" is not a valid resource URN\n{hint}\n")
    );
    assert_eq!(
        context.fails(1, &["state", "protect", "--yes"]),
        "error: Must supply <resource URN> unless plumb is run interactively\n"
    );
}

#[test]
fn resources_are_protected_and_tainted() {
    let context = with_resources();
    assert_eq!(
        context.ok(&["state", "protect", "--yes", A]),
        "1 resources protected\n"
    );
    assert_eq!(resource(&context, A)["protect"], true);
    assert_eq!(
        context.ok(&["state", "unprotect", "--yes", A, D]),
        "2 resources unprotected\n"
    );
    assert_eq!(
        context.ok(&["state", "protect", "--yes", "--all"]),
        "All resources protected\n"
    );
    assert_eq!(
        context.ok(&["state", "unprotect", "--all", "--yes"]),
        "All resources unprotected\n"
    );
    assert_eq!(
        context.ok(&["state", "taint", "--yes", A, B]),
        "2 resources tainted\n"
    );
    assert_eq!(resource(&context, A)["taint"], true);
    assert_eq!(
        context.ok(&["state", "untaint", "--yes", A]),
        "1 resources untainted\n"
    );
    assert_eq!(
        context.ok(&["state", "untaint", "--yes", "--all"]),
        "All resources untainted\n"
    );
    assert_eq!(
        context.fails(1, &["state", "taint", "--all"]),
        "error: unknown flag: --all\n"
    );
}

#[test]
fn resources_are_renamed_with_everything_that_refers_to_them() {
    let context = with_resources();
    assert_eq!(
        context.ok(&["state", "rename", "--yes", A, "a2"]),
        "Resource renamed\n"
    );
    let renamed = "urn:pulumi:dev::proj::my:index:Thing::a2";
    assert_eq!(resource(&context, B)["dependencies"], json!([renamed]));
    assert_eq!(resource(&context, C)["parent"], renamed);
    assert_eq!(
        context.fails(1, &["state", "rename", "--yes", B, "d"]),
        "error: The chosen new urn for the state corresponds to an already existing resource\n"
    );
    assert_eq!(
        context.fails(1, &["state", "rename", "--yes", "x", "d"]),
        "error: The provided input URN is not valid\n"
    );
}

#[test]
fn a_resource_is_shown() {
    let context = with_resources();
    assert_eq!(
        context.ok(&["state", "get", "a"]),
        format!("Type: my:index:Thing\nURN:  {A}\nOutputs:\n    size      : 3\n\n")
    );
    let json: Value =
        serde_json::from_str(&context.ok(&["state", "get", A, "--output", "json"])).unwrap();
    assert_eq!(
        json,
        json!({ "urn": A, "id": "", "type": "my:index:Thing", "inputs": {}, "outputs": { "size": 3 } })
    );
}

#[test]
fn an_invalid_state_is_repaired() {
    let context = with_resources();
    assert_eq!(
        context.ok(&["state", "repair", "--yes"]),
        "The snapshot is already valid; skipping repair\n"
    );
    let mut exported: Value = serde_json::from_str(&context.ok(&["stack", "export"])).unwrap();
    exported["deployment"]["resources"]
        .as_array_mut()
        .unwrap()
        .swap(1, 2);
    context.write("bad.json", &exported.to_string());
    context.ok(&["stack", "import", "--force", "--file", "bad.json"]);
    assert!(context.run(&["state", "protect", "--yes", A]).code == 1);
    assert!(
        context
            .ok(&["state", "repair", "--yes"])
            .ends_with("State repaired successfully\n")
    );
    assert_eq!(
        context.ok(&["state", "protect", "--yes", A]),
        "1 resources protected\n"
    );
}

/// All commands accept the same maximum depth of values.
#[test]
fn deep_values_go_through_every_command() {
    let context = TestContext::new().with_passphrase();
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let state = |depth: usize| {
        let value = nested(depth);
        format!(
            r#"{{"version":3,"deployment":{{"manifest":{{"time":"2024-01-01T00:00:00Z","magic":"","version":""}},
            "resources":[{{"urn":"urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev","custom":false,
            "type":"pulumi:pulumi:Stack","outputs":{{"deep":{value}}}}}]}}}}"#
        )
    };
    context.ok(&["stack", "init", "dev"]);
    context.write("deep.json", &state(9_000));
    context.ok(&["stack", "import", "--file", "deep.json"]);
    let value = nested(9_000);
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    for words in [
        ["stack", "export", "--show-secrets"].as_slice(),
        &["stack", "output", "deep"],
        &["stack", "output", "--json"],
        &["stack", "output", "--show-secrets", "deep"],
    ] {
        let shown = squeezed(&context.ok(words));
        assert!(shown.contains(&value), "{words:?}");
    }
    context.ok(&["stack"]);
    context.write("deep.json", &state(11_000));
    let error = context.fails(1, &["stack", "import", "--file", "deep.json"]);
    assert!(error.contains("deeper than 10000 levels"), "{error}");
}
