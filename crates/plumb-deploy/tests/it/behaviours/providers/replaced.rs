//! Providers that change, and what happens to their resources.

use super::compares;
use crate::world::{Fault, Res, World, for_orders, provider, res};
use plumb_state::upgrade::DefaultProvider;
use plumb_value::Value;

const REPLACED: [&str; 3] = ["create-replacement", "replace", "delete-replaced"];

/// PROV-01, PROV-02: one process for each run, and none where nothing is asked of it.
#[test]
fn a_run_starts_one_process_for_each_provider() {
    let programs: [Vec<Res>; 2] = [
        vec![res("a"), res("b")],
        vec![
            provider("p"),
            res("a").provider("p"),
            res("b").provider("p"),
        ],
    ];
    for program in programs {
        for_orders(|world| {
            assert!(world.refresh().loaded().is_empty());
            for run in [World::preview, World::up, World::up] {
                let ran = run(world, &program);
                ran.succeeded();
                assert_eq!(ran.loaded(), ["test"]);
            }
            for run in [World::refresh, World::destroy] {
                let ran = run(world);
                ran.succeeded();
                assert_eq!(ran.loaded(), ["test"]);
            }
            assert!(world.snapshot.resources.is_empty());
        });
    }
}

/// PROV-04: the settings of the stack are those of its default providers.
#[test]
fn a_default_provider_is_replaced_with_its_resources() {
    for_orders(|world| {
        let set = |world: &mut World, value: &str| {
            world.config.insert("test:x".into(), Value::from(value));
        };
        set(world, "1");
        world.up(&[res("a")]).succeeded();
        compares(world, "default", Some("x"), false);
        set(world, "2");
        let ran = world.up(&[res("a")]);
        ran.succeeded();
        assert_eq!(ran.steps("default"), REPLACED);
        assert_eq!(ran.steps("a"), REPLACED);
        assert_eq!(ran.server("create a").setting("x"), Some("2"));
        assert_eq!(ran.server("delete a").setting("x"), Some("1"));
        assert_eq!(world.states("default").len(), 1);
    });
}

fn with_provider(x: &str) -> [Res; 2] {
    [provider("p").with("x", x), res("a").provider("p")]
}

/// PROV-05
#[test]
fn an_explicit_provider_is_replaced_with_its_resources() {
    for_orders(|world| {
        world.up(&with_provider("1")).succeeded();
        compares(world, "p", Some("x"), false);
        let ran = world.up(&with_provider("2"));
        ran.succeeded();
        assert_eq!(ran.steps("p"), REPLACED);
        assert_eq!(ran.steps("a"), REPLACED);
        assert_eq!(ran.server("create a").setting("x"), Some("2"));
        assert_eq!(ran.server("delete a").setting("x"), Some("1"));
    });
}

/// PROV-08
#[test]
fn a_provider_that_is_deleted_first_takes_its_resources_along() {
    for_orders(|world| {
        world.up(&with_provider("1")).succeeded();
        compares(world, "p", Some("x"), true);
        let ran = world.up(&with_provider("2"));
        ran.succeeded();
        assert_eq!(
            ran.announced(),
            [
                "delete-replaced a",
                "delete-replaced p",
                "replace p",
                "create-replacement p",
                "replace a",
                "create-replacement a"
            ]
        );
    });
}

/// PROV-08: what waits for its replacement forgets an old copy that has to go with its provider.
#[test]
fn a_copy_that_goes_with_its_provider_leaves_no_reference() {
    for_orders(|world| {
        let user = || res("user").uses("value", "a").provider("p");
        let [p, a] = with_provider("1");
        world.up(&[p, a, user()]).succeeded();
        world.add_old_copy("a");
        world.cloud.lose("a");
        world.refresh().succeeded();
        assert!(world.state("a").delete);
        compares(world, "p", Some("x"), true);
        world.cloud.fail("create", "b", Fault::Clean);
        let [p, _] = with_provider("2");
        world
            .up(&[p, res("b").provider("p")])
            .failed("create of b failed");
        let user = world.state("user");
        assert!(user.pending_replacement);
        assert!(user.dependencies.is_empty());
    });
}

/// PROV-06
#[test]
fn a_renamed_and_updated_provider_deletes_what_the_program_dropped() {
    for_orders(|world| {
        world.up(&with_provider("1")).succeeded();
        let ran = world.up(&[provider("q").alias("p").with("x", "2")]);
        ran.succeeded();
        assert_eq!(ran.steps("q"), ["update"]);
        let server = ran.server("delete a");
        assert_eq!((server.provider(), server.setting("x")), ("q", Some("2")));
    });
}

/// PROV-07
#[test]
fn a_renamed_provider_is_the_same_unless_it_is_replaced() {
    for_orders(|world| {
        world.up(&with_provider("1")).succeeded();
        let renamed = |x: &str| {
            [
                provider("q").alias("p").with("x", x),
                res("a").provider("q"),
            ]
        };
        assert_eq!(world.up(&renamed("1")).counts(), [("same", 2)]);
        world.up(&with_provider("1")).succeeded();
        compares(world, "q", Some("x"), false);
        let ran = world.up(&renamed("2"));
        ran.succeeded();
        assert_eq!(ran.steps("a"), REPLACED);
        assert_eq!(ran.server("create a").setting("x"), Some("2"));
        assert!(world.states("p").is_empty());
    });
}

/// PROV-10, PROV-11: the new provider tells whether what moves to it must be replaced.
#[test]
fn resources_that_move_are_replaced_if_the_new_provider_says_so() {
    type Move = fn(bool) -> Vec<Res>;
    let moves: [(Move, &str); 2] = [
        (
            |moved| {
                let version = if moved { "2.0.0" } else { "1.0.0" };
                vec![
                    res("a").version(version),
                    res("b").version(version),
                    res("stays").version("1.0.0"),
                ]
            },
            "default_2_0_0",
        ),
        (
            |moved| {
                let name = if moved { "q" } else { "p" };
                vec![
                    provider("p").with("x", "1"),
                    provider("q").with("x", "2"),
                    res("a").provider(name),
                    res("b").provider(name),
                    res("stays").provider("p"),
                ]
            },
            "q",
        ),
    ];
    for (program, new) in moves {
        for demanded in [true, false] {
            for_orders(|world| {
                world.up(&program(false)).succeeded();
                compares(world, new, demanded.then_some("x"), false);
                let ran = world.up(&program(true));
                ran.succeeded();
                let expected: &[&str] = if demanded { &REPLACED } else { &["same"] };
                assert_eq!(ran.steps("a"), expected);
                assert_eq!(ran.steps("b"), expected);
                assert_eq!(ran.steps("stays"), ["same"]);
                let provider = world.state("a").provider.as_ref().unwrap();
                assert_eq!(provider.urn().name(), new);
            });
        }
    }
}

/// PROV-28
#[test]
fn a_provider_without_a_difference_keeps_running_on_its_old_settings() {
    for_orders(|world| {
        world.up(&with_provider("1")).succeeded();
        compares(world, "p", None, false);
        let [p, a] = with_provider("2");
        let ran = world.up(&[p, a.with("value", "new")]);
        ran.succeeded();
        assert_eq!(ran.steps("p"), ["same"]);
        assert_eq!(ran.server("update a").setting("x"), Some("1"));
        let state = world.state("p");
        assert_eq!(state.inputs.get("x"), Some(&"2".into()));
        assert_eq!(state.outputs.get("x"), Some(&"1".into()));
    });
}

/// PROV-03: a state from before there were provider resources.
#[test]
fn resources_without_a_provider_get_a_default_one() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world
            .snapshot
            .resources
            .retain(|state| !state.type_token.is_provider());
        world.edit("a", |state| state.provider = None);
        upgrade(world);
        assert_eq!(world.refresh().counts(), [("same", 1)]);
        assert_eq!(world.up(&[res("a")]).counts(), [("same", 1)]);
        world.destroy().succeeded();
        assert!(world.snapshot.resources.is_empty());
    });
}

fn upgrade(world: &mut World) {
    let made = |_: &str, _: Option<&plumb_state::ManifestPlugin>| {
        Ok::<_, std::convert::Infallible>(DefaultProvider {
            id: "fresh".into(),
            inputs: std::sync::Arc::default(),
        })
    };
    assert_eq!(
        plumb_state::upgrade::upgrade(&mut world.snapshot, made),
        Ok(true)
    );
}
