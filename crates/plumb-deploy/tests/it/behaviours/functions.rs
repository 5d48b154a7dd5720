//! INVOKE: functions of providers, and what they wait for.

use crate::world::{
    Ran, Res, World, component, for_orders, invoke, options, provider, remote, res, targets,
};
use plumb_deploy::setup::{Operation, Options};
use plumb_resource::provider::ProviderCall;

const F: &str = "test:index:f";

/// The function was called, or its result was said not to be known.
#[track_caller]
fn check_called(world: &mut World, ran: &Ran, expected: bool) {
    ran.succeeded();
    let calls = world.cloud.take_calls();
    assert_eq!(
        calls.contains(&format!("invoke {F}")),
        expected,
        "{calls:?}"
    );
    assert_eq!(ran.result("f").unknown, !expected);
}

/// INVOKE-01
#[test]
fn functions_are_told_of_previews() {
    for_orders(|world| {
        for is_preview in [true, false] {
            let run = if is_preview {
                World::preview
            } else {
                World::up
            };
            run(world, &[invoke("f", F)]).succeeded();
            let ProviderCall::Invoke(request) = world.cloud.request("invoke", F) else {
                panic!("not an invoke");
            };
            assert_eq!(request.preview, is_preview);
            world.cloud.take_calls();
        }
    });
}

/// INVOKE-02
#[test]
fn functions_have_the_providers_of_their_parent_component() {
    let group = |name: &str| component(name);
    for_orders(|world| {
        let items = [
            provider("p"),
            provider("q"),
            group("outer").after("p").tune(|request, known| {
                let reference = known.reference("p").into();
                request.providers.insert("test".into(), reference);
            }),
            group("inner").parent("outer"),
            res("custom").parent("inner"),
            invoke("1", "test:index:in-outer").parent("outer"),
            invoke("2", "test:index:in-inner").parent("inner"),
            invoke("3", "test:index:explicit")
                .parent("inner")
                .provider("q"),
            invoke("4", "test:index:below-custom").parent("custom"),
            invoke("5", "test:index:alone"),
        ];
        let ran = world.up(&items);
        ran.succeeded();
        for (function, server) in [
            ("in-outer", "p"),
            ("in-inner", "p"),
            ("explicit", "q"),
            ("below-custom", "default"),
            ("alone", "default"),
        ] {
            let call = format!("invoke test:index:{function}");
            assert_eq!(ran.server(&call).provider(), server, "{function}");
        }
    });
}

fn construction() -> Res {
    remote("far").parent("outer").builds([
        component("near").called("far").parent("outer"),
        res("in far").parent("near"),
    ])
}

/// INVOKE-03, INVOKE-04, INVOKE-05: whatever is below a component must exist first.
#[test]
fn a_function_waits_for_what_it_depends_on() {
    for dependency in ["custom", "far", "outer"] {
        for_orders(|world| {
            let program = [
                res("custom"),
                component("outer"),
                construction(),
                invoke("f", F)
                    .depends_on(dependency)
                    .after("far")
                    .after("custom"),
            ];
            let ran = world.preview(&program);
            check_called(world, &ran, false);
            let ran = world.up(&program);
            check_called(world, &ran, true);
            let ran = world.preview(&program);
            check_called(world, &ran, true);
        });
    }
}

/// INVOKE-04: what is being registered below a component counts too.
#[test]
fn a_function_waits_for_registrations_below_a_component() {
    for_orders(|world| {
        let program = [
            res("first"),
            component("outer").after("first"),
            component("inner").parent("outer"),
            res("slow").parent("inner"),
            invoke("f", F).depends_on("outer").after("inner"),
        ];
        world.cloud.take_calls();
        let ran = world.preview(&program);
        ran.succeeded();
        let asked = ran.asked();
        let calls = world.cloud.take_calls();
        let is_called = calls.contains(&format!("invoke {F}"));
        assert_eq!(is_called, asked["f"] < asked["slow"], "{asked:?}");
    });
}

/// INVOKE-06
#[test]
fn what_is_below_a_custom_resource_does_not_count() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world.cloud.take_calls();
        let program = [
            res("a"),
            res("new").parent("a"),
            invoke("f", F).depends_on("a").after("new"),
        ];
        let ran = world.preview(&program);
        check_called(world, &ran, true);
    });
}

/// INVOKE-07
#[test]
fn what_is_not_targeted_and_does_not_exist_is_not_known() {
    for_orders(|world| {
        let program = [res("new"), res("target"), invoke("f", F).depends_on("new")];
        let ran = world.up_with(&program, |options| options.targets = targets(&["target"]));
        check_called(world, &ran, false);
    });
}

/// INVOKE-08
#[test]
fn a_program_that_runs_for_a_destroy_creates_nothing_to_depend_on() {
    for (dependency, called) in [(None, true), (Some("a"), true), (Some("new"), false)] {
        for_orders(|world| {
            world.up(&[res("a")]).succeeded();
            world.cloud.take_calls();
            let mut f = invoke("f", F);
            f.depends_on = dependency.into_iter().map(str::to_owned).collect();
            let with_program: Options = options(|options| options.run_program = true);
            let program = [res("a"), res("new"), f];
            let ran = world.run(Operation::Destroy, &program, with_program);
            check_called(world, &ran, called);
            assert!(world.snapshot.resources.is_empty());
        });
    }
}
