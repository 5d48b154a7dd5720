//! Parts come, change and go with their owner.

use plumb_deploy::request::{Outcome, RequestErrorKind};
use plumb_deploy::setup::{ImportSpec, ImportSubject, Operation, Options, Phase};
use plumb_deploy::{CallId, Event, RequestId};
use plumb_events::OperationResult;
use plumb_resource::provider::PluginSpec;
use plumb_resource::{Alias, HookType, ResourceKind, ViewStatus};

use super::{value_of, with_part};
use crate::world::{
    Fault, World, error_hook, for_orders, part, part_urn, res, stack, targets, urn,
};

/// VIEW-01
#[test]
fn a_part_lives_with_its_owner() {
    for_orders(|world| {
        let a = |value: &str| [res("a").with("value", value)];
        world
            .cloud
            .tells("create", "a", &[part("create", "part").to("1")]);
        let ran = world.up(&a("1"));
        ran.succeeded();
        assert_eq!(ran.counts(), [("create", 2)]);
        assert_eq!(
            ran.announced()[1..],
            ["create a".to_owned(), "create part".to_owned()]
        );
        let state = world.state("part").clone();
        assert_eq!(state.urn, part_urn(&urn("a"), "part"));
        assert_eq!(state.type_token.as_str(), "test:index:Part");
        assert_eq!(state.kind, ResourceKind::Component);
        assert_eq!(state.view_of.as_ref(), Some(&urn("a")));
        assert_eq!(state.parent.as_ref(), Some(&urn("a")));
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));

        let ran = world.up(&a("1"));
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 2)]);
        assert_eq!(ran.steps("part"), ["same"]);
        assert_eq!(*world.state("part"), state);

        let change = [part("update", "part").from("1").to("2")];
        world.cloud.tells("update", "a", &change);
        world.cloud.take_calls();
        let ran = world.up(&a("2"));
        ran.succeeded();
        assert_eq!(ran.counts(), [("update", 2)]);
        let told = |value: &str| [("part".to_owned(), value.to_owned())];
        assert_eq!(world.cloud.old_views("update", "a"), told("1"));
        assert_eq!(value_of(world, "part").as_deref(), Some("2"));

        world
            .cloud
            .tells("delete", "a", &[part("delete", "part").from("2")]);
        let ran = world.destroy();
        ran.succeeded();
        assert_eq!(ran.counts(), [("delete", 2)]);
        assert_eq!(world.cloud.old_views("delete", "a"), told("2"));
        assert_eq!(ran.found("part"), ["delete"]);
        assert!(world.snapshot.resources.is_empty());
    });
}

/// A preview tells of parts as the run does, and keeps nothing of them.
#[test]
fn a_preview_tells_of_parts() {
    for_orders(|world| {
        let created = [part("create", "part").to("1")];
        world.cloud.tells("create", "a", &created);
        let ran = world.preview(&[res("a").with("value", "1")]);
        ran.succeeded();
        assert_eq!(ran.counts(), [("create", 2)]);
        assert!(world.snapshot.resources.is_empty());
        with_part(world);
        let changed = [part("update", "part").from("1").to("2")];
        world.cloud.tells("update", "a", &changed);
        let ran = world.preview(&[res("a").with("value", "2")]);
        ran.succeeded();
        assert_eq!(ran.counts(), [("update", 2)]);
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
    });
}

/// VIEW-02
#[test]
fn the_failure_of_a_part_fails_the_run() {
    for_orders(|world| {
        with_part(world);
        let failing = part("update", "part").from("1").to("2");
        let failing = failing.failing("no luck", ViewStatus::Known);
        world.cloud.tells("update", "a", &[failing]);
        let ran = world.up(&[res("a").with("value", "2")]);
        ran.failed("no luck");
        assert_eq!(ran.changes.get("update"), Some(&1));
        let error = ran.outcome.error.as_deref().unwrap_or_default();
        assert!(error.ends_with("no luck"), "{error}");
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
        assert_eq!(world.state("a").outputs.get("value"), Some(&"2".into()));

        let partly = part("update", "part").from("1").to("3");
        let partly = partly.failing("not yet", ViewStatus::Partial);
        world.cloud.tells("update", "a", &[partly]);
        world.up(&[res("a").with("value", "3")]).failed("not yet");
        assert_eq!(value_of(world, "part").as_deref(), Some("3"));
    });
}

/// With continue-on-error, what needs the owner of a part that failed is left out, and the rest is done.
#[test]
fn the_failure_of_a_part_is_the_failure_of_its_owner() {
    for_orders(|world| {
        let failing = part("create", "part").to("1");
        let failing = failing.failing("no luck", ViewStatus::Unknown);
        world.cloud.tells("create", "a", &[failing]);
        let program = [res("a"), res("b").depends_on("a"), res("c")];
        let ran = world.up_with(&program, |options| options.continue_on_error = true);
        ran.failed("no luck");
        assert_eq!(world.names(), ["a", "c"]);
        assert_eq!(ran.reply("a").outcome, Outcome::Failed);
    });
}

/// VIEW-03
#[test]
fn a_part_goes_while_its_owner_changes() {
    for_orders(|world| {
        with_part(world);
        world
            .cloud
            .tells("update", "a", &[part("delete", "part").from("1")]);
        let ran = world.up(&[res("a").with("value", "2")]);
        ran.succeeded();
        assert_eq!(ran.counts(), [("delete", 1), ("update", 1)]);
        assert_eq!(world.names(), ["a"]);
    });
}

/// VIEW-10
#[test]
fn an_import_keeps_parts() {
    for_orders(|world| {
        world
            .cloud
            .tells("create", "a", &[part("create", "part").to("1")]);
        world
            .up(&[stack(), res("a").parent("proj-dev")])
            .succeeded();
        let before = world.state("part").clone();
        world.cloud.put("kept-1", plumb_value::PropertyMap::new());
        let ran = world.import(&[ImportSpec {
            type_token: "test:index:Thing".into(),
            name: "b".into(),
            subject: ImportSubject::Object {
                id: "kept-1".into(),
            },
            parent: None,
            provider: None,
            plugin: PluginSpec::named("test"),
            extension: None,
            protect: false,
            properties: Vec::new(),
            inputs: None,
            outputs: None,
        }]);
        ran.succeeded();
        assert_eq!(ran.counts(), [("import", 1), ("same", 3)]);
        assert_eq!(*world.state("part"), before);
    });
}

/// VIEW-11, VIEW-12
#[test]
fn a_part_is_replaced_while_its_owner_changes() {
    let delete = || part("delete-replaced", "part").from("1");
    let replace = || part("replace", "part").from("1").to("2");
    let create = || part("create-replacement", "part").from("1").to("2");
    for steps in [
        [delete(), replace(), create()],
        [create(), replace(), delete()],
    ] {
        for_orders(|world| {
            with_part(world);
            world.cloud.tells("update", "a", &steps);
            let ran = world.up(&[res("a").with("value", "2")]);
            ran.succeeded();
            assert_eq!(ran.counts(), [("replace", 1), ("update", 1)]);
            assert_eq!(value_of(world, "part").as_deref(), Some("2"));
            assert!(!world.state("part").delete);
        });
    }
}

/// VIEW-16
#[test]
fn a_preview_of_a_destroy_asks_nobody() {
    for_orders(|world| {
        with_part(world);
        let ran = world.run(Operation::Destroy, &[], Options::new(Phase::Preview));
        ran.succeeded();
        assert_eq!(ran.counts(), [("delete", 2)]);
        assert_eq!(ran.steps("part"), ["delete"]);
        assert!(world.cloud.take_calls().is_empty());
    });
}

/// Parts go with an owner whose provider says nothing of them, and with one that is not deleted by itself.
#[test]
fn parts_go_with_their_owner() {
    for with_another in [false, true] {
        for_orders(|world| {
            world
                .cloud
                .tells("create", "a", &[part("create", "part").to("1")]);
            let a = res("a").after("b");
            let a = if with_another { a.deleted_with("b") } else { a };
            world.up(&[res("b"), a]).succeeded();
            world.cloud.take_calls();
            let ran = world.destroy();
            ran.succeeded();
            assert_eq!(ran.counts(), [("delete", 3)]);
            let calls = world.cloud.take_calls();
            let is_asked = calls.contains(&"delete a".to_owned());
            assert_eq!(is_asked, !with_another, "{calls:?}");
            assert!(world.snapshot.resources.is_empty());
        });
    }
}

/// A replaced owner keeps its parts until it is deleted; the new one has its own, under the same names.
#[test]
fn a_replacement_has_parts_of_its_own() {
    for delete_first in [false, true] {
        for_orders(|world| {
            with_part(world);
            world
                .cloud
                .tells("create", "a", &[part("create", "part").to("2")]);
            world
                .cloud
                .tells("delete", "a", &[part("delete", "part").from("1")]);
            let program = res("a").with("value", "1").with("replace", "x");
            let ran = world.up(&[program.delete_before_replace(delete_first)]);
            ran.succeeded();
            let told = [("part".to_owned(), "1".to_owned())];
            assert_eq!(world.cloud.old_views("delete", "a"), told);
            assert_eq!(value_of(world, "part").as_deref(), Some("2"));
        });
    }
}

/// The old half of a replacement that could not be deleted keeps its parts for the next run.
#[test]
fn parts_wait_for_deletion_with_their_owner() {
    for_orders(|world| {
        with_part(world);
        world
            .cloud
            .tells("create", "a", &[part("create", "part").to("2")]);
        world.cloud.fail("delete", "a", Fault::Clean);
        let program = [res("a").with("value", "1").with("replace", "x")];
        world.up(&program).failed("delete of a failed");
        let deleted: Vec<bool> = world.states("part").iter().map(|it| it.delete).collect();
        assert_eq!(deleted.iter().filter(|it| **it).count(), 1);
        assert_eq!(deleted.len(), 2);
        world.cloud.behave();
        world.cloud.take_calls();
        world.up(&program).succeeded();
        let told = [("part".to_owned(), "1".to_owned())];
        assert_eq!(world.cloud.old_views("delete", "a"), told);
        assert_eq!(value_of(world, "part").as_deref(), Some("2"));
    });
}

/// Without an owner there are no parts.
#[test]
fn nothing_is_left_of_a_creation_that_failed() {
    for_orders(|world| {
        world
            .cloud
            .tells("create", "a", &[part("create", "part").to("1")]);
        world.cloud.fail("create", "a", Fault::Clean);
        let ran = world.up(&[res("a")]);
        ran.failed("create of a failed");
        assert!(world.names().is_empty());
        // Who shows it can tell that it was a part.
        let mut failed = ran.events.iter().filter_map(|event| match event {
            plumb_events::Event::ResourceFailed(failed) if failed.metadata.urn.name() == "part" => {
                failed.metadata.new.as_ref()
            }
            _ => None,
        });
        let part = failed.next().expect("it is told of");
        assert_eq!(part.view_of, Some(urn("a")));
        world.cloud.behave();
        world.up(&[res("a")]).succeeded();
        assert_eq!(world.names(), ["a", "part"]);
    });
}

/// Steps of views that a failed call reported have happened.
#[test]
fn parts_are_recorded_where_their_owner_fails() {
    for_orders(|world| {
        with_part(world);
        let change = [part("update", "part").from("1").to("2")];
        world.cloud.tells("update", "a", &change);
        world.cloud.fail("update", "a", Fault::Clean);
        world
            .up(&[res("a").with("value", "2")])
            .failed("update of a failed");
        assert_eq!(value_of(world, "part").as_deref(), Some("2"));
        assert_eq!(world.state("a").outputs.get("value"), Some(&"1".into()));
    });
}

/// An error hook has a creation made again that made half an object, and that object's parts with it.
#[test]
fn parts_of_a_second_attempt_take_the_place_of_the_first() {
    for_orders(|world| {
        world.retries("again", 1);
        world
            .cloud
            .tells("create", "a", &[part("create", "part").to("1")]);
        world.cloud.fail("create", "a", Fault::Partial);
        let a = res("a").binds(HookType::OnError, "again").after("again");
        world
            .up(&[error_hook("again"), a])
            .failed("1 error occurred");
        let live = world.states("part").iter().filter(|it| !it.delete).count();
        assert_eq!(live, 1);
        world.cloud.behave();
        let a = res("a").binds(HookType::OnError, "again").after("again");
        world.up(&[error_hook("again"), a]).succeeded();
        assert_eq!(world.names(), ["a", "part"]);
    });
}

/// A part follows an owner that is called otherwise, under another URN where that is of another type.
#[test]
fn parts_follow_a_renamed_owner() {
    for changes in [false, true] {
        for_orders(|world| {
            with_part(world);
            let token = "test:index:Other";
            let former = urn("a");
            let b = res("b").with("value", if changes { "2" } else { "1" });
            let b = b.token(token).tune(move |it, _| {
                it.aliases = [Alias::Urn(former.clone())].into();
            });
            let ran = world.up(&[b]);
            ran.succeeded();
            let state = world.state("part");
            assert_eq!(state.view_of.as_ref(), Some(&world.state("b").urn));
            assert_eq!(state.parent, state.view_of);
            assert_eq!(state.urn, part_urn(&world.state("b").urn, "part"));
        });
    }
}

/// Nothing else can have the URN of a part.
#[test]
fn names_of_parts_are_taken() {
    for_orders(|world| {
        with_part(world);
        world
            .cloud
            .tells("create", "b", &[part("create", "part").to("b")]);
        let a = || res("a").with("value", "1");
        let ran = world.up(&[a(), res("b")]);
        let taken = format!(
            "Duplicate resource URN '{}'; try giving it a unique name",
            part_urn(&urn("a"), "part")
        );
        assert_eq!(ran.untold, [taken.as_str()]);
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
        let child = res("part").token("test:index:Part").parent("a");
        world.up(&[a(), child]).failed(&taken);
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
        let former = part_urn(&urn("a"), "part");
        let heir = res("heir").tune(move |it, _| it.aliases = [Alias::Urn(former.clone())].into());
        let ran = world.up(&[a(), heir]);
        ran.succeeded();
        assert_eq!(ran.steps("heir"), ["create"]);
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
    });
}

/// A report with a step that is not of a view of the resource is refused as a whole.
#[test]
fn steps_that_make_no_sense_are_not_taken() {
    for (steps, reason) in [
        (
            [
                part("same", "part").to("1"),
                part("update", "no").from("1").to("2"),
            ],
            "old state urn:pulumi:dev::proj::test:index:Thing$test:index:Part::no of view urn:pulumi:dev::proj::test:index:Thing::a \
             not found in previous deployment",
        ),
        (
            [part("update", "part").to("5"), part("create", "new")],
            "a create step of view urn:pulumi:dev::proj::test:index:Thing$test:index:Part::new has no new state",
        ),
    ] {
        for_orders(|world| {
            with_part(world);
            world.cloud.tells("update", "a", &steps);
            let ran = world.up(&[res("a").with("value", "2")]);
            ran.succeeded();
            assert_eq!(ran.untold, [reason]);
            assert_eq!(ran.counts(), [("update", 1)]);
            assert_eq!(value_of(world, "part").as_deref(), Some("1"));
        });
    }
}

/// A call that is over, or was never made, has nothing to tell.
#[test]
fn steps_without_a_call_are_not_taken() {
    use plumb_deploy::request::{Reply, Request};
    use plumb_deploy::{Deployment, Effect};
    let world = World::new(0);
    let setup = plumb_deploy::setup::Setup {
        stack: "dev".into(),
        project: "proj".into(),
        config: std::collections::BTreeMap::new(),
        partly_secret: std::collections::BTreeMap::new(),
        snapshot: world.snapshot,
        operation: Operation::Update,
        options: Options::new(Phase::Execute),
        packages: Vec::new(),
        seed: [0; 32],
        plan: None,
    };
    let now = jiff::Timestamp::UNIX_EPOCH;
    let mut deployment = Deployment::new(setup, now).unwrap();
    deployment.handle(now, Event::Start);
    let request = Request::PublishViewSteps {
        call: CallId(7),
        steps: Vec::new(),
    };
    let id = RequestId(1);
    let effects = deployment.handle(now, Event::Request { id, request });
    let [
        Effect::Reply {
            reply: Reply::Failed(error),
            ..
        },
    ] = &effects[..]
    else {
        panic!("{effects:?}");
    };
    assert_eq!(error.kind, RequestErrorKind::InvalidArgument);
}

/// Parts of what is not targeted stay as they are, and nobody is told of them.
#[test]
fn parts_of_what_is_left_out_stay() {
    for_orders(|world| {
        with_part(world);
        let program = [res("a").with("value", "2"), res("b")];
        let ran = world.up_with(&program, |options| options.targets = targets(&["b"]));
        ran.succeeded();
        assert!(ran.steps("part").is_empty());
        assert_eq!(value_of(world, "part").as_deref(), Some("1"));
        let ran = world.destroy_with(&[], |options| options.targets = targets(&["b"]));
        ran.succeeded();
        assert_eq!(world.names(), ["a", "part"]);
        let ran = world.destroy_with(&[], |options| options.targets = targets(&["a"]));
        ran.succeeded();
        assert!(world.names().is_empty());
    });
}

/// After an interrupt what is under way is recorded, with its parts.
#[test]
fn parts_of_a_running_step_are_recorded_after_an_interrupt() {
    for_orders(|world| {
        world
            .cloud
            .tells("create", "a", &[part("create", "part").to("1")]);
        // Check has been answered, Create is on its way.
        world.interrupt_after = Some(1);
        let ran = world.up(&[res("a")]);
        assert_eq!(ran.outcome.result, OperationResult::Canceled);
        let names = world.names();
        assert!(names == ["a", "part"] || names.is_empty(), "{names:?}");
    });
}
