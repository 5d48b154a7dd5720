//! REFRESH, RLD: making the state as the world is, before a program or without one.

use std::sync::Arc;

use plumb_events::{Event, OperationResult};
use plumb_resource::provider::{
    DiffChanges, DiffKind, DiffResult, PropertyDiff, ProviderCall, ProviderReply, ReadResponse,
};
use plumb_resource::{ResourceId, ResourceState};
use plumb_value::{PropertyMap, SortedMap};

use crate::world::{Fault, Res, World, component, for_orders, read, res, targets};

fn value(value: &str) -> PropertyMap {
    PropertyMap::new().with("value", value)
}

/// Has Read of `name` find these inputs and outputs.
fn finds(world: &mut World, name: &str, inputs: PropertyMap, outputs: PropertyMap) {
    let (inputs, outputs) = (Arc::new(inputs), Arc::new(outputs));
    world.cloud.on("read", name, move |call| {
        let ProviderCall::Read(it) = call else {
            return None;
        };
        Some(Ok(ProviderReply::Read(ReadResponse {
            id: it.id.clone(),
            inputs: Some(inputs.clone()),
            outputs: Some(outputs.clone()),
            refresh_before_update: false,
        })))
    });
}

fn things() -> [Res; 3] {
    ["a", "b", "c"].map(|name| res(name).with("value", "1"))
}

/// Every choice among the three things.
fn choices() -> impl Iterator<Item = Vec<&'static str>> {
    (1..8).map(|bits| {
        let names = ["a", "b", "c"].into_iter().enumerate();
        let chosen = names.filter(|(index, _)| bits & (1 << index) != 0);
        chosen.map(|(_, name)| name).collect()
    })
}

/// REFRESH-01
#[test]
fn the_order_of_the_state_is_not_that_of_the_answers() {
    for_orders(|world| {
        let names: Vec<String> = (0..6).map(|index| format!("n{index}")).collect();
        let program: Vec<Res> = names.iter().map(|name| res(name)).collect();
        world.up(&program).succeeded();
        let urns = |world: &World| {
            let resources = world.snapshot.resources.iter();
            resources.map(|it| it.urn.clone()).collect::<Vec<_>>()
        };
        let before = urns(world);
        for name in &names {
            world.cloud.drift(name, "value", "2");
        }
        assert_eq!(world.refresh().counts(), [("update", 6)]);
        assert_eq!(urns(world), before);
    });
}

/// REFRESH-02, REFRESH-03
#[test]
fn what_was_only_read_stays_external_and_is_not_compared() {
    for_orders(|world| {
        world.cloud.objects.insert("kept-1".to_owned(), value("1"));
        world.up(&[read("x", "kept-1")]).succeeded();
        world.cloud.objects.insert("kept-1".to_owned(), value("2"));
        world.cloud.take_calls();
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.counts(), [("update", 1)]);
        assert_eq!(world.cloud.take_calls(), ["read x"]);
        assert!(world.state("x").external);
        assert_eq!(*world.state("x").outputs, value("2"));
    });
}

/// REFRESH-09: what counts is how the inputs differ; outputs are taken over all the same.
#[test]
fn a_refresh_tells_what_it_found() {
    for_orders(|world| {
        world.up(&things()).succeeded();
        finds(world, "a", value("2"), value("2"));
        finds(world, "b", value("1"), value("3"));
        world.cloud.lose("c");
        let ran = world.refresh();
        ran.succeeded();
        let found = ["a", "b", "c"].map(|name| ran.found(name));
        assert_eq!(found, [["update"], ["same"], ["delete"]]);
        assert_eq!(*world.state("a").inputs, value("2"));
        assert_eq!(*world.state("b").outputs, value("3"));
        assert_eq!(world.names(), ["a", "b"]);
    });
}

/// RLD-01: as an option, what counts is how the outputs differ.
#[test]
fn a_refresh_may_go_by_outputs() {
    for chosen in choices() {
        for_orders(|world| {
            world.up(&things()).succeeded();
            finds(world, "a", value("2"), value("1"));
            finds(world, "b", value("1"), value("3"));
            world.cloud.lose("c");
            world.cloud.take_calls();
            let ran = world.refresh_with(&[], |options| {
                options.legacy_refresh_diff = true;
                options.targets = targets(&chosen);
            });
            ran.succeeded();
            for (name, found) in [("a", "same"), ("b", "update"), ("c", "delete")] {
                let expected: &[&str] = if chosen.contains(&name) {
                    &[found]
                } else {
                    &[]
                };
                assert_eq!(ran.found(name), expected, "{chosen:?}");
            }
            assert!(world.cloud.calls.iter().all(|it| it.starts_with("read")));
        });
    }
}

/// REFRESH-06, REFRESH-09: targets, and nothing else, are read.
#[test]
fn a_targeted_refresh_leaves_the_rest_as_it_is() {
    for chosen in choices() {
        for_orders(|world| {
            world.up(&things()).succeeded();
            for name in ["a", "b", "c"] {
                world.cloud.drift(name, "value", "2");
            }
            let ran = world.refresh_with(&[], |options| options.targets = targets(&chosen));
            ran.succeeded();
            for name in ["a", "b", "c"] {
                let expected = if chosen.contains(&name) { "2" } else { "1" };
                assert_eq!(*world.state(name).outputs, value(expected), "{chosen:?}");
            }
        });
    }
}

/// REFRESH-06: a copy that is still there keeps the dependency alive.
#[test]
fn a_dependency_stays_while_some_copy_of_it_does() {
    for_orders(|world| {
        world
            .up(&[res("a"), res("user").depends_on("a")])
            .succeeded();
        world.add_old_copy("a");
        world.cloud.lose("a");
        world.refresh().succeeded();
        assert!(world.state("a").delete);
        assert_eq!(
            world.state("user").dependencies,
            [world.state("a").urn.clone()]
        );
    });
}

/// REFRESH-10
#[test]
fn an_interrupted_refresh_keeps_what_it_has_read() {
    for_orders(|world| {
        world.up(&things()).succeeded();
        for name in ["a", "b", "c"] {
            world.cloud.drift(name, "value", "2");
        }
        world.interrupt_after = Some(1);
        let ran = world.refresh_with(&[], |options| options.parallel = 1);
        assert_eq!(ran.outcome.result, OperationResult::Canceled);
        let is_read = |name: &&str| *world.state(name).outputs == value("2");
        assert_eq!(["a", "b", "c"].iter().filter(|it| is_read(it)).count(), 1);
    });
}

/// REFRESH-12
#[test]
fn what_is_gone_and_not_wanted_is_no_error() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world.cloud.lose("a");
        let ran = world.up_with(&[], |options| options.refresh = true);
        ran.succeeded();
        assert!(world.snapshot.resources.is_empty());
    });
}

/// REFRESH-26: the same with and without the program. The state is rebuilt all the same, so empty lists of dependencies may
/// be dropped.
#[test]
fn what_cannot_be_read_keeps_its_state() {
    for program in [vec![], vec![res("a").with("value", "2")]] {
        for_orders(|world| {
            world.up(&[res("a").with("value", "1")]).succeeded();
            let without_lists = |world: &World| ResourceState {
                property_dependencies: SortedMap::default(),
                ..world.state("a").clone()
            };
            let before = without_lists(world);
            world.cloud.fail("read", "a", Fault::Clean);
            world
                .refresh_with(&program, |_| {})
                .failed("read of a failed");
            assert_eq!(without_lists(world), before);
        });
    }
}

/// REFRESH-24, REFRESH-27: whether one copy of the parent is gone, or the live one and the old one.
#[test]
fn a_child_outlives_its_parent() {
    for with_copy in [false, true] {
        for_orders(|world| {
            world.up(&[res("a"), res("child").parent("a")]).succeeded();
            world.cloud.lose("a");
            if with_copy {
                world.add_old_copy("a");
                world.cloud.objects.remove("a-0");
            }
            world.refresh().succeeded();
            assert_eq!(world.names(), ["child"]);
            assert_eq!(world.state("child").parent, None);
            let again = world.up(&[component("group"), res("child")]);
            again.succeeded();
        });
    }
}

/// REFRESH-19
#[test]
fn more_resources_than_may_be_read_at_once() {
    for_orders(|world| {
        let program: Vec<Res> = (0..30).map(|index| res(&format!("n{index}"))).collect();
        world.up(&program).succeeded();
        for program in [&[][..], &program] {
            world.cloud.take_calls();
            let ran = world.refresh_with(program, |options| options.parallel = 2);
            ran.succeeded();
            let reads = world.cloud.calls.iter().filter(|it| it.starts_with("read"));
            assert_eq!(reads.count(), 30);
        }
    });
}

/// REFRESH-28
#[test]
fn a_read_without_inputs_leaves_those_recorded() {
    for_orders(|world| {
        world.up(&[res("a").with("value", "1")]).succeeded();
        world.cloud.on("read", "a", |_| {
            Some(Ok(ProviderReply::Read(ReadResponse {
                id: ResourceId::Known("a-1".into()),
                inputs: None,
                outputs: Some(value("2").into()),
                refresh_before_update: false,
            })))
        });
        world.refresh().succeeded();
        let state = world.state("a");
        assert_eq!(
            (&*state.inputs, &*state.outputs),
            (&value("1"), &value("2"))
        );
    });
}

/// The provider compares what there is with what was asked for; people are shown what became of the resource.
#[test]
fn what_came_in_is_shown_as_added() {
    for_orders(|world| {
        world.up(&[res("a").with("value", "1")]).succeeded();
        let changed = value("1").with("extra", "new");
        finds(world, "a", changed.clone(), changed);
        let difference = PropertyDiff {
            kind: DiffKind::Delete,
            input_diff: true,
        };
        world.cloud.diffs(
            "a",
            DiffResult {
                detailed_diff: Some([("extra".into(), difference)].into()),
                ..DiffResult::of(DiffChanges::Some)
            },
        );
        let ran = world.refresh();
        ran.succeeded();
        let shown = ran.events.iter().find_map(|event| match event {
            Event::ResourceOutputs(it) if it.metadata.urn.name() == "a" => {
                it.metadata.detailed_diff.as_ref()
            }
            _ => None,
        });
        assert_eq!(shown.unwrap()["extra"].kind, DiffKind::Add);
    });
}
