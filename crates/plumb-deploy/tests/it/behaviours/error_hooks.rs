//! ERRHOOK: functions of the program that have a failed operation made again.

use std::sync::Arc;

use plumb_deploy::setup::{Options, Phase};
use plumb_events::Severity;
use plumb_resource::HookType::{AfterCreate, OnError};
use plumb_resource::ResourceId;
use plumb_resource::hook::{ErrorHookCall, FailedOperation};
use plumb_resource::provider::{CreateResponse, ProviderReply};
use plumb_value::PropertyMap;

use crate::world::{Fault, Ran, Res, World, error_hook, for_orders, hook, partial, res, urn};

const OPERATIONS: [FailedOperation; 3] = [
    FailedOperation::Create,
    FailedOperation::Update,
    FailedOperation::Delete,
];

/// `a` and the hooks that it binds.
fn program(value: &str, hooks: &[&str]) -> Vec<Res> {
    let a = hooks.iter().fold(res("a").with("value", value), |a, name| {
        a.binds(OnError, name)
    });
    let mut program: Vec<Res> = hooks.iter().map(|name| error_hook(name)).collect();
    program.push(a);
    program
}

/// Runs up to the point where `operation` comes next for `a`; answers the program with which it comes.
fn before(world: &mut World, operation: FailedOperation, hooks: &[&str]) -> Vec<Res> {
    let next = match operation {
        FailedOperation::Create => return program("1", hooks),
        FailedOperation::Update => program("2", hooks),
        FailedOperation::Delete => hooks.iter().map(|name| error_hook(name)).collect(),
    };
    world.up(&program("1", hooks)).succeeded();
    world.cloud.take_calls();
    next
}

/// How often the provider was asked for the operation.
fn attempts(world: &mut World, operation: FailedOperation) -> usize {
    let wanted = format!("{} a", operation.as_str());
    let calls = world.cloud.take_calls();
    calls.iter().filter(|call| **call == wanted).count()
}

/// Failures of the first, second … attempt.
fn failure(operation: FailedOperation, attempt: usize) -> String {
    format!("{} of a failed ({attempt})", operation.as_str())
}

fn value(value: &str) -> PropertyMap {
    PropertyMap::new().with("value", value)
}

/// Whether the operation has been done.
fn is_done(world: &World, operation: FailedOperation) -> bool {
    match operation {
        FailedOperation::Create => world.names() == ["a"],
        FailedOperation::Update => world.state("a").inputs.as_ref() == &value("2"),
        FailedOperation::Delete => world.names().is_empty(),
    }
}

#[track_caller]
fn fails_with(ran: &Ran, message: &str) {
    ran.failed("update failed");
    let cause = format!("step executor errored: step application failed: {message}");
    assert_eq!(ran.outcome.error.as_ref(), Some(&cause));
}

/// ERRHOOK-01, ERRHOOK-02, ERRHOOK-04: each hook is asked, and one of them suffices.
#[test]
fn every_hook_is_told_what_failed() {
    for operation in OPERATIONS {
        for_orders(|world| {
            let next = before(world, operation, &["no", "yes"]);
            let id = world.states("a").first().map(|state| state.id.clone());
            world.cloud.fail_times(operation.as_str(), "a", 1);
            world.retries("yes", 10);
            let ran = world.up(&next);
            ran.succeeded();
            assert!(is_done(world, operation));
            assert_eq!(attempts(world, operation), 2);
            for name in ["no", "yes"] {
                let [call] = ran.retried(name)[..] else {
                    panic!("{name} is not asked once");
                };
                let ErrorHookCall {
                    resource,
                    operation: failed,
                    errors,
                } = call;
                assert_eq!((&resource.urn, *failed), (&urn("a"), operation));
                assert_eq!(*errors, [failure(operation, 1)]);
                let expected = match operation {
                    FailedOperation::Create => (None, None, Some(value("1"))),
                    FailedOperation::Update => {
                        let old = Some(value("1"));
                        (old.clone(), old, Some(value("2")))
                    }
                    FailedOperation::Delete => (Some(value("1")), Some(value("1")), None),
                };
                let plain = |map: &Option<Arc<PropertyMap>>| map.as_deref().cloned();
                let told = (
                    plain(&resource.old_inputs),
                    plain(&resource.old_outputs),
                    plain(&resource.new_inputs),
                );
                assert_eq!(told, expected);
                assert_eq!(resource.id, id.clone().unwrap_or(ResourceId::None));
            }
        });
    }
}

/// ERRHOOK-03
#[test]
fn hooks_of_an_update_get_both_options() {
    for_orders(|world| {
        let program = |value: &str, protect, ignored: &str| {
            let mut program = program(value, &["h"]);
            program[1].protect = Some(protect);
            program[1].ignore_changes = vec![ignored.to_owned()];
            program
        };
        world.up(&program("1", false, "x")).succeeded();
        world.cloud.fail_times("update", "a", 1);
        let ran = world.up(&program("2", true, "y"));
        let call = &ran.retried("h")[0].resource;
        let options = |state: &Option<Arc<plumb_resource::ResourceState>>| {
            let state = state.as_ref().unwrap();
            (state.protect, state.ignore_changes[0].to_string())
        };
        assert_eq!(options(&call.old_options), (false, "x".to_owned()));
        assert_eq!(options(&call.new_options), (true, "y".to_owned()));
    });
}

/// ERRHOOK-05, ERRHOOK-07, ERRHOOK-09
#[test]
fn what_failed_is_made_again_if_a_hook_wants_so() {
    for operation in OPERATIONS {
        for_orders(|world| {
            let next = before(world, operation, &["h"]);
            world.cloud.fail_times(operation.as_str(), "a", 1);
            world.retries("h", 1);
            let ran = world.up(&next);
            ran.succeeded();
            assert_eq!(ran.retried("h").len(), 1);
            assert_eq!(attempts(world, operation), 2);
            assert!(is_done(world, operation));
            assert_eq!(ran.counts(), [(operation.as_str(), 1)]);
            let name = operation.as_str();
            let warning = format!("retrying {name} due to on-error hook request (1/100)");
            assert_eq!(ran.said(Severity::Warning, "a"), [warning]);
            assert_eq!(ran.errors, [] as [&str; 0]);
            // It is one step all the same.
            assert_eq!(ran.steps("a"), [operation.as_str()]);
        });
    }
}

/// ERRHOOK-06, ERRHOOK-08, ERRHOOK-10
#[test]
fn without_hooks_the_first_failure_stands() {
    for operation in OPERATIONS {
        for_orders(|world| {
            let next = before(world, operation, &[]);
            world.cloud.fail_times(operation.as_str(), "a", 1);
            let ran = world.up(&next);
            fails_with(&ran, &failure(operation, 1));
            assert_eq!(attempts(world, operation), 1);
            assert!(!is_done(world, operation));
        });
    }
}

/// ERRHOOK-11, ERRHOOK-12, ERRHOOK-13
#[test]
fn if_no_hook_wants_it_the_failure_stands() {
    for operation in OPERATIONS {
        for_orders(|world| {
            let next = before(world, operation, &["one", "two"]);
            world.cloud.fail_times(operation.as_str(), "a", 1);
            let ran = world.up(&next);
            fails_with(&ran, &failure(operation, 1));
            assert_eq!((ran.retried("one").len(), ran.retried("two").len()), (1, 1));
            assert_eq!(attempts(world, operation), 1);
            assert!(!is_done(world, operation));
        });
    }
}

/// ERRHOOK-14, ERRHOOK-15
#[test]
fn what_succeeds_asks_nobody() {
    for operation in OPERATIONS {
        for_orders(|world| {
            let next = before(world, operation, &["h"]);
            let ran = world.up(&next);
            ran.succeeded();
            assert_eq!(ran.retried("h"), [] as [&ErrorHookCall; 0]);
        });
    }
}

/// ERRHOOK-16, ERRHOOK-17, ERRHOOK-18: the last failure of the provider is shown too.
#[test]
fn a_hundred_attempts_are_enough() {
    for operation in OPERATIONS {
        let mut world = World::new(1);
        let next = before(&mut world, operation, &["h"]);
        world.cloud.fail_times(operation.as_str(), "a", usize::MAX);
        world.retries("h", usize::MAX);
        let ran = world.up(&next);
        fails_with(&ran, "maximum number of error hook retries reached");
        assert_eq!(attempts(&mut world, operation), 100);
        assert_eq!(ran.retried("h").len(), 99);
        assert_eq!(ran.retried("h")[98].errors.len(), 99);
        let warnings = ran.said(Severity::Warning, "a");
        let last = "maximum number of error hook retries (100) reached";
        assert_eq!((warnings.len(), warnings[99]), (100, last));
        let expected = [
            failure(operation, 100),
            "maximum number of error hook retries reached".to_owned(),
        ];
        assert_eq!(ran.said(Severity::Error, "a"), expected);
        assert!(!is_done(&world, operation));
    }
}

/// ERRHOOK-19, ERRHOOK-20, ERRHOOK-21
#[test]
fn the_newest_failure_comes_first() {
    for operation in OPERATIONS {
        for_orders(|world| {
            let next = before(world, operation, &["h"]);
            world.cloud.fail_times(operation.as_str(), "a", 5);
            world.retries("h", 1);
            let ran = world.up(&next);
            fails_with(&ran, &failure(operation, 2));
            assert_eq!(attempts(world, operation), 2);
            let (first, second) = (failure(operation, 1), failure(operation, 2));
            let errors: Vec<_> = ran
                .retried("h")
                .iter()
                .map(|call| &call.errors[..])
                .collect();
            assert_eq!(errors.len(), 2);
            assert_eq!(errors[0], std::slice::from_ref(&first));
            assert_eq!(errors[1], [second, first]);
        });
    }
}

/// ERRHOOK-22, ERRHOOK-23, ERRHOOK-24
#[test]
fn resources_are_counted_each_for_itself() {
    for operation in OPERATIONS {
        for_orders(|world| {
            let both = |value: &str| {
                let b = res("b").with("value", value).binds(OnError, "h");
                [program(value, &["h"]), vec![b]].concat()
            };
            let next = match operation {
                FailedOperation::Create => both("1"),
                FailedOperation::Update => both("2"),
                FailedOperation::Delete => vec![error_hook("h")],
            };
            if operation != FailedOperation::Create {
                world.up(&both("1")).succeeded();
            }
            world.cloud.fail_times(operation.as_str(), "a", 2);
            world.cloud.fail_times(operation.as_str(), "b", 1);
            world.retries("h", 10);
            let ran = world.up(&next);
            ran.succeeded();
            let lengths = |name: &str| -> Vec<usize> {
                let calls = ran.retried("h").into_iter();
                let own = calls.filter(|call| call.resource.urn == urn(name));
                own.map(|call| call.errors.len()).collect()
            };
            assert_eq!((lengths("a"), lengths("b")), (vec![1, 2], vec![1]));
            for call in ran.retried("h") {
                let name = call.resource.urn.name();
                assert!(
                    call.errors
                        .iter()
                        .all(|it| it.contains(&format!("of {name} ")))
                );
            }
        });
    }
}

/// ERRHOOK-25
#[test]
fn plain_and_half_failures_ask_alike() {
    for fault in [Fault::Clean, Fault::Partial, Fault::Unknown] {
        for_orders(|world| {
            world.cloud.fail("create", "a", fault);
            let ran = world.up(&program("1", &["h"]));
            ran.failed("update failed");
            assert_eq!(ran.retried("h").len(), 1);
            let is_there = fault == Fault::Partial;
            assert_eq!(world.names() == ["a"], is_there);
        });
    }
}

/// Fails by half, once or more, and makes another object each time.
fn partial_times(world: &mut World, times: usize) {
    let count = std::sync::atomic::AtomicUsize::new(0);
    world.cloud.on("create", "a", move |_| {
        let attempt = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        let id = ResourceId::Known(format!("kept-{attempt}").into());
        let outputs = Arc::new(PropertyMap::new().with("value", "1"));
        Some(if attempt <= times {
            Err(partial(id, outputs))
        } else {
            Ok(ProviderReply::Created(CreateResponse {
                id,
                outputs,
                refresh_before_update: false,
            }))
        })
    });
    world
        .cloud
        .on("delete", "a", |_| Some(Ok(ProviderReply::Deleted)));
}

/// An object that an attempt left half made is recorded at once, and deleted when another one replaces it.
#[test]
fn no_id_of_a_half_made_object_is_lost() {
    for_orders(|world| {
        partial_times(world, 2);
        world.retries("h", 10);
        let ran = world.up(&program("1", &["h"]));
        ran.succeeded();
        assert_eq!(
            ran.steps("a"),
            ["create", "delete-replaced", "delete-replaced"]
        );
        assert_eq!(world.state("a").id.as_str(), "kept-3");
        assert_eq!(*world.state("a").init_errors, [] as [&str; 0]);
        let mut calls = world.cloud.take_calls();
        calls.retain(|call| call.starts_with("create") || call.starts_with("delete"));
        let expected = ["create a", "create a", "create a", "delete a", "delete a"];
        assert_eq!(calls, expected);
        assert_eq!(world.up(&program("1", &["h"])).counts(), [("same", 1)]);
    });
}

/// If the attempts end with a plain failure, what the half failure left is what there is.
#[test]
fn a_half_made_object_stays_if_the_next_attempt_makes_none() {
    for_orders(|world| {
        world.cloud.fail_times("create", "a", usize::MAX);
        world.cloud.on("create", "a", {
            let first = std::sync::atomic::AtomicBool::new(true);
            move |_| {
                let is_first = first.swap(false, std::sync::atomic::Ordering::Relaxed);
                let id = ResourceId::Known("kept-1".into());
                is_first.then(|| Err(partial(id, Arc::default())))
            }
        });
        world.retries("h", 1);
        let ran = world.up(&program("1", &["h"]));
        fails_with(&ran, "create of a failed (1)");
        assert_eq!(world.state("a").id.as_str(), "kept-1");
        assert_eq!(*world.state("a").init_errors, ["not ready"]);
        assert!(world.snapshot.pending_operations.is_empty());
    });
}

/// An update that failed by half and then succeeds leaves one object and one entry.
#[test]
fn a_half_done_update_is_done_again() {
    for_orders(|world| {
        let next = before(world, FailedOperation::Update, &["h"]);
        let count = std::sync::atomic::AtomicUsize::new(0);
        let id = world.state("a").id.clone();
        world.cloud.on("update", "a", move |_| {
            let is_first = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
            is_first.then(|| Err(partial(id.clone(), Arc::default())))
        });
        world.retries("h", 1);
        let ran = world.up(&next);
        ran.succeeded();
        assert!(is_done(world, FailedOperation::Update));
        assert_eq!(*world.state("a").init_errors, [] as [&str; 0]);
        assert_eq!(ran.steps("a"), ["update"]);
    });
}

/// A hook that fails itself, or is missing, is what the step fails with; the provider's failure is shown too.
#[test]
fn error_hooks_may_fail() {
    for_orders(|world| {
        world.hook_fails("h", "Oh no");
        world.cloud.fail_times("create", "a", 1);
        let ran = world.up(&program("1", &["h", "other"]));
        let message = "error hooks execution failed: error hook \"h\" failed: Oh no";
        fails_with(&ran, message);
        let expected = ["create of a failed (1)", message];
        assert_eq!(ran.said(Severity::Error, "a"), expected);
        assert_eq!(ran.retried("other"), [] as [&ErrorHookCall; 0]);
    });
    for_orders(|world| {
        world.cloud.fail_times("create", "a", 1);
        // Resource hooks are not error hooks.
        let ran = world.up(&[hook("h"), res("a").binds(OnError, "h")]);
        fails_with(
            &ran,
            "error hooks execution failed: hook \"h\" was not registered",
        );
    });
}

/// A create that fails in a preview is one that a hook can have made again, as in the update.
#[test]
fn previews_ask_too() {
    for_orders(|world| {
        world.cloud.fail_times("create", "a", 1);
        let ran = world.run(
            plumb_deploy::setup::Operation::Update,
            &program("1", &["h"]),
            Options::new(Phase::Preview),
        );
        ran.failed("Preview failed: create of a failed (1)");
        assert_eq!(ran.retried("h").len(), 1);
    });
}

/// With continue-on-error other resources make no difference to retries; without it, a failure elsewhere ends them.
#[test]
fn a_run_that_ends_tries_nothing_again() {
    for_orders(|world| {
        world.cloud.fail("create", "broken", Fault::Clean);
        world.cloud.fail_times("create", "a", usize::MAX);
        world.retries("h", 3);
        let mut program = program("1", &["h"]);
        program.push(res("broken"));
        let ran = world.up(&program);
        ran.failed("update failed");
        let calls = world.cloud.take_calls();
        let position = |what: &str| calls.iter().position(|call| call == what);
        if let Some(broken) = position("create broken") {
            let later = calls[broken..].iter().filter(|call| *call == "create a");
            // One may have been under way.
            assert!(later.count() <= 1, "{calls:?}");
        }
    });
    for_orders(|world| {
        world.cloud.fail("create", "broken", Fault::Clean);
        world.cloud.fail_times("create", "a", 2);
        world.retries("h", 3);
        let mut program = program("1", &["h"]);
        program.push(res("broken"));
        program.push(hook("after"));
        program[1] = program[1].clone().binds(AfterCreate, "after");
        let ran = world.up_with(&program, |options| options.continue_on_error = true);
        ran.failed("create of broken failed");
        assert_eq!(world.names(), ["a"]);
        assert_eq!(ran.hooked("after").len(), 1);
    });
}
