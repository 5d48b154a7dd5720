//! COE: a failed step does not stop what does not depend on it.

use std::sync::Arc;

use plumb_deploy::request::Outcome;
use plumb_resource::ProviderRef;
use plumb_resource::provider::{ProviderCall, ProviderReply, ReadResponse};
use plumb_value::PropertyMap;

use crate::world::{
    Fault, Ran, Res, World, component, for_orders, must_replace, provider, read, res,
};

fn up(world: &mut World, program: &[Res]) -> Ran {
    world.up_with(program, |options| options.continue_on_error = true)
}

/// COE-04: what counts as the inputs before is what the refresh found.
#[test]
fn a_failed_update_keeps_what_the_refresh_found() {
    for_orders(|world| {
        let program = |value: &str| [res("a").with("value", value), res("b").with("value", value)];
        world.up(&program("1")).succeeded();
        world.cloud.on("read", "*", |call| {
            let ProviderCall::Read(it) = call else {
                return None;
            };
            Some(Ok(ProviderReply::Read(ReadResponse {
                id: it.id.clone(),
                inputs: Some(Arc::default()),
                outputs: Some(it.outputs.clone()),
                refresh_before_update: false,
            })))
        });
        world.cloud.fail("update", "a", Fault::Clean);
        let ran = world.up_with(&program("2"), |options| {
            options.continue_on_error = true;
            options.refresh = true;
        });
        ran.failed("update of a failed");
        assert_eq!(*world.state("a").inputs, PropertyMap::new());
        let updated = PropertyMap::new().with("value", "2");
        assert_eq!(*world.state("b").inputs, updated);
    });
}

/// COE-08
#[test]
fn a_failed_import_is_told_to_the_program() {
    for_orders(|world| {
        let ran = up(world, &[res("a").import("nowhere")]);
        ran.failed("resource 'nowhere' does not exist");
        assert_eq!(ran.reply("a").outcome, Outcome::Failed);
        assert_eq!(
            ran.outcome.error.as_deref(),
            Some(
                "step executor errored: step application failed: resource 'nowhere' does not exist"
            )
        );
        assert!(world.names().is_empty());
        assert_eq!(world.snapshot.resources.len(), 1);
    });
}

/// COE-09
#[test]
fn whatever_needs_something_that_failed_is_left_out() {
    let users = [
        res("user").parent("a"),
        res("user").deleted_with("a"),
        res("user").uses("value", "a"),
        component("user").depends_on("a"),
    ];
    for user in users {
        for_orders(|world| {
            world.cloud.fail("create", "a", Fault::Clean);
            let program = [
                res("a"),
                user.clone(),
                res("next").depends_on("user"),
                res("other"),
            ];
            let ran = up(world, &program);
            ran.failed("create of a failed");
            let outcomes = ["a", "user", "next", "other"].map(|name| ran.reply(name).outcome);
            assert_eq!(
                outcomes,
                [
                    Outcome::Failed,
                    Outcome::Skipped,
                    Outcome::Skipped,
                    Outcome::Success
                ]
            );
            assert_eq!(world.names(), ["other"]);
        });
    }
}

/// COE-10
#[test]
fn what_could_not_move_to_another_provider_keeps_its_own() {
    for_orders(|world| {
        world
            .up(&[provider("before"), res("a").provider("before")])
            .succeeded();
        let old = world.state("a").clone();
        world.cloud.diffs_config("after", must_replace("region"));
        world.cloud.fail("create", "a", Fault::Clean);
        let program = [provider("after"), res("a").provider("after")];
        let ran = up(world, &program);
        ran.failed("create of a failed");
        assert_eq!(ran.steps("a"), ["create-replacement"]);
        assert_eq!(world.state("a"), &old);
        let is_before = |it: &ProviderRef| it.urn() == &world.state("before").urn;
        assert!(old.provider.as_ref().is_some_and(is_before));
        assert_eq!(world.states("after").len(), 1);
        world.cloud.behave();
        world.cloud.diffs_config("after", must_replace("region"));
        up(world, &program).succeeded();
        assert!(world.states("before").is_empty());
    });
}

/// A failed delete before a replacement stops the replacement and those of its dependents.
#[test]
fn nothing_is_made_anew_whose_old_half_could_not_be_deleted() {
    for_orders(|world| {
        let root = |value: &str| {
            let root = res("root").with("rvalue", value).with("value", value);
            root.delete_before_replace(true)
        };
        let before = [
            root("1"),
            res("user").uses("rvalue", "root"),
            res("second").uses("rvalue", "user").with("value", "1"),
        ];
        world.up(&before).succeeded();
        world.cloud.fail("delete", "user", Fault::Clean);
        // What the users are made of does not depend on the root any more.
        let after = [
            root("2"),
            res("user").with("rvalue", "2").after("root"),
            res("second").with("rvalue", "2").after("root"),
        ];
        let ran = up(world, &after);
        ran.failed("delete of user failed");
        assert_eq!(ran.reply("root").outcome, Outcome::Failed);
        assert_eq!(ran.reply("user").outcome, Outcome::Skipped);
        assert_eq!(world.names(), ["root", "second", "user"]);
        world.cloud.behave();
        up(world, &after).succeeded();
        assert_eq!(up(world, &after).counts(), [("same", 3)]);
    });
}

/// A registration whose old state could not be read ends the run. If it went on, the object would be deleted at its end,
/// as one that the program does not register.
#[test]
fn nothing_is_deleted_because_it_could_not_be_read() {
    for_orders(|world| {
        let program = [res("a"), res("b")];
        world.up(&program).succeeded();
        world.cloud.fail("read", "a", Fault::Clean);
        let ran = world.up_with(&program, |options| {
            options.continue_on_error = true;
            options.refresh = true;
            options.run_program = true;
        });
        ran.failed("read of a failed");
        let mut names = world.names();
        names.sort_unstable();
        assert_eq!(names, ["a", "b"]);
        assert!(
            !world
                .cloud
                .take_changes()
                .iter()
                .any(|it| it.starts_with("delete"))
        );
    });
}

/// A read that fails is answered, so that the program can go on.
#[test]
fn a_failed_read_does_not_hold_up_the_program() {
    for_orders(|world| {
        let program = [read("gone", "no-such-object"), res("a").after("gone")];
        let ran = world.up_with(&program, |options| options.continue_on_error = true);
        ran.failed("resource 'no-such-object' does not exist");
        assert_eq!(ran.known.read["gone"].outcome, Outcome::Failed);
        assert_eq!(world.names(), ["a"]);
    });
}

/// COE-01: what stays for the sake of something that failed keeps its provider, also once the other is gone.
#[test]
fn what_stays_after_a_failure_keeps_its_provider() {
    for_orders(|world| {
        let user = || res("user").uses("value", "middle");
        let before = [res("kept"), res("middle").replace_with("kept"), user()];
        world.up(&before).succeeded();
        world.cloud.diffs_config("default", must_replace("region"));
        world.cloud.fail("create", "user", Fault::Partial);
        let ran = up(world, &[res("middle").delete_before_replace(true), user()]);
        ran.failed("not ready");
        let provider = world.state("kept").provider.clone();
        let providers = world.states("default");
        let is_there = providers.iter().any(|it| it.as_provider_ref() == provider);
        assert!(is_there, "{providers:?}");
    });
}
