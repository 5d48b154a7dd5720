//! PULUMI: what a run as a whole does.

use std::sync::Arc;

use plumb_deploy::request::RequestErrorKind;
use plumb_deploy::{Effect, Event};
use plumb_events::OperationResult;
use plumb_resource::OperationType;
use plumb_resource::provider::{DiffChanges, DiffResult, ProviderCall};
use plumb_state::PendingOperation;
use plumb_state::journal::EntryKind;
use plumb_value::{PropertyMap, Value};

use crate::world::{Fault, Ran, World, component, for_orders, res, stack};

/// PULUMI-01
#[test]
fn an_empty_program_runs_through_its_life() {
    for_orders(|world| {
        world.up(&[]).succeeded();
        world.refresh().succeeded();
        world.up(&[]).succeeded();
        world.destroy().succeeded();
        assert!(world.snapshot.resources.is_empty());
    });
}

/// Leaves `a` with operations whose outcome nobody knows, next to a resource that never came to be.
fn interrupted(world: &mut World) {
    world.up(&[res("a")]).succeeded();
    let a = Arc::new(world.state("a").clone());
    let mut lost = a.as_ref().clone();
    lost.urn = crate::world::urn("lost");
    let pending = |resource: &Arc<_>, operation| PendingOperation {
        resource: Arc::clone(resource),
        operation,
    };
    world.snapshot.pending_operations = vec![
        pending(&a, OperationType::Updating),
        pending(&Arc::new(lost), OperationType::Creating),
    ];
}

fn pending(world: &World) -> Vec<OperationType> {
    let pending = world.snapshot.pending_operations.iter();
    pending.map(|it| it.operation).collect()
}

/// PULUMI-11
#[test]
fn a_preview_says_nothing_of_interrupted_operations() {
    for_orders(|world| {
        interrupted(world);
        let ran = world.preview(&[res("a")]);
        ran.succeeded();
        assert!(ran.warnings.is_empty());
        assert_eq!(pending(world).len(), 2);
    });
}

/// PULUMI-12, PULUMI-13
#[test]
fn a_refresh_clears_interrupted_operations_but_creates() {
    for with_update in [false, true] {
        for_orders(|world| {
            interrupted(world);
            let ran = if with_update {
                world.up_with(&[res("a")], |options| options.refresh = true)
            } else {
                world.refresh()
            };
            ran.succeeded();
            assert!(ran.warnings.is_empty());
            assert_eq!(pending(world), [OperationType::Creating]);
        });
    }
}

/// PULUMI-14
#[test]
fn an_update_warns_of_interrupted_operations() {
    for_orders(|world| {
        interrupted(world);
        let ran = world.up(&[res("a").with("value", "2")]);
        ran.succeeded();
        let [warning] = &ran.warnings[..] else {
            panic!("one warning: {:?}", ran.warnings);
        };
        let start = "Attempting to deploy or update resources with 2 pending operations from previous deployment.\
            \n  * urn:pulumi:dev::proj::test:index:Thing::a, interrupted while updating\
            \n  * urn:pulumi:dev::proj::test:index:Thing::lost, interrupted while creating\n";
        assert!(warning.starts_with(start), "{warning}");
        assert_eq!(pending(world), [OperationType::Creating]);
    });
}

/// PULUMI-10
#[test]
fn an_interrupt_releases_the_program() {
    for_orders(|world| {
        world.interrupt_after = Some(2);
        let ran = world.up(&[res("a"), res("b").depends_on("a")]);
        assert_eq!(ran.outcome.result, OperationResult::Canceled);
        assert_eq!(ran.outcome.error.as_deref(), Some("canceled"));
        let failed = ran.known.failed.values();
        assert!(failed.clone().count() > 0);
        assert!(
            failed
                .clone()
                .all(|it| it.kind == RequestErrorKind::Unavailable)
        );
    });
}

/// PULUMI-22
#[test]
fn providers_are_asked_about_equal_inputs_unless_the_user_objects() {
    for (legacy, steps) in [(false, ["update"]), (true, ["same"])] {
        for_orders(|world| {
            world.up(&[res("a")]).succeeded();
            world.cloud.diffs("a", DiffResult::of(DiffChanges::Some));
            let ran = world.up_with(&[res("a")], |options| options.legacy_diff = legacy);
            ran.succeeded();
            assert_eq!(ran.steps("a"), steps);
        });
    }
}

/// How many calls of one sort were under way at the same time, at most.
fn at_once(ran: &Ran, is_meant: impl Fn(&ProviderCall) -> bool) -> usize {
    let (mut open, mut most) = (Vec::new(), 0);
    for ((_, event), effects) in ran.log.iter().zip(&ran.effects) {
        if let Event::Answered { call, .. } = event {
            open.retain(|it| it != call);
        }
        open.extend(effects.iter().filter_map(|effect| match effect {
            Effect::Call { call, request, .. } => is_meant(request).then_some(*call),
            _ => None,
        }));
        most = most.max(open.len());
    }
    most
}

fn diffs_at_once(ran: &Ran) -> usize {
    at_once(ran, |call| matches!(call, ProviderCall::Diff(_)))
}

/// How many operations had an intent in the journal and no outcome yet, at most.
fn intents_at_once(ran: &Ran) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for effect in ran.effects.iter().flatten() {
        if let Effect::Journal(entry) = effect {
            match &entry.kind {
                EntryKind::Begin { .. } => open += 1,
                EntryKind::Success { .. } | EntryKind::Failure => open = open.saturating_sub(1),
                _ => {}
            }
            most = most.max(open);
        }
    }
    most
}

/// The intents of steps are durable by the time that there is room for their calls; where few calls run at a time, none
/// is written ahead.
#[test]
fn intents_run_ahead_of_calls_where_many_run_at_a_time() {
    let program: Vec<_> = (0..300).map(|it| res(&format!("r{it}"))).collect();
    for (parallel, calls, intents) in [(8, 8, 8), (32, 32, 40)] {
        let mut world = World::new(parallel.into());
        let ran = world.up_with(&program, |options| options.parallel = parallel);
        ran.succeeded();
        let creates = at_once(&ran, |call| matches!(call, ProviderCall::Create(_)));
        assert_eq!((creates, intents_at_once(&ran)), (calls, intents));
    }
}

/// PULUMI-52
#[test]
fn resources_are_compared_side_by_side() {
    let most = std::cell::Cell::new(0);
    for_orders(|world| {
        let program = [res("a"), res("b"), res("c")];
        world.up(&program).succeeded();
        let ran = world.up(&program);
        most.set(most.get().max(diffs_at_once(&ran)));
        let one = world.up_with(&program, |options| options.parallel = 1);
        assert_eq!(diffs_at_once(&one), 1);
    });
    assert!(most.get() > 1);
}

/// PULUMI-38
#[test]
fn events_keep_secrets_wrapped() {
    for_orders(|world| {
        let program = |text: &str| [res("a").with("value", Value::secret(text.into()))];
        world.up(&program("1")).succeeded();
        let ran = world.up(&program("2"));
        let secret = |text: &str| PropertyMap::new().with("value", Value::secret(text.into()));
        let mut updates = 0;
        for event in &ran.events {
            let (plumb_events::Event::ResourcePre(it) | plumb_events::Event::ResourceOutputs(it)) =
                event
            else {
                continue;
            };
            if it.metadata.urn.name() != "a" {
                continue;
            }
            let (Some(old), Some(new)) = (&it.metadata.old, &it.metadata.new) else {
                panic!("an update has both");
            };
            assert_eq!((&*old.inputs, &*new.inputs), (&secret("1"), &secret("2")));
            assert_eq!(*old.outputs, secret("1"));
            updates += 1;
        }
        assert_eq!(updates, 2);
    });
}

/// PULUMI-34
#[test]
fn what_still_names_the_id_that_it_was_imported_by_is_not_replaced() {
    for_orders(|world| {
        let object = PropertyMap::new().with("replace", "bar");
        world.cloud.objects.insert("kept-1".to_owned(), object);
        let a = |value: &str| [res("a").with("replace", value).import("kept-1")];
        world.up(&a("bar")).succeeded();
        let message = "previously-imported resources that still specify an ID may not be replaced; please remove \
            the `import` declaration from your program;\nreplace: {bar} => {baz}";
        let ran = world.up(&a("baz"));
        ran.failed(message);
        let preview = world.preview(&a("baz"));
        preview.succeeded();
        assert_eq!(preview.warnings, [message]);
    });
}

/// An import shows the object that it found beside what comes of it, not the resource that it replaces.
#[test]
fn an_import_that_replaces_shows_nothing_old_before_it_reads() {
    for_orders(|world| {
        let object = PropertyMap::new().with("value", "one");
        world.cloud.objects.insert("kept-1".to_owned(), object);
        let a = res("a").with("value", "one");
        world.up(std::slice::from_ref(&a)).succeeded();
        let ran = world.up(&[a.import("kept-1")]);
        ran.succeeded();
        let olds = ran.events.iter().filter_map(|event| {
            let (plumb_events::Event::ResourcePre(it) | plumb_events::Event::ResourceOutputs(it)) =
                event
            else {
                return None;
            };
            let is_import = it.metadata.op == plumb_resource::StepOp::ImportReplacement;
            let old = it.metadata.old.as_ref();
            is_import.then(|| old.map(|old| old.id.as_str().to_owned()))
        });
        let olds: Vec<_> = olds.collect();
        assert_eq!(olds, [None, Some("kept-1".to_owned())]);
    });
}

/// PULUMI-40: parents are what the program says, and the root stack is no parent by itself.
#[test]
fn nothing_gets_a_parent_by_default() {
    for_orders(|world| {
        world
            .up(&[
                stack(),
                res("a"),
                component("g"),
                res("b").parent("proj-dev"),
            ])
            .succeeded();
        assert_eq!(
            (&world.state("a").parent, &world.state("g").parent),
            (&None, &None)
        );
        assert!(
            world
                .state("b")
                .parent
                .as_ref()
                .is_some_and(plumb_resource::Urn::is_root_stack)
        );
    });
}

/// PULUMI-42: the replacement that left an old copy behind is followed by one that has to delete first.
#[test]
fn an_old_copy_does_not_hinder_the_next_replacement() {
    for_orders(|world| {
        let program = |a: &str, b: &str| {
            let a = res("a").with("rvalue", a).with("value", a);
            [
                a.delete_before_replace(true),
                res("b").uses("rvalue", "a").with("replace", b),
            ]
        };
        world.up(&program("1", "1")).succeeded();
        world.cloud.fail("delete", "b", Fault::Clean);
        world.up(&program("1", "2")).failed("delete of b failed");
        assert_eq!(world.states("b").len(), 2);
        world.cloud.behave();
        world.up(&program("2", "2")).succeeded();
        assert_eq!(world.names(), ["a", "b"]);
        assert_eq!(world.cloud.objects.len(), 2);
        assert_eq!(world.up(&program("2", "2")).counts(), [("same", 2)]);
    });
}

/// PULUMI-53
#[test]
fn a_construction_that_never_ends_does_not_hold_up_a_failed_run() {
    let constructions = std::cell::Cell::new(0);
    for_orders(|world| {
        world.cloud.hang("construct", "g");
        world.cloud.fail("create", "inner", Fault::Clean);
        let remote = component("g").tune(|request, _| request.remote = true);
        let ran = world.up(&[remote, res("inner")]);
        ran.failed("create of inner failed");
        let mut effects = ran.effects.iter().flatten();
        let is_construct = |effect: &Effect| {
            matches!(
                effect,
                Effect::Call {
                    request: ProviderCall::Construct(_),
                    ..
                }
            )
        };
        if effects.any(is_construct) {
            let error = &ran.known.failed["g"];
            assert_eq!(error.kind, RequestErrorKind::Unavailable);
            assert_eq!(
                error.message,
                "resource monitor shut down while waiting for construct to complete"
            );
            constructions.set(constructions.get() + 1);
        }
    });
    assert!(constructions.get() > 0);
}

/// HIDE-01
#[test]
fn paths_whose_differences_are_hidden_are_recorded() {
    for_orders(|world| {
        let hidden = |paths: [&'static str; 2]| {
            res("a").tune(move |request, _| request.hide_diff = paths.map(Into::into).into())
        };
        for paths in [["a", "b[*].c"], ["d", "e"]] {
            world.up(&[hidden(paths)]).succeeded();
            assert_eq!(*world.state("a").hide_diff, paths);
        }
    });
}
