//! PARAM, PKGREF, EXT: packages that programs register, and plugins that are made to serve others.

use std::collections::BTreeSet;

use crate::world::{
    Fault, Plugin, Ran, Res, World, component, for_many_orders, for_orders, invoke, method,
    must_replace, package, provider, read, remote, res, targets,
};
use plumb_deploy::{Effect, Event};
use plumb_resource::provider::{Parameterization, ProviderCall};
use plumb_value::{PropertyMap, Value};

fn parameter(name: &str, value: &str) -> Parameterization {
    Parameterization {
        name: name.into(),
        version: "0.5.0".into(),
        value: value.as_bytes().into(),
    }
}

/// The package `sub`, which the plugin `base` serves.
fn sub() -> Res {
    package("sub", "base", "1.0.0")
        .with_package(|request| request.parameterization = Some(parameter("sub", "secret sauce")))
}

const THING: &str = "sub:index:Thing";

/// PARAM-01
#[test]
fn packages_choose_the_versions_of_their_providers() {
    for_orders(|world| {
        let mut program = vec![
            package("A", "test", "1.0.0"),
            package("B", "test", "2.0.0"),
            res("a").package("A"),
            res("b").package("B"),
        ];
        program.extend((0..20).map(|n| package(&format!("again {n}"), "test", "1.0.0")));
        let ran = world.up(&program);
        ran.succeeded();
        for (call, version) in [("create a", "1.0.0"), ("create b", "2.0.0")] {
            assert_eq!(ran.server(call).version().as_deref(), Some(version));
        }
        let references: BTreeSet<_> = ran.known.packages.values().collect();
        assert_eq!(references.len(), 2);
        assert_ne!(ran.known.packages["A"], ran.known.packages["B"]);
    });
}

/// PKGREF-01
#[test]
fn packages_of_one_plugin_have_different_references() {
    for_orders(|world| {
        let extension = package("extension", "base", "1.0.0")
            .with_package(|request| request.extension = Some(parameter("sub", "secret sauce")));
        let ran = world.up(&[sub(), extension, package("plain", "base", "1.0.0")]);
        ran.succeeded();
        let references: BTreeSet<_> = ran.known.packages.values().collect();
        assert_eq!(references.len(), 3);
    });
}

#[track_caller]
fn check_is_sub(plugin: &Plugin) {
    assert_eq!(plugin.spec.name, "base");
    assert_eq!(plugin.version().as_deref(), Some("1.0.0"));
    assert_eq!(
        plugin.spec.parameterization,
        Some(parameter("sub", "secret sauce"))
    );
}

/// PARAM-02: everything of the package reaches the plugin with the parameter.
#[test]
fn everything_of_a_package_reaches_its_plugin() {
    for_orders(|world| {
        world.cloud.put("kept-1", PropertyMap::new());
        let of_sub = |item: Res| item.package("sub");
        let program = [
            sub(),
            of_sub(res("a").token(THING)),
            of_sub(remote("far").token("sub:index:Group"))
                .builds([component("near").called("far").token("sub:index:Group")]),
            of_sub(invoke("i", "sub:index:f")),
            of_sub(read("r", "kept-1").token(THING)),
            of_sub(method("m", "sub:index:Group/m")),
            of_sub(provider("p").token("pulumi:providers:sub")),
            of_sub(res("b").token(THING).provider("p")),
        ];
        let ran = world.up(&program);
        ran.succeeded();
        let calls = [
            "create a",
            "construct far",
            "invoke sub:index:f",
            "read r",
            "call sub:index:Group/m",
            "create b",
        ];
        for call in calls {
            check_is_sub(ran.server(call));
        }
        assert_eq!(ran.server("create b").provider(), "p");
        assert_eq!(ran.server("create a").provider(), "default_0_5_0");
    });
}

/// PARAM-03: settings of the package do not get mixed up with what the engine remembers, from which alone the plugin is
/// made again.
#[test]
fn a_plugin_with_a_parameter_is_made_again_from_the_state() {
    for_orders(|world| {
        world.config.insert("sub:name".into(), Value::from("mine"));
        let program = [sub(), res("a").token(THING).package("sub")];
        world.up(&program).succeeded();
        let inputs = world.state("default_0_5_0").inputs.clone();
        let internal = PropertyMap::new()
            .with("name", "base")
            .with("version", "1.0.0")
            .with("parameterization", "c2VjcmV0IHNhdWNl");
        let expected = PropertyMap::new()
            .with("name", "mine")
            .with("version", "0.5.0")
            .with("__internal", internal);
        assert_eq!(inputs.as_ref(), &expected);
        let check = |ran: &Ran, call: &str| {
            ran.succeeded();
            let server = ran.server(call);
            check_is_sub(server);
            assert_eq!(server.setting("name"), Some("mine"));
            assert_eq!(server.setting("version"), Some("0.5.0"));
        };
        world.config.clear();
        check(&world.refresh(), "read a");
        check(&world.destroy(), "delete a");
    });
}

/// PARAM-04: one process for each provider.
#[test]
fn objects_are_imported_through_a_plugin_with_a_parameter() {
    for is_explicit in [false, true] {
        for_orders(|world| {
            world
                .cloud
                .put("ext-1", PropertyMap::new().with("value", "1"));
            let mut a = res("a").token(THING).package("sub").with("value", "1");
            let mut program = vec![sub()];
            if is_explicit {
                program.push(provider("p").token("pulumi:providers:sub").package("sub"));
                a = a.provider("p");
            }
            program.push(a.import("ext-1"));
            let ran = world.up(&program);
            ran.succeeded();
            assert_eq!(ran.steps("a"), ["import"]);
            check_is_sub(ran.server("read a"));
            let name = if is_explicit { "p" } else { "default_0_5_0" };
            assert_eq!(ran.server("read a").provider(), name);
            assert_eq!(ran.loaded(), ["base@1.0.0"]);
        });
    }
}

/// Two packages that add to what `base` serves, and a resource of each.
fn extended() -> [Res; 5] {
    let extension = |name: &'static str| {
        package(name, "base", "1.0.0")
            .with_package(|request| request.extension = Some(parameter(name, name)))
    };
    [
        extension("one"),
        extension("two"),
        package("one again", "base", "1.0.0")
            .with_package(|request| request.extension = Some(parameter("one", "one"))),
        res("a").token("base:one:Thing").package("one"),
        res("b").token("base:two:Thing").package("two"),
    ]
}

/// The parameters that were applied to the only process of a run, in alphabetical order.
#[track_caller]
fn extensions(ran: &Ran, call: &str) -> Vec<String> {
    ran.succeeded();
    assert_eq!(ran.loaded(), ["base@1.0.0"]);
    let server = ran.server(call);
    let mut names: Vec<String> = server
        .extensions
        .iter()
        .map(|it| it.name.to_string())
        .collect();
    names.sort();
    names
}

/// EXT-01, EXT-02: each extension is applied once to each process that needs it, before anything else is asked for it.
#[test]
fn extensions_are_applied_once_to_each_process() {
    for_orders(|world| {
        let ran = world.up(&extended());
        assert_eq!(extensions(&ran, "create a"), ["one", "two"]);
        let packages = &ran.known.packages;
        assert_eq!(packages["one"], packages["one again"]);
        assert_ne!(packages["one"], packages["two"]);
        for (name, package) in [("a", "one"), ("b", "two")] {
            let reference = &packages[package];
            assert_eq!(world.state(name).extension_ref.as_ref(), Some(reference));
            let blob = &world.snapshot.extensions[reference];
            assert_eq!(
                (blob.name.as_str(), &*blob.value),
                (package, package.as_bytes())
            );
        }
        let ran = world.up(&extended());
        assert_eq!(ran.counts(), [("same", 2)]);
        assert_eq!(extensions(&ran, "diff a"), ["one", "two"]);
        assert_eq!(extensions(&world.refresh(), "read a"), ["one", "two"]);
        let [one, .., a, _] = extended();
        assert_eq!(extensions(&world.up(&[one, a]), "delete b"), ["one", "two"]);
        assert_eq!(extensions(&world.destroy(), "delete a"), ["one"]);
    });
}

/// EXT-02: a provider may get another configuration while an extension is applied to it for what was there before.
#[test]
fn an_extension_follows_its_provider_to_another_configuration() {
    for_many_orders(100, |world| {
        let [one, .., extended, _] = extended();
        let program = |x: &str, a: Res| {
            let p = provider("p").token("pulumi:providers:base");
            [
                one.clone(),
                res("slow"),
                p.with("x", x).after("slow"),
                res("b").with("x", x).delete_before_replace(true),
                a.provider("p").replace_with("b"),
            ]
        };
        world.up(&program("1", extended)).succeeded();
        world.cloud.diffs("b", must_replace("x"));
        let plain = res("a").token("base:one:Thing");
        let ran = world.up(&program("2", plain));
        ran.succeeded();
        assert_eq!(ran.steps("p"), ["update"]);
        let extensions = ran.server("delete a").extensions.iter();
        let names: Vec<&str> = extensions.map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["one"]);
    });
}

/// A method that waits for an extension is not called when the run fails meanwhile.
#[test]
fn methods_that_wait_for_an_extension_are_not_called_after_a_failure() {
    for_many_orders(100, |world| {
        world.cloud.fail("check", "bad", Fault::Clean);
        let [one, .., a, _] = extended();
        let method = method("m", "base:one:method").package("one");
        let ran = world.up(&[one, a, method, res("slow"), res("bad")]);
        ran.failed("check of bad failed");
        let fails = |event: &Event| matches!(event, Event::Answered { result: Err(_), .. });
        let failure = ran.log.iter().position(|(_, event)| fails(event));
        let is_method = |effect: &Effect| {
            let Effect::Call { request, .. } = effect else {
                return false;
            };
            matches!(request, ProviderCall::Call(_))
        };
        let mut late = ran.effects[failure.unwrap()..].iter().flatten();
        assert!(!late.any(is_method));
    });
}

/// EXT-02: what a destroy with the program finds to be of an extension can be deleted later, without the program.
#[test]
fn an_extension_is_kept_though_nothing_of_it_was_deleted() {
    for_orders(|world| {
        let plain = || res("a").token("base:one:Thing").protect(true);
        let [one, .., extended, _] = extended();
        world.up(&[plain()]).succeeded();
        let ran = world.destroy_with(&[one, extended.protect(true)], |_| {});
        ran.failed("cannot be deleted");
        let reference = world.state("a").extension_ref.clone().unwrap();
        assert_eq!(world.snapshot.extensions[&reference].name, "one");
        world.edit("a", |state| state.protect = false);
        let ran = world.destroy();
        ran.succeeded();
        assert_eq!(ran.server("delete a").extensions.len(), 1);
        assert!(world.snapshot.resources.is_empty());
    });
}

/// PROV-34: a provider takes no provider from its parent, and so has none to hand on, whatever its package is called.
#[test]
fn providers_of_packages_hand_on_no_default_provider() {
    for_orders(|world| {
        let program = [
            package("A", "test", "1.0.0"),
            package("B", "test", "2.0.0"),
            res("parent").package("A"),
            provider("p").parent("parent").package("B"),
            res("child").parent("p"),
        ];
        let ran = world.up(&program);
        ran.succeeded();
        assert_eq!(ran.server("create parent").provider(), "default_1_0_0");
        assert_eq!(ran.server("create child").provider(), "default");
    });
}

/// EXT-01: nothing is asked of a process before it knows the extension.
#[test]
fn calls_wait_for_extensions() {
    for_orders(|world| {
        let before_known = |world: &mut World| {
            let calls = world.cloud.take_calls();
            let known = calls.iter().position(|call| call == "parameterize one");
            let first = calls.iter().position(|call| call.ends_with(" a"));
            assert!(known < first, "{calls:?}");
        };
        let [one, .., a, _] = extended();
        world.up(&[one, a]).succeeded();
        before_known(world);
        world.refresh().succeeded();
        before_known(world);
        world.destroy().succeeded();
        before_known(world);
    });
}

/// EXT-01: an extension that cannot be applied.
#[test]
fn a_refused_extension_ends_the_run() {
    for_orders(|world| {
        world
            .cloud
            .fail("parameterize", "one", crate::world::Fault::Clean);
        world.up(&extended()).failed("parameterize of one failed");
        let is_there =
            |state: &std::sync::Arc<plumb_resource::ResourceState>| state.urn.name() == "a";
        assert!(!world.snapshot.resources.iter().any(is_there));
        world.cloud.behave();
        world.up(&extended()).succeeded();
        assert_eq!(world.names(), ["a", "b"]);
    });
}

/// EXT-01: nothing is asked of a provider about what is of an extension that it refuses, although it takes another one.
#[test]
fn what_is_of_a_refused_extension_is_not_asked_for() {
    for parallel in [1, 16] {
        for_many_orders(100, |world| {
            world.cloud.fail("parameterize", "one", Fault::Clean);
            let [one, two, _, a, b] = extended();
            let also = res("also").token("base:one:Thing").package("one");
            let ran = world.up_with(&[one, two, a, b, also], |options| {
                options.parallel = parallel;
            });
            ran.failed("parameterize of one failed");
            let calls = world.cloud.take_calls();
            let is_refused = |call: &String| call.ends_with(" a") || call.ends_with(" also");
            assert!(!calls.iter().any(is_refused), "{calls:?}");
            world.cloud.behave();
        });
    }
}

/// EXT-01: what is left out needs no extension.
#[test]
fn what_is_left_out_asks_for_no_extension() {
    for_many_orders(100, |world| {
        world.cloud.fail("parameterize", "one", Fault::Clean);
        let [one, .., a, _] = extended();
        let program = [one, a, res("other")];
        let ran = world.up_with(&program, |options| options.targets = targets(&["other"]));
        ran.succeeded();
        world.cloud.behave();
    });
}
