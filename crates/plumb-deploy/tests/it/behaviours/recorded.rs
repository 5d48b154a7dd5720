//! Rules that the recorded cases and histories of the reference show beyond the catalogue.

use std::sync::Arc;

use plumb_deploy::setup::Options;
use plumb_resource::provider::{ProviderCall, ProviderReply, ReadResponse};
use plumb_resource::{PropertyDependencies, Urn};
use plumb_value::{PropertyMap, Value};

use crate::world::{
    Fault, Known, Ran, Res, World, component, for_many_orders, for_orders, output, res, targets,
    urn,
};

fn secret(text: &str) -> Value {
    Value::secret(text.into())
}

fn plain(text: &str) -> PropertyMap {
    PropertyMap::new().with("value", text)
}

fn keys(state: &PropertyDependencies) -> Vec<&str> {
    state.keys().map(plumb_value::PropertyKey::as_str).collect()
}

/// While one registration finds out what goes with it, another waits; it is not compared again.
#[test]
fn who_waits_for_another_is_compared_once() {
    for_many_orders(60, |world| {
        let program = |value: &str| {
            [
                res("first")
                    .with("replace", value)
                    .with("value", value)
                    .delete_before_replace(true),
                res("user").uses("value", "first"),
                res("other").with("value", value),
            ]
        };
        world.up(&program("1")).succeeded();
        world.cloud.take_calls();
        world.up(&program("2")).succeeded();
        let calls = world.cloud.take_calls();
        let compared = calls.iter().filter(|call| *call == "diff other");
        assert_eq!(compared.count(), 1, "{calls:?}");
    });
}

/// Two resources that are to be deleted first collect what goes with them one after the other.
#[test]
fn two_that_are_deleted_first_share_what_goes_with_them() {
    for_many_orders(60, |world| {
        let root = |name: &str, value: &str| {
            res(name)
                .with("replace", value)
                .with("value", value)
                .delete_before_replace(true)
        };
        let program = |value: &str| {
            [
                root("a", value),
                root("b", value),
                res("both").uses("replace", "a").uses("rother", "b"),
            ]
        };
        world.up(&program("1")).succeeded();
        world.cloud.take_calls();
        let ran = world.up(&program("2"));
        ran.succeeded();
        assert_eq!(ran.counts(), [("replace", 3)]);
        let changes = world.cloud.take_changes();
        let deleted = changes.iter().filter(|call| *call == "delete both");
        assert_eq!(deleted.count(), 1, "{changes:?}");
        assert_eq!(world.up(&program("2")).counts(), [("same", 3)]);
    });
}

fn destroy(world: &mut World, change: impl FnOnce(&mut Options)) -> Ran {
    world.destroy_with(&[], change)
}

/// A resource that wants to be read before each change is read before a destroy too, unless it is retained.
#[test]
fn a_destroy_reads_first_what_asks_for_it() {
    for_orders(|world| {
        let program = [
            res("a").with("value", "1"),
            res("b").with("value", "1"),
            res("stays").depends_on("b"),
        ];
        world.up(&program).succeeded();
        world.edit("a", |state| state.refresh_before_update = true);
        world.edit("b", |state| state.refresh_before_update = true);
        world.cloud.take_calls();
        let excludes = world.targets(&["stays"]);
        destroy(world, |options| options.excludes = excludes).succeeded();
        let calls = world.cloud.take_calls();
        let position = |call: &str| calls.iter().position(|it| it == call);
        assert!(position("read a") < position("delete a"), "{calls:?}");
        assert!(position("read a").is_some() && position("read b").is_none());
        assert_eq!(world.names(), ["b", "stays"]);
    });
}

/// An object that waits for its deletion and stays is reported like other objects that stay.
#[test]
fn what_stays_is_told_of_once_for_each_copy() {
    for_orders(|world| {
        world.up(&[res("a").with("replace", "1")]).succeeded();
        world.cloud.fail("delete", "a", Fault::Clean);
        let program = [res("a").with("replace", "2"), res("b")];
        world.up(&program).failed("delete of a failed");
        world.cloud.behave();
        let excludes = targets(&["a"]);
        let ran = destroy(world, |options| options.excludes = excludes);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["same", "same"]);
        assert_eq!(world.states("a").len(), 2);
    });
}

/// STEPGEN-03 holds for what a refresh finds.
#[test]
fn outputs_that_a_refresh_finds_are_secret_like_their_inputs() {
    for_orders(|world| {
        let program = [res("a").with("value", secret("1"))];
        world.up(&program).succeeded();
        world.cloud.on("read", "a", |call| {
            let ProviderCall::Read(it) = call else {
                return None;
            };
            Some(Ok(ProviderReply::Read(ReadResponse {
                id: it.id.clone(),
                inputs: it.inputs.clone(),
                outputs: Some(Arc::new(plain("1"))),
                refresh_before_update: false,
            })))
        });
        world.refresh().succeeded();
        assert_eq!(world.state("a").outputs.get("value"), Some(&secret("1")));
    });
}

/// An update that is not whole keeps the old inputs; what is secret goes by those that were asked for.
#[test]
fn what_is_no_secret_any_more_is_none_after_half_an_update() {
    for_orders(|world| {
        world.up(&[res("a").with("value", secret("1"))]).succeeded();
        world.cloud.fail("update", "a", Fault::Partial);
        world.up(&[res("a").with("value", "2")]).failed("not ready");
        let state = world.state("a");
        assert_eq!(state.inputs.get("value"), Some(&secret("1")));
        assert_eq!(state.outputs.get("value"), Some(&"2".into()));
    });
}

/// Where nothing changes, what becomes a secret is not shown as it was before.
#[test]
fn a_same_step_does_not_show_what_becomes_secret() {
    for_orders(|world| {
        let program = |hides: bool| {
            [res("a").with("value", "1").tune(move |request, _| {
                request.additional_secret_outputs =
                    hides.then(|| "value".into()).into_iter().collect();
            })]
        };
        world.up(&program(false)).succeeded();
        let ran = world.up(&program(true));
        ran.succeeded();
        let shown = ran.events.iter().find_map(|event| match event {
            plumb_events::Event::ResourceOutputs(it) if it.metadata.urn.name() == "a" => {
                it.metadata.old.clone()
            }
            _ => None,
        });
        let shown = shown.expect("the step is told of");
        assert_eq!(shown.outputs.get("value"), Some(&secret("1")));
    });
}

/// A resource that says that it is replaced with another gives no reason of its own.
#[test]
fn what_is_replaced_with_another_has_no_keys() {
    for_orders(|world| {
        let program = |value: &str| {
            [
                res("a")
                    .with("replace", value)
                    .with("value", value)
                    .delete_before_replace(true),
                res("b").uses("replace", "a").replace_with("a"),
            ]
        };
        world.up(&program("1")).succeeded();
        let ran = world.up(&program("2"));
        ran.succeeded();
        let keys = ran.events.iter().find_map(|event| match event {
            plumb_events::Event::ResourcePre(it)
                if it.metadata.urn.name() == "b"
                    && it.metadata.op.as_str() == "create-replacement" =>
            {
                Some(it.metadata.keys.clone())
            }
            _ => None,
        });
        assert_eq!(keys, Some(Vec::new()));
    });
}

/// A resource deleted under its former name for another's replacement is replaced as its own options say.
#[test]
fn what_was_renamed_and_went_with_another_is_replaced_as_it_wants() {
    for_orders(|world| {
        let root = |value: &str| {
            res("root")
                .with("replace", value)
                .with("value", value)
                .delete_before_replace(true)
        };
        world
            .up(&[root("1"), res("old").uses("replace", "root")])
            .succeeded();
        world.cloud.take_calls();
        let ran = world.up(&[root("2"), res("new").alias("old").uses("replace", "root")]);
        ran.succeeded();
        let changes = world.cloud.take_changes();
        let deleted = changes.iter().filter(|call| call.starts_with("delete old"));
        assert_eq!(deleted.count(), 1, "{changes:?}");
        assert_eq!(ran.steps("new"), ["create-replacement", "replace"]);
        assert_eq!(world.names(), ["new", "root"]);
    });
}

/// Objects deleted for a replacement that then failed are gone: the next run only creates them.
#[test]
fn what_went_with_a_failed_replacement_is_not_deleted_again() {
    for_orders(|world| {
        let program = |value: &str| {
            [
                res("root")
                    .with("replace", value)
                    .with("value", value)
                    .delete_before_replace(true),
                res("user").uses("replace", "root"),
            ]
        };
        world.up(&program("1")).succeeded();
        world.cloud.fail("create", "root", Fault::Clean);
        world.up(&program("2")).failed("create of root failed");
        assert!(world.state("root").pending_replacement);
        assert!(world.state("user").pending_replacement);
        world.cloud.behave();
        world.cloud.take_calls();
        world.up(&program("2")).succeeded();
        assert_eq!(world.cloud.take_changes(), ["create root", "create user"]);
        assert_eq!(world.names(), ["root", "user"]);
    });
}

/// When nothing is said of single properties, each depends on what any value comes from.
#[test]
fn untold_properties_depend_on_what_any_value_comes_from() {
    for_orders(|world| {
        let untold = res("b")
            .with("one", "1")
            .with("two", output(Some("2".into()), false, &[urn("a")]))
            .after("a")
            .tune(|request, _| request.property_dependencies.clear());
        world.up(&[res("a"), untold]).succeeded();
        let dependencies = &world.state("b").property_dependencies;
        assert_eq!(dependencies["one"], [urn("a")]);
        assert_eq!(dependencies["two"], [urn("a")]);
    });
}

/// A component takes no default provider from above: what is below it finds its own.
#[test]
fn components_pass_no_default_provider_on() {
    for_orders(|world| {
        let versioned = |name: &str| {
            res(name).tune(|request, _: &Known| {
                request.package.version = "2.0.0".into();
            })
        };
        let program: [Res; 3] = [
            res("a"),
            component("group").parent("a"),
            versioned("child").parent("group"),
        ];
        world.up(&program).succeeded();
        let provider = world.state("child").provider.clone().unwrap();
        assert_eq!(provider.urn().name(), "default_2_0_0");
    });
}

/// After a refresh that runs the program, what the program registered lists the properties that depend on nothing, the rest
/// does not, nor does what lost a dependency.
#[test]
fn a_refresh_drops_what_says_nothing() {
    for_orders(|world| {
        let registered = || {
            vec![
                res("a").with("value", "1"),
                res("gone").with("value", "1"),
                res("user").with("value", "1").depends_on("gone"),
            ]
        };
        let mut everything = registered();
        everything.push(res("rest").with("value", "1"));
        world.up(&everything).succeeded();
        world.cloud.lose("gone");
        world.refresh_with(&registered(), |_| {}).succeeded();
        let has = |name: &str| keys(&world.state(name).property_dependencies).len();
        assert_eq!((has("a"), has("user"), has("rest")), (1, 0, 0));
        assert_eq!(world.state("user").dependencies, [] as [Urn; 0]);
        world.refresh().succeeded();
        assert_eq!(keys(&world.state("a").property_dependencies).len(), 0);
        world.refresh_with(&registered(), |_| {}).succeeded();
        assert_eq!(keys(&world.state("a").property_dependencies).len(), 1);
    });
}
