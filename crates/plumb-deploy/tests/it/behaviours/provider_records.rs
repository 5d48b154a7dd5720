//! ENVMAP, PULUMI: what is recorded of providers beside their configuration.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_deploy::{Effect, ProviderAction};
use plumb_resource::provider::{DiffChanges, DiffResult, ProviderReply};
use plumb_value::{PropertyMap, Value};

use crate::world::{Ran, Res, World, for_orders, must_replace, provider, res};

fn mapped(res: Res, mappings: &[(&str, &str)]) -> Res {
    let mappings: BTreeMap<EcoString, EcoString> = mappings
        .iter()
        .map(|(new, old)| ((*new).into(), (*old).into()))
        .collect();
    res.tune(move |request, _| request.env_var_mappings.clone_from(&mappings))
}

fn internal(world: &World) -> Option<Value> {
    world.state("p").inputs.get("__internal").cloned()
}

/// ENVMAP-01, ENVMAP-03, ENVMAP-04
#[test]
fn renamed_variables_are_recorded_as_long_as_there_are_any() {
    for_orders(|world| {
        world.up(&[mapped(provider("p"), &[])]).succeeded();
        assert_eq!(internal(world), None);
        let mappings = PropertyMap::new().with("NEW", "OLD");
        let expected = PropertyMap::new().with("envVarMappings", mappings);
        let program = [mapped(provider("p"), &[("NEW", "OLD")])];
        world.up(&program).succeeded();
        assert_eq!(internal(world), Some(expected.into()));
        world.up(&[provider("p")]).succeeded();
        assert_eq!(internal(world), None);
    });
}

/// ENVMAP-02
#[test]
fn only_providers_have_renamed_variables() {
    for_orders(|world| {
        let ran = world.up(&[mapped(res("a"), &[("NEW", "OLD")])]);
        let error = &ran.known.failed["a"];
        assert!(
            error
                .message
                .contains("can only be used with provider resources")
        );
    });
}

/// Checksums of the plugins that were asked for.
fn checksums(ran: &Ran) -> Vec<&BTreeMap<EcoString, EcoString>> {
    let effects = ran.effects.iter().flatten();
    effects
        .filter_map(|effect| match effect {
            Effect::Provider {
                action: ProviderAction::Load(spec),
                ..
            } => Some(&spec.checksums),
            _ => None,
        })
        .collect()
}

/// PULUMI-48: also when the provider is had from the state alone.
#[test]
fn checksums_of_plugins_are_recorded_and_used() {
    for_orders(|world| {
        let sums: BTreeMap<EcoString, EcoString> = [("linux-amd64".into(), "00ff".into())].into();
        let given = sums.clone();
        let a = res("a").tune(move |request, _| request.package.checksums.clone_from(&given));
        let created = world.up(&[a]);
        created.succeeded();
        let recorded = PropertyMap::new().with("linux-amd64", "00ff");
        let recorded = PropertyMap::new().with("pluginChecksums", recorded);
        let provider = world.state("default");
        assert_eq!(provider.inputs.get("__internal"), Some(&recorded.into()));
        for ran in [created, world.refresh(), world.destroy()] {
            ran.succeeded();
            assert_eq!(checksums(&ran), [&sums]);
        }
    });
}

/// PULUMI-31
#[test]
fn secret_settings_of_the_stack_stay_secret() {
    for_orders(|world| {
        let secret = Value::secret("s3cret".into());
        world.config.insert("test:token".into(), secret.clone());
        world.up(&[res("a")]).succeeded();
        let provider = world.state("default");
        assert_eq!(provider.inputs.get("token"), Some(&secret));
        assert_eq!(provider.outputs.get("token"), Some(&secret));
    });
}

/// PULUMI-25
#[test]
fn a_provider_without_recorded_outputs_is_compared_by_its_inputs() {
    for_orders(|world| {
        let program = |region: &str| [provider("p").with("region", region), res("a").provider("p")];
        world.up(&program("1")).succeeded();
        world.edit("p", |state| state.outputs = std::sync::Arc::default());
        world.cloud.on("diffConfig", "p", |call| {
            let plumb_resource::provider::ProviderCall::DiffConfig(it) = call else {
                return None;
            };
            let is_same = it.old_outputs.get("region") == it.new_inputs.get("region");
            Some(Ok(ProviderReply::Diffed(if is_same {
                DiffResult::of(DiffChanges::None)
            } else {
                must_replace("region")
            })))
        });
        assert_eq!(world.up(&program("1")).counts(), [("same", 2)]);
        world.edit("p", |state| state.outputs = std::sync::Arc::default());
        let ran = world.up(&program("2"));
        ran.succeeded();
        assert_eq!(ran.counts(), [("replace", 2)]);
    });
}
