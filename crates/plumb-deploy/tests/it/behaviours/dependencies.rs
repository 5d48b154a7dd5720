//! Which resources each property depends on, as the state has it.

use std::sync::Arc;

use plumb_deploy::request::{Callback, CallbackReply, CallbackRequest};
use plumb_resource::ResourceState;

use crate::world::{component, for_orders, provider, res, urn};

/// Keys and names of what they depend on, as `key: name, name`.
fn dependencies(state: &ResourceState) -> Vec<String> {
    let line = |(key, urns): (&_, &ecow::EcoVec<plumb_resource::Urn>)| {
        let names: Vec<&str> = urns.iter().map(plumb_resource::Urn::name).collect();
        format!("{key}: {}", names.join(", "))
    };
    state.property_dependencies.iter().map(line).collect()
}

/// DBR-02
#[test]
fn properties_depend_on_everything_unless_told() {
    for_orders(|world| {
        let untold = res("c")
            .with("one", "1")
            .with("two", "2")
            .depends_on("a")
            .depends_on("b")
            .tune(|request, _| request.property_dependencies.clear());
        let told = res("d")
            .with("one", "1")
            .with("two", "2")
            .tune(|request, known| {
                request.property_dependencies = [("two".into(), [known.urn("a")].into())].into();
            });
        world
            .up(&[res("a"), res("b"), untold, told.after("a")])
            .succeeded();
        assert_eq!(dependencies(world.state("c")), ["one: a, b", "two: a, b"]);
        assert_eq!(dependencies(world.state("d")), ["one: ", "two: a"]);
    });
}

/// Properties that another's transform adds have no dependencies, unless their values name some.
#[test]
fn properties_that_a_transform_added_depend_on_nothing() {
    for_orders(|world| {
        world.function("add", |request| {
            let CallbackRequest::Transform(request) = request else {
                return Err("not a registration".to_owned());
            };
            let mut request = request.clone();
            Arc::make_mut(&mut request.properties).insert("added", "x");
            Ok(CallbackReply::Transformed(request))
        });
        let parent = component("p").tune(|request, _| {
            request.transforms = vec![Callback {
                target: "127.0.0.1:1".into(),
                token: "add".into(),
                accepts_byte_string: true,
            }];
        });
        let child = res("c")
            .parent("p")
            .with("own", "1")
            .depends_on("a")
            .tune(|request, _| request.property_dependencies.clear());
        world.up(&[res("a"), parent, child]).succeeded();
        assert_eq!(dependencies(world.state("c")), ["added: ", "own: a"]);
        assert_eq!(world.state("c").dependencies, [urn("a")]);
    });
}

/// The version of a provider is not the program's.
#[test]
fn inputs_that_the_engine_adds_to_a_provider_depend_on_nothing() {
    for_orders(|world| {
        let explicit = provider("p").with("region", "r").tune(|request, _| {
            request.package.version = "1.2.3".into();
        });
        world.up(&[explicit]).succeeded();
        assert!(world.state("p").inputs.contains_key("version"));
        assert_eq!(dependencies(world.state("p")), ["region: "]);
    });
}
