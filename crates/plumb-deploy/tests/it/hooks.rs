//! Stories about hooks that the catalogue of behaviours does not tell.

use std::sync::Arc;

use plumb_deploy::Effect;
use plumb_deploy::request::Reply;
use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_resource::HookType::{
    AfterCreate, AfterDelete, AfterUpdate, BeforeCreate, BeforeDelete, BeforeUpdate,
};
use plumb_resource::hook::HookCall;
use plumb_resource::provider::{CreateResponse, ProviderReply};
use plumb_resource::{HookType, ResourceId};
use plumb_state::journal::EntryKind;
use plumb_value::PropertyMap;

use crate::world::{Fault, Res, component, error_hook, for_orders, hook, res, urn};

/// A replacement is a creation and a deletion, in either order.
#[test]
fn replacements_run_create_and_delete_hooks() {
    for first in [false, true] {
        for_orders(|world| {
            let names = ["create", "created", "delete", "deleted", "update"];
            let program = |value: &str| {
                let mut program: Vec<Res> = names.iter().map(|name| hook(name)).collect();
                let a = res("a").with("replace", value).delete_before_replace(first);
                program.push(
                    a.binds(BeforeCreate, "create")
                        .binds(AfterCreate, "created")
                        .binds(BeforeDelete, "delete")
                        .binds(AfterDelete, "deleted")
                        .binds(BeforeUpdate, "update"),
                );
                program
            };
            world.up(&program("1")).succeeded();
            world.cloud.take_calls();
            world.up(&program("2")).succeeded();
            let creation = ["hook create", "create a", "hook created"];
            let deletion = ["hook delete", "delete a", "hook deleted"];
            let expected = if first {
                [deletion, creation].concat()
            } else {
                [creation, deletion].concat()
            };
            assert_eq!(world.take_actions(), expected);
        });
    }
}

/// Hooks of a deletion run even where the provider is not called.
#[test]
fn delete_hooks_run_for_what_is_only_forgotten() {
    for_orders(|world| {
        let hooks = [hook("before"), hook("after")];
        let hooked = |res: Res| {
            res.binds(BeforeDelete, "before")
                .binds(AfterDelete, "after")
        };
        let mut kept = res("kept");
        kept.retain = true;
        // What is retained has an object that nobody knows of any more.
        world.cloud.on("create", "kept", |_| {
            Some(Ok(ProviderReply::Created(CreateResponse {
                id: ResourceId::Known("kept-1".into()),
                outputs: Arc::default(),
                refresh_before_update: false,
            })))
        });
        let mut program = hooks.to_vec();
        program.extend([hooked(kept), hooked(component("group"))]);
        world.up(&program).succeeded();
        world.cloud.take_calls();
        let ran = world.up(&hooks);
        ran.succeeded();
        assert_eq!(
            (ran.hooked("before").len(), ran.hooked("after").len()),
            (2, 2)
        );
        assert!(
            !world
                .take_actions()
                .iter()
                .any(|call| call.starts_with("delete"))
        );
        assert_eq!(world.names(), [] as [&str; 0]);
    });
}

/// A protected resource is refused before anything is said of its deletion.
#[test]
fn a_refused_deletion_runs_no_hooks() {
    for_orders(|world| {
        world
            .up(&[hook("h"), res("a").protect(true).binds(BeforeDelete, "h")])
            .succeeded();
        let ran = world.up(&[hook("h")]);
        ran.failed("because it is protected");
        assert_eq!(ran.hooked("h"), [] as [&HookCall; 0]);
    });
}

/// Only components that are made or changed have hooks after their outputs.
#[test]
fn outputs_of_an_unchanged_component_run_no_hooks() {
    for_orders(|world| {
        let group = component("group").output("out", "1");
        let group = group.binds(AfterCreate, "h").binds(AfterUpdate, "h");
        let program = [hook("h"), group];
        assert_eq!(world.up(&program).hooked("h").len(), 1);
        assert_eq!(world.up(&program).hooked("h").len(), 0);
        world.hook_fails("h", "Oh no");
        let mut changed = program.to_vec();
        changed[1] = changed[1].clone().with("value", "2");
        let ran = world.up(&changed);
        ran.failed("after hook \"h\" failed: Oh no");
        assert_eq!(
            world.state("group").inputs.as_ref(),
            &PropertyMap::new().with("value", "2")
        );
        let ran = world.up_with(
            &[changed[0].clone(), changed[1].clone().with("value", "3")],
            |options| {
                options.continue_on_error = true;
            },
        );
        ran.failed("after hook \"h\" failed: Oh no");
        assert_eq!(
            world.state("group").inputs.as_ref(),
            &PropertyMap::new().with("value", "3")
        );
    });
}

#[test]
fn hooks_run_in_the_order_of_the_list_up_to_the_first_that_fails() {
    for_orders(|world| {
        world.hook_fails("second", "Oh no");
        let names = ["first", "second", "third"];
        let mut program: Vec<Res> = names.iter().map(|name| hook(name)).collect();
        let a = names
            .iter()
            .fold(res("a"), |a, name| a.binds(BeforeCreate, name));
        program.push(a);
        world
            .up(&program)
            .failed("before hook \"second\" failed: Oh no");
        assert_eq!(world.take_actions(), ["hook first", "hook second"]);
    });
}

fn unregistered(hook_type: HookType) -> Res {
    res("a").tune(move |request, _| {
        request.hooks.insert(hook_type, vec!["missing".into()]);
    })
}

#[test]
fn a_hook_must_be_registered() {
    for phase in [Phase::Preview, Phase::Execute] {
        for_orders(|world| {
            let program = [unregistered(BeforeCreate)];
            let ran = world.run(Operation::Update, &program, Options::new(phase));
            ran.failed("hook \"missing\" was not registered");
            assert_eq!(world.take_actions(), [] as [&str; 0]);
        });
    }
    for_orders(|world| {
        let ran = world.up(&[unregistered(AfterCreate)]);
        ran.failed("hook \"missing\" was not registered");
        assert_eq!(world.names(), ["a"]);
    });
    // Error hooks are not resource hooks.
    for_orders(|world| {
        let ran = world.up(&[error_hook("e"), res("a").binds(BeforeCreate, "e")]);
        ran.failed("hook \"e\" was not registered");
    });
}

#[test]
fn hooks_have_names_of_their_own() {
    for_orders(|world| {
        let ran = world.up(&[
            hook("h"),
            hook("twin").token("h").after("h"),
            error_hook("error twin").token("h").after("h"),
            hook("nameless").token(""),
        ]);
        ran.succeeded();
        let refused = |name: &str| ran.known.failed[name].message.as_str();
        let taken = "resource hook already registered for name \"h\"";
        assert_eq!((refused("twin"), refused("error twin")), (taken, taken));
        assert_eq!(refused("nameless"), "resource hook name cannot be empty");
    });
}

/// Whoever is told of an outcome is told behind its entry in the journal.
#[test]
fn hooks_after_a_step_wait_for_its_outcome() {
    for_orders(|world| {
        let ran = world.up(&[
            hook("before"),
            hook("after"),
            res("a")
                .binds(BeforeCreate, "before")
                .binds(AfterCreate, "after"),
        ]);
        ran.succeeded();
        let (mut entries, mut recorded) = (0, 0);
        for effect in ran.effects.iter().flatten() {
            match effect {
                Effect::Journal(entry) => {
                    entries += 1;
                    if let EntryKind::Success {
                        state: Some(state), ..
                    } = &entry.kind
                        && state.urn == urn("a")
                    {
                        recorded = entries;
                    }
                }
                Effect::Callback {
                    callback, fence, ..
                } if callback.token == "after" => {
                    assert_eq!((fence.entries(), recorded > 0), (recorded, true));
                }
                _ => {}
            }
        }
    });
}

/// A program that hears of a step which a hook refused is told of its resource, which may have been adopted just before.
#[test]
fn a_refusal_is_told_behind_the_import_before_it() {
    for_orders(|world| {
        let object = PropertyMap::new().with("value", "before");
        world.cloud.put("ext-1", object);
        let a = unregistered(BeforeUpdate).import("ext-1");
        let program = [a.with("value", "after")];
        let ran = world.up_with(&program, |options| options.continue_on_error = true);
        ran.failed("hook \"missing\" was not registered");
        let (mut entries, mut imported) = (0, 0);
        for effect in ran.effects.iter().flatten() {
            match effect {
                Effect::Journal(entry) => {
                    entries += 1;
                    if let EntryKind::Success {
                        state: Some(state), ..
                    } = &entry.kind
                        && state.urn == urn("a")
                    {
                        imported = entries;
                    }
                }
                Effect::Reply {
                    reply: Reply::Registered(_),
                    fence,
                    ..
                } => assert!(
                    (1..=fence.entries()).contains(&imported),
                    "{fence:?} {imported}"
                ),
                _ => {}
            }
        }
    });
}

/// After a failure nothing begins; what was done has its hooks nevertheless.
#[test]
fn hooks_of_a_run_that_fails_elsewhere() {
    for_orders(|world| {
        world.cloud.fail("create", "broken", Fault::Clean);
        let program = [
            hook("before"),
            hook("after"),
            res("broken"),
            res("a")
                .binds(BeforeCreate, "before")
                .binds(AfterCreate, "after"),
        ];
        world.up(&program).failed("create of broken failed");
        let calls = world.take_actions();
        let at = |what: &str| calls.iter().position(|call| call == what);
        let is_created = at("create a").is_some();
        assert_eq!(is_created, at("hook after").is_some(), "{calls:?}");
        assert_eq!(is_created, world.names() == ["a"], "{calls:?}");
        if at("hook before") > at("create broken") {
            assert!(!is_created, "{calls:?}");
        }
        assert!(world.snapshot.pending_operations.is_empty());
    });
}

/// A hook may fail in a preview that it takes part in.
#[test]
fn a_hook_may_fail_a_preview() {
    for_orders(|world| {
        world.hook_fails("h", "Oh no");
        let program = [hook("h").on_dry_run(), res("a").binds(BeforeCreate, "h")];
        let preview = world.preview(&program);
        preview.failed("Preview failed: before hook \"h\" failed: Oh no");
    });
}

/// The provider's own failure comes first; a step that failed has no hooks after it.
#[test]
fn a_failed_step_has_no_hooks_after_it() {
    for_orders(|world| {
        for (name, fault) in [("clean", Fault::Clean), ("partial", Fault::Partial)] {
            world.cloud.fail("create", name, fault);
            let ran = world.up(&[hook("h"), res(name).binds(AfterCreate, "h")]);
            ran.failed("update failed");
            assert_eq!(ran.hooked("h"), [] as [&HookCall; 0]);
        }
    });
}

/// A step that has started still runs its hooks when the user stops the run.
#[test]
fn hooks_of_a_run_that_is_stopped() {
    for answered in 1..5 {
        for_orders(|world| {
            world.interrupt_after = Some(answered);
            let program = [
                hook("before"),
                hook("after"),
                res("other"),
                res("a")
                    .binds(BeforeCreate, "before")
                    .binds(AfterCreate, "after"),
            ];
            world.up(&program);
            let calls = world.take_actions();
            let is_called = |what: &str| calls.iter().any(|call| call == what);
            assert_eq!(is_called("create a"), is_called("hook after"), "{calls:?}");
            let is_there = world.names().contains(&"a");
            assert_eq!(is_called("create a"), is_there, "{calls:?}");
            assert!(world.snapshot.pending_operations.is_empty());
        });
    }
}
