//! Configuration as a provider checks and changes it, and references to providers.

use crate::world::{Cloud, World, for_orders, provider, res};
use plumb_resource::ResourceId;
use plumb_resource::provider::{CheckResponse, ProviderCall, ProviderReply, ReadResponse};
use plumb_value::{PropertyMap, Value};
use std::sync::Arc;

/// Has CheckConfig of `p` answer what `change` makes of the inputs.
fn checks_config(cloud: &mut Cloud, change: fn(&mut PropertyMap)) {
    cloud.on("checkConfig", "p", move |call| {
        let ProviderCall::CheckConfig(request) = call else {
            return None;
        };
        let mut inputs = request.new_inputs.as_ref().clone();
        change(&mut inputs);
        Some(Ok(ProviderReply::Checked(CheckResponse {
            inputs: Some(Arc::new(inputs)),
            ..CheckResponse::default()
        })))
    });
}

fn up(world: &mut World) -> crate::world::Ran {
    world.up(&[provider("p").version("1.0.0"), res("a").provider("p")])
}

/// PROV-31
#[test]
fn a_version_that_the_provider_drops_is_kept() {
    for_orders(|world| {
        checks_config(&mut world.cloud, |inputs| drop(inputs.remove("version")));
        up(world).succeeded();
        let version = world.state("p").inputs.get("version").cloned();
        assert_eq!(version, Some("1.0.0".into()));
    });
}

/// PROV-32
#[test]
fn a_provider_may_not_change_its_version() {
    for_orders(|world| {
        checks_config(&mut world.cloud, |inputs| {
            inputs.insert("version", "2.0.0");
        });
        up(world).failed(
            "provider \"urn:pulumi:dev::proj::pulumi:providers:test::p\" attempted to change version from 1.0.0 to 2.0.0",
        );
        assert!(world.snapshot.resources.is_empty());
    });
}

/// PROV-27, PROV-33: the driver of these tests sees to it that Configure has no such key.
#[test]
fn the_engines_own_key_is_its_own() {
    for_orders(|world| {
        world.cloud.on("checkConfig", "p", |call| {
            let ProviderCall::CheckConfig(request) = call else {
                return None;
            };
            assert!(!request.new_inputs.contains_key("__internal"));
            None
        });
        up(world).succeeded();
        let engines = world.state("p").inputs.get("__internal").cloned();
        assert_eq!(engines, Some(Value::Object(Arc::default())));
        world.cloud.behave();
        checks_config(&mut world.cloud, |inputs| {
            inputs.insert("__internal", "mine");
        });
        let ran = up(world);
        ran.succeeded();
        assert_eq!(
            ran.warnings,
            ["provider attempted to use __internal key that is reserved by the engine"]
        );
        assert_eq!(world.state("p").inputs.get("__internal").cloned(), engines);
    });
}

/// PROV-29
#[test]
fn a_malformed_reference_is_refused() {
    for (reference, message) in [
        (
            "urn:pulumi:dev::proj::pulumi:providers:test::p",
            "could not parse provider reference: urn:pulumi:dev::proj::pulumi:providers:test is not a valid URN",
        ),
        (
            "p",
            "could not parse provider reference: expected '::' in provider reference 'p'",
        ),
    ] {
        for_orders(|world| {
            let a = res("a").tune(move |request, _| request.provider = reference.into());
            let ran = world.up(&[a]);
            assert_eq!(ran.refusal("a"), message);
            assert!(world.snapshot.resources.is_empty());
        });
    }
}

/// PROV-30
#[test]
fn an_object_without_an_id_is_gone() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world.cloud.on("read", "a", |_| {
            Some(Ok(ProviderReply::Read(ReadResponse {
                id: ResourceId::None,
                inputs: None,
                outputs: Some(Arc::new(PropertyMap::new().with("value", "ghost"))),
                refresh_before_update: false,
            })))
        });
        world.cloud.objects.clear();
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.counts(), [("delete", 1)]);
        assert!(world.names().is_empty());
    });
}
