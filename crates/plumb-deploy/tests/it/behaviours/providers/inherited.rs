//! Options that resources inherit from their parents.

use crate::world::{Ran, Res, World, component, for_orders, invoke, provider, read, remote, res};
use plumb_resource::provider::ProviderCall;

/// A component with providers for its children.
fn group(name: &str, providers: &'static [&'static str]) -> Res {
    let group = component(name).tune(move |request, known| {
        for name in providers {
            let reference = known.reference(name);
            let package = known.urn(name).type_token();
            let package = package.provided_package().unwrap_or_default();
            request.providers.insert(package.into(), reference.into());
        }
    });
    providers
        .iter()
        .fold(group, |group, name| group.after(name))
}

fn provider_of<'w>(world: &'w World, name: &str) -> &'w str {
    let provider = world.state(name).provider.as_ref();
    provider.expect("it is a custom resource").urn().name()
}

const OTHER: &str = "other:index:Thing";

fn two_providers() -> [Res; 2] {
    [provider("p"), provider("q").token("pulumi:providers:other")]
}

fn program(items: impl IntoIterator<Item = Res>) -> Vec<Res> {
    two_providers().into_iter().chain(items).collect()
}

/// PROV-22, PROV-34: a child has its parent's provider if both are of one package.
#[test]
fn children_have_the_provider_of_their_parent() {
    for_orders(|world| {
        let items = program([
            res("a").provider("p"),
            res("child").parent("a"),
            res("grandchild").parent("child"),
            res("foreign").parent("a").token(OTHER),
            res("plain"),
            res("foreign child of plain").parent("plain").token(OTHER),
        ]);
        world.up(&items).succeeded();
        assert_eq!(provider_of(world, "child"), "p");
        assert_eq!(provider_of(world, "grandchild"), "p");
        for name in ["foreign", "foreign child of plain"] {
            let reference = world.state(name).provider.clone().unwrap();
            assert_eq!(
                (reference.package(), reference.urn().name()),
                ("other", "default")
            );
        }
    });
}

/// PROV-23, PROV-25: the providers of a component are for what is below it, down to the next custom resource; what is
/// nearer comes first.
#[test]
fn the_providers_of_a_component_are_for_its_children() {
    for_orders(|world| {
        let items = program([
            provider("nearer"),
            group("outer", &["p", "q"]),
            group("inner", &["nearer"]).parent("outer"),
            res("in outer").parent("outer"),
            res("in inner").parent("inner"),
            res("foreign in inner").parent("inner").token(OTHER),
            res("own").parent("inner").provider("p"),
            res("foreign below custom").parent("in inner").token(OTHER),
        ]);
        world.up(&items).succeeded();
        assert_eq!(provider_of(world, "in outer"), "p");
        assert_eq!(provider_of(world, "in inner"), "nearer");
        assert_eq!(provider_of(world, "foreign in inner"), "q");
        assert_eq!(provider_of(world, "own"), "p");
        assert_eq!(provider_of(world, "foreign below custom"), "default");
    });
}

fn constructed<'r>(world: &'r World, name: &str) -> &'r plumb_resource::provider::ConstructRequest {
    match world.cloud.request("construct", name) {
        ProviderCall::Construct(request) => request,
        other => panic!("{other:?}"),
    }
}

/// PROV-24, PROV-25: a remote component is constructed by its parent's provider for its own package, and is told of all
/// providers.
#[test]
fn remote_components_take_providers_from_their_parent() {
    for (token, server) in [
        ("test:index:Group", "p"),
        (OTHER, "q"),
        ("third:index:Group", "default"),
    ] {
        for_orders(|world| {
            world.cloud.take_calls();
            let far = remote("far")
                .token(token)
                .parent("outer")
                .builds([component("near").called("far").token(token).parent("outer")]);
            let items = program([group("outer", &["p", "q"]), far]);
            let ran = world.up(&items);
            ran.succeeded();
            assert_eq!(ran.server("construct far").provider(), server);
            let providers = &constructed(world, "far").providers;
            let packages: Vec<&str> = providers.keys().map(AsRef::as_ref).collect();
            assert_eq!(packages, ["other", "test"]);
        });
    }
}

/// PROV-24: a component with a single provider of another package.
#[test]
fn a_provider_of_another_package_is_not_inherited() {
    for_orders(|world| {
        let far = remote("far")
            .token(OTHER)
            .parent("outer")
            .builds([component("near").called("far").token(OTHER).parent("outer")]);
        let ran = world.up(&program([component("outer").provider("p"), far]));
        ran.succeeded();
        assert_eq!(ran.server("construct far").provider(), "default");
    });
}

/// PROV-20, PROV-21: `deletedWith` is inherited too, and told to the constructor.
#[test]
fn children_are_deleted_with_what_their_parent_is() {
    for_orders(|world| {
        let far = remote("far").parent("outer").builds([
            component("near").called("far").parent("outer"),
            res("in far").parent("near"),
        ]);
        let items = [
            res("whole"),
            component("outer").deleted_with("whole"),
            res("in outer").parent("outer"),
            res("below").parent("in outer"),
            far,
        ];
        world.up(&items).succeeded();
        let whole = world.state("whole").urn.clone();
        assert_eq!(
            constructed(world, "far").goal.deleted_with.as_ref(),
            Some(&whole)
        );
        for name in ["in outer", "below", "far", "in far"] {
            assert_eq!(
                world.state(name).deleted_with.as_ref(),
                Some(&whole),
                "{name}"
            );
        }
        world.cloud.take_calls();
        world.destroy().succeeded();
        assert_eq!(world.cloud.take_calls(), ["delete whole"]);
    });
}

/// GOSDK-05: an explicit provider comes before the map of providers, that before the parent's provider.
#[test]
fn explicit_providers_come_first() {
    for_orders(|world| {
        let own_map = |item: Res| {
            item.after("nearer").tune(|request, known| {
                let reference = known.reference("nearer").into();
                request.providers.insert("test".into(), reference);
            })
        };
        let items = program([
            provider("nearer"),
            group("outer", &["p"]),
            res("explicit").parent("outer").provider("nearer"),
            own_map(res("mapped").parent("outer")),
            own_map(res("both").parent("outer").provider("p")),
            read("read", "kept-1").provider("nearer"),
            invoke("invoke", "test:index:f").parent("outer"),
            invoke("explicit invoke", "test:index:g")
                .parent("outer")
                .provider("nearer"),
        ]);
        world.cloud.put("kept-1", plumb_value::PropertyMap::new());
        let ran: Ran = world.up(&items);
        ran.succeeded();
        for (call, server) in [
            ("create explicit", "nearer"),
            ("create mapped", "nearer"),
            ("create both", "p"),
            ("read read", "nearer"),
            ("invoke test:index:f", "p"),
            ("invoke test:index:g", "nearer"),
        ] {
            assert_eq!(ran.server(call).provider(), server, "{call}");
        }
    });
}
