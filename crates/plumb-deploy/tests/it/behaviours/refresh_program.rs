//! REFRESH, PREVIEW: refreshes while the program runs, so that providers have the settings of now.

use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_resource::provider::{ProviderCall, ProviderReply, ReadResponse};
use plumb_resource::{AliasSpec, ResourceId, TypeToken};
use plumb_value::{PropertyMap, Value};

use crate::world::{Fault, Res, component, for_orders, options, provider, read, res, targets};

fn value(value: &str) -> PropertyMap {
    PropertyMap::new().with("value", value)
}

/// REFRESH-13
#[test]
fn the_program_is_told_what_was_read_and_changes_nothing() {
    for_orders(|world| {
        let a = |value: &str| [res("a").with("value", value)];
        world.up(&a("1")).succeeded();
        world.cloud.drift("a", "value", "drift");
        world.cloud.take_calls();
        let ran = world.refresh_with(&a("2"), |_| {});
        ran.succeeded();
        let ProviderCall::Read(asked) = world.cloud.request("read", "a") else {
            panic!("a read is a read");
        };
        assert_eq!(asked.inputs.as_deref(), Some(&value("1")));
        assert_eq!(*ran.reply("a").outputs, value("drift"));
        assert_eq!(*world.state("a").inputs, value("drift"));
        assert!(world.cloud.take_changes().is_empty());
    });
}

/// REFRESH-13: what the program calls secret is no plain text in the state, although nothing else of the program is taken
/// over before the next update.
#[test]
fn what_the_program_calls_secret_is_secret_at_once() {
    for_orders(|world| {
        world.up(&[res("a").with("value", "1")]).succeeded();
        let program = [res("a").with("value", "1").tune(|request, _| {
            request.additional_secret_outputs = ["value".into()].into();
        })];
        let ran = world.refresh_with(&program, |_| {});
        ran.succeeded();
        let secret = PropertyMap::new().with("value", Value::secret("1".into()));
        assert_eq!(*ran.reply("a").outputs, secret);
        assert_eq!(*world.state("a").outputs, secret);
        world.up(&program).succeeded();
        assert_eq!(*world.state("a").outputs, secret);
    });
}

/// PREVIEW-01
#[test]
fn a_preview_plans_from_what_was_read() {
    for_orders(|world| {
        let a = |value: &str| [res("a").with("value", value)];
        world.up(&a("1")).succeeded();
        world.cloud.drift("a", "value", "drift");
        world.cloud.take_calls();
        let options = Options {
            phase: Phase::Preview,
            ..options(|it| (it.refresh, it.run_program) = (true, true))
        };
        let before = world.snapshot.clone();
        let ran = world.run(Operation::Update, &a("2"), options);
        ran.succeeded();
        let ProviderCall::Read(read) = world.cloud.request("read", "a") else {
            panic!("a read is a read");
        };
        assert_eq!(read.inputs.as_deref(), Some(&value("1")));
        assert_eq!(*read.outputs, value("1"));
        let ProviderCall::Update(update) = world.cloud.request("update", "a") else {
            panic!("an update is an update");
        };
        assert!(update.preview);
        assert_eq!(*update.old_outputs, value("drift"));
        assert_eq!(*update.new_inputs, value("2"));
        assert_eq!(ran.snapshot.resources, before.resources);
    });
}

/// A resource, a provider made from it, a resource of that provider, and one that depends on that.
fn network() -> [Res; 4] {
    [
        res("a").with("value", "1"),
        provider("p").uses("region", "a"),
        res("b").provider("p"),
        res("c").depends_on("b"),
    ]
}

/// REFRESH-14
#[test]
fn nothing_is_created_by_a_refresh() {
    for_orders(|world| {
        let ran = world.refresh_with(&network(), |_| {});
        ran.succeeded();
        assert!(world.names().is_empty() && world.cloud.objects.is_empty());
        assert_eq!(world.snapshot.resources.len(), 1);
        world.up(&network()).succeeded();
        let [a, p, b, c] = network();
        let program = [a, p, b, res("new"), c.depends_on("new")];
        world.refresh_with(&program, |_| {}).succeeded();
        assert_eq!(world.names(), ["a", "b", "c"]);
    });
}

/// REFRESH-15
#[test]
fn a_provider_has_the_settings_that_the_program_gives_it_now() {
    for_orders(|world| {
        let program = |region: &str| [provider("p").with("region", region), res("a").provider("p")];
        world.up(&program("1")).succeeded();
        world.cloud.take_calls();
        world.refresh_with(&program("2"), |_| {}).succeeded();
        assert_eq!(world.cloud.setting("read", "a", "region"), Some("2"));
    });
}

/// REFRESH-16, REFRESH-17: a default provider has the settings of now where the program needs it.
#[test]
fn a_default_provider_has_the_settings_of_the_stack() {
    for (program, region) in [(res("a"), "2"), (component("other"), "1")] {
        for_orders(|world| {
            world.config.insert("test:region".into(), "1".into());
            world.up(&[res("a")]).succeeded();
            world.config.insert("test:region".into(), "2".into());
            world.cloud.take_calls();
            let ran = world.refresh_with(std::slice::from_ref(&program), |_| {});
            ran.succeeded();
            assert_eq!(world.cloud.setting("read", "a", "region"), Some(region));
        });
    }
}

/// REFRESH-18
#[test]
fn the_program_is_told_that_something_is_gone() {
    for_orders(|world| {
        let program = [res("a").with("value", "1"), res("b").uses("value", "a")];
        world.up(&program).succeeded();
        world.cloud.lose("a");
        world.cloud.drift("b", "value", "drift");
        let ran = world.refresh_with(&program, |_| {});
        ran.succeeded();
        let reply = ran.reply("a");
        assert_eq!((&reply.id, reply.outputs.len()), (&ResourceId::None, 0));
        assert_eq!(world.names(), ["b"]);
        assert_eq!(*world.state("b").outputs, value("drift"));
        assert!(world.state("b").dependencies.is_empty());
    });
}

/// REFRESH-20
#[test]
fn what_was_renamed_is_read_under_its_new_type() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world.cloud.take_calls();
        let former = AliasSpec {
            type_token: Some(TypeToken::new("test:index:Thing")),
            ..AliasSpec::default()
        };
        let renamed = res("a").token("test:index:Other").former(former);
        world.refresh_with(&[renamed], |_| {}).succeeded();
        let ProviderCall::Read(asked) = world.cloud.request("read", "a") else {
            panic!("a read is a read");
        };
        assert_eq!(asked.urn.type_token().as_str(), "test:index:Other");
    });
}

/// REFRESH-21, REFRESH-22, REFRESH-23: what is gone is made anew; what is there may be replaced in either order.
#[test]
fn an_update_goes_on_from_what_was_read() {
    let cbd = [
        "refresh",
        "create-replacement",
        "replace",
        "delete-replaced",
    ];
    let dbr = [
        "refresh",
        "delete-replaced",
        "replace",
        "create-replacement",
    ];
    for (first, steps) in [(false, cbd), (true, dbr)] {
        for_orders(|world| {
            let a = |value: &str| [res("a").with("replace", value).delete_before_replace(first)];
            let up = |world: &mut crate::world::World, value: &str| {
                let ran =
                    world.up_with(&a(value), |it| (it.refresh, it.run_program) = (true, true));
                ran.succeeded();
                ran
            };
            up(world, "1");
            assert_eq!(up(world, "2").steps("a"), steps);
            world.cloud.lose("a");
            assert_eq!(up(world, "2").steps("a"), ["refresh", "create"]);
            assert_eq!(world.names(), ["a"]);
        });
    }
}

/// REFRESH-34, REFRESH-35
#[test]
fn only_what_belongs_to_the_operation_is_read() {
    for_orders(|world| {
        let program = [res("a"), res("b"), res("c")];
        world.up(&program).succeeded();
        world.cloud.take_calls();
        world
            .refresh_with(&program, |options| options.targets = targets(&["b"]))
            .succeeded();
        let reads = |world: &mut crate::world::World| {
            let mut calls = world.cloud.take_calls();
            calls.retain(|call| call.starts_with("read"));
            calls.sort();
            calls
        };
        assert_eq!(reads(world), ["read b"]);
        world
            .refresh_with(&program, |options| options.excludes = targets(&["b"]))
            .succeeded();
        assert_eq!(reads(world), ["read a", "read c"]);
    });
}

/// REFRESH-30
#[test]
fn a_target_need_not_be_in_the_program() {
    for_orders(|world| {
        world.up(&[res("a"), res("b")]).succeeded();
        world.cloud.drift("b", "value", "drift");
        let ran = world.refresh_with(&[res("a")], |options| options.targets = targets(&["b"]));
        ran.succeeded();
        assert_eq!(*world.state("b").outputs, value("drift"));
    });
}

/// REFRESH-25: the world checks that the state is valid at every step.
#[test]
fn a_provider_may_come_to_depend_on_what_is_not_targeted() {
    for_orders(|world| {
        world
            .up(&[provider("p"), res("b").provider("p"), res("a")])
            .succeeded();
        world.add_old_copy("a");
        let program = [
            res("a"),
            provider("p").depends_on("a"),
            res("b").provider("p"),
        ];
        world
            .refresh_with(&program, |options| options.targets = targets(&["b"]))
            .succeeded();
        assert_eq!(world.names(), ["a", "a", "b"]);
    });
}

/// REFRESH-29
#[test]
fn property_dependencies_may_come_to_point_at_what_is_not_targeted() {
    for_orders(|world| {
        world
            .up(&[
                provider("p"),
                res("b").provider("p"),
                res("a").with("value", "1"),
            ])
            .succeeded();
        let program = [
            res("new").with("value", "1"),
            res("a").uses("value", "new"),
            provider("p").uses("region", "a"),
            res("b").uses("value", "a").provider("p"),
        ];
        world
            .refresh_with(&program, |options| options.targets = targets(&["b"]))
            .succeeded();
        assert_eq!(world.names(), ["a", "b"]);
    });
}

/// REFRESH-31
#[test]
fn a_new_child_of_what_is_gone_is_left_out() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world.add_old_copy("a");
        world.cloud.objects.clear();
        let program = [res("a"), component("child").parent("a")];
        world.refresh_with(&program, |_| {}).succeeded();
        assert!(world.names().is_empty());
    });
}

/// REFRESH-32, REFRESH-36, REFRESH-37: resources come to refer to one that is left out.
#[test]
fn references_to_what_is_left_out() {
    let programs = [
        vec![res("new"), res("a").deleted_with("new"), component("g")],
        vec![res("new"), component("g").deleted_with("new"), res("a")],
        vec![
            res("new"),
            component("g").depends_on("new"),
            provider("p").depends_on("g").uses("region", "g"),
        ],
    ];
    for program in programs {
        for_orders(|world| {
            let before = [component("g"), res("a"), provider("p").uses("region", "g")];
            world.up(&before).succeeded();
            let names: Vec<String> = world.names().into_iter().map(str::to_owned).collect();
            world.refresh_with(&program, |_| {}).succeeded();
            assert_eq!(world.names(), names);
        });
    }
}

/// A read takes nothing from the state in a refresh that is ours: that is read for itself, also under the name that a new
/// parent gives it.
#[test]
fn what_is_ours_is_read_late_under_its_new_name() {
    for_orders(|world| {
        let before = [component("g"), res("g-a").parent("g").with("value", "1")];
        world.up(&before).succeeded();
        world.cloud.drift("g-a", "value", "drift");
        let program = [component("h").alias("g"), read("h-a", "other").parent("h")];
        let ran = world.refresh_with(&program, |_| {});
        ran.succeeded();
        assert_eq!(ran.steps("h-a"), ["refresh"]);
        assert_eq!(*world.state("h-a").outputs, value("drift"));
        assert!(!world.state("h-a").external);
    });
}

/// REFRESH-33
#[test]
fn a_child_that_is_only_recorded_outlives_its_parent() {
    for is_excluded in [false, true] {
        for_orders(|world| {
            world.up(&[res("a"), res("child").parent("a")]).succeeded();
            world.cloud.on("read", "a", |_| {
                Some(Ok(ProviderReply::Read(ReadResponse {
                    id: ResourceId::None,
                    inputs: None,
                    outputs: Some(value("1").into()),
                    refresh_before_update: false,
                })))
            });
            world.cloud.lose("a");
            world.cloud.fail("diff", "a", Fault::Clean);
            let child = world.state("child").urn.to_string();
            let ran = world.refresh_with(&[res("a")], |options| {
                if is_excluded {
                    options.excludes = plumb_deploy::target::UrnSet::new([child]);
                }
            });
            ran.succeeded();
            assert_eq!(world.names(), ["child"]);
            assert_eq!(world.state("child").parent, None);
        });
    }
}

/// REFRESH-20: what is new below something renamed finds it under its new name.
#[test]
fn a_rename_is_recorded() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        let program = [res("b").alias("a"), component("g").parent("b")];
        world.refresh_with(&program, |_| {}).succeeded();
        assert_eq!(world.names(), ["b", "g"]);
        assert_eq!(world.up(&program).counts(), [("same", 2)]);
    });
}
