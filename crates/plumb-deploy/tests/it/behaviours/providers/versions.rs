//! Versions and sources of plugins.

use crate::world::{for_orders, provider, res};
use plumb_resource::provider::PluginSpec;
use plumb_value::{PropertyMap, Value};

/// PROV-13, PROV-14, PROV-15: the option comes before the input.
#[test]
fn the_version_option_comes_before_the_input() {
    for (option, input, loaded) in [
        (None, None, "test"),
        (Some("1.0.0"), None, "test@1.0.0"),
        (None, Some("2.0.0"), "test@2.0.0"),
        (Some("1.0.0"), Some("2.0.0"), "test@1.0.0"),
    ] {
        for_orders(|world| {
            let mut p = provider("p");
            p.version = option.map(str::to_owned);
            if let Some(version) = input {
                p = p.with("version", version);
            }
            let ran = world.up(&[p, res("a").provider("p")]);
            ran.succeeded();
            assert_eq!(ran.loaded(), [loaded]);
            let version = world
                .state("p")
                .inputs
                .get("version")
                .and_then(Value::as_str);
            assert_eq!(version, option.or(input));
        });
    }
}

fn package(version: &str, url: Option<&str>) -> PluginSpec {
    PluginSpec {
        version: version.parse().ok(),
        download_url: url.map(Into::into),
        ..PluginSpec::named("test")
    }
}

/// Where a provider resource says that its plugin comes from.
fn url(inputs: &PropertyMap) -> Option<&str> {
    let internal = inputs.get("__internal")?.as_object()?;
    internal.get("pluginDownloadURL")?.as_str()
}

/// PROV-12, PROV-17, PROV-33: default providers are of the version and source that the program's packages name.
#[test]
fn default_providers_take_what_the_program_needs() {
    for_orders(|world| {
        world.packages = vec![
            package("1.0.0", Some("http://example.com")),
            package("0.9.0", None),
        ];
        let ran = world.up(&[res("a")]);
        ran.succeeded();
        assert_eq!(ran.loaded(), ["test@1.0.0"]);
        let state = world.state("default_1_0_0_http_/example.com");
        assert_eq!(url(&state.inputs), Some("http://example.com"));
        assert_eq!(url(&state.outputs), None);
    });
}

/// PROV-16, PROV-19: so do explicit ones, unless the program says otherwise of them.
#[test]
fn explicit_providers_take_what_the_program_leaves_open() {
    const NONE: Option<&str> = None;
    const OWN: Option<&str> = Some("http://own.example.com");
    const LISTED: Option<&str> = Some("http://listed.example.com");
    for (option, input, own, version, source) in [
        (NONE, NONE, NONE, "1.0.0", LISTED),
        (Some("2.0.0"), NONE, NONE, "2.0.0", NONE),
        (NONE, Some("2.0.0"), NONE, "2.0.0", LISTED),
        (Some("2.0.0"), NONE, OWN, "2.0.0", OWN),
    ] {
        for_orders(|world| {
            world.packages = vec![package("1.0.0", LISTED)];
            let mut p = provider("p").tune(move |request, _| {
                request.package.download_url = own.unwrap_or_default().into();
            });
            p.version = option.map(str::to_owned);
            if let Some(version) = input {
                p = p.with("version", version);
            }
            world.up(&[p]).succeeded();
            let inputs = &world.state("p").inputs;
            assert_eq!(inputs.get("version").and_then(Value::as_str), Some(version));
            assert_eq!(url(inputs), source);
        });
    }
}

/// PROV-09: what nobody needs any more is not even loaded.
#[test]
fn a_version_for_the_first_time_changes_no_resource() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world.packages = vec![package("1.0.0", None)];
        let ran = world.up(&[res("a")]);
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 1)]);
        assert_eq!(ran.loaded(), ["test@1.0.0"]);
        assert!(world.states("default").is_empty());
        let provider = world.state("a").provider.as_ref().unwrap();
        assert_eq!(provider.urn().name(), "default_1_0_0");
    });
}
