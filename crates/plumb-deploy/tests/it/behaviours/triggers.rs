//! RTRIG, RWITH: replacements that the program asks for.

use std::sync::Arc;

use plumb_value::{Output, Value};

use crate::world::{Ran, Res, World, for_orders, res};

fn triggered(value: impl Into<Value>) -> Res {
    let value = value.into();
    res("a")
        .with("value", "1")
        .tune(move |request, _| request.replacement_trigger = value.clone())
}

fn up(world: &mut World, value: impl Into<Value>) -> Ran {
    world.up(&[triggered(value)])
}

const REPLACED: [&str; 3] = ["create-replacement", "replace", "delete-replaced"];

/// RTRIG-01
#[test]
fn another_trigger_replaces() {
    for_orders(|world| {
        up(world, "1").succeeded();
        assert_eq!(up(world, "1").steps("a"), ["same"]);
        let before = world.state("a").inputs.clone();
        assert_eq!(up(world, "2").steps("a"), REPLACED);
        assert_eq!(world.state("a").inputs, before);
        assert_eq!(world.state("a").replacement_trigger, Value::from("2"));
    });
}

/// RTRIG-02, RTRIG-03
#[test]
fn a_trigger_that_becomes_a_secret_is_the_same() {
    for_orders(|world| {
        let list = |value: Value| Value::Array(vec![value].into());
        up(world, list("1".into())).succeeded();
        assert_eq!(
            up(world, list(Value::secret("1".into()))).steps("a"),
            ["same"]
        );
        assert_eq!(
            up(world, Value::secret(list("1".into()))).steps("a"),
            ["same"]
        );
    });
}

fn output(value: Option<Value>) -> Value {
    Value::Output(Arc::new(Output {
        value,
        secret: false,
        dependencies: Vec::new(),
    }))
}

/// RTRIG-04, RTRIG-05: unknown triggers replace in previews, and are refused in updates of what exists.
#[test]
fn an_unknown_trigger() {
    for_orders(|world| {
        up(world, Value::UNKNOWN).succeeded();
        up(world, "1").succeeded();
        let known = output(Some("1".into()));
        assert_eq!(up(world, known).steps("a"), ["same"]);
        for unknown in [Value::UNKNOWN, output(None)] {
            let preview = world.preview(&[triggered(unknown.clone())]);
            preview.succeeded();
            assert_eq!(preview.steps("a"), REPLACED);
            up(world, unknown).failed("replacement trigger contains unknowns for urn:pulumi:dev");
        }
    });
}

/// RTRIG-06
#[test]
fn the_state_holds_the_plain_trigger() {
    for_orders(|world| {
        up(world, output(Some("1".into()))).succeeded();
        assert_eq!(world.state("a").replacement_trigger, Value::from("1"));
        assert_eq!(up(world, "1").steps("a"), ["same"]);
        assert_eq!(up(world, output(Some("2".into()))).steps("a"), REPLACED);
    });
}

/// RWITH-01, RWITH-03
#[test]
fn a_resource_is_replaced_with_another() {
    for first in [false, true] {
        for_orders(|world| {
            let program = |value: &str| {
                [
                    res("a").with("replace", value).delete_before_replace(first),
                    res("b").replace_with("a"),
                ]
            };
            world.up(&program("1")).succeeded();
            world.cloud.take_calls();
            let ran = world.up(&program("2"));
            ran.succeeded();
            assert_eq!(ran.counts(), [("replace", 2)]);
            let mut calls = world.cloud.take_calls();
            calls.retain(|call| call.starts_with("create") || call.starts_with("delete"));
            calls.sort();
            assert_eq!(calls, ["create a", "create b", "delete a", "delete b"]);
            assert_eq!(world.up(&program("2")).counts(), [("same", 2)]);
        });
    }
}

/// RWITH-02: what goes with something that is deleted is not deleted itself, though it is replaced.
#[test]
fn a_resource_replaced_with_another_may_go_with_a_third() {
    for_orders(|world| {
        let c = |value: &str| res("c").with("replace", value);
        let a = || res("a").replace_with("c");
        world
            .up(&[res("b"), c("1"), a().deleted_with("b")])
            .succeeded();
        world.cloud.take_calls();
        let ran = world.up(&[c("2"), a()]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), REPLACED);
        let mut calls = world.cloud.take_calls();
        calls.retain(|call| call.starts_with("delete"));
        calls.sort();
        assert_eq!(calls, ["delete b", "delete c"]);
        assert_eq!(world.up(&[c("2"), a()]).counts(), [("same", 2)]);
    });
}
