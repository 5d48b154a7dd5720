//! Creates whose outcome nobody heard of: a refresh adopts the objects that the user found (`errata.md`).

use std::sync::Arc;

use plumb_deploy::setup::{Adoption, Operation, Options, Phase};
use plumb_resource::provider::{ProviderCall, ProviderReply, ReadResponse};
use plumb_resource::{OperationType, ResourceId, ResourceState};
use plumb_state::PendingOperation;
use plumb_value::{PropertyMap, Value};

use crate::world::{Ran, World, for_orders, res, urn};

/// Leaves the state as if an operation on `like` had been cut off, under the name `name`.
fn interrupt(world: &mut World, operation: OperationType, like: &str, name: &str) {
    let mut resource = world.state(like).clone();
    if operation == OperationType::Creating {
        resource.id = ResourceId::None;
        resource.outputs = Arc::default();
    }
    let resource = Arc::new(ResourceState {
        urn: urn(name),
        ..resource
    });
    world.snapshot.pending_operations.push(PendingOperation {
        resource,
        operation,
    });
}

/// The pending operations of the state: what, and on which resource.
fn pending(world: &World) -> Vec<(&'static str, &str)> {
    let pending = &world.snapshot.pending_operations;
    pending
        .iter()
        .map(|it| (it.operation.as_str(), it.resource.urn.name()))
        .collect()
}

/// A stack with `a`, one operation of each kind pending, and the object `kept-lost` that a create has made.
fn interrupted(world: &mut World) {
    world.up(&[res("a").with("value", "1")]).succeeded();
    interrupt(world, OperationType::Updating, "a", "a");
    interrupt(world, OperationType::Creating, "a", "lost");
    interrupt(world, OperationType::Deleting, "a", "a");
    let object = PropertyMap::new().with("value", "found");
    world.cloud.objects.insert("kept-lost".to_owned(), object);
    world.cloud.take_calls();
}

fn adopting(urn_name: &str, id: &str) -> Options {
    Options {
        adoptions: vec![Adoption {
            urn: urn(urn_name),
            id: id.into(),
        }],
        ..Options::new(Phase::Execute)
    }
}

fn adopt(world: &mut World, id: &str) -> Ran {
    world.run(Operation::Refresh, &[], adopting("lost", id))
}

/// The object of a pending create is read by the id that the user found, and recorded as the provider tells it.
#[test]
fn an_object_that_the_user_found_is_adopted() {
    for_orders(|world| {
        interrupted(world);
        let preview = world.run(
            Operation::Refresh,
            &[],
            Options {
                phase: Phase::Preview,
                ..adopting("lost", "kept-lost")
            },
        );
        preview.succeeded();
        assert_eq!(preview.steps("lost"), ["import"]);
        let ran = adopt(world, "kept-lost");
        ran.succeeded();
        assert_eq!(ran.steps("lost"), ["import"]);
        assert_eq!(ran.counts(), [("import", 1), ("same", 1)]);
        assert_eq!(pending(world), [("", ""); 0]);
        let lost = world.state("lost");
        assert_eq!(lost.id.as_str(), "kept-lost");
        assert_eq!(lost.inputs.get("value"), Some(&"found".into()));
        let program = [res("a").with("value", "1"), res("lost").with("value", "1")];
        let ran = world.up(&program);
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 1), ("update", 1)]);
    });
}

/// The program of a refresh sees what was adopted.
#[test]
fn a_refresh_with_program_adopts_first() {
    for_orders(|world| {
        interrupted(world);
        let program = [res("a").with("value", "1"), res("lost").with("value", "1")];
        let options = Options {
            run_program: true,
            ..adopting("lost", "kept-lost")
        };
        let ran = world.run(Operation::Refresh, &program, options);
        ran.succeeded();
        assert_eq!(ran.steps("lost"), ["import", "refresh"]);
        assert_eq!(ran.reply("lost").id.as_str(), "kept-lost");
        assert_eq!(pending(world), [("", ""); 0]);
        assert_eq!(world.state("lost").id.as_str(), "kept-lost");
    });
}

/// Whatever goes wrong, the pending create stays, and the rest is refreshed all the same.
#[test]
fn what_cannot_be_adopted_stays_pending() {
    for_orders(|world| {
        interrupted(world);
        world
            .cloud
            .objects
            .insert("kept-a".to_owned(), PropertyMap::new());
        let ran = adopt(world, "kept-nothing");
        ran.failed("resource 'kept-nothing' does not exist");
        assert_eq!(pending(world), [("creating", "lost")]);
        assert_eq!(world.names(), ["a"]);
        let ran = world.run(Operation::Refresh, &[], adopting("other", "kept-a"));
        ran.failed(&format!(
            "resource '{}' has no pending create",
            urn("other")
        ));
        let known = world.snapshot.pending_operations[0].resource.clone();
        world.snapshot.pending_operations[0].resource = Arc::new(ResourceState {
            dependencies: [urn("strange")].into(),
            ..known.as_ref().clone()
        });
        let ran = adopt(world, "kept-lost");
        ran.failed(&format!(
            "resource '{}' refers to '{}', which is not in this stack",
            urn("lost"),
            urn("strange")
        ));
        world.snapshot.pending_operations[0].resource = known;
        world.up(&[res("a"), res("lost")]).succeeded();
        let ran = adopt(world, "kept-lost");
        ran.failed(&format!("resource '{}' already exists", urn("lost")));
        assert_eq!(pending(world), [("creating", "lost")]);
    });
}

/// One id settles one create, even of the same resource.
#[test]
fn each_pending_create_is_settled_on_its_own() {
    for_orders(|world| {
        interrupted(world);
        interrupt(world, OperationType::Creating, "a", "lost");
        adopt(world, "kept-lost").succeeded();
        assert_eq!(pending(world), [("creating", "lost")]);
    });
}

/// A create asked for secrets: the object has them, and its provider does not say that they are.
#[test]
fn what_was_secret_stays_secret() {
    for_orders(|world| {
        let hush = || Value::secret("1".into());
        world.up(&[res("a").with("value", hush())]).succeeded();
        interrupt(world, OperationType::Creating, "a", "lost");
        let object = PropertyMap::new().with("value", "found").with("open", "x");
        world.cloud.objects.insert("kept-lost".to_owned(), object);
        adopt(world, "kept-lost").succeeded();
        let lost = world.state("lost");
        let expected = PropertyMap::new()
            .with("value", Value::secret("found".into()))
            .with("open", "x");
        assert_eq!((&*lost.inputs, &*lost.outputs), (&expected, &expected));
    });
}

/// A provider that tells no inputs leaves those that the create was asked for.
#[test]
fn inputs_that_nobody_tells_are_those_of_the_create() {
    for_orders(|world| {
        interrupted(world);
        world.cloud.on("read", "lost", |call| {
            let ProviderCall::Read(read) = call else {
                return None;
            };
            assert_eq!(read.inputs, None, "it is read like an import");
            Some(Ok(ProviderReply::Read(ReadResponse {
                id: read.id.clone(),
                inputs: None,
                outputs: Some(Arc::new(PropertyMap::new().with("value", "found"))),
                refresh_before_update: false,
            })))
        });
        adopt(world, "kept-lost").succeeded();
        let lost = world.state("lost");
        assert_eq!(lost.inputs.get("value"), Some(&"1".into()));
        assert_eq!(lost.outputs.get("value"), Some(&"found".into()));
    });
}
