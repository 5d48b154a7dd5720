//! Providers of what is not targeted.

use plumb_deploy::target::UrnSet;

use crate::world::{Res, for_orders, provider, res, targets};

const NOT_REGISTERED: &str =
    "has not been registered yet, this is due to a change of providers mixed with --target";

/// TARGET-37: the untargeted resource keeps its provider, which the program does not ask for any more.
#[test]
fn an_untargeted_resource_cannot_move_to_another_version() {
    for_orders(|world| {
        let program = |version: &str| [res("a").version(version), other("1")];
        world.up(&program("1.0.0")).succeeded();
        let before = world.state("a").clone();
        let [a, _] = program("2.0.0");
        let ran = world.up_with(&[other("2"), a], |options| {
            options.targets = UrnSet::new(["**other".to_owned()]);
        });
        ran.failed(NOT_REGISTERED);
        assert_eq!(world.state("a"), &before);
        assert_eq!(world.states("default_2_0_0").len(), 1);
        assert_eq!(world.states("default_1_0_0").len(), 1);
        world.up(&program("2.0.0")).succeeded();
        assert!(world.states("default_1_0_0").is_empty());
    });
}

fn other(x: &str) -> Res {
    res("other").token("aux:index:Thing").with("x", x)
}

/// TARGET-38: unless something else keeps the version in the program.
#[test]
fn another_user_of_the_old_version_must_come_first() {
    for is_first in [true, false] {
        for_orders(|world| {
            let before = [
                res("a").version("1.0.0"),
                res("b").version("1.0.0"),
                other("1"),
            ];
            world.up(&before).succeeded();
            let state = world.state("a").clone();
            let (a, b) = (res("a").version("2.0.0"), res("b").version("1.0.0"));
            let program = if is_first {
                [a.after("b"), b, other("2")]
            } else {
                [a, b.after("a"), other("2")]
            };
            let ran = world.up_with(&program, |options| {
                options.targets = UrnSet::new(["**other".to_owned()]);
            });
            if is_first {
                ran.succeeded();
                assert_eq!(ran.steps("other"), ["update"]);
            } else {
                ran.failed(NOT_REGISTERED);
            }
            assert_eq!(world.state("a"), &state);
        });
    }
}

/// TARGET-40
#[test]
fn an_untargeted_resource_cannot_move_to_the_default_provider() {
    for_orders(|world| {
        world
            .up(&[provider("p"), res("a").provider("p"), res("b")])
            .succeeded();
        let before = world.state("a").clone();
        let program = [res("a"), res("b").with("x", "2")];
        let ran = world.up_with(&program, |options| options.targets = targets(&["b"]));
        ran.failed(NOT_REGISTERED);
        assert_eq!(world.state("a"), &before);
        world.up(&program).succeeded();
        assert!(world.states("p").is_empty());
    });
}

/// TARGET-41
#[test]
fn an_untargeted_resource_follows_its_renamed_provider() {
    for is_registered in [true, false] {
        for_orders(|world| {
            world
                .up(&[provider("p"), res("a").provider("p"), res("b")])
                .succeeded();
            let mut program = vec![provider("q").alias("p"), res("b").with("x", "2")];
            if is_registered {
                program.push(res("a").provider("q"));
            }
            let ran = world.up_with(&program, |options| options.targets = targets(&["b"]));
            ran.succeeded();
            assert_eq!(ran.steps("b"), ["update"]);
            let provider = world.state("a").provider.clone().unwrap();
            assert_eq!(provider.urn(), &world.state("q").urn);
            world.cloud.take_calls();
            world.destroy().succeeded();
        });
    }
}

/// TARGET-45
#[test]
fn providers_of_what_is_carried_over_are_not_configured() {
    for_orders(|world| {
        let program = |x: &str| {
            [
                provider("p"),
                res("a").provider("p").with("x", x),
                provider("q"),
                res("b").provider("q"),
            ]
        };
        world.up(&program("1")).succeeded();
        let [p, a, ..] = program("2");
        let ran = world.up_with(&[p, a], |options| options.targets = targets(&["a"]));
        ran.succeeded();
        assert_eq!(ran.configured(), ["p"]);
        let ran = world.destroy_with(&[], |options| options.targets = targets(&["a"]));
        ran.succeeded();
        assert_eq!(ran.configured(), ["p"]);
        assert_eq!(world.names(), ["b"]);
    });
}
