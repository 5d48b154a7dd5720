//! HOOK: functions of the program that run before and after steps.

use std::sync::Arc;

use plumb_deploy::Effect;
use plumb_deploy::request::{CallbackReply, CallbackRequest};
use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_events::Severity;
use plumb_resource::HookType::{
    AfterCreate, AfterDelete, AfterUpdate, BeforeCreate, BeforeDelete, BeforeUpdate,
};
use plumb_resource::ResourceId;
use plumb_resource::hook::HookCall;
use plumb_resource::provider::{CheckResponse, CreateResponse, ProviderCall, ProviderReply};
use plumb_state::journal::EntryKind;
use plumb_value::{PropertyMap, Value};

use crate::world::{Ran, Res, World, component, for_orders, hook, options, remote, res, urn, wait};

/// The part of a hook's call that says what was and what is to be.
type Values = (
    Option<PropertyMap>,
    Option<PropertyMap>,
    Option<PropertyMap>,
    Option<PropertyMap>,
);

/// Old inputs, old outputs, new inputs, new outputs.
fn values(call: &HookCall) -> Values {
    let plain = |map: &Option<Arc<PropertyMap>>| map.as_deref().cloned();
    (
        plain(&call.old_inputs),
        plain(&call.old_outputs),
        plain(&call.new_inputs),
        plain(&call.new_outputs),
    )
}

fn map(key: &str, value: impl Into<Value>) -> PropertyMap {
    PropertyMap::new().with(key, value)
}

/// Runs a program with a destroy operation.
fn destroy(world: &mut World, program: &[Res]) -> Ran {
    let options = options(|options| options.run_program = true);
    world.run(Operation::Destroy, program, options)
}

/// HOOK-01
#[test]
fn previews_run_only_hooks_that_want_them() {
    for_orders(|world| {
        let program = [
            hook("always").on_dry_run(),
            hook("real"),
            res("a")
                .with("value", "1")
                .binds(BeforeCreate, "always")
                .binds(BeforeCreate, "real")
                .binds(AfterCreate, "real")
                .binds(AfterCreate, "always"),
        ];
        let preview = world.preview(&program);
        preview.succeeded();
        assert_eq!(preview.hooked("real"), [] as [&HookCall; 0]);
        let calls = preview.hooked("always");
        let planned = map("value", "1");
        let before = (None, None, Some(planned.clone()), None);
        let after = (None, None, Some(planned.clone()), Some(planned));
        assert_eq!(calls.len(), 2);
        assert_eq!((values(calls[0]), values(calls[1])), (before, after));
        world.cloud.take_calls();
        world.up(&program).succeeded();
        let order = [
            "hook always",
            "hook real",
            "create a",
            "hook real",
            "hook always",
        ];
        assert_eq!(world.take_actions(), order);
    });
}

/// HOOK-02: inputs are those that the provider has checked.
#[test]
fn after_a_creation_hooks_get_what_was_created() {
    for_orders(|world| {
        world.cloud.on("check", "a", |call| {
            let ProviderCall::Check(check) = call else {
                return None;
            };
            let inputs = check.new_inputs.as_ref().clone().with("checked", true);
            Some(Ok(ProviderReply::Checked(CheckResponse {
                inputs: Some(Arc::new(inputs)),
                ..CheckResponse::default()
            })))
        });
        world.cloud.on("create", "a", |_| {
            Some(Ok(ProviderReply::Created(CreateResponse {
                id: ResourceId::Known("kept-a".into()),
                outputs: Arc::new(map("made", "1")),
                refresh_before_update: false,
            })))
        });
        let ran = world.up(&[
            hook("h"),
            res("a").with("value", "1").binds(AfterCreate, "h"),
        ]);
        ran.succeeded();
        let call = ran.hooked_once("h");
        assert_eq!((&call.urn, call.id.as_str()), (&urn("a"), "kept-a"));
        let inputs = map("value", "1").with("checked", true);
        let expected = (None, None, Some(inputs), Some(map("made", "1")));
        assert_eq!(values(call), expected);
    });
}

/// HOOK-03
#[test]
fn hooks_of_a_creation_get_the_new_options_alone() {
    for_orders(|world| {
        let mut a = res("a")
            .parent("group")
            .depends_on("other")
            .protect(true)
            .binds(BeforeCreate, "h")
            .tune(|request, _| request.additional_secret_outputs = ["secret".into()].into());
        a.retain = true;
        a.ignore_changes = vec!["ignored".into()];
        a.replace_on_changes = vec!["replacing".into()];
        let ran = world.up(&[hook("h"), component("group"), res("other"), a]);
        ran.succeeded();
        let call = ran.hooked_once("h");
        assert_eq!(call.old_options, None);
        let options = call.new_options.as_ref().unwrap();
        assert_eq!(options.parent, Some(ran.known.urn("group")));
        assert_eq!(options.dependencies, [urn("other")]);
        assert!(options.protect && options.retain_on_delete);
        assert_eq!(options.additional_secret_outputs, ["secret".into()]);
        assert_eq!(*options.ignore_changes, ["ignored"]);
        assert_eq!(*options.replace_on_changes, ["replacing"]);
        assert_eq!(options.hooks, [(BeforeCreate, vec!["h".into()])].into());
    });
}

/// HOOK-04: and components have the hooks that come after when their outputs are registered.
#[test]
fn hooks_of_an_update_get_both_options() {
    for_orders(|world| {
        let group = |value: &str, protect| {
            let group = component("group")
                .with("value", value)
                .protect(protect)
                .binds(BeforeUpdate, "before")
                .binds(AfterUpdate, "after")
                .output("out", value);
            [hook("before"), hook("after"), group]
        };
        world.up(&group("1", false)).succeeded();
        let ran = world.up(&group("2", true));
        ran.succeeded();
        assert_eq!(ran.steps("group"), ["update"]);
        for name in ["before", "after"] {
            let call = ran.hooked_once(name);
            let protect = |state: &Option<Arc<_>>| {
                let state: &plumb_resource::ResourceState = state.as_ref().unwrap();
                state.protect
            };
            assert!(!protect(&call.old_options) && protect(&call.new_options));
        }
        let after = values(ran.hooked_once("after"));
        let (inputs, outputs) = (map("value", "1"), map("out", "1"));
        let (new_inputs, new_outputs) = (map("value", "2"), map("out", "2"));
        let expected = (
            Some(inputs),
            Some(outputs),
            Some(new_inputs),
            Some(new_outputs),
        );
        assert_eq!(after, expected);
        assert_eq!(values(ran.hooked_once("before")).3, None);
    });
}

/// HOOK-05: nothing was begun, in the journal neither.
#[test]
fn a_failing_hook_before_a_creation_prevents_it() {
    for_orders(|world| {
        world.hook_fails("myHook", "Oh no");
        let program = [
            hook("myHook"),
            res("a").binds(BeforeCreate, "myHook"),
            res("b").uses("value", "a"),
        ];
        let ran = world.up(&program);
        ran.failed("update failed");
        let message = "before hook \"myHook\" failed: Oh no";
        assert_eq!(ran.said(Severity::Error, "a"), [message]);
        assert!(ran.outcome.error.as_ref().unwrap().ends_with(message));
        assert!(!ran.known.has("a"), "the registration returned");
        assert_eq!(world.names(), [] as [&str; 0]);
        assert_eq!(world.take_actions(), ["hook myHook"]);
        let is_begun = |effect: &Effect| match effect {
            Effect::Journal(entry) => match &entry.kind {
                EntryKind::Begin { operation } => operation
                    .as_ref()
                    .is_some_and(|it| it.resource.urn == urn("a")),
                EntryKind::Failure => true,
                _ => false,
            },
            _ => false,
        };
        assert!(!ran.effects.iter().flatten().any(is_begun));
    });
}

/// HOOK-06: by name, from the state; the program waits for the end of the run.
#[test]
fn what_left_the_program_has_its_delete_hooks_called() {
    for_orders(|world| {
        let hooks = [hook("before"), hook("after")];
        let mut program = hooks.to_vec();
        let a = res("a").with("value", "1");
        program.push(a.binds(BeforeDelete, "before").binds(AfterDelete, "after"));
        world.up(&program).succeeded();
        let id = world.state("a").id.clone();
        world.cloud.take_calls();
        let mut program = hooks.to_vec();
        program.push(wait("end").after("before").after("after"));
        let ran = world.up(&program);
        ran.succeeded();
        assert_eq!(
            world.take_actions(),
            ["hook before", "delete a", "hook after"]
        );
        for name in ["before", "after"] {
            let call = ran.hooked_once(name);
            assert_eq!((&call.urn, &call.id), (&urn("a"), &id));
            let value = Some(map("value", "1"));
            assert_eq!(values(call), (value.clone(), value, None, None));
            assert_eq!(call.new_options, None);
            assert!(call.old_options.is_some());
        }
        assert!(ran.known.done.contains("end"));
        assert_eq!(world.names(), [] as [&str; 0]);
    });
}

/// HOOK-07, HOOK-13: the options of Construct carry them, and the component's own registration records them.
#[test]
fn hooks_reach_remote_components() {
    for_orders(|world| {
        let hooks = [hook("create"), hook("delete")];
        let mut program = hooks.to_vec();
        let bind = |group: Res| {
            let group = group.with("value", "1").binds(AfterCreate, "create");
            group.binds(AfterDelete, "delete")
        };
        let mut built = bind(component("built")).called("group");
        built.outputs = Some(PropertyMap::new());
        program.push(bind(remote("group")).builds([built]));
        let ran = world.up(&program);
        ran.succeeded();
        let ProviderCall::Construct(construct) = world.cloud.request("construct", "group") else {
            panic!("not a Construct");
        };
        let bound = [
            (AfterCreate, vec!["create".into()]),
            (AfterDelete, vec!["delete".into()]),
        ];
        assert_eq!(construct.goal.hooks, bound.clone().into());
        let call = ran.hooked_once("create");
        assert_eq!(call.urn, ran.known.urn("group"));
        assert_eq!(call.new_inputs.as_deref(), Some(&map("value", "1")));
        assert_eq!(world.state("group").hooks, bound.into());
        let ran = world.up(&hooks);
        ran.succeeded();
        let expected = (
            Some(map("value", "1")),
            Some(PropertyMap::new()),
            None,
            None,
        );
        assert_eq!(values(ran.hooked_once("delete")), expected);
    });
}

/// HOOK-08
#[test]
fn a_failing_hook_before_a_deletion_prevents_it() {
    for_orders(|world| {
        world
            .up(&[hook("h"), res("a").binds(BeforeDelete, "h")])
            .succeeded();
        world.hook_fails("h", "Oh no");
        world.cloud.take_calls();
        let ran = world.up(&[hook("h")]);
        ran.failed("before hook \"h\" failed: Oh no");
        assert_eq!(world.take_actions(), ["hook h"]);
        assert_eq!(world.names(), ["a"]);
    });
}

/// HOOK-09
#[test]
fn an_update_runs_the_hooks_that_the_program_binds_now() {
    for_orders(|world| {
        let hooks = [hook("old"), hook("new")];
        let program = |value: &str, name: &str| {
            let a = res("a").with("value", value).binds(BeforeUpdate, name);
            [hooks.to_vec(), vec![a]].concat()
        };
        world.up(&program("1", "old")).succeeded();
        world.cloud.take_calls();
        let ran = world.up(&program("2", "new"));
        ran.succeeded();
        assert_eq!(world.take_actions(), ["hook new", "update a"]);
        let (old, new) = (Some(map("value", "1")), Some(map("value", "2")));
        let call = ran.hooked_once("new");
        assert_eq!(values(call), (old.clone(), old, new, None));
        assert_eq!(call.id, world.state("a").id);
    });
}

/// HOOK-10
#[test]
fn a_failing_hook_before_an_update_prevents_it() {
    for_orders(|world| {
        let program = |value: &str| {
            let a = res("a").with("value", value);
            [hook("hook"), a.binds(BeforeUpdate, "hook")]
        };
        world.up(&program("1")).succeeded();
        let before = world.state("a").clone();
        world.hook_fails("hook", "Oh no");
        world.cloud.take_calls();
        let ran = world.up(&program("2"));
        ran.failed("before hook \"hook\" failed: Oh no");
        assert_eq!(world.take_actions(), ["hook hook"]);
        assert_eq!(*world.state("a"), before);
    });
}

/// HOOK-11
#[test]
fn destroying_with_the_program_calls_delete_hooks() {
    for_orders(|world| {
        let a = res("a").binds(BeforeDelete, "before");
        let program = [hook("before"), hook("after"), a.binds(AfterDelete, "after")];
        world.up(&program).succeeded();
        world.cloud.take_calls();
        destroy(world, &program).succeeded();
        assert_eq!(
            world.take_actions(),
            ["hook before", "delete a", "hook after"]
        );
        assert!(world.snapshot.resources.is_empty());
    });
}

/// HOOK-12
#[test]
fn destroying_without_the_program_is_refused_where_there_are_delete_hooks() {
    for hook_type in [BeforeDelete, AfterDelete] {
        for_orders(|world| {
            world
                .up(&[hook("h"), res("a").binds(hook_type, "h"), res("b")])
                .succeeded();
            let before = world.snapshot.clone();
            world.cloud.take_calls();
            for phase in [Phase::Preview, Phase::Execute] {
                let ran = world.run(Operation::Destroy, &[], Options::new(phase));
                ran.refused("You must run with the `--run-program` flag to use delete hooks during destroy.");
                assert_eq!(
                    ran.said(Severity::Error, "a"),
                    [
                        "Resource has delete hooks registered, but the program is not running. Hooks: h"
                    ]
                );
                assert_eq!(ran.said(Severity::Error, "b"), [] as [&str; 0]);
            }
            assert_eq!(world.snapshot.resources, before.resources);
            assert_eq!(world.cloud.take_calls(), [] as [&str; 0]);
        });
    }
}

/// HOOK-14
#[test]
fn transforms_may_bind_hooks() {
    for_orders(|world| {
        world.function("bind", |request| {
            let CallbackRequest::Transform(request) = request else {
                return Err("not a registration".to_owned());
            };
            let mut request = request.clone();
            request.hooks.insert(AfterCreate, vec!["h".into()]);
            Ok(CallbackReply::Transformed(request))
        });
        let a = res("a").after("h").tune(|request, _| {
            request.transforms = vec![plumb_deploy::request::Callback {
                target: "program".into(),
                token: "bind".into(),
                accepts_byte_string: true,
            }];
        });
        let ran = world.up(&[hook("h"), a]);
        ran.succeeded();
        assert_eq!(ran.hooked_once("h").urn, urn("a"));
        assert_eq!(
            world.state("a").hooks,
            [(AfterCreate, vec!["h".into()])].into()
        );
    });
}

/// HOOK-15, HOOK-16: what was done stands, and the run ends with that.
#[test]
fn a_failing_hook_after_a_creation_fails_the_run() {
    for_orders(|world| {
        world.hook_fails("h", "hook failed");
        let program = [
            hook("h"),
            res("a").with("value", "1").binds(AfterCreate, "h"),
            res("b").uses("value", "a"),
        ];
        let ran = world.up(&program);
        ran.failed("update failed");
        let message = "after hook \"h\" failed: hook failed";
        assert_eq!(ran.said(Severity::Error, "a"), [message]);
        assert!(ran.outcome.error.as_ref().unwrap().ends_with(message));
        assert_eq!(ran.counts(), [("create", 1)]);
        assert_eq!(world.names(), ["a"]);
        assert_eq!(*world.state("a").init_errors, [] as [&str; 0]);
        assert_eq!(world.take_actions(), ["create a", "hook h"]);
    });
}

/// HOOK-17
#[test]
fn a_failing_hook_after_a_deletion_fails_the_run() {
    for_orders(|world| {
        world
            .up(&[hook("h"), res("a").binds(AfterDelete, "h")])
            .succeeded();
        world.hook_fails("h", "Oh no");
        let ran = world.up(&[hook("h")]);
        ran.failed("after hook \"h\" failed: Oh no");
        assert_eq!(world.names(), [] as [&str; 0]);
        assert!(world.cloud.objects.is_empty());
    });
}

/// HOOK-18
#[test]
fn with_continue_on_error_the_rest_is_done() {
    for_orders(|world| {
        world.hook_fails("h", "hook failed");
        let program = [
            hook("h"),
            res("a").with("value", "1").binds(AfterCreate, "h"),
            res("b").uses("value", "a"),
            res("c"),
        ];
        let ran = world.up_with(&program, |options| options.continue_on_error = true);
        ran.failed("after hook \"h\" failed: hook failed");
        assert_eq!(ran.counts(), [("create", 3)]);
        assert_eq!(world.names(), ["a", "b", "c"]);
    });
}

/// HOOK-19, HOOK-20
#[test]
fn failures_of_hooks_may_be_warnings() {
    for (hook_type, message) in [
        (BeforeCreate, "BeforeCreate hook \"h\" failed: Oh no"),
        (AfterCreate, "AfterCreate hook \"h\" failed: Oh no"),
    ] {
        for_orders(|world| {
            world.hook_fails("h", "Oh no");
            let ran = world.up(&[hook("h").ignoring_errors(), res("a").binds(hook_type, "h")]);
            ran.succeeded();
            assert_eq!(ran.said(Severity::Warning, "a"), [message]);
            assert_eq!(ran.errors, [] as [&str; 0]);
            assert_eq!(world.names(), ["a"]);
        });
    }
}

/// HOOK-21
#[test]
fn strings_that_are_not_text_pass_through() {
    let bytes = || Value::Bytes(Arc::from([0xff, 0xfe, b'x'].as_slice()));
    for_orders(|world| {
        let ran = world.up(&[
            hook("h"),
            res("a").with("value", bytes()).binds(AfterCreate, "h"),
        ]);
        ran.succeeded();
        let call = ran.hooked_once("h");
        let value = Some(map("value", bytes()));
        assert_eq!(values(call), (None, None, value.clone(), value));
        assert_eq!(world.state("a").outputs.get("value"), Some(&bytes()));
    });
}
