//! STEPGEN: objects that a program reads, and the way between reading and managing.

use plumb_events::Event;
use plumb_value::{PropertyMap, Value};

use crate::world::{World, for_orders, provider, read, res};

fn with_object(world: &mut World) {
    let object = PropertyMap::new().with("value", "1");
    world.cloud.objects.insert("kept-1".to_owned(), object);
}

/// STEPGEN-04
#[test]
fn a_managed_resource_becomes_a_read_of_another_object() {
    for_orders(|world| {
        with_object(world);
        world.up(&[res("a")]).succeeded();
        world.cloud.take_calls();
        let ran = world.up(&[read("a", "kept-1")]);
        ran.succeeded();
        let steps = ["read-replacement", "replace", "delete-replaced"];
        assert_eq!(ran.steps("a"), steps);
        assert_eq!(world.cloud.take_changes(), ["delete a"]);
        let state = world.state("a");
        assert!(state.external && state.id.as_str() == "kept-1");
    });
}

/// STEPGEN-05
#[test]
fn a_managed_resource_is_given_up_by_reading_it() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        let id = world.state("a").id.clone();
        world.cloud.take_calls();
        let ran = world.up(&[read("a", id.as_str())]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["read"]);
        assert!(world.state("a").external);
        assert!(world.cloud.take_changes().is_empty());
    });
}

/// STEPGEN-06
#[test]
fn what_was_only_read_becomes_a_resource_of_its_own() {
    for_orders(|world| {
        with_object(world);
        world.up(&[read("a", "kept-1")]).succeeded();
        world.cloud.take_calls();
        let ran = world.up(&[res("a")]);
        ran.succeeded();
        let steps = ["create-replacement", "replace", "discard-replaced"];
        assert_eq!(ran.steps("a"), steps);
        assert_eq!(world.cloud.take_changes(), ["create a"]);
        assert!(!world.state("a").external);
        assert_eq!(world.up(&[res("a")]).counts(), [("same", 1)]);
    });
}

/// STEPGEN-09, PULUMI-26
#[test]
fn what_is_read_must_exist() {
    for_orders(|world| {
        let ran = world.up(&[read("a", "nowhere")]);
        ran.failed("resource 'nowhere' does not exist");
        assert_eq!(
            ran.outcome.error.as_deref(),
            Some(
                "step executor errored: step application failed: resource 'nowhere' does not exist"
            )
        );
    });
}

/// PULUMI-37: the provider is there already.
#[test]
fn a_read_needs_an_id() {
    for_orders(|world| {
        let ran = world.up(&[read("a", "")]);
        ran.failed("Expected an ID for urn:pulumi:dev::proj::test:index:Thing::a");
        let urns = world.snapshot.resources.iter().map(|it| it.urn.name());
        assert_eq!(urns.collect::<Vec<_>>(), ["default"]);
    });
}

/// STEPGEN-10
#[test]
fn events_tell_what_is_external() {
    for_orders(|world| {
        with_object(world);
        let ran = world.up(&[read("a", "kept-1"), res("b"), provider("p")]);
        ran.succeeded();
        for event in &ran.events {
            if let Event::ResourcePre(it) | Event::ResourceOutputs(it) = event {
                let metadata = &it.metadata;
                let new = metadata.new.as_ref().expect("there is a new state");
                assert_eq!(new.external, metadata.urn.name() == "a");
            }
        }
    });
}

/// REFRESH-03: what the program says is secret stays so, although the provider does not know.
#[test]
fn a_refresh_keeps_the_secrets_of_what_was_read() {
    for_orders(|world| {
        with_object(world);
        let program = [read("a", "kept-1").with("value", Value::secret("1".into()))];
        world.up(&program).succeeded();
        let before = world.state("a").clone();
        assert!(before.inputs.contains_secrets() && before.outputs.contains_secrets());
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.found("a"), ["same"]);
        assert_eq!(*world.state("a"), before);
        world.cloud.drift("kept", "value", "2");
        world.refresh().succeeded();
        let secret = PropertyMap::new().with("value", Value::secret("2".into()));
        let after = world.state("a");
        assert_eq!((&*after.inputs, &*after.outputs), (&secret, &secret));
    });
}
