//! `refresh` with interrupted creates.

use std::fs;

use serde_json::{Value, json};

use crate::context::TestContext;

const A: &str = "urn:pulumi:dev::proj::random:index/randomString:RandomString::a";
const LOST: &str = "urn:pulumi:dev::proj::random:index/randomString:RandomString::lost";
const BROKEN: &str = "urn:pulumi:dev::proj::random:index/nothing:Nothing::broken";

/// A stack with a random string and pending creates of `urns`.
fn interrupted(urns: &[&str]) -> TestContext {
    let context = TestContext::new();
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nresources:\n  a:\n    type: random:RandomString\n    properties:\n      length: 4\n",
    );
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["up", "--yes", "--skip-preview"]);
    let path = context.store().join(".pulumi/stacks/proj/dev.json");
    let mut state: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let latest = &mut state["checkpoint"]["latest"];
    let resources = latest["resources"].as_array().unwrap();
    let a = resources.iter().find(|it| it["urn"] == A).unwrap().clone();
    let pending: Vec<Value> = urns
        .iter()
        .map(|urn| {
            let mut resource = a.clone();
            resource["urn"] = json!(urn);
            resource["type"] = json!(urn.split("::").nth(2).unwrap());
            let members = resource.as_object_mut().unwrap();
            members.retain(|name, _| name != "id" && name != "outputs");
            json!({ "resource": resource, "type": "creating" })
        })
        .collect();
    latest["pending_operations"] = json!(pending);
    fs::write(&path, state.to_string()).unwrap();
    context
}

fn refresh(context: &TestContext, more: &[&str]) -> crate::context::Ran {
    context.run(&[&["refresh", "--yes", "--skip-preview"], more].concat())
}

/// Ids of resources by URN, and URNs of pending operations.
fn state(context: &TestContext) -> (Value, Vec<String>) {
    let exported: Value = serde_json::from_str(&context.ok(&["stack", "export"])).unwrap();
    let deployment = &exported["deployment"];
    let resources = deployment["resources"].as_array().unwrap();
    let ids = resources
        .iter()
        .map(|it| (it["urn"].as_str().unwrap().to_owned(), it["id"].clone()))
        .collect();
    let pending = deployment["pending_operations"].as_array();
    let pending = pending.into_iter().flatten().map(|it| {
        let urn = it["resource"]["urn"].as_str();
        urn.unwrap().to_owned()
    });
    (ids, pending.collect())
}

#[test]
fn the_object_of_an_interrupted_create_is_adopted() {
    let context = interrupted(&[LOST]);
    let flag = "--import-pending-creates";
    let ran = refresh(&context, &[flag, LOST, flag, "wxyz"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let (ids, pending) = state(&context);
    assert_eq!(ids[LOST], "wxyz");
    assert_eq!(pending, [""; 0]);
    let ran = refresh(&context, &[flag, LOST, flag, "wxyz"]);
    assert_eq!(
        (ran.code, ran.stderr),
        (
            0,
            format!("warning: \"{LOST}\" did not correspond to a pending create\n")
        )
    );
}

#[test]
fn what_cannot_be_read_stays_pending() {
    let context = interrupted(&[BROKEN, LOST]);
    let flag = "--import-pending-creates";
    let ran = refresh(
        &context,
        &[flag, BROKEN, flag, "x", flag, LOST, flag, "wxyz"],
    );
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("broken"), "{}", ran.stdout);
    let (ids, pending) = state(&context);
    assert_eq!(ids[LOST], "wxyz", "the others are adopted all the same");
    assert_eq!(pending, [BROKEN]);
}

#[test]
fn what_nobody_speaks_of_stays_or_is_cleared() {
    let context = interrupted(&[LOST]);
    assert_eq!(refresh(&context, &["--skip-pending-creates"]).code, 0);
    assert_eq!(state(&context).1, [LOST]);
    let preview = context.run(&["refresh", "--preview-only", "--clear-pending-creates"]);
    assert_eq!(preview.code, 0);
    assert_eq!(state(&context).1, [LOST], "a preview changes nothing");
    assert_eq!(refresh(&context, &["--clear-pending-creates"]).code, 0);
    assert_eq!(state(&context).1, [""; 0]);
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let context = interrupted(&[]);
    let told = |more: &[&str]| {
        let ran = refresh(&context, more);
        assert_eq!(ran.code, 1);
        ran.stderr
    };
    assert_eq!(
        told(&["--import-pending-creates", LOST]),
        "error: each URN must be followed by an ID: found an odd number of entries\n"
    );
    assert_eq!(
        told(&["--skip-pending-creates", "--clear-pending-creates"]),
        "error: cannot set both --skip-pending-creates and --clear-pending-creates\n"
    );
}
