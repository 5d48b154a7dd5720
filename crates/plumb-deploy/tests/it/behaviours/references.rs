//! RREF: references to resources in properties.

use std::sync::Arc;

use plumb_resource::ResourceKind;
use plumb_resource::provider::ProviderCall;
use plumb_value::{PropertyMap, ReferenceId, ResourceReference, Value};

use crate::world::{Known, Res, component, for_orders, invoke, res};

/// A reference to what is called `name`, as an SDK sends it.
fn reference(known: &Known, name: &str) -> Value {
    let reply = &known.registered[name];
    let kind = ResourceKind::from_custom(name != "group", &reply.urn.type_token());
    let id = match (kind, reply.id.as_str()) {
        (ResourceKind::Component, _) => ReferenceId::None,
        (_, "") => ReferenceId::Unknown,
        (_, id) => ReferenceId::Known(id.into()),
    };
    Value::Resource(Arc::new(ResourceReference {
        urn: reply.urn.as_str().into(),
        id,
        name: Some(reply.urn.name().into()),
        type_token: Some(reply.urn.type_text().into()),
        package_version: "".into(),
    }))
}

fn with_references(known: &Known) -> PropertyMap {
    PropertyMap::new()
        .with("component", reference(known, "group"))
        .with("custom", reference(known, "a"))
}

fn program() -> [Res; 3] {
    let user = res("user").after("group").after("a");
    let user = user.tune(|request, known| request.properties = with_references(known).into());
    [component("group"), res("a"), user]
}

/// RREF-01: from the program to the provider, into the state, and back.
#[test]
fn references_arrive_everywhere() {
    for_orders(|world| {
        let ran = world.up(&program());
        ran.succeeded();
        let expected = with_references(&ran.known);
        let ProviderCall::Create(asked) = world.cloud.request("create", "user") else {
            panic!("a create is a create");
        };
        assert_eq!(*asked.inputs, expected);
        assert_eq!(*world.state("user").outputs, expected);
        assert_eq!(*ran.reply("user").outputs, expected);
    });
}

/// RREF-01: a reference is the same as long as it names the same resource.
#[test]
fn a_component_stays_when_only_the_package_version_in_a_reference_changes() {
    for_orders(|world| {
        let program = |version: &'static str| {
            let user = component("user").after("a").tune(move |request, known| {
                let Value::Resource(found) = reference(known, "a") else {
                    panic!("a reference is a reference");
                };
                let found = ResourceReference {
                    package_version: version.into(),
                    name: None,
                    ..(*found).clone()
                };
                let of = Value::Resource(Arc::new(found));
                request.properties = PropertyMap::new().with("of", of).into();
            });
            [res("a"), user]
        };
        world.up(&program("1.0.0")).succeeded();
        let ran = world.up(&program("2.0.0"));
        ran.succeeded();
        assert_eq!(ran.steps("user"), ["same"]);
    });
}

/// RREF-01
#[test]
fn ids_in_references_are_unknown_in_previews_of_creates() {
    for_orders(|world| {
        let ran = world.preview(&program());
        ran.succeeded();
        let Some(Value::Resource(custom)) = ran.reply("user").outputs.get("custom") else {
            panic!("a reference is a reference");
        };
        assert_eq!(custom.id, ReferenceId::Unknown);
    });
}

/// RREF-03
#[test]
fn providers_get_ids_where_references_are_switched_off() {
    for_orders(|world| {
        let ran = world.up_with(&program(), |options| options.resource_references = false);
        ran.succeeded();
        let ProviderCall::Create(asked) = world.cloud.request("create", "user") else {
            panic!("a create is a create");
        };
        let expected = PropertyMap::new()
            .with("component", ran.reply("group").urn.as_str())
            .with("custom", ran.reply("a").id.as_str());
        assert_eq!(*asked.inputs, expected);
    });
}

/// RREF-04
#[test]
fn a_program_can_look_at_what_a_reference_means() {
    for_orders(|world| {
        let urn = crate::world::urn("user");
        let get = invoke("get", "pulumi:pulumi:getResource")
            .with("urn", urn.as_str())
            .after("user");
        let mut program = program().to_vec();
        program.push(get);
        let ran = world.up(&program);
        ran.succeeded();
        let found = &ran.known.invoked["get"].result;
        assert_eq!(found.get("urn"), Some(&urn.as_str().into()));
        assert_eq!(found.get("id"), Some(&ran.reply("user").id.as_str().into()));
        let state = with_references(&ran.known);
        assert_eq!(found.get("state"), Some(&state.into()));
        // The function belongs to the package `pulumi`, whose default provider it needs like any other.
        let providers = world.snapshot.resources.iter();
        let mut providers = providers.map(|it| it.urn.as_str());
        assert!(providers.any(|urn| urn.ends_with("::pulumi:providers:pulumi::default")));
    });
}
